//! Capacity searches on targets that an overload leaves with unfinished work, or breaks.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use targets::Config;

use crate::program::{PLAN, Program};
use crate::{answer, is_doubted};

/// Returns a plan of endless requests with a response time-out of 400 ms.
fn plan(port: u16) -> String {
    let request = format!(
        "<HTTPSamplerProxy testclass=\"HTTPSamplerProxy\" testname=\"get\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
         <stringProp name=\"HTTPSampler.port\">{port}</stringProp><stringProp name=\"HTTPSampler.path\">/</stringProp>\
         <stringProp name=\"HTTPSampler.method\">GET</stringProp>\
         <stringProp name=\"HTTPSampler.response_timeout\">400</stringProp></HTTPSamplerProxy><hashTree/>"
    );
    PLAN.replace("${__P(loops,1)}", "-1").replace("<!--more-->", &request)
}

const SHORT: [&str; 4] = ["--probe", "1s", "--settle", "500ms"];

pub(crate) fn a_search_waits_for_a_target_that_works_off_what_nobody_waits_for() {
    let program = Program::new();
    // The target handles 20 requests a second. The overload leaves it with about 12 s of work, but users give up after
    // 400 ms.
    let config = Config::new("service").option("workers", "1").option("ms", "50");
    let running = targets::start(config).expect("it starts");
    program.write("plan.jmx", &plan(running.addr().port()));
    let line = ["capacity", "plan.jmx", "--at-most", "64", "--probes", "5"];
    let criteria = ["--fail", "p95 < 300ms for label get", "--fail", "error% < 1"];
    let ended = program.run(&[&line[..], &criteria, &SHORT].concat());
    running.stop();
    let capacity = answer(&program, "capacity.json");
    if is_doubted(&capacity) {
        return;
    }
    assert!(capacity["not_recovered_from"].is_null(), "{}{}", ended.out, ended.err);
    let lower = capacity["answer"]["lower"].as_f64();
    assert!(lower.is_some_and(|lower| lower >= 2.0), "{}{}", ended.out, ended.err);
}

/// Starts a server that answers until five connections are open at once, and from then on only with 503. Returns its
/// port, and whether it is broken.
fn fragile() -> (u16, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (broken, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let is_broken = Arc::clone(&broken);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (broken, open) = (Arc::clone(&broken), Arc::clone(&open));
            std::thread::spawn(move || {
                if open.fetch_add(1, SeqCst) >= 4 {
                    broken.store(true, SeqCst);
                }
                serve(stream, &broken);
                open.fetch_sub(1, SeqCst);
            });
        }
    });
    (port, is_broken)
}

/// Sends one response per read. Requests are small enough to arrive in one read.
fn serve(mut stream: TcpStream, broken: &AtomicBool) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
        std::thread::sleep(std::time::Duration::from_millis(10));
        let status = if broken.load(SeqCst) { "503 Broken" } else { "200 OK" };
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_target_that_an_overload_breaks_gives_a_lower_bound() {
    let program = Program::new();
    let (port, broken) = fragile();
    program.write("plan.jmx", &plan(port));
    let line = ["capacity", "plan.jmx", "--at-most", "16", "--fail", "error% < 1"];
    let ended = program.run(&[&line[..], &SHORT].concat());
    let capacity = answer(&program, "capacity.json");
    // On a machine that stalls, responses are late, and the search proves nothing.
    if is_doubted(&capacity) || capacity["probes"][0]["holds"] == false {
        return;
    }
    assert!(broken.load(SeqCst), "{ended:?}");
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in [
        "At least 1 user (",
        "did not recover from the probe at 16 users",
        "Let the target recover",
    ] {
        assert!(ended.out.contains(words), "{words}: {}{}", ended.out, ended.err);
    }
    assert_eq!(capacity["at_least"], true);
    assert_eq!(capacity["probes"].as_array().map(Vec::len), Some(2), "{capacity}");
}
