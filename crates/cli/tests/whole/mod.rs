//! Runs with JMeter's `-R` and `-r`: each host runs the whole plan independently. The hosts are the machines of
//! [`super::agents`].

use std::collections::BTreeMap;

use super::agents::Machines;
use super::{SHARING, summary};

/// Counts how often each text occurs.
fn counted<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, u32> {
    let mut counts = BTreeMap::new();
    texts.for_each(|text| *counts.entry(text).or_default() += 1);
    counts
}

/// Returns one column of the result rows.
fn column(rows: &str, nth: usize) -> impl Iterator<Item = &str> {
    rows.lines().skip(1).map(move |row| row.split(',').nth(nth).expect("a column"))
}

#[test]
fn each_host_runs_all_users_under_its_name() {
    let machines = Machines::new(true);
    let line = ["-n", "-t", "plan.jmx", "-l", "out.jtl", "-R", "a,b:1099", "-Gloops=2", "-X"];
    for (runs, workers) in [("one", "1"), ("two", "2")] {
        let more = ["-Gusers=3", "-Jusers=9", "-Jms=7", "--runs", runs, "--workers", workers, "-f"];
        let ended = machines.run(&[&line[..], &more].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        for words in [
            "each of 2 hosts runs the whole plan",
            "the ports of b:1099 are those of JMeter's servers",
            "Starting distributed test with remote engines: [a, b:1099] @ ",
        ] {
            assert!(ended.out.contains(words), "{words}: {ended:?}");
        }
        let words = "the property ms (-J) is not set on the hosts of -R and -r, as in JMeter";
        assert!(ended.err.contains(words) && !ended.err.contains("property users"), "{ended:?}");
        let rows = machines.program.read("out.jtl");
        let threads = counted(column(&rows, 5));
        let names = ["a-Users 1-", "b:1099-Users 1-"];
        let names: Vec<_> =
            names.iter().flat_map(|name| (1..=3).map(move |n| format!("{name}{n}"))).collect();
        assert_eq!(threads.keys().copied().collect::<Vec<_>>(), names);
        assert!(threads.values().all(|rows| *rows == 2), "{threads:?}");
        let alone = column(&rows, 12).all(|all| all.parse::<u32>().is_ok_and(|all| all <= 3));
        assert!(alone, "a host knows no users of another one: {rows}");
    }
    let folder = std::fs::read_dir(machines.program.path("two")).expect("runs");
    let folder = folder.flatten().next().expect("a run").path();
    let text = std::fs::read_to_string(folder.join("summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&summary["requests"], &summary["accounted"]), (&12.into(), &true.into()));
    let agents = summary["agents"].as_array().expect("a list");
    let of: Vec<_> = agents.iter().map(|one| (&one["name"], &one["samples"])).collect();
    assert_eq!(of, [(&"a".into(), &6.into()), (&"b:1099".into(), &6.into())]);
    let set = std::fs::read_to_string(folder.join("properties.txt")).expect("properties");
    assert!(set.contains("# -Gusers=3") && set.contains("\nusers=9"), "{set}");
}

#[test]
fn each_host_reads_the_whole_file_and_counts_by_itself() {
    let machines = Machines::new(true);
    let target = targets::start(targets::Config::new("mirror")).expect("a target");
    let pad = "x".repeat(8_000);
    let lines = (1..=14).fold(String::new(), |all, n| all + &format!("line{n},{pad}\n"));
    machines.program.write("lines.csv", &lines);
    machines.program.write("sharing.jmx", SHARING);
    machines.program.write("hosts.properties", "remote_hosts=a,b\n");
    machines.program.write("more.properties", &format!("port={}\n", target.addr().port()));
    let line = ["-n", "-t", "sharing.jmx", "-r", "-q", "hosts.properties", "-Gmore.properties"];
    let ended = machines.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.out.contains("split by users"), "{ended:?}");
    assert_eq!(summary(&machines.program)["requests"], 28);
    let seen = target.log();
    let part = |nth: usize| {
        let parts = seen.iter().map(move |one| one.target.split('/').nth(nth).expect("six parts"));
        counted(parts)
    };
    // Each line of the data file, each counter value and each user number occurs on both hosts.
    for (nth, distinct, times) in [(2, 14, 2), (3, 14, 2), (5, 7, 4)] {
        let parts = part(nth);
        assert_eq!(parts.len(), distinct, "{parts:?}");
        assert!(parts.values().all(|seen| *seen == times), "{parts:?}");
    }
}

#[test]
fn a_host_that_is_not_to_be_had_is_named() {
    let machines = Machines::new(true);
    let ended = machines.run(&["-n", "-t", "plan.jmx", "-R", "a,away:1099"]);
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(ended.err.contains("away:1099: cannot start an agent"), "{ended:?}");
    let ended = machines.run(&["-n", "-t", "plan.jmx", "-R", "a", "-Gnowhere.properties"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("nowhere.properties"), "{ended:?}");
}
