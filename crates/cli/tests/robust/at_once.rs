//! Samples that end immediately, thousands in a row: they do not nest on the stack, and the run still reacts to Ctrl-C.

use std::time::{Duration, Instant};

use crate::asked_to_end::{interrupt, until};
use crate::element::{element, text};
use crate::http_plan::HTTP;
use crate::peer::{answering, asked, peer};
use crate::trial::{JTL, Trial, number};

/// Number of loops. This many nested samples would overflow a core's stack.
const LOOPS: usize = 5000;
/// A multicast address. A TCP connect to it fails immediately with `ENETUNREACH`.
const NOWHERE: &str = "224.0.0.1";
/// The broadcast address. Sending a datagram to it fails immediately with `EACCES`.
const EVERYBODY: &str = "255.255.255.255";

/// Returns a request to a port that needs no server.
fn http(properties: &[(&str, &str)]) -> String {
    crate::element::http(&[&[("HTTPSampler.port", "9")], properties].concat(), "")
}

fn unreachable() -> String {
    http(&[("HTTPSampler.domain", NOWHERE)])
}

/// Runs the loop, asserts that every row failed, and returns the number of rows.
fn all_fail(body: &str, more: &[&str]) -> usize {
    let trial = Trial::doing(body);
    let loops = format!("-Jloops={LOOPS}");
    let line = ["-n", "-t", "http.jmx", "-l", JTL, "-Jusers=2", &loops];
    let ended = trial.run(&[&line[..], more].concat());
    assert_eq!(ended.code, 0, "{body}: {ended:?}");
    let rows = trial.rows();
    assert!(rows.iter().all(|row| !row.success), "{body}: {:?}", rows[0]);
    rows.len()
}

#[test]
fn samplers_that_cannot_connect() {
    let expected = 2 * LOOPS;
    let implementation = ("HTTPSampler.implementation", "Java");
    for body in [
        unreachable(),
        http(&[("HTTPSampler.domain", NOWHERE), ("HTTPSampler.protocol", "https")]),
        http(&[("HTTPSampler.domain", NOWHERE), implementation]),
        http(&[("HTTPSampler.domain", "127.0.0.1"), ("HTTPSampler.ipSource", "192.0.2.1")]),
        http(&[
            ("HTTPSampler.domain", "127.0.0.1"),
            ("HTTPSampler.proxyHost", NOWHERE),
            ("HTTPSampler.proxyPort", "9"),
        ]),
        http(&[("HTTPSampler.domain", "")]),
        element("TCPSampler", &[("TCPSampler.server", NOWHERE), ("TCPSampler.port", "9")], ""),
        element(
            "kg.apc.jmeter.samplers.HTTPRawSampler",
            &[("hostname", NOWHERE), ("port", "9"), ("data", "x")],
            "",
        ),
        element(
            "kg.apc.jmeter.samplers.UDPSampler",
            &[("hostname", EVERYBODY), ("port", "9"), ("data", "x"), ("waitresponse", "true")],
            "",
        ),
        element(
            "eu.luminis.jmeter.wssampler.OpenWebSocketSampler",
            &[("server", NOWHERE), ("port", "9"), ("path", "/"), ("connectTimeout", "1000")],
            "",
        ),
        element(
            "eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler",
            &[("createNewConnection", "false"), ("readTimeout", "1000")],
            "",
        ),
    ] {
        let rows = all_fail(&body, &["-Jthrong.websocket.reconnect.first_ms=0"]);
        assert_eq!(rows, expected, "{body}");
    }
}

#[test]
fn samplers_within_controllers() {
    let sample = unreachable();
    let parent = r#"<boolProp name="TransactionController.parent">true</boolProp>"#;
    let transaction = |more: &str| {
        format!(
            r#"<TransactionController testclass="TransactionController" testname="T" enabled="true">{more}</TransactionController><hashTree>{sample}{sample}</hashTree>"#
        )
    };
    let parallel = |parent: bool| {
        let class = "com.blazemeter.jmeter.controller.ParallelSampler";
        format!(
            r#"<{class} testclass="{class}" testname="P" enabled="true"><boolProp name="PARENT_SAMPLE">{parent}</boolProp></{class}><hashTree>{sample}{}</hashTree>"#,
            transaction("")
        )
    };
    assert_eq!(all_fail(&transaction(""), &[]), 3 * 2 * LOOPS);
    assert_eq!(
        all_fail(&transaction(parent), &["-Jjmeter.save.saveservice.subresults=false"]),
        2 * LOOPS
    );
    assert_eq!(all_fail(&parallel(false), &[]), 4 * 2 * LOOPS);
    assert_eq!(
        all_fail(&parallel(true), &["-Jjmeter.save.saveservice.subresults=false"]),
        2 * LOOPS
    );
}

#[test]
fn samples_that_end_well() {
    let udp = [("hostname", "127.0.0.1"), ("port", "9"), ("data", "x"), ("waitresponse", "false")];
    // The UDP sampler waits for no response, so a refused datagram does not fail the sample.
    let datagram = element("kg.apc.jmeter.samplers.UDPSampler", &udp, "");
    let trial = Trial::doing(&[element("DebugSampler", &[], ""), datagram].concat());
    let loops = format!("-Jloops={LOOPS}");
    let ended = trial.run(&["-n", "-t", "http.jmx", "-l", JTL, "-Jusers=2", &loops]);
    assert_eq!((ended.code, trial.rows().len()), (0, 4 * LOOPS), "{ended:?}");
}

#[test]
fn answers_from_the_cache() {
    const ANSWER: &str = "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 2\r\n\r\nok";
    let manager = r#"<CacheManager testclass="CacheManager" testname="Cache" enabled="true"><boolProp name="useExpires">true</boolProp></CacheManager><hashTree/>"#;
    for (mode, rows) in [("RETURN_NO_SAMPLE", 2), ("RETURN_200_CACHE", 2 * LOOPS)] {
        let trial = Trial::with(manager);
        let (loops, mode) =
            (format!("-Jloops={LOOPS}"), format!("-Jcache_manager.cached_resource_mode={mode}"));
        let (ended, all) = trial.against(answering(ANSWER), &["-Jusers=2", &loops, &mode]);
        assert_eq!((ended.code, all.len()), (0, rows), "{mode}: {ended:?}");
    }
}

#[test]
fn redirects_and_parts_that_lead_nowhere() {
    const REDIRECTS: usize = 500;
    let port = peer(|connection| {
        while let Some(path) = asked(connection) {
            let picture = |n| format!("<img src=\"http://{NOWHERE}/{n}.png\">");
            let page: String = (0..20).map(picture).collect();
            let length = page.len();
            let answer = match &*path {
                "/page" => format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{page}"
                ),
                _ => format!(
                    "HTTP/1.1 302 Found\r\nLocation: http://{NOWHERE}/\r\nContent-Length: 0\r\n\r\n"
                ),
            };
            if std::io::Write::write_all(connection, answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    let embedded = r#"<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="Defaults" enabled="true"><boolProp name="HTTPSampler.image_parser">true</boolProp></ConfigTestElement><hashTree/>"#;
    for path in ["/redirect", "/page"] {
        let trial = Trial::with(embedded);
        let (loops, path) = (format!("-Jloops={REDIRECTS}"), format!("-Jpath={path}"));
        let more = ["-Jusers=2", &loops, &path, "-Jjmeter.save.saveservice.subresults=false"];
        let (ended, rows) = trial.against(port, &more);
        assert_eq!((ended.code, rows.len()), (0, 2 * REDIRECTS), "{path}: {ended:?}");
        assert!(rows.iter().all(|row| !row.success), "{path}: {:?}", rows[0]);
    }
}

#[test]
fn a_name_with_very_many_addresses() {
    let addresses = vec![NOWHERE; 20_000].join(",");
    let manager = format!(
        r#"<DNSCacheManager testclass="DNSCacheManager" testname="Names" enabled="true"><collectionProp name="DNSCacheManager.hosts"><elementProp name="many.test" elementType="StaticHost">{}{}</elementProp></collectionProp></DNSCacheManager><hashTree/>"#,
        text("StaticHost.Name", "many.test"),
        text("StaticHost.Address", &addresses)
    );
    let trial = Trial::doing(&[http(&[("HTTPSampler.domain", "many.test")]), manager].concat());
    let ended = trial.run(&["-n", "-t", "http.jmx", "-l", JTL, "-Jusers=1", "-Jloops=2"]);
    let rows = trial.rows();
    assert_eq!((ended.code, rows.len()), (0, 2), "{ended:?}");
    assert!(rows.iter().all(|row| !row.success), "{:?}", rows[0]);
}

#[test]
fn without_file_descriptors() {
    let trial = Trial::new();
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let port = target.addr().port();
    let ended = trial.shell(&format!(
        "ulimit -n 64; exec \"$0\" -n -t http.jmx -l {JTL} -Jport={port} -Jusers=100 -Jloops=500 -Jthrong.workers=1"
    ));
    assert_eq!((ended.code, trial.rows().len()), (0, 50_000), "{ended:?}");
}

#[test]
fn without_local_ports() {
    let trial = Trial::new();
    let run = r#""$0" -n -t http.jmx -l out.jtl -Jport=8080 -Jusers=6 -Jloops=1000 -Jthrong.workers=1 || exit $?"#;
    let Some(ended) = trial.in_own_network([40000, 40001], 1, run) else { return };
    assert_eq!((ended.code, trial.rows().len()), (0, 6000), "{ended:?}");
}

/// Starts two users whose samples fail immediately forever, and two users that a server answers.
fn beside_a_server(more: &[&str]) -> (Trial, std::process::Child) {
    let served = &HTTP[HTTP.find("      <ThreadGroup ").expect("a group")
        ..HTTP.rfind("    </hashTree>\n  </hashTree>").expect("its end")];
    let trial = Trial::doing(&unreachable());
    let plan = trial.program.read("http.jmx");
    let end = plan.rfind("    </hashTree>\n  </hashTree>").expect("the end");
    trial.program.write(
        "http.jmx",
        &[&plan[..end], served, &plan[end..]].concat().replace("<!--more-->", ""),
    );
    let port = format!("-Jport={}", answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    let line =
        [env!("CARGO_BIN_EXE_throng"), "-n", "-t", "http.jmx", "-l", JTL, "-Jloops=-1", &port];
    let child = trial.spawn(&[&line[..], more].concat());
    (trial, child)
}

#[test]
fn others_have_their_turns_and_ctrl_c_is_heard() {
    let (trial, child) = beside_a_server(&[]);
    until("two seconds", || trial.seconds().len() >= 2);
    interrupt(&child);
    let asked = Instant::now();
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(asked.elapsed() < Duration::from_secs(60), "never");
    let rows = trial.rows();
    let served = rows.iter().filter(|row| row.success).count();
    assert!(served > 0 && served < rows.len(), "{served} of {}", rows.len());
    assert_eq!(number(&trial.summary(), "requests"), rows.len() as u64);
}

#[test]
fn a_duration_ends_them() {
    let trial = Trial::doing(&unreachable());
    let plan = crate::http_plan::scheduled(&trial.program.read("http.jmx"));
    trial.program.write("http.jmx", &plan);
    let line = ["-n", "-t", "http.jmx", "-l", JTL, "-Jusers=50", "-Jloops=-1", "-Jseconds=2"];
    let ended = trial.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(trial.rows().len() > 50);
}

#[test]
fn a_request_whose_name_has_no_end_ends_its_user() {
    let argument =
        text("Argument.name", "a") + &text("Argument.value", "${__char(36)}{__evalVar(a)}");
    let variable = format!(
        r#"<Arguments testclass="Arguments" testname="Variables" enabled="true"><collectionProp name="Arguments.arguments"><elementProp name="a" elementType="Argument">{argument}</elementProp></collectionProp></Arguments><hashTree/>"#
    );
    let endless = crate::element::http(&[], "").replace("Sample\"", "${__evalVar(a)}\"");
    let trial = Trial::doing(&[variable, crate::element::http(&[], ""), endless].concat());
    let port = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let (ended, rows) = trial.against(port, &["-Jusers=2", "-Jloops=3"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(rows.iter().filter(|row| row.success).count(), 2, "one of each user: {rows:?}");
    assert_eq!(rows.len(), 2, "what ends a user is no sample: {rows:?}");
    assert!(
        ended.err.contains("user stopped: Users 1-1: java.lang.StackOverflowError"),
        "{ended:?}"
    );
}
