//! The metrics of Backend Listeners: collected over HTTP, TCP and UDP, and made comparable.
//!
//! Interval boundaries differ from run to run. Therefore, for each series, the sums of counters (`count`, `hit`,
//! bytes) over all messages are compared, and the names of the other metrics. The heads of HTTP requests are
//! compared too.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A collector that receives everything sent to its port over TCP and UDP.
pub(crate) struct Collector {
    port: u16,
    taken: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let (listener, datagrams) = loop {
            let (listener, address) = crate::server::bind();
            if let Ok(datagrams) = UdpSocket::bind(address) {
                break (listener, datagrams);
            }
        };
        let port = listener.local_addr().expect("a bound address").port();
        let taken = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let (by_tcp, by_udp) = (Arc::clone(&taken), Arc::clone(&taken));
        std::thread::spawn(move || accept(&listener, &by_tcp));
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            while let Ok(length) = datagrams.recv(&mut buffer) {
                by_udp.lock().expect("no panic").push(buffer[..length].to_vec());
            }
        });
        Self { port, taken }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the collected metrics in comparable form.
    pub(crate) fn figures(&self) -> String {
        // The last message may not have reached the collector yet.
        std::thread::sleep(Duration::from_millis(100));
        let mut sums = Sums::default();
        for message in self.taken.lock().expect("no panic").iter() {
            sums.take(message);
        }
        sums.text()
    }
}

fn accept(listener: &TcpListener, taken: &Arc<Mutex<Vec<Vec<u8>>>>) {
    for stream in listener.incoming().flatten() {
        let taken = Arc::clone(taken);
        std::thread::spawn(move || receive(stream, &taken));
    }
}

/// Answers HTTP requests; reads any other stream to its end.
fn receive(mut stream: TcpStream, taken: &Mutex<Vec<Vec<u8>>>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16_384];
    loop {
        let length = stream.read(&mut buffer).unwrap_or(0);
        bytes.extend_from_slice(&buffer[..length]);
        while let Some(end) = whole_request(&bytes) {
            let rest = bytes.split_off(end);
            taken.lock().expect("no panic").push(std::mem::replace(&mut bytes, rest));
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
        }
        if length == 0 {
            taken.lock().expect("no panic").push(bytes);
            return;
        }
    }
}

fn whole_request(bytes: &[u8]) -> Option<usize> {
    if !bytes.starts_with(b"POST ") {
        return None;
    }
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
    let length =
        text.split("content-length: ").nth(1)?.split('\r').next()?.parse::<usize>().ok()?;
    (bytes.len() >= head + length).then_some(head + length)
}

#[derive(Default)]
struct Sums {
    heads: BTreeSet<String>,
    series: BTreeMap<String, BTreeMap<String, Option<u64>>>,
}

impl Sums {
    fn take(&mut self, message: &[u8]) {
        let text = String::from_utf8_lossy(message);
        if let Some((head, body)) = text.split_once("\r\n\r\n").filter(|_| text.starts_with("POST"))
        {
            let mut lines = head.split("\r\n");
            let first = lines.next().unwrap_or_default().to_owned();
            let mut fields: Vec<String> = lines.map(str::to_lowercase).collect();
            // Headers about connection handling and accepted types may differ between clients.
            let own = ["content-length", "connection", "accept", "host"];
            fields.retain(|field| !own.iter().any(|name| field.starts_with(name)));
            fields.sort();
            self.heads.insert(format!("{first}\n{}", fields.join("\n")));
            for line in body.lines() {
                self.line(line);
            }
        } else if text.contains("(lp") || text.contains("(l(") {
            for piece in text.split("(S'").skip(1) {
                let mut parts = piece.split('\'');
                let (name, value) = (parts.next(), parts.nth(1));
                self.metric(name.unwrap_or_default(), value.unwrap_or_default());
            }
        } else {
            for line in text.lines() {
                self.line(line);
            }
        }
    }

    /// Adds a line of metrics. Lines for InfluxDB have tags; lines for Graphite have none.
    fn line(&mut self, line: &str) {
        let mut blank = None;
        let bytes = line.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b' ' && (at == 0 || bytes[at - 1] != b'\\') {
                blank = Some(at);
                break;
            }
        }
        let Some(at) = blank else { return };
        let (series, rest) = (&line[..at], &line[at + 1..]);
        if !rest.contains('=') {
            let value = rest.split(' ').next().unwrap_or_default();
            return self.metric(series, value);
        }
        let fields = rest.rsplit_once(' ').map_or(rest, |(fields, _)| fields);
        let entry = self.series.entry(series.to_owned()).or_default();
        if fields.starts_with("text=") {
            entry.insert(fields.to_owned(), None);
            return;
        }
        for field in fields.split(',') {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            add(entry, name, value, matches!(name, "count" | "countError" | "hit" | "sb" | "rb"));
        }
    }

    fn metric(&mut self, name: &str, value: &str) {
        let counts = [".count", ".bytes"].iter().any(|end| name.ends_with(end));
        let entry = self.series.entry(name.to_owned()).or_default();
        add(entry, "", value, counts);
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for head in &self.heads {
            out += head;
            out += "\n\n";
        }
        for (series, fields) in &self.series {
            let fields = fields.iter().map(|(name, sum)| match sum {
                Some(sum) => format!("{name}={sum}"),
                None => name.clone(),
            });
            out += &format!("{series} {}\n", fields.collect::<Vec<_>>().join(","));
        }
        out
    }
}

fn add(entry: &mut BTreeMap<String, Option<u64>>, name: &str, value: &str, counts: bool) {
    assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{name}={value} is no number");
    if counts {
        let value: u64 = value.parse().expect("a whole number");
        let sum = entry.entry(name.to_owned()).or_insert(Some(0));
        *sum = Some(sum.unwrap_or(0) + value);
    } else {
        entry.insert(name.to_owned(), None);
    }
}
