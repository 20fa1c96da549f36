//! A test server whose every response differs in one part.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

/// The part of the server's response that is new each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Each response sets the same cookie to a new value.
    SameCookie,
    /// Each response sets a cookie with a new name.
    NewCookie,
    /// Each response is an error with a new reason phrase.
    NewError,
    /// Each request of `/away` is redirected to a new host and port; other paths get 200.
    NewHost,
}

/// Starts the server on all local addresses and returns its port. It runs until the process ends.
pub(crate) fn serve(kind: Kind) -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(kind, stream));
        }
    });
    port
}

fn answer(kind: Kind, mut stream: TcpStream) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let (mut buffer, mut held) = ([0u8; 8192], 0);
    let mut text = String::new();
    while let Ok(n) = stream.read(&mut buffer[held..]) {
        if n == 0 {
            return;
        }
        held += n;
        if !buffer[..held].ends_with(b"\r\n\r\n") {
            continue;
        }
        let away = buffer.starts_with(b"GET /away");
        held = 0;
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        text.clear();
        let _ = match kind {
            Kind::SameCookie => {
                write!(text, "HTTP/1.1 200 OK\r\nSet-Cookie: id={n}; Path=/\r\nETag: \"{n}\"\r\n")
            }
            Kind::NewCookie => write!(text, "HTTP/1.1 200 OK\r\nSet-Cookie: c{n}={n}; Path=/\r\n"),
            Kind::NewError => write!(text, "HTTP/1.1 5{:02} Fault {n}\r\n", n % 100),
            // Nobody listens on ports 100 to 999 of the loopback.
            Kind::NewHost if away => {
                let (a, b) = (n / 250 % 250, n % 250 + 1);
                let port = n % 900 + 100;
                write!(
                    text,
                    "HTTP/1.1 302 Found\r\nLocation: http://127.9.{a}.{b}:{port}/\r\nConnection: close\r\n"
                )
            }
            Kind::NewHost => write!(text, "HTTP/1.1 200 OK\r\nConnection: close\r\n"),
        };
        text.push_str("Content-Length: 2\r\n\r\nok");
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
        if kind == Kind::NewHost {
            return;
        }
    }
}
