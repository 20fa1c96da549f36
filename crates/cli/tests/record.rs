//! The record in a run's folder, as the program writes it: of a run that ended, after a kill, from several processes.

mod program;

use std::time::{Duration, Instant};

use program::Program;
use record::kept::Why;
use record::{ClassName, Ending, Record};

const NEVER: Duration = Duration::from_secs(60);

/// Requests to the target on 127.0.0.1, and a page that is not there.
const ASKING: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">${__P(loops,20)}</stringProp></elementProp>
  <stringProp name="ThreadGroup.num_threads">${__P(users,4)}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
</ThreadGroup><hashTree>
  <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="${__P(label,Ask)}" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">${__P(path,/x)}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
  </HTTPSamplerProxy><hashTree/>
  <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Nobody" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">1</stringProp>
    <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
  </HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

fn read(program: &Program) -> Record {
    Record::read(&program.run_folder()).expect("a record")
}

/// Runs the plan against a target of its own.
fn asked(more: &[&str]) -> (Program, Record) {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let program = Program::new();
    program.write("asking.jmx", ASKING);
    let port = format!("-Jport={}", target.addr().port());
    let mut line = vec!["run", "asking.jmx", "--runs", "runs", &port];
    line.extend(more);
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    let record = read(&program);
    (program, record)
}

/// Samples and errors of a label in the whole record, and the sum of its phases without lateness and lag.
fn sums(record: &Record, name: &str) -> (u64, u64, u64, u64) {
    let number = record.labels.iter().position(|label| &*label.name == name).expect("the label");
    let parts = record.seconds.iter().flat_map(|second| &second.labels);
    parts.filter(|part| part.0 as usize == number).fold((0, 0, 0, 0), |sum, (_, part)| {
        let p = &part.phases;
        let spent = p.room + p.dns + p.connect + p.tls + p.send + p.wait + p.receive;
        (sum.0 + part.count, sum.1 + part.errors, sum.2 + part.elapsed, sum.3 + spent)
    })
}

#[test]
fn a_run_is_recorded_by_second_label_cause_and_phase() {
    let (_program, record) = asked(&[]);
    assert_eq!(record.flaws, []);
    assert_eq!(record.frame.ending, Ending::Completed);
    assert_eq!((record.frame.load.users, &*record.frame.plan), (4, "asking.jmx"));
    assert!(record.frame.threads > 0 && record.frame.processors > 0 && record.frame.memory > 0);
    for (label, errors) in [("Ask", 0), ("Nobody", 80)] {
        let (count, failed, elapsed, spent) = sums(&record, label);
        assert_eq!((count, failed), (80, errors), "{label}");
        // Whole microseconds of each phase and second.
        let least = elapsed - 7000 * record.seconds.len() as u64;
        assert!(spent <= elapsed && spent >= least, "{label}: {spent} of {elapsed} ns");
    }
    let all = |of: fn(&record::Part) -> u64| -> u64 {
        record.seconds.iter().map(|second| of(&second.all)).sum()
    };
    assert_eq!((all(|part| part.count), all(|part| part.errors)), (160, 80));
    assert_eq!((all(|part| part.failed.total()), all(|part| part.service.total())), (80, 160));
    assert_eq!(all(|part| part.slots.iter().map(|n| u64::from(*n)).sum()), 160);
    let causes: u64 = record.seconds.iter().flat_map(|second| &second.causes).map(|c| c.1).sum();
    assert_eq!((causes, record.causes.len()), (80, 1));
    assert_eq!(&*record.causes[0].first_label, "Nobody");
    let last = record.seconds.last().expect("seconds");
    assert!(last.machine.is_some() && last.started == 4, "{last:?}");
}

#[test]
fn a_killed_run_is_there_up_to_its_last_second() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "--runs", "runs", "-Jusers=3", "-Jloops=-1", "-Jms=20"];
    let mut child = program.start(&line);
    let since = Instant::now();
    let lines = || {
        let folder = std::fs::read_dir(program.path("runs")).ok()?.flatten().next()?.path();
        let text = std::fs::read_to_string(folder.join("seconds.jsonl")).ok()?;
        Some(text.lines().count())
    };
    while lines().unwrap_or(0) < 3 {
        assert!(since.elapsed() < NEVER);
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let told = lines().expect("seconds");
    let record = read(&program);
    // A second is in the record right after its line.
    assert!(record.seconds.len() + 1 >= told, "{} of {told}", record.seconds.len());
    assert_eq!(record.frame.ending, Ending::Unknown);
    assert!(record.frame.length_ms > 1500, "{:?}", record.frame);
    assert!(record.seconds.iter().map(|second| second.all.count).sum::<u64>() > 100);
    assert_eq!(record.labels.len(), 1);
}

#[test]
fn several_processes_record_what_one_does() {
    let facts = |record: &Record| {
        let labels: Vec<_> = ["Ask", "Nobody"].map(|name| sums(record, name)).into();
        let mut causes: Vec<_> = record.causes.iter().map(|cause| cause.message.clone()).collect();
        causes.sort();
        (labels.iter().map(|sum| (sum.0, sum.1)).collect::<Vec<_>>(), causes, record.has)
    };
    let (_one, one) = asked(&["-Jloops=60"]);
    let (_three, three) = asked(&["-Jloops=60", "--workers", "3"]);
    assert_eq!(facts(&one), facts(&three));
    assert_eq!(three.seconds.last().map(|second| second.generator.workers > 0), Some(true));
    let slots: u32 = three.seconds.iter().flat_map(|second| second.all.slots).sum();
    assert_eq!(slots, 480);
}

#[test]
fn exchanges_are_told_apart_by_address_and_header_and_some_are_kept() {
    let (_program, record) = asked(&["-Jthrong.record.header=content-length"]);
    let classes = record.seconds.iter().flat_map(|second| &second.classes);
    let count = |name: &str| -> (u64, u64, u64) {
        let is = |class: &ClassName| match class {
            ClassName::Address(address) => address.ends_with(name),
            ClassName::Header { value, .. } => &**value == name,
        };
        let of = classes.clone().filter(|class| is(&record.classes[class.0 as usize]));
        of.fold((0, 0, 0), |sum, (_, class)| {
            (sum.0 + class.count, sum.1 + class.errors, sum.2 + class.opened)
        })
    };
    assert_eq!(count("127.0.0.1:1"), (80, 80, 0));
    let all: u64 = classes.clone().map(|class| class.1.count).sum();
    let header = record.classes.iter().find_map(|class| match class {
        ClassName::Header { value, .. } => Some(value.to_string()),
        ClassName::Address(_) => None,
    });
    assert_eq!(count(&header.expect("a header")).0, 80);
    assert_eq!(all, 240, "80 to each address, and 80 with the header");
    let connects: u64 = record.seconds.iter().map(|second| second.connect.total()).sum();
    assert!(connects >= 4, "{connects}");
    assert!(record.has.classes && record.has.kept);
    let errors: Vec<_> = record.kept.iter().filter(|kept| kept.why == Why::Error).collect();
    assert_eq!(errors.len(), 5, "the first of the only cause");
    assert!(errors.iter().all(|kept| kept.cause == Some(0) && &*kept.address == "127.0.0.1:1"));
    let name = |kept: &record::Kept| record.labels[kept.label as usize].name.to_string();
    let slow: std::collections::BTreeSet<_> =
        record.kept.iter().filter(|kept| kept.why == Why::Slow).map(name).collect();
    assert_eq!(slow.len(), 2, "of each label: {slow:?}");
    assert!(record.kept.iter().any(|kept| kept.why == Why::Random));
}

#[test]
fn secrets_are_not_kept() {
    let (program, record) = asked(&["-l", "out.jtl", "-Jpath=/x?token=opensesame&a=1"]);
    let requests: Vec<_> = record.kept.iter().map(|kept| &*kept.request).collect();
    assert!(requests.iter().any(|text| text.contains("token=***&a=1")), "{requests:?}");
    let bytes = std::fs::read(program.run_folder().join("record")).expect("the file");
    assert!(
        Record::of_bytes(&bytes)
            .is_some_and(|record| !format!("{record:?}").contains("opensesame"))
    );
}
