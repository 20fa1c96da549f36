//! Schedules of Open Model Thread Groups: `rate(5/s) random_arrivals(1 min) rate(10/s) pause(5 s)`.
//!
//! A rate applies from its position in the schedule. Between two rates, the rate changes linearly. Each arrival is
//! a user that runs one iteration; all users must end when the schedule does. With a seed, the random times are
//! those of `java.util.Random`, as in JMeter.

use super::precise_throughput_timer::JavaDoubles;
use super::profile::{Span, few_enough};
use crate::load::Phase;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Rate in users per second.
    Rate(f64),
    /// Period of arrivals at random or even times; duration in seconds.
    Arrivals { random: bool, duration: f64 },
}

fn steps(schedule: &str) -> Result<Vec<Step>, String> {
    match schedule.parse::<i32>() {
        // A plain number instead of a schedule starts that many users evenly within one second; the users must end
        // within an hour.
        Ok(users) => {
            let rate = Step::Rate(f64::from(users));
            let even = |duration| Step::Arrivals { random: false, duration };
            Ok(vec![rate, even(1.0), rate, Step::Rate(0.0), even(3600.0)])
        }
        Err(_) => Reader { text: schedule, rest: schedule, last_rate: 0.0 }.steps(),
    }
}

/// Returns the phases of a schedule's rate.
pub(super) fn phases(schedule: &str) -> Result<Vec<Phase>, String> {
    let steps = steps(schedule)?;
    let (mut rate, mut phases) = (0.0, Vec::new());
    for (at, step) in steps.iter().enumerate() {
        match (step, steps.get(at + 1)) {
            (Step::Rate(new), _) => rate = *new,
            (Step::Arrivals { duration, .. }, next) => {
                let end = if let Some(Step::Rate(next)) = next { *next } else { rate };
                phases.push(((duration * 1e9) as i64, rate, end));
            }
        }
    }
    Ok(phases)
}

/// Returns the arrival times of a schedule, or its error.
pub(super) fn spans(schedule: &str, seed: u64) -> Result<Vec<Span>, String> {
    let steps = steps(schedule)?;
    let mut random = JavaDoubles::new(seed);
    let (mut offset, mut rate, mut starts) = (0.0, 0.0, Vec::new());
    for (at, step) in steps.iter().enumerate() {
        let (is_random, duration) = match step {
            Step::Rate(new) => {
                rate = *new;
                continue;
            }
            Step::Arrivals { random, duration } => (*random, *duration),
        };
        let end_rate = match steps.get(at + 1) {
            Some(Step::Rate(next)) => *next,
            _ => rate,
        };
        let from = starts.len();
        let arrivals = (f64::midpoint(rate, end_rate) * duration) as usize;
        few_enough(from.saturating_add(arrivals))?;
        if is_random {
            poisson(rate, end_rate, duration, &mut random, &mut starts);
        } else {
            even(rate, end_rate, duration, &mut starts);
        }
        for start in &mut starts[from..] {
            *start += offset;
        }
        offset += duration;
    }
    let ms = |seconds: f64| (seconds * 1000.0).round() as i64;
    Ok(starts.into_iter().map(|start| (ms(start), ms(offset))).collect())
}

/// Appends arrivals at equal intervals, or at intervals that follow a rate which changes linearly from `begin` to
/// `end`.
fn even(begin: f64, end: f64, duration: f64, out: &mut Vec<f64>) {
    let mean = f64::midpoint(begin, end);
    let count = (mean * duration) as u64;
    let change = if (end - begin).abs() < 0.0001 * mean { 0.0 } else { (end - begin) / duration };
    out.extend((0..count).map(|n| match (n, change) {
        (0, _) => 0.0,
        (n, 0.0) => n as f64 / mean,
        (n, change) => ((begin * begin + 2.0 * change * n as f64).sqrt() - begin) / change,
    }));
}

/// Appends random arrival times for a rate that changes linearly: a uniform part at the lower rate, and a second part
/// that is denser towards the end with the higher rate.
fn poisson(begin: f64, end: f64, duration: f64, random: &mut JavaDoubles, out: &mut Vec<f64>) {
    let from = out.len();
    let count = (f64::midpoint(begin, end) * duration) as usize;
    let flat = (begin.min(end) * duration) as usize;
    out.extend((0..flat).map(|_| random.next_double() * duration));
    if begin != end {
        out.extend((flat..count).map(|_| {
            let time = random.next_double().sqrt();
            duration * if begin > end { 1.0 - time } else { time }
        }));
    }
    out[from..].sort_by(f64::total_cmp);
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    last_rate: f64,
}

impl Reader<'_> {
    fn steps(mut self) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        loop {
            self.skip_blank();
            if self.rest.is_empty() {
                return Ok(steps);
            }
            let name = self.word().to_ascii_lowercase();
            match name.as_str() {
                "rate" => {
                    self.last_rate = self.rate()?;
                    steps.push(Step::Rate(self.last_rate));
                }
                "random_arrivals" | "even_arrivals" => {
                    let random = name == "random_arrivals";
                    steps.push(Step::Arrivals { random, duration: self.duration()? });
                }
                "pause" => {
                    let arrivals = Step::Arrivals { random: false, duration: self.duration()? };
                    let (last, zero) = (Step::Rate(self.last_rate), Step::Rate(0.0));
                    if self.last_rate == 0.0 {
                        steps.extend([arrivals, last]);
                    } else {
                        steps.extend([last, zero, arrivals, zero, last]);
                    }
                }
                _ => return self.unexpected("rate, random_arrivals, even_arrivals, or pause"),
            }
        }
    }

    fn rate(&mut self) -> Result<f64, String> {
        self.sign('(')?;
        let rate = self.number()?;
        self.skip_blank();
        if rate == 0.0 && self.rest.starts_with(')') {
            return self.sign(')').map(|()| 0.0);
        }
        if self.rest.starts_with('/') {
            self.sign('/')?;
        } else if !self.word().eq_ignore_ascii_case("per") {
            return self.unexpected("/ or per");
        }
        let unit = self.unit()?;
        self.sign(')')?;
        Ok(rate / unit)
    }

    fn duration(&mut self) -> Result<f64, String> {
        self.sign('(')?;
        let mut sum = 0.0;
        loop {
            let number = self.number()?;
            self.skip_blank();
            if number == 0.0 && self.rest.starts_with(')') {
                break;
            }
            sum += number * self.unit()?;
            self.skip_blank();
            if !self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
                break;
            }
        }
        self.sign(')')?;
        Ok(sum)
    }

    /// Parses a unit of time and returns its length in seconds.
    fn unit(&mut self) -> Result<f64, String> {
        self.skip_blank();
        let word = self.word().to_ascii_lowercase();
        let starts = |start: &str| word.starts_with(start);
        Ok(match word.as_str() {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ if starts("sec") => 1.0,
            _ if starts("min") => 60.0,
            _ if starts("hour") => 3_600.0,
            _ if starts("day") => 86_400.0,
            _ => return self.unexpected("unit for duration: sec, min, hour, day"),
        })
    }

    fn number(&mut self) -> Result<f64, String> {
        self.skip_blank();
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        match self.rest[..end].parse() {
            Ok(number) => {
                self.rest = &self.rest[end..];
                Ok(number)
            }
            Err(_) => self.unexpected("a number"),
        }
    }

    fn sign(&mut self, sign: char) -> Result<(), String> {
        self.skip_blank();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => self.unexpected(&sign.to_string()),
        }
    }

    fn word(&mut self) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let word = self.rest[..end].to_owned();
        self.rest = &self.rest[end..];
        word
    }

    /// Skips blanks and comments of the schedule.
    fn skip_blank(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let end = if let Some(comment) = self.rest.strip_prefix("/*") {
                comment.find("*/").map(|at| at + 4)
            } else if self.rest.starts_with("//") {
                self.rest.find(['\n', '\r'])
            } else {
                None
            };
            let Some(end) = end else { return };
            self.rest = &self.rest[end..];
        }
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T, String> {
        let at = self.text.len() - self.rest.len();
        Err(format!("Unexpected input. Expected {wanted} at position {at} in '{}'", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(schedule: &str) -> Vec<i64> {
        spans(schedule, 1).unwrap().into_iter().map(|(start, _)| start).collect()
    }

    #[test]
    fn rates_hold_and_change() {
        assert_eq!(starts("rate(2/s) even_arrivals(2 s)"), [0, 500, 1_000, 1_500]);
        assert_eq!(starts("rate(120 per min) even_arrivals(500 ms 1 sec)"), [0, 500, 1_000]);
        // From 0 to 4/s in 2 s: 4 users; user n arrives at the square root of n seconds.
        assert_eq!(starts("rate(0) even_arrivals(2 s) rate(4/s)"), [0, 1_000, 1_414, 1_732]);
        assert_eq!(
            starts("rate(1/s) even_arrivals(2s) pause(3s) even_arrivals(1s)"),
            [0, 1_000, 5_000]
        );
        assert_eq!(starts("3"), [0, 333, 667]);
        assert_eq!(starts(" /* none */ rate(0) // yet\n"), [0_i64; 0]);
    }

    #[test]
    fn arrivals_by_chance_are_as_many_and_in_order() {
        let starts = starts("rate(100/s) random_arrivals(10 s) rate(0)");
        assert_eq!(starts.len(), 500);
        assert!(starts.is_sorted() && starts.iter().all(|start| (0..10_000).contains(start)));
        assert!(starts[250] < 5_000, "more at first");
    }

    #[test]
    fn all_must_end_with_the_schedule() {
        let spans = spans("rate(1/s) even_arrivals(2 s) pause(1 min)", 1).unwrap();
        assert_eq!(spans, [(0, 62_000), (1_000, 62_000)]);
    }

    #[test]
    fn more_users_than_fit_are_refused() {
        for wrong in [
            "rate(1000000/s) even_arrivals(1 day)",
            "rate(1/s) random_arrivals(99999999999999999999 d)",
            "2000000000",
        ] {
            assert!(spans(wrong, 1).is_err_and(|problem| problem.contains("more than")), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for wrong in
            ["rate", "rate(5)", "rate(5/week)", "arrivals(1 s)", "pause(1", "rate(x/s)", "/* "]
        {
            assert!(spans(wrong, 1).is_err(), "{wrong}");
        }
    }
}
