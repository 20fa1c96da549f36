//! Files that a command writes: none of them may be one that it reads, or another that it writes.
//! `promised` keeps summaries of an earlier command from being taken for those of this one.

mod promised;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(crate) use promised::{Promised, note_error};

/// A file, and how the user names it, such as `--junit`.
pub(crate) type Named<'a> = (&'static str, &'a Path);

/// The first file to be written that is another one of the command, as a sentence for the user. Of a folder that is read all
/// files count but those for people. Devices and pipes may be written to by all.
pub(crate) fn clash<'a>(
    read: impl IntoIterator<Item = Named<'a>>,
    written: impl IntoIterator<Item = Named<'a>>,
) -> Option<String> {
    let mut known: Vec<(Named<'_>, Identity)> =
        read.into_iter().flat_map(|file| within(file.1).map(move |own| (file, own))).collect();
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

/// The file, or the files of a folder from which a report can be made.
fn within(path: &Path) -> impl Iterator<Item = Identity> {
    let files = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_for_people = |file: &PathBuf| {
        file.extension()
            .is_some_and(|end| ["html", "md"].iter().any(|one| end.eq_ignore_ascii_case(one)))
    };
    let files: Vec<PathBuf> = files.filter(|file| !is_for_people(file)).collect();
    identity(path).into_iter().chain(files.into_iter().filter_map(|file| identity(&file)))
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
        let into = |written: PathBuf| super::clash([("A", folder.path())], [("-o", &*written)]);
        assert!(into(at("plan.jmx")).is_some());
        std::fs::write(at("report.html"), "x").expect("a file");
        assert_eq!((into(at("report.html")), into(at("new.md"))), (None, None));
        assert!(clash(&[("-l", at("new")), ("--junit", at("./new"))]).is_some());
        assert_eq!(clash(&[("-l", at("a")), ("--junit", at("b"))]), None);
        let null = PathBuf::from("/dev/null");
        assert_eq!(clash(&[("-l", null.clone()), ("--junit", null)]), None);
    }
}
