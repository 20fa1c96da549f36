//! Reads whole files that a plan names.
//!
//! A plan may name any path, and reading a device or a pipe may block or never end. Therefore only regular files
//! are read, and files that are needed in one piece only up to [`MOST`] bytes. Cost: one `stat` before a file is
//! opened.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Maximum size in bytes of a file that is read in one piece.
pub const MOST: u64 = 512 << 20;

/// Opens a regular file for reading. Opening a folder also succeeds, but reading from the folder fails.
///
/// # Errors
///
/// Errors of the system, and an error for a device, a pipe or a socket.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe would block until there is a writer.
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("not a regular file"));
    }
    File::open(path)
}

/// Reads a regular file of at most [`MOST`] bytes.
///
/// # Errors
///
/// Errors of [`open`] and of the system, and an error for a larger file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_from(open(path)?)
}

/// Reads a file like [`read`], and decodes the content as UTF-8.
///
/// # Errors
///
/// Errors of [`read`], and an error for invalid UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
}

/// Reads a file that the user named on the command line, possibly a pipe, up to [`MOST`] bytes.
///
/// # Errors
///
/// Errors of the system, and an error for a larger file.
pub fn read_any(path: &Path) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?)
}

fn read_from(file: File) -> io::Result<Vec<u8>> {
    let length = file.metadata().map_or(0, |about| about.len());
    if length > MOST {
        return Err(too_large());
    }
    read_into(Vec::with_capacity(length as usize + 1), file)
}

/// Reads a stream to its end, up to [`MOST`] bytes.
///
/// # Errors
///
/// Errors of the system, and an error for a longer stream.
pub fn read_stream(stream: impl Read) -> io::Result<Vec<u8>> {
    read_into(Vec::new(), stream)
}

fn read_into(mut bytes: Vec<u8>, stream: impl Read) -> io::Result<Vec<u8>> {
    stream.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(too_large());
    }
    Ok(bytes)
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "larger than 512 MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_refused_where_a_plan_names_it() {
        let words = |path: &str| read(Path::new(path)).unwrap_err().to_string();
        assert_eq!(words("/dev/zero"), "not a regular file");
        assert_eq!(words("/dev/null"), "not a regular file");
        assert!(words("/").contains("directory"), "{}", words("/"));
        assert!(words("/nowhere").contains("No such file"));
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("sparse");
        File::create(&place).and_then(|file| file.set_len(MOST + 1)).expect("a file");
        let words = read(&place).unwrap_err().to_string();
        assert_eq!(words, "larger than 512 MiB");
    }
}
