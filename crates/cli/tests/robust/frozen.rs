//! One extreme response or plan value must not freeze a core: users of a second group on the same core keep sending
//! about twenty requests a second to another server.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::asked_to_end::{interrupt, interrupt_twice, until};
use crate::element::{element, http, text};
use crate::peer::{answering, endless, peer, request};
use crate::program::Ended;
use crate::trial::Trial;

/// Longest allowed gap between requests of the other users. Without a bound, each test case would block the core
/// for minutes.
const NEVER: Duration = Duration::from_secs(20);
/// Step limit for evaluations. The limit is low because debug builds are slow.
const STEPS: &str = "-Jthrong.evaluation.steps=1000000";

/// Times at which the users of the second group sent their requests.
#[derive(Clone, Default)]
struct Beside(Arc<Mutex<Vec<Instant>>>);

impl Beside {
    /// Starts the server of the second group and returns its port.
    fn serve(&self) -> u16 {
        let times = Arc::clone(&self.0);
        peer(move |connection| {
            while request(connection) {
                times.lock().expect("no panic").push(Instant::now());
                if connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                    return;
                }
            }
        })
    }

    fn count(&self) -> usize {
        self.0.lock().expect("no panic").len()
    }

    /// Returns the longest gap between two requests of the second group.
    fn stood_still(&self) -> Duration {
        let times = self.0.lock().expect("no panic");
        times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(Duration::MAX)
    }
}

/// Returns a plan of two groups. The user of the first group runs `body` and, if `ends`, ends the test. The second
/// group sends requests.
fn two_groups(body: &str, ends: bool) -> Trial {
    let end = r#"<TestAction guiclass="TestActionGui" testclass="TestAction" testname="end" enabled="true"><intProp name="ActionProcessor.action">2</intProp><intProp name="ActionProcessor.target">2</intProp></TestAction><hashTree/>"#;
    let timer = element("ConstantTimer", &[("ConstantTimer.delay", "50")], "");
    let beside = http(&[("HTTPSampler.port", "${__P(beside)}")], &timer);
    // The second group starts first and continues for a moment after `body` has ended.
    let pause = r#"<TestAction guiclass="TestActionGui" testclass="TestAction" testname="pause" enabled="true"><intProp name="ActionProcessor.action">1</intProp><intProp name="ActionProcessor.target">0</intProp><stringProp name="ActionProcessor.duration">500</stringProp></TestAction><hashTree/>"#;
    let first = [pause, body, pause, if ends { end } else { "" }].concat();
    let trial = Trial::doing(&first);
    let plan = trial.program.read("http.jmx");
    let group = &plan[plan.find("      <ThreadGroup ").expect("a group")
        ..plan.rfind("    </hashTree>\n  </hashTree>").expect("its end")];
    let second = group.replace(&first, &beside).replace("${__P(loops,3)}", "-1");
    trial.program.write("http.jmx", &plan.replace(group, &[group, &second].concat()));
    trial
}

/// Runs the plan to its end and asserts that the users of the second group never paused for long.
fn goes_on(body: &str, port: u16, more: &[&str]) -> (Trial, Ended) {
    let trial = two_groups(body, true);
    let beside = Beside::default();
    let other = format!("-Jbeside={}", beside.serve());
    let own = ["-Jusers=1", "-Jloops=1", "--cores", "1", &other, STEPS];
    let child = trial.start(port, &[&own[..], more].concat());
    let ended = trial.finish(child);
    assert_eq!(ended.code, 0, "{ended:?}");
    let (still, count) = (beside.stood_still(), beside.count());
    assert!(count >= 5 && still < NEVER, "{count} requests, {still:?} between two: {ended:?}");
    (trial, ended)
}

fn log(trial: &Trial) -> String {
    std::fs::read_to_string(trial.program.run_folder().join("throng.log")).expect("a log")
}

/// Returns a sampler whose assertion evaluates the template `value`.
fn evaluates(value: &str) -> String {
    element("DebugSampler", &[], &assertion(value))
}

/// Returns a Response Assertion on the response code, with this value as its pattern.
fn assertion(value: &str) -> String {
    format!(
        r#"<ResponseAssertion testclass="ResponseAssertion" testname="Assertion" enabled="true"><collectionProp name="Asserion.test_strings"><stringProp name="1">{value}</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_code</stringProp><intProp name="Assertion.test_type">8</intProp></ResponseAssertion><hashTree/>"#
    )
}

fn extractor(pattern: &str) -> String {
    element(
        "RegexExtractor",
        &[
            ("RegexExtractor.refname", "x"),
            ("RegexExtractor.regex", pattern),
            ("RegexExtractor.template", "$0$"),
            ("RegexExtractor.default", "none"),
            ("RegexExtractor.match_number", "1"),
        ],
        "",
    )
}

fn answer(head: &str, body: &str) -> u16 {
    answering(format!("HTTP/1.1 200 OK\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len()))
}

#[test]
fn functions_that_make_much_of_little() {
    for call in [
        "${__RandomString(268435456,ab)}",
        "${__RandomString(268435456,\u{e4}\u{f6})}",
        "${__RandomString(268435456)}",
    ] {
        let (trial, _) = goes_on(&evaluates(call), 9, &[]);
        let log = log(&trial);
        assert!(log.contains("stopped after 1000000 steps"), "{call}: {log}");
    }
}

#[test]
fn functions_that_make_much_of_what_a_server_said() {
    let port = answer("", &"a".repeat(200_000));
    for call in ["${__strReplace(${x},a,${x})}", "${__split(${x},y,a)}"] {
        let body = [http(&[], &extractor("a+")), evaluates(call)].concat();
        let (trial, _) = goes_on(&body, port, &[]);
        let log = log(&trial);
        assert!(log.contains("stopped after 1000000 steps"), "{call}: {log}");
    }
}

#[test]
fn boundaries_that_are_far_apart() {
    let port = answer("", &("a".repeat(4_000_000) + "b"));
    let search = [
        ("BoundaryExtractor.refname", "x"),
        ("BoundaryExtractor.lboundary", "a"),
        ("BoundaryExtractor.rboundary", "b"),
        ("BoundaryExtractor.match_number", "1000000000"),
        ("BoundaryExtractor.default", "none"),
    ];
    let _ = goes_on(&http(&[], &element("BoundaryExtractor", &search, "")), port, &[]);
}

#[test]
fn patterns_of_paths_that_go_back_and_back() {
    let search = [
        ("JSONPostProcessor.referenceNames", "x"),
        ("JSONPostProcessor.jsonPathExprs", "$[?(@.a =~ /(?:(a+)+\\1)+c/)]"),
        ("JSONPostProcessor.match_numbers", "1"),
        ("JSONPostProcessor.defaultValues", "none"),
    ];
    let port = answer("", &format!("[{{\"a\":\"{}\"}}]", "a".repeat(2000)));
    let (trial, _) = goes_on(&http(&[], &element("JSONPostProcessor", &search, "")), port, &[]);
    let log = log(&trial);
    assert!(
        log.contains("JSON Extractor of Sample: stopped: a regular expression in a JSONPath"),
        "{log}"
    );
}

#[test]
fn cookies_by_the_thousand() {
    let line = |n: u32| format!("Set-Cookie: c{n}=v; Path=/\r\n");
    let head: String = (0..4000).map(line).collect();
    let manager = element("CookieManager", &[], "");
    let body = [manager, http(&[], "").repeat(20)].concat();
    let _ = goes_on(&body, answer(&head, ""), &[]);
}

#[test]
fn ever_new_cookies() {
    let number = std::sync::atomic::AtomicU32::new(0);
    let port = peer(move |connection| {
        while request(connection) {
            let line = |_| {
                let n = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                format!("Set-Cookie: c{n}=v; Path=/\r\n")
            };
            let head: String = (0..4000).map(line).collect();
            let answer = format!("HTTP/1.1 200 OK\r\n{head}Content-Length: 0\r\n\r\n");
            if connection.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    let manager = element("CookieManager", &[], "");
    let _ = goes_on(&[manager, http(&[], "").repeat(20)].concat(), port, &[]);
}

#[test]
fn a_timer_with_very_many_moments() {
    let timer = element(
        "PreciseThroughputTimer",
        &[
            ("throughput", "1000000000"),
            ("throughputPeriod", "1"),
            ("duration", "3600"),
            ("batchSize", "1"),
            ("randomSeed", "1"),
        ],
        "",
    );
    let trial = two_groups(&element("DebugSampler", &[], &timer), false);
    let beside = Beside::default();
    let other = format!("-Jbeside={}", beside.serve());
    let child = trial.start(9, &["-Jusers=1", "-Jloops=1", "--cores", "1", &other, STEPS]);
    until("requests", || beside.count() > 20);
    interrupt(&child);
    assert_eq!(trial.finish(child).code, 130);
    assert!(beside.stood_still() < NEVER, "{:?}", beside.stood_still());
}

#[test]
fn loops_without_samplers() {
    let never = |below: &str| {
        format!(
            r#"<IfController testclass="IfController" testname="If" enabled="true"><stringProp name="IfController.condition">false</stringProp><boolProp name="IfController.useExpression">true</boolProp></IfController><hashTree>{below}</hashTree>"#
        )
    };
    let counted = never(&element("DebugSampler", &[], ""))
        .replace(">false<", ">${__jexl3(${__counter(FALSE)} &lt; 0)}<");
    let sampler = element("DebugSampler", &[], "");
    let controller = |class: &str, properties: &[(&str, &str)], below: &str| {
        let properties: String = properties.iter().map(|(name, value)| text(name, value)).collect();
        format!(
            r#"<{class} testclass="{class}" testname="C" enabled="true">{properties}</{class}><hashTree>{below}</hashTree>"#
        )
    };
    let each = [
        ("ForeachController.inputVal", "none"),
        ("ForeachController.returnVal", "one"),
        ("ForeachController.startIndex", "-1000000000"),
        ("ForeachController.endIndex", "1000000000"),
    ];
    let huge = [("LoopController.loops", "2147483647")];
    for body in [
        controller("WhileController", &[("WhileController.condition", "true")], &counted),
        controller("LoopController", &huge, &never(&sampler)),
        controller("LoopController", &huge, &controller("LoopController", &huge, &counted)),
        controller("LoopController", &huge, &controller("ForeachController", &each, &sampler)),
        controller("LoopController", &huge, ""),
    ] {
        // Elements after `body` are reached only when the huge loop ends, if at all, so the test ends the run by
        // Ctrl-C.
        let trial = two_groups(&body, false);
        let beside = Beside::default();
        let other = format!("-Jbeside={}", beside.serve());
        let child = trial.start(9, &["-Jusers=1", "-Jloops=1", "--cores", "1", &other]);
        until("requests", || beside.count() > 20);
        interrupt(&child);
        let ended = trial.finish(child);
        assert_eq!(ended.code, 130, "{body}: {ended:?}");
        assert!(beside.stood_still() < NEVER, "{body}: {:?}", beside.stood_still());
    }
}

/// A server sends data faster than the client can decode it.
#[test]
fn answers_without_an_end() {
    let heads: [(&'static [u8], &'static [u8]); 3] = [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
    ];
    let read = http(&[], &assertion("x").replace("response_code", "response_data"));
    for (head, again) in heads {
        let trial = two_groups(&read, false);
        let beside = Beside::default();
        let other = format!("-Jbeside={}", beside.serve());
        let more = ["-Jusers=1", "-Jloops=1", "--cores", "1", &other];
        let kept = "-Jthrong.response.most_bytes=1048576";
        let child = trial.start(endless(head, again), &[&more[..], &[kept]].concat());
        until("requests", || beside.count() > 6);
        interrupt_twice(&trial, &child);
        let ended = trial.finish(child);
        assert_eq!(ended.code, 130, "{ended:?}");
        assert!(beside.stood_still() < NEVER, "{:?}", beside.stood_still());
    }
}
