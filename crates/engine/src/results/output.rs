//! A result file of the writer thread. It is opened as in JMeter, and then whole chunks are appended.
//!
//! A chunk consists of whole rows (CSV) or whole elements (XML). If a chunk does not fit on the disk, the rows that
//! fit are kept and the other rows are counted as lost. An XML document gets its single end tag at the end, as in
//! JMeter. Processes that append to the same file take turns with a file lock, and each process removes the
//! incomplete row that a killed process may have left.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use stats::jtl::{Columns, END, Form};

/// An open result file.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: File,
    form: Form,
    /// True if other processes append to the file too.
    shared: bool,
    /// True if the file is regular, neither a pipe nor a device, so that it can be truncated.
    regular: bool,
    /// Offset of a known end of a row: the length of the file before the last chunk of this process.
    known: u64,
}

/// A write to a result file that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: io::Error,
    /// Number of rows that are missing in the file because of the failure.
    pub(crate) lost: u64,
}

/// Minimum length in bytes of a file that JMeter accepts as an XML result file.
const SHORTEST: u64 = 65;
/// Distance from the end within which JMeter searches for the end tag: the length of the tag plus ten bytes.
const TAIL: u64 = END_TAG.len() as u64 + 10;
const END_TAG: &[u8] = b"</testResults>";
/// Number of bytes read at once in the search for the last whole row.
const BLOCK: u64 = 256 * 1024;
/// Maximum number of elements that may be removed to make room for the end tag, which has 17 bytes.
const GIVE_WAY: usize = 8;

impl Output {
    /// Opens the file of a run that is the only writer of the file.
    pub(crate) fn open_exclusive(
        path: &Path,
        columns: &Columns,
        variables: &[&str],
    ) -> io::Result<Self> {
        let (file, made) = create(path, columns, variables)?;
        Self::of(file, made, false)
    }

    /// Opens a file that [`create`] has made and to which several processes append.
    pub(crate) fn shared(path: &Path, columns: &Columns) -> io::Result<Self> {
        let made = Made { path: path.to_owned(), form: Form::of(columns), from: 0 };
        let mut out = Self::of(append(path)?, made, true)?;
        // Under the lock, no other process is writing, so the file must end with a whole row.
        let _ = flock(&out.file, FlockOperation::LockExclusive);
        out.known = out.length().unwrap_or(0);
        let _ = flock(&out.file, FlockOperation::Unlock);
        Ok(out)
    }

    fn of(file: File, made: Made, shared: bool) -> io::Result<Self> {
        let Made { path, form, from } = made;
        let regular = file.metadata()?.is_file();
        Ok(Self { path, file, form, shared, regular, known: from })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a chunk of whole rows. If it does not fit, appends the rows that fit.
    pub(crate) fn write(&mut self, chunk: &[u8]) -> Result<(), Failed> {
        self.in_turn(|out| {
            let before = out.length().unwrap_or(0);
            let (written, result) = write_all(&mut out.file, chunk);
            let mut kept = written;
            if result.is_err() && out.regular {
                // Half a row would damage the row that is written after it. Truncating needs no disk space.
                kept = out.form.ends(&chunk[..written]).last().unwrap_or(0);
                let _ = out.file.set_len(before + kept as u64);
            }
            if kept > 0 {
                out.known = before;
            }
            let lost = || out.form.ends(&chunk[kept..]).count() as u64;
            result.map_err(|error| Failed { error, lost: lost() })
        })
    }

    /// Ends the document after the last chunk of this process, unless other processes append to it. Returns the number
    /// of elements that were removed to make room for the end tag.
    pub(crate) fn end(&mut self) -> Result<u64, Failed> {
        if self.shared { Ok(0) } else { self.close() }
    }

    /// Writes the end tag of a document. On a full disk the last elements are removed to make room for it, because most
    /// readers reject a document without it.
    fn close(&mut self) -> Result<u64, Failed> {
        self.in_turn(|out| {
            if out.form == Form::Rows {
                return Ok(0);
            }
            let end = out.length().unwrap_or(0);
            let Err(error) = write_all(&mut out.file, END).1 else { return Ok(0) };
            if !out.regular {
                return Err(Failed { error, lost: 0 });
            }
            let _ = out.file.set_len(end);
            let mut places = vec![out.known];
            let _ = out.search(end, |place| {
                places.push(place);
                if places.len() > GIVE_WAY {
                    places.remove(0);
                }
            });
            let before = places.iter().rev().filter(|place| **place < end);
            for (lost, place) in (1..).zip(before) {
                let _ = out.file.set_len(*place);
                if write_all(&mut out.file, END).1.is_ok() {
                    return Ok(lost);
                }
                let _ = out.file.set_len(*place);
            }
            Err(Failed { error, lost: places.iter().filter(|place| **place < end).count() as u64 })
        })
    }

    /// Runs `act` under the file lock, so that no other process of the run uses the file. Before that, makes the
    /// file end with a whole row.
    fn in_turn<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        if !self.shared {
            return act(self);
        }
        // Without file locks, appending is the only protection.
        let locked = flock(&self.file, FlockOperation::LockExclusive).is_ok();
        if locked && self.regular {
            let _ = self.remove_partial_row();
        }
        let done = act(self);
        if locked {
            let _ = flock(&self.file, FlockOperation::Unlock);
        }
        done
    }

    /// Removes an incomplete last row, which a process left when it was killed while writing.
    fn remove_partial_row(&mut self) -> io::Result<()> {
        let length = self.length()?;
        if length <= self.known {
            return Ok(());
        }
        let mut tail = [0; 32];
        let size = length.min(tail.len() as u64);
        self.file.read_exact_at(&mut tail[..size as usize], length - size)?;
        if self.form.may_end(&tail[..size as usize]) {
            return Ok(());
        }
        let mut end = self.known;
        self.search(length, |place| end = place)?;
        if end < length { self.file.set_len(end) } else { Ok(()) }
    }

    /// Calls `found` with the offset of each end of a row after the known end of a row.
    fn search(&self, length: u64, mut found: impl FnMut(u64)) -> io::Result<()> {
        let (mut text, mut start) = (Vec::new(), self.known);
        while start + (text.len() as u64) < length {
            let at = start + text.len() as u64;
            let old = text.len();
            text.resize(old + BLOCK.min(length - at) as usize, 0);
            self.file.read_exact_at(&mut text[old..], at)?;
            let mut whole = 0;
            for end in self.form.ends(&text) {
                found(start + end as u64);
                whole = end;
            }
            text.drain(..whole);
            start += whole as u64;
        }
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|data| data.len())
    }
}

/// A file that was created for several processes to append to.
#[derive(Clone, Debug)]
pub struct Made {
    path: PathBuf,
    form: Form,
    /// Offset of the first row of this run.
    from: u64,
}

impl Made {
    /// Ends the file after the last process has stopped appending. Returns the number of elements that were removed to
    /// make room for the end tag.
    pub(crate) fn close(self) -> Result<u64, Failed> {
        let file = append(&self.path);
        let opened = file.and_then(|file| Output::of(file, self, true));
        opened.map_err(|error| Failed { error, lost: 0 }).and_then(|mut out| out.close())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the file has CSV rows, not XML elements.
    pub fn has_rows(&self) -> bool {
        self.form == Form::Rows
    }
}

/// Returns the path of a file with its folder made canonical, so that all paths of one file give the same result.
pub(crate) fn key(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Writes a response to a separate file, replacing an existing file.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_folder(path)?;
    std::fs::write(path, bytes)
}

/// Creates a file with its header, or prepares an existing one for appending.
pub(crate) fn create(
    path: &Path,
    columns: &Columns,
    variables: &[&str],
) -> io::Result<(File, Made)> {
    let opened = refuse_special(path).and_then(|()| {
        if columns.xml { open_document(path, columns) } else { open_rows(path, columns, variables) }
    });
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut file = opened.map_err(named)?;
    let from = if file.metadata()?.is_file() { file.seek(SeekFrom::End(0))? } else { 0 };
    Ok((file, Made { path: path.to_owned(), form: Form::of(columns), from }))
}

/// Refuses files that cannot hold rows: folders, disks, and memory devices.
fn refuse_special(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let Ok(data) = std::fs::metadata(path) else { return Ok(()) };
    let kind = data.file_type();
    // Memory devices (major number 1) are endless or crash the machine, except /dev/null and /dev/full.
    let (major, minor) = (rustix::fs::major(data.rdev()), rustix::fs::minor(data.rdev()));
    let is_memory = kind.is_char_device() && major == 1 && !matches!(minor, 3 | 7);
    let what = match () {
        () if kind.is_dir() => "it is a folder; name a file",
        () if kind.is_block_device() || is_memory => "it is a device; name a file",
        () if kind.is_socket() => "it is a socket; name a file",
        () => return Ok(()),
    };
    Err(io::Error::other(what))
}

/// Opens a file for appending. A regular file is also opened for reading, to find its last row.
fn append(path: &Path) -> io::Result<File> {
    let special = std::fs::metadata(path).is_ok_and(|data| !data.is_file());
    let mut how = OpenOptions::new();
    how.append(true);
    if special {
        return how.open(path);
    }
    how.create(true);
    how.clone().read(true).open(path).or_else(|_| how.open(path))
}

fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => std::fs::create_dir_all(folder),
        None => Ok(()),
    }
}

/// Opens a file of rows. A new file, a pipe or a device gets a header; an existing file gets none, even if it is
/// empty. If an existing file ends within a row, as after a killed process, a line end is added.
fn open_rows(path: &Path, columns: &Columns, variables: &[&str]) -> io::Result<File> {
    make_folder(path)?;
    let new = !path.is_file();
    let mut file = append(path)?;
    if new && columns.field_names {
        let mut header = Vec::new();
        columns.header(variables, &mut header);
        file.write_all(&header)?;
    }
    let mut last = [0];
    if !new
        && file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last)).is_ok()
        && last != *b"\n"
    {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

/// Opens a document and removes its end tag. A file with an end tag at the position where JMeter searches for it is
/// continued. Any other existing file is overwritten, as in JMeter.
fn open_document(path: &Path, columns: &Columns) -> io::Result<File> {
    make_folder(path)?;
    let mut file = append(path)?;
    let place = if file.metadata()?.is_file() { place_of_end_tag(&mut file)? } else { Some(0) };
    match place {
        // An empty file, a pipe or a device gets a new document.
        Some(0) => start_document(&mut file, columns)?,
        Some(end) => file.set_len(end)?,
        None => {
            file.set_len(0)?;
            start_document(&mut file, columns)?;
        }
    }
    Ok(file)
}

fn start_document(file: &mut File, columns: &Columns) -> io::Result<()> {
    let mut start = Vec::new();
    columns.document_start(&mut start);
    file.write_all(&start)
}

fn place_of_end_tag(file: &mut File) -> io::Result<Option<u64>> {
    let length = file.seek(SeekFrom::End(0))?;
    if length < SHORTEST {
        return Ok(None);
    }
    let from = file.seek(SeekFrom::Start(length - TAIL))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let found = tail.windows(END_TAG.len()).position(|window| window == END_TAG);
    Ok(found.map(|at| from + at as u64))
}

/// Writes as many bytes as fit. Returns the number of written bytes, and the error if there was one.
fn write_all(out: &mut File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match out.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        Columns { xml: true, ..Columns::default() }
    }

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_document_has_one_end_tag_at_the_end_and_goes_on_in_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/r.xml");
        let end = std::str::from_utf8(END).unwrap();
        let start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n";
        let mut out = Output::open_exclusive(&path, &columns(), &[]).unwrap();
        assert_eq!(text(&path), start);
        for n in 1..3 {
            out.write(b"<sample/>\n").unwrap();
            assert_eq!(text(&path), format!("{start}{}", "<sample/>\n".repeat(n)));
        }
        out.end().unwrap();
        assert_eq!(text(&path), format!("{start}<sample/>\n<sample/>\n{end}"));
        let mut again = Output::open_exclusive(&path, &columns(), &[]).unwrap();
        again.write(b"<more/>\n").unwrap();
        again.end().unwrap();
        assert_eq!(text(&path), format!("{start}<sample/>\n<sample/>\n\n<more/>\n{end}"));
    }

    #[test]
    fn rows_go_on_with_a_new_line_behind_half_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        std::fs::write(&path, "a,b\n1").unwrap();
        Output::open_exclusive(&path, &Columns::default(), &[]).unwrap().write(b"2,3\n").unwrap();
        assert_eq!(text(&path), "a,b\n1\n2,3\n");
    }

    /// Checks that the next process that writes removes an incomplete row, which a process left when it was killed
    /// while writing.
    #[test]
    fn what_a_killed_process_left_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r");
        let kill = |text: &str| append(&path).unwrap().write_all(text.as_bytes()).unwrap();
        let rows = Columns::default();
        let made = create(&path, &rows, &[]).unwrap().1;
        let header = text(&path);
        let mut out = Output::shared(&path, &rows).unwrap();
        kill("a,\"b\nc\"\nd,\"e\nf");
        out.write(b"1,2\n").unwrap();
        kill("g");
        made.close().unwrap();
        assert_eq!(text(&path), format!("{header}a,\"b\nc\"\n1,2\n"));

        std::fs::remove_file(&path).unwrap();
        let made = create(&path, &columns(), &[]).unwrap().1;
        let header = text(&path);
        let mut out = Output::shared(&path, &columns()).unwrap();
        let [one, two] = ["<sample t=\"1\"/>\n", "<sample t=\"2\">\n  <a>b\n</a>\n</sample>\n"];
        kill(&format!("{one}{}", &two[..two.len() - 5]));
        out.write(two.as_bytes()).unwrap();
        kill("<sample t=\"3\"");
        made.close().unwrap();
        let end = std::str::from_utf8(END).unwrap();
        assert_eq!(text(&path), format!("{header}{one}{two}{end}"));
    }

    #[test]
    fn what_is_no_document_is_overwritten_and_rows_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r");
        std::fs::write(&path, "old\n".repeat(40)).unwrap();
        Output::open_exclusive(&path, &Columns::default(), &[]).unwrap();
        assert_eq!(text(&path), "old\n".repeat(40));
        Output::open_exclusive(&path, &columns(), &[]).unwrap();
        assert!(text(&path).starts_with("<?xml") && !text(&path).contains("old"));
    }

    #[test]
    fn processes_that_share_a_document_leave_its_end_to_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.xml");
        let made = create(&path, &columns(), &[]).unwrap().1;
        for sample in ["<sample a=\"\"/>\n", "<sample b=\"\"/>\n"] {
            let mut out = Output::shared(&path, &columns()).unwrap();
            out.write(sample.as_bytes()).unwrap();
            out.end().unwrap();
        }
        made.close().unwrap();
        assert!(text(&path).ends_with(">\n<sample a=\"\"/>\n<sample b=\"\"/>\n\n</testResults>\n"));
    }

    #[test]
    fn what_holds_no_rows_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            Output::open_exclusive(path, &Columns::default(), &[]).expect_err("refused").to_string()
        };
        let words = refused(folder.path());
        assert_eq!(words, format!("{}: it is a folder; name a file", folder.path().display()));
        assert_eq!(refused(Path::new("/dev/zero")), "/dev/zero: it is a device; name a file");
        assert!(Output::open_exclusive(Path::new("/dev/null"), &Columns::default(), &[]).is_ok());
    }

    #[test]
    fn names_of_one_file_are_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jtl");
        assert_eq!(key(&path), key(&folder.path().join("./x.jtl")));
        assert_ne!(key(&path), key(&folder.path().join("y.jtl")));
    }
}
