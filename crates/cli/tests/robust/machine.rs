//! A machine that runs out of local ports, file descriptors or disk space.

use crate::program::may_unshare;
use crate::trial::{JTL, Trial};

#[test]
fn local_ports_are_exhausted() {
    // The network namespace has ten local ports, so at most ten connections exist at a time.
    let trial = Trial::new();
    let run = r#""$0" -n -t http.jmx -l out.jtl -Jport=8080 -Jusers=30 -Jloops=1 || exit $?"#;
    let Some(ended) = trial.in_own_network([40000, 40009], 400, run) else { return };
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    assert_eq!(rows.len(), 30, "{rows:?}");
    let failed: Vec<_> = rows.iter().filter(|row| !row.success).collect();
    assert_eq!(failed.len(), 20, "ten ports serve ten users: {rows:?}");
    for row in failed {
        assert_eq!(row.code, "Non HTTP response code: java.net.NoRouteToHostException");
        assert_eq!(row.message, "Non HTTP response message: Cannot assign requested address");
    }
    let summary = trial.summary();
    assert_eq!(summary["errors"][0]["kind"], "ports exhausted", "{summary}");
}

#[test]
fn local_ports_are_dealt_out_in_turn() {
    // A thousand local ports, some of them reserved. By default the kernel first uses ports of one parity only.
    let trial = Trial::new();
    let run = r#"
        echo 40100-40199,40500 >/proc/sys/net/ipv4/ip_local_reserved_ports
        "$0" -n -t http.jmx -l out.jtl -Jport=8080 -Jusers=300 -Jloops=1 -Jthrong.workers=2 || exit $?
        cp /proc/net/tcp ports
    "#;
    let Some(ended) = trial.in_own_network([40000, 40999], 300, run) else { return };
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    assert!(rows.len() == 300 && rows.iter().all(|row| row.success), "{rows:?}");
    // Connections that the client closed first remain in TIME_WAIT, so the table shows their ports.
    let table = trial.program.read("ports");
    let mut ports: Vec<u16> = table
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            let (own, other) = (fields.next()?, fields.next()?);
            let own = u16::from_str_radix(own.split_once(':')?.1, 16).ok()?;
            other.ends_with(":1F90").then_some(own)
        })
        .collect();
    ports.sort_unstable();
    ports.dedup();
    // The kernel does not write the table at one moment, so that a few connections may be missing.
    assert!((290..=300).contains(&ports.len()), "{table}");
    assert!(
        ports.iter().all(|port| !(40100..=40199).contains(port) && *port != 40500),
        "{ports:?}"
    );
    let even = ports.iter().filter(|port| **port % 2 == 0).count();
    assert!((100..=200).contains(&even), "{even} of 300 ports are even: {ports:?}");
}

#[test]
fn file_descriptors_are_exhausted() {
    let target = targets::start(targets::Config::new("delay").option("ms", 500)).expect("a target");
    let trial = Trial::new();
    let port = target.addr().port();
    let ended = trial.shell(&format!(
        "ulimit -n 64; exec \"$0\" -n -t http.jmx -l {JTL} -Jport={port} -Jusers=200 -Jloops=2 -Jthrong.workers=1"
    ));
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    assert_eq!(rows.len(), 400, "{ended:?}");
    let (passed, failed): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.success);
    assert!(passed.len() >= 40, "the descriptors that there are serve: {}", passed.len());
    assert!(!failed.is_empty());
    for row in failed {
        assert_eq!(row.code, "Non HTTP response code: java.net.SocketException");
        assert_eq!(row.message, "Non HTTP response message: Too many open files");
    }
    assert_eq!(trial.summary()["errors"][0]["kind"], "files exhausted");
}

#[test]
fn a_disk_that_is_full_from_the_start() {
    let trial = Trial::new();
    let ended = trial.run(&["-n", "-t", "plan.jmx", "-l", "/dev/full"]);
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(
        ended.err.contains("cannot write results") && ended.err.contains("No space"),
        "{ended:?}"
    );
}

#[test]
fn a_full_disk_under_everything() {
    if !may_unshare("-rm") {
        return;
    }
    let trial = Trial::new();
    let script = r#"exec unshare -rm sh -c '
        mkdir small
        mount -t tmpfs -o size=16k none small
        cp http.jmx plan.jmx
        dd if=/dev/zero of=small/filler bs=4k count=100 2>/dev/null
        "$0" run plan.jmx --runs small/runs --jtl -Jport=9 -Jusers=3
        echo code $?
    ' "$0""#;
    let ended = trial.shell(script);
    assert!(ended.err.contains("No space"), "{ended:?}");
    assert!(
        ended.out.ends_with("code 9\n") || ended.out.ends_with("code 5\n"),
        "it says what is lost, or why it does not run: {ended:?}"
    );
}
