//! A client that sends and reads raw bytes, so that a test sees what is on the wire.

#![allow(dead_code)] // Each test file uses other parts of this module.

pub(crate) mod trust;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use targets::{Config, Running, start};

pub(crate) struct Client(pub(crate) TcpStream);

/// The way in which the target ended a connection, with the text read before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Fin(String),
    Reset(String),
}

pub(crate) fn target(name: &str, options: &[(&str, &str)]) -> Running {
    let config =
        options.iter().fold(Config::new(name), |config, (key, value)| config.option(*key, value));
    start(config).unwrap()
}

/// Returns the beginning of what a target answers to an HTTP request without TLS.
pub(crate) fn first_answer(name: &str) -> &'static str {
    match name {
        // The target `tls-front` accepts only TLS: it sends an alert.
        "tls-front" => "\u{15}\u{3}",
        // An HTTP request is not a Redis command.
        "redis" => "-ERR ",
        _ => "HTTP/1.1 ",
    }
}

impl Client {
    pub(crate) fn new(target: &Running) -> Self {
        let socket = TcpStream::connect(target.addr()).unwrap();
        // Only a hanging test reaches this read timeout.
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(socket)
    }

    pub(crate) fn send(&mut self, text: &str) -> &mut Self {
        self.0.write_all(text.as_bytes()).unwrap();
        self
    }

    pub(crate) fn get(&mut self, target: &str) -> &mut Self {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n"))
    }

    /// Reads from the connection until the text ends with `end`.
    pub(crate) fn until(&mut self, end: &str) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(end.as_bytes()) {
            let mut byte = [0];
            assert_eq!(self.0.read(&mut byte).unwrap(), 1, "ended after {:?}", latin1(&bytes));
            bytes.push(byte[0]);
        }
        latin1(&bytes)
    }

    /// Reads one HTTP answer that has a length; returns its head and its body.
    pub(crate) fn answer(&mut self) -> (String, String) {
        let head = self.until("\r\n\r\n");
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (head, latin1(&body))
    }

    /// Sends a GET; returns the body of the HTTP answer.
    pub(crate) fn body(&mut self, target: &str) -> String {
        self.get(target).answer().1
    }

    /// Reads until the peer closes the connection.
    pub(crate) fn rest(&mut self) -> End {
        let mut bytes = Vec::new();
        match self.0.read_to_end(&mut bytes) {
            Ok(_) => End::Fin(latin1(&bytes)),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => End::Reset(latin1(&bytes)),
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}
