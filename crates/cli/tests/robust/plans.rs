//! Hostile plans and edge cases: Throng refuses each plan with the position of the problem, or runs it as written.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::asked_to_end::{interrupt, until};
use crate::http_plan::{HTTP, empty_group, scheduled};
use crate::peer::{answering, closed_port};
use crate::program::PLAN;
use crate::trial::{Trial, number};

const SECRET: &str = "a secret of this machine";
const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Runs a plan with this text, asserts that it is refused before any file of a run exists, and returns standard error.
fn refused(text: impl AsRef<[u8]>) -> String {
    let trial = Trial::new();
    std::fs::write(trial.program.path("bad.jmx"), text).unwrap();
    let ended = trial.run(&["-n", "-t", "bad.jmx", "-l", "out.jtl"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.err.contains("bad.jmx"), "the place is named: {ended:?}");
    assert!(!trial.program.path("runs").exists() && !trial.program.path("out.jtl").exists());
    ended.err
}

#[test]
fn truncated_plans_are_refused() {
    for share in [0, 1, 10, 50, 90, 99] {
        refused(&PLAN[..PLAN.trim_end().len() * share / 100]);
    }
}

#[test]
fn what_is_no_plan_is_refused() {
    refused("");
    refused("\0\0\0\0");
    refused(b"\xff\xfe\xfd\xfc");
    refused("PK\u{3}\u{4} a zip");
    refused("{\"plan\": true}");
    refused("<html><body/></html>");
    refused("<jmeterTestPlan></hashTree>");
    refused(format!("<jmeterTestPlan>{}", "<a ".repeat(100_000)));
}

#[test]
fn external_entities_are_never_read() {
    let trial = Trial::new();
    trial.program.write("secret.txt", SECRET);
    for system in
        ["secret.txt".to_string(), format!("file://{}", trial.program.path("secret.txt").display())]
    {
        let head = format!("<!DOCTYPE x [<!ENTITY secret SYSTEM \"{system}\">]>\n<jmeterTestPlan");
        let plan = PLAN
            .replacen("<jmeterTestPlan", &head, 1)
            .replace("testname=\"Sleep\"", "testname=\"Sleep &secret;\"")
            .replace("${__P(ms,1)}", "&secret;");
        trial.program.write("entity.jmx", &plan);
        for line in [&["-n", "-t", "entity.jmx", "-l", "out.jtl"][..], &["check", "entity.jmx"]] {
            let ended = trial.run(line);
            assert!(matches!(ended.code, 0 | 3), "{ended:?}");
            assert!(!format!("{ended:?}").contains(SECRET), "{ended:?}");
        }
        let rows = std::fs::read_to_string(trial.program.path("out.jtl")).unwrap_or_default();
        assert!(!rows.contains(SECRET), "{rows}");
    }
}

#[test]
fn nested_entities_do_not_grow() {
    let mut entities = "<!ENTITY lol0 \"lol\">".to_string();
    for n in 1..40 {
        let _ = write!(entities, "<!ENTITY lol{n} \"{}\">", format!("&lol{};", n - 1).repeat(10));
    }
    let head = format!("<!DOCTYPE x [{entities}]>\n<jmeterTestPlan");
    let plan = PLAN
        .replacen("<jmeterTestPlan", &head, 1)
        .replace("testname=\"Sleep\"", "testname=\"&lol39;\"");
    let trial = Trial::new();
    trial.program.write("laughs.jmx", &plan);
    let begin = Instant::now();
    let ended = trial.run(&["-n", "-t", "laughs.jmx", "-l", "out.jtl"]);
    assert!(matches!(ended.code, 0 | 3), "{ended:?}");
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert!(!format!("{ended:?}").contains("lollol"), "{ended:?}");
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let open = "<GenericController testname=\"deep\"/><hashTree>".repeat(200_000);
    let close = "</hashTree>".repeat(200_000);
    let trial = Trial::new();
    trial.program.write("deep.jmx", &PLAN.replace("<!--more-->", &format!("{open}{close}")));
    let ended = trial.run(&["-n", "-t", "deep.jmx", "-l", "out.jtl"]);
    assert!(matches!(ended.code, 0 | 3), "{}", ended.err.len());
    let props = format!(
        "{}x{}",
        "<collectionProp name=\"a\">".repeat(200_000),
        "</collectionProp>".repeat(200_000)
    );
    trial.program.write(
        "deep.jmx",
        &PLAN.replace(
            "<!--more-->",
            &format!("<GenericController>{props}</GenericController><hashTree/>"),
        ),
    );
    let ended = trial.run(&["-n", "-t", "deep.jmx", "-l", "out.jtl"]);
    assert!(matches!(ended.code, 0 | 3), "{}", ended.err.len());
}

#[test]
fn a_plan_of_20_mb_runs() {
    let begin = PLAN.find("<JavaSampler").unwrap();
    let end = PLAN.find("<!--more-->").unwrap();
    let sampler = &PLAN[begin..end];
    let count = 20_000_000 / sampler.len();
    let mut text = String::with_capacity(21_000_000);
    text.push_str(&PLAN[..begin]);
    for n in 0..count {
        text.push_str(
            &sampler.replace("\"Sleep\"", &format!("\"Sleep {n}\"")).replace("${__P(ms,1)}", "0"),
        );
    }
    text.push_str(&PLAN[end..]);
    let trial = Trial::new();
    trial.program.write("large.jmx", &text);
    let ended = trial.run(&["-n", "-t", "large.jmx", "-l", "out.jtl"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let rows = trial.rows();
    assert_eq!(rows.len(), count);
    assert!(rows.iter().enumerate().all(|(n, row)| row.label == format!("Sleep {n}")));
    assert_eq!(number(&trial.summary(), "requests"), count as u64);
}

#[test]
fn a_missing_data_file_ends_its_users_and_is_told() {
    let trial = Trial::with(
        r#"<CSVDataSet testname="Data"><stringProp name="filename">nowhere.csv</stringProp><stringProp name="variableNames">a</stringProp></CSVDataSet><hashTree/>"#,
    );
    let (ended, rows) = trial.against(answering(GOOD), &[]);
    assert_eq!((ended.code, rows.len()), (0, 0), "as in JMeter: {ended:?} {rows:?}");
    assert!(ended.err.contains("nowhere.csv"), "{ended:?}");
}

#[test]
fn no_users() {
    for users in ["0", "-3", "many"] {
        let trial = Trial::new();
        let (ended, rows) = trial.against(closed_port(), &[&format!("-Jusers={users}")]);
        assert_eq!((ended.code, rows.len()), (0, 0), "{users:?}: {ended:?}");
        assert_eq!(number(&trial.summary(), "requests"), 0);
    }
}

const NEVER: &str = r#"<IfController testname="Never"><stringProp name="IfController.condition">false</stringProp></IfController><hashTree><DebugSampler testname="Debug"/><hashTree/></hashTree>"#;

/// Starts the plan and stops it by Ctrl-C unless it ends by itself within the first seconds. True if Ctrl-C was
/// necessary.
fn had_to_be_asked(plan: &str) -> bool {
    let trial = Trial::new();
    trial.program.write("idle.jmx", plan);
    let line = ["-n", "-t", "idle.jmx", "-l", "out.jtl", "-Jloops=-1", "-Jusers=50"];
    let mut child = trial.spawn(&[&[env!("CARGO_BIN_EXE_throng")], &line[..]].concat());
    // A run that ends immediately still records one second, shortly before its process ends.
    until("two seconds or the end", || {
        trial.seconds().len() > 1 || child.try_wait().is_ok_and(|status| status.is_some())
    });
    let running = child.try_wait().is_ok_and(|status| status.is_none());
    if running {
        interrupt(&child);
    }
    let ended = trial.finish(child);
    assert_eq!(ended.code, if running { 130 } else { 0 }, "{ended:?}");
    assert_eq!(trial.rows().len(), 0);
    running
}

#[test]
fn loops_around_nothing_end_by_themselves() {
    // JMeter removes controllers without children while the plan runs.
    let bodies = [
        "",
        r#"<LoopController testname="Again"><stringProp name="LoopController.loops">-1</stringProp></LoopController><hashTree/>"#,
        r#"<WhileController testname="On"><stringProp name="WhileController.condition">true</stringProp></WhileController><hashTree><GenericController testname="G"/><hashTree/></hashTree>"#,
    ];
    for body in bodies {
        assert!(!had_to_be_asked(&empty_group().replace("<!--more-->", body)), "{body}");
    }
}

#[test]
fn loops_that_never_reach_a_sampler_end_when_asked() {
    let bodies = [
        NEVER.to_string(),
        format!(
            r#"<WhileController testname="On"><stringProp name="WhileController.condition">true</stringProp></WhileController><hashTree>
            <LoopController testname="Inner"><stringProp name="LoopController.loops">2000000000</stringProp></LoopController><hashTree>{NEVER}</hashTree></hashTree>"#
        ),
    ];
    for body in bodies {
        assert!(had_to_be_asked(&empty_group().replace("<!--more-->", &body)), "{body}");
    }
}

#[test]
fn loops_that_never_reach_a_sampler_end_with_their_time() {
    let trial = Trial::new();
    let plan = empty_group().replace("<!--more-->", NEVER);
    trial.program.write("http.jmx", &scheduled(&plan));
    let ended = trial.run(&[
        "-n",
        "-t",
        "http.jmx",
        "-l",
        "out.jtl",
        "-Jloops=-1",
        "-Jseconds=1",
        "-Jusers=5",
    ]);
    assert_eq!((ended.code, trial.rows().len()), (0, 0), "{ended:?}");
}

#[test]
fn a_duration_shorter_than_the_ramp_up() {
    // As in JMeter, the run lasts until the last user has started. A user that starts after the duration finishes at
    // most one sample.
    let trial = Trial::scheduled(
        r#"<ConstantTimer testname="Pause"><stringProp name="ConstantTimer.delay">50</stringProp></ConstantTimer><hashTree/>"#,
    );
    let line = ["-Jusers=40", "-Jramp=6", "-Jseconds=1", "-Jloops=-1"];
    let (ended, rows) = trial.against(answering(GOOD), &line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(rows.iter().all(|row| row.success), "{rows:?}");
    assert_eq!(rows.len() as u64, number(&trial.summary(), "requests"));
    // About seven users start in the first second, and each makes at most 20 samples a second.
    assert!((7..200).contains(&rows.len()), "{} rows", rows.len());
}

#[test]
fn five_thousand_users() {
    let trial = Trial::new();
    let ended = trial.run(&[
        "-n",
        "-t",
        "plan.jmx",
        "-l",
        "out.jtl",
        "-Jusers=5000",
        "-Jloops=2",
        "-Jms=200",
    ]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    assert_eq!((rows.len(), number(&trial.summary(), "requests")), (10_000, 10_000));
    assert!(rows.iter().all(|row| row.success));
}

#[test]
fn a_request_without_a_server() {
    let trial = Trial::new();
    trial.program.write("http.jmx", &HTTP.replace("${__P(host,127.0.0.1)}", ""));
    let ended = trial.run(&["-n", "-t", "http.jmx", "-l", "out.jtl"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    assert_eq!(rows.len(), 6, "{rows:?}");
    for row in rows {
        assert_eq!(
            row.code,
            "Non HTTP response code: org.apache.http.client.ClientProtocolException"
        );
        assert_eq!(
            row.message,
            "Non HTTP response message: URI does not specify a valid host name: http:/"
        );
    }
}

#[test]
fn very_long_names() {
    let name = "long ".repeat(40_000);
    let trial = Trial::new();
    let plan = HTTP
        .replace("testname=\"Request\"", &format!("testname=\"{name}\""))
        .replace("testname=\"Users\"", &format!("testname=\"{name}\""))
        .replace("${__P(path,/)}", &format!("/{}", "p".repeat(100_000)));
    trial.program.write("http.jmx", &plan);
    let (ended, rows) = trial.against(answering(GOOD), &[]);
    assert_eq!((ended.code, rows.len()), (0, 6), "{}", ended.err.len());
    assert!(rows.iter().all(|row| row.success && row.label == name));
}

#[test]
fn all_the_worlds_letters() {
    let name = "Ünï 漢字 🦀 עברית \u{202e}rtl\u{202c} &lt;&amp;&quot;, ;&#10;e\u{301}";
    let label = name
        .replace("&lt;", "<")
        .replace("&amp;", "&")
        .replace("&quot;", "\"")
        .replace("&#10;", "\n");
    let trial = Trial::new();
    let plan = HTTP
        .replace("testname=\"Request\"", &format!("testname=\"{name}\""))
        .replace("testname=\"Users\"", &format!("testname=\"{name}\""))
        .replace("${__P(path,/)}", "/päth/漢?q=🦀 x&amp;y");
    trial.program.write("日本 🦀.jmx", &plan);
    let port = format!("-Jport={}", answering(GOOD));
    let ended = trial.run(&["-n", "-t", "日本 🦀.jmx", "-l", "out.jtl", &port, "-Jλ=🦀"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    assert_eq!(rows.len(), 6, "{rows:?}");
    for row in &rows {
        assert_eq!(row.label, label);
    }
    assert!(ended.out.contains("漢字"), "{}", ended.out);
}

#[test]
fn what_is_wrong_often_is_said_a_few_times() {
    let plan = |inner: &str| {
        format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="P"/><hashTree>{inner}</hashTree></hashTree></jmeterTestPlan>"#
        )
    };
    let controller = "\n<GenericController testclass=\"GenericController\" testname=\"c\"/>";
    let nested = format!("{controller}<hashTree>").repeat(100_000) + &"</hashTree>".repeat(100_000);
    let nowhere = format!("{controller}<hashTree/>").repeat(3_000);
    let (mut unknown, mut mismatched) = (String::new(), String::new());
    for n in 0..3_000 {
        let _ = writeln!(unknown, "<Unknown testclass=\"Unknown\" testname=\"u{n}\"/><hashTree/>");
        let _ = writeln!(mismatched, "<Unknown{n} testclass=\"LoopController\"/><hashTree/>");
    }
    for inner in [nested, nowhere, unknown, mismatched] {
        let trial = Trial::new();
        trial.program.write("often.jmx", &plan(&inner));
        for line in [&["check", "often.jmx"][..], &["-n", "-t", "often.jmx"]] {
            let ended = trial.run(line);
            let said = ended.out.lines().count() + ended.err.lines().count();
            assert!(said < 200, "{line:?}: {said} lines\n{}{}", ended.out, ended.err);
            let all = ended.out + &ended.err;
            assert!(all.len() < 40_000, "{line:?}: {} bytes", all.len());
        }
        let ended = trial.run(&["check", "often.jmx"]);
        assert!(ended.out.contains("more like this"), "{ended:?}");
    }
}
