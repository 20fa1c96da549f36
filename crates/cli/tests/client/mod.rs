//! A small HTTP client that requests pages of Throng's web server and reads its event stream.

#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Ended, ended};

/// Time after which a wait in a test fails.
const NEVER: Duration = Duration::from_secs(60);

/// Waits until the condition holds; fails the test after one minute.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + NEVER;
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A running program that serves pages, with the two links (full access and read only) that it printed.
pub(crate) struct Links {
    child: Option<Child>,
    /// The program's standard output after the two links.
    rest: Option<std::thread::JoinHandle<String>>,
    pub(crate) port: u16,
    pub(crate) full: String,
    pub(crate) read: String,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Links {
    /// Reads the two links that the program prints first.
    pub(crate) fn of(mut child: Child) -> Self {
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut links = Vec::new();
        while links.len() < 2 {
            let mut line = String::new();
            assert!(
                out.read_line(&mut line).expect("a line") > 0,
                "no links; {:?}",
                child.wait_with_output()
            );
            if let Some((_, link)) = line.trim_end().split_once("http://127.0.0.1:") {
                let (port, token) = link.split_once("/#t=").expect("a token");
                links.push((port.parse().expect("a port"), token.to_owned()));
            }
        }
        let rest = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = out.read_to_string(&mut text);
            text
        });
        let (_, read) = links.remove(1);
        let (port, full) = links.remove(0);
        Self { child: Some(child), rest: Some(rest), port, full, read }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a server");
        stream.set_read_timeout(Some(NEVER)).expect("a time limit");
        stream
    }

    /// Sends the bytes of a request and reads the response.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> Answer {
        self.send(self.head("GET", path, token, "\r\n").as_bytes())
    }

    pub(crate) fn post(&self, path: &str, token: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let more = format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.send(self.head("POST", path, token, &more).as_bytes())
    }

    fn head(&self, method: &str, path: &str, token: &str, more: &str) -> String {
        let token = if token.is_empty() {
            String::new()
        } else {
            format!("Authorization: Bearer {token}\r\n")
        };
        format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{token}{more}", self.port)
    }

    /// Opens the event stream; with `behind`, from the event after that id.
    pub(crate) fn events(&self, token: &str, behind: Option<u64>) -> Events {
        let mut stream = self.connect();
        let behind = behind.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let head = self.head("GET", "/api/events", token, &format!("{behind}\r\n"));
        stream.write_all(head.as_bytes()).expect("a server that reads");
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).expect("an answer");
        assert!(line.contains(" 200 "), "{line}");
        while line != "\r\n" {
            line.clear();
            assert!(lines.read_line(&mut line).expect("a head") > 0);
        }
        Events { lines }
    }

    /// Waits for the end of the program.
    pub(crate) fn end(&mut self) -> Ended {
        let mut ended = ended(self.child.take().expect("once").wait_with_output().expect("an end"));
        ended.out = self.rest.take().expect("once").join().expect("its output");
        ended
    }

    /// Returns the process id of the program.
    pub(crate) fn process(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        // A failed test leaves no process behind.
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// An open event stream (server-sent events) of the server.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    /// Reads the next event: its id (0 if it has none), its name and its data.
    pub(crate) fn next(&mut self) -> (u64, String, Value) {
        let (mut id, mut event) = (0, String::new());
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).expect("a line") > 0, "no more events");
            match line.trim_end().split_once(": ") {
                Some(("id", number)) => id = number.parse().expect("a number"),
                Some(("event", name)) => name.clone_into(&mut event),
                Some(("data", data)) => {
                    return (id, event, serde_json::from_str(data).expect("JSON"));
                }
                _ => {}
            }
        }
    }

    /// Skips events until one has the given name, and returns its data.
    pub(crate) fn until(&mut self, name: &str) -> Value {
        loop {
            let (_, event, data) = self.next();
            if event == name {
                return data;
            }
        }
    }

    /// Reads to the end of the event stream. True if no event followed.
    pub(crate) fn is_over(&mut self) -> bool {
        let mut rest = String::new();
        let _ = self.lines.read_to_string(&mut rest);
        rest.trim().is_empty()
    }
}
