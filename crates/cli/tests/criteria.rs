//! Criteria of a run: met, not met, or ending the run, in text, JSON and JUnit output.

#[path = "criteria/checks.rs"]
mod checks;
#[path = "criteria/ends.rs"]
mod ends;
mod program;
#[path = "criteria/transactions.rs"]
mod transactions;

use program::{Program, schema};
use serde_json::Value;

fn summary(program: &Program) -> Value {
    let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
    serde_json::from_str(&text.expect("a summary")).expect("JSON")
}

#[test]
fn criteria_come_first_with_their_values_and_decide_the_exit_code() {
    let program = Program::new();
    let met = [
        "--fail",
        "count = 6",
        "--fail",
        "error% = 0 for label Sleep",
        "--fail",
        "service p50 < 1h",
    ];
    let line = [&["run", "plan.jmx", "-Jusers=2", "-Jloops=3", "--runs", "met"], &met[..]].concat();
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("\nCriteria\n  met      count = 6: 6\n"), "{}", ended.out);
    let before = ended.out.find("Criteria").expect("criteria");
    assert!(ended.out[before..].contains("Sleep"), "the table comes behind: {}", ended.out);
    assert!(ended.out[before..].contains("\nVerdict\n"), "so does the verdict: {}", ended.out);

    // The label contains a variable, so it is unknown before the end of the run.
    program.write("plan.jmx", &program::PLAN.replace("\"Sleep\"", "\"Sleep${none}\""));
    let missed =
        ["--fail", "count > 6", "--fail", "p50 < 1h", "--fail", "p99 < 1s for label Nothing"];
    let line = [&["run", "plan.jmx", "-Jusers=2", "-Jloops=3"], &missed[..], &["--junit", "t.xml"]];
    let ended = program.run(&line.concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.out.contains("NOT MET  count > 6: 6\n"), "{}", ended.out);
    assert!(
        ended.out.contains(
            "NOT MET  response p99 < 1000ms for label Nothing: no samples have the label \"Nothing\"\n"
        ),
        "{}",
        ended.out
    );
    let summary = summary(&program);
    let criteria = &summary["criteria"];
    assert_eq!(criteria["passed"], false);
    assert_eq!(criteria["judged"][0]["value"], 6.0);
    assert_eq!(criteria["judged"][1]["holds"], true);
    assert_eq!(criteria["judged"][2]["label"], "Nothing");
    assert_eq!(summary["end"]["how"], "completed");

    let xml = program.read("t.xml");
    let found = faults(&xml);
    assert!(found.is_empty(), "well-formed: {found:?}");
    assert!(xml.contains("tests=\"4\" failures=\"2\""), "{xml}");
    assert!(xml.contains("name=\"count &gt; 6\""), "{xml}");
    assert!(xml.contains("<failure type=\"criterion\" message=\"count &gt; 6: 6\">"), "{xml}");
}

/// Returns the faults that make an XML text not well-formed.
fn faults(xml: &str) -> Vec<String> {
    let mut reader = xml.trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    let (mut open, mut found) = (Vec::new(), Vec::new());
    while let Some(at) = reader.find('<') {
        let text = &reader[..at];
        if text.contains('&') && !text.contains(';') {
            found.push(format!("a bare ampersand in {text:?}"));
        }
        let Some(end) = reader[at..].find('>') else {
            found.push("an open tag".into());
            break;
        };
        let tag = &reader[at + 1..at + end];
        if tag.matches('"').count() % 2 == 1 {
            found.push(format!("an odd number of quotes in {tag:?}"));
        }
        let name = tag.trim_matches('/').split_whitespace().next().unwrap_or_default().to_string();
        if tag.starts_with('/') {
            if open.pop().as_ref() != Some(&name) {
                found.push(format!("{name} closes another"));
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        reader = &reader[at + end + 1..];
    }
    found.extend(open.iter().map(|name| format!("{name} is open")));
    found
}

/// Returns a transaction "Order" around a failing request and a succeeding request "Order". With `parent`, the
/// transaction is one sample with sub-results.
fn transaction(parent: bool) -> String {
    let ask = |name: &str, port: &str| {
        format!(
            r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}" enabled="true">
            <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
            <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
            </HTTPSamplerProxy><hashTree/>"#
        )
    };
    let (good, bad) = (ask("Order", "${__P(port)}"), ask("Pay", "1"));
    let around = format!(
        r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="Order" enabled="true">
        <boolProp name="TransactionController.parent">{parent}</boolProp></TransactionController><hashTree>{good}{bad}</hashTree>"#
    );
    program::PLAN.replace("<!--more-->", &around)
}

#[test]
fn requests_of_transactions_count_with_a_parent_sample_and_without() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let port = format!("-Jport={}", target.addr().port());
    for parent in [false, true] {
        let program = Program::new();
        program.write("plan.jmx", &transaction(parent));
        let fails = [
            "error% < 40",
            "count = 12",
            "errors = 4 for label Pay",
            "error% < 60 for label Order",
        ];
        let fails = fails.map(|criterion| ["--fail", criterion]).concat();
        let line =
            [&["run", "plan.jmx", &port, "-Jloops=4", "--no-report", "-l", "rows.jtl"], &fails[..]];
        let ended = program.run(&line.concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        // Four samples and four transactions have the label "Order", and only the transactions fail. The results table
        // also shows them in one row.
        assert!(ended.out.contains("error% < 60% for label Order: 50%"), "{}", ended.out);
        let verdict = program.run(&["verdict", "rows.jtl"]);
        assert!(
            verdict
                .out
                .contains("4 requests failed, all of \"Pay\" (100 % of its requests, 33 % of all)"),
            "{}",
            verdict.out
        );
        let of_run = program.shell("$0 verdict runs/*");
        assert!(
            of_run
                .out
                .contains("4 requests failed, all of \"Pay\" (100 % of its requests, 33 % of all)"),
            "{}",
            of_run.out
        );
    }
    target.stop();
}

#[test]
fn a_criterion_ends_the_run_early() {
    let target =
        targets::start(targets::Config::new("fixed").option("status", 500)).expect("a target");
    let program = Program::new();
    let sampler = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Ask" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    </HTTPSamplerProxy><hashTree/>"#;
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", sampler));
    let port = format!("-Jport={}", target.addr().port());
    let abort = ["--abort-if", "error% > 99 for label Ask over 2s", "--fail", "count > 0"];
    for workers in ["1", "2"] {
        let runs = format!("runs{workers}");
        let line = ["run", "plan.jmx", &port, "--users", "2", "--duration", "50m", "-Jms=20"];
        let more =
            ["--workers", workers, "--runs", &runs, "--junit", "t.xml", "--markdown", "s.md"];
        let line = [&line[..], &abort, &more].concat();
        let ended = program.run(&line);
        assert_eq!(ended.code, 4, "{ended:?}");
        assert!(
            ended.err.contains("the run ends, as --abort-if says: error% > 99%"),
            "{}",
            ended.err
        );
        assert!(
            ended.out.contains("ENDED THE RUN  error% > 99% for label Ask over 2s: 100%"),
            "{}",
            ended.out
        );
        let run = std::fs::read_dir(program.path(&runs)).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(run.join("summary.json")).expect("a summary");
        let summary: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(summary["end"]["how"], "ended by a criterion");
        assert_eq!(summary["criteria"]["ended_by"]["value"], 100.0);
        let xml = program.read("t.xml");
        let words = "<failure type=\"criterion\" message=\"it was ended by --abort-if: error% ";
        assert!(xml.contains(words) && xml.contains("failures=\"2\""), "{xml}");
        let page = program.read("s.md");
        let is_broken = page.starts_with("## ❌") && page.contains("1 of 2 criteria not met");
        assert!(is_broken && page.contains("the run is not ended by"), "{page}");
    }
}

#[test]
fn samples_that_never_end_do_not_outlive_a_criterion_that_ends_the_run() {
    // The kernel accepts the connections but no program reads them, so no response ever arrives.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let program = Program::new();
    let sampler = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Ask" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    </HTTPSamplerProxy><hashTree/>"#;
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", sampler));
    let port = format!("-Jport={}", silent.local_addr().expect("an address").port());
    let line = ["run", "plan.jmx", &port, "--users", "2", "--duration", "50m", "-Jms=20"];
    let ended = program.run(&[&line[..], &["--abort-if", "count < 100 over 2s"]].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.err.contains("samples in flight are cut, 10 s after --abort-if"), "{ended:?}");
    assert_eq!(summary(&program)["end"]["how"], "ended by a criterion");
}

#[test]
fn mistakes_in_criteria_are_sentences() {
    let program = Program::new();
    for (text, words) in [
        ("p99", "there is no comparison"),
        ("p99 < 500", "has no unit"),
        ("speed < 5", "unknown metric speed: use mean"),
        ("p(95) < 500", "500 has no unit: write 500ms"),
        ("http_req_duration < 5s", "unknown metric http_req_duration: write p95"),
        ("errors < 1%", "write error%"),
        ("http_req_failed < 0.01", "write error%, the share"),
        ("latency < 5s", "write p95"),
        ("95th < 5s", "unknown metric 95th: write p95"),
        ("p95 > +5%", "throng compare"),
    ] {
        for option in ["--fail", "--abort-if"] {
            let ended = program.run(&["run", "plan.jmx", option, text]);
            assert_eq!(ended.code, 2, "{ended:?}");
            assert!(ended.err.contains(words), "{text}: {}", ended.err);
        }
    }
}

#[test]
fn a_file_beside_the_plan_holds_load_thresholds_and_hosts_of_its_runs() {
    let program = Program::new();
    let toml = r#"
[load]
users = 3
iterations = 4
[thresholds]
fail = ["count > 12", "error% = 0 for label Sleep"]
junit = "tests.xml"
[watch]
gone = "http://127.0.0.1:1/metrics"
[properties]
ms = 5
lops = 1
"#;
    program.write("throng.toml", toml);
    let ended = program.run(&["run", "plan.jmx", "--runs", "file"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.out.contains("load: 3 users, 4 iterations each"), "{ended:?}");
    assert!(ended.out.contains("NOT MET  count > 12: 12"), "{ended:?}");
    assert!(
        ended.err.contains(
            "the plan reads no property lops (throng.toml: line 12): did you mean loops?"
        ),
        "{ended:?}"
    );
    assert!(program.read("tests.xml").contains("failures=\"1\""));
    assert!((ended.out + &ended.err).contains("cannot watch gone: http://127.0.0.1:1/metrics"));

    // Options of the command line override throng.toml.
    let line = ["run", "plan.jmx", "--users", "2", "--fail", "count = 8", "--runs", "line"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("met      count = 8: 8"), "{ended:?}");
    assert!(ended.out.contains("met      error% = 0% for label Sleep"), "both: {ended:?}");
    assert!(
        ended.err.contains("throng.toml beside the plan is read; --fail replaces its 'count > 12'")
    );

    program.write("throng.toml", "[load.scenario]\nUsers = { users = 2, iterations = 3 }\n");
    let ended = program.run(&["run", "plan.jmx", "--fail", "count = 6", "--runs", "scenario"]);
    assert_eq!(ended.code, 0, "{ended:?}");

    for (text, words) in [
        ("[load]\nusers = 1\nrampp = '1s'\n", "throng.toml: line 3: load.rampp is not known"),
        ("\n[treshold]\n", "throng.toml: line 2: treshold is not known: did you mean thresholds?"),
        ("[load]\nusers = = 1\n", "line 2"),
        ("[thresholds]\nfail = ['p99 < 1']\n", "has no unit"),
        ("[load.scenario]\nGuest = 'off'\n", "the plan has no thread group \"Guest\""),
        ("[watch]\na = 'ftp://h'\n", "ftp://h is not an http"),
    ] {
        program.write("throng.toml", text);
        let ended = program.run(&["run", "plan.jmx", "--runs", "wrong"]);
        assert_eq!(ended.code, 2, "{text}: {ended:?}");
        assert!(ended.err.contains(words), "{text}: {}", ended.err);
    }
}

/// Returns a plan that sends an HTTP request to this port `${__P(loops)}` times.
fn asks(port: u16) -> String {
    let sampler = format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Ask" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
    <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    </HTTPSamplerProxy><hashTree/>"#
    );
    let (before, rest) = program::PLAN.split_once("<JavaSampler").expect("a sampler");
    let (_, behind) = rest.split_once("</JavaSampler>").expect("its end");
    let behind = behind.trim_start().strip_prefix("<hashTree/>").expect("its children");
    format!("{before}{sampler}{behind}")
}

#[test]
fn a_service_that_is_down_meets_no_criterion_but_one_on_its_errors() {
    let program = Program::new();
    // Nothing listens on port 1 (tcpmux).
    program.write("plan.jmx", &asks(1));
    for (criteria, code, words) in [
        (&["service p95 < 500ms"][..], 4, "(all 6 samples failed)"),
        (&["service p95 < 500ms", "error% <= 100"], 4, "(all 6 samples failed)"),
        (&["count = 6"], 4, "(all 6 samples failed, and no criterion is about errors"),
        (&["rate > 0 for label Ask"], 4, "add 'error% < 1 for label Ask')"),
        (&["count = 6", "error% > 99"], 0, "met      error% > 99%: 100% of requests"),
    ] {
        let options = criteria.iter().flat_map(|criterion| ["--fail", criterion]);
        let line = ["run", "plan.jmx", "-Jloops=6", "--no-report", "--junit", "t.xml"];
        let line: Vec<&str> = line.into_iter().chain(options).collect();
        let ended = program.run(&line);
        assert_eq!(ended.code, code, "{criteria:?}: {ended:?}");
        assert!(ended.out.contains(words), "{criteria:?}: {}", ended.out);
        assert_eq!(program.read("t.xml").contains("<failure"), code == 4, "{criteria:?}");
    }
}

#[test]
fn a_run_without_samples_meets_nothing() {
    let program = Program::new();
    let (before, rest) = program::PLAN.split_once("<JavaSampler").expect("a sampler");
    let (_, behind) = rest.split_once("</JavaSampler>").expect("its end");
    let behind = behind.trim_start().strip_prefix("<hashTree/>").expect("its children");
    program.write("empty.jmx", &format!("{before}{behind}"));
    program.write("open.jmx", &program::PLAN.replace("\"Sleep\"", "\"Sleep${none}\""));
    for criterion in ["errors = 0", "count < 100", "error% < 1", "rate < 5", "count = 0"] {
        let ended = program.run(&["run", "empty.jmx", "--no-report", "--fail", criterion]);
        assert_eq!(ended.code, 4, "{criterion}: {ended:?}");
        assert!(ended.out.contains("the run has no samples"), "{criterion}: {}", ended.out);
        // A criterion for a misspelt label. The label of a sampler with variables could equal it, so `check` cannot
        // refuse it.
        let misspelt = format!("{criterion} for label Slep");
        let ended = program.run(&["run", "open.jmx", "--no-report", "--fail", &misspelt]);
        assert_eq!(ended.code, 4, "{misspelt}: {ended:?}");
        assert!(ended.out.contains("no samples have the label \"Slep\""), "{}", ended.out);
    }
    let guarded = ["run", "empty.jmx", "--runs", "guarded", "--abort-if", "error% > 20"];
    let ended = program.run(&[&guarded[..], &["--junit", "t.xml"]].concat());
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(
        ended.out.contains("UNDECIDED  abort if error% > 20%: the run has no samples"),
        "{ended:?}"
    );
    assert!(program.read("t.xml").contains("failures=\"0\" errors=\"2\""));
    let run = std::fs::read_dir(program.path("guarded")).unwrap().next().unwrap().unwrap().path();
    let verdict = program.run(&["verdict", &run.display().to_string()]);
    assert_eq!(verdict.code, 6, "{verdict:?}");
    assert!(verdict.out.contains("UNDECIDED: the run has no samples"), "{verdict:?}");
}

#[test]
fn a_label_that_no_sample_can_have_is_refused_before_the_run() {
    let program = Program::new();
    let words = "no enabled sampler or transaction of the plan has the label \"Slep\": did you mean \"Sleep\"?";
    for option in ["--fail", "--abort-if"] {
        let line = ["run", "plan.jmx", option, "p95 < 1s for label Slep", "--junit", "t.xml"];
        let ended = program.run(&line);
        assert_eq!(ended.code, 4, "{ended:?}");
        assert!(ended.err.contains(words), "{ended:?}");
        assert!(program.read("t.xml").contains("errors=\"1\""), "{}", program.read("t.xml"));
        assert!(!program.path("runs").exists(), "nothing was run");
    }
    let search = ["capacity", "plan.jmx", "--fail", "p95 < 1s for label Slep", "--at-most", "2"];
    let ended = program.run(&search);
    assert!(ended.code == 2 && ended.err.contains(words), "{ended:?}");
    assert!(!program.path("runs").exists(), "nothing was run");
    program.write("throng.toml", "[thresholds]\nfail = [\n\"p95 < 1s for label Slep\"]\n");
    let checked = program.run(&["check", "plan.jmx"]);
    assert!(checked.code == 3 && checked.out.contains(words), "{checked:?}");
    let ended = program.run(&["run", "plan.jmx"]);
    let place = "throng.toml: line 3: response p95 < ";
    assert!(ended.code == 4 && ended.err.contains(place), "{ended:?}");
    // A sampler name with a variable can become any label at run time.
    program.write("plan.jmx", &program::PLAN.replace("\"Sleep\"", "\"${none}\""));
    let checked = program.run(&["check", "plan.jmx"]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn a_limit_that_nothing_can_meet_is_refused_wherever_it_is_given() {
    let program = Program::new();
    let words = "checks% is 100% at most: give a limit from 0 to 100";
    for line in [
        &["run", "plan.jmx", "--fail", "checks% > 101"][..],
        &["run", "plan.jmx", "--abort-if", "checks% > 101"],
        &["capacity", "plan.jmx", "--fail", "checks% > 101"],
    ] {
        let ended = program.run(line);
        assert!(ended.code == 2 && ended.err.contains(words), "{line:?}: {ended:?}");
    }
    program.write("throng.toml", "[thresholds]\nfail = [\"checks% > 101\"]\n");
    for verb in ["run", "check", "preflight", "capacity"] {
        let line = [verb, "plan.jmx", "--fail", "error% < 1"];
        let ended = program.run(if verb == "capacity" { &line } else { &line[..2] });
        let is_placed = ended.err.contains("throng.toml: line 2: thresholds.fail: ");
        assert!(ended.code == 2 && is_placed && ended.err.contains(words), "{verb}: {ended:?}");
    }
    assert!(!program.path("runs").exists(), "nothing was run");
}

#[test]
fn a_property_that_cannot_be_understood_has_one_exit_code() {
    let program = Program::new();
    for (property, words) in [
        ("-Jthrong.series=x", "NAME=VARIABLE"),
        ("-Jthrong.stop.unconnected=many", "it must be a whole number, 0 or more (-J)"),
        ("-Jthrong.workers=-1", "it must be a whole number, 0 to 1000"),
        ("-Jhttps.default.protocol=SSLv3", "neither TLS 1.2 nor TLS 1.3"),
        ("-Jthrong.jvm.heap=much", "write for example 512m or 2g"),
    ] {
        for verb in ["run", "check", "preflight"] {
            let ended = program.run(&[verb, "plan.jmx", property]);
            assert!(ended.code == 2 && ended.err.contains(words), "{verb} {property}: {ended:?}");
        }
    }
    // Properties that JMeter knows, too, are not refused: an invalid value is replaced by the default with a
    // warning.
    let ended = program.run(&["run", "plan.jmx", "-Jsummariser.interval=often"]);
    let words = "summariser.interval (-J) is \"often\", which is not a number: the default is used";
    assert!(ended.code == 0 && ended.err.contains(words), "{ended:?}");
    let refused = "[properties]\nthrong.stop.unconnected = \"many\"\n";
    program.write("throng.toml", refused);
    let ended = program.run(&["check", "plan.jmx"]);
    assert!(ended.code == 2 && ended.err.contains("throng.toml: line 2: "), "{ended:?}");
}

#[test]
fn a_run_without_samples_is_undecided_and_says_why() {
    let program = Program::new();
    let group = r#"testname="Users" enabled="true""#;
    program
        .write("off.jmx", &program::PLAN.replacen(group, r#"testname="Users" enabled="false""#, 1));
    let (before, rest) = program::PLAN.split_once("<JavaSampler").expect("a sampler");
    let (sampler, behind) = rest.split_once("<hashTree/>").expect("its children");
    let never = r#"<IfController testclass="IfController" testname="never" enabled="true"><stringProp name="IfController.condition">false</stringProp></IfController>"#;
    program.write(
        "never.jmx",
        &format!("{before}{never}<hashTree><JavaSampler{sampler}<hashTree/></hashTree>{behind}"),
    );
    program.write("empty.jmx", &format!("{before}{behind}"));
    for (line, why) in [
        (["plan.jmx", "-Jusers=0"], "no user was started"),
        (["off.jmx", "--quiet"], "no user was started"),
        (["never.jmx", "--quiet"], "no sampler was run, or none gave a result"),
        (["empty.jmx", "--quiet"], "no sampler of the plan is enabled"),
    ] {
        let ended = program.run(
            &[&["run", "--junit", "t.xml", "--runs", &format!("{}.runs", line[0])], &line[..]]
                .concat(),
        );
        assert_eq!(ended.code, 6, "{line:?}: {ended:?}");
        assert!(ended.err.contains(&format!("the run has no samples: {why}")), "{ended:?}");
        let junit = program.read("t.xml");
        assert!(junit.contains("name=\"the run has samples\""), "{junit}");
        assert!(junit.contains("failures=\"0\" errors=\"1\""), "{junit}");
    }
    let run = program.shell("cat never.jmx.runs/*/summary.json");
    let summary: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(schema::check(&summary), Ok(()));
    let undecided = summary["verdict"]["undecided"]["en"].as_str().unwrap_or_default();
    assert!(undecided.starts_with("the run has no samples"), "{summary}");
    // JMeter's command line exits with 0, as JMeter does.
    let ended = program.run(&["-n", "-t", "never.jmx"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("the run has no samples"), "{ended:?}");
}

#[test]
fn a_window_longer_than_the_run_is_undecided() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "-Jloops=5", "--junit", "t.xml", "--markdown", "s.md"];
    let fail = ["--fail", "service p95 < 1h over 5m", "--fail", "error% < 1 over 5m"];
    let ended = program.run(&[&line[..], &fail].concat());
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(
        ended.out.contains("UNDECIDED  error% < 1% over 300s: 0% of requests (the run took "),
        "{ended:?}"
    );
    assert!(ended.out.contains(", the window takes 300s)"), "{ended:?}");
    let summary = summary(&program);
    let criteria = &summary["criteria"];
    assert_eq!((&criteria["passed"], &criteria["outcome"]), (&false.into(), &"undecided".into()));
    assert_eq!(criteria["judged"][0]["holds"], Value::Null);
    assert!(program::schema::check(&summary).is_ok(), "{:?}", program::schema::check(&summary));
    assert!(program.read("t.xml").contains("failures=\"0\" errors=\"2\""));
    assert!(program.read("t.xml").contains("<error type=\"undecided\""));
    let markdown = program.read("s.md");
    assert!(markdown.contains("2 of 2 criteria undecided"), "{markdown}");
    assert!(markdown.contains("the window takes 300s"), "{markdown}");
    // A criterion that fails over the whole run is not met, even if its window is longer than the run.
    let ended = program.run(&["run", "plan.jmx", "--runs", "b", "--fail", "count > 9 over 5m"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.out.contains("NOT MET  count > 9 over 300s: 1 (the run took "), "{ended:?}");
}

#[test]
fn figures_are_undecided_where_starts_were_not_made() {
    let program = Program::new();
    let load =
        ["run", "plan.jmx", "-Jms=500", "--rps", "20", "--max-users", "2", "--duration", "3s"];
    let fail = ["--fail", "service p95 < 1h", "--fail", "rate > 0", "--fail", "error% < 1"];
    let ended = program.run(&[&load[..], &fail].concat());
    assert_eq!(ended.code, 6, "{ended:?}");
    for words in ["UNDECIDED  service p95 < ", "UNDECIDED  rate > 0/s", "UNDECIDED  error% < 1%"] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(ended.out.contains("% of the starts were not made ("), "{}", ended.out);
}

#[test]
fn figures_are_undecided_where_the_plans_own_rate_was_missed() {
    let program = Program::new();
    let timer = r#"<ConstantThroughputTimer guiclass="TestBeanGUI" testclass="ConstantThroughputTimer" testname="Rate" enabled="true">
    <doubleProp><name>throughput</name><value>6000.0</value><savedValue>0.0</savedValue></doubleProp><intProp name="calcMode">0</intProp>
    </ConstantThroughputTimer><hashTree/>"#;
    program.write("paced.jmx", &program::PLAN.replace("<!--more-->", timer));
    let line = ["run", "paced.jmx", "-Jms=200", "--users", "2", "--duration", "10s"];
    let fail = ["--fail", "p95 < 1h", "--fail", "rate > 0", "--fail", "error% < 1"];
    let ended = program.run(&[&line[..], &fail, &["--junit", "t.xml"]].concat());
    assert_eq!(ended.code, 6, "{ended:?}");
    for words in ["UNDECIDED  response p95 < ", "UNDECIDED  rate > 0/s", "UNDECIDED  error% < 1%"] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(ended.out.contains("% of the starts were not made ("), "{}", ended.out);
    assert!(program.read("t.xml").contains("failures=\"0\" errors=\"3\""));
}

/// Returns a plan whose user sleeps and then sends a request that fails. `on_error` of the group or `handler` reacts to
/// the failure.
fn failing_plan(on_error: &str, handler: &str) -> String {
    let ask = asks(1);
    let (_, ask) = ask.split_once("<HTTPSamplerProxy").expect("a request");
    let (ask, _) = ask.split_once("<hashTree/>").expect("its children");
    let ask = format!("<HTTPSamplerProxy{ask}<hashTree>{handler}</hashTree>");
    let before = "on_sample_error\">continue";
    let after = before.replace("continue", on_error);
    program::PLAN.replace("<!--more-->", &ask).replace(before, &after)
}

#[test]
fn a_run_that_an_error_stops_meets_its_criteria_only_so_far() {
    let handler = r#"<ResultAction guiclass="ResultActionGui" testclass="ResultAction" testname="Stop" enabled="true"><intProp name="OnError.action">2</intProp></ResultAction><hashTree/>"#;
    for (on_error, handler, words) in [
        ("stoptest", "", "it was to stop after an error"),
        ("stoptestnow", "", "it was to stop after an error"),
        ("continue", handler, "it was to stop after an error"),
        ("stopthread", "", "met so far; 1 of 1 user was stopped after an error"),
    ] {
        let program = Program::new();
        program.write("plan.jmx", &failing_plan(on_error, handler));
        let line = ["run", "plan.jmx", "--users", "1", "--duration", "50m", "--junit", "t.xml"];
        let fail = ["--fail", "service p50 < 1h", "--fail", "error% < 60", "--fail", "count = 2"];
        let ended = program.run(&[&line[..], &fail, &["--fail", "errors > 0"]].concat());
        assert_eq!(ended.code, 6, "{on_error}: {ended:?}");
        assert!(ended.out.contains("UNDECIDED  service p50 < ") && ended.out.contains(words));
        assert!(ended.out.contains("UNDECIDED  error% < 60%"), "{}", ended.out);
        assert!(ended.out.contains("met        errors > 0"), "{}", ended.out);
        // One of the four JUnit errors is the end of the run itself.
        assert!(program.read("t.xml").contains("failures=\"0\" errors=\"4\""), "{on_error}");
        assert_eq!(summary(&program)["criteria"]["passed"], false);
    }
}

#[test]
fn a_run_that_is_interrupted_meets_its_criteria_only_so_far() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "--users", "2", "--duration", "50m", "-Jms=20"];
    let fail = ["--fail", "p95 < 1h", "--fail", "error% < 1", "--junit", "t.xml"];
    let child = program.start(&[&line[..], &fail].concat());
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let has_begun = || {
        let folder = std::fs::read_dir(program.path("runs")).ok()?.next()?.ok()?.path();
        std::fs::read(folder.join("seconds.jsonl")).ok().filter(|lines| !lines.is_empty())
    };
    while has_begun().is_none() && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    let ended = program::ended(child.wait_with_output().expect("its output"));
    assert_eq!(ended.code, 130, "{ended:?}");
    let words = "(met so far; the run was interrupted before its end)";
    assert!(ended.out.contains("UNDECIDED  response p95 < ") && ended.out.contains(words));
    let criteria = &summary(&program)["criteria"];
    assert_eq!((&criteria["passed"], &criteria["outcome"]), (&false.into(), &"undecided".into()));
    let xml = program.read("t.xml");
    assert!(xml.contains("failures=\"0\" errors=\"3\""), "{xml}");
    assert!(xml.contains("<error type=\"undecided\" message=\"it was interrupted\">"), "{xml}");
}

/// Returns a time in ms as the terminal's summary formats it.
fn three_digits(ms: f64) -> String {
    let places = if ms >= 100.0 { 0 } else { 2 - ms.log10().floor().max(0.0) as usize };
    format!("{ms:.places$}")
}

#[test]
fn starts_that_are_late_show_one_time_everywhere_and_the_other_by_its_name() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let program = Program::new();
    program.write("asking.jmx", program::ASKING);
    let port = format!("-Jport={}", target.addr().port());
    let line = ["run", "asking.jmx", &port, "-Jloops=1", "--rps", "50", "--duration", "4s"];
    let more = ["--fail", "p95 < 1ms", "--fail", "service p95 < 1h", "--markdown", "said.md"];
    let child = program.start(&[&line[..], &more].concat());
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let has_begun = || {
        let folder = std::fs::read_dir(program.path("runs")).ok()?.next()?.ok()?.path();
        std::fs::read(folder.join("seconds.jsonl")).ok().filter(|lines| !lines.is_empty())
    };
    while has_begun().is_none() && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // The process stops for 1.5 s of the 4 s. About a third of the starts are late by up to 1.5 s.
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("it runs");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("it runs");
    let ended = program::ended(child.wait_with_output().expect("its output"));
    assert_eq!(ended.code, 4, "{ended:?}");

    let summary = summary(&program);
    let judged = summary["criteria"]["judged"][0]["value"].as_f64().expect("a value");
    let of = |times: &str| summary[times]["p95"].as_f64().expect("a time");
    let (response, service) = (of("response"), of("service"));
    assert!(response > 2.0 * service, "late: {response} and {service}");
    assert!((judged / response - 1.0).abs() < 0.002, "{judged} and {response}");

    let html = std::fs::read_to_string(program.run_folder().join("report.html")).expect("a page");
    let totals = &report::file::data(&html).expect("data")["totals"];
    let p95 = |of: &Value| {
        let list = of["quantiles"].as_array().expect("percentiles");
        list.iter().find(|one| one["p"] == 0.95).expect("p95")["us"].as_f64().expect("a time")
    };
    assert_eq!(totals["times"], "response");
    assert!((p95(totals) / 1000.0 / judged - 1.0).abs() < 0.002, "{totals} and {judged}");
    assert!((p95(&totals["service"]) / 1000.0 / service - 1.0).abs() < 0.002, "{totals}");

    let shown = |us: f64| report::captions::time(us);
    let (response_us, service_us) = (p95(totals), p95(&totals["service"]));
    let markdown = program.read("said.md");
    for row in [
        format!("| Response p95 | {} |", shown(response_us)),
        format!("| Service p95 | {} |", shown(service_us)),
        "Throng itself caused ".to_owned(),
    ] {
        assert!(markdown.contains(&row), "{row} in {markdown}");
    }
    for fact in [("Response p95", response_us), ("Service p95", service_us)] {
        let name = html.find(&format!(">{}<", fact.0)).expect(fact.0);
        assert!(html[name..name + 400].contains(&shown(fact.1)), "{fact:?}");
    }
    let said = &ended.out[ended.out.find("\nResponse time ").expect(&ended.out)..];
    let mut lines = said.lines().skip(1);
    let times = |line: Option<&str>| line.expect("a line").to_owned();
    assert!(times(lines.next()).contains(&format!("p95 {} ", three_digits(response))), "{said}");
    let next = times(lines.next());
    assert!(next.contains("service time, as in the table above"), "{said}");
    assert!(next.contains(&format!("p95 {} ", three_digits(service))), "{said}");
    let own = totals["own_share"].as_f64().expect("a share");
    assert!((0.1..=1.0).contains(&own), "{totals}");
}

/// Returns the plan with an additional setUp group that sends one request. The plan's own group sends requests unless
/// `loops` is 0.
fn with_set_up(text: &str) -> String {
    let (before, rest) = text.split_once("<ThreadGroup ").expect("a group");
    let (group, behind) = rest.split_once("<!--more-->").expect("its end");
    let setup = group
        .replace("testclass=\"ThreadGroup\"", "testclass=\"SetupThreadGroup\"")
        .replace("</ThreadGroup>", "</SetupThreadGroup>")
        .replace("${__P(loops,1)}", "1")
        .replace("${__P(users,1)}", "1")
        .replace("testname=\"Sleep\"", "testname=\"Prepare\"");
    format!("{before}<SetupThreadGroup {setup}</hashTree><ThreadGroup {group}{behind}")
}

#[test]
fn requests_of_set_up_groups_alone_meet_nothing() {
    let program = Program::new();
    program.write("both.jmx", &with_set_up(program::PLAN));
    let line = ["run", "both.jmx", "--no-report", "--junit", "t.xml"];
    let met = ["--fail", "p50 < 1h", "--fail", "error% < 1", "--fail", "count = 4"];
    let ended = program.run(&[&line[..], &["-Jloops=3"], &met].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    for main in [["-Jloops=0", "-Jusers=1"], ["-Jloops=1", "-Jusers=0"]] {
        let ended = program.run(&[&line[..], &main, &met].concat());
        assert_eq!(ended.code, 4, "{ended:?}");
        let words = "NOT MET  error% < 1%: the main thread groups have no samples";
        assert!(ended.out.contains(words), "{}", ended.out);
        assert!(program.read("t.xml").contains("only setUp and tearDown thread groups have some"));
        let ended = program.run(&[&line[..], &main, &["--quiet"]].concat());
        assert_eq!(ended.code, 6, "{ended:?}");
        assert!(ended.err.contains("the main thread groups have no samples"), "{ended:?}");
        // A criterion for a label also judges samples of a setUp group, which other criteria exclude.
        let own = ["--fail", "count = 1 for label Prepare"];
        let ended = program.run(&[&line[..], &main, &own].concat());
        assert_eq!(ended.code, 6, "{ended:?}");
        assert!(ended.out.contains("met      count = 1 for label Prepare: 1"), "{}", ended.out);
    }
    let name = "testclass=\"ThreadGroup\" testname=\"Users\" enabled=\"true\"";
    let off = with_set_up(program::PLAN).replace(name, &name.replace("true", "false"));
    program.write("both.jmx", &off);
    assert_eq!(program.run(&[&line[..], &["--fail", "error% < 1"]].concat()).code, 4);
}

#[test]
fn the_samples_of_a_plan_of_set_up_groups_are_its_load() {
    let program = Program::new();
    let text = with_set_up(program::PLAN);
    let (before, rest) = text.split_once("<ThreadGroup ").expect("the main group");
    let (_, behind) = rest.split_once("<hashTree/>").expect("its sampler");
    let (_, behind) = behind.split_once("</hashTree>").expect("its end");
    program.write("only.jmx", &format!("{before}{behind}"));
    let ended = program.run(&["run", "only.jmx", "--no-report", "--fail", "count = 1"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("their samples count as the load"), "{ended:?}");
}

#[test]
fn a_command_without_a_result_leaves_no_summary_of_an_earlier_one() {
    let program = Program::new();
    let files = ["--junit", "t.xml", "--markdown", "s.md", "--k6-summary", "k.json"];
    let green = || {
        let ended = program.run(&[&["run", "plan.jmx", "-f"], &files[..]].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(!program.read("t.xml").contains("<error"));
    };
    program.write("bad.jmx", "<jmeterTestPlan");
    std::fs::create_dir(program.path("sub")).expect("a folder");
    program.write("sub/throng.toml", "[laod]\n");
    program.write("sub/plan.jmx", program::PLAN);
    for (line, code, why) in [
        (&["run", "bad.jmx"][..], 3, "the plan has errors and was not run"),
        (&["run", "none.jmx"], 2, "none.jmx doesn't exist"),
        (&["run", "sub/plan.jmx"], 2, "laod is not known"),
        (&["run", "plan.jmx", "--worng"], 2, "--worng"),
        (&["run", "plan.jmx", "--fail", "p95"], 2, "p95"),
    ] {
        green();
        let ended = program.run(&[line, &files].concat());
        assert_eq!(ended.code, code, "{ended:?}");
        let (junit, markdown) = (program.read("t.xml"), program.read("s.md"));
        assert!(junit.contains("errors=\"1\"") && junit.contains(why), "{line:?}: {junit}");
        assert!(markdown.contains("No result") && markdown.contains(why), "{markdown}");
        assert!(!program.path("k.json").exists(), "{line:?}");
    }
    green();
    let none = ["none.jtl", "--markdown", "s.md"];
    for verb in [&["report"][..], &["compare", "none.csv"]] {
        let ended = program.run(&[verb, &none].concat());
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(program.read("s.md").contains("No result: throng"), "{ended:?}");
        green();
    }
    let ended = program.run(&["check", "nowhere", "--junit", "t.xml"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(program.read("t.xml").contains("nowhere doesn't exist"), "{}", program.read("t.xml"));
    // Throng refuses a JUnit file that is also the result file and writes neither.
    let ended = program.run(&["run", "plan.jmx", "-l", "rows.jtl", "--junit", "rows.jtl"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(!program.path("rows.jtl").exists());
}
