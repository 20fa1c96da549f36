//! Records and notes on a disk: a file to which frames are appended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;

use crate::frame;

/// A file of frames. What it has taken survives the end of the process by any signal.
#[derive(Debug)]
pub(crate) struct Disk {
    file: File,
    bytes: Vec<u8>,
}

impl Disk {
    /// Makes the file, which must not be there: it is of this run.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut how = OpenOptions::new();
        let file = how.create_new(true).append(true).mode(0o600).open(path)?;
        Ok(Self { file, bytes: Vec::new() })
    }

    /// Appends a frame, whole or not at all: half of one would end the file for its reader.
    pub(crate) fn write(&mut self, entry: &impl Serialize) -> io::Result<()> {
        self.bytes.clear();
        frame::push(&mut self.bytes, entry).map_err(io::Error::other)?;
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(&self.bytes);
        if written.is_err() {
            let _ = self.file.set_len(before);
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Entry, Origin};

    #[test]
    fn what_was_written_can_be_read_again() {
        let path = std::env::temp_dir().join(format!("throng-disk-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut disk = Disk::create(&path).expect("a file");
        assert!(Disk::create(&path).is_err(), "no run writes into the file of another");
        let entry = Entry::Begun(Origin { sender: 3, incarnation: 1 });
        for _ in 0..2 {
            disk.write(&entry).expect("room");
        }
        let mut incoming = frame::Incoming::default();
        incoming.add(&std::fs::read(&path).expect("the file"));
        for _ in 0..2 {
            assert_eq!(incoming.next::<Entry>(), Ok(Some(entry.clone())));
        }
        assert_eq!(incoming.next::<Entry>(), Ok(None));
        let _ = std::fs::remove_file(&path);
    }
}
