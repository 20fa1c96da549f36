//! `delay`: answers after a delay from a configured distribution, and reports the delays that it applied.
//!
//! A delay lasts from the arrival of a request's last byte in the kernel until the whole answer was handed to the
//! kernel. `GET /stats` returns count, mean and percentiles of the delays so far in milliseconds, and `GET
//! /stats/reset` clears them; these two requests are neither delayed nor counted. The percentiles are exact: every
//! delay is stored (4 bytes each, in nanoseconds up to 4.29 s).

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::config::{Config, bad};
use crate::error::Error;
use crate::random::Seeded;
use crate::request::Request;
use crate::service::{Nanos, Service};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nabcdefghijklmnopqrst";
/// Percentiles of the delays that `/stats` reports.
const PERCENTILES: [f64; 9] = [1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// Distribution of the answers' delays; parameters in milliseconds.
#[derive(Debug, Clone, Copy)]
enum Distribution {
    Constant(f64),
    Uniform { min: f64, max: f64 },
    LogNormal { median: f64, sigma: f64 },
    Bimodal { usual: f64, slow: f64, share: f64 },
}

pub(crate) struct Delay {
    distribution: Distribution,
    random: Seeded,
    applied: Vec<u32>,
}

impl Delay {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let number = |key: &str, default: f64| {
            let value: f64 = config.read(key, default)?;
            if (0.0..=4000.0).contains(&value) {
                return Ok(value);
            }
            Err(bad(key, &value.to_string(), "must lie between 0 and 4000"))
        };
        let distribution = match config.text("kind").unwrap_or("constant") {
            "constant" => Distribution::Constant(number("ms", 10.0)?),
            "uniform" => {
                Distribution::Uniform { min: number("min", 5.0)?, max: number("max", 15.0)? }
            }
            "lognormal" => Distribution::LogNormal {
                median: number("median", 10.0)?,
                sigma: number("sigma", 0.5)?,
            },
            "bimodal" => Distribution::Bimodal {
                usual: number("ms", 10.0)?,
                slow: number("slow", 100.0)?,
                share: number("share", 0.05)?,
            },
            other => {
                return Err(bad(
                    "kind",
                    other,
                    "there are constant, uniform, lognormal and bimodal",
                ));
            }
        };
        Ok(Self { distribution, random: Seeded::new(config.read("seed", 1)?), applied: Vec::new() })
    }

    fn draw(&mut self) -> Nanos {
        let ms = match self.distribution {
            Distribution::Constant(ms) => ms,
            Distribution::Uniform { min, max } => min + (max - min) * self.random.unit(),
            Distribution::LogNormal { median, sigma } => {
                median * (sigma * self.random.normal()).exp()
            }
            Distribution::Bimodal { slow, share, .. } if self.random.unit() < share => slow,
            Distribution::Bimodal { usual, .. } => usual,
        };
        (ms.min(4000.0) * 1e6) as Nanos
    }

    fn stats(&self) -> Value {
        let mut sorted = self.applied.clone();
        sorted.sort_unstable();
        let ms = |nanos: u32| f64::from(nanos) / 1e6;
        let mut stats = json!({ "count": sorted.len() });
        let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else { return stats };
        let sum: f64 = sorted.iter().map(|&nanos| ms(nanos)).sum();
        stats["mean"] = json!(sum / sorted.len() as f64);
        stats["min"] = json!(ms(least));
        stats["max"] = json!(ms(most));
        for percent in PERCENTILES {
            // Percentile by nearest rank: the least value that at least this share of the values does not exceed.
            let rank = (percent / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
            stats[format!("p{percent}")] = json!(ms(sorted[rank - 1]));
        }
        stats
    }
}

impl Service for Delay {
    fn request(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer) {
        match request.path() {
            b"/stats" => {
                let body = self.stats().to_string();
                answer.send(
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
                        .as_bytes(),
                );
            }
            b"/stats/reset" => {
                self.applied.clear();
                answer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
            _ => {
                let delay = self.draw();
                answer.until(now + delay);
                answer.send(ANSWER);
                answer.count();
            }
        }
        if !request.keeps_alive() {
            answer.close();
        }
    }

    fn timed(&self) -> bool {
        true
    }

    fn answered(&mut self, received: Nanos, written: Nanos) {
        self.applied.push(u32::try_from(written.saturating_sub(received)).unwrap_or(u32::MAX));
    }
}
