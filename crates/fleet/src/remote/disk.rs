//! Records and notes on disk: a file to which frames are appended.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::frame;

/// A file to which frames are appended. A written frame survives the death of the process, also by a signal.
#[derive(Debug)]
pub(crate) struct Disk {
    file: File,
    length: u64,
    bytes: Vec<u8>,
}

impl Disk {
    /// Creates the file. The file must not exist, because it belongs to this run.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut how = OpenOptions::new();
        let file = how.create_new(true).append(true).mode(0o600).open(path)?;
        // Some file systems have no locks. There, other writers cannot be prevented.
        let _ = file.try_lock();
        Ok(Self { file, length: 0, bytes: Vec::new() })
    }

    /// Opens a file whose writer has ended, for appending. An incomplete last frame is dropped.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).open(path)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(io::Error::new(
                io::ErrorKind::WouldBlock,
                "another process still writes this file",
            ));
        }
        let mut frames = Frames::open(path)?;
        while frames.read()? {}
        file.set_len(frames.at)?;
        Ok(Self { file, length: frames.at, bytes: Vec::new() })
    }

    /// Appends a frame completely or not at all, because readers would stop at an incomplete frame.
    pub(crate) fn write(&mut self, entry: &impl Serialize) -> io::Result<()> {
        self.bytes.clear();
        frame::push(&mut self.bytes, entry).map_err(io::Error::other)?;
        let written = self.file.write_all(&self.bytes);
        match written {
            Ok(()) => self.length += self.bytes.len() as u64,
            Err(_) => drop(self.file.set_len(self.length)),
        }
        written
    }
}

/// Reads the frames of a file in order.
#[derive(Debug)]
pub(crate) struct Frames {
    file: BufReader<File>,
    /// Length in bytes of all frames read so far.
    at: u64,
    bytes: Vec<u8>,
}

impl Frames {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = BufReader::with_capacity(256 << 10, File::open(path)?);
        Ok(Self { file, at: 0, bytes: Vec::new() })
    }

    /// Returns the next complete frame; `None` if the file has no further complete frame yet. A later call may find
    /// one.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        if !self.read()? {
            return Ok(None);
        }
        postcard::from_bytes(&self.bytes).map(Some).map_err(io::Error::other)
    }

    /// Reads the next frame into the buffer. Returns false if there is no complete frame.
    fn read(&mut self) -> io::Result<bool> {
        let mut length = [0; 4];
        let whole = self.file.read_exact(&mut length).and_then(|()| {
            self.bytes.clear();
            let length = u64::from(u32::from_le_bytes(length));
            let read = self.file.by_ref().take(length).read_to_end(&mut self.bytes)? as u64;
            if read == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        });
        match whole {
            Ok(()) => {
                self.at += 4 + self.bytes.len() as u64;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.file.seek(SeekFrom::Start(self.at))?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
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
        // Another writer can open the file after this one has ended, and appends after the last complete frame.
        assert!(Disk::open(&path).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock));
        drop(disk);
        let mut bytes = std::fs::read(&path).expect("the file");
        let whole = bytes.len();
        bytes.extend([9, 0, 0, 0, 1]);
        std::fs::write(&path, &bytes).expect("room");
        let mut frames = Frames::open(&path).expect("the file");
        let mut disk = Disk::open(&path).expect("nobody writes");
        assert_eq!(std::fs::metadata(&path).expect("the file").len(), whole as u64);
        disk.write(&entry).expect("room");
        for _ in 0..3 {
            assert_eq!(frames.next::<Entry>().expect("a frame"), Some(entry.clone()));
        }
        assert_eq!(frames.next::<Entry>().expect("no frame"), None);
        disk.write(&entry).expect("room");
        assert_eq!(frames.next::<Entry>().expect("a frame"), Some(entry), "one that came later");
        let _ = std::fs::remove_file(&path);
    }
}
