//! The limits of the gateway: concurrent requests, requests per second, processor time, and deliberate faults.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::codes::{LIMITED, Refusal, refuse};
use crate::config::{Config, bad};
use crate::error::Error;
use crate::process;
use crate::random::Seeded;

pub(super) struct Limits {
    users: usize,
    at_once: AtomicUsize,
    /// Highest number of concurrent requests to the gateway so far.
    most: AtomicUsize,
    rate: f64,
    burst: f64,
    /// Number of tokens in the rate limit's bucket, and the time of their last update.
    tokens: Mutex<(f64, Instant)>,
    /// Number of free workers; `None` if any number of requests may be worked on at a time.
    workers: Option<(Mutex<usize>, Condvar)>,
    burn: Duration,
    fail: Vec<(u16, f64)>,
    random: Mutex<Seeded>,
}

/// A request that the gateway is processing.
pub(super) struct Admitted<'a>(&'a Limits);

/// A worker of the gateway that a request occupies.
pub(super) struct Worker<'a>(&'a Limits);

impl Limits {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        let rate: f64 = config.read("rate", 0.0)?;
        let burst: f64 = config.read("burst", 20.0)?;
        let burn: f64 = config.read("burn", 0.0)?;
        for (key, value, least) in [("rate", rate, 0.0), ("burst", burst, 1.0), ("burn", burn, 0.0)]
        {
            if !(least..=1e9).contains(&value) {
                return Err(bad(key, &value.to_string(), format!("must be a number from {least}")));
            }
        }
        let workers: usize = config.read("workers", 0)?;
        Ok(Self {
            users: config.read("users", 0)?,
            at_once: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            rate,
            burst,
            tokens: Mutex::new((burst, Instant::now())),
            workers: (workers > 0).then(|| (Mutex::new(workers), Condvar::new())),
            burn: Duration::from_secs_f64(burn / 1000.0),
            fail: faults(config)?,
            random: Mutex::new(Seeded::new(config.read("seed", 1)?)),
        })
    }

    /// Admits a request. Refuses it if a limit is exceeded, or as a deliberate fault.
    pub(super) fn admit(&self) -> Result<Admitted<'_>, Refusal> {
        let admitted = Admitted(self);
        let at_once = self.at_once.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(at_once, Ordering::Relaxed);
        if self.users > 0 && at_once > self.users {
            return Err(refuse(LIMITED, format!("more than {} requests at once", self.users)));
        }
        if self.rate > 0.0 && !self.take_token() {
            return Err(refuse(LIMITED, format!("more than {} requests a second", self.rate)));
        }
        if !self.fail.is_empty() {
            let mut drawn = lock(&self.random).unit();
            for (code, share) in &self.fail {
                if drawn < *share {
                    return Err(refuse(*code, "on purpose"));
                }
                drawn -= share;
            }
        }
        Ok(admitted)
    }

    fn take_token(&self) -> bool {
        let mut tokens = lock(&self.tokens);
        let now = Instant::now();
        let grown = now.duration_since(tokens.1).as_secs_f64() * self.rate;
        *tokens = ((tokens.0 + grown).min(self.burst), now);
        let enough = tokens.0 >= 1.0;
        if enough {
            tokens.0 -= 1.0;
        }
        enough
    }

    /// Waits for a free worker, and occupies it until the returned value is dropped.
    pub(super) fn work(&self) -> Worker<'_> {
        if let Some((free, returned)) = &self.workers {
            let mut free = lock(free);
            while *free == 0 {
                free = returned.wait(free).unwrap_or_else(PoisonError::into_inner);
            }
            *free -= 1;
        }
        Worker(self)
    }

    pub(super) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    pub(super) fn forget_most(&self) {
        self.most.store(self.at_once.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl Worker<'_> {
    /// Uses the processor time that the option `burn` sets for each request.
    pub(super) fn burn(&self) {
        if !self.0.burn.is_zero() {
            process::burn(self.0.burn.as_nanos() as u64);
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some((free, returned)) = &self.0.workers {
            *lock(free) += 1;
            returned.notify_one();
        }
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        self.0.at_once.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn faults(config: &Config) -> Result<Vec<(u16, f64)>, Error> {
    let mut all = 0.0;
    let mut faults = Vec::new();
    for text in config.all("fail").filter(|text| !text.is_empty()) {
        let read = text
            .split_once(':')
            .and_then(|(code, share)| Some((code.parse().ok()?, share.parse::<f64>().ok()?)));
        let Some((code, share)) = read.filter(|(_, share)| (0.0..=1.0).contains(share)) else {
            return Err(bad("fail", text, "CODE:SHARE is wanted, as in 7003:0.01"));
        };
        all += share;
        faults.push((code, share));
        if all > 1.0 {
            return Err(bad("fail", text, "the shares add up to more than 1"));
        }
    }
    Ok(faults)
}
