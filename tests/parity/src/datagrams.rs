//! A target for datagrams: answers as the case's file `datagrams` defines, and records what it receives.
//!
//! A line of the file is `PAYLOAD -> ANSWER | ANSWER …`; each answer is a datagram, sent in this order. An answer is
//! text, `(empty)`, or `(5000 x)` for 5000 times the letter `x`; no answer means silence. A payload that is not listed
//! is echoed.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Received payloads with their source addresses.
type Seen = Vec<(SocketAddr, Vec<u8>)>;

pub(crate) struct Datagrams {
    port: u16,
    seen: Arc<Mutex<Seen>>,
}

impl Datagrams {
    /// Starts the target if the case has the file `datagrams`.
    pub(crate) fn start(case: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(case.join("datagrams")).ok()?;
        let answers: HashMap<String, Vec<Vec<u8>>> = text.lines().filter_map(line).collect();
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let port = socket.local_addr().expect("a bound address").port();
        let seen = Arc::<Mutex<Seen>>::default();
        let of_thread = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                let payload = buffer[..length].to_vec();
                let text = String::from_utf8_lossy(&payload).into_owned();
                let echo = || vec![payload.clone()];
                let answer = answers.get(text.trim_end()).cloned().unwrap_or_else(echo);
                of_thread.lock().expect("no panic").push((from, payload));
                for datagram in answer {
                    let _ = socket.send_to(&datagram, from);
                }
            }
        });
        Some(Self { port, seen })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the received datagrams, grouped by source port in the order of first use.
    pub(crate) fn seen(&self) -> String {
        // Datagrams whose sampler did not wait for an answer may still be in flight.
        std::thread::sleep(Duration::from_millis(50));
        let mut ports = Vec::new();
        let mut text = String::new();
        for (port, payload) in self.seen.lock().expect("no panic").iter() {
            let at = ports.iter().position(|known| known == port).unwrap_or_else(|| {
                ports.push(*port);
                ports.len() - 1
            });
            let of = if port.ip() == Ipv4Addr::LOCALHOST {
                String::new()
            } else {
                format!(" of {}", port.ip())
            };
            text += &format!("socket {}{of}: {}\n", at + 1, payload.escape_ascii());
        }
        text
    }
}

fn line(line: &str) -> Option<(String, Vec<Vec<u8>>)> {
    let (payload, answers) = line.split_once(" ->")?;
    let answers = answers.split('|').map(str::trim).filter(|answer| !answer.is_empty());
    Some((payload.to_owned(), answers.map(answer).collect()))
}

fn answer(text: &str) -> Vec<u8> {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    match inner.map(|inner| inner.split_once(' ')) {
        None => text.as_bytes().to_vec(),
        Some(None) => Vec::new(),
        Some(Some((count, letter))) => {
            letter.repeat(count.parse().expect("a number of bytes")).into_bytes()
        }
    }
}
