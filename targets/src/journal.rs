//! The requests that a mirror received, byte for byte: in memory, and as JSON lines in a file.
//!
//! Text is decoded as Latin-1, one character per byte, so nothing is lost or replaced. Each line is flushed before the
//! request is answered, so a client that has the answer finds the line.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::request::Request;

/// An HTTP request as the mirror received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Number of the connection, from 1 in the order of accepting.
    pub connection: u64,
    /// Number of the request on its connection, from 1.
    pub order: u64,
    pub tls: bool,
    pub method: String,
    /// The target of the request as sent: path and query, not decoded.
    pub target: String,
    pub version: String,
    /// Header lines of the request as sent, in their order.
    pub headers: Vec<String>,
    /// The body of the request without transfer coding.
    pub body: Vec<u8>,
}

impl Recorded {
    pub(crate) fn new(request: &Request<'_>) -> Self {
        Self {
            connection: request.connection,
            order: request.order,
            tls: request.tls,
            method: latin1(request.method),
            target: latin1(request.target),
            version: latin1(request.version),
            headers: request.lines().map(latin1).collect(),
            body: request.body.to_vec(),
        }
    }

    /// Formats the request as one line of JSON. A body that is not UTF-8 is in `body_base64` instead of `body`.
    pub fn to_json(&self) -> String {
        let mut object = serde_json::json!({
            "connection": self.connection, "order": self.order, "tls": self.tls, "method": self.method,
            "target": self.target, "version": self.version, "headers": self.headers,
        });
        match std::str::from_utf8(&self.body) {
            Ok(text) => object["body"] = text.into(),
            Err(_) => object["body_base64"] = BASE64_STANDARD.encode(&self.body).into(),
        }
        object.to_string()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Journal(Mutex<Pages>);

#[derive(Debug, Default)]
struct Pages {
    recorded: Vec<Recorded>,
    /// Maximum number of requests kept in memory; the file gets all of them.
    keep: usize,
    file: Option<File>,
}

impl Journal {
    pub(crate) fn new(keep: usize, file: Option<File>) -> Self {
        Self(Mutex::new(Pages { recorded: Vec::new(), keep, file }))
    }

    pub(crate) fn record(&self, request: &Request<'_>) {
        let recorded = Recorded::new(request);
        let mut pages = self.pages();
        if let Some(file) = &mut pages.file {
            // Errors of writing the journal, such as a full disk, must not change the response, so they are ignored.
            let _ = file.write_all(format!("{}\n", recorded.to_json()).as_bytes());
        }
        if pages.recorded.len() < pages.keep {
            pages.recorded.push(recorded);
        }
    }

    pub(crate) fn recorded(&self) -> Vec<Recorded> {
        self.pages().recorded.clone()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}
