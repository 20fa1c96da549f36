//! `fitness`: a service that sleeps, with a limited number of workers.
//!
//! Each request occupies a worker for a random 100-1500 ms (`nextInt(1500) % 1401 + 100` from a secure generator).
//! Further requests wait in order of arrival. Throughput is therefore limited to workers / 0.8 s, and more users
//! only wait longer. The queue is computed, without threads: a request starts when the first worker is free. The
//! answer is JSON with `retcode`, `retdata` and `retmsg`, which contains metrics of this process from the end of
//! the sleep.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde_json::json;

use crate::answer::Answer;
use crate::config::{Config, bad};
use crate::error::Error;
use crate::process;
use crate::random::{Seeded, secure_below};
use crate::request::Request;
use crate::service::{Nanos, Service};

pub(crate) struct Fitness {
    /// Time at which each worker will be free, the earliest first.
    free_at: BinaryHeap<Reverse<Nanos>>,
    scale: f64,
    seeded: Option<Seeded>,
    peak_threads: u64,
}

impl Fitness {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let workers: usize = config.read("workers", 2)?;
        if workers == 0 {
            return Err(bad("workers", "0", "at least one is needed"));
        }
        let scale: f64 = config.read("scale", 1.0)?;
        if !(scale.is_finite() && scale >= 0.0) {
            return Err(bad("scale", &scale.to_string(), "must be a number from 0"));
        }
        let seeded = match config.text("seed") {
            None | Some("") => None,
            Some(_) => Some(Seeded::new(config.read("seed", 0)?)),
        };
        Ok(Self {
            free_at: (0..workers).map(|_| Reverse(0)).collect(),
            scale,
            seeded,
            peak_threads: 0,
        })
    }

    /// Draws the sleep of the next request in milliseconds, before it is scaled by `scale`.
    fn sleep_ms(&mut self) -> u32 {
        let number = match &mut self.seeded {
            Some(seeded) => (seeded.next() % 1500) as u32,
            None => secure_below(1500),
        };
        number % 1401 + 100
    }
}

impl Service for Fitness {
    fn request(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer) {
        if request.path() != b"/setup" {
            answer.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        } else {
            let slept = self.sleep_ms();
            let Reverse(free) = self.free_at.pop().unwrap_or_default();
            let end = free.max(now) + (f64::from(slept) * self.scale * 1e6) as Nanos;
            self.free_at.push(Reverse(end));
            answer.until(end);
            answer.ask(u64::from(slept));
        }
        if !request.keeps_alive() {
            answer.close();
        }
    }

    fn due(&mut self, slept: u64, _now: Nanos, answer: &mut Answer) {
        let figures = process::figures();
        self.peak_threads = self.peak_threads.max(figures.threads);
        let body = json!({
            "retcode": "0",
            "retdata": slept,
            "retmsg": format!(
                "load average {:.2}, threads live {} peak {}, cpu time {} ms, user time {} ms",
                figures.load, figures.threads, self.peak_threads, figures.cpu_ms, figures.user_ms
            ),
        })
        .to_string();
        let length = body.len();
        answer.send(
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
                .as_bytes(),
        );
    }
}
