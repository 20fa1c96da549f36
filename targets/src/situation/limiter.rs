//! `limiter`: a rate limiter with a token bucket, which refuses or delays requests above its rate.
//!
//! The bucket holds `burst` tokens and gains `rate` tokens per second. A request without a token gets `status` (429)
//! with `Retry-After` at once. With `over=delay`, it waits for its token in order of arrival.

use std::sync::Arc;

use super::stats::{Counts, reply_stats};
use super::{Closing, time};
use crate::answer::Answer;
use crate::config::{Config, bad};
use crate::error::Error;
use crate::request::Request;
use crate::service::{Nanos, Service};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nabcdefghijklmnopqrst";

pub(crate) struct Limiter {
    counts: Arc<Counts>,
    /// Time in which the bucket gains one token, in nanoseconds.
    token: f64,
    burst: f64,
    /// Time at which the bucket would be full if no more requests came, in nanoseconds; may be in the past or the
    /// future.
    full_at: f64,
    /// True if requests above the rate are delayed, false if they are refused.
    delays: bool,
    refusal: Vec<u8>,
    time: Nanos,
    closing: Closing,
}

impl Limiter {
    pub(crate) fn new(config: &Config, counts: Arc<Counts>) -> Result<Self, Error> {
        let rate = time::number(config, "rate", 100.0)?;
        let burst = time::number(config, "burst", 20.0)?;
        if rate == 0.0 || burst < 1.0 {
            return Err(bad(
                "rate",
                &rate.to_string(),
                "rate must be above 0, and burst at least 1",
            ));
        }
        let delays = match config.text("over").unwrap_or("refuse") {
            "refuse" => false,
            "delay" => true,
            other => return Err(bad("over", other, "there are refuse and delay")),
        };
        let status: u16 = config.read("status", 429)?;
        let retry: u64 = config.read("retry_after", 1)?;
        let mut refusal = format!("HTTP/1.1 {status} {}\r\n", crate::mirror::reason(status));
        if retry > 0 {
            refusal.push_str(&format!("Retry-After: {retry}\r\n"));
        }
        refusal.push_str("Content-Length: 0\r\n\r\n");
        Ok(Self {
            counts,
            token: 1e9 / rate,
            burst,
            full_at: 0.0,
            delays,
            refusal: refusal.into_bytes(),
            time: time::ms(config, "ms", 10.0)?,
            closing: Closing::new(config)?,
        })
    }

    /// Returns the time that a request at `now` must wait for a token; 0 if one is free. A free token is taken; if
    /// requests are delayed, so is a future one.
    fn take(&mut self, now: Nanos) -> Nanos {
        let full = self.full_at.max(now as f64);
        let missing = (full - now as f64) / self.token;
        let wait = (missing + 1.0 - self.burst).max(0.0) * self.token;
        // A wait for a token below half a nanosecond counts as none.
        let wait = if wait < 0.5 { 0 } else { wait as Nanos };
        if wait == 0 || self.delays {
            self.full_at = full + self.token;
        }
        wait
    }
}

impl Service for Limiter {
    fn request(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer) {
        if reply_stats(&self.counts, request, answer) {
            return;
        }
        Counts::add(&self.counts.requests);
        let wait = self.take(now);
        if wait > 0 && !self.delays {
            Counts::add(&self.counts.refused);
            answer.send(&self.refusal);
        } else {
            if wait > 0 {
                Counts::add(&self.counts.delayed);
            }
            Counts::add(&self.counts.answered);
            answer.until(now + wait + self.time);
            answer.send(ANSWER);
        }
        if self.closing != Closing::Never || !request.keeps_alive() {
            answer.close();
        }
    }

    fn timed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(over: &str) -> Limiter {
        let config =
            Config::new("limiter").option("rate", 10).option("burst", 3).option("over", over);
        Limiter::new(&config, Arc::default()).unwrap()
    }

    const MS: Nanos = 1_000_000;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let mut refusing = limiter("refuse");
        let taken = |limiter: &mut Limiter, at: Nanos| limiter.take(at * MS) == 0;
        assert_eq!(
            [0, 0, 0, 0, 99, 100, 101, 200].map(|at| taken(&mut refusing, at)),
            [true, true, true, false, false, true, false, true]
        );
        let rate = (10_000..20_000).filter(|at| taken(&mut refusing, *at)).count();
        assert!((100..=103).contains(&rate), "{rate}");
    }

    #[test]
    fn what_is_delayed_waits_for_its_token_in_order() {
        let mut delaying = limiter("delay");
        let waits = [0; 6].map(|at| delaying.take(at) / MS);
        assert_eq!(waits, [0, 0, 0, 100, 200, 300]);
    }
}
