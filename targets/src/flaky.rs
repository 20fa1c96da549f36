//! `flaky`: misbehaves with given probabilities, in an order that depends on a seed.
//!
//! Options: the shares `reset`, `close`, `truncate`, `stall`, `garbage`, `error` (at most 1 in total) and `seed`. All
//! other requests get a normal answer.

use crate::answer::Answer;
use crate::config::{Config, bad};
use crate::error::Error;
use crate::random::Seeded;
use crate::request::Request;
use crate::service::{Nanos, Service};

const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n\r\nabcdefghijklmnopqrst";
const ERROR: &[u8] = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 6\r\n\r\nsorry\n";
const GARBAGE: &[u8] = b"\x15\x03 no such protocol \x00\xff\r\n\r\n";

#[derive(Clone, Copy)]
enum Fault {
    Reset,
    Close,
    Truncate,
    Stall,
    Garbage,
    Error,
}

pub(crate) struct Flaky {
    /// Faults, each with the upper bound of its part of [0, 1): a random number in that part causes the fault.
    faults: Vec<(f64, Fault)>,
    random: Seeded,
}

impl Flaky {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let shares = [
            ("reset", 0.01, Fault::Reset),
            ("close", 0.01, Fault::Close),
            ("truncate", 0.01, Fault::Truncate),
            ("stall", 0.0, Fault::Stall),
            ("garbage", 0.01, Fault::Garbage),
            ("error", 0.01, Fault::Error),
        ];
        let mut upper = 0.0;
        let mut faults = Vec::new();
        for (key, default, fault) in shares {
            let share: f64 = config.read(key, default)?;
            upper += share;
            if !(0.0..=1.0).contains(&share) || upper > 1.0 + 1e-9 {
                return Err(bad(
                    key,
                    &share.to_string(),
                    "shares lie between 0 and 1, and so does their sum",
                ));
            }
            faults.push((upper, fault));
        }
        Ok(Self { faults, random: Seeded::new(config.read("seed", 1)?) })
    }
}

impl Service for Flaky {
    fn request(&mut self, request: &Request<'_>, _now: Nanos, answer: &mut Answer) {
        let drawn = self.random.unit();
        match self.faults.iter().find(|(upper, _)| drawn < *upper).map(|(_, fault)| *fault) {
            None => answer.send(GOOD),
            Some(Fault::Error) => answer.send(ERROR),
            Some(Fault::Reset) => return answer.reset(),
            Some(Fault::Close) => return answer.close(),
            Some(Fault::Stall) => return answer.stall(),
            Some(Fault::Truncate) => {
                answer.send(&GOOD[..GOOD.len() - 10]);
                return answer.close();
            }
            Some(Fault::Garbage) => {
                answer.send(GARBAGE);
                return answer.close();
            }
        }
        if !request.keeps_alive() {
            answer.close();
        }
    }
}
