//! Merges result rows of agents into one file, in the order of time.
//!
//! Each agent's file is nearly in that order, like the file of one process. So the merge repeatedly takes the earliest
//! of the next rows of all files. If rows begin with milliseconds, the agent's clock is corrected by its difference
//! from the coordinator's clock. XML elements are appended agent by agent.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The result file of one agent.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    /// The coordinator's clock minus the agent's, in ms.
    pub(crate) offset_ms: i64,
}

/// A result file being merged, with its next row.
struct Head {
    from: BufReader<File>,
    offset_ms: i64,
    row: Vec<u8>,
    /// Time at the start of the row in ms since 1970, on the coordinator's clock; 0 if the row does not begin with a
    /// time.
    time: i64,
}

/// Merges the rows of all parts, and appends them to the file `into`.
pub(crate) fn merge(parts: &[Part], into: &Path, are_rows: bool) -> io::Result<()> {
    let file = OpenOptions::new().append(true).open(into)?;
    let mut out = BufWriter::with_capacity(256 << 10, file);
    merge_into(parts, &mut out, are_rows)?;
    out.flush()
}

/// Writes CSV rows of all parts in the order of time, or XML elements part by part.
pub(crate) fn merge_into(parts: &[Part], out: &mut impl Write, are_rows: bool) -> io::Result<()> {
    if !are_rows {
        for part in parts {
            io::copy(&mut File::open(&part.path)?, out)?;
        }
        return Ok(());
    }
    let mut heads = Vec::new();
    for part in parts {
        let from = BufReader::with_capacity(64 << 10, File::open(&part.path)?);
        let mut head = Head { from, offset_ms: part.offset_ms, row: Vec::new(), time: 0 };
        if head.next()? {
            heads.push(head);
        }
    }
    while let Some(at) = (0..heads.len()).min_by_key(|at| heads[*at].time) {
        out.write_all(&heads[at].row)?;
        if !heads[at].next()? {
            heads.remove(at);
        }
    }
    Ok(())
}

impl Head {
    /// Reads the next row: one line, or several lines if a quoted field contains line ends. Returns false at the end of
    /// the file.
    fn next(&mut self) -> io::Result<bool> {
        self.row.clear();
        let mut is_open = true;
        while is_open && self.from.read_until(b'\n', &mut self.row)? > 0 {
            is_open = self.row.iter().fold(false, |open, byte| open ^ (*byte == b'"'));
        }
        if self.row.is_empty() {
            return Ok(false);
        }
        if self.row.last() != Some(&b'\n') {
            self.row.push(b'\n');
        }
        let digits = self.row.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let time =
            std::str::from_utf8(&self.row[..digits]).ok().and_then(|text| text.parse::<i64>().ok());
        self.time = time.map_or(0, |time| time + self.offset_ms);
        // For centuries, milliseconds since 1970 have 12 to 14 digits.
        if self.offset_ms != 0 && (12..=14).contains(&digits) {
            self.row.splice(..digits, self.time.to_string().into_bytes());
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(parts: &[(&str, i64)], are_rows: bool) -> String {
        let folder =
            std::env::temp_dir().join(format!("throng-rows-{}-{are_rows}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let write = |(at, (text, offset_ms)): (usize, &(&str, i64))| {
            let path = folder.join(at.to_string());
            std::fs::write(&path, text).expect("a file");
            Part { path, offset_ms: *offset_ms }
        };
        let parts: Vec<Part> = parts.iter().enumerate().map(write).collect();
        let into = folder.join("all");
        std::fs::write(&into, "head\n").expect("a file");
        merge(&parts, &into, are_rows).expect("room");
        let text = std::fs::read_to_string(&into).expect("the rows");
        let _ = std::fs::remove_dir_all(folder);
        text
    }

    #[test]
    fn rows_come_by_time_and_whole() {
        let a = "1700000000001,a\n1700000000005,\"two\nlines, \"\"quoted\"\"\"\n1700000000009,a\n";
        let b = "1700000000102,b\n1700000000104,b";
        assert_eq!(
            merged(&[(a, 0), (b, -100), ("", 7)], true),
            "head\n1700000000001,a\n1700000000002,b\n1700000000004,b\n\
             1700000000005,\"two\nlines, \"\"quoted\"\"\"\n1700000000009,a\n"
        );
    }

    #[test]
    fn elements_come_agent_by_agent() {
        assert_eq!(merged(&[("<b/>\n", 5), ("<a/>\n", 0)], false), "head\n<b/>\n<a/>\n");
    }
}
