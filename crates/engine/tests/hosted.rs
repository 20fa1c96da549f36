//! Jobs of users: which go out and when, what their replies change, and what becomes of users whose jobs fail, are cut, or come too late. The Java machine
//! is one of threads that answer by functions of the tests.

#[path = "hosted/controllers.rs"]
mod controllers;
#[path = "hosted/lasting.rs"]
mod lasting;
#[path = "hosted/listeners.rs"]
mod listeners;
#[path = "hosted/machine.rs"]
mod machine;

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use machine::{Answer, Machine, Told, request, result, started};
use plan::assertion::Assertion;
use plan::element::Timer;
use plan::extract::Extractor;
use plan::hosted::{Element, HostedId, Job, Reads, Role, TextRange};
use plan::plan::{
    Before, ControllerKind, Listener, ListenerId, ListenerKind, Plan, SamplerId, SamplerKind,
};

/// A plan whose users run `body`.
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

/// A sampler that answers itself, whose label is made of variables.
fn sampler(name: &str) -> String {
    format!(
        r#"<DebugSampler testclass="DebugSampler" testname="{name}" enabled="true"><boolProp name="displayJMeterProperties">false</boolProp>
<boolProp name="displayJMeterVariables">true</boolProp><boolProp name="displaySystemProperties">false</boolProp></DebugSampler><hashTree/>"#
    )
}

/// Adds an element to what is hosted.
fn host(plan: &mut Plan, role: Role, reads: Reads) -> HostedId {
    let elements = &mut plan.hosted.elements;
    let name = format!("{role:?} {}", elements.len());
    elements.push(Element {
        role,
        class: "X".into(),
        path: format!("plan > {name}"),
        name,
        line: 1,
        reads,
        xml: "<X/>".into(),
    });
    HostedId(elements.len() as u32 - 1)
}

struct Outcome {
    /// Columns label, code, message, success, failure message.
    rows: Vec<[String; 5]>,
    log: Vec<String>,
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
            engine::Event::Log(text) if is_of_users(&text) => {}
            engine::Event::Log(text) => log.push(text),
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

/// The cells of a row, of which some are in quotes.
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

#[test]
fn stages_run_in_their_order_and_neighbours_go_together() {
    let mut plan = plan(1, 1, &sampler("s"));
    let ids: Vec<_> =
        [Role::Before, Role::Before, Role::Timer, Role::After, Role::Assertion, Role::Listener]
            .into_iter()
            .map(|role| host(&mut plan, role, Reads::empty()))
            .collect();
    let text = TextRange { first: 0, count: 1 };
    plan.hosted.texts.push("${__groovy(1)}".into());
    let sampler = &mut plan.samplers[0];
    let of = |id: HostedId| Job::Run(id);
    sampler.before = vec![
        Before::Job(of(ids[0])),
        Before::Job(of(ids[1])),
        Before::Job(Job::Evaluate(text)),
        Before::Job(of(ids[0])),
    ];
    sampler.timers = vec![Timer::Job(of(ids[2])), Timer::Job(Job::Evaluate(text))];
    sampler.evaluates = text;
    sampler.after = vec![Extractor::Job(of(ids[3])), Extractor::Job(Job::Evaluate(text))];
    sampler.checks = vec![Assertion::hosted(of(ids[4]))];
    sampler.listeners.push(ListenerId(0));
    plan.listeners.push(Listener { name: "l".into(), kind: ListenerKind::Hosted(ids[5]) });
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
    assert_eq!(outcome.log, Vec::<String>::new());
}

#[test]
fn what_scripts_change_is_seen_by_what_follows() {
    let mut plan = plan(2, 2, &sampler("${v}"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    let after = host(&mut plan, Role::After, Reads::RESULT | Reads::BODY);
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    plan.samplers[0].evaluates = TextRange { first: 0, count: 1 };
    plan.hosted.texts.push("${__groovy(1)}".into());
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
        let line = line.strip_prefix("Info: ").and_then(plan::function::parts_of);
        assert!(matches!(line, Some(("script", Some(_), "said"))), "{line:?}");
    }
    let seen = seen.lock().unwrap();
    let numbers: Vec<u64> = seen.iter().map(|told| told.user).collect();
    assert!(numbers.contains(&1) && numbers.contains(&2) && numbers.iter().all(|user| *user <= 2));
    for told in seen.iter() {
        assert_eq!(told.thread, format!("users 1-{}", told.number + 1));
        assert_eq!(told.first, told.act == 1);
        // What Java wrote is not told to it.
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
    plan.samplers[0].checks.push(Assertion::hosted(Job::Run(check)));
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
    plan.samplers[0].kind = SamplerKind::Hosted(id);
    let machine = Machine::new(|told| {
        assert_eq!((told.act, &*told.label), (3, "s"));
        // The second gives no result.
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
        // Before a sampler, a user that is to stop does not run it; other requests count behind it.
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
    let words = ["gone", "cannot be read", "cannot be read", "bridge broke"];
    for (work, words) in bad.into_iter().zip(words) {
        for role in [Role::Before, Role::Sampler, Role::After, Role::Assertion, Role::Timer] {
            let mut plan = plan(1, 2, &sampler("s"));
            let id = host(&mut plan, role, Reads::empty());
            let run_it = Job::Run(id);
            let sampler = &mut plan.samplers[0];
            match role {
                Role::Before => sampler.before.push(Before::Job(run_it)),
                Role::Timer => sampler.timers.push(Timer::Job(run_it)),
                Role::Sampler => sampler.kind = SamplerKind::Hosted(id),
                Role::After => sampler.after.push(Extractor::Job(run_it)),
                _ => sampler.checks.push(Assertion::hosted(run_it)),
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

#[test]
fn a_run_that_ends_at_once_does_not_wait_for_scripts() {
    for role in [Role::Before, Role::Sampler, Role::After] {
        let mut plan = plan(2, -1, &sampler("s"));
        let id = host(&mut plan, role, Reads::empty());
        let sampler = &mut plan.samplers[0];
        match role {
            Role::Before => sampler.before.push(Before::Job(Job::Run(id))),
            Role::Sampler => sampler.kind = SamplerKind::Hosted(id),
            _ => sampler.after.push(Extractor::Job(Job::Run(id))),
        }
        let (begun, begins) = channel();
        // It loops for ever, as far as a test can tell: until it has seen the run's end.
        let (over, wait) = channel::<()>();
        let (begun, wait) = (Mutex::new(begun), Mutex::new(wait));
        let machine = Machine::new(move |told| {
            begun.lock().unwrap().send(()).unwrap();
            let _ = wait.lock().unwrap().recv();
            Answer::default().to(told)
        });
        let mut stopped = false;
        let outcome = run_with(plan, &machine, |run| {
            if !stopped && begins.try_recv().is_ok() {
                run.stop_now();
                stopped = true;
            }
        });
        drop(over);
        let cut = if role == Role::Before { 0 } else { 2 };
        assert_eq!(outcome.cut, cut, "{role:?}");
        let seen = machine.seen();
        assert_eq!(seen.iter().filter(|what| *what == "interrupt").count(), 2, "{role:?} {seen:?}");
        assert!(seen.contains(&"end".to_string()));
    }
}

#[test]
fn a_graceful_stop_waits_for_jobs() {
    let mut plan = plan(1, -1, &sampler("s"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    let after = host(&mut plan, Role::After, Reads::empty());
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    plan.samplers[0].after.push(Extractor::Job(Job::Run(after)));
    let (begun, begins) = channel();
    let (go, wait) = channel::<()>();
    let (begun, wait) = (Mutex::new(begun), Mutex::new(wait));
    let machine = Machine::new(move |told| {
        if told.act == 4 {
            begun.lock().unwrap().send(()).unwrap();
            let _ = wait.lock().unwrap().recv();
        }
        Answer::default().to(told)
    });
    let mut go = Some(go);
    let outcome = run_with(plan, &machine, |run| {
        if begins.try_recv().is_ok() {
            run.stop();
            go = None;
        }
    });
    assert_eq!((outcome.labels(), outcome.cut), (vec!["s"], 0));
    assert_eq!(machine.seen().last().map(String::as_str), Some("end"));
    assert!(machine.seen().contains(&"bye".to_string()));
}

/// A controller around others.
fn controller(class: &str, properties: &str, inside: &str) -> String {
    format!(
        r#"<{class} testclass="{class}" testname="{class}" enabled="true">{properties}</{class}><hashTree>{inside}</hashTree>"#
    )
}

/// The place of the controller of a kind.
fn find(plan: &Plan, kind: impl Fn(&ControllerKind) -> bool) -> usize {
    plan.controllers.iter().position(|controller| kind(&controller.kind)).unwrap()
}

#[test]
fn conditions_are_asked_with_fresh_texts_each_time() {
    let condition =
        |name: &str, text: &str| format!(r#"<stringProp name="{name}">{text}</stringProp>"#);
    let inner = controller(
        "IfController",
        &format!(
            r#"{}<boolProp name="IfController.evaluateAll">true</boolProp><boolProp name="IfController.useExpression">true</boolProp>"#,
            condition("IfController.condition", "${inner}")
        ),
        &format!("{}{}", sampler("a"), sampler("b")),
    );
    let body = controller(
        "WhileController",
        &condition("WhileController.condition", "${outer}"),
        &format!("{inner}{}", sampler("c")),
    );
    let mut plan = plan(1, 1, &body);
    plan.hosted.texts.extend(["outer".into(), "inner".into()]);
    let outer = find(&plan, |kind| matches!(kind, ControllerKind::While(_)));
    plan.controllers[outer].evaluates = TextRange { first: 0, count: 1 };
    let inner = find(&plan, |kind| matches!(kind, ControllerKind::If { .. }));
    plan.controllers[inner].evaluates = TextRange { first: 1, count: 1 };
    let asked: Arc<Mutex<[u32; 2]>> = Arc::default();
    let counts = Arc::clone(&asked);
    let machine = Machine::new(move |told| {
        let at = told.ids[0] as usize;
        let mut counts = counts.lock().unwrap();
        counts[at] += 1;
        // What the texts would be is put into the variables that these plans read. The outer one is asked at the start and at the
        // end of each pass, and ends at the end of the second; the inner one is not asked again once it is false.
        let holds = if at == 0 { counts[0] < 4 } else { counts[1] != 2 };
        let name = if at == 0 { "outer" } else { "inner" };
        Answer { texts: vec![String::new()], ..Answer::variable(name, &holds.to_string()) }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["a", "c", "a", "b", "c"], "{:?}", machine.seen());
    // Before a, before b (false), before a, before b, and behind b.
    assert_eq!(*asked.lock().unwrap(), [4, 5]);
}

#[test]
fn elements_are_told_of_iterations_before_anything_else() {
    let mut plan = plan(1, 2, &sampler("${it}"));
    let config = host(&mut plan, Role::Config, Reads::empty());
    plan.hosted.iterating.push(config);
    let machine = Machine::new(|told| {
        assert!(told.first);
        Answer::variable("it", &format!("i{}", told.iteration)).to(told)
    });
    let outcome = run(plan, &machine);
    // A third begins and finds that the loop is over only where JMeter's does.
    assert_eq!(outcome.labels(), ["i1", "i2"]);
    assert!(machine.seen().iter().filter(|what| *what == "job 17 [0]").count() >= 2);
}

#[test]
fn the_sample_before_is_told_where_it_is_read() {
    let mut plan = plan(1, 1, &format!("{}{}", sampler("one"), sampler("two")));
    let before = host(&mut plan, Role::Before, Reads::RESULT);
    plan.hosted.keeps_previous = true;
    for sampler in &mut plan.samplers {
        sampler.before.push(Before::Job(Job::Run(before)));
    }
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let heard = Arc::clone(&seen);
    let machine = Machine::new(move |told| {
        let found = told.result.as_ref().map(|result| result.0.clone());
        heard.lock().unwrap().push((told.sample, found));
        Answer::default().to(told)
    });
    run(plan, &machine);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].1, None);
    assert_eq!(seen[1].1.as_deref(), Some("one"));
    assert_ne!(seen[0].0, seen[1].0);
}

#[test]
fn listeners_hear_of_transactions_and_assertions_of_them_are_asked() {
    let body = controller(
        "TransactionController",
        r#"<boolProp name="TransactionController.parent">true</boolProp>"#,
        &sampler("part"),
    );
    let mut plan = plan(1, 2, &body);
    let listener = host(&mut plan, Role::Listener, Reads::RESULT);
    let check = host(&mut plan, Role::Assertion, Reads::RESULT);
    plan.listeners.push(Listener { name: "l".into(), kind: ListenerKind::Hosted(listener) });
    plan.samplers[0].listeners.push(ListenerId(0));
    let at = find(&plan, |kind| matches!(kind, ControllerKind::Transaction(_)));
    let ControllerKind::Transaction(transaction) = &mut plan.controllers[at].kind else {
        unreachable!()
    };
    transaction.listeners.push(ListenerId(0));
    transaction.checks.push(Assertion::hosted(Job::Run(check)));
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let heard = Arc::clone(&seen);
    let machine = Machine::new(move |told| {
        heard.lock().unwrap().push((told.act, told.result.clone().unwrap()));
        let verdict = ("check".into(), true, false, Some("bad".into()));
        Answer { verdicts: vec![verdict], ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    let transactions: Vec<_> = outcome.rows.iter().filter(|row| row[0] != "part").collect();
    assert_eq!(transactions.len(), 2, "{:?}", outcome.rows);
    for row in transactions {
        assert_eq!((&*row[3], &*row[4]), ("false", "bad"));
    }
    // The part is not told of: its listener hears of the whole.
    for (_, (label, ..)) in seen.lock().unwrap().iter() {
        assert_eq!(label, "TransactionController");
    }
    let count = |act: u8| seen.lock().unwrap().iter().filter(|(one, _)| *one == act).count();
    assert_eq!([5, 6].map(count), [2, 2]);
}

/// Answers every request with what it was: its first line, body and some headers. Gives them to `seen`.
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
fn a_request_is_what_scripts_leave_of_it_once() {
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let port = serve(Arc::clone(&requests));
    let body = format!(
        r#"<CookieManager testclass="CookieManager" testname="cookies" enabled="true"><collectionProp name="CookieManager.cookies"/></CookieManager><hashTree/>
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="get" enabled="true"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">/plan</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>"#
    );
    let mut plan = plan(1, 2, &body);
    let before = host(&mut plan, Role::Before, Reads::SAMPLER | Reads::COOKIES);
    let element = host(&mut plan, Role::Config, Reads::empty());
    plan.hosted.owners.push(plan::hosted::Owner {
        sampler: SamplerId(0),
        element,
        configs: Vec::new(),
        asks_for_headers: false,
    });
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    let machine = Machine::new(move |told| {
        assert_eq!(told.sampler, Some(0));
        let first = told.iteration == 1;
        let cookies = told.cookies.clone().expect("there is a manager");
        if !first {
            assert_eq!(cookies, [("own".to_string(), "made".to_string())]);
        }
        Answer {
            request: first.then(|| request(port, "/script", "a=b&c", ("X-Own", "1"), None)),
            cookies: first.then(|| vec![["own", "made", "127.0.0.1"].map(String::from)]),
            ..Answer::default()
        }
        .to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["get", "get"]);
    let requests = requests.lock().unwrap();
    assert!(requests[0].starts_with("POST /script HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[0].contains("X-Own: 1\r\n") && requests[0].ends_with("\r\n\r\na=b&c"));
    assert!(requests[1].starts_with("GET /plan HTTP/1.1\r\n"), "{requests:?}");
    for request in requests.iter() {
        assert!(request.contains("Cookie: own=made\r\n"), "{request}");
    }
}

#[test]
fn properties_go_both_ways() {
    let mut plan =
        plan(1, 2, &sampler("${__setProperty(native,n${__threadNum},)}${__P(java,unset)}"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    let after = host(&mut plan, Role::After, Reads::empty());
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    plan.samplers[0].after.push(Extractor::Job(Job::Run(after)));
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let heard = Arc::clone(&seen);
    let machine = Machine::new(move |told| {
        heard.lock().unwrap().push((told.act, told.properties.clone()));
        let properties = match (told.act, told.iteration) {
            (4, 1) => vec![("java".into(), Some("set".into())), ("native".into(), None)],
            _ => Vec::new(),
        };
        Answer { properties, ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["unset", "set"]);
    let written = vec![("native".to_string(), Some("n1".to_string()))];
    let seen = seen.lock().unwrap();
    // The name is evaluated before the first job and when the sampler starts; what it wrote is told each time that it is written.
    let each = [(1, written.clone()), (4, written.clone()), (1, written.clone()), (4, written)];
    assert_eq!(*seen, each);
}

#[test]
fn a_job_that_runs_already_is_told_of_properties() {
    let mut plan = plan(2, 1, &sampler("${__setProperty(native,n${__threadNum},)}s"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    let seen: Arc<OnceLock<machine::Seen>> = Arc::default();
    let all = Arc::clone(&seen);
    let news = r#"properties [("native", Some("n2"))]"#;
    let machine = Machine::new(move |told| {
        // The first user's job does not end before it has heard of what the second has set.
        let heard = || all.wait().lock().unwrap().iter().any(|one| one == news);
        while told.number == 0 && !heard() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Answer::default().to(told)
    });
    seen.set(Arc::clone(&machine.seen)).unwrap();
    assert_eq!(run(plan, &machine).labels(), ["s", "s"]);
    let told = machine.seen().into_iter().filter(|one| one.starts_with("properties"));
    let told: Vec<_> = told.collect();
    assert_eq!(told.first().map(String::as_str), Some(news), "{told:?}");
    // Names are evaluated again when samplers start: the second user's job may hear of the first one's.
    let other = news.replace("n2", "n1");
    assert!(told.iter().all(|one| one == news || *one == other), "of nothing else: {told:?}");
}

#[test]
fn a_sample_timeout_interrupts_samplers_in_java() {
    let mut plan = plan(
        1,
        1,
        &format!(
            r#"<SampleTimeout testclass="SampleTimeout" testname="limit" enabled="true"><stringProp name="InterruptTimer.timeout">1</stringProp></SampleTimeout><hashTree/>{}"#,
            sampler("s")
        ),
    );
    let id = host(&mut plan, Role::Sampler, Reads::empty());
    plan.samplers[0].kind = SamplerKind::Hosted(id);
    plan.samplers[0].timeouts = (0..plan.timeouts.len() as u32).collect();
    let (interrupted, wait) = channel();
    let wait = Mutex::new(wait);
    let machine = Machine::starting(started(&[]), Some(interrupted), move |told| {
        let user = wait.lock().unwrap().recv().expect("it is interrupted");
        assert_eq!(user, told.user);
        Answer { result: Some(result("s", "interrupted", false, 1)), ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.rows[0][1], "interrupted");
}

#[test]
fn a_reply_for_a_user_that_is_gone_changes_properties_alone() {
    let mut plan = plan(2, 1, &sampler("s"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    let (begun, begins) = channel();
    let begun = Mutex::new(begun);
    let (interrupted, wait) = channel();
    let wait = Mutex::new(wait);
    let machine = Machine::starting(started(&[]), Some(interrupted), move |told| {
        begun.lock().unwrap().send(()).unwrap();
        let _ = wait.lock().unwrap().recv();
        Answer { ask: 5, log: vec!["late".into()], ..Answer::variable("v", "x") }.to(told)
    });
    let mut stopped = false;
    let outcome = run_with(plan, &machine, |run| {
        if !stopped && begins.try_recv().is_ok() {
            run.stop_now();
            stopped = true;
        }
    });
    assert_eq!((outcome.rows.len(), outcome.cut), (0, 0));
}

#[test]
fn lanes_have_jobs_of_their_own() {
    let parallel = controller(
        "com.blazemeter.jmeter.controller.ParallelSampler",
        "",
        &format!("{}{}", sampler("one"), sampler("two")),
    );
    let mut plan = plan(1, 1, &parallel);
    let before = host(&mut plan, Role::Before, Reads::empty());
    for sampler in &mut plan.samplers {
        if matches!(sampler.kind, SamplerKind::Debug(_)) {
            sampler.before.push(Before::Job(Job::Run(before)));
        }
    }
    // Neither is answered before both are asked.
    let (arrived, arrivals) = channel();
    let (arrived, arrivals) = (Mutex::new(arrived), Mutex::new(arrivals));
    let machine = Machine::new(move |told| {
        arrived.lock().unwrap().send(()).unwrap();
        let both = arrivals.lock().unwrap();
        both.recv().unwrap();
        drop(both);
        Answer::variable(&told.label, "ran").to(told)
    });
    let outcome = run(plan, &machine);
    let mut labels = outcome.labels();
    labels.sort_unstable();
    assert!(labels.contains(&"one") && labels.contains(&"two"), "{labels:?}");
    assert_eq!(machine.seen().iter().filter(|what| *what == "bye").count(), 2);
}

#[test]
fn texts_of_the_plan_are_evaluated_before_the_run_in_their_order() {
    let variables = |name: &str| {
        format!(
            r#"<Arguments testclass="Arguments" testname="v" enabled="true"><collectionProp name="Arguments.arguments"><elementProp name="{name}" elementType="Argument">
<stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">value</stringProp></elementProp></collectionProp></Arguments><hashTree/>"#
        )
    };
    let mut plan = plan(1, 1, &sampler("s"));
    let of = |name: &str| {
        let mut other =
            self::plan(1, 1, &format!("{}{}", variables(name), sampler("${first}${second}")));
        other.variables.pop().unwrap()
    };
    // Each block is preceded by a text of its own.
    let blocks = [of("first"), of("second")];
    for block in blocks {
        let block = block.into_iter().map(|(_, text)| (plan.names.intern("first"), text));
        plan.variables.push(block.collect());
    }
    let range = |first| TextRange { first, count: 1 };
    plan.hosted.texts.extend(["a".into(), "b".into(), "c".into()]);
    let before = plan.variables.len() - 2;
    plan.hosted.variables = vec![TextRange::default(); before];
    plan.hosted.variables.extend([range(0), range(1)]);
    plan.hosted.at_start.push(plan::hosted::TextId(2));
    let machine = Machine::new(|told| {
        assert_eq!((told.user, told.variables.contains_key("first")), (0, told.ids[0] > 0));
        let properties = vec![("p".into(), Some("q".into()))];
        Answer { texts: vec!["t".into()], properties, ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.log, Vec::<String>::new());
    let jobs = ["setup", "job 16 [0]", "job 16 [1]", "job 16 [2]", "setup", "start", "end"];
    assert_eq!(machine.seen(), jobs);
}

/// Whether a line of the log is about a user's start or end.
fn is_of_users(line: &str) -> bool {
    line.starts_with("Info: org.apache.jmeter.threads.JMeterThread")
}
