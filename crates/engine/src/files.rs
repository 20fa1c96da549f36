//! A thread that reads files for cores, because cores do not wait for disks. It starts with the first request of a run
//! and reads one file after another.

use std::cmp::Ordering;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use crate::ids::UserId;
use crate::inbox::results::Content;
use crate::inbox::{Inbox, Message};
use crate::net::transport::keep_part;

/// A core's request to read a file.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) path: String,
    pub(crate) host: String,
    pub(crate) most: usize,
    pub(crate) ticket: u64,
    pub(crate) user: UserId,
    pub(crate) reply_to: Inbox,
}

/// The reading thread, once it is started.
#[derive(Debug, Default)]
pub(crate) struct Reader(Mutex<Option<Sender<Wanted>>>);

impl Reader {
    /// Requests a file. Returns false if the reading thread could not be started.
    pub(crate) fn ask(&self, wanted: Wanted) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = start().ok();
        }
        known.as_ref().is_some_and(|thread| thread.send(wanted).is_ok())
    }
}

fn start() -> std::io::Result<Sender<Wanted>> {
    let (sender, questions) = channel::<Wanted>();
    std::thread::Builder::new().name("files".into()).spawn(move || {
        for wanted in questions {
            let content = Content { ticket: wanted.ticket, result: read(&wanted) };
            let content = Box::new(content);
            wanted.reply_to.send(Message::File { user: wanted.user, content });
        }
    })?;
    Ok(sender)
}

/// Reads a file, or lists a folder.
fn read(wanted: &Wanted) -> Result<(Vec<u8>, u64), (&'static str, String)> {
    // Java reads `file:` addresses of other hosts by FTP.
    if !matches!(&*wanted.host, "" | "~") && !wanted.host.eq_ignore_ascii_case("localhost") {
        return Err(("java.net.UnknownHostException", wanted.host.clone()));
    }
    let missing = |error: &std::io::Error| {
        let text = error.to_string();
        let words = text.split(" (os error").next().unwrap_or_default();
        ("java.io.FileNotFoundException", format!("{} ({words})", wanted.path))
    };
    let path = Path::new(&wanted.path);
    let kept = |mut all: Vec<u8>| {
        let total = all.len() as u64;
        all.truncate(wanted.most);
        (all, total)
    };
    if path.is_dir() {
        let what = format!("{} exists, but is not accessible", wanted.path);
        let entries = std::fs::read_dir(path);
        let entries = entries.map_err(|_| ("java.io.FileNotFoundException", what))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort_by(|one, other| collate(one, other));
        let lines: String = names.iter().flat_map(|name| [name, "\n"]).collect();
        return Ok(kept(lines.into_bytes()));
    }
    let mut file = plan::input::open(path).map_err(|error| missing(&error))?;
    let (mut content, mut total) = (Vec::new(), 0);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((content, total)),
            Ok(read) => {
                keep_part(&mut content, &buffer[..read], wanted.most);
                total += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let text = error.to_string();
                let words = text.split(" (os error").next().unwrap_or_default();
                return Err(("java.io.IOException", words.to_owned()));
            }
        }
    }
}

/// Compares names in the order of Java's listings: punctuation, digits, letters regardless of case. Blanks and
/// hyphens are compared last.
fn collate(one: &str, other: &str) -> Ordering {
    const SIGNS: &str = "_,;:!?/.`^'\"()[]{}@$*\\&#%+<=>|~";
    let rank = |c: char| match SIGNS.find(c) {
        Some(at) => (0, at as u32),
        None if c.is_ascii_digit() => (1, c as u32),
        None => (2, c.to_lowercase().next().unwrap_or(c) as u32),
    };
    let weighty = |text: &str| -> Vec<(u8, u32)> {
        text.chars().filter(|c| !matches!(c, ' ' | '-')).map(rank).collect()
    };
    // Lower-case letters come before upper-case letters.
    let case = |text: &str| -> Vec<bool> { text.chars().map(char::is_uppercase).collect() };
    weighty(one)
        .cmp(&weighty(other))
        .then_with(|| one.len().cmp(&other.len()))
        .then_with(|| case(one).cmp(&case(other)))
        .then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_letters() {
        let mut names = ["b.txt", "B.txt", "a2", "A1", "_x", "10", "9", "a-b", "aa"];
        names.sort_by(|one, other| collate(one, other));
        assert_eq!(names, ["_x", "10", "9", "A1", "a2", "aa", "a-b", "b.txt", "B.txt"]);
    }
}
