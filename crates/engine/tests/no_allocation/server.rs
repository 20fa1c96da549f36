//! Servers that do not allocate, or that run in another process. They count their requests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) static SERVED: AtomicU64 = AtomicU64::new(0);

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: session=abcdef; Path=/\r\n\
    Content-Length: 33\r\n\r\n<p>id=4711</p><p>{\"name\":\"x\"}</p>";

/// Accepts connections, each in a separate thread.
fn with_each(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, serve) = (stream.unwrap(), serve.clone());
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Answers every request with the same bytes, without allocating.
pub(crate) fn serve() -> SocketAddr {
    // Requests of these plans have no body.
    answer_each(|held| held.ends_with(b"\r\n\r\n"), ANSWER)
}

/// Answers every request that has a body with the same bytes, without allocating.
pub(crate) fn serve_posts(answer: &'static [u8]) -> SocketAddr {
    answer_each(|held| length(held).is_some_and(|length| held.len() >= length), answer)
}

/// Answers complete requests that arrive one at a time.
fn answer_each(is_whole: fn(&[u8]) -> bool, answer: &'static [u8]) -> SocketAddr {
    with_each(move |mut stream| {
        let mut buffer = [0u8; 8192];
        let mut held = 0;
        while let Ok(n) = stream.read(&mut buffer[held..]) {
            if n == 0 {
                return;
            }
            held += n;
            if is_whole(&buffer[..held]) {
                held = 0;
                SERVED.fetch_add(1, Ordering::Relaxed);
                if stream.write_all(answer).is_err() {
                    return;
                }
            }
        }
    })
}

/// Returns the length in bytes of a request, head and body, once its head has arrived completely.
fn length(held: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\r\nContent-Length: ";
    let head = held.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let at = held[..head].windows(NAME.len()).position(|name| name.eq_ignore_ascii_case(NAME))?;
    let digits = held[at + NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(head + digits.fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0')))
}

/// Accepts connections and never answers.
pub(crate) fn serve_silence() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::with_capacity(1024);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            held.push(stream.unwrap());
            SERVED.fetch_add(1, Ordering::Relaxed);
        }
    });
    address
}

/// Environment variable that selects the target which [`tls_target`] runs until its input ends.
const SERVES: &str = "THRONG_TEST_SERVES_TLS";

/// Runs a TLS server, which allocates. The server runs in a separate process, so that only the generator is counted.
#[test]
fn tls_target() {
    let Ok(wanted) = std::env::var(SERVES) else { return };
    let mut wanted = wanted.split(' ');
    let mut config = targets::Config::new(wanted.next().unwrap_or("fixed"));
    for (key, value) in wanted.filter_map(|option| option.split_once('=')) {
        config = config.option(key, value);
    }
    let target = targets::start(config.tls(targets::TlsConfig::default())).unwrap();
    eprintln!("{}", target.addr().port());
    let _ = std::io::stdin().read(&mut [0]);
}

/// The events that a server counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// TLS records. Each request is one record, which arrives at once.
    Requests,
    Connections,
}

/// A TLS server in another process, which ends when this value is dropped.
pub(crate) struct Target {
    child: std::process::Child,
    pub(crate) port: u16,
}

impl Drop for Target {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Starts a target in a separate process. Relays data to it and back, and counts what it receives.
pub(crate) fn serve_tls(target: &str, counted: Counted) -> Target {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "server::tls_target", "--nocapture"])
        .env(SERVES, target)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stderr.as_mut().unwrap()),
        &mut line,
    )
    .unwrap();
    let to = SocketAddr::from(([127, 0, 0, 1], line.trim().parse().unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            let server = TcpStream::connect(to).unwrap();
            client.set_nodelay(true).unwrap();
            server.set_nodelay(true).unwrap();
            if counted == Counted::Connections {
                SERVED.fetch_add(1, Ordering::Relaxed);
                // There is no thread per connection, because its stack and name would be counted.
                relay(client, server);
                continue;
            }
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || pass(client, server, true));
            std::thread::spawn(move || pass(back.0, back.1, false));
        }
    });
    Target { child, port }
}

fn pass(mut from: TcpStream, mut to: TcpStream, counts: bool) {
    let mut buffer = [0u8; 8192];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        SERVED.fetch_add(u64::from(counts), Ordering::Relaxed);
        if to.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

/// Relays data in both directions, without allocating, until either side has finished.
fn relay(client: TcpStream, server: TcpStream) {
    let mut buffer = [0u8; 8192];
    loop {
        let wanted = rustix::event::PollFlags::IN;
        let mut ends = [
            rustix::event::PollFd::new(&client, wanted),
            rustix::event::PollFd::new(&server, wanted),
        ];
        if rustix::event::poll(&mut ends, None).is_err() {
            return;
        }
        let ready = ends.each_ref().map(|end| !end.revents().is_empty());
        for (is_ready, mut from, mut to) in
            [(ready[0], &client, &server), (ready[1], &server, &client)]
        {
            if !is_ready {
                continue;
            }
            match from.read(&mut buffer) {
                Ok(n @ 1..) if to.write_all(&buffer[..n]).is_ok() => {}
                _ => return,
            }
        }
    }
}

/// Answers each line with a line, without allocating.
pub(crate) fn serve_lines() -> u16 {
    with_each(|mut stream| {
        let mut buffer = [0u8; 256];
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            // A request of these plans is one line, and requests arrive one at a time.
            if buffer[..n].ends_with(b"\n") {
                SERVED.fetch_add(1, Ordering::Relaxed);
                if stream.write_all(b"answer 4711\n").is_err() {
                    return;
                }
            }
        }
    })
    .port()
}

/// Accepts WebSocket connections and sends every frame back, without allocating.
pub(crate) fn serve_websocket() -> SocketAddr {
    with_each(|mut stream| {
        let mut buffer = [0u8; 8192];
        let mut held = 0;
        while !buffer[..held].ends_with(b"\r\n\r\n") {
            held += stream.read(&mut buffer[held..]).unwrap();
        }
        let head = std::str::from_utf8(&buffer[..held]).unwrap();
        let key = head.split_once("Sec-WebSocket-Key: ").unwrap().1;
        let accept = wire::websocket::handshake::accept(&key.as_bytes()[..24]);
        stream
            .write_all(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ")
            .unwrap();
        stream.write_all(&accept).unwrap();
        stream.write_all(b"\r\n\r\n").unwrap();
        loop {
            // Frames of this plan are short and masked, and arrive one at a time.
            if stream.read_exact(&mut buffer[..6]).is_err() {
                return;
            }
            let length = usize::from(buffer[1] & 0x7f);
            let key = [buffer[2], buffer[3], buffer[4], buffer[5]];
            stream.read_exact(&mut buffer[2..2 + length]).unwrap();
            buffer[1] = length as u8;
            wire::websocket::apply_mask(&mut buffer[2..2 + length], key, 0);
            SERVED.fetch_add(1, Ordering::Relaxed);
            if stream.write_all(&buffer[..2 + length]).is_err() {
                return;
            }
        }
    })
}
