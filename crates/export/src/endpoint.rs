//! The HTTP server that Prometheus scrapes. It serves only `GET /metrics`.
//!
//! Connections, request size and time per request are limited. Each connection is closed after its response.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::exposition::{Format, text};
use crate::metrics::Family;

/// Maximum number of simultaneous connections.
const MOST_CONNECTIONS: usize = 8;
/// Maximum length of a request in bytes.
const MOST_REQUEST: usize = 8 << 10;
/// Time limit for receiving a request and sending its response.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum time that the end of a run waits for Prometheus to scrape once more.
const MOST_LINGER: Duration = Duration::from_secs(20);

/// The HTTP server for Prometheus. The server stops when this value is dropped.
#[derive(Debug)]
pub(crate) struct Endpoint {
    shared: Arc<Shared>,
    address: SocketAddr,
}

#[derive(Debug, Default)]
struct Shared {
    families: Mutex<Arc<[Family]>>,
    connections: AtomicUsize,
    ended: AtomicBool,
    /// Times of the last two scrapes, the latest one second; `None` for a missing scrape.
    scrapes: Mutex<[Option<Instant>; 2]>,
}

impl Endpoint {
    /// Starts to listen. The error is a message for the user.
    pub(crate) fn start(address: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| {
            format!(
                "--out prometheus: cannot listen on {address}: {error}; choose another port, for example --out prometheus=:9465"
            )
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("prometheus".into());
        thread.spawn(move || own.listen(&listener)).map_err(failed)?;
        Ok(Self { shared, address })
    }

    pub(crate) fn set(&self, families: Vec<Family>) {
        *self.shared.families.lock().unwrap_or_else(PoisonError::into_inner) = families.into();
    }

    /// Waits until Prometheus has scraped the metrics since `last`. The wait lasts at most one scrape interval plus a
    /// second, and at most [`MOST_LINGER`]. If fewer than two scrapes have arrived, it returns immediately.
    pub(crate) fn linger(&self, last: Instant) {
        let scrapes = || *self.shared.scrapes.lock().unwrap_or_else(PoisonError::into_inner);
        let [Some(before), Some(latest)] = scrapes() else { return };
        let pace = latest.duration_since(before) + Duration::from_secs(1);
        let deadline = latest.max(last) + pace.min(MOST_LINGER);
        while Instant::now() < deadline && scrapes()[1].is_none_or(|latest| latest <= last) {
            std::thread::sleep(Duration::from_millis(50));
        }
        // Wait for a response that is still being sent.
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline && self.shared.connections.load(Ordering::Acquire) > 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        // A connection wakes the listener thread, which then sees that the server has ended.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

impl Shared {
    fn listen(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.ended.load(Ordering::Acquire) {
                return;
            }
            let Ok(stream) = stream else {
                // For example, no file descriptors are free. An immediate retry would use a processor that the run
                // needs.
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if self.connections.fetch_add(1, Ordering::AcqRel) >= MOST_CONNECTIONS {
                self.connections.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let own = Arc::clone(&self);
            let thread = std::thread::Builder::new().name("prometheus".into()).spawn(move || {
                let _ = own.serve(stream);
                own.connections.fetch_sub(1, Ordering::AcqRel);
            });
            if thread.is_err() {
                self.connections.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        stream.set_write_timeout(Some(PATIENCE))?;
        let Some(head) = head(&mut stream, deadline)? else {
            return answer(
                &mut stream,
                "400 Bad Request",
                "text/plain",
                "The request is incomplete or too long.\n",
                true,
                deadline,
            );
        };
        let mut words = head.lines().next().unwrap_or("").split(' ');
        let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let with_body = method != "HEAD";
        if !matches!(method, "GET" | "HEAD") {
            return answer(
                &mut stream,
                "405 Method Not Allowed",
                "text/plain",
                "Use GET /metrics.\n",
                true,
                deadline,
            );
        }
        if path.split('?').next() != Some("/metrics") {
            return answer(
                &mut stream,
                "404 Not Found",
                "text/plain",
                "The metrics are at /metrics.\n",
                with_body,
                deadline,
            );
        }
        let accept = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("accept").then_some(value)
        });
        let format = Format::accepted(accept.unwrap_or(""));
        let moment = Instant::now();
        let families = Arc::clone(&self.families.lock().unwrap_or_else(PoisonError::into_inner));
        let body = text(&families, format);
        answer(&mut stream, "200 OK", format.content_type(), &body, with_body, deadline)?;
        let mut scrapes = self.scrapes.lock().unwrap_or_else(PoisonError::into_inner);
        *scrapes = [scrapes[1], Some(moment)];
        Ok(())
    }
}

/// Reads the head of a request. Returns `None` if the head is too long or ends early.
fn head(stream: &mut TcpStream, deadline: Instant) -> std::io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || head.len() >= MOST_REQUEST {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer)? {
            0 => return Ok(None),
            n => head.extend(&buffer[..n]),
        }
    }
    Ok(Some(String::from_utf8_lossy(&head).into_owned()))
}

/// Writes a response. A client that reads too slowly is disconnected at the deadline.
fn answer(
    stream: &mut TcpStream,
    status: &str,
    content_type: &str,
    body: &str,
    with_body: bool,
    deadline: Instant,
) -> std::io::Result<()> {
    let mut text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    if with_body {
        text.push_str(body);
    }
    let mut left = text.as_bytes();
    while !left.is_empty() && Instant::now() < deadline {
        let n = stream.write(left)?;
        left = &left[n..];
    }
    if left.is_empty() { Ok(()) } else { Err(std::io::ErrorKind::TimedOut.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Kind, Series, Value};

    fn endpoint() -> Endpoint {
        let endpoint = Endpoint::start("127.0.0.1:0").expect("an endpoint");
        let series = vec![Series { labels: Vec::new(), value: Value::Number(3.0) }];
        let family =
            Family { name: "throng_users", help: "Users.", kind: Kind::Gauge, unit: "1", series };
        endpoint.set(vec![family]);
        endpoint
    }

    fn ask(endpoint: &Endpoint, request: &str) -> String {
        let mut stream = TcpStream::connect(endpoint.address).expect("a connection");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        text
    }

    #[test]
    fn figures_are_at_one_path_in_two_formats() {
        let endpoint = endpoint();
        let text = ask(&endpoint, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"),
            "{text}"
        );
        assert!(text.ends_with("\nthrong_users 3\n"), "{text}");
        let text = ask(
            &endpoint,
            "GET /metrics?x HTTP/1.1\r\naccept: application/openmetrics-text\r\n\r\n",
        );
        assert!(
            text.contains("openmetrics-text; version=1.0.0") && text.ends_with("# EOF\n"),
            "{text}"
        );
        let head = ask(&endpoint, "HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
        for (request, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("\r\n\r\n", "405"),
        ] {
            assert!(ask(&endpoint, request).contains(status), "{request}");
        }
        let long = format!("GET /metrics HTTP/1.1\r\nx: {}", "y".repeat(MOST_REQUEST));
        let answer = ask(&endpoint, &long);
        assert!(answer.is_empty() || answer.contains("400"), "{answer}");
    }

    #[test]
    fn clients_that_say_nothing_are_bounded() {
        let endpoint = endpoint();
        let silent: Vec<_> = (0..30).map(|_| TcpStream::connect(endpoint.address)).collect();
        assert!(silent.iter().all(Result::is_ok));
        let start = Instant::now();
        while endpoint.shared.connections.load(Ordering::Acquire) < MOST_CONNECTIONS {
            assert!(start.elapsed() < Duration::from_secs(60), "connections are taken");
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(silent);
        while !ask(&endpoint, "GET /metrics HTTP/1.1\r\n\r\n").contains("throng_users 3") {
            assert!(start.elapsed() < Duration::from_secs(60), "others are served again");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn an_address_that_is_taken_is_told_of() {
        let endpoint = endpoint();
        let error = Endpoint::start(&endpoint.address.to_string()).expect_err("it is taken");
        assert!(error.contains("choose another port"), "{error}");
    }
}
