//! The backends behind the gateway: selects the backend of a request and sends it there.
//!
//! A backend with an address gets the API's parameters as the gateway converts them, at a path equal to the API's name.
//! If the parameters contain `_requestBody`, its value is the body of a POST; otherwise the parameters are the query of
//! a GET. Up to `keepalive` connections to each backend are kept open.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use wire::http1::{Decoder, Event, Limits};

use super::codes::{BAD_BACKEND, NO_BACKEND, Refusal, SLOW_BACKEND, encoded, refuse};
use super::limits::lock;
use super::options::{choice, list};
use crate::config::{Config, bad};
use crate::error::Error;

/// Maximum length in bytes of a backend's answer.
const LONGEST: usize = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pin {
    Turn,
    Ip,
    IpHash,
}

pub(super) struct Backends {
    pin: Pin,
    turn: AtomicUsize,
    all: Vec<Backend>,
    keepalive: usize,
    patience: Duration,
    pub(super) opened: AtomicU64,
    pub(super) reused: AtomicU64,
}

pub(super) struct Backend {
    /// Address of the backend; empty if the gateway simulates it.
    pub(super) address: String,
    pub(super) name: String,
    pub(super) served: AtomicU64,
    idle: Mutex<Vec<TcpStream>>,
}

impl Backends {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        let addresses = list(config, "upstream");
        let count: usize = config.read("backends", 1)?;
        if !(1..=100).contains(&count) {
            return Err(bad("backends", &count.to_string(), "there may be 1 to 100"));
        }
        if let Some(wrong) = addresses.iter().find(|address| !is_address(address)) {
            return Err(bad("upstream", wrong, "HOST:PORT is wanted"));
        }
        let backend = |name: String, address: String| Backend {
            address,
            name,
            served: AtomicU64::new(0),
            idle: Mutex::new(Vec::new()),
        };
        let all = if addresses.is_empty() {
            (1..=count).map(|number| backend(format!("backend-{number}"), String::new())).collect()
        } else {
            addresses.into_iter().map(|address| backend(address.clone(), address)).collect()
        };
        let pins = [("turn", Pin::Turn), ("ip", Pin::Ip), ("ip_hash", Pin::IpHash)];
        Ok(Self {
            pin: choice(config, "pin", &pins, Pin::Turn)?,
            turn: AtomicUsize::new(0),
            all,
            keepalive: config.read("keepalive", 8)?,
            patience: Duration::from_millis(config.read("patience", 3000)?),
            opened: AtomicU64::new(0),
            reused: AtomicU64::new(0),
        })
    }

    pub(super) fn all(&self) -> &[Backend] {
        &self.all
    }

    /// Selects the backend for a request from this client address, and counts the request for the backend.
    pub(super) fn of(&self, client: IpAddr) -> &Backend {
        let count = self.all.len();
        let index = match (self.pin, client) {
            (Pin::Turn, _) => self.turn.fetch_add(1, Ordering::Relaxed) % count,
            // nginx hashes three bytes of an IPv4 address, so all clients of a /24 network use one backend.
            (Pin::IpHash, IpAddr::V4(address)) => nginx_hash(&address.octets()[..3]) % count,
            (Pin::Ip, IpAddr::V4(address)) => nginx_hash(&address.octets()) % count,
            (_, IpAddr::V6(address)) => nginx_hash(&address.octets()) % count,
        };
        let backend = &self.all[index];
        backend.served.fetch_add(1, Ordering::Relaxed);
        backend
    }

    /// Sends a request to a backend with an address; returns the body of its answer, or the result code of its failure.
    pub(super) fn ask(
        &self,
        backend: &Backend,
        operation: &str,
        parameters: &Value,
    ) -> Result<Vec<u8>, Refusal> {
        let request = render(&backend.address, operation, parameters);
        let deadline = Instant::now() + self.patience;
        let idle = lock(&backend.idle).pop();
        let mut asked = Err(ErrorKind::ConnectionReset.into());
        if let Some(socket) = idle {
            self.reused.fetch_add(1, Ordering::Relaxed);
            asked = exchange(&socket, &request, deadline).map(|answer| (answer, socket));
        }
        // A kept connection may have been closed meanwhile, which is noticed only on use. Then the request is resent on
        // a new one.
        let ended = |error: &io::Error| {
            !matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
        };
        if asked.as_ref().is_err_and(ended) {
            let socket = self.open(backend, deadline)?;
            asked = exchange(&socket, &request, deadline).map(|answer| (answer, socket));
        }
        let ((status, body, keeps), socket) = asked.map_err(|error| match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => self.late(backend),
            _ => refuse(BAD_BACKEND, format!("{}: {error}", backend.address)),
        })?;
        if keeps {
            let mut idle = lock(&backend.idle);
            if idle.len() < self.keepalive {
                idle.push(socket);
            }
        }
        if !(200..300).contains(&status) {
            return Err(refuse(BAD_BACKEND, format!("{}: status {status}", backend.address)));
        }
        Ok(body)
    }

    fn late(&self, backend: &Backend) -> Refusal {
        let patience = self.patience.as_millis();
        refuse(SLOW_BACKEND, format!("{}: no answer in {patience} ms", backend.address))
    }

    fn open(&self, backend: &Backend, deadline: Instant) -> Result<TcpStream, Refusal> {
        let name = &backend.address;
        let addresses = name.to_socket_addrs().map_err(|error| error.to_string());
        let first = addresses.and_then(|mut found: std::vec::IntoIter<SocketAddr>| {
            found.next().ok_or_else(|| "no address".to_owned())
        });
        let address = first.map_err(|why| refuse(NO_BACKEND, format!("{name}: {why}")))?;
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.late(backend));
        }
        let opened = TcpStream::connect_timeout(&address, left).and_then(|socket| {
            socket.set_nodelay(true)?;
            Ok(socket)
        });
        self.opened.fetch_add(1, Ordering::Relaxed);
        opened.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => self.late(backend),
            _ => refuse(BAD_BACKEND, format!("{name}: {error}")),
        })
    }
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte);
        !host.is_empty()
            && host.bytes().all(plain)
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

/// The hash of nginx's `ip_hash` (ngx_http_upstream_ip_hash_module.c).
fn nginx_hash(bytes: &[u8]) -> usize {
    bytes.iter().fold(89, |hash, byte| (hash * 113 + usize::from(*byte)) % 6271)
}

fn render(host: &str, operation: &str, parameters: &Value) -> Vec<u8> {
    let path = encoded(operation);
    let body = match parameters.get("_requestBody") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => {
            let text = |value: &Value| match value {
                Value::String(text) => encoded(text),
                other => encoded(&other.to_string()),
            };
            let pairs: Vec<_> = parameters
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| format!("{}={}", encoded(name), text(value)))
                .collect();
            let mark = if pairs.is_empty() { "" } else { "?" };
            let query = pairs.join("&");
            return format!("GET /{path}{mark}{query} HTTP/1.1\r\nHost: {host}\r\n\r\n")
                .into_bytes();
        }
    };
    let length = body.len();
    format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Sends a request and reads its answer: status, body, and whether the connection can be kept.
fn exchange(
    mut socket: &TcpStream,
    request: &[u8],
    deadline: Instant,
) -> io::Result<(u16, Vec<u8>, bool)> {
    // A socket timeout must not be zero, so it is at least one millisecond.
    let left = || {
        let left = deadline.saturating_duration_since(Instant::now());
        Some(left.max(Duration::from_millis(1)))
    };
    socket.set_write_timeout(left())?;
    socket.write_all(request)?;
    let broken = |error: wire::http1::Error| io::Error::new(ErrorKind::InvalidData, error);
    let mut decoder = Decoder::new(false, Limits::default());
    let (mut unread, mut body) = (Vec::new(), Vec::new());
    let (mut status, mut keeps) = (0, true);
    let mut piece = [0; 16 << 10];
    loop {
        let (used, event) = decoder.next(&unread).map_err(broken)?;
        let more = match event {
            Event::NeedMore => true,
            Event::Head(head) => {
                status = head.status;
                keeps = head.keep_alive;
                false
            }
            Event::Body(part) => {
                body.extend_from_slice(part);
                false
            }
            // An interim answer (100 Continue) is followed by the final answer.
            Event::End if (100..200).contains(&status) => {
                decoder = Decoder::new(false, Limits::default());
                false
            }
            Event::End => return Ok((status, body, keeps && unread.len() == used)),
        };
        unread.drain(..used);
        if body.len() + unread.len() > LONGEST {
            return Err(io::Error::new(ErrorKind::InvalidData, "the answer is too long"));
        }
        if more {
            socket.set_read_timeout(left())?;
            match socket.read(&mut piece)? {
                0 => {
                    decoder.eof(&unread).map_err(broken)?;
                    return Ok((status, body, false));
                }
                count => unread.extend_from_slice(&piece[..count]),
            }
            if Instant::now() >= deadline {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_go_to_one_backend_with_ip_hash_alone() {
        let of = |pin: &str, last: u8| {
            let config = Config::new("mgs").option("backends", 3).option("pin", pin);
            let backends = Backends::new(&config).unwrap();
            backends.of(IpAddr::from([127, 0, 0, last])).name.clone()
        };
        let names = |pin: &str| -> std::collections::BTreeSet<_> {
            (1..=20).map(|last| of(pin, last)).collect()
        };
        assert_eq!(names("ip_hash").len(), 1);
        assert_eq!(names("ip").len(), 3);
    }

    #[test]
    fn parameters_become_a_query_and_a_request_body_a_body() {
        let rendered = |json: &str| {
            let bytes = render("h:1", "a.b/c", &serde_json::from_str(json).unwrap());
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(
            rendered(r#"{"k 1":"v&","n":1}"#),
            "GET /a.b%2Fc?k%201=v%26&n=1 HTTP/1.1\r\nHost: h:1\r\n\r\n"
        );
        assert!(
            rendered(r#"{"_requestBody":"{\"a\":1}"}"#).ends_with("Length: 7\r\n\r\n{\"a\":1}")
        );
        assert!(rendered(r#"{"_requestBody":{"a":1}}"#).ends_with("Length: 7\r\n\r\n{\"a\":1}"));
    }
}
