//! `websocket-odd`: violates the WebSocket protocol in the way that the path names; `/` lists the paths.
//!
//! For each path there is a script of bytes to send, pauses, and ways to end the connection; it runs on the event loop
//! of the HTTP targets. Data that the client sends after its request is ignored. `after=MS` in the query adds a pause
//! after a valid upgrade.

mod frames;
mod handshake;
mod stream;

use crate::answer::Answer;
use crate::journal::latin1;
use crate::query::pairs;
use crate::request::Request;
use crate::service::{Nanos, Service};

pub(crate) struct Odd;

/// A request to the target, with its path and query parsed.
struct Asked<'a> {
    request: &'a Request<'a>,
    /// The first part of the path, without the number that may follow it.
    name: String,
    number: Option<u64>,
    query: Vec<(String, String)>,
}

impl<'a> Asked<'a> {
    fn new(request: &'a Request<'a>) -> Self {
        let path = latin1(request.path());
        let mut parts = path.trim_start_matches('/').split('/');
        let name = parts.next().unwrap_or_default().to_owned();
        let number = parts.next().and_then(|part| part.parse().ok());
        Self { request, name, number, query: pairs(request.query()) }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn value(&self, name: &str, default: u64) -> u64 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    /// Answers with a valid upgrade, then pauses for the milliseconds in the query's `after`, if given.
    fn upgrade(&self, answer: &mut Answer) {
        answer.send(&self.good_answer());
        match self.value("after", 0) {
            0 => {}
            ms => answer.pause(millis(ms)),
        }
    }

    fn good_answer(&self) -> Vec<u8> {
        let key = self.request.header("Sec-WebSocket-Key").unwrap_or_default();
        let mut out = Vec::new();
        wire::websocket::handshake::push_answer(&mut out, key, None, None);
        out
    }
}

/// Converts milliseconds to nanoseconds; limits them to an hour.
fn millis(ms: u64) -> Nanos {
    ms.min(3_600_000) * 1_000_000
}

impl Service for Odd {
    fn request(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer) {
        let asked = Asked::new(request);
        let known = handshake::answer(&asked, answer)
            || frames::answer(&asked, answer)
            || stream::answer(&asked, now, answer);
        if !known {
            let list = index();
            let status = if asked.name.is_empty() { "200 OK" } else { "404 Not Found" };
            let length = list.len();
            answer.send(
                format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{list}").as_bytes(),
            );
            if !request.keeps_alive() {
                answer.close();
            }
        }
    }

    fn due(&mut self, tag: u64, now: Nanos, answer: &mut Answer) {
        stream::due(tag, now, answer);
    }
}

fn index() -> String {
    let mut list = String::new();
    for (name, what) in [handshake::PATHS, stream::PATHS].concat() {
        list.push_str(&format!("/{name:<28} {what}\n"));
    }
    for (name, what) in frames::paths() {
        list.push_str(&format!("/{name:<28} {what}\n"));
    }
    list
}
