//! Runs of the real program: their output, their files and their exit codes.

mod program;

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use program::{Program, ended};

/// Waits until the condition holds; fails the test after one minute.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, signal).expect("it lives");
}

fn seconds(program: &Program) -> Vec<serde_json::Value> {
    let Ok(runs) = std::fs::read_dir(program.path("runs")) else { return Vec::new() };
    let file = runs.flatten().next().map(|run| run.path().join("seconds.jsonl"));
    let text = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("complete lines")).collect()
}

#[test]
fn jmeters_command_line_prints_jmeters_lines_and_writes_rows() {
    let program = Program::new();
    let ended = program.run(&["-n", "-t", "plan.jmx", "-l", "out.jtl", "-Jusers=3", "-Jloops=4"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines = [
        "Creating summariser <summary>",
        "Created the tree successfully using plan.jmx",
        "Starting standalone test @ ",
        "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port ",
        "summary =     12 in 00:00:0",
        "Tidying up ...    @ ",
        "... end of run",
    ];
    let mut rest = ended.out.as_str();
    for line in lines {
        let at = rest
            .find(line)
            .unwrap_or_else(|| panic!("{line:?} is missing or out of order: {ended:?}"));
        rest = &rest[at + line.len()..];
    }
    let rows = program.read("out.jtl");
    assert_eq!(rows.lines().count(), 13, "{rows}");
    assert!(rows.starts_with("timeStamp,elapsed,label,"), "{rows}");
    assert_eq!(rows.lines().skip(1).filter(|row| row.contains(",Sleep,")).count(), 12, "{rows}");
}

#[test]
fn the_folder_holds_everything() {
    let program = Program::new();
    let ended = program.run(&["run", "plan.jmx", "--jtl", "-Jloops=2", "-Dsome=thing"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let folder = program.run_folder();
    assert!(folder.to_string_lossy().ends_with("-plan"), "{folder:?}");
    let read = |name: &str| {
        std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    assert_eq!(read("plan.jmx"), program::PLAN);
    assert!(read("properties.txt").contains("loops=2\n"));
    assert_eq!(read("results.jtl").lines().count(), 3);
    assert!(read("throng.log").contains(" INFO org.apache.jmeter.reporters.Summariser: summary ="));
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).expect("JSON");
    assert_eq!((summary["requests"].as_u64(), summary["failed"].as_u64()), (Some(2), Some(0)));
    assert!(read("summary.txt").contains("Sleep"));
    let samples: u64 =
        seconds(&program).iter().map(|second| second["samples"].as_u64().unwrap()).sum();
    assert_eq!(samples, 2);
}

#[test]
fn the_demo_runs_its_plan_against_its_target() {
    let program = Program::new();
    let few = ["-Jalone=0", "-Jusers=2", "-Jrampup=0", "-Jloops=1", "--json"];
    let ended = program.run(&[&["demo", "fitness"], &few[..]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let summary: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(
        (summary["requests"].as_u64(), summary["failed"].as_u64()),
        (Some(2), Some(0)),
        "{ended:?}"
    );
    let least = summary["service"]["p50"].as_f64().unwrap();
    assert!(least >= 99.0, "the target sleeps 100 ms at least: {least}");
    // The load of this machine comes first, then the plan.
    // On a machine without quiet processors, the load may not be measurable.
    let own = ["This machine: ", "The load that this machine makes was not measured: "];
    let own = own.iter().find_map(|words| ended.err.find(words)).expect("a measurement");
    let jmeter = ended.err.find("JMeter, measured elsewhere: ").expect("JMeter's figure");
    let run = ended.err.find("summary").expect("the plan's run");
    assert!(own < jmeter && jmeter < run, "{}", ended.err);
    assert!(ended.err.starts_with("The first 3 s measure how much load"), "{}", ended.err);
}

#[test]
fn json_leaves_standard_output_to_the_summary() {
    let program = Program::new();
    let ended = program.run(&["run", "plan.jmx", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let summary: serde_json::Value = serde_json::from_str(&ended.out).expect("nothing but JSON");
    assert_eq!(summary["requests"].as_u64(), Some(1));
    assert!(ended.err.contains("... end of run"), "{ended:?}");
}

#[test]
fn rows_are_appended_and_f_starts_anew() {
    let program = Program::new();
    let rows = || program.read("out.jtl").lines().count();
    program.run(&["-n", "-t", "plan.jmx", "-l", "out.jtl"]);
    assert_eq!(rows(), 2);
    program.run(&["-n", "-t", "plan.jmx", "-l", "out.jtl"]);
    assert_eq!(rows(), 3);
    program.run(&["-n", "-f", "-t", "plan.jmx", "-l", "out.jtl"]);
    assert_eq!(rows(), 2);
}

#[test]
fn rows_with_other_variables_than_the_file_are_told_and_read() {
    let program = Program::new();
    let first = program.run(&["-n", "-t", "plan.jmx", "-l", "out.jtl"]);
    let second = program.run(&["-n", "-t", "plan.jmx", "-l", "out.jtl"]);
    assert!(![&first, &second].iter().any(|run| run.err.contains("already has rows")));
    let line = ["-n", "-t", "plan.jmx", "-l", "out.jtl", "-Jsample_variables=a,b"];
    let third = program.run(&line);
    let words = "out.jtl already has rows, and the heading of the file has other columns: the rows of this run also have a, b";
    assert!(third.err.contains(words), "{third:?}");
    let verdict = program.run(&["verdict", "out.jtl", "--json"]);
    let data: serde_json::Value = serde_json::from_str(&verdict.out).expect("JSON");
    assert_eq!((&data["read"]["requests"], &data["losses"]), (&3.into(), &serde_json::json!([])));
}

#[test]
fn each_result_file_is_told_that_has_other_columns_than_its_new_rows() {
    let program = Program::new();
    let listener = |name: &str, file: &str| {
        format!(
            r#"<ResultCollector guiclass="{name}" testclass="ResultCollector" testname="{name}" enabled="true">
        <objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><time>true</time><label>true</label><success>true</success><fieldNames>true</fieldNames></value></objProp>
        <stringProp name="filename">{file}</stringProp></ResultCollector><hashTree/>"#
        )
    };
    let listeners =
        [listener("SimpleDataWriter", "a.csv"), listener("StatVisualizer", "${__P(made,b.csv)}")];
    program.write("listener.jmx", &program::PLAN.replace("<!--more-->", &listeners.concat()));
    let words = |file: &str, how: &str| {
        let other =
            "already has rows, and the heading of the file has other columns: the rows of this run";
        format!(
            "{file} {other} do not have timeStamp; name another file, or delete this one{how}\n"
        )
    };
    for verb in [&["run", "listener.jmx"][..], &["-n", "-t", "listener.jmx"]] {
        for file in ["a.csv", "b.csv"] {
            program.write(file, "timeStamp,elapsed,label,success\n1,2,x,true\n");
        }
        let ended = program.run(verb);
        let says = |file: &str, how: &str| ended.err.contains(&words(file, how));
        assert!(says("a.csv", " with -f") && says("b.csv", ""), "{ended:?}");
        // The run prints no warning for a file with the same columns.
        program.write("a.csv", "elapsed,label,success\n1,x,true\n");
        let ended = program.run(&[verb, &["-Jmade=c.csv"]].concat());
        assert!(!ended.err.contains("already has rows"), "{ended:?}");
    }
    // Two listeners of one plan have one new file.
    let other = listener("Other", "new.csv").replace("<success>true</success>", "");
    let both = [listener("SimpleDataWriter", "new.csv"), listener("StatVisualizer", "new.csv")];
    for (more, is_told) in [(String::new(), false), (other, true)] {
        let plan = program::PLAN.replace("<!--more-->", &(both.concat() + &more));
        program.write("listener.jmx", &plan);
        let ended = program.run(&["run", "listener.jmx", "-f"]);
        let words = "new.csv: two listeners write rows with different columns into it: the rows of the second do not have success; give one of them another file";
        assert_eq!(ended.err.contains(words), is_told, "{ended:?}");
    }
}

#[test]
fn f_deletes_the_files_of_the_plans_listeners_too() {
    let program = Program::new();
    let listener = r#"<ResultCollector guiclass="SimpleDataWriter" testclass="ResultCollector" testname="Rows" enabled="true">
        <objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><time>true</time><label>true</label><fieldNames>true</fieldNames></value></objProp>
        <stringProp name="filename">listener.csv</stringProp></ResultCollector><hashTree/>"#;
    program.write("listener.jmx", &program::PLAN.replace("<!--more-->", listener));
    let rows = || program.read("listener.csv").lines().count();
    let first = program.run(&["-n", "-t", "listener.jmx"]);
    assert_eq!((first.code, rows()), (0, 2), "{first:?}");
    program.run(&["-n", "-t", "listener.jmx"]);
    assert_eq!(rows(), 3);
    program.run(&["-nf", "-t", "listener.jmx"]);
    assert_eq!(rows(), 2);
}

#[test]
fn lines_of_the_plan_go_to_the_log() {
    let program = Program::new();
    program.write(
        "log.jmx",
        &program::PLAN
            .replace("testname=\"Sleep\"", "testname=\"${__log(hello from the plan,WARN)}\""),
    );
    let ended = program.run(&["run", "log.jmx", "-j", "my.log"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let log = program.read("my.log");
    assert!(
        log.contains(" WARN org.apache.jmeter.functions.LogFunction: Users 1-1 ")
            && log.contains("hello from the plan"),
        "{log}"
    );
    assert!(!ended.err.contains("hello"), "{ended:?}");
}

#[test]
fn a_plan_with_what_cannot_run_is_refused_and_skipped_on_demand() {
    let program = Program::new();
    program.write(
        "markov.jmx",
        &program::PLAN.replace(
            "<!--more-->",
            "<net.voorn.markov4jmeter.control.ApplicationState testname=\"Upload\"/><hashTree/>",
        ),
    );
    let refused = program.run(&["-n", "-t", "markov.jmx"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(
        refused.err.contains("Users > Upload [net.voorn.markov4jmeter.control.ApplicationState]"),
        "{refused:?}"
    );
    assert!(!program.path("runs").exists());
    let skipped = program.run(&["run", "markov.jmx", "--skip-unsupported"]);
    assert_eq!(skipped.code, 0, "{skipped:?}");
    assert!(
        skipped.err.contains("left out")
            && skipped
                .err
                .contains("Users > Upload [net.voorn.markov4jmeter.control.ApplicationState]"),
        "{skipped:?}"
    );
}

/// Returns a plan with two users, three iterations and one sampler with these child elements.
fn below_a_sampler(elements: &str) -> String {
    let plan = r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="g"><stringProp name="ThreadGroup.num_threads">2</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">3</intProp></elementProp></ThreadGroup><hashTree>
<JavaSampler guiclass="JavaTestSamplerGui" testclass="JavaSampler" testname="s"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"/></elementProp>
<stringProp name="classname">org.apache.jmeter.protocol.java.test.JavaTest</stringProp></JavaSampler><hashTree>ELEMENTS</hashTree></hashTree></hashTree></hashTree></jmeterTestPlan>"#;
    plan.replace("ELEMENTS", elements)
}

#[test]
fn an_extractor_that_throws_in_jmeter_is_told_by_check_and_in_the_log() {
    let extractors = [
        (
            "BoundaryExtractor",
            r#"<stringProp name="BoundaryExtractor.lboundary">a</stringProp>"#,
            "has no reference name",
        ),
        (
            "JSONPostProcessor",
            r#"<stringProp name="JSONPostProcessor.referenceNames">a</stringProp><stringProp name="JSONPostProcessor.jsonPathExprs">$.a</stringProp>
            <stringProp name="JSONPostProcessor.defaultValues">d</stringProp><stringProp name="JSONPostProcessor.match_numbers">1;2</stringProp>"#,
            "1 name, 1 path, 1 default and 2 match numbers",
        ),
        (
            "JMESPathExtractor",
            r#"<stringProp name="JMESExtractor.referenceName">a</stringProp><stringProp name="JMESExtractor.jmesPathExpr">a</stringProp>
            <stringProp name="JMESExtractor.matchNumber">first</stringProp>"#,
            "'first', is not a number",
        ),
    ];
    for (class, props, words) in extractors {
        let element = format!(
            r#"<{class} guiclass="G" testclass="{class}" testname="takes">{props}</{class}><hashTree/>"#
        );
        let program = Program::new();
        program.write("plan.jmx", &below_a_sampler(&element));
        let checked = program.run(&["check", "plan.jmx"]);
        let said = checked.out + &checked.err;
        assert!(said.contains(words) && said.contains("the sample is lost"), "{class}: {said}");
        let ended = program.run(&["-n", "-t", "plan.jmx", "-l", "rows.jtl", "-j", "run.log"]);
        assert_eq!(ended.code, 0, "{class}: {}", ended.err);
        assert_eq!(program.read("rows.jtl").lines().count(), 1, "{class}");
        let log = program.read("run.log");
        // Each core that runs the extractor logs the message once.
        let told = log.lines().filter(|line| line.contains(words)).count();
        assert!((1..=2).contains(&told), "{class}: {log}");
    }
}

#[test]
fn properties_without_effect_are_named() {
    let program = Program::new();
    let ended =
        program.run(&["run", "plan.jmx", "-Jloops=1", "-Jlops=2", "-Jsummariser.interval=6"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let words = "the plan reads no property lops (-J): did you mean loops?";
    assert!(ended.err.contains(words) && !ended.err.contains("summariser"), "{ended:?}");
}

#[test]
fn a_property_that_only_a_variable_has_as_its_name_is_named() {
    let program = Program::new();
    let variable = r#"<Arguments guiclass="ArgumentsPanel" testclass="Arguments" testname="V"><collectionProp name="Arguments.arguments">
    <elementProp name="pause" elementType="Argument"><stringProp name="Argument.name">pause</stringProp><stringProp name="Argument.value">3</stringProp></elementProp>
    </collectionProp></Arguments><hashTree/>"#;
    let plan = program::PLAN.replace("${__P(ms,1)}", "${pause}");
    program.write("plan.jmx", &plan.replace("<!--more-->", variable));
    let line = ["plan.jmx", "-Jpause=9", "-Jpuase=9", "-Jfruit=x", "-Jcolour=y", "-Jusers=1"];
    for verb in ["check", "run"] {
        let ended = program.run(&[&[verb], &line[..]].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        for words in [
            "the plan reads no property pause (-J), only the variable pause: write ${__P(pause)}",
            "the plan reads no property puase (-J): did you mean pause? It is a variable",
            "the properties colour (-J), fruit (-J) have no effect",
        ] {
            assert!(ended.err.contains(words), "{words}: {ended:?}");
        }
        assert!(!ended.err.contains("users"), "{ended:?}");
    }
    let known = ["-Jjmeter.own.thing=1", "-Jgui.quick_1=x", "-Jsummariser.interval=6"];
    let ended = program.run(&[&["run", "plan.jmx"], &known[..]].concat());
    assert!(!ended.err.contains("no effect") && !ended.err.contains("no property"), "{ended:?}");
}

#[test]
fn a_first_signal_ends_gracefully_with_130_and_whole_results() {
    for sent in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let program = Program::new();
        let child = program.start(&[
            "-n",
            "-t",
            "plan.jmx",
            "-l",
            "out.jtl",
            "-Jloops=-1",
            "-Jms=50",
            "-Jusers=2",
        ]);
        until("a second of samples", || !seconds(&program).is_empty());
        signal(&child, sent);
        let ended = ended(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 130, "{ended:?}");
        assert!(ended.out.contains("... end of run"), "{ended:?}");
        let rows = program.read("out.jtl");
        assert!(
            rows.ends_with('\n') && rows.lines().skip(1).all(|row| row.contains(",true,")),
            "{rows}"
        );
        let summary =
            std::fs::read_to_string(program.run_folder().join("summary.json")).expect("a summary");
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["requests"].as_u64(), Some(rows.lines().count() as u64 - 1));
        assert_eq!(summary["failed"].as_u64(), Some(0));
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    let program = Program::new();
    let started = Instant::now();
    let child = program.start(&["-n", "-t", "plan.jmx", "-Jms=600000"]);
    until("the start", || !seconds(&program).is_empty());
    signal(&child, rustix::process::Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, rustix::process::Signal::INT);
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(started.elapsed() < Duration::from_secs(300), "it did not wait for the sample");
    assert!(program.run_folder().join("summary.json").exists());
}

#[test]
fn after_a_kill_the_seconds_so_far_are_readable() {
    let program = Program::new();
    let mut child = program.start(&["run", "plan.jmx", "-Jloops=-1", "-Jms=20"]);
    until("two seconds", || seconds(&program).len() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let seconds = seconds(&program);
    assert!(seconds.iter().all(|second| second["at_ms"].is_i64()), "{seconds:?}");
    assert!(seconds.iter().any(|second| second["samples"].as_u64() > Some(0)), "{seconds:?}");
    assert!(program.run_folder().join("plan.jmx").exists());
}

#[test]
fn a_full_disk_is_told_and_the_run_goes_on() {
    let program = Program::new();
    let ended = program.run(&["run", "plan.jmx", "-j", "/dev/full", "-Jloops=3"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.err.contains("cannot write the log") && ended.err.contains("No space"),
        "{ended:?}"
    );
    assert!(program.run_folder().join("summary.json").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_told_and_the_run_goes_on() {
    let program = Program::new();
    program.write("taken", "");
    let ended = program.run(&["run", "plan.jmx", "--runs", "taken", "-l", "out.jtl"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("cannot create the run's folder under taken"), "{ended:?}");
    assert!(ended.out.contains("\nVerdict\n"), "{ended:?}");
    assert!(ended.out.contains("Results: not saved: the run's folder could not"), "{ended:?}");
    assert_eq!(program.read("out.jtl").lines().count(), 2);
    let line = ["run", "plan.jmx", "--runs", "taken", "--markdown", "s.md", "--fail", "count > 5"];
    let ended = program.run(&line);
    assert!(ended.code == 4 && ended.out.contains("NOT MET"), "{ended:?}");
    assert!(program.read("s.md").contains("NOT MET") || program.read("s.md").contains("not met"));
    // `--jtl` writes its rows into the run's folder, which cannot be created here.
    let ended = program.run(&["run", "plan.jmx", "--runs", "taken", "--jtl"]);
    assert_eq!(ended.code, 9, "{ended:?}");
    assert!(ended.err.contains("lost: all rows"), "{ended:?}");
}

#[test]
fn the_verdict_of_a_run_needs_no_file() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "-Jloops=-1", "-Jms=20", "--fail", "p95 < 1h"];
    let child = program.start(&line);
    until("a second is recorded", || !seconds(&program).is_empty());
    let record = program.run_folder().join("record");
    until("the record has it", || record.metadata().is_ok_and(|about| about.len() > 0));
    std::fs::remove_file(&record).expect("the record is removed");
    signal(&child, rustix::process::Signal::INT);
    let ended = ended(child.wait_with_output().expect("the run ends"));
    assert!(ended.code == 130 && ended.out.contains("\nVerdict\n"), "{ended:?}");
    let folder = program.run_folder();
    let summary = std::fs::read_to_string(folder.join("summary.json")).expect("a summary");
    assert!(summary.contains("\"verdict\": {") && folder.join("report.html").exists());
}

#[test]
fn jmeters_control_port_ends_a_run() {
    for word in [&b"Shutdown"[..], b"StopTestNow"] {
        assert_eq!(ended_through_the_control_port(word), Some(0), "as JMeter");
    }
}

/// Runs an endless plan by JMeter's command line and sends commands to its control port, `word` last. Returns the exit
/// code.
fn ended_through_the_control_port(word: &[u8]) -> Option<i32> {
    let program = Program::new();
    let line = [
        "-n",
        "-t",
        "plan.jmx",
        "-Jloops=-1",
        "-Jms=20",
        "-Jjmeterengine.nongui.port=24450",
        "-Jjmeterengine.nongui.maxport=24550",
    ];
    let mut child = program.start(&line);
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let port = out
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| line.rsplit_once("on port ").map(|(_, port)| port.to_string()));
    let port: u16 = port.expect("the line about the port").parse().unwrap();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |word: &[u8]| socket.send_to(word, ("127.0.0.1", port)).unwrap();
    let mut said = |line: &str| out.by_ref().map_while(Result::ok).any(|other| other == line);
    send(b"ThreadDump");
    assert!(said("Command: ThreadDump received from /127.0.0.1"));
    assert!(said("ThreadDump: no Java machine runs, so there is nothing to dump"));
    send(b"Halt");
    assert!(said("Command: Halt not recognised "));
    send(word);
    assert!(said("... end of run"));
    child.wait().unwrap().code()
}

#[test]
fn a_plans_own_summariser_has_lines_of_its_own() {
    let program = Program::new();
    let own = r#"<Summariser testname="Mine" enabled="true"/><hashTree/><ThreadGroup "#;
    program.write("mine.jmx", &program::PLAN.replacen("<ThreadGroup ", own, 1));
    let ended = program.run(&["-n", "-t", "mine.jmx", "-Jloops=3"]);
    let summed =
        |name: &str| ended.out.lines().any(|l| l.starts_with(&format!("{name} =      3 in ")));
    assert!(summed("Mine") && summed("summary"), "{ended:?}");
}

/// After a kill, the XML file contains all rows that were written, each complete. Only the end tag is missing.
#[test]
fn an_xml_file_can_be_read_after_a_kill() {
    let program = Program::new();
    let xml = "-Jjmeter.save.saveservice.output_format=xml";
    let mut child = program.start(&["-n", "-t", "plan.jmx", "-Jloops=-1", "-l", "out.xml", xml]);
    let path = program.path("out.xml");
    let samples = |text: &str| text.matches("\n<sample ").count();
    let read = || std::fs::read_to_string(&path).unwrap_or_default();
    until("samples in the file", || samples(&read()) > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    let text = read();
    assert!(text.starts_with(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n"
    ));
    assert!(!text.contains("</testResults>"), "JMeter's file has its end tag at the end, too");
    let table = stats::jtl::read::Table::read(text.as_bytes(), &stats::jtl::Columns::default());
    let whole = samples(&text) - usize::from(!text.ends_with("/>\n"));
    assert_eq!(table.expect("a table").values("label").filter(|l| *l == "Sleep").count(), whole);
}

/// JMeter's process needs a minute to end after an Open Model Thread Group, so no parity case covers it.
#[test]
fn an_open_model_starts_users_by_its_schedule() {
    let program = Program::new();
    let group = r#"<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="Arrivals" enabled="true">
      <elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/>
      <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
      <stringProp name="OpenModelThreadGroup.schedule">rate(${__P(rate,0)}/s) even_arrivals(500 ms) pause(100 ms)</stringProp>
    </OpenModelThreadGroup>"#;
    let plan = program.read("plan.jmx");
    let begin = plan.find("<ThreadGroup ").expect("a group");
    let end = plan.find("</ThreadGroup>").expect("its end") + "</ThreadGroup>".len();
    program.write("open.jmx", &format!("{}{group}{}", &plan[..begin], &plan[end..]));
    let ended = program.run(&["-n", "-t", "open.jmx", "-l", "out.jtl", "-Jrate=20"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = program.read("out.jtl");
    let of = |user: u32| {
        rows.lines().filter(|row| row.contains(&format!(",Arrivals 1-{user},"))).count()
    };
    let each = of(1);
    assert!(each > 0 && (1..=10).all(|user| of(user) == each) && of(11) == 0, "{rows}");
    let wrong = program.run(&["-n", "-t", "open.jmx", "-l", "none.jtl", "-Jrate=x"]);
    assert!(
        (wrong.out + &wrong.err).contains("does not start: Unexpected input"),
        "{}",
        wrong.code
    );
}

#[test]
fn the_log_has_jmeters_lines_of_the_test_and_of_its_threads() {
    let program = Program::new();
    let run = |more: &[&str]| {
        let line = ["run", "plan.jmx", "-Jusers=3", "-Jloops=2", "-j", "run.log"];
        let ended = program.run(&[&line[..], more].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        program.read("run.log")
    };
    let log = run(&[]);
    for text in ["started", "finished"] {
        for user in 1..=3 {
            let line = format!(
                " INFO org.apache.jmeter.threads.JMeterThread: Thread {text}: Users 1-{user}\n"
            );
            assert_eq!(log.matches(&line).count(), 1, "{line}{log}");
        }
    }
    let engine = " INFO org.apache.jmeter.engine.StandardJMeterEngine: ";
    for text in ["Running the test!", "Notifying test listeners of end of test"] {
        assert!(log.contains(&format!("{engine}{text}\n")), "{text}: {log}");
    }
    assert!(!log.contains(" DEBUG "), "{log}");

    let sample = " DEBUG org.apache.jmeter.threads.JMeterThread: Users 1-1: Sleep: ok ";
    for level in ["-LDEBUG", "-Ljmeter.threads=DEBUG"] {
        let log = run(&[level]);
        assert_eq!(log.matches(sample).count(), 2, "{log}");
    }
    let short = run(&["-Jthrong.log.short_names=true", "-Jthrong.log.threads=1"]);
    assert_eq!(short.matches(" INFO o.a.j.t.JMeterThread: Thread started: ").count(), 1, "{short}");
    let workers = run(&["--workers", "2"]);
    assert_eq!(workers.matches("JMeterThread: Thread finished: Users 1-").count(), 3, "{workers}");
}

#[test]
fn the_summary_says_which_plan_ran_and_how_it_ended() {
    let summary = |more: &[&str], change: &dyn Fn(&Program)| {
        let program = Program::new();
        change(&program);
        program.run(&[&["run", "plan.jmx"], more].concat());
        let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
        serde_json::from_str::<serde_json::Value>(&text.expect("a summary")).expect("JSON")
    };
    let completed = summary(&[], &|_| {});
    assert_eq!(completed["schema"], "throng-summary/2");
    assert_eq!(
        (&completed["plan"], &completed["end"]["how"]),
        (&"plan.jmx".into(), &"completed".into())
    );
    assert_eq!(completed["throng"], env!("CARGO_PKG_VERSION"));
    let stops = |program: &Program| {
        let action = r#"<TestAction guiclass="TestActionGui" testclass="TestAction" testname="Stop">
            <intProp name="ActionProcessor.action">0</intProp>
            <intProp name="ActionProcessor.target">2</intProp></TestAction><hashTree/>"#;
        program.write("plan.jmx", &program.read("plan.jmx").replace("<!--more-->", action));
    };
    for more in [&["-Jloops=1000"][..], &["-Jloops=1000", "-Jusers=2", "--workers", "2"]] {
        assert_eq!(summary(more, &stops)["end"]["how"], "stopped by the plan", "{more:?}");
    }
}

/// A message carries its kind separately from its text, because an element may have any name.
#[test]
fn names_of_elements_say_nothing_of_the_kind_of_a_message() {
    for name in ["Lost", "Stdout", "Ended", "Error"] {
        let program = Program::new();
        let listener = format!(
            r#"<BackendListener testclass="BackendListener" testname="{name}" enabled="true">
<elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="influxdbUrl" elementType="Argument">
<stringProp name="Argument.name">influxdbUrl</stringProp><stringProp name="Argument.value">nowhere</stringProp></elementProp></collectionProp></elementProp>
<stringProp name="classname">org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient</stringProp></BackendListener><hashTree/>"#
        );
        program.write("plan.jmx", &program::PLAN.replace("<!--more-->", &listener));
        let ended = program.run(&["run", "plan.jmx"]);
        let said = format!("warning: {name}: no metrics will be sent: ");
        assert!(ended.err.contains(&said), "{name}: {ended:?}");
        assert!(!ended.out.contains("no metrics will be sent"), "{name}: {ended:?}");
        assert!(!ended.out.contains("the results are incomplete"), "{name}: {ended:?}");
    }
}

/// Returns the plan with these elements instead of its sampler.
fn plan_of(elements: &str) -> String {
    let (before, rest) = program::PLAN.split_once("<JavaSampler").expect("a sampler");
    let (_, after) = rest.split_once("<!--more-->").expect("a place");
    format!("{before}{elements}{after}")
}

#[test]
fn samples_without_a_connection_stop_a_run_where_it_is_asked_to() {
    let program = Program::new();
    let sampler = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Ask" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">1</stringProp>
    <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    </HTTPSamplerProxy><hashTree/>"#;
    program.write("plan.jmx", &plan_of(sampler));
    let line = ["run", "plan.jmx", "--cores", "1", "-Jloops=-1", "-l", "out.jtl"];
    let ended = program.run(&[&line[..], &["-Jthrong.stop.unconnected=40"]].concat());
    let words = "run stopped: 40 consecutive samples got no connection";
    assert!(ended.err.contains(words), "{ended:?}");
    assert!(program.read("out.jtl").lines().count() > 40, "{ended:?}");
}

#[test]
fn a_listener_whose_file_is_not_written_is_named() {
    let program = Program::new();
    let listener = r#"<kg.apc.jmeter.reporters.FlexibleFileWriter guiclass="kg.apc.jmeter.reporters.FlexibleFileWriterGui" testclass="kg.apc.jmeter.reporters.FlexibleFileWriter" testname="Figures" enabled="true">
    <stringProp name="filename">figures.txt</stringProp></kg.apc.jmeter.reporters.FlexibleFileWriter><hashTree/>"#;
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", listener));
    let ended = program.run(&["run", "plan.jmx"]);
    assert!(ended.err.contains("Figures: needs its plug-in to write its file"), "{ended:?}");
}

#[test]
fn options_of_java_are_the_plans_properties() {
    let program = Program::new();
    let plan = program::PLAN.replace("\"Sleep\"", "\"${__P(stage,none)} ${__time(Z,)}\"");
    program.write("plan.jmx", &plan);
    let options = "-Dstage=two -Duser.timezone=Asia/Shanghai";
    let output = program
        .command(&["-n", "-t", "plan.jmx", "-l", "out.jtl"])
        .env("JVM_ARGS", "-Xmx64m -Dstage=one")
        .env("JMETER_OPTS", options)
        .output()
        .expect("it runs");
    let ended = ended(output);
    assert!(program.read("out.jtl").contains(",two +0800,"), "{ended:?}");
}

#[test]
fn pipes_that_nobody_reads_or_writes_are_refused() {
    let program = Program::new();
    assert_eq!(program.shell("mkfifo pipe").code, 0);
    for option in ["-l", "-j", "--junit", "--markdown", "--k6-summary"] {
        let ended = program.run(&["run", "plan.jmx", "--no-report", option, "pipe"]);
        assert_eq!(ended.code, 2, "{option}: {ended:?}");
        let words = format!("{option}: pipe is a pipe that nobody reads");
        assert!(ended.err.contains(&words), "{option}: {ended:?}");
    }
    let ended = program.run(&["run", "pipe"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("it is a pipe that no program writes to"), "{ended:?}");
    // If a program reads the pipe, the run writes its rows to it.
    let read = program.shell(
        "cat pipe > rows & $0 run plan.jmx --no-report -Jloops=3 -l pipe; wait; wc -l < rows",
    );
    assert_eq!(read.out.lines().last().map(str::trim), Some("4"), "{read:?}");
}

#[test]
fn reading_a_silent_pipe_says_what_it_waits_for() {
    let program = Program::new();
    assert_eq!(program.shell("mkfifo pipe").code, 0);
    let row = "timeStamp,elapsed,label,success\\n1700000000000,5,a,true\\n";
    for (line, words) in [
        ("exec $0 verdict pipe", "the pipe pipe: waiting for a program that writes to it"),
        ("exec $0 verdict - < pipe", "standard input: waiting for the first bytes"),
    ] {
        // The rows are written when the line is there.
        let writes = format!(
            "exec 3<> pipe; ( {line} 3>&- ) 2> err & n=0; until grep -q waiting err || [ $n = 600 ]; do sleep 0.1; n=$((n+1)); done; printf '{row}' > pipe; exec 3>&-; wait; cat err >&2"
        );
        let writes =
            if line.contains('<') { writes } else { writes.replace("exec 3<> pipe; ", "") };
        let ended = program.shell(&writes);
        assert!(ended.err.contains(words) && ended.out.contains("1 request"), "{ended:?}");
        assert_eq!(ended.err.matches("waiting for").count(), 1, "{ended:?}");
    }
}

#[test]
fn users_that_are_refused_without_end_are_told_once_while_they_go_on() {
    let program = Program::new();
    program.write("refused.jmx", program::ASKING);
    let load = ["-Jport=1", "-Jloops=-1", "-Jusers=2", "--duration", "50s"];
    let mut child = program.start(&[&["run", "refused.jmx"][..], &load].concat());
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let mut told = 0;
    for line in lines.map_while(Result::ok) {
        if line.contains("failed (") && line.contains(" and 2 users go on without a pause: ") {
            told += 1;
            signal(&child, rustix::process::Signal::INT);
        }
    }
    assert_eq!((told, child.wait().expect("it ends").code()), (1, Some(130)));
    let marks: Vec<_> =
        seconds(&program).iter().map(|second| second["marks"].to_string()).collect();
    assert!(marks.iter().any(|mark| mark.contains("go on without a pause")), "{marks:?}");
}
