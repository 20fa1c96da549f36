//! Reads files below the web server's folder only.
//!
//! A folder of runs may come from another machine and contain links and pipes. So links are not followed, files that
//! could block are not opened, and a size limit applies to each kind of file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Largest number of files and folders in a folder that [`plain`] accepts.
const MOST: usize = 20_000;
/// Largest depth of nested folders in a folder that [`plain`] accepts.
const DEEPEST: usize = 4;

/// Opens a regular file, and returns it with its size. Returns an error for anything else.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let about = file.metadata()?;
    if about.is_file() { Ok((file, about.len())) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Returns the content of a file that has at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    let (file, size) = open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok().filter(|_| size <= most)?;
    Some(bytes)
}

/// Returns at most the last `bytes` bytes of a file.
pub(crate) fn tail(path: &Path, bytes: u64) -> Option<Vec<u8>> {
    let (mut file, size) = open(path).ok()?;
    file.seek(SeekFrom::Start(size.saturating_sub(bytes))).ok()?;
    let mut tail = Vec::new();
    file.take(bytes).read_to_end(&mut tail).ok()?;
    Some(tail)
}

/// Returns the size of a regular file, or `None` for anything else.
pub(crate) fn size(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|about| about.len())
}

/// Checks that the path is a regular file, or a folder that contains only regular files, sockets and folders. The error
/// is a message for the user.
pub(crate) fn plain(path: &Path) -> Result<(), String> {
    if size(path).is_some() {
        return Ok(());
    }
    let mut left = MOST;
    check(path, DEEPEST, &mut left)
}

fn check(folder: &Path, deeper: usize, left: &mut usize) -> Result<(), String> {
    let wrong = |error: io::Error| format!("cannot read {}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let (kind, path) = (entry.file_type().map_err(wrong)?, entry.path());
        let shown = path.display();
        *left = left
            .checked_sub(1)
            .ok_or_else(|| format!("there are too many files in {}", folder.display()))?;
        match () {
            () if kind.is_symlink() => {
                return Err(format!("{shown} is a symbolic link, and links are not followed"));
            }
            () if kind.is_dir() && deeper == 0 => return Err(format!("{shown} is too deep")),
            () if kind.is_dir() => check(&path, deeper - 1, left)?,
            () if kind.is_file() || kind.is_socket() => {}
            () => return Err(format!("{shown} is not a file")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_pipes_are_neither_read_nor_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "12345").expect("a file");
        assert_eq!(plain(folder.path()), Ok(()));
        assert_eq!((read(&at("file"), 5), read(&at("file"), 4)), (Some(b"12345".into()), None));
        assert_eq!((tail(&at("file"), 2), size(&at("file"))), (Some(b"45".into()), Some(5)));
        symlink(at("file"), at("link")).expect("a link");
        assert_eq!(
            (read(&at("link"), 99), tail(&at("link"), 9), size(&at("link"))),
            (None, None, None)
        );
        assert!(plain(folder.path()).is_err_and(|words| words.contains("not followed")));
        fs::remove_file(at("link")).expect("it goes");
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).expect("a pipe");
        assert_eq!((read(&at("pipe"), 99), tail(&at("pipe"), 9)), (None, None));
        assert!(plain(folder.path()).is_err_and(|words| words.contains("not a file")));
        fs::remove_file(at("pipe")).expect("it goes");
        fs::create_dir_all(at("a/b/c/d/e/f")).expect("folders");
        assert!(plain(folder.path()).is_err_and(|words| words.contains("too deep")));
    }
}
