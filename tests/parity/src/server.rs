//! The system under test of the parity cases: a scripted HTTP/1.1 server that records what it receives.
//!
//! Every answer comes from the case's file `replies`, byte for byte, because the cases test how JMeter and Throng
//! handle odd answers. The server adds nothing that varies (no `Date`), so golden files stay equal between runs. Each
//! connection has a blocking thread, because a case opens only a few.
//!
//! `replies` consists of blocks. A block starts with `== TARGET FLAGS…`, followed by the head, an empty line and the
//! body. TARGET is a path, or a path with its query. Several blocks for one target are used in sequence, and the last
//! one repeats. `Content-Length` is added unless the head has it or `Transfer-Encoding`, or a flag prevents it.
//!
//! Flags: `close` closes after the answer; `raw` adds no length; `chunked` sends chunks of seven bytes; `delay=MS`
//! delays the answer; `file=NAME` takes the body from a file of the case; `drop` closes without an answer; `reset` does
//! so with a TCP reset; `stall` sends the head and half of the body and waits until the client closes; `continue` sends
//! `100 Continue` before it reads the body. With the flag `ws`, the block is the script of a WebSocket conversation
//! (`socket.rs`).
//!
//! A TLS handshake is answered with the body of `/tls`: bytes as hexadecimal digits or, with `raw`, unchanged. Then the
//! connection is closed or reset. A target that is not listed is answered with `ok`; below `/echo` the body repeats
//! method, target and body.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::socket;

/// An HTTP request as the scripted server received it.
pub struct Seen {
    pub connection: usize,
    pub head: Vec<u8>,
    pub body: Vec<u8>,
}

#[derive(Clone, Default)]
struct Reply {
    head: String,
    body: Vec<u8>,
    close: bool,
    raw: bool,
    chunked: bool,
    drop: bool,
    reset: bool,
    stall: bool,
    goes_on: bool,
    delay: Duration,
    /// Steps of a WebSocket conversation.
    script: Option<String>,
}

struct Shared {
    replies: Mutex<HashMap<String, VecDeque<Reply>>>,
    seen: Mutex<Vec<Seen>>,
    /// Number of open WebSocket conversations.
    conversing: AtomicUsize,
    /// True once the server stops accepting connections.
    ended: AtomicBool,
}

pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Server {
    /// Starts a server that answers as the file `replies` in `folder` defines, if it exists. `names` are replacements
    /// for `${name}` in that file, in addition to `${port}`.
    pub fn start(folder: &Path, names: &[(&str, String)]) -> Self {
        let (listener, address) = bind();
        let mut text = std::fs::read_to_string(folder.join("replies")).unwrap_or_default();
        text = text.replace("${port}", &address.port().to_string());
        for (name, value) in names {
            text = text.replace(&format!("${{{name}}}"), value);
        }
        let shared = Arc::new(Shared {
            replies: Mutex::new(read_replies(&text, folder)),
            seen: Mutex::new(Vec::new()),
            conversing: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for (accepted, stream) in listener.incoming().flatten().enumerate() {
                if of_thread.ended.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&of_thread);
                std::thread::spawn(move || serve(&shared, stream, accepted));
            }
        });
        Self { shared, address }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Takes the requests seen so far. Waits, for a limited time, until conversations have ended whose client has
    /// closed.
    pub fn seen(&self) -> Vec<Seen> {
        for _ in 0..500 {
            if self.shared.conversing.load(Ordering::SeqCst) == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut seen =
            std::mem::take(&mut *self.shared.seen.lock().expect("no panic in a connection"));
        // Connections are renumbered in the order of opening, without connections that sent nothing. A client may open
        // the next connection before it gets an answer.
        let mut opened: Vec<_> = seen.iter().map(|request| request.connection).collect();
        opened.sort_unstable();
        opened.dedup();
        for request in &mut seen {
            request.connection = opened.partition_point(|number| *number < request.connection) + 1;
        }
        seen
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // A further connection wakes the accepting thread, so that the thread ends.
        let _ = TcpStream::connect(self.address);
    }
}

/// Listens on a five-digit port, because sizes in the golden files include the port's length.
pub fn bind() -> (TcpListener, SocketAddr) {
    let mut shorter = Vec::new();
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        if address.port() >= 10_000 {
            return (listener, address);
        }
        shorter.push(listener);
    }
}

fn read_replies(text: &str, folder: &Path) -> HashMap<String, VecDeque<Reply>> {
    let mut all: HashMap<String, VecDeque<Reply>> = HashMap::new();
    let text = text.strip_suffix('\n').unwrap_or(text);
    for block in text.split("\n== ").map(|b| b.strip_prefix("== ").unwrap_or(b)) {
        let Some((first, rest)) = block.split_once('\n').or(Some((block, ""))) else { continue };
        let mut words = first.split(' ');
        let Some(target) = words.next().filter(|t| t.starts_with('/')) else { continue };
        let (head, body) = rest.split_once("\n\n").unwrap_or((rest, ""));
        let mut reply = Reply {
            head: head.trim_end().replace('\n', "\r\n"),
            body: body.as_bytes().to_vec(),
            ..Reply::default()
        };
        for flag in words {
            match flag.split_once('=').unwrap_or((flag, "")) {
                ("close", _) => reply.close = true,
                ("raw", _) => reply.raw = true,
                ("ws", _) => reply.script = Some(rest.to_owned()),
                ("chunked", _) => reply.chunked = true,
                ("drop", _) => reply.drop = true,
                ("reset", _) => reply.reset = true,
                ("stall", _) => reply.stall = true,
                ("continue", _) => reply.goes_on = true,
                ("delay", ms) => {
                    reply.delay = Duration::from_millis(ms.parse().expect("delay in ms"));
                }
                ("file", name) => reply.body = body_file(&folder.join(name)),
                (other, _) => panic!("unknown flag {other} of {target}"),
            }
        }
        all.entry(target.to_owned()).or_default().push_back(reply);
    }
    all
}

fn body_file(path: &PathBuf) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Answers a client that begins a TLS handshake.
fn answer_tls(shared: &Shared, stream: &mut TcpStream) {
    let Some(reply) = reply_to(shared, "/tls") else { return };
    if !reply.reset {
        let _ = stream.read(&mut [0; 4096]);
    }
    let bytes = if reply.raw { reply.body } else { hexadecimal(&reply.body) };
    let _ = stream.write_all(&bytes);
    if reply.reset {
        // As with requests, closing with unread bytes sends a reset.
        return;
    }
    close(stream);
}

fn hexadecimal(text: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> =
        text.iter().filter_map(|b| char::from(*b).to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0)).collect()
}

fn serve(shared: &Shared, mut stream: TcpStream, number: usize) {
    let _ = stream.set_nodelay(true);
    let mut first = [0; 1];
    if matches!(stream.peek(&mut first), Ok(1)) && first[0] == 22 {
        return answer_tls(shared, &mut stream);
    }
    while let Some(peeked) = peek_head(&stream) {
        let text = String::from_utf8_lossy(&peeked).into_owned();
        let mut words = text.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let target = path_of(words.next().unwrap_or_default(), &method).to_owned();
        let reply = reply_to(shared, &target);
        if reply.as_ref().is_some_and(|r| r.reset) {
            // Closing with unread bytes in the buffer makes the kernel send a reset.
            note(shared, Seen { connection: number, head: peeked, body: Vec::new() });
            return;
        }
        let mut head = vec![0; peeked.len()];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        if reply.as_ref().is_some_and(|reply| reply.goes_on) {
            let _ = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        let Some(body) = read_body(&mut stream, &text) else { return };
        if let Some(script) = reply.as_ref().and_then(|reply| reply.script.as_deref()) {
            let key = socket::key_of(&text);
            let head = text.replace(key, "KEY").into_bytes();
            note(shared, Seen { connection: number, head, body: Vec::new() });
            shared.conversing.fetch_add(1, Ordering::SeqCst);
            socket::converse(stream, key, script, |line| {
                note(
                    shared,
                    Seen { connection: number, head: line.into_bytes(), body: Vec::new() },
                );
            });
            shared.conversing.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let echoed = format!("{method} {target}\n{}", String::from_utf8_lossy(&body));
        note(shared, Seen { connection: number, head, body });
        let reply = reply.unwrap_or_else(|| Reply {
            head: "HTTP/1.1 200 OK\r\nContent-Type: text/plain".to_owned(),
            body: if target.starts_with("/echo") { echoed.into_bytes() } else { b"ok".to_vec() },
            ..Reply::default()
        });
        std::thread::sleep(reply.delay);
        if reply.drop {
            return;
        }
        let bytes = render(&reply, method == "HEAD");
        if stream.write_all(&bytes).is_err() {
            return;
        }
        if reply.stall {
            let _ = stream.read(&mut [0; 1]);
            return;
        }
        if reply.close || wants_close(&text) {
            return close(&mut stream);
        }
    }
}

/// Returns the path of a target. As a proxy, the server answers CONNECT with `/connect`, and also serves requests
/// through its tunnel.
fn path_of<'a>(target: &'a str, method: &str) -> &'a str {
    let path = target.strip_prefix("http://").and_then(|rest| rest.find('/').map(|at| &rest[at..]));
    match path {
        Some(path) => path,
        None if method == "CONNECT" => "/connect",
        None => target,
    }
}

/// Waits until the client closes, so that no reset overtakes the answer.
fn close(stream: &mut TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    while matches!(stream.read(&mut [0; 512]), Ok(n) if n > 0) {}
}

fn note(shared: &Shared, seen: Seen) {
    shared.seen.lock().expect("no panic in a connection").push(seen);
}

fn reply_to(shared: &Shared, target: &str) -> Option<Reply> {
    let mut replies = shared.replies.lock().expect("no panic in a connection");
    let path = target.split('?').next().unwrap_or_default();
    let key = if replies.contains_key(target) { target } else { path };
    let queue = replies.get_mut(key)?;
    if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
}

/// Waits for a complete head without consuming it from the socket.
fn peek_head(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let n = stream.peek(&mut buffer).ok()?;
        if n == 0 {
            return None;
        }
        if let Some(end) = buffer[..n].windows(4).position(|w| w == b"\r\n\r\n") {
            return Some(buffer[..end + 4].to_vec());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

fn wants_close(head: &str) -> bool {
    let connection = header(head, "connection").unwrap_or_default().to_ascii_lowercase();
    let old = head.lines().next().is_some_and(|line| line.ends_with("HTTP/1.0"));
    connection == "close" || (old && connection != "keep-alive")
}

fn read_body(stream: &mut TcpStream, head: &str) -> Option<Vec<u8>> {
    if header(head, "transfer-encoding").is_some_and(|v| v.eq_ignore_ascii_case("chunked")) {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(read_line(stream)?.trim(), 16).ok()?;
            let mut piece = vec![0; size + 2];
            stream.read_exact(&mut piece).ok()?;
            if size == 0 {
                return Some(body);
            }
            body.extend_from_slice(&piece[..size]);
        }
    }
    let size = header(head, "content-length").map_or(Some(0), |v| v.parse().ok())?;
    let mut body = vec![0; size];
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

fn read_line(stream: &mut TcpStream) -> Option<String> {
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        line.push(byte[0]);
    }
    String::from_utf8(line).ok()
}

fn render(reply: &Reply, no_body: bool) -> Vec<u8> {
    let mut head = reply.head.clone();
    let known =
        header(&head, "content-length").is_some() || header(&head, "transfer-encoding").is_some();
    if reply.chunked {
        head.push_str("\r\nTransfer-Encoding: chunked");
    } else if !known && !reply.raw {
        let _ = write!(head, "\r\nContent-Length: {}", reply.body.len());
    }
    let mut out = head.into_bytes();
    out.extend_from_slice(b"\r\n\r\n");
    if no_body {
        return out;
    }
    if reply.chunked {
        for piece in reply.body.chunks(7) {
            out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            out.extend_from_slice(piece);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"0\r\n\r\n");
    } else if reply.stall {
        out.extend_from_slice(&reply.body[..reply.body.len() / 2]);
    } else {
        out.extend_from_slice(&reply.body);
    }
    out
}
