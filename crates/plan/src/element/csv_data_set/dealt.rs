//! Data files whose lines are dealt out by number: a share of a run needs only the lines of its own users.
//!
//! Line k is for user k mod users ([`Shard`](crate::state::Shard)). A file that is cut for some shares keeps the number of its lines: those of
//! others are blank, so that each line has the number that it has in the whole file. Two passes over a file, in pieces.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use lang::charset::Charset;

use super::{CsvDataSet, known, parse, share_of, source};
use crate::input;
use crate::plan::GroupId;

/// A line that is longer than this, bytes, is none of a data file.
const LONGEST: usize = 16 << 20;

/// A data file that users of several shares read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DealtFile {
    /// Its name, as the plan has it.
    pub file: String,
    /// The number of users among whom its lines are dealt out.
    pub users: u32,
    /// Whether it begins anew behind its last line.
    pub recycle: bool,
    encoding: String,
    quoted: Option<char>,
    skip_first: bool,
}

/// Why a file is not cut.
#[derive(Debug)]
pub enum Odd {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// Its lines cannot be told apart byte by byte; the reason in words.
    Form(&'static str),
}

/// The taker of lines, each with its number; the first line of a file has none where it is no data.
type Each<'a> = dyn FnMut(Option<u64>, &[u8]) -> io::Result<()> + 'a;

impl CsvDataSet {
    /// The file as users of that group read it, if that is known before any user starts. `all`: users among whom lines
    /// are dealt out that all groups share; `own`: those of the group. The error has the name, if that is known, of a file that
    /// each user reads by itself, or whose form is not known.
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
    /// Whether the other reads the same lines in the same deal, by whatever name.
    pub fn is_dealt_as(&self, other: &Self) -> bool {
        let named = Self { file: self.file.clone(), ..other.clone() };
        *self == named
    }

    /// The number of its lines of data.
    ///
    /// # Errors
    ///
    /// [`Odd`], where it is not to be cut.
    pub fn lines(&self, path: &Path) -> Result<u64, Odd> {
        self.pass(path, &mut |_, _| Ok(()))
    }

    /// Copies the file into several: each has its own lines, and blank ones for those of others. `owner` gives the index of
    /// the file that gets a line, by the line's number from 0. One pass, whatever the number of files.
    ///
    /// # Errors
    ///
    /// [`Odd`], also where a file cannot be written.
    pub fn deal(
        &self,
        path: &Path,
        into: &mut [impl Write],
        owner: impl Fn(u64) -> usize,
    ) -> Result<u64, Odd> {
        // Blank lines that a file lacks are written before its next own line.
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
            blanks(file, lines - written).map_err(Odd::Unreadable)?;
        }
        Ok(lines)
    }

    /// Gives each line with its number. Returns the number of lines.
    fn pass(&self, path: &Path, each: &mut Each<'_>) -> Result<u64, Odd> {
        let charset = if self.encoding.is_empty() {
            Some(Charset::Utf8)
        } else {
            Charset::named(&self.encoding)
        };
        let charset = charset
            .filter(|charset| charset.is_ascii_like())
            .ok_or(Odd::Form("its encoding has no line breaks of one byte"))?;
        let file = input::open(path).map_err(Odd::Unreadable)?;
        let mut lines =
            RawLines { reader: BufReader::with_capacity(1 << 20, file), charset, line: Vec::new() };
        if self.skip_first && lines.next(None)? {
            each(None, &lines.line).map_err(Odd::Unreadable)?;
        }
        let mut number = 0;
        while lines.next(self.quoted)? {
            each(Some(number), &lines.line).map_err(Odd::Unreadable)?;
            number += 1;
        }
        Ok(number)
    }
}

/// Writes so many blank lines.
fn blanks(into: &mut impl Write, mut count: u64) -> io::Result<()> {
    const BLANK: [u8; 4096] = [b'\n'; 4096];
    while count > 0 {
        let now = count.min(BLANK.len() as u64);
        into.write_all(&BLANK[..now as usize])?;
        count -= now;
    }
    Ok(())
}

/// The lines of a file as they are in it.
struct RawLines {
    reader: BufReader<File>,
    charset: Charset,
    line: Vec<u8>,
}

impl RawLines {
    /// Reads the next line, with its line break; `quoted`: the delimiter of values that may be quoted. False at the end.
    fn next(&mut self, quoted: Option<char>) -> Result<bool, Odd> {
        self.line.clear();
        loop {
            let before = self.line.len();
            let read = self.reader.read_until(b'\n', &mut self.line).map_err(Odd::Unreadable)?;
            if read == 0 {
                break;
            }
            if self.line.len() > LONGEST {
                return Err(Odd::Form("it has very long lines"));
            }
            let piece = self.line[before..].strip_suffix(b"\n").unwrap_or(&self.line[before..]);
            let piece = piece.strip_suffix(b"\r").unwrap_or(piece);
            if piece.contains(&b'\r') {
                return Err(Odd::Form("it has line breaks without a line feed"));
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
                return Err(Odd::Form("it has quotes that are not at the edges of values"));
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

    /// The file cut for user 1 of three.
    fn cut(of: &DealtFile, name: &str, content: &str) -> Result<(u64, String), Odd> {
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
            matches!(cut(of, name, content), Err(Odd::Form(_)))
        };
        assert!(form(&file(None, false), "cr", "a\rb\n"));
        assert!(form(&file(Some(','), false), "inner", "a\"b\"\nc\n"));
        let open = cut(&file(Some(','), false), "open", "\"a\nb\n").expect("one line to the end");
        assert_eq!(open, (1, "\n".to_owned()));
        let utf16 = DealtFile { encoding: "UTF-16".into(), ..file(None, false) };
        assert!(form(&utf16, "utf16", "a\n"));
        assert!(matches!(file(None, false).lines(Path::new("/nowhere")), Err(Odd::Unreadable(_))));
    }
}
