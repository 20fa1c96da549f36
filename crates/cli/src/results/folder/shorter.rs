//! Keeps the record of a long run short. From time to time a thread of low priority writes a copy in which old seconds
//! are merged into intervals, and the copy replaces the record.
//!
//! The record can be read up to its last second at any time, also after the process was killed. The copy is a separate
//! file until it has all data of the record; then it is renamed to the record's name. If a copy fails, the next one is
//! tried later.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use record::compact::{Ages, compact};

use super::{OWN_FILE, part};

/// Number of seconds of a run before its first shortened copy is begun.
const FIRST: u64 = 9000;
/// Number of seconds from the start of a copy to the start of the next.
const EVERY: u64 = 1800;
/// Size of a copy in bytes from which the next copy also merges younger seconds.
const LONG: u64 = 160 << 20;
/// Nice value of the thread, which gives it a lower priority than the threads that run users.
const NICE: i32 = 10;

/// State of the shortening of a run's record.
#[derive(Debug)]
pub(super) struct Shorter {
    /// Number of seconds until the next shortened copy of the record is begun.
    left: u64,
    /// Number of seconds from the start of a copy to the start of the next.
    every: u64,
    /// Size of a copy in bytes from which the next copy also merges younger seconds.
    long: u64,
    /// Number of copies that were larger than `long`. Each of them halves the ages from which seconds are merged.
    tight: u32,
    /// Copy that is being written, if any.
    copy: Option<Copy>,
}

/// A shortened copy of the record that is being written.
#[derive(Debug)]
struct Copy {
    file: File,
    /// Number of bytes of the record that the shortened copy covers.
    read: u64,
    /// Receiver of the result of the thread that writes the copy.
    done: Receiver<io::Result<()>>,
}

impl Default for Shorter {
    fn default() -> Self {
        Self { left: FIRST, every: EVERY, long: LONG, tight: 0, copy: None }
    }
}

impl Shorter {
    /// Counts a second that was appended to the record in this folder, and begins or finishes a copy. If a copy has
    /// replaced the record, returns the new file to append to. Returns an error if a copy failed; the copy is
    /// discarded.
    pub(super) fn second(&mut self, folder: &Path, now_ms: i64) -> io::Result<Option<File>> {
        self.left = self.left.saturating_sub(1);
        let Some(copy) = &mut self.copy else {
            if self.left == 0 {
                self.left = self.every;
                let ages = Ages { now_ms, tight: self.tight };
                self.copy = Some(Copy::begin(folder, ages)?);
            }
            return Ok(None);
        };
        let made = match copy.done.try_recv() {
            Err(TryRecvError::Empty) => return Ok(None),
            Err(TryRecvError::Disconnected) => Err(io::Error::other("its thread has ended")),
            Ok(result) => result,
        };
        let made = made.and_then(|()| copy.take_place(folder));
        let file = self.copy.take().map(|copy| copy.file);
        if made.is_err() {
            give_up(folder);
        }
        let bytes = made?;
        self.tight += u32::from(bytes > self.long);
        Ok(file)
    }

    /// Stops shortening after the run. An unfinished copy is discarded.
    pub(super) fn end(&mut self, folder: &Path) {
        if self.copy.take().is_some() {
            give_up(folder);
        }
    }
}

/// Removes an unfinished copy of the record.
pub(super) fn give_up(folder: &Path) {
    let _ = fs::remove_file(folder.join(part(record::FILE)));
}

impl Copy {
    fn begin(folder: &Path, ages: Ages) -> io::Result<Self> {
        let record = File::open(folder.join(record::FILE))?;
        let read = record.metadata()?.len();
        give_up(folder);
        let mut how = OpenOptions::new();
        let file = how
            .create_new(true)
            .append(true)
            .mode(OWN_FILE)
            .open(folder.join(part(record::FILE)))?;
        let (to, (tell, done)) = (file.try_clone()?, sync_channel(1));
        let thread = std::thread::Builder::new().name("shorter-record".into());
        thread.spawn(move || {
            let _ = rustix::process::setpriority_process(None, NICE);
            let _ = tell.send(make(record, to, read, ages));
        })?;
        Ok(Self { file, read, done })
    }

    /// Appends to the copy the data that was recorded since the copy was begun, and replaces the record with the copy.
    /// Returns the size of the copy in bytes.
    fn take_place(&mut self, folder: &Path) -> io::Result<u64> {
        let path = folder.join(record::FILE);
        let mut record = File::open(&path)?;
        record.seek(SeekFrom::Start(self.read))?;
        io::copy(&mut record, &mut self.file)?;
        let length = self.file.metadata()?.len();
        fs::rename(folder.join(part(record::FILE)), path)?;
        Ok(length)
    }
}

fn make(record: File, to: File, length: u64, ages: Ages) -> io::Result<()> {
    let mut from = BufReader::new(record).take(length);
    let mut to = BufWriter::new(to);
    compact(&mut from, &mut to, ages)?;
    to.flush()?;
    to.get_ref().sync_all()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use record::{Around, Ending, Frame, Mark, Record, Recording};
    use stats::{Recorder, Sample, Snapshot};

    use super::super::Folder;
    use super::*;

    const SECONDS: i64 = 12_000;

    /// Records a second of a run of several hours: every thousandth second has an error, and one second has a slow
    /// sample.
    fn second(recorder: &mut Recorder, snapshot: &mut Snapshot, at: i64) {
        let label = recorder.intern("page");
        recorder.begin(at * 1000);
        for n in 0..3 {
            let failed = at % 1000 == 7 && n == 0;
            let elapsed = if at == 4321 && n == 1 { 9_000_000_000 } else { 5_000_000 };
            let (errors, success) = (u32::from(failed), !failed);
            recorder.record(&Sample { elapsed, errors, success, ..Sample::new(label, at * 1000) });
        }
        recorder.drain(snapshot);
        snapshot.at_ms = (at + 1) * 1000;
    }

    fn sum(record: &Record) -> (u64, u64, u64, i64) {
        let of = |figure: fn(&record::Second) -> u64| record.seconds.iter().map(figure);
        let ms = record.seconds.iter().map(|second| i64::from(second.ms)).sum();
        let longest = of(|second| second.all.longest).max().unwrap_or_default();
        (of(|s| s.all.count).sum(), of(|s| s.all.errors).sum(), longest, ms)
    }

    /// Waits until no copy of the record is in progress.
    fn wait_for_copy(folder: &mut Folder, recording: &mut Recording) {
        let until = Instant::now() + Duration::from_secs(60);
        while folder.write_record(recording).is_none() && folder.shorter.copy.is_some() {
            assert!(Instant::now() < until, "the copy is not finished");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_record_that_is_made_shorter_can_be_read_at_every_moment() {
        let runs = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(runs.path(), Path::new("p.jmx"), 0).unwrap();
        (folder.shorter.left, folder.shorter.every) = (7800, 600);
        let path = folder.path().unwrap().to_owned();
        let mut recording = Recording::new(Frame::default());
        let (mut recorder, mut snapshot) = (Recorder::new(), Snapshot::new());
        let (mut copies, mut was_copying, mut errors) = (0, false, 0);
        for at in 0..SECONDS {
            second(&mut recorder, &mut snapshot, at);
            recording.second(&snapshot, Around { users: 5, ..Around::default() });
            if at % 1000 == 500 {
                let change = record::Change::Note(format!("note {at}"));
                recording.mark(&Mark { at_ms: at * 1000, change });
            }
            errors += u64::from(at % 1000 == 7);
            assert_eq!(folder.write_record(&mut recording), None);
            let is_copying = folder.shorter.copy.is_some();
            // Reads the record as after a killed process: while a copy is in progress, and after it has replaced
            // the record.
            if is_copying != was_copying {
                copies += u32::from(is_copying);
                let record = Record::read(&path).unwrap();
                let expected = 3 * (at as u64 + 1);
                assert!(record.flaws.is_empty(), "{:?}", record.flaws);
                assert_eq!(sum(&record), (expected, errors, 9_000_000_000, (at + 1) * 1000));
            }
            was_copying = is_copying;
        }
        assert!(copies >= 1, "{copies}");
        wait_for_copy(&mut folder, &mut recording);
        folder.shorter.left = 1;
        folder.write_record(&mut recording);
        assert!(folder.shorter.copy.is_some());
        recording.end(SECONDS * 1000, SECONDS * 1000, &Ending::Completed);
        wait_for_copy(&mut folder, &mut recording);
        folder.end_record();
        assert!(!path.join(part(record::FILE)).exists());
        let record = Record::read(&path).unwrap();
        assert_eq!(sum(&record), (36_000, 12, 9_000_000_000, SECONDS * 1000));
        assert_eq!((record.marks.len(), &record.frame.ending), (12, &Ending::Completed));
        assert_eq!(record.frame.length_ms, SECONDS * 1000);
        let written = Record::as_written(&fs::read(path.join(record::FILE)).unwrap()).unwrap();
        let fine = written.seconds.iter().filter(|second| second.coarse.is_none()).count();
        assert!((7190..=7210).contains(&fine), "{fine} of {}", written.seconds.len());
    }
}
