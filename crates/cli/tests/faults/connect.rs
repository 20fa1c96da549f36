//! Connections that fail inside the system call, one test per errno. Each failure is a sample with a row, and the run
//! ends normally.

use crate::program::{may_unshare, skip};
use crate::trial::{Trial, number};

/// Asserts that the run's files agree on 2000 samples, that some or all failed, and that the first error cause is
/// `kind`.
fn holds(trial: &Trial, what: &str, kind: &str) {
    let (summary, rows) = (trial.summary(), trial.rows());
    assert_eq!((number(&summary, "requests"), rows.len()), (2000, 2000), "{what}: {summary}");
    let failed = rows.iter().filter(|row| !row.success).count() as u64;
    assert!(failed > 0 && failed == number(&summary, "failed"), "{what}: {summary}");
    assert_eq!(summary["errors"][0]["kind"], kind, "{what}: {summary}");
    let samples: u64 = trial.seconds().iter().map(|second| number(second, "samples")).sum();
    assert_eq!(samples, 2000, "{what}");
    assert!(summary["lost"].is_null(), "{what}: {summary}");
}

const RUN: &str = "\"$0\" run http.jmx -l out.jtl -Jthrong.workers=1";

#[test]
fn no_route() {
    let trial = Trial::new();
    let ended = trial.shell(&format!("{RUN} -Jhost=224.0.0.1 -Jport=9 -Jusers=1 -Jloops=2000"));
    assert_eq!(ended.code, 0, "{ended:?}");
    holds(&trial, "ENETUNREACH", "unreachable");
}

#[test]
fn no_descriptor() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let trial = Trial::new();
    let port = target.addr().port();
    let ended = trial.shell(&format!("ulimit -n 64; {RUN} -Jport={port} -Jusers=200 -Jloops=10"));
    assert_eq!(ended.code, 0, "{ended:?}");
    holds(&trial, "EMFILE", "files exhausted");
}

/// Runs in a network namespace with two local ports. The server closes first and so keeps TIME_WAIT; four users share
/// the two ports.
#[test]
fn no_local_port() {
    let trial = Trial::new();
    let run = format!("{RUN} -Jport=8080 -Jusers=4 -Jloops=500 || exit $?");
    let Some(ended) = trial.in_own_network([40000, 40001], 1, &run) else { return };
    assert_eq!(ended.code, 0, "{ended:?}");
    holds(&trial, "EADDRNOTAVAIL", "ports exhausted");
}

/// Runs in a network namespace whose routes forbid the target or declare it unreachable.
#[test]
fn forbidden_and_unreachable() {
    if !may_unshare("-rn") {
        return;
    }
    for (what, prepare, kind) in [
        ("EACCES", "ip route add prohibit 198.51.100.1", "other"),
        ("EHOSTUNREACH", "ip route add unreachable 198.51.100.1", "unreachable"),
    ] {
        let trial = Trial::new();
        let script = format!(
            r#"exec unshare -rn sh -ec '
                ip link set lo up
                {prepare}
                {RUN} -Jhost=198.51.100.1 -Jport=9 -Jusers=2 -Jloops=1000 || exit $?
            ' "$0""#
        );
        let ended = trial.shell(&script);
        if ended.err.contains("ip: not found") {
            return skip("there is no program ip");
        }
        assert_eq!(ended.code, 0, "{what}: {ended:?}");
        holds(&trial, what, kind);
    }
}
