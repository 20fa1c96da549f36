//! Data files whose lines are divided among users by number: a process needs only the lines of its own users.
//!
//! Line k is for user k mod users ([`Shard`](crate::state::Shard)). A file that is cut for one process keeps the
//! number of lines: lines of other processes are blank, so that each line keeps its line number. A file is read
//! twice, in pieces.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use lang::charset::Charset;

use super::{CsvDataSet, known, parse, share_of, source};
use crate::input;
use crate::plan::GroupId;

/// Maximum length of a line in bytes; a file with a longer line cannot be cut.
const LONGEST: usize = 16 << 20;

/// A data file with lines that are divided among the users of several processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DealtFile {
    /// Name of the file as in the plan.
    pub file: String,
    /// Number of users among whom the lines are divided.
    pub users: u32,
    /// True if reading restarts at the beginning after the last line.
    pub recycle: bool,
    encoding: String,
    quoted: Option<char>,
    skip_first: bool,
}

/// The reason why a file cannot be cut.
#[derive(Debug)]
pub enum UnsplittableFile {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The line boundaries cannot be found by comparing bytes. Contains the reason.
    Form(&'static str),
}

/// Callback that receives each line and its number. The header line, which is not data, has no number.
type Each<'a> = dyn FnMut(Option<u64>, &[u8]) -> io::Result<()> + 'a;

impl CsvDataSet {
    /// Returns the data file as users of the group read it, if its settings are constant. `all` is the number of
    /// users for files that all groups share, `own` the number of users of this group. The error is the file's
    /// name, if constant, for a file that each user reads separately or whose format is not constant.
    pub(crate) fn dealt(
        &self,
        group: GroupId,
        all: u32,
        own: u32,
    ) -> Result<DealtFile, Option<&str>> {
        let name = self.file.fixed().map(str::trim);
        let dealt = || {
            let key = self.known_key()?;
            let users = match share_of(self.share.fixed()?, group) {
                source::Share::User => return None,
                source::Share::Group(_) => own,
                source::Share::All | source::Share::Word(_) => all,
            };
            Some(DealtFile {
                file: key.file,
                users: users.max(1),
                recycle: known(&self.recycle)?,
                encoding: key.encoding,
                quoted: key.quoted,
                skip_first: key.skip_first,
            })
        };
        dealt().ok_or(name)
    }
}

impl DealtFile {
    /// Returns true if both files have the same format and the same division of lines; file names may differ.
    pub fn is_dealt_as(&self, other: &Self) -> bool {
        let named = Self { file: self.file.clone(), ..other.clone() };
        *self == named
    }

    /// Returns the number of data lines.
    ///
    /// # Errors
    ///
    /// [`UnsplittableFile`] if the file cannot be cut.
    pub fn lines(&self, path: &Path) -> Result<u64, UnsplittableFile> {
        self.pass(path, &mut |_, _| Ok(()))
    }

    /// Copies the file into several files. Each target file gets the lines that belong to it, and a blank line in place
    /// of every other line. `owner` returns the index of the target file for a line number, from 0. This takes one
    /// pass, whatever the number of files.
    ///
    /// # Errors
    ///
    /// [`UnsplittableFile`] if the file cannot be cut or a target file cannot be written.
    pub fn deal(
        &self,
        path: &Path,
        into: &mut [impl Write],
        owner: impl Fn(u64) -> usize,
    ) -> Result<u64, UnsplittableFile> {
        // Missing blank lines are written before the next line that belongs to the file.
        let mut written = vec![0; into.len()];
        let lines = self.pass(path, &mut |number, line| {
            let Some(number) = number else {
                return into.iter_mut().try_for_each(|file| file.write_all(line));
            };
            let at = owner(number);
            let (Some(file), Some(written)) = (into.get_mut(at), written.get_mut(at)) else {
                return Ok(());
            };
            blanks(file, number - *written)?;
            *written = number + 1;
            file.write_all(line)
        })?;
        for (file, written) in into.iter_mut().zip(written) {
            blanks(file, lines - written).map_err(UnsplittableFile::Unreadable)?;
        }
        Ok(lines)
    }

    /// Calls `each` for every line with its number. Returns the number of lines.
    fn pass(&self, path: &Path, each: &mut Each<'_>) -> Result<u64, UnsplittableFile> {
        let charset = if self.encoding.is_empty() {
            Some(Charset::Utf8)
        } else {
            Charset::named(&self.encoding)
        };
        let charset = charset
            .filter(|charset| charset.is_ascii_like())
            .ok_or(UnsplittableFile::Form("its encoding has no single-byte line breaks"))?;
        let file = input::open(path).map_err(UnsplittableFile::Unreadable)?;
        let mut lines =
            RawLines { reader: BufReader::with_capacity(1 << 20, file), charset, line: Vec::new() };
        if self.skip_first && lines.next(None)? {
            each(None, &lines.line).map_err(UnsplittableFile::Unreadable)?;
        }
        let mut number = 0;
        while lines.next(self.quoted)? {
            each(Some(number), &lines.line).map_err(UnsplittableFile::Unreadable)?;
            number += 1;
        }
        Ok(number)
    }
}

/// Writes `count` blank lines.
fn blanks(into: &mut impl Write, mut count: u64) -> io::Result<()> {
    const BLANK: [u8; 4096] = [b'\n'; 4096];
    while count > 0 {
        let now = count.min(BLANK.len() as u64);
        into.write_all(&BLANK[..now as usize])?;
        count -= now;
    }
    Ok(())
}

/// Reader that returns the lines of a file as raw bytes.
struct RawLines {
    reader: BufReader<File>,
    charset: Charset,
    line: Vec<u8>,
}

impl RawLines {
    /// Reads the next line with its line break; `quoted` is the delimiter of values that may be quoted. False at
    /// the end.
    fn next(&mut self, quoted: Option<char>) -> Result<bool, UnsplittableFile> {
        self.line.clear();
        loop {
            let before = self.line.len();
            let read = self
                .reader
                .read_until(b'\n', &mut self.line)
                .map_err(UnsplittableFile::Unreadable)?;
            if read == 0 {
                break;
            }
            if self.line.len() > LONGEST {
                return Err(UnsplittableFile::Form("its lines are too long"));
            }
            let piece = self.line[before..].strip_suffix(b"\n").unwrap_or(&self.line[before..]);
            let piece = piece.strip_suffix(b"\r").unwrap_or(piece);
            if piece.contains(&b'\r') {
                return Err(UnsplittableFile::Form("it has line breaks without a line feed"));
            }
            let open = self.line.iter().fold(false, |open, byte| open ^ (*byte == b'"'));
            if quoted.is_none() || !open {
                break;
            }
        }
        if let Some(delimiter) = quoted
            && self.line.contains(&b'"')
        {
            let text = self.charset.decode(&self.line);
            if parse::quoted_line(&text, delimiter) != text.len() {
                return Err(UnsplittableFile::Form(
                    "it has quotes that are not at the edges of values",
                ));
            }
        }
        Ok(!self.line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(quoted: Option<char>, skip_first: bool) -> DealtFile {
        let (file, encoding) = ("a.csv".to_owned(), String::new());
        DealtFile { file, users: 3, recycle: false, encoding, quoted, skip_first }
    }

    /// Returns the part of the file for user 1 of three users.
    fn cut(of: &DealtFile, name: &str, content: &str) -> Result<(u64, String), UnsplittableFile> {
        let path = std::env::temp_dir().join(format!("throng-cut-{name}-{}", std::process::id()));
        std::fs::write(&path, content).expect("writable");
        let mut out = vec![Vec::new(); 3];
        let cut = of.deal(&path, &mut out, |line| line as usize % 3);
        let _ = std::fs::remove_file(path);
        Ok((cut?, String::from_utf8(out.swap_remove(1)).expect("UTF-8")))
    }

    #[test]
    fn lines_of_other_users_are_blank_and_the_header_stays() {
        let (lines, text) = cut(&file(None, true), "header", "\u{feff}name\na\nb\r\nc\nd\ne")
            .expect("simple lines");
        assert_eq!((lines, text.as_str()), (5, "\u{feff}name\n\nb\r\n\n\ne"));
    }

    #[test]
    fn quoted_values_may_have_line_breaks() {
        let (lines, text) =
            cut(&file(Some(','), false), "quoted", "a,\"1\n2\"\n\"b\"\"\n\",3\nc\n")
                .expect("whole quotes");
        assert_eq!((lines, text.as_str()), (3, "\n\"b\"\"\n\",3\n\n"));
    }

    #[test]
    fn files_whose_lines_are_not_plain_are_left_whole() {
        let form = |of: &DealtFile, name: &str, content: &str| {
            matches!(cut(of, name, content), Err(UnsplittableFile::Form(_)))
        };
        assert!(form(&file(None, false), "cr", "a\rb\n"));
        assert!(form(&file(Some(','), false), "inner", "a\"b\"\nc\n"));
        let open = cut(&file(Some(','), false), "open", "\"a\nb\n").expect("one line to the end");
        assert_eq!(open, (1, "\n".to_owned()));
        let utf16 = DealtFile { encoding: "UTF-16".into(), ..file(None, false) };
        assert!(form(&utf16, "utf16", "a\n"));
        assert!(matches!(
            file(None, false).lines(Path::new("/nowhere")),
            Err(UnsplittableFile::Unreadable(_))
        ));
    }
}
