//! `file:` URLs: what an HTTP Request reads from this machine, as JMeter's implementation for files gives it.
//!
//! A thread of its own reads, one file after the other, for a core waits for no disk; it starts with the first such request of a
//! run. Whatever a file is, JMeter takes it for a page; of a folder the names in it are the page.

use std::cmp::Ordering;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use plan::http::Request;
use plan::plan::{Needs, SamplerId};
use stats::Outcome;

use crate::core::Core;
use crate::ids::UserId;
use crate::inbox::results::Content;
use crate::inbox::{Inbox, Message};
use crate::net::transport::keep_part;
use crate::time::timing::Timing;
use crate::users::Wait;

/// A file that is being read, as its user sees it.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Told apart from files of others that had the user's slot.
    ticket: u64,
    timing: Timing,
    url: String,
    /// Of its content, as the plan says it; empty is UTF-8.
    charset: String,
    sampler_data: String,
}

/// A question of a core.
#[derive(Debug)]
struct Wanted {
    path: String,
    host: String,
    most: usize,
    ticket: u64,
    user: UserId,
    reply_to: Inbox,
}

/// The thread that reads, once there is one.
#[derive(Debug, Default)]
pub(crate) struct Reader(Mutex<Option<Sender<Wanted>>>);

impl Reader {
    /// False: there is no thread to be had.
    fn ask(&self, wanted: Wanted) -> bool {
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

impl Core<'_> {
    /// Begins to read the file that a request names.
    pub(crate) fn begin_file(&mut self, index: UserId, id: SamplerId, request: &Request) {
        let timing = self.begin_plain(index, id);
        self.users.tickets += 1;
        let ticket = self.users.tickets;
        let mut sampler_data = String::new();
        request.write_sampler_data("", &mut sampler_data);
        let most = self.run.settings.max_file;
        let wanted = Wanted {
            path: request.target.clone(),
            host: request.host.clone(),
            most,
            ticket,
            user: index,
            reply_to: self.run.inbox(self.index),
        };
        let reading = Reading {
            ticket,
            timing,
            url: request.url.clone(),
            charset: request.charset.clone(),
            sampler_data,
        };
        let user = &mut self.users[index];
        user.extra().parts.put(Box::new(reading));
        user.wait = Wait::File(id);
        if !self.run.files.ask(wanted) {
            self.end_file(index, id, Err(("java.io.IOException", "Resource unavailable".into())));
        }
    }

    /// A file was read.
    pub(crate) fn on_file(&mut self, index: UserId, content: Content) {
        let user = &self.users[index];
        let Wait::File(id) = user.wait else { return };
        let reading = user.extra.as_ref().and_then(|extra| extra.parts.get::<Reading>());
        if reading.is_some_and(|reading| reading.ticket == content.ticket) {
            self.end_file(index, id, content.result);
        }
    }

    fn end_file(
        &mut self,
        index: UserId,
        id: SamplerId,
        content: Result<(Vec<u8>, u64), (&'static str, String)>,
    ) {
        let user = &mut self.users[index];
        user.wait = Wait::Ready;
        let Some(reading) = user.extra().parts.take::<Reading>() else { return };
        let mut timing = reading.timing;
        timing.end = self.clock.now();
        let start_ms = self.clock.wall_ms(timing.start);
        let needs = self.plan.samplers[id.0 as usize].needs;
        let mut result = self.lend_result();
        result.clear();
        result.start_ms = start_ms;
        result.http = true;
        result.method.push_str("GET");
        result.url.push_str(&reading.url);
        result.sampler_data.push_str(&reading.sampler_data);
        let (body, total) = match content {
            Ok(content) => content,
            Err((class, message)) => {
                result.code = format!("Non HTTP response code: {class}");
                result.message = format!("Non HTTP response message: {message}");
                self.return_result(result);
                // JMeter does not take the time of those.
                timing.end = timing.start;
                return self.fail_result(index, id, timing, Outcome::File, true);
            }
        };
        result.label.push_str(self.sampler_name(index, id));
        result.code.push_str("200");
        result.message.push_str("OK");
        result.data_type = "text";
        // Whatever the page itself says.
        let charset = if reading.charset.is_empty() { "UTF-8" } else { &reading.charset };
        result.content_type.push_str("text/html; charset=");
        result.content_type.push_str(charset);
        result.encoding.push_str(charset);
        if needs.intersects(Needs::TEXT | Needs::PAGE) {
            wire::charset::decode_into(Some(charset), &body, &mut result.text);
        }
        result.body = body;
        timing.received = total;
        self.return_result(result);
        self.conclude(index, id, timing, Outcome::Ok);
    }

    /// The run ends at once while a file is read.
    pub(crate) fn cut_file(&mut self, index: UserId, id: SamplerId) {
        let user = &mut self.users[index];
        user.wait = Wait::Ready;
        let Some(reading) = user.extra().parts.take::<Reading>() else { return };
        let timing = Timing { end: self.clock.now(), ..reading.timing };
        self.samples.result.clear();
        self.samples.result.url.push_str(&reading.url);
        self.samples.result.code.push_str("Non HTTP response code: java.io.IOException");
        self.samples.result.message.push_str("Non HTTP response message: Stream closed");
        self.fail_result(index, id, timing, Outcome::CutByEnd, true);
    }
}

/// Reads a file, or lists a folder.
fn read(wanted: &Wanted) -> Result<(Vec<u8>, u64), (&'static str, String)> {
    // Files of other hosts are asked for by FTP.
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

/// The order of names in Java's listings: signs, digits, letters whatever their case; blanks and hyphens count least.
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
    // Small letters come before their capitals.
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
