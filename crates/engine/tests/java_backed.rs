//! Tests of jobs for Java: which jobs a user submits and when, and which changes the replies make. Jobs also fail, are
//! cut by the end of the run, or reply too late. Instead of a JVM, threads reply with functions of the tests.

#[path = "java_backed/asked.rs"]
mod asked;
#[path = "java_backed/controllers.rs"]
mod controllers;
#[path = "java_backed/ends.rs"]
mod ends;
#[path = "java_backed/lasting.rs"]
mod lasting;
#[path = "java_backed/listeners.rs"]
mod listeners;
#[path = "java_backed/machine.rs"]
mod machine;
#[path = "java_backed/requests.rs"]
mod requests;

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use machine::{Answer, Machine, Told, request, result, started};
use plan::assertion::Assertion;
use plan::element::Timer;
use plan::extract::Extractor;
use plan::java_backed::{Element, JavaBackedId, Job, Reads, Role, TextRange};
use plan::plan::{
    Before, ControllerKind, Listener, ListenerId, ListenerKind, Plan, SamplerId, SamplerKind,
};

/// Returns a plan whose users run `body`.
fn plan(users: u32, loops: i32, body: &str) -> Plan {
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="plan" enabled="true"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="users" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">{loops}</intProp></elementProp>
<stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp></ThreadGroup><hashTree>
{body}
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    );
    let (document, _) = jmx::parse("plan.jmx", text.into_bytes()).unwrap();
    let compiled = plan::compile::compile(&document, &plan::compile::Settings::default());
    compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diags))
}

/// Returns the XML of a sampler that computes its own result. Its label consists of variables.
fn sampler(name: &str) -> String {
    format!(
        r#"<DebugSampler testclass="DebugSampler" testname="{name}" enabled="true"><boolProp name="displayJMeterProperties">false</boolProp>
<boolProp name="displayJMeterVariables">true</boolProp><boolProp name="displaySystemProperties">false</boolProp></DebugSampler><hashTree/>"#
    )
}

/// Adds an element to the Java-backed elements.
fn host(plan: &mut Plan, role: Role, reads: Reads) -> JavaBackedId {
    let elements = &mut plan.java_backed.elements;
    let name = format!("{role:?} {}", elements.len());
    let path = format!("plan > {name}");
    let (class, xml) = ("X".into(), "<X/>".into());
    elements.push(Element { role, class, path, name, line: 1, reads, native: false, xml });
    JavaBackedId(elements.len() as u32 - 1)
}

struct Outcome {
    /// Columns: label, code, message, success, failure message.
    rows: Vec<[String; 5]>,
    log: Vec<engine::Line>,
    samples: u64,
    cut: u64,
}

impl Outcome {
    fn labels(&self) -> Vec<&str> {
        self.rows.iter().map(|row| &*row[0]).collect()
    }
}

/// Runs a plan to its end; `meanwhile` may stop it.
fn run_with(
    plan: Plan,
    machine: &Arc<Machine>,
    mut meanwhile: impl FnMut(&mut engine::Run),
) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let options = engine::Options {
        cores: 1,
        base_dir: ".".into(),
        results: vec![engine::ResultFile {
            path: path.clone(),
            columns: stats::jtl::Columns::default(),
            errors_only: false,
            successes_only: false,
        }],
        offload: Some(Arc::clone(machine) as _),
        ..engine::Options::default()
    };
    let mut run = engine::start(Arc::new(plan), options).unwrap();
    let (mut log, mut samples, mut cut) = (Vec::new(), 0, 0);
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < deadline, "the run does not end: {:?}", machine.seen());
        meanwhile(&mut run);
        match run.next_event(Duration::from_millis(2)) {
            engine::Event::Snapshot(snapshot) => {
                let of = |label: &stats::snapshot::LabelDelta| label.tally.count;
                samples += snapshot.labels.iter().map(of).sum::<u64>();
                cut += snapshot.counters.get(stats::Counter::CutByEnd);
                run.recycle(snapshot);
            }
            engine::Event::Log(line) if is_of_users(&line) => {}
            engine::Event::Log(line) => log.push(line),
            engine::Event::Finished => break,
            _ => {}
        }
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let columns = ["label", "responseCode", "responseMessage", "success", "failureMessage"].map(at);
    let rows = lines.map(|line| {
        let cells = cells(line);
        columns.map(|at| cells[at].clone())
    });
    Outcome { rows: rows.collect(), log, samples, cut }
}

/// Splits a row into cells, some of which are quoted.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

fn run(plan: Plan, machine: &Arc<Machine>) -> Outcome {
    run_with(plan, machine, |_| {})
}

/// Returns the XML of a controller with children.
fn controller(class: &str, properties: &str, inside: &str) -> String {
    format!(
        r#"<{class} testclass="{class}" testname="{class}" enabled="true">{properties}</{class}><hashTree>{inside}</hashTree>"#
    )
}

/// Returns the index of the first controller of a kind.
fn find(plan: &Plan, kind: impl Fn(&ControllerKind) -> bool) -> usize {
    plan.controllers.iter().position(|controller| kind(&controller.kind)).unwrap()
}

/// Returns true if a line of the log is about a user's start or end.
fn is_of_users(line: &engine::Line) -> bool {
    let of_users = "org.apache.jmeter.threads.JMeterThread";
    matches!(line, engine::Line::Log { level: engine::LogLevel::Info, logger: Some(logger), .. }
        if logger == of_users)
}

/// Starts a server that answers every request with the request's first line, body and some headers. The server adds
/// these strings to `seen`.
fn serve(seen: Arc<Mutex<Vec<String>>>) -> u16 {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, seen) = (stream.unwrap(), Arc::clone(&seen));
            std::thread::spawn(move || {
                let (mut held, mut buffer) = (String::new(), [0; 4096]);
                while let Ok(n @ 1..) = stream.read(&mut buffer) {
                    held.push_str(std::str::from_utf8(&buffer[..n]).unwrap());
                    let Some((head, body)) = held.split_once("\r\n\r\n") else { continue };
                    let length =
                        head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                    if body.len() < length.map_or(0, |length| length.parse().unwrap()) {
                        continue;
                    }
                    seen.lock().unwrap().push(std::mem::take(&mut held));
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
                }
            });
        }
    });
    port
}

#[test]
fn stages_run_in_their_order_and_neighbours_go_together() {
    let mut plan = plan(1, 1, &sampler("s"));
    let ids: Vec<_> =
        [Role::Before, Role::Before, Role::Timer, Role::After, Role::Assertion, Role::Listener]
            .into_iter()
            .map(|role| host(&mut plan, role, Reads::empty()))
            .collect();
    let text = TextRange { first: 0, count: 1 };
    plan.java_backed.texts.push("${__groovy(1)}".into());
    let sampler = &mut plan.samplers[0];
    let of = |id: JavaBackedId| Job::Run(id);
    sampler.before = vec![
        Before::Job(of(ids[0])),
        Before::Job(of(ids[1])),
        Before::Job(Job::Evaluate(text)),
        Before::Job(of(ids[0])),
    ];
    sampler.timers = vec![Timer::Job(of(ids[2])), Timer::Job(Job::Evaluate(text))];
    sampler.evaluates = text;
    sampler.after = vec![Extractor::Job(of(ids[3])), Extractor::Job(Job::Evaluate(text))];
    sampler.checks = vec![Assertion::java_backed(of(ids[4]))];
    sampler.listeners.push(ListenerId(0));
    plan.listeners.push(Listener { name: "l".into(), kind: ListenerKind::JavaBacked(ids[5]) });
    let machine = Machine::new(|told| {
        let texts = vec!["x".into(); told.ids.len()];
        Answer { texts, delay: 1, ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    let jobs = [
        "setup",
        "start",
        "job 1 [0, 1]",
        "job 16 [0]",
        "job 1 [0]",
        "job 2 [2]",
        "job 16 [0]",
        "job 16 [0]",
        "job 4 [3]",
        "job 16 [0]",
        "job 5 [4]",
        "job 6 [5]",
        "bye",
        "end",
    ];
    assert_eq!(machine.seen(), jobs);
    assert_eq!((outcome.labels(), outcome.samples), (vec!["s"], 1));
    assert_eq!(outcome.log, Vec::new());
}

#[test]
fn what_scripts_change_is_seen_by_what_follows() {
    let mut plan = plan(2, 2, &sampler("${v}"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    let after = host(&mut plan, Role::After, Reads::RESULT | Reads::BODY);
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    plan.samplers[0].evaluates = TextRange { first: 0, count: 1 };
    plan.java_backed.texts.push("${__groovy(1)}".into());
    plan.samplers[0].after.push(Extractor::Job(Job::Run(after)));
    let seen: Arc<Mutex<Vec<Told>>> = Arc::default();
    let heard = Arc::clone(&seen);
    let machine = Machine::starting(started(&[("from_start", "yes")]), None, move |told| {
        heard.lock().unwrap().push(told.clone());
        match told.act {
            1 => Answer {
                properties: vec![("p".into(), Some("q".into()))],
                variables: vec![
                    ("v".into(), Some(format!("{}-{}", told.number, told.iteration))),
                    ("made".into(), Some("late".into())),
                ],
                log: vec!["said".into()],
                ..Answer::default()
            },
            16 => Answer { texts: vec!["t".into()], ..Answer::variable("made", "later") },
            _ => Answer { variables: vec![("made".into(), None)], ..Answer::default() },
        }
        .to(told)
    });
    let outcome = run(plan, &machine);
    let mut labels = outcome.labels();
    labels.sort_unstable();
    assert_eq!(labels, ["0-1", "0-2", "1-1", "1-2"]);
    assert!(outcome.log.len() == 4, "{:?}", outcome.log);
    for line in &outcome.log {
        let engine::Line::Log { level, logger, at_ms, text } = line else { panic!("{line:?}") };
        assert_eq!((*level, logger.as_deref()), (engine::LogLevel::Info, Some("script")));
        assert_eq!((at_ms.is_some(), &**text), (true, "said"));
    }
    let seen = seen.lock().unwrap();
    let numbers: Vec<u64> = seen.iter().map(|told| told.user).collect();
    assert!(numbers.contains(&1) && numbers.contains(&2) && numbers.iter().all(|user| *user <= 2));
    for told in seen.iter() {
        assert_eq!(told.thread, format!("users 1-{}", told.number + 1));
        assert_eq!(told.first, told.act == 1);
        // Java is not sent the values that Java itself wrote.
        assert!(told.properties.is_empty());
        let made = told.variables.get("made").map(String::as_str);
        assert_eq!(
            made,
            [None, Some("late"), Some("later")]
                [usize::from(told.act == 16) + 2 * usize::from(told.act == 4)]
        );
        if told.act == 4 {
            assert_eq!(told.label, told.variables["v"]);
            let (label, code, success) = told.result.clone().expect("it reads the result");
            assert_eq!((label, &*code, success), (told.label.clone(), "200", true));
        }
    }
}

#[test]
fn a_result_is_what_java_makes_of_it() {
    let mut plan = plan(1, 1, &sampler("s"));
    let after = host(&mut plan, Role::After, Reads::RESULT);
    let check = host(&mut plan, Role::Assertion, Reads::RESULT);
    plan.samplers[0].after.push(Extractor::Job(Job::Run(after)));
    plan.samplers[0].checks.push(Assertion::java_backed(Job::Run(check)));
    let machine = Machine::new(|told| {
        match told.act {
            4 => Answer { result: Some(result("renamed", "201", true, 5)), ..Answer::default() },
            _ => {
                assert_eq!(told.result.as_ref().unwrap().1, "201");
                let verdict = ("check".into(), true, false, Some("not good".into()));
                Answer { verdicts: vec![verdict], ..Answer::default() }
            }
        }
        .to(told)
    });
    let outcome = run(plan, &machine);
    let row = ["renamed", "201", "", "false", "not good"].map(String::from);
    assert_eq!(outcome.rows, [row]);
}

#[test]
fn samplers_in_java_make_samples() {
    let mut plan = plan(1, 3, &sampler("s"));
    let id = host(&mut plan, Role::Sampler, Reads::empty());
    plan.samplers[0].kind = SamplerKind::JavaBacked(id);
    let machine = Machine::new(|told| {
        assert_eq!((told.act, &*told.label), (3, "s"));
        // The second job returns no result.
        let made = (told.iteration != 2).then(|| result("by java", "77", told.iteration == 1, 3));
        Answer { result: made, ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    let row = |success: &str| ["by java", "77", "", success, ""].map(String::from);
    assert_eq!(outcome.rows, [row("true"), row("false")]);
    assert_eq!(outcome.samples, 2);
}

#[test]
fn what_scripts_ask_for_is_done() {
    for (act, ask, labels) in [
        // If a job before a sampler requests a stop, the user does not run the sampler. Other requests take effect
        // after the sampler.
        (1, 4, vec![]),
        (1, 3, vec!["a", "a", "a"]),
        (4, 4, vec!["a"]),
        (4, 3, vec!["a", "a", "a"]),
        (4, 5, vec!["a"]),
    ] {
        let mut plan = plan(1, 3, &format!("{}{}", sampler("a"), sampler("b")));
        let before = host(&mut plan, Role::Before, Reads::empty());
        let after = host(&mut plan, Role::After, Reads::empty());
        plan.samplers[0].before.push(Before::Job(Job::Run(before)));
        plan.samplers[0].after.push(Extractor::Job(Job::Run(after)));
        let machine = Machine::new(move |told| {
            Answer { ask: if told.act == act { ask } else { 0 }, ..Answer::default() }.to(told)
        });
        let outcome = run(plan, &machine);
        assert_eq!(outcome.labels(), labels, "{act} asks for {ask}");
    }
}

#[test]
fn jobs_that_fail_fail_their_samples() {
    let bad: [fn(&Told) -> machine::Reply; 4] = [
        |_| Err("the machine is gone".into()),
        |_| Ok(vec![]),
        |told| {
            Answer::default().to(told).map(|mut reply| {
                reply.pop();
                reply
            })
        },
        |_| {
            let mut out = vec![1];
            machine::text(&mut out, "the bridge broke");
            Ok(out)
        },
    ];
    let words = ["gone", "cannot parse", "cannot parse", "bridge broke"];
    for (work, words) in bad.into_iter().zip(words) {
        for role in [Role::Before, Role::Sampler, Role::After, Role::Assertion, Role::Timer] {
            let mut plan = plan(1, 2, &sampler("s"));
            let id = host(&mut plan, role, Reads::empty());
            let run_it = Job::Run(id);
            let sampler = &mut plan.samplers[0];
            match role {
                Role::Before => sampler.before.push(Before::Job(run_it)),
                Role::Timer => sampler.timers.push(Timer::Job(run_it)),
                Role::Sampler => sampler.kind = SamplerKind::JavaBacked(id),
                Role::After => sampler.after.push(Extractor::Job(run_it)),
                _ => sampler.checks.push(Assertion::java_backed(run_it)),
            }
            let outcome = run(plan, &Machine::new(work));
            assert_eq!(outcome.rows.len(), 2, "{role:?} {words}");
            for row in &outcome.rows {
                assert_eq!((&*row[0], &*row[3]), ("s", "false"), "{role:?}");
                assert!(row[2].contains(words) || row[4].contains(words), "{role:?} {row:?}");
            }
        }
    }
}
