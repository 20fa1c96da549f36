//! Relays between the coordinator and the machines: results are the same as without relays, and lost machines are
//! named.

use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Machines, agents, descendants, reads_each_line_once};
use crate::program::ended;
use crate::{is_gone, share, share_in, summary, until};

fn named<'a>(summary: &'a Value, key: &str) -> Vec<&'a str> {
    let agents = summary["agents"].as_array().expect("a list");
    agents.iter().filter_map(|agent| agent[key].as_str()).collect()
}

#[test]
fn three_machines_behind_two_relays_do_what_one_process_does() {
    let one = share("1", &[]);
    for relays in ["2", "ssh:r1,r2"] {
        let machines = Machines::new(true);
        let fleet = ["--fleet", "ssh:a,me@b,c:2222", "--workers", "2", "--relays", relays];
        let seen = share_in(&machines.program, machines.command(&["run"]), &fleet);
        assert_eq!(seen, one, "{relays}");
        let summary = summary(&machines.program);
        assert_eq!(summary["accounted"].as_bool(), Some(true));
        assert_eq!(summary["requests"].as_u64(), Some(14));
        assert_eq!(named(&summary, "name"), ["a", "me@b", "c:2222"]);
        let by = if relays == "2" { ["relay-1", "relay-2", "relay-2"] } else { ["r1", "r2", "r2"] };
        assert_eq!(named(&summary, "relay"), by);
        let agents = summary["agents"].as_array().expect("a list");
        let sum = |key: &str| agents.iter().filter_map(|agent| agent[key].as_u64()).sum::<u64>();
        assert_eq!((sum("samples"), sum("users"), sum("shares")), (14, 7, 6), "{agents:?}");
        assert!(agents.iter().all(|agent| agent["samples"].as_u64() > Some(0)), "{agents:?}");
        assert_eq!(machines.kept(), Vec::<PathBuf>::new(), "nothing of the run stays there");
    }
}

#[test]
fn each_machine_behind_a_relay_gets_the_lines_of_its_users() {
    let ended = reads_each_line_once(&Machines::new(true), &["--relays", "2"]);
    assert!(ended.out.contains("3 machines by 2 relays, 6 processes"), "{ended:?}");
}

#[test]
fn a_machine_that_is_lost_behind_a_relay_is_named() {
    let machines = Machines::new(true);
    let child = machines.in_flight(
        1,
        "run plan.jmx -l out.jtl --fleet ssh:a,b,c --relays 1 --workers 1 -Jusers=30 -Jloops=100 -Jms=100",
    );
    let agents = agents(&child);
    // The relay is an agent process too; its program has another path, so `agents` does not count it.
    assert_eq!(agents.len(), 3, "{agents:?}");
    kill_process(agents[0], Signal::KILL).expect("it lives");
    let ended = ended(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, 7, "{ended:?}");
    let summary = summary(&machines.program);
    assert_eq!(summary["accounted"].as_bool(), Some(false));
    let missing = &summary["missing"][0];
    let name = missing["agent"].as_str().expect("the agent's name");
    assert!(["a", "b", "c"].contains(&name), "{missing}");
    assert!(missing["samples_at_most"].as_u64().is_some(), "{missing}");
    let requests = summary["requests"].as_u64().expect("a number");
    assert!((2000..3000).contains(&requests), "{requests}");
    let rows = machines.program.read("out.jtl").lines().count() - 1;
    assert_eq!(rows, 2000, "rows of those that are left, once each");
}

#[test]
fn a_relay_that_is_killed_is_named_and_its_machines_stop() {
    let machines = Machines::new(true);
    let child = machines.in_flight(
        1,
        "run plan.jmx --fleet ssh:a,b --relays 2 --workers 1 -Jusers=20 -Jloops=100 -Jms=100 -Jthrong.fleet.grace=5",
    );
    let relay = descendants(child.id()).into_iter().find(|id| {
        std::fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.starts_with(b"/proc/"))
    });
    let relay = relay.expect("a relay");
    let behind = descendants(relay);
    assert!(behind.len() >= 2, "{behind:?}");
    kill_process(Pid::from_raw(relay as i32).expect("an id"), Signal::KILL).expect("it lives");
    let ended = ended(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, 7, "{ended:?}");
    let summary = summary(&machines.program);
    let missing = &summary["missing"][0];
    assert!(missing["agent"].as_str().is_some_and(|name| name.starts_with("relay-")), "{missing}");
    let requests = summary["requests"].as_u64().expect("a number");
    assert!((1000..2000).contains(&requests), "{requests}");
    let gone = |id: &u32| Pid::from_raw(*id as i32).is_none_or(is_gone);
    until("the end of the relay's machines", || behind.iter().all(gone));
}

#[test]
fn relays_that_cannot_be_are_refused() {
    let machines = Machines::new(true);
    for (line, words) in [
        ("run plan.jmx --fleet ssh:a,b --relays 3", "3 relays for 2 machines"),
        ("run plan.jmx --fleet ssh:a,b --relays x", "expected a number up to"),
        ("run plan.jmx --fleet ssh:a,away --relays 2", "relay-2: away: cannot start an agent"),
        ("run plan.jmx --relays 2", "--fleet"),
    ] {
        let ended = machines.run(&line.split(' ').collect::<Vec<_>>());
        assert!(ended.code == 2 || ended.code == 5, "{ended:?}");
        assert!(ended.err.contains(words), "{line}: {ended:?}");
    }
}
