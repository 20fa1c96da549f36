//! Runs with agents. A shell script replaces `ssh`: it runs the given command on this machine in a separate home
//! folder.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

mod listeners;
mod pushed;
mod relays;
mod taken;

use super::program::{Ended, Program, ended};
use super::{SHARING, is_gone, run_seconds, share, share_in, summary, until};

/// Replacement for `ssh`: takes options, the machine's name and the command. The machine `away` is unreachable; the
/// machine `slow` never answers.
const SSH: &str = r#"#!/bin/sh
while [ $# -gt 2 ]; do shift; done
if [ "$1" = away ]; then echo "ssh: connect to host away port 22: No route to host" >&2; exit 255; fi
if [ "$1" = slow ]; then exec sleep 600; fi
unset XDG_CACHE_HOME
cd "$HOME" || exit 1
sh -c "$2"
"#;

/// The program under test, with the script [`SSH`] as its `ssh`.
pub(crate) struct Machines {
    pub(crate) program: Program,
}

impl Machines {
    /// Creates the test folder. With `has_program`, the machines already have the program in their cache.
    pub(crate) fn new(has_program: bool) -> Self {
        let program = Program::new();
        program.write("ssh", SSH);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(program.path("ssh"), mode).expect("a program");
        std::fs::create_dir(program.path("home")).expect("a folder");
        if has_program {
            let own = env!("CARGO_BIN_EXE_throng");
            let sum = Command::new("sha256sum").arg(own).output().expect("sha256sum");
            let sum = String::from_utf8(sum.stdout).expect("digits");
            let hash = sum.split(' ').next().expect("a hash");
            let folder = program.path("home").join(".cache/throng").join(hash);
            std::fs::create_dir_all(&folder).expect("a folder");
            symlink(own, folder.join("throng")).expect("a link");
        }
        Self { program }
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = self.program.command(line);
        command.env("THRONG_SSH", self.program.path("ssh"));
        command.env("HOME", self.program.path("home"));
        command
    }

    pub(crate) fn run(&self, line: &[&str]) -> Ended {
        ended(self.command(line).output().expect("the program starts"))
    }

    /// Starts a run and returns when it has recorded `seconds` seconds.
    fn in_flight(&self, seconds: usize, line: &str) -> Child {
        let line: Vec<&str> = line.split(' ').collect();
        let mut command = self.command(&line);
        let child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        until("its seconds", || run_seconds(&self.program).len() >= seconds);
        child
    }

    /// Returns the folders of runs that agents have left on the machines.
    fn kept(&self) -> Vec<PathBuf> {
        let runs = std::fs::read_dir(self.program.path("home/.cache/throng/runs"));
        runs.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }
}

/// Returns the ids of all descendant processes of the process `of`.
pub(crate) fn descendants(of: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children"));
    let children: Vec<u32> = children
        .unwrap_or_default()
        .split_ascii_whitespace()
        .filter_map(|id| id.parse().ok())
        .collect();
    children.iter().flat_map(|child| std::iter::once(*child).chain(descendants(*child))).collect()
}

/// Returns the agent processes of a run.
fn agents(child: &Child) -> Vec<Pid> {
    let is_agent = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.ends_with(b"/throng\0agent\0--stdio\0")
    };
    descendants(child.id())
        .into_iter()
        .filter(is_agent)
        .filter_map(|id| Pid::from_raw(id as i32))
        .collect()
}

#[test]
fn three_machines_do_what_one_process_does() {
    let one = share("1", &[]);
    let machines = Machines::new(true);
    let fleet = ["--fleet", "ssh:a,me@b,c:2222", "--workers", "2"];
    let seen = share_in(&machines.program, machines.command(&["run"]), &fleet);
    assert_eq!(seen, one);
    let summary = summary(&machines.program);
    assert_eq!(
        (summary["workers"].as_u64(), summary["accounted"].as_bool()),
        (Some(3), Some(true))
    );
    assert_eq!(summary["requests"].as_u64(), Some(14));
    let agents = summary["agents"].as_array().expect("a list");
    let names: Vec<_> = agents.iter().filter_map(|agent| agent["name"].as_str()).collect();
    assert_eq!(names, ["a", "me@b", "c:2222"]);
    assert!(agents.iter().all(|agent| agent["shares"] == 2), "{agents:?}");
    let sum = |key: &str| agents.iter().filter_map(|agent| agent[key].as_u64()).sum::<u64>();
    assert_eq!((sum("samples"), sum("users")), (14, 7), "{agents:?}");
    assert_eq!(Some(sum("errors")), summary["failed"].as_u64(), "{agents:?}");
    assert!(summary.get("zones").is_none(), "no machine has a zone");
    let bounds = agents.iter().map(|agent| agent["clock_bound_ms"].as_f64());
    assert!(bounds.flatten().filter(|bound| *bound > 0.0).count() == 3, "{agents:?}");
    assert_eq!(machines.kept(), Vec::<PathBuf>::new(), "nothing of the run stays there");
    assert!(!machines.program.run_folder().join("fleet.notes").exists(), "all is accounted for");
}

#[test]
fn one_machine_with_one_process_does_what_one_process_does() {
    let one = share("1", &[]);
    let machines = Machines::new(true);
    let fleet = ["--fleet", "ssh:a", "--workers", "1"];
    assert_eq!(share_in(&machines.program, machines.command(&["run"]), &fleet), one);
    let headers = machines.program.read("out.jtl").matches("timeStamp").count();
    assert_eq!(headers, 1, "the coordinator alone writes it");
}

/// Runs a plan whose data file is large enough to be divided among machines, and asserts that each line is requested
/// once.
fn reads_each_line_once(machines: &Machines, more: &[&str]) -> Ended {
    let target = targets::start(targets::Config::new("mirror")).expect("a target");
    let pad = "x".repeat(8_000);
    let lines = (1..=14).fold(String::new(), |all, n| all + &format!("line{n},{pad}\n"));
    machines.program.write("lines.csv", &lines);
    machines.program.write("cut.jmx", &SHARING.replace("${__P(recycle,false)}", "false"));
    let port = format!("-Jport={}", target.addr().port());
    let line = ["run", "cut.jmx", "--fleet", "ssh:a,b,c", "--workers", "2", &port];
    let ended = machines.run(&[&line[..], more].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("1 data file split by users"), "{ended:?}");
    let seen = target.log();
    let mut seen: Vec<_> = seen.iter().filter_map(|one| one.target.split('/').nth(2)).collect();
    seen.sort_unstable();
    let mut all: Vec<String> = (1..=14).map(|n| format!("line{n}")).collect();
    all.sort();
    assert_eq!(seen, all, "each line once");
    ended
}

#[test]
fn each_machine_gets_the_lines_of_its_users_and_no_others() {
    let machines = Machines::new(true);
    reads_each_line_once(&machines, &[]);
    let files = std::fs::read_dir(machines.program.path("home/.cache/throng/files"));
    let texts = files.expect("the machines' files").flatten();
    let texts: Vec<_> =
        texts.map(|file| std::fs::read_to_string(file.path()).expect("a text")).collect();
    assert_eq!(texts.len(), 3);
    assert!(texts.iter().all(|text| text.lines().count() == 14), "numbers of lines stay");
    assert_eq!(texts.iter().map(|text| text.matches("line").count()).sum::<usize>(), 14);
}

#[test]
fn the_program_is_copied_to_a_machine_that_does_not_have_it() {
    let machines = Machines::new(false);
    let line = ["run", "plan.jmx", "--fleet", "ssh:a", "-Jusers=2"];
    let first = machines.run(&line);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(first.out.contains("a: copying Throng to this machine"), "{first:?}");
    let second = machines.run(&[&line[..], &["--runs", "again"]].concat());
    assert_eq!(second.code, 0, "{second:?}");
    assert!(!second.out.contains("copying Throng"), "{second:?}");
}

#[test]
fn an_agent_that_is_killed_is_named_and_the_others_go_on() {
    let machines = Machines::new(true);
    let child = machines.in_flight(
        1,
        "run plan.jmx -l out.jtl --fleet ssh:a,b,c --workers 1 -Jusers=30 -Jloops=100 -Jms=100",
    );
    let agents = agents(&child);
    assert_eq!(agents.len(), 3);
    kill_process(agents[0], Signal::KILL).expect("it lives");
    let ended = ended(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, 7, "{ended:?}");
    let summary = summary(&machines.program);
    let missing = &summary["missing"][0];
    assert_eq!(summary["accounted"].as_bool(), Some(false));
    let name = missing["agent"].as_str().expect("the agent's name");
    assert!(["a", "b", "c"].contains(&name), "{missing}");
    assert!(ended.err.contains(&format!("agent {name} (process")), "{ended:?}");
    assert!(missing["from_ms"].as_i64().is_some_and(|from| from > 0), "{missing}");
    // Each agent has 10 users with 100 samples each; the killed agent lost at most its own samples.
    let requests = summary["requests"].as_u64().expect("a number");
    assert!((2000..3000).contains(&requests), "{requests}");
    let at_most = missing["samples_at_most"].as_u64().expect("a bound");
    assert!(requests + at_most >= 3000 || at_most >= 100, "{missing}");
    let rows = machines.program.read("out.jtl").lines().count() - 1;
    assert_eq!(rows, 2000, "rows of those that are left, once each");
}

#[test]
fn without_its_coordinator_an_agent_stops() {
    let machines = Machines::new(true);
    let mut child = machines.in_flight(
        1,
        "run plan.jmx --fleet ssh:a,b --workers 1 -Jusers=4 -Jloops=-1 -Jms=20 -Jthrong.fleet.grace=6",
    );
    let all: Vec<Pid> =
        descendants(child.id()).into_iter().filter_map(|id| Pid::from_raw(id as i32)).collect();
    assert!(agents(&child).len() == 2 && all.len() >= 4, "{all:?}");
    child.kill().expect("it lives");
    child.wait().expect("its end");
    until("the end of agents and their processes", || all.iter().all(|process| is_gone(*process)));
    assert_eq!(machines.kept().len(), 2, "what they measured is kept");
}

#[test]
fn ctrl_c_ends_all_agents_with_whole_results() {
    let machines = Machines::new(true);
    let line = "run plan.jmx -l out.jtl --fleet ssh:a,b --workers 1 -Jusers=6 -Jloops=-1 -Jms=50";
    let child = machines.in_flight(1, line);
    kill_process(Pid::from_child(&child), Signal::INT).expect("it lives");
    let ended = ended(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, 130, "{ended:?}");
    let summary = summary(&machines.program);
    assert_eq!(summary["accounted"].as_bool(), Some(true));
    let rows = machines.program.read("out.jtl").lines().count() as u64 - 1;
    assert_eq!(summary["requests"].as_u64(), Some(rows));
}

#[test]
fn ctrl_c_ends_the_wait_for_a_machine() {
    let machines = Machines::new(true);
    let mut command = machines.command(&["run", "plan.jmx", "--fleet", "ssh:a,slow"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until("the connections", || descendants(child.id()).len() >= 2);
    let connections = descendants(child.id());
    kill_process(Pid::from_child(&child), Signal::INT).expect("it lives");
    let ended = ended(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(ended.err.contains("interrupted while"), "{ended:?}");
    let gone = |id: &u32| Pid::from_raw(*id as i32).is_none_or(is_gone);
    until("the end of what was started", || connections.iter().all(gone));
}

#[test]
fn a_machine_that_is_not_to_be_had_is_named_and_nothing_starts() {
    let machines = Machines::new(true);
    let ended = machines.run(&["run", "plan.jmx", "--fleet", "ssh:a,away"]);
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(ended.err.contains("away: cannot start an agent"), "{ended:?}");
    assert!(ended.err.contains("No route to host"), "{ended:?}");
    let ended = machines.run(&["run", "plan.jmx", "--fleet", "a,b"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("expected ssh:"), "{ended:?}");
}
