//! The file with a gateway's public key, read for a run and for the review of a plan.

use std::io::Read;
use std::path::Path;

use mgs::settings::PREFIX;

use crate::input;

/// Bytes that a file with a key may have.
const MOST: usize = 1 << 16;

/// The text in a file. Relative paths are those of the working folder, or else of the plan's, `folder`.
///
/// A core reads it when a user needs it first, so no more is read than a key may have.
pub(super) fn read(name: &str, folder: &Path) -> Result<String, String> {
    let given = Path::new(name);
    let place =
        if given.is_absolute() || given.exists() { given.into() } else { folder.join(given) };
    let mut content = Vec::new();
    let read =
        input::open(&place).and_then(|file| file.take(MOST as u64 + 1).read_to_end(&mut content));
    read.map_err(|error| {
        format!("the gateway's public key cannot be read: {}: {error}", place.display())
    })?;
    let why = match content.len() {
        length if length > MOST => "is too long for a key",
        _ if content.trim_ascii().is_empty() => "is empty",
        _ => return Ok(String::from_utf8_lossy(&content).into_owned()),
    };
    Err(format!("{PREFIX}public_key_file: {name} {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file takes no room on the disk.
    #[test]
    fn no_more_is_read_than_a_key_may_have() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = std::fs::File::create(folder.path().join("huge.pem")).expect("a file");
        // More than memory has: whoever reads it whole fails otherwise.
        file.set_len(1 << 40).expect("a length");
        let words = read("huge.pem", folder.path()).expect_err("too long");
        assert!(words.ends_with("huge.pem is too long for a key"), "{words}");
    }
}
