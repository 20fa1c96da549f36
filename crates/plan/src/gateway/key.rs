//! The file with a gateway's public key, read during a run and during the review of a plan.

use std::io::Read;
use std::path::Path;

use mgs::settings::PREFIX;

use crate::input;

/// Maximum size of a key file in bytes.
const MOST: usize = 1 << 16;

/// Reads a key file as a string. A relative path starts in the working directory, or else in the plan's folder.
///
/// A core reads the file when a user first needs it. Therefore the size is limited.
pub(super) fn read(name: &str, folder: &Path) -> Result<String, String> {
    let given = Path::new(name);
    let place =
        if given.is_absolute() || given.exists() { given.into() } else { folder.join(given) };
    let mut content = Vec::new();
    let read =
        input::open(&place).and_then(|file| file.take(MOST as u64 + 1).read_to_end(&mut content));
    read.map_err(|error| {
        format!("cannot read the gateway's public key: {}: {error}", place.display())
    })?;
    let why = match content.len() {
        length if length > MOST => "is too large for a key",
        _ if content.trim_ascii().is_empty() => "is empty",
        _ => return Ok(String::from_utf8_lossy(&content).into_owned()),
    };
    Err(format!("{PREFIX}public_key_file: {name} {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading stops at the maximum size of a key file. The test file is sparse and needs no disk space.
    #[test]
    fn no_more_is_read_than_a_key_may_have() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = std::fs::File::create(folder.path().join("huge.pem")).expect("a file");
        // The file is larger than memory, so reading it completely would fail.
        file.set_len(1 << 40).expect("a length");
        let words = read("huge.pem", folder.path()).expect_err("too long");
        assert!(words.ends_with("huge.pem is too large for a key"), "{words}");
    }
}
