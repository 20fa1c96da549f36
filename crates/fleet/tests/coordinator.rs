//! Tests the coordinator with workers in threads: real ones that run their share, and scripted ones.

use std::collections::HashMap;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use fleet::{Event, Fleet, FromWorker, Job, Loss, Missed, Report, Threads, ToWorker, VERSION};
use plan::plan::Plan;
use stats::{Counter, Recorder};

/// Returns a plan with a setUp group of one user and a main group of `users`. Each user runs `loops` samples of 2 ms.
fn text(users: u32, loops: u32) -> String {
    let group = |class: &str, users: u32, loops: u32| {
        format!(
            r#"<{class} testclass="{class}" testname="{class}"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp><stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp></{class}><hashTree><JavaSampler testclass="JavaSampler" testname="Sleep"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="Sleep_Time" elementType="Argument"><stringProp name="Argument.name">Sleep_Time</stringProp><stringProp name="Argument.value">2</stringProp></elementProp></collectionProp></elementProp><stringProp name="classname">org.apache.jmeter.protocol.java.test.JavaTest</stringProp></JavaSampler><hashTree/></hashTree>"#
        )
    };
    format!(
        r#"<jmeterTestPlan version="1.2" properties="5.0"><hashTree><TestPlan testclass="TestPlan" testname="P"/><hashTree>{}{}</hashTree></hashTree></jmeterTestPlan>"#,
        group("SetupThreadGroup", 1, 1),
        group("ThreadGroup", users, loops)
    )
}

fn compile(text: &str) -> Plan {
    let (document, _) = jmx::parse("plan.jmx", text.as_bytes().to_vec()).expect("XML");
    let compiled = plan::compile::compile(&document, &plan::compile::Settings::default());
    compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diags))
}

fn job(text: &str, plan: &Plan) -> Job {
    let options = engine::Options::default();
    Job {
        name: "plan.jmx".into(),
        text: text.as_bytes().to_vec(),
        properties: Vec::new(),
        folder: "".into(),
        evaluated: engine::evaluate(plan, &options),
        results: Vec::new(),
        cores: 1,
        seed: 1,
        stop_on_loss: false,
    }
}

/// The events of a run until its end.
#[derive(Default)]
struct Told {
    snapshots: usize,
    samples: HashMap<String, u64>,
    logs: Vec<String>,
    losses: Vec<Loss>,
}

fn run(fleet: &mut Fleet) -> Told {
    let mut told = Told::default();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < end, "the run does not end");
        match fleet.next_event(Duration::from_millis(100)) {
            Event::Snapshot(snapshot) => {
                told.snapshots += 1;
                for label in &snapshot.labels {
                    *told.samples.entry(label.name.to_string()).or_default() += label.tally.count;
                }
            }
            // Log lines about starts and ends of users are frequent and ignored.
            Event::Log(engine::Line::Log { .. }) => {}
            Event::Log(line) => told.logs.push(line.to_string()),
            Event::Lost(loss) => told.losses.push(loss),
            Event::Idle => {}
            Event::Finished => return told,
        }
    }
}

/// Starts workers that run nothing: `play` answers each message after the offer and the plan.
fn played(
    count: u32,
    play: impl Fn(u32, &ToWorker, &mut dyn FnMut(FromWorker)) -> bool + Clone + Send + 'static,
) -> Threads {
    Threads::start(count, move |number, from: Receiver<ToWorker>, say| {
        say(FromWorker::Offer { version: VERSION, pid: 100 + number, descriptors: 1 });
        for message in from {
            match message {
                ToWorker::Plan(share) => {
                    assert_eq!((share.index, share.count), (number, count));
                    say(FromWorker::Ready { cores: 1 });
                }
                ToWorker::End => return say(FromWorker::Done { aborted: None, samples: 0 }),
                message => {
                    if !play(number, &message, say) {
                        return;
                    }
                }
            }
        }
    })
}

fn report(seq: u64, users: u32) -> FromWorker {
    let mut recorder = Recorder::new();
    recorder.add(Counter::ConnOpened, 5);
    recorder.add(Counter::ConnClosedByUs, 2);
    let mut report = Report { seq, active: vec![0, users], started: users, ..Report::default() };
    recorder.drain(&mut report.snapshot);
    report.snapshot.at_ms = 7_000;
    FromWorker::Report(Box::new(report))
}

#[test]
fn workers_run_all_users_once() {
    let text = text(5, 4);
    let plan = compile(&text);
    let bus = Threads::start(3, |_, from: Receiver<ToWorker>, say| {
        fleet::serve(100, &|_, _| Ok(None), move || from.recv().ok(), say);
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    let told = run(&mut fleet);
    assert_eq!((told.logs, told.losses), (Vec::<String>::new(), Vec::new()));
    assert_eq!(told.samples["Sleep"], 1 + 5 * 4);
    assert_eq!(fleet.aborted(), None);
    let users = fleet.users();
    assert_eq!((users.started, users.finished, users.active), (6, 6, 0));
}

#[test]
fn a_batch_starts_everywhere_at_once_when_the_one_before_is_through_everywhere() {
    let text = text(5, 4);
    let plan = compile(&text);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let starts = Arc::clone(&seen);
    let bus = played(3, move |number, message, say| {
        if let ToWorker::Start { groups, at, .. } = message {
            // Later workers take longer.
            std::thread::sleep(Duration::from_millis(20 * u64::from(number)));
            starts.lock().unwrap().push((groups.clone(), *at));
            say(FromWorker::BatchDone { properties: Vec::new(), changes: 0 });
        }
        true
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    run(&mut fleet);
    let seen = seen.lock().unwrap();
    let groups: Vec<_> = seen.iter().map(|(groups, _)| groups.clone()).collect();
    assert_eq!(groups, [[0], [0], [0], [1], [1], [1]]);
    assert!(seen[..3].iter().all(|(_, at)| *at == seen[0].1), "{seen:?}");
    assert!(seen[3..].iter().all(|(_, at)| *at == seen[3].1), "{seen:?}");
    assert!(seen[3].1 > seen[0].1);
}

#[test]
fn a_report_that_comes_twice_counts_once_and_a_missing_one_is_told() {
    let text = text(5, 4);
    let plan = compile(&text);
    let bus = played(1, |_, message, say| {
        if let ToWorker::Start { groups, .. } = message {
            if groups == &[0] {
                for seq in [1, 1, 2, 1, 5] {
                    say(report(seq, 0));
                }
            }
            say(FromWorker::BatchDone { properties: Vec::new(), changes: 0 });
        }
        true
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    let told = run(&mut fleet);
    assert_eq!(told.snapshots, 3);
    assert_eq!(told.logs, ["worker 0: 2 reports missing"]);
}

#[test]
fn a_worker_that_dies_is_a_loss_and_the_others_finish() {
    let text = text(6, 4);
    let plan = compile(&text);
    let bus = played(3, |number, message, say| {
        if let ToWorker::Start { groups, .. } = message {
            if number == 1 && groups == &[1] {
                say(report(1, 2));
                return false;
            }
            say(FromWorker::BatchDone { properties: Vec::new(), changes: 0 });
        }
        true
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    let told = run(&mut fleet);
    let expected = Loss {
        agent: None,
        at_most: None,
        worker: 1,
        pid: 101,
        reason: "the thread ended".into(),
        users: 2,
        connections: 3,
        last_ms: 7_000,
        samples: Missed::About(0),
    };
    assert_eq!(told.losses, [expected]);
    assert_eq!((fleet.aborted(), fleet.was_stopped()), (None, false));
    assert_eq!((fleet.users().active, fleet.users().finished), (0, 2));
}

#[test]
fn the_last_second_has_parts_of_those_that_are_done_already() {
    let text = text(6, 4);
    let plan = compile(&text);
    let first = Arc::new(Barrier::new(2));
    let bus = Threads::start(2, move |number, from: Receiver<ToWorker>, say| {
        say(FromWorker::Offer { version: VERSION, pid: number, descriptors: 1 });
        for message in from {
            match message {
                ToWorker::Plan(_) => say(FromWorker::Ready { cores: 1 }),
                ToWorker::Start { .. } => {
                    say(FromWorker::BatchDone { properties: Vec::new(), changes: 0 });
                }
                ToWorker::End => {
                    if number == 1 {
                        first.wait();
                    }
                    say(report(1, 0));
                    say(FromWorker::Done { aborted: None, samples: 0 });
                    if number == 0 {
                        first.wait();
                    }
                    return;
                }
                _ => {}
            }
        }
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    let mut seen = Vec::new();
    loop {
        match fleet.next_event(Duration::from_millis(100)) {
            Event::Snapshot(snapshot) => seen.push((snapshot.core, fleet.parts())),
            Event::Finished => break,
            _ => {}
        }
    }
    assert_eq!(seen, [(0, 2), (1, 2)]);
}

#[test]
fn a_worker_that_counted_more_than_has_come_is_named_with_the_difference() {
    let text = text(6, 4);
    let plan = compile(&text);
    let bus = Threads::start(1, |_, from: Receiver<ToWorker>, say| {
        say(FromWorker::Offer { version: VERSION, pid: 100, descriptors: 1 });
        for message in from {
            match message {
                ToWorker::Plan(_) => say(FromWorker::Ready { cores: 1 }),
                ToWorker::Start { .. } => {
                    say(FromWorker::BatchDone { properties: Vec::new(), changes: 0 });
                }
                ToWorker::End => return say(FromWorker::Done { aborted: None, samples: 12 }),
                _ => {}
            }
        }
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    let told = run(&mut fleet);
    let samples: Vec<Missed> = told.losses.iter().map(|loss| loss.samples).collect();
    assert_eq!((samples, fleet.aborted()), (vec![Missed::Exactly(12)], None));
}

#[test]
fn when_all_workers_die_the_run_is_aborted() {
    let text = text(6, 4);
    let plan = compile(&text);
    let bus = played(2, |_, message, _| !matches!(message, ToWorker::Start { .. }));
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    assert_eq!(run(&mut fleet).losses.len(), 2);
    assert_eq!(fleet.aborted(), Some("all workers were lost"));
}

#[test]
fn a_user_that_stops_the_test_stops_the_other_workers_too() {
    let text = text(6, 4);
    let plan = compile(&text);
    let stops = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&stops);
    let bus = played(2, move |number, message, say| {
        match message {
            ToWorker::Start { .. } if number == 0 => say(FromWorker::StopAsked { now: true }),
            ToWorker::Stop { now } => {
                heard.lock().unwrap().push((number, *now));
                say(FromWorker::BatchDone { properties: Vec::new(), changes: 0 });
            }
            _ => {}
        }
        true
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    run(&mut fleet);
    let mut stops = stops.lock().unwrap().clone();
    stops.sort_unstable();
    assert_eq!((stops, fleet.was_stopped()), (vec![(0, true), (1, true)], true));
}

#[test]
fn workers_of_another_version_and_of_another_plan_are_refused() {
    let text = text(2, 1);
    let plan = compile(&text);
    let bus = Threads::start(1, |_, from: Receiver<ToWorker>, say| {
        say(FromWorker::Offer { version: VERSION + 1, pid: 1, descriptors: 1 });
        while !matches!(from.recv(), Ok(ToWorker::End) | Err(_)) {}
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    run(&mut fleet);
    assert!(fleet.aborted().is_some_and(|reason| reason.contains("version")));

    let bus = Threads::start(2, |_, from: Receiver<ToWorker>, say| {
        fleet::serve(100, &|_, _| Ok(None), move || from.recv().ok(), say);
    });
    let other = Plan { hash: plan.hash ^ 1, ..compile(&text) };
    let mut fleet = Fleet::start(Box::new(bus), &other, job(&text, &plan)).expect("workers");
    run(&mut fleet);
    assert!(
        fleet.aborted().is_some_and(|reason| reason.contains("differs from the coordinator's"))
    );
}

#[test]
fn a_run_can_be_stopped_before_its_workers_are_ready() {
    let text = text(2, 1);
    let plan = compile(&text);
    let bus = played(2, |_, message, _| {
        assert!(!matches!(message, ToWorker::Start { .. }), "nothing starts");
        true
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    fleet.stop();
    let told = run(&mut fleet);
    assert_eq!((told.losses.len(), fleet.aborted()), (0, None));
}

#[test]
fn what_a_worker_sets_in_one_batch_all_have_in_the_next() {
    let text = text(6, 4);
    let plan = compile(&text);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let starts = Arc::clone(&seen);
    let bus = played(3, move |number, message, say| {
        if let ToWorker::Start { groups, properties, .. } = message {
            starts.lock().unwrap().push((groups[0], properties.clone()));
            let set = (number == 0).then(|| ("token".to_string(), "x".to_string()));
            say(FromWorker::BatchDone { properties: set.into_iter().collect(), changes: 0 });
        }
        true
    });
    let mut fleet = Fleet::start(Box::new(bus), &plan, job(&text, &plan)).expect("workers");
    run(&mut fleet);
    let token = vec![("token".to_string(), "x".to_string())];
    let expected = [0, 0, 0, 1, 1, 1]
        .map(|batch| (batch, vec![token.clone(), vec![]][1 - batch as usize].clone()));
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn groups_start_on_other_machines_when_all_have_said_that_they_are_there() {
    let text = text(6, 4);
    let plan = compile(&text);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&seen);
    let bus = played(3, move |number, message, say| {
        match message {
            // One worker answers slowly; another one is lost before the second batch.
            ToWorker::Arm => {
                let mut heard = heard.lock().unwrap();
                let before = heard.iter().filter(|(who, _)| *who == number).count();
                if number == 2 && before > 0 {
                    return false;
                }
                heard.push((number, "asked"));
                drop(heard);
                std::thread::sleep(Duration::from_millis(100 * u64::from(number == 1)));
                say(FromWorker::Armed);
            }
            ToWorker::Start { .. } => {
                heard.lock().unwrap().push((number, "started"));
                say(FromWorker::BatchDone { properties: Vec::new(), changes: 0 });
            }
            _ => {}
        }
        true
    });
    let mut fleet =
        Fleet::start(Box::new(bus.on_machines()), &plan, job(&text, &plan)).expect("workers");
    let told = run(&mut fleet);
    assert_eq!((told.losses.len(), fleet.aborted()), (1, None));
    let seen = seen.lock().unwrap();
    let stages: Vec<&str> = seen.iter().map(|(_, what)| *what).collect();
    let batches = [["asked"; 3].as_slice(), &["started"; 3], &["asked"; 2], &["started"; 2]];
    assert_eq!(stages, batches.concat(), "{seen:?}");
}

#[test]
fn a_stop_while_machines_are_asked_lets_nothing_more_start() {
    let text = text(6, 4);
    let plan = compile(&text);
    // The stop arrives before the first batch, or before the second.
    for through in [0, 1] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&seen);
        let bus = played(2, move |number, message, say| {
            let done = || FromWorker::BatchDone { properties: Vec::new(), changes: 0 };
            let mut heard = heard.lock().unwrap();
            let before = heard.iter().filter(|what| **what == (number, "asked")).count();
            match message {
                ToWorker::Arm => {
                    heard.push((number, "asked"));
                    // One worker answers after the stop.
                    if number == 0 || before < through {
                        say(FromWorker::Armed);
                    }
                }
                ToWorker::Start { .. } => {
                    heard.push((number, "started"));
                    say(done());
                }
                ToWorker::Stop { .. } => say(FromWorker::Armed),
                _ => {}
            }
            true
        });
        let mut fleet =
            Fleet::start(Box::new(bus.on_machines()), &plan, job(&text, &plan)).expect("workers");
        let count = |what| seen.lock().unwrap().iter().filter(|(_, one)| *one == what).count();
        while count("asked") < 2 * (through + 1) {
            fleet.next_event(Duration::from_millis(10));
        }
        fleet.stop();
        let told = run(&mut fleet);
        assert_eq!((told.losses.len(), fleet.aborted()), (0, None));
        assert_eq!((count("asked"), count("started")), (2 * (through + 1), 2 * through));
    }
}
