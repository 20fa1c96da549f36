//! A server that says something new each time.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

/// The part that is new each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The value of one cookie.
    SameCookie,
    /// A cookie.
    NewCookie,
    /// The reason of an error.
    NewError,
    /// Where `/away` leads; other paths are answered.
    NewHost,
}

/// Serves for as long as the process lives, on all addresses of the loopback; its port.
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
            // Nobody listens on the ports below 1024.
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
