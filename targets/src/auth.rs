//! `auth`: a service that looks up tokens in a Redis server, with one thread for each connection.
//!
//! `Authorization: Bearer TOKEN` is answered with 200 if the store has the key `token:TOKEN`, with 401 if not, and with
//! 503 if the store does not answer. Connections to the store come from a pool of `pool` connections, for which
//! requests wait, or are opened for each request. For a share `trace` of the requests, a span is written to the file
//! `spans` as a line of JSON, before the answer. `/stats` returns counts.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::config::{Config, bad};
use crate::error::Error;
use crate::random::Seeded;
use crate::request::Request;
use crate::running::Running;
use crate::threaded::{self, Threaded};

/// Maximum length of an HTTP request in bytes.
const LONGEST: usize = 1 << 16;
/// Timeout of requests to the token store.
const PATIENCE: Duration = Duration::from_secs(5);

struct Auth {
    store: String,
    pool: Option<Pool>,
    trace: f64,
    spans: Option<Mutex<File>>,
    random: Mutex<Seeded>,
    requests: AtomicU64,
    allowed: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    traced: AtomicU64,
    /// Number of connections opened to the token store.
    opened: AtomicU64,
    /// Longest wait for a pooled connection to the token store, in nanoseconds.
    longest_wait: AtomicU64,
}

/// Pool of idle connections to the token store, with the number of further connections that may be opened.
struct Pool {
    state: Mutex<(Vec<TcpStream>, usize)>,
    returned: Condvar,
}

pub(crate) fn start(config: &Config) -> Result<Running, Error> {
    let pool: usize = config.read("pool", 8)?;
    let trace: f64 = config.read("trace", 0.0)?;
    if !(0.0..=1.0).contains(&trace) {
        return Err(bad("trace", &trace.to_string(), "must lie between 0 and 1"));
    }
    let spans = match config.text("spans") {
        None | Some("") => None,
        Some(path) => Some(File::create(path).map_err(|error| Error::Log(path.to_owned(), error))?),
    };
    let auth = Arc::new(Auth {
        store: config.text("redis").unwrap_or("127.0.0.1:6379").to_owned(),
        pool: (pool > 0)
            .then(|| Pool { state: Mutex::new((Vec::new(), pool)), returned: Condvar::new() }),
        trace,
        spans: spans.map(Mutex::new),
        random: Mutex::new(Seeded::new(config.read("seed", 1)?)),
        requests: AtomicU64::new(0),
        allowed: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        traced: AtomicU64::new(0),
        opened: AtomicU64::new(0),
        longest_wait: AtomicU64::new(0),
    });
    threaded::start(config, auth)
}

impl Threaded for Auth {
    fn longest(&self) -> usize {
        LONGEST
    }

    fn answer(&self, request: &Request<'_>, _client: IpAddr) -> Vec<u8> {
        self.reply(request).into_bytes()
    }
}

impl Auth {
    fn reply(&self, request: &Request<'_>) -> String {
        if request.path() == b"/stats" {
            let body = self.stats();
            return format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
        let begun = Instant::now();
        let token =
            request.header("Authorization").and_then(|value| value.strip_prefix(b"Bearer "));
        let (count, status) = match token.map(|token| self.knows(token)) {
            Some(Ok(true)) => (&self.allowed, "200 OK"),
            Some(Ok(false)) | None => (&self.refused, "401 Unauthorized"),
            Some(Err(_)) => (&self.failed, "503 Service Unavailable"),
        };
        count.fetch_add(1, Ordering::Relaxed);
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_traced() {
            self.write_span(number, status, begun.elapsed());
        }
        format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n")
    }

    /// Returns true if the token store has the token.
    fn knows(&self, token: &[u8]) -> io::Result<bool> {
        let Some(pool) = &self.pool else { return ask(&self.open()?, token) };
        let begun = Instant::now();
        let mut state = pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        let free = loop {
            if let Some(free) = state.0.pop() {
                break Some(free);
            }
            if state.1 > 0 {
                state.1 -= 1;
                break None;
            }
            state = pool.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        self.longest_wait.fetch_max(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let asked = free.map_or_else(|| self.open(), Ok).and_then(|store| {
            let known = ask(&store, token)?;
            Ok((store, known))
        });
        let mut state = pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match asked {
            Ok((store, known)) => {
                state.0.push(store);
                Ok(known)
            }
            Err(error) => {
                state.1 += 1;
                Err(error)
            }
        };
        pool.returned.notify_one();
        result
    }

    fn open(&self) -> io::Result<TcpStream> {
        let store = TcpStream::connect(&self.store)?;
        store.set_nodelay(true)?;
        store.set_read_timeout(Some(PATIENCE))?;
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(store)
    }

    fn is_traced(&self) -> bool {
        self.trace >= 1.0
            || (self.trace > 0.0
                && self.random.lock().unwrap_or_else(PoisonError::into_inner).unit() < self.trace)
    }

    fn write_span(&self, number: u64, status: &str, time: Duration) {
        self.traced.fetch_add(1, Ordering::Relaxed);
        let Some(spans) = &self.spans else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let span = json!({
            "traceId": format!("{number:032x}"), "id": format!("{number:016x}"), "kind": "SERVER", "name": "check",
            "timestamp": now.as_micros() as u64, "duration": time.as_micros() as u64,
            "localEndpoint": { "serviceName": "auth" },
            "tags": { "http.method": "GET", "http.path": "/check", "http.status": status, "store": self.store },
        });
        // Errors of writing a span, such as a full disk, must not change the response, so they are ignored.
        let _ = spans
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(format!("{span}\n").as_bytes());
    }

    fn stats(&self) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        json!({
            "requests": of(&self.requests), "allowed": of(&self.allowed), "refused": of(&self.refused),
            "failed": of(&self.failed), "traced": of(&self.traced), "store_connections": of(&self.opened),
            "longest_wait_ms": of(&self.longest_wait) as f64 / 1e6,
        })
        .to_string()
    }
}

/// Looks up a token in the token store over this connection; returns true if the store has it.
fn ask(mut store: &TcpStream, token: &[u8]) -> io::Result<bool> {
    let key = [b"token:", token].concat();
    let mut command = format!("*2\r\n$3\r\nGET\r\n${}\r\n", key.len()).into_bytes();
    command.extend_from_slice(&key);
    command.extend_from_slice(b"\r\n");
    store.write_all(&command)?;
    let mut answer = Vec::new();
    let mut piece = [0; 512];
    loop {
        let count = store.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&piece[..count]);
        if let Some(found) = understood(&answer) {
            return found;
        }
    }
}

/// Parses a reply of the token store; `None` if it is incomplete.
fn understood(reply: &[u8]) -> Option<io::Result<bool>> {
    let end = reply.windows(2).position(|two| two == b"\r\n")?;
    let line = &reply[..end];
    if line == b"$-1" || line == b"_" {
        return Some(Ok(false));
    }
    let length: Option<usize> =
        line.strip_prefix(b"$").and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
    match length {
        Some(length) if length <= LONGEST => {
            (reply.len() >= end + 2 + length + 2).then_some(Ok(true))
        }
        _ => Some(Err(io::ErrorKind::InvalidData.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_understood_once_they_are_whole() {
        let of = |reply: &str| understood(reply.as_bytes()).map(Result::ok);
        assert_eq!(of("$3\r\nabc\r\n"), Some(Some(true)));
        assert_eq!(of("$3\r\nabc\r"), None);
        assert_eq!(of("$-1\r\n"), Some(Some(false)));
        assert_eq!(of("-ERR no\r\n"), Some(None));
        assert_eq!(of("$99999999999\r\n"), Some(None));
        assert_eq!(of("$3"), None);
    }
}
