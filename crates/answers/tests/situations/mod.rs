//! Records of situations, by discrete simulation: users in a closed loop or at a rate send requests to a target. So
//! all metrics of a record are consistent, as in a real run.
// Each test binary uses only a part of this module, and the list of situations makes it long.
#![allow(dead_code, unreachable_pub, clippy::too_many_lines, clippy::struct_field_names)]

pub mod all;
pub mod silent;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use answers::random::Random;
use record::second::SLOTS;
use record::{
    CauseName, Change, Class, ClassName, Ending, Frame, Generator, Has, Label, Load, Mark, Part,
    Record, Second, ThreadSum,
};
use stats::hist::{Bins, layout};
use stats::machine::Machine;
use stats::{Counter, Outcome};

pub const MS: u64 = 1000;
pub const S: u64 = 1_000_000;
/// Start of the run, epoch ms.
pub const START: i64 = 1_800_000_000_000;

/// The load of a run. Times are in µs.
#[derive(Clone, Debug)]
pub struct Users {
    pub users: u64,
    /// Users that start immediately; the others start over the ramp.
    pub at_once: u64,
    pub ramp: u64,
    /// Time in which only the `at_once` users run.
    pub alone: u64,
    pub length: u64,
    pub pause: u64,
    /// Total starts per second of all users.
    pub rate: Option<f64>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Labels of the requests that a user sends, one after the other.
    pub labels: &'static [&'static str],
}

pub fn users(users: u64) -> Users {
    Users {
        users,
        at_once: 1,
        ramp: S,
        alone: 0,
        length: 60 * S,
        pause: 0,
        rate: None,
        seed: 7,
        labels: &["request"],
    }
}

impl Users {
    pub fn ramp(mut self, s: u64) -> Self {
        self.ramp = s * S;
        self
    }

    pub fn seconds(mut self, s: u64) -> Self {
        self.length = s * S;
        self
    }

    pub fn pause(mut self, ms: u64) -> Self {
        self.pause = ms * MS;
        self
    }
}

/// A request as the target receives it.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub at: u64,
    pub user: u64,
    /// Number of the request in the run.
    pub number: u64,
    /// Index of the request's label.
    pub label: usize,
    /// True if the user has no open connection.
    pub opens: bool,
}

/// A response. Times are in µs.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Time from start to end, without opening a connection.
    pub takes: u64,
    pub connect: u64,
    pub tls: u64,
    /// Part of `takes` that is spent in receiving.
    pub receive: u64,
    pub bytes: u64,
    pub outcome: Outcome,
    pub code: &'static str,
    pub message: &'static str,
    /// Header and value that give the class of the response.
    pub class: Option<(&'static str, &'static str)>,
    pub closes: bool,
}

pub fn good(takes: u64) -> Answer {
    Answer {
        takes,
        connect: 100,
        tls: 0,
        receive: 10,
        bytes: 500,
        outcome: Outcome::Ok,
        code: "200",
        message: "OK",
        class: None,
        closes: false,
    }
}

pub fn bad(takes: u64, outcome: Outcome, code: &'static str, message: &'static str) -> Answer {
    Answer { outcome, code, message, ..good(takes) }
}

/// Workers that serve requests in order of arrival.
pub struct Workers(BinaryHeap<Reverse<u64>>);

impl Workers {
    pub fn new(n: usize) -> Self {
        Self((0..n).map(|_| Reverse(0)).collect())
    }

    /// Returns the time from `at` until this work is done.
    pub fn work(&mut self, at: u64, takes: u64) -> u64 {
        let Reverse(free) = self.0.pop().expect("a worker");
        let done = free.max(at) + takes;
        self.0.push(Reverse(done));
        done - at
    }

    /// Returns the time from `at` until a worker is free.
    pub fn queue(&self, at: u64) -> u64 {
        self.0.peek().map_or(0, |free| free.0.saturating_sub(at))
    }
}

/// Places that refuse a request if none is free, like a semaphore or a pool without a queue.
pub struct Places {
    most: usize,
    /// Times at which the occupied places become free.
    taken: BinaryHeap<Reverse<u64>>,
}

impl Places {
    pub fn new(most: usize) -> Self {
        Self { most, taken: BinaryHeap::new() }
    }

    /// Returns true if a place is free at time `at`; the place is then occupied for `takes`.
    pub fn take(&mut self, at: u64, takes: u64) -> bool {
        while self.taken.peek().is_some_and(|Reverse(free)| *free <= at) {
            self.taken.pop();
        }
        let has_room = self.taken.len() < self.most;
        if has_room {
            self.taken.push(Reverse(at + takes));
        }
        has_room
    }
}

/// Returns a time with noise of ±20 %.
pub fn about(takes: u64, random: &mut Random) -> u64 {
    (takes as f64 * (0.8 + 0.4 * random.uniform())) as u64
}

#[derive(Default)]
struct Times(BTreeMap<u32, u64>);

impl Times {
    fn add(&mut self, us: u64) {
        *self.0.entry(layout::index_of(us)).or_default() += 1;
    }

    fn bins(&self) -> Bins {
        Bins::try_from(self.0.iter().map(|(bin, n)| (*bin, *n)).collect::<Vec<_>>()).unwrap()
    }
}

#[derive(Default)]
struct Open {
    labels: BTreeMap<u32, (Part, Times, Times)>,
    service: Times,
    response: Times,
    failed: Times,
    connect: Times,
    classes: BTreeMap<u32, (u64, u64, Times)>,
    causes: BTreeMap<u32, u64>,
}

/// Simulates the users against the target and returns the record.
pub fn run(load: &Users, mut target: impl FnMut(&Request, &mut Random) -> Answer) -> Record {
    let mut random = Random::new(load.seed);
    let seconds = (load.length / S) as usize;
    let mut record = frame(load);
    record.seconds = (0..seconds).map(|n| second(load, n)).collect();
    let mut open: Vec<Open> = (0..seconds).map(|_| Open::default()).collect();
    let mut ready: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    for user in 0..load.users {
        let late = load.users - load.at_once.min(load.users);
        let at = load.alone + user.saturating_sub(load.at_once) * load.ramp / late.max(1);
        ready.push(Reverse((if user < load.at_once { user * 500 } else { at }, user)));
    }
    let mut connected = vec![false; load.users as usize];
    let mut turns = vec![0; load.users as usize];
    let mut causes: Vec<(Outcome, &str, &str)> = Vec::new();
    let mut threads: BTreeMap<(u64, u32), (u64, u64)> = BTreeMap::new();
    let (mut number, mut slot) = (0, 0_u64);
    while let Some(Reverse((at, user))) = ready.pop() {
        if at >= load.length {
            continue;
        }
        let mut start = at;
        if let Some(rate) = load.rate {
            let first = (at as f64 / 1e6 * rate).ceil() as u64;
            while slot < first {
                let missed = (slot as f64 / rate) as usize;
                record.seconds[missed.min(seconds - 1)].missed += 1;
                slot += 1;
            }
            start = (slot as f64 / rate * 1e6) as u64;
            slot += 1;
            if start >= load.length {
                continue;
            }
            record.seconds[(start / S) as usize].started += 1;
        }
        let opens = !connected[user as usize];
        let label = turns[user as usize] % load.labels.len();
        turns[user as usize] += 1;
        let answer = target(&Request { at: start, user, number, label, opens }, &mut random);
        number += 1;
        let opening = if opens { answer.connect + answer.tls } else { 0 };
        let took = answer.takes + opening;
        let done = start + took;
        connected[user as usize] = !answer.closes;
        ready.push(Reverse((done + load.pause.max(200), user)));
        let Some(place) = Some((done / S) as usize).filter(|place| *place < seconds) else {
            continue;
        };
        let (second, open) = (&mut record.seconds[place], &mut open[place]);
        open.service.add(took);
        open.response.add(took);
        if opens {
            open.connect.add(answer.connect);
        }
        let counters = &mut second.counters;
        counters.add(if opens { Counter::ConnOpened } else { Counter::ConnReused }, 1);
        counters.add(Counter::ConnClosedByPeer, u64::from(answer.closes));
        if opens && answer.tls > 0 {
            counters.add(Counter::TlsFull, 1);
            counters.add(Counter::TlsTime, answer.tls * 1000);
            counters.add(Counter::TlsFullCpu, 300_000);
        }
        let failed = answer.outcome != Outcome::Ok;
        let sum = threads.entry((user, label as u32)).or_default();
        *sum = (sum.0 + 1, sum.1 + u64::from(failed));
        add(&mut second.all, &answer, done, took, opens);
        let (part, times, bad) = open.labels.entry(label as u32).or_default();
        add(part, &answer, done, took, opens);
        times.add(took);
        if failed {
            bad.add(took);
        }
        if let Some((name, value)) = answer.class {
            let class = ClassName::Header { name: name.into(), value: value.into() };
            let at = record.classes.iter().position(|known| *known == class);
            let at = at.unwrap_or_else(|| {
                record.classes.push(class);
                record.classes.len() - 1
            });
            let class = open.classes.entry(at as u32).or_default();
            class.0 += 1;
            class.1 += u64::from(answer.outcome != Outcome::Ok);
            class.2.add(took);
        }
        if failed {
            open.failed.add(took);
            let cause = (answer.outcome, answer.code, answer.message);
            let at = causes.iter().position(|known| *known == cause);
            let at = at.unwrap_or_else(|| {
                causes.push(cause);
                causes.len() - 1
            });
            *open.causes.entry(at as u32).or_default() += 1;
        }
    }
    for (second, open) in record.seconds.iter_mut().zip(open) {
        second.all.service = open.service.bins();
        second.all.response = open.response.bins();
        second.all.failed = open.failed.bins();
        second.connect = open.connect.bins();
        second.lag = Bins::try_from(vec![(20, second.all.count)]).unwrap_or_default();
        if second.all.count == 0 {
            second.lag = Bins::default();
        }
        second.causes = open.causes.into_iter().collect();
        second.classes = open
            .classes
            .into_iter()
            .map(|(name, (count, errors, service))| {
                (name, Class { count, errors, service: service.bins(), ..Class::default() })
            })
            .collect();
        let parts = open.labels.into_iter().map(|(label, (part, times, failed))| {
            let (service, response, failed) = (times.bins(), times.bins(), failed.bins());
            (label, Part { service, response, failed, ..part })
        });
        second.labels = parts.collect::<Vec<_>>().into();
        let machine = second.machine.as_mut().expect("made with one");
        machine.segments_out = 4 * second.all.count + 10;
    }
    let sums = threads.into_iter().map(|((user, label), (requests, failed))| ThreadSum {
        thread: format!("Users 1-{}", user + 1).into(),
        label,
        requests,
        failed,
    });
    record.threads = sums.collect();
    record.causes = causes
        .into_iter()
        .map(|(outcome, code, message)| CauseName {
            outcome,
            code: code.into(),
            message: message.into(),
            first_label: "request".into(),
        })
        .collect();
    record
}

/// Adds a response with its end and its duration to a part.
fn add(part: &mut Part, answer: &Answer, done: u64, took: u64, opens: bool) {
    part.count += 1;
    part.errors += u64::from(answer.outcome != Outcome::Ok);
    part.sent += 200;
    part.received += answer.bytes;
    part.elapsed += took * 1000;
    part.longest = part.longest.max(took * 1000);
    part.slots[(done % S / (S / SLOTS as u64)) as usize] += 1;
    part.phases.receive += answer.receive * 1000;
    part.phases.wait += (answer.takes - answer.receive.min(answer.takes)) * 1000;
    part.phases.lag += 20_000;
    if opens {
        part.phases.connect += answer.connect * 1000;
        part.phases.tls += answer.tls * 1000;
    }
}

fn frame(load: &Users) -> Record {
    let length_ms = (load.length / MS) as i64;
    Record {
        frame: Frame {
            version: "test".into(),
            plan: "situation".into(),
            plan_hash: 1,
            start_ms: START,
            length_ms,
            processors: 4,
            memory: 16 << 30,
            threads: 4,
            load: Load {
                users: load.users,
                rate: load.rate,
                schedule: Vec::new(),
                length_ms: Some(length_ms),
                open: false,
            },
            ending: Ending::Completed,
            ports: 28_232,
            ..Frame::default()
        },
        labels: load.labels.iter().map(|name| named(name)).collect(),
        marks: vec![Mark { at_ms: START + length_ms, change: Change::Stop { at_once: false } }],
        has: Has {
            phases: true,
            slots: true,
            response: true,
            connections: true,
            classes: true,
            generator: true,
            users: true,
            load: true,
            targets: false,
            kept: true,
        },
        ..Record::default()
    }
}

fn named(name: &str) -> Label {
    Label { name: name.into(), transaction: false, folded: 0 }
}

fn second(load: &Users, n: usize) -> Second {
    let end = (n as u64 + 1) * S;
    let late = load.users - load.at_once.min(load.users);
    let ramped = late * end.saturating_sub(load.alone).min(load.ramp) / load.ramp.max(1);
    let users = (load.at_once + ramped).min(load.users);
    Second {
        at_ms: START + (end / MS) as i64,
        ms: 1000,
        users,
        due: load.rate.map_or(0, |rate| rate.round() as u64),
        all: Part::default(),
        generator: Generator {
            cpu_s: 0.4,
            memory: 100 << 20,
            threads: 4,
            ports_left: Some(28_000),
            ..Generator::default()
        },
        machine: Some(Machine {
            processors: 4,
            cpu: 0.2,
            memory_total: 16 << 30,
            memory_available: 8 << 30,
            ..Machine::default()
        }),
        ..Second::default()
    }
}
