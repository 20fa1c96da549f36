//! Ctrl-C once, Ctrl-C twice and `kill -9`, each with requests in flight.

use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::peer::{answering, peer, request, stall};
use crate::trial::{JTL, Trial, number, rows};

/// Waits until the condition holds; fails the test after one minute.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends SIGINT to the program, as Ctrl-C does.
pub(crate) fn interrupt(child: &Child) {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it lives");
}

/// Sends a second SIGINT after the program has handled the first. The kernel would merge two signals sent together.
pub(crate) fn interrupt_twice(trial: &Trial, child: &Child) {
    interrupt(child);
    until("the first is heard", || trial.program.read("stderr").contains("Ctrl-C again"));
    interrupt(child);
}

#[test]
fn twice_cuts_what_never_ends_and_counts_it_apart() {
    let trial = Trial::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    let port = peer(move |connection| {
        request(connection);
        seen.fetch_add(1, Ordering::SeqCst);
        stall(connection);
    });
    let child = trial.start(port, &["-Jusers=20"]);
    until("all ask", || asked.load(Ordering::SeqCst) == 20);
    interrupt_twice(&trial, &child);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    let summary = trial.summary();
    let counts = ["requests", "failed", "cut_by_end"].map(|name| number(&summary, name));
    assert_eq!(counts, [0, 0, 20], "{summary}");
    assert!(ended.out.contains("... end of run"), "{ended:?}");
}

#[test]
fn a_program_that_asks_once_gets_its_results_after_the_grace() {
    let trial = Trial::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    let port = peer(move |connection| {
        request(connection);
        seen.fetch_add(1, Ordering::SeqCst);
        stall(connection);
    });
    let more =
        ["-Jusers=5", "-Jthrong.stop.grace=1", "--junit", "junit.xml", "--fail", "errors < 1"];
    let line = ["run", "http.jmx", &format!("-Jport={port}")];
    let child = trial.spawn(&[&[env!("CARGO_BIN_EXE_throng")], &line[..], &more].concat());
    until("all ask", || asked.load(Ordering::SeqCst) == 5);
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it lives");
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert_eq!(number(&trial.summary(), "cut_by_end"), 5);
    assert!(ended.err.contains("samples in flight are cut, 1 s after the signal"), "{ended:?}");
    assert!(trial.program.read("junit.xml").contains("it was interrupted"));
}

#[test]
fn once_waits_for_what_is_in_flight() {
    let trial = Trial::new();
    let port = peer(|connection| {
        while request(connection) {
            std::thread::sleep(Duration::from_secs(2));
            let _ = std::io::Write::write_all(
                connection,
                b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            );
        }
    });
    let child = trial.start(port, &["-Jusers=20", "-Jloops=-1"]);
    until("a second", || !trial.seconds().is_empty());
    interrupt(&child);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    let rows = trial.rows();
    let summary = trial.summary();
    assert_eq!((number(&summary, "cut_by_end"), number(&summary, "failed")), (0, 0), "{summary}");
    assert_eq!(rows.len() as u64, number(&summary, "requests"));
    assert!(rows.len() >= 20 && rows.iter().all(|row| row.success), "{rows:?}");
}

#[test]
fn after_a_kill_everything_up_to_the_last_second_is_readable() {
    let trial = Trial::new();
    let port = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let mut child = trial.start(port, &["-Jusers=4", "-Jloops=-1"]);
    until("three seconds", || trial.seconds().len() >= 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let told: u64 = trial.seconds().iter().map(|second| number(second, "samples")).sum();
    let rows = rows(&trial.program.read(JTL));
    assert!(told > 0 && rows.iter().all(|row| row.success && row.label == "Request"));
    // Rows of the last second may not be in the file yet when its line in `seconds.jsonl` is written.
    let seconds = trial.seconds();
    let last = number(seconds.last().unwrap(), "samples");
    assert!(rows.len() as u64 >= told - last, "{} rows of {told} samples", rows.len());
}
