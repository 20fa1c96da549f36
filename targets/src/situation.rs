//! `service`: a service with one or more known faults, for testing rules that find causes.
//!
//! Each request is assigned to one of `backends`, waits there for one of `workers`, and occupies it for a service time:
//! `ms`, modified by noise, modes, a step, a leak and a cache. Workers are computed as in `fitness`: a request starts
//! when the first worker is free. Times count from the first request, so a situation begins in the same second of every
//! run. All random numbers come from `seed`. `/stats` returns counts; it is neither delayed nor counted.

pub(crate) mod habits;
pub(crate) mod limiter;
mod link;
mod stats;
mod time;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::answer::Answer;
use crate::config::{Config, bad};
use crate::error::Error;
use crate::process;
use crate::random::Seeded;
use crate::request::Request;
use crate::service::{Nanos, Service};

pub(crate) use habits::Habits;
use link::Link;
pub(crate) use stats::Counts;
use stats::reply_stats;
use time::{Clock, Time, Windows, ms};

pub(crate) struct Situation {
    counts: Arc<Counts>,
    clock: Clock,
    time: Time,
    backends: Vec<Backend>,
    turn: usize,
    /// Workers that all backends share, such as database connections.
    pool: Backend,
    /// Time for which a request occupies a shared worker.
    pool_time: Nanos,
    /// Number of the faulty backend, from 1; 0 for none.
    ill: usize,
    /// Factor on the service time of the faulty backend.
    ill_factor: f64,
    /// Share of the faulty backend's requests that fail.
    ill_errors: f64,
    /// Share of all requests that fail in the windows of `error_windows`.
    errors: f64,
    error_windows: Windows,
    status: u16,
    /// Maximum duration of a request in nanoseconds, after which the client gets status 504; 0 for no limit.
    patience: Nanos,
    burn: Nanos,
    link: Link,
    closing: Closing,
    random: Seeded,
}

/// The workers of a backend: the time at which each will be free, the earliest first. Empty for unlimited workers.
struct Backend {
    free_at: BinaryHeap<Reverse<Nanos>>,
}

/// Setting that decides whether the target closes connections after answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    Never,
    /// The target closes the connection after each answer, announced by `Connection: close`.
    Said,
    /// The target closes the connection after each answer without announcing it, like misconfigured proxies.
    Unsaid,
}

impl Closing {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        match config.text("close").unwrap_or("never") {
            "never" => Ok(Self::Never),
            "said" => Ok(Self::Said),
            "unsaid" => Ok(Self::Unsaid),
            other => Err(bad("close", other, "there are never, said and unsaid")),
        }
    }
}

impl Situation {
    pub(crate) fn new(config: &Config, counts: Arc<Counts>) -> Result<Self, Error> {
        let workers: usize = config.read("workers", 0)?;
        let backends: usize = config.read("backends", 1)?;
        let ill: usize = config.read("ill", 0)?;
        if !(1..=100).contains(&backends) || ill > backends {
            let why = "there may be 1 to 100 backends, and the ill one is one of them";
            return Err(bad("backends", &backends.to_string(), why));
        }
        if workers > 1_000_000 {
            return Err(bad("workers", &workers.to_string(), "at most 1000000"));
        }
        let pool: usize = config.read("pool", 0)?;
        if pool > 1_000_000 {
            return Err(bad("pool", &pool.to_string(), "at most 1000000"));
        }
        let idle: BinaryHeap<_> = (0..workers).map(|_| Reverse(0)).collect();
        Ok(Self {
            counts,
            clock: Clock::default(),
            time: Time::new(config)?,
            backends: vec![idle; backends].into_iter().map(|free_at| Backend { free_at }).collect(),
            turn: 0,
            pool: Backend { free_at: (0..pool).map(|_| Reverse(0)).collect() },
            pool_time: ms(config, "pool_ms", 0.0)?,
            ill,
            ill_factor: time::number(config, "ill_factor", 5.0)?,
            ill_errors: time::share(config, "ill_errors", 0.0)?,
            errors: time::share(config, "errors", 0.0)?,
            error_windows: Windows::new(config, "errors_at", "errors_for", "errors_every")?,
            status: config.read("status", 500)?,
            patience: ms(config, "patience", 0.0)?,
            burn: ms(config, "burn", 0.0)?,
            link: Link::new(config)?,
            closing: Closing::new(config)?,
            random: Seeded::new(config.read("seed", 1)?),
        })
    }

    /// True if the request is to fail. Failing requests are answered immediately and occupy no worker.
    fn fails(&mut self, ill: bool, at: Nanos) -> bool {
        let here = if ill { self.ill_errors } else { 0.0 };
        let everywhere = if self.error_windows.holds(at) { self.errors } else { 0.0 };
        let share = here.max(everywhere);
        share > 0.0 && (share >= 1.0 || self.random.unit() < share)
    }

    fn serve(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer) {
        let at = self.clock.since_first(now);
        let number = self.turn % self.backends.len() + 1;
        self.turn = number;
        let ill = number == self.ill;
        let mut head = Vec::with_capacity(200);
        if self.backends.len() > 1 {
            head.extend_from_slice(format!("X-Served-By: backend-{number}\r\n").as_bytes());
        }
        if self.closing == Closing::Said {
            head.extend_from_slice(b"Connection: close\r\n");
        }
        if self.fails(ill, at) {
            Counts::add(&self.counts.errors);
            let reason = crate::mirror::reason(self.status);
            let status = format!("HTTP/1.1 {} {reason}\r\n", self.status);
            answer.send(&[status.as_bytes(), &head, b"Content-Length: 6\r\n\r\nsorry\n"].concat());
            return;
        }
        if self.burn > 0 {
            process::burn(self.burn);
        }
        let (mut time, hit) = self.time.next(request.target, at, &mut self.random);
        if let Some(hit) = hit {
            let line: &[u8] = if hit { b"X-Cache: HIT\r\n" } else { b"X-Cache: MISS\r\n" };
            head.extend_from_slice(line);
        }
        if ill {
            time = (time as f64 * self.ill_factor) as Nanos;
        }
        let start = self.backends[number - 1].start(now, time);
        self.counts.waited(start - now);
        let done = self.pool.start(start + time, self.pool_time) + self.pool_time;
        if self.patience > 0 && done > now + self.patience {
            Counts::add(&self.counts.errors);
            answer.until(now + self.patience);
            let status = b"HTTP/1.1 504 Gateway Timeout\r\n";
            answer.send(&[&status[..], &head, b"Content-Length: 5\r\n\r\nlate\n"].concat());
            return;
        }
        answer.until(done);
        self.link.send(done, &head, answer);
        Counts::add(&self.counts.answered);
    }
}

impl Backend {
    /// Assigns a worker to a request that arrives at `now` and occupies the worker for `time`; returns the time at
    /// which the worker begins.
    fn start(&mut self, now: Nanos, time: Nanos) -> Nanos {
        let Some(Reverse(free)) = self.free_at.pop() else { return now };
        let start = free.max(now);
        self.free_at.push(Reverse(start + time));
        start
    }
}

impl Service for Situation {
    fn request(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer) {
        if reply_stats(&self.counts, request, answer) {
            return;
        }
        Counts::add(&self.counts.requests);
        self.serve(request, now, answer);
        if self.closing != Closing::Never || !request.keeps_alive() {
            answer.close();
        }
    }

    fn timed(&self) -> bool {
        // A target that burns processor time is late by that time, so its requests are not backdated to their arrival.
        self.burn == 0
    }
}
