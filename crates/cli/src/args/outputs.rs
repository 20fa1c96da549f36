//! Checks the files that a command writes. None of them may be a file that the command reads, or another output
//! file. `promised` prevents summaries of an earlier command from being taken for results of the current one.

mod promised;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(crate) use promised::Promised;

/// Name of the option for a file, such as `--junit`, and the file's path.
pub(crate) type Named<'a> = (&'static str, &'a Path);

/// Returns an error message about the first output file that is the same as another file of the command. If a
/// folder is read, all its files are included except HTML and Markdown files. Several outputs may use the same
/// device or pipe.
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

/// Device and inode of an existing file, or path of a file that does not exist yet.
#[derive(PartialEq)]
enum Identity {
    Inode(u64, u64),
    Path(PathBuf),
}

/// Returns the identity of a file, or those of the files in a folder from which a report can be built.
fn within(path: &Path) -> impl Iterator<Item = Identity> {
    let files = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_for_people = |file: &PathBuf| {
        file.extension()
            .is_some_and(|end| ["html", "md"].iter().any(|one| end.eq_ignore_ascii_case(one)))
    };
    let files: Vec<PathBuf> = files.filter(|file| !is_for_people(file)).collect();
    identity(path).into_iter().chain(files.into_iter().filter_map(|file| identity(&file)))
}

/// Returns the identity of a regular file or of a file that does not exist yet, and `None` for anything else.
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
