//! An agent without users, for benchmarks of coordinators and relays: each second it reports invented samples.
//!
//! It writes nothing to disk and ignores grants; otherwise it behaves like an agent.

use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use stats::{Recorder, Sample};

use super::bus::wall_ns;
use super::line::nanos;
use super::offer::offered;
use super::stdio::{Orders, Output};
use super::wire::{self, FromAgent, Offer, ToAgent};
use crate::account::{Sender, Up};
use crate::message::{FromWorker, Report, ToWorker};

const BEAT: Duration = Duration::from_secs(1);
const SECOND: i64 = 1_000_000_000;

/// The size of the reports that a simulated agent sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of labels per report.
    pub labels: u32,
    /// Number of samples per label and report.
    pub samples: u32,
    /// Number of reports, one a second, until the agent's users end.
    pub seconds: u32,
}

impl Shape {
    /// Parses labels, samples and seconds, separated by commas.
    pub fn read(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
        match numbers.as_deref() {
            Ok([labels, samples, seconds]) => {
                Ok(Self { labels: *labels, samples: *samples, seconds: *seconds })
            }
            _ => Err("expected LABELS,SAMPLES,SECONDS, for example 1000,2,60".into()),
        }
    }
}

/// Runs a simulated agent until the coordinator releases it.
pub fn main(shape: Shape) -> io::Result<()> {
    let clock = Instant::now();
    let output = Output::new()?;
    output.say(&FromAgent::Offer(Offer { processors: 1, ..offered() }));
    let orders = Orders::read(clock, output.clone())?;
    let mut this =
        Simulated { shape, clock, output, zero: 0, sender: None, made: None, report: None };
    this.run(&orders);
    this.output.flush();
    Ok(())
}

struct Simulated {
    shape: Shape,
    clock: Instant,
    output: Output,
    /// The time that is second 0 of the run, on the agent's clock.
    zero: i64,
    sender: Option<Sender>,
    /// Number of reports sent so far; `None` while no users run.
    made: Option<u32>,
    report: Option<Report>,
}

impl Simulated {
    fn run(&mut self, orders: &Orders) {
        let mut beat = Instant::now() + BEAT;
        loop {
            match orders.next_within(beat.saturating_duration_since(Instant::now())) {
                Ok(ToAgent::Leave) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(order) => self.execute(order),
                Err(RecvTimeoutError::Timeout) => {
                    beat += BEAT;
                    self.second();
                }
            }
        }
    }

    fn execute(&mut self, order: ToAgent) {
        match order {
            ToAgent::Files { .. } => {
                self.output.say(&FromAgent::Missing(Vec::new()));
                self.output.say(&FromAgent::FilesStored);
            }
            ToAgent::Begin(assignment) => {
                self.zero = nanos(self.clock) - (wall_ns() - assignment.share.zero);
                let (sender, _) = Sender::begin(assignment.sender, &[]);
                self.output.say(&FromAgent::Up(sender.here()));
                self.sender = Some(sender);
                self.output.say(&FromAgent::Message(FromWorker::Ready { cores: 1 }));
            }
            ToAgent::Order(ToWorker::Arm) => {
                self.output.say(&FromAgent::Message(FromWorker::Armed));
            }
            ToAgent::Order(ToWorker::Start { .. }) => self.made = Some(0),
            ToAgent::Order(ToWorker::Stop { .. }) => self.done(),
            ToAgent::Order(ToWorker::End) => {
                if let Some(sender) = &mut self.sender {
                    let samples = sender.counted();
                    if let Some(end) = sender.finish() {
                        sender.written(&end);
                    }
                    for record in sender.due() {
                        self.output.say(&FromAgent::Up(Up::Record(record.clone())));
                    }
                    self.output
                        .say(&FromAgent::Message(FromWorker::Done { aborted: None, samples }));
                }
            }
            ToAgent::Down(down) => {
                if let Some(sender) = &mut self.sender
                    && let Some(entry) = sender.handle(&down)
                {
                    sender.written(&entry);
                }
            }
            ToAgent::Fetch { .. } => self.output.say(&FromAgent::Rows(Vec::new())),
            _ => {}
        }
    }

    fn done(&mut self) {
        if self.made.take().is_some() {
            let done = FromWorker::BatchDone { properties: Vec::new(), changes: 0 };
            self.output.say(&FromAgent::Message(done));
        }
    }

    fn second(&mut self) {
        self.output.say(&FromAgent::Alive);
        let Some(sender) = &mut self.sender else { return };
        self.output.say(&FromAgent::Up(sender.here()));
        let Some(made) = &mut self.made else { return };
        *made += 1;
        // The report is built once and then moved by a second each time, so that agents use little processor time.
        let report = self.report.get_or_insert_with(|| report(self.shape));
        report.seq += 1;
        report.snapshot.shift(wall_ns() / 1_000_000 - report.snapshot.at_ms);
        let slot = u64::try_from((nanos(self.clock) - self.zero) / SECOND).unwrap_or(0);
        sender.count(report.samples());
        if let Some(entry) = sender.cut(slot, wire::body(report)) {
            sender.written(&entry);
        }
        for record in sender.due() {
            self.output.say(&FromAgent::Up(Up::Record(record.clone())));
        }
        if *made >= self.shape.seconds {
            self.done();
        }
    }
}

/// Builds the first report. Later reports differ only in number and time.
fn report(Shape { labels, samples, .. }: Shape) -> Report {
    let mut recorder = Recorder::new();
    // Times from 1 to about 200 ms; short times are frequent.
    let mut draw = u64::from(std::process::id()) << 32;
    for number in 0..labels {
        let label = recorder.intern(&format!("Request number {number}"));
        for _ in 0..samples {
            draw = draw.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (a, b) = (draw >> 40 & 0xff, draw >> 52 & 0xff);
            let elapsed = 1_000_000 + a * b * 3_000;
            recorder.record(&Sample { elapsed, ..Sample::new(label, 1_000) });
        }
    }
    let mut report = Report { active: vec![1], started: 1, ..Report::default() };
    recorder.drain(&mut report.snapshot);
    report.snapshot.at_ms = wall_ns() / 1_000_000;
    report.snapshot.began_ms = report.snapshot.at_ms - 1_000;
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_what_was_asked_for() {
        let shape = Shape::read("100,3,5").expect("three numbers");
        assert_eq!(shape, Shape { labels: 100, samples: 3, seconds: 5 });
        assert!(Shape::read("100,3").is_err());
        let report = report(shape);
        assert_eq!((report.samples(), report.snapshot.labels.len()), (300, 100));
    }
}
