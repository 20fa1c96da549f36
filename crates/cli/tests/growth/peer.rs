//! A server that says something new each time.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

/// What is new each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The value of one cookie.
    SameCookie,
    /// A cookie.
    NewCookie,
    /// The reason of an error.
    NewError,
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
        held = 0;
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        text.clear();
        let _ = match kind {
            Kind::SameCookie => {
                write!(text, "HTTP/1.1 200 OK\r\nSet-Cookie: id={n}; Path=/\r\nETag: \"{n}\"\r\n")
            }
            Kind::NewCookie => write!(text, "HTTP/1.1 200 OK\r\nSet-Cookie: c{n}={n}; Path=/\r\n"),
            Kind::NewError => write!(text, "HTTP/1.1 5{:02} Fault {n}\r\n", n % 100),
        };
        text.push_str("Content-Length: 2\r\n\r\nok");
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}
