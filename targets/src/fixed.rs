//! `fixed`: the same answer to every request, as fast as one thread can write it.
//!
//! The answer is rendered once at the start. Options: `status`, `size` (body bytes), `header` (repeatable, `Name:
//! value`).

use crate::answer::Answer;
use crate::config::Config;
use crate::error::Error;
use crate::request::Request;
use crate::service::{Nanos, Service};

pub(crate) struct Fixed {
    head: Vec<u8>,
    whole: Vec<u8>,
}

impl Fixed {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let status: u16 = config.read("status", 200)?;
        let size: usize = config.read("size", 20)?;
        let mut head = format!("HTTP/1.1 {status} {}\r\n", crate::mirror::reason(status));
        for line in config.all("header") {
            head.push_str(&format!("{line}\r\n"));
        }
        head.push_str(&format!("Content-Length: {size}\r\n\r\n"));
        let head = head.into_bytes();
        let mut whole = head.clone();
        whole.extend(b"abcdefghijklmnopqrstuvwxyz".iter().cycle().take(size));
        Ok(Self { head, whole })
    }
}

impl Service for Fixed {
    fn request(&mut self, request: &Request<'_>, _now: Nanos, answer: &mut Answer) {
        answer.send(if request.method == b"HEAD" { &self.head } else { &self.whole });
        if !request.keeps_alive() {
            answer.close();
        }
    }
}
