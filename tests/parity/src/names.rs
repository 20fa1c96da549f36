//! A name server: answers as the case's file `names` defines, and records the queried names.
//!
//! A line of the file is `NAME ANSWER…`: addresses, `-> ALIAS`, or one of `failing`, `empty`, `garbage` and `truncated`
//! (followed by the addresses to return over TCP). Other names do not exist. JMeter queries only port 53, so recording
//! needs the right to listen there; Throng gets the port as a property.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex};

pub(crate) struct Names {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

type Zone = HashMap<String, Vec<String>>;

impl Names {
    /// Starts the name server if the case has the file `names`.
    pub(crate) fn start(case: &Path, recording: bool) -> Option<Self> {
        let text = std::fs::read_to_string(case.join("names")).ok()?;
        let zone: Zone = text
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace().map(str::to_owned);
                Some((words.next()?, words.collect()))
            })
            .collect();
        let (listener, socket) = loop {
            let port = if recording { 53 } else { 0 };
            let listener = TcpListener::bind(("127.0.0.1", port)).expect("the right to listen");
            let address = listener.local_addr().expect("an address");
            match UdpSocket::bind(address) {
                Ok(socket) => break (listener, socket),
                Err(error) => assert!(!recording, "{error}"),
            }
        };
        let port = listener.local_addr().expect("an address").port();
        let zone = Arc::new(zone);
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (of_streams, by_stream) = (Arc::clone(&zone), Arc::clone(&asked));
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut length = [0; 2];
                if stream.read_exact(&mut length).is_err() {
                    continue;
                }
                let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
                if stream.read_exact(&mut question).is_ok() {
                    let answer = answer(&of_streams, &question, &by_stream, true);
                    let _ = stream.write_all(&(answer.len() as u16).to_be_bytes());
                    let _ = stream.write_all(&answer);
                }
            }
        });
        let of_datagrams = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut buffer = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                let answer = answer(&zone, &buffer[..length], &of_datagrams, false);
                let _ = socket.send_to(&answer, from);
            }
        });
        Some(Self { port, asked })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the queried names that are in the file, in order. Names from the machine's search path are omitted.
    pub(crate) fn asked(&self) -> String {
        let asked = self.asked.lock().expect("no panic");
        asked.iter().fold(String::new(), |all, name| all + name + "\n")
    }
}

fn answer(zone: &Zone, question: &[u8], asked: &Mutex<Vec<String>>, whole: bool) -> Vec<u8> {
    let (mut at, mut labels) = (12, Vec::new());
    while question[at] > 0 {
        let length = usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..=at + length]).into_owned());
        at += length + 1;
    }
    let name = labels.join(".");
    let kind = u16::from_be_bytes([question[at + 1], question[at + 2]]);
    let mut message = question[..at + 5].to_vec();
    message[10..12].copy_from_slice(&[0, 0]);
    let Some(words) = zone.get(&name) else {
        message[2..4].copy_from_slice(&[0x81, 0x83]);
        return message;
    };
    let how = if whole { " by tcp" } else { "" };
    asked.lock().expect("no panic").push(format!("{name} type {kind}{how}"));
    let mut flags = 0x8180u16;
    let mut records = 0;
    let mut add = |kind: u8, data: &[u8]| {
        message.extend_from_slice(&[192, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        message.extend_from_slice(data);
        records += 1;
    };
    match words.first().map(String::as_str) {
        Some("garbage") => return b"no message".to_vec(),
        Some("failing") => flags = 0x8182,
        Some("truncated") if !whole => flags = 0x8380,
        Some("->") => add(5, &wire(&words[1])),
        _ => {
            for address in words.iter().filter_map(|word| word.parse::<Ipv4Addr>().ok()) {
                add(1, &address.octets());
            }
        }
    }
    message[2..4].copy_from_slice(&flags.to_be_bytes());
    message[7] = records;
    message
}

fn wire(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.') {
        bytes.push(label.len() as u8);
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.push(0);
    bytes
}
