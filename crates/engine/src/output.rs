//! A result file as the writer thread sees it: opened as JMeter opens it, and written by whole chunks.
//!
//! A file of rows is appended to. A document (XML) has an end tag, and is complete after every chunk: each is written
//! over the end tag together with a new one, so that what a killed run leaves can be read like any other. Files that
//! several processes append to, and what is no regular file, get their end tag once, at the end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use stats::jtl::{Columns, END};

/// An open result file.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: File,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Rows; `alone`: no other process appends to the file.
    Rows { alone: bool },
    /// A document that is complete at any time; where its end tag begins.
    Document { end: u64 },
    /// A document that ends once.
    Stream,
}

/// JMeter takes a shorter file for none of its own.
const SHORTEST: u64 = 65;
/// How far from the end JMeter looks for the end tag: its length and ten bytes.
const TAIL: u64 = END_TAG.len() as u64 + 10;
const END_TAG: &[u8] = b"</testResults>";

impl Output {
    /// Opens the file of a run that is the only one to write to it.
    pub(crate) fn alone(path: &Path, columns: &Columns, variables: &[&str]) -> io::Result<Self> {
        let path = path.to_owned();
        if !columns.xml {
            let file = open_rows(&path, columns, variables)?;
            return Ok(Self { path, file, form: Form::Rows { alone: true } });
        }
        let (mut file, regular) = open_document(&path, columns)?;
        if !regular {
            return Ok(Self { path, file, form: Form::Stream });
        }
        let end = file.seek(SeekFrom::End(0))?;
        file.write_all_at(END, end)?;
        Ok(Self { path, file, form: Form::Document { end } })
    }

    /// Opens a file that was made by [`create`] and that several processes append to.
    pub(crate) fn shared(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { path: path.to_owned(), file, form: Form::Rows { alone: false } })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a chunk: all of it or nothing, for half a row at the end would spoil the first one after it that finds
    /// room again. The chunk may be used for it.
    pub(crate) fn write(&mut self, chunk: &mut Vec<u8>) -> io::Result<()> {
        match &mut self.form {
            Form::Rows { alone } => write_whole(&mut self.file, chunk, *alone),
            Form::Stream => self.file.write_all(chunk),
            Form::Document { end } => {
                let length = chunk.len() as u64;
                chunk.extend_from_slice(END);
                match self.file.write_all_at(chunk, *end) {
                    Ok(()) => *end += length,
                    Err(error) => {
                        // The place of the old end tag is there even on a full disk.
                        self.file.write_all_at(END, *end)?;
                        self.file.set_len(*end + END.len() as u64)?;
                        return Err(error);
                    }
                }
                Ok(())
            }
        }
    }

    /// Nothing more comes from this process.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self.form {
            Form::Stream => self.close_document(),
            Form::Rows { .. } | Form::Document { .. } => Ok(()),
        }
    }

    /// Writes the end tag.
    pub(crate) fn close_document(&mut self) -> io::Result<()> {
        self.file.write_all(END)
    }
}

/// What tells files apart, whatever way their names go.
pub(crate) fn key(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Writes a file of its own; one of that name is overwritten.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_folder(path)?;
    std::fs::write(path, bytes)
}

/// Makes a file with its header, for processes that append to it.
pub(crate) fn create(path: &Path, columns: &Columns, variables: &[&str]) -> io::Result<()> {
    if columns.xml {
        open_document(path, columns).map(drop)
    } else {
        open_rows(path, columns, variables).map(drop)
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => std::fs::create_dir_all(folder),
        None => Ok(()),
    }
}

/// A file that was there gets no heading, not even an empty one; a pipe or a device does.
fn open_rows(path: &Path, columns: &Columns, variables: &[&str]) -> io::Result<File> {
    make_folder(path)?;
    let new = !path.is_file();
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    if new && columns.field_names {
        let mut header = Vec::new();
        columns.header(variables, &mut header);
        file.write_all(&header)?;
    }
    Ok(file)
}

/// Opens a document without its end tag, and says whether it is a regular file. One that has an end tag where JMeter
/// looks for it goes on; anything else that was there is overwritten, as JMeter does.
fn open_document(path: &Path, columns: &Columns) -> io::Result<(File, bool)> {
    make_folder(path)?;
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        let mut file = OpenOptions::new().write(true).open(path)?;
        start_document(&mut file, columns)?;
        return Ok((file, false));
    }
    let mut file =
        OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path)?;
    match place_of_end_tag(&mut file)? {
        Some(end) => file.set_len(end)?,
        None => {
            file.set_len(0)?;
            file.rewind()?;
            start_document(&mut file, columns)?;
        }
    }
    Ok((file, true))
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

/// Writes all of a chunk of rows or nothing. A file that several processes append to grows by whole chunks, for the
/// system lets one append at a time; there what got half through is left to its own line, since what stands behind it
/// by then may be another's.
fn write_whole(out: &mut File, chunk: &[u8], alone: bool) -> io::Result<()> {
    let mut written = 0;
    while written < chunk.len() {
        match out.write(&chunk[written..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                if !alone {
                    if written > 0 {
                        let _ = out.write(b"\n");
                    }
                    return Err(error);
                }
                // What is no regular file keeps what it got.
                if let Ok(length) = out.metadata().map(|data| data.len())
                    && written > 0
                {
                    let _ = out.set_len(length.saturating_sub(written as u64));
                }
                return Err(error);
            }
        }
    }
    Ok(())
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
    fn a_document_is_complete_after_every_chunk_and_goes_on_in_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/r.xml");
        let end = std::str::from_utf8(END).unwrap();
        let start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n";
        let mut out = Output::alone(&path, &columns(), &[]).unwrap();
        assert_eq!(text(&path), format!("{start}{end}"));
        for n in 1..3 {
            out.write(&mut b"<sample/>\n".to_vec()).unwrap();
            assert_eq!(text(&path), format!("{start}{}{end}", "<sample/>\n".repeat(n)));
        }
        out.end().unwrap();
        let mut again = Output::alone(&path, &columns(), &[]).unwrap();
        again.write(&mut b"<more/>\n".to_vec()).unwrap();
        assert_eq!(text(&path), format!("{start}<sample/>\n<sample/>\n\n<more/>\n{end}"));
    }

    #[test]
    fn what_is_no_document_is_overwritten_and_rows_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r");
        std::fs::write(&path, "old\n".repeat(40)).unwrap();
        Output::alone(&path, &Columns::default(), &[]).unwrap();
        assert_eq!(text(&path), "old\n".repeat(40));
        Output::alone(&path, &columns(), &[]).unwrap();
        assert!(text(&path).starts_with("<?xml") && !text(&path).contains("old"));
    }

    #[test]
    fn processes_that_share_a_document_leave_its_end_to_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.xml");
        create(&path, &columns(), &[]).unwrap();
        for sample in ["<a/>\n", "<b/>\n"] {
            let mut out = Output::shared(&path).unwrap();
            out.write(&mut sample.as_bytes().to_vec()).unwrap();
            out.end().unwrap();
        }
        Output::shared(&path).unwrap().close_document().unwrap();
        assert!(text(&path).ends_with(">\n<a/>\n<b/>\n\n</testResults>\n"));
    }

    #[test]
    fn names_of_one_file_are_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jtl");
        assert_eq!(key(&path), key(&folder.path().join("./x.jtl")));
        assert_ne!(key(&path), key(&folder.path().join("y.jtl")));
    }
}
