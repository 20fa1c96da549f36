use stats::{Recorder, Sample};

use super::*;
use crate::threads::Threads;

fn share() -> Share {
    Share {
        name: String::new(),
        plan: Vec::new(),
        hash: 0,
        properties: Vec::new(),
        folder: "".into(),
        evaluated: engine::Evaluated::default(),
        results: Vec::new(),
        index: 0,
        count: 4,
        cores: 1,
        seed: 0,
        zero: 0,
        host: None,
        allowed: None,
    }
}

/// Returns a report of one second that contains this number of samples.
fn second(seq: u64, samples: u64) -> Box<Report> {
    let mut recorder = Recorder::new();
    let label = recorder.intern("Home");
    for _ in 0..samples {
        recorder.record(&Sample::new(label, 1_000));
    }
    let mut report = Report { seq, active: vec![2], started: 2, ..Report::default() };
    recorder.drain(&mut report.snapshot);
    report.snapshot.at_ms = 1_000;
    Box::new(report)
}

/// Returns a relay whose processes report once per batch. If `dies` is true, the first process dies in the second
/// batch.
fn relay(dies: bool) -> Relay {
    let bus = Threads::start(2, move |number, orders, say| {
        say(FromWorker::Offer { version: VERSION, pid: number, descriptors: 0 });
        let mut seq = 0;
        for order in orders {
            match order {
                ToWorker::Plan(share) => {
                    assert_eq!(share.index, [1, 3][number as usize]);
                    say(FromWorker::Ready { cores: 1 });
                }
                ToWorker::Start { .. } if dies && seq == 1 && number == 0 => return,
                ToWorker::Start { .. } => {
                    seq += 1;
                    say(FromWorker::Report(second(seq, 5)));
                    say(FromWorker::BatchDone { properties: Vec::new(), changes: 0 });
                }
                ToWorker::End => {
                    say(FromWorker::Done { aborted: None, samples: 5 * seq });
                    return;
                }
                _ => {}
            }
        }
    });
    Relay::new(Box::new(bus), share(), vec![1, 3])
}

#[test]
fn a_relay_is_there_when_its_agents_are() {
    let bus = Threads::start(3, |number, orders, say| {
        say(FromWorker::Offer { version: VERSION, pid: number, descriptors: 0 });
        for order in orders {
            match order {
                ToWorker::Plan(_) => say(FromWorker::Ready { cores: 1 }),
                ToWorker::Arm if number == 2 => return,
                ToWorker::Arm => {
                    std::thread::sleep(Duration::from_millis(50 * u64::from(number)));
                    say(FromWorker::Log(format!("{number}").into()));
                    say(FromWorker::Armed);
                }
                _ => {}
            }
        }
    });
    let mut relay = Relay::new(Box::new(bus.on_machines()), share(), vec![0, 1, 2]);
    until(&mut relay, |message| matches!(message, FromWorker::Ready { .. }));
    relay.execute(ToWorker::Arm);
    let outs = until(&mut relay, |message| matches!(message, FromWorker::Armed));
    let said = outs.iter().filter(|out| matches!(out, Out::Message(FromWorker::Log(_)))).count();
    let lost = outs.iter().filter(|out| matches!(out, Out::Lost(_))).count();
    assert_eq!((said, lost), (2, 1), "{outs:?}");
    // Processes on the agent's own machine are not asked to confirm.
    let mut agent = self::relay(false);
    until(&mut agent, |said| matches!(said, FromWorker::Ready { .. }));
    agent.execute(ToWorker::Arm);
    assert!(matches!(agent.next(Duration::ZERO), Some(Out::Message(FromWorker::Armed))));
}

#[test]
fn a_second_that_an_agent_kept_while_its_way_was_cut_stays_itself() {
    let first = std::sync::Arc::new(std::sync::Barrier::new(2));
    let bus = Threads::start(2, move |number, orders, say| {
        say(FromWorker::Offer { version: VERSION, pid: number, descriptors: 0 });
        for order in orders {
            match order {
                ToWorker::Plan(_) => say(FromWorker::Ready { cores: 4 }),
                ToWorker::Start { .. } => {
                    let mut report = |seq, began_ms| {
                        let mut report = second(seq, 5 + seq);
                        let snapshot = &mut report.snapshot;
                        (snapshot.began_ms, snapshot.at_ms) = (began_ms, began_ms + 1_000);
                        say(FromWorker::Report(report));
                    };
                    if number == 0 {
                        report(1, 10_000);
                        first.wait();
                    } else {
                        first.wait();
                        report(1, 4_000);
                        report(2, 10_020);
                    }
                }
                ToWorker::End => return say(FromWorker::Done { aborted: None, samples: 0 }),
                _ => {}
            }
        }
    });
    let mut relay = Relay::new(Box::new(bus.on_machines()), share(), vec![1, 3]);
    until(&mut relay, |message| matches!(message, FromWorker::Ready { .. }));
    relay.execute(ToWorker::Start { groups: vec![0], at: 0, properties: Vec::new() });
    let mut seconds = Vec::new();
    for _ in 0..1_000 {
        if let Some(Out::Second(report)) = relay.next(Duration::from_millis(10)) {
            seconds.push((report.snapshot.began_ms, report.samples(), report.active[0]));
        }
        if seconds.len() == 2 {
            break;
        }
    }
    // An agent reports once a second for all its threads. The samples: 6 and 7 of the second itself, and 6 that arrived
    // late.
    assert_eq!(seconds, [(4_000, 6, 4), (10_000, 13, 4)]);
    let figures = relay.figures();
    assert_eq!(figures.iter().map(|one| one.tally.count).collect::<Vec<_>>(), [6, 13]);
}

/// Returns all output up to and including the first message for which `is_it` returns true.
fn until(relay: &mut Relay, is_it: impl Fn(&FromWorker) -> bool) -> Vec<Out> {
    let mut outs = Vec::new();
    for _ in 0..10_000 {
        let Some(out) = relay.next(Duration::from_millis(10)) else { continue };
        let found = matches!(&out, Out::Message(message) if is_it(message));
        outs.push(out);
        if found {
            return outs;
        }
    }
    panic!("it does not come: {outs:?}");
}

fn start() -> ToWorker {
    ToWorker::Start { groups: vec![0], at: 0, properties: Vec::new() }
}

#[test]
fn two_processes_speak_as_one_worker() {
    let mut relay = relay(false);
    let outs = until(&mut relay, |said| matches!(said, FromWorker::Ready { .. }));
    assert!(matches!(outs[..], [Out::Message(FromWorker::Ready { cores: 2 })]), "{outs:?}");
    relay.execute(start());
    let outs = until(&mut relay, |said| matches!(said, FromWorker::BatchDone { .. }));
    let seconds = |outs: &[Out]| -> Vec<(u64, u32, Vec<u32>)> {
        let report = |out: &Out| match out {
            Out::Second(report) => Some((report.samples(), report.started, report.active.clone())),
            _ => None,
        };
        outs.iter().filter_map(report).collect()
    };
    assert_eq!(seconds(&outs), [(10, 4, vec![4])], "one second of both");
    relay.execute(ToWorker::End);
    let outs = until(&mut relay, |said| matches!(said, FromWorker::Done { .. }));
    let done = Out::Message(FromWorker::Done { aborted: None, samples: 10 });
    assert_eq!(format!("{outs:?}"), format!("{:?}", [done]));
    assert!(relay.has_ended());
}

#[test]
fn a_process_that_dies_is_a_part_and_the_batch_ends_without_it() {
    let mut relay = relay(true);
    until(&mut relay, |said| matches!(said, FromWorker::Ready { .. }));
    relay.execute(start());
    until(&mut relay, |said| matches!(said, FromWorker::BatchDone { .. }));
    relay.execute(start());
    let outs = until(&mut relay, |said| matches!(said, FromWorker::BatchDone { .. }));
    let parts: Vec<&Part> = outs
        .iter()
        .filter_map(|out| match out {
            Out::Lost(part) => Some(part),
            _ => None,
        })
        .collect();
    assert!(parts.len() == 1 && parts[0].users == 2, "{outs:?}");
    relay.execute(ToWorker::End);
    let outs = until(&mut relay, |said| matches!(said, FromWorker::Done { .. }));
    let Some(Out::Message(FromWorker::Done { aborted: None, samples: 15 })) = outs.last() else {
        panic!("the rest goes on: {outs:?}")
    };
}

/// Properties that processes of a host with the whole plan set remain on that host. Properties that processes of a
/// share set go to all agents.
#[test]
fn properties_that_users_set_are_for_the_processes_of_their_host() {
    for host in [None, Some("a".to_owned())] {
        let bus = Threads::start(2, |number, orders, say| {
            say(FromWorker::Offer { version: VERSION, pid: number, descriptors: 0 });
            for order in orders {
                let got = match order {
                    ToWorker::Plan(_) => {
                        say(FromWorker::Ready { cores: 1 });
                        continue;
                    }
                    ToWorker::Start { properties, .. } => properties,
                    _ => continue,
                };
                // In the second batch, each process reports the properties that it received.
                say(FromWorker::Log(format!("{got:?}").into()));
                let own = (format!("p{number}"), "1".to_owned());
                let properties = if got.is_empty() { vec![own] } else { got };
                say(FromWorker::BatchDone { properties, changes: 0 });
            }
        });
        let share = Share { host: host.clone(), ..share() };
        let mut relay = Relay::new(Box::new(bus), share, vec![0, 1]);
        until(&mut relay, |said| matches!(said, FromWorker::Ready { .. }));
        relay.execute(start());
        let outs = until(&mut relay, |said| matches!(said, FromWorker::BatchDone { .. }));
        let Some(Out::Message(FromWorker::BatchDone { properties, .. })) = outs.last() else {
            panic!("{outs:?}")
        };
        assert_eq!(properties.len(), if host.is_some() { 0 } else { 2 }, "{properties:?}");
        relay.execute(start());
        let outs = until(&mut relay, |said| matches!(said, FromWorker::BatchDone { .. }));
        let all = format!("{outs:?}");
        let both = all.matches("p0").count() >= 2 && all.matches("p1").count() >= 2;
        assert_eq!(both, host.is_some(), "{all}");
    }
}
