//! Files that a command writes: none of them may be one that it reads, or another that it writes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file, and how the user names it, such as `--junit`.
pub(crate) type Named<'a> = (&'static str, &'a Path);

/// The first file to be written that is another one of the command, as a sentence for the user. Devices and pipes may be
/// written to by all.
pub(crate) fn clash<'a>(
    read: impl IntoIterator<Item = Named<'a>>,
    written: impl IntoIterator<Item = Named<'a>>,
) -> Option<String> {
    let mut known: Vec<(Named<'_>, Identity)> =
        read.into_iter().filter_map(|file| Some((file, identity(file.1)?))).collect();
    for file in written {
        let Some(own) = identity(file.1) else { continue };
        if let Some(((other, _), _)) = known.iter().find(|(_, identity)| *identity == own) {
            return Some(format!(
                "{} would be written over: {} and {other} are the same file; name another one",
                file.1.display(),
                file.0
            ));
        }
        known.push((file, own));
    }
    None
}

/// The device and number of a file that is there, or the path of one that is not there yet.
#[derive(PartialEq)]
enum Identity {
    Inode(u64, u64),
    Path(PathBuf),
}

/// `None` for what is no regular file.
fn identity(path: &Path) -> Option<Identity> {
    match std::fs::metadata(path) {
        Ok(about) => about.is_file().then(|| Identity::Inode(about.dev(), about.ino())),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
            Some(Identity::Path(folder.join(path.file_name()?)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_any_of_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("plan.jmx"), "x").expect("a file");
        std::os::unix::fs::symlink(at("plan.jmx"), at("link")).expect("a link");
        let clash = |written: &[(&'static str, PathBuf)]| {
            let written = written.iter().map(|(name, path)| (*name, &**path));
            super::clash([("the plan", &*at("plan.jmx"))], written)
        };
        for name in ["plan.jmx", "link", "../x/../plan.jmx"] {
            let path = if name.starts_with("..") {
                folder
                    .path()
                    .join("..")
                    .join(folder.path().file_name().expect("a name"))
                    .join("plan.jmx")
            } else {
                at(name)
            };
            let said = clash(&[("--junit", path)]).expect("a sentence");
            assert!(
                said.ends_with("--junit and the plan are the same file; name another one"),
                "{said}"
            );
        }
        assert!(clash(&[("-l", at("new")), ("--junit", at("./new"))]).is_some());
        assert_eq!(clash(&[("-l", at("a")), ("--junit", at("b"))]), None);
        let null = PathBuf::from("/dev/null");
        assert_eq!(clash(&[("-l", null.clone()), ("--junit", null)]), None);
    }
}
