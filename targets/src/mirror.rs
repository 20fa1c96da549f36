//! `mirror`: records every request byte for byte and answers by path, so that a plan can get every kind of answer.
//!
//! `/` lists the paths. An answer depends only on the request and, for `/counter`, on the number of earlier requests.
//! Answers have no date and no random part, so byte counts are the same in each run. Options: `log` (a file for JSON
//! lines), `keep` (number of requests kept in memory).

mod bad;
mod bodies;
mod coding;
mod page;
mod reply;
mod session;

use std::sync::Arc;

use self::reply::Reply;
pub(crate) use self::reply::reason;
use crate::answer::Answer;
use crate::journal::{Journal, latin1};
use crate::query::pairs;
use crate::request::Request;
use crate::service::{Nanos, Service};

pub(crate) struct Mirror {
    journal: Arc<Journal>,
    counter: u64,
}

impl Mirror {
    pub(crate) fn new(journal: Arc<Journal>) -> Self {
        Self { journal, counter: 0 }
    }
}

/// A request to the mirror, with its target parsed.
pub(crate) struct Asked<'a> {
    request: &'a Request<'a>,
    query: Vec<(String, String)>,
}

impl Asked<'_> {
    /// Returns the first value of a query parameter of the request.
    fn text(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str, default: u64) -> u64 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    }
}

impl Mirror {
    /// Returns the reply for a path with a single, immediate reply; `None` for the other paths.
    fn reply(&mut self, asked: &Asked<'_>, first: &str, second: &str) -> Option<Reply> {
        let request = asked.request;
        Some(match (first, second.parse::<u64>().ok()) {
            ("", _) => Reply::text(page::INDEX),
            ("echo" | "any", _) => Reply::text(&bodies::echo(request)),
            ("counter", _) => {
                self.counter += 1;
                Reply::text(&format!("{}\n", self.counter))
            }
            ("status", Some(status)) => Reply::status(status.clamp(100, 999) as u16),
            ("redirect", Some(left)) => bodies::redirect_chain(asked, left),
            ("redirect-to", _) => Reply::redirect(
                asked.number("code", 302) as u16,
                asked.text("url").unwrap_or("/echo"),
            ),
            ("cookies", _) if second == "set" => session::set_cookies(asked),
            ("cookies", _) => session::show_cookies(request),
            ("login", _) => session::login(asked),
            ("logout", _) => session::logout(),
            ("private", _) => session::private(request),
            ("gzip" | "deflate" | "br", _) => coding::coded(asked, first),
            ("json", _) => Reply::new("application/json", bodies::json(asked.number("n", 3))),
            ("xml", _) => Reply::new("application/xml", bodies::XML),
            ("html", _) => Reply::new("text/html; charset=utf-8", page::HTML),
            ("text", _) => coding::text(asked),
            ("header", _) => asked
                .query
                .iter()
                .fold(Reply::text("ok\n"), |reply, (name, value)| reply.header(name, value)),
            ("keep-alive-timeout", _) => Reply::text("ok\n")
                .header("Connection", "keep-alive")
                .header("Keep-Alive", &format!("timeout={}", asked.number("seconds", 1))),
            _ => return None,
        })
    }
}

/// Handles paths with a pause or interim responses before the reply; `None` for the other paths.
fn delayed(first: &str, number: Option<u64>, answer: &mut Answer) -> Option<Reply> {
    match (first, number) {
        ("delay", Some(milliseconds)) => {
            answer.pause(milliseconds * 1_000_000);
            Some(Reply::text("late\n"))
        }
        ("continue", _) => {
            for _ in 0..number.unwrap_or(1).min(1000) {
                answer.send(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            Some(Reply::text("went on\n"))
        }
        _ => None,
    }
}

/// Handles paths whose answer comes in pieces, has no length, or ends the connection; returns false for all other
/// paths.
fn in_its_own_way(asked: &Asked<'_>, first: &str, second: &str, answer: &mut Answer) -> bool {
    let request = asked.request;
    match (first, second.parse::<u64>().ok()) {
        ("bytes", Some(count)) => bodies::bytes(request, count, answer),
        ("chunked", _) => bodies::chunked(asked, answer),
        ("slow", _) => bodies::slow(asked, answer),
        ("close", _) => {
            Reply::text("bye\n").header("Connection", "close").send(request, answer);
            answer.close();
        }
        ("close-later", Some(milliseconds)) => {
            Reply::text("soon\n").send(request, answer);
            answer.pause(milliseconds * 1_000_000);
            answer.close();
        }
        ("close-silently", _) => answer.close(),
        ("reset", _) => {
            bad::begin(asked, answer);
            answer.reset();
        }
        ("stall", _) => {
            bad::begin(asked, answer);
            answer.stall();
        }
        ("http10", _) => bodies::http10(asked, answer),
        ("no-length", _) => {
            Reply::text("until the end\n").send_unframed(request, answer);
            answer.close();
        }
        ("bad", _) => bad::answer(second, answer),
        _ => return false,
    }
    true
}

impl Service for Mirror {
    fn request(&mut self, request: &Request<'_>, _now: Nanos, answer: &mut Answer) {
        self.journal.record(request);
        let asked = Asked { request, query: pairs(request.query()) };
        let path = latin1(request.path());
        let mut parts = path.trim_start_matches('/').split('/');
        let first = parts.next().unwrap_or_default();
        let second = parts.next().unwrap_or_default();
        if in_its_own_way(&asked, first, second, answer) {
            return;
        }
        let reply = self
            .reply(&asked, first, second)
            .or_else(|| delayed(first, second.parse().ok(), answer))
            .unwrap_or_else(|| Reply::text("no such path\n").with_status(404));
        reply.send(request, answer);
        if !request.keeps_alive() {
            answer.close();
        }
    }
}
