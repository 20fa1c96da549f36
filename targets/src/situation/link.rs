//! The body of an answer, and the network link that sends it: all answers of a target share `bandwidth` bytes per
//! second.

use crate::answer::Answer;
use crate::config::Config;
use crate::error::Error;
use crate::service::Nanos;

/// Number of parts in which a body is sent over a limited link.
const PARTS: usize = 16;

pub(super) struct Link {
    body: Vec<u8>,
    /// Bandwidth of the link in bytes per second; 0 for no limit.
    bandwidth: u64,
    free_at: Nanos,
}

impl Link {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        let size: usize = config.read("size", 20)?;
        Ok(Self {
            body: b"abcdefghijklmnopqrstuvwxyz".iter().copied().cycle().take(size).collect(),
            bandwidth: config.read("bandwidth", 0)?,
            free_at: 0,
        })
    }

    /// Appends a successful answer with these header lines. The body is sent over the link from time `start` on.
    pub(super) fn send(&mut self, start: Nanos, lines: &[u8], answer: &mut Answer) {
        let length = format!("Content-Length: {}\r\n\r\n", self.body.len());
        answer.send(&[b"HTTP/1.1 200 OK\r\n", lines, length.as_bytes()].concat());
        if self.bandwidth == 0 || self.body.is_empty() {
            return answer.send(&self.body);
        }
        let begin = self.free_at.max(start);
        let time = self.body.len() as u128 * 1_000_000_000 / u128::from(self.bandwidth);
        self.free_at = begin.saturating_add(time as Nanos);
        let size = self.body.len().div_ceil(PARTS);
        let parts = self.body.len().div_ceil(size) as u128;
        for (number, part) in self.body.chunks(size).enumerate() {
            answer.until(begin + (time * (number as u128 + 1) / parts) as Nanos);
            answer.send(part);
        }
    }
}
