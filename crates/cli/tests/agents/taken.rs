//! Runs with agents by ssh: the coordinator is killed, and another coordinator takes the run over.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use targets::{Config, Running};

use super::super::pools::taken::{
    ALONE, adds_up, is_named_with_what_may_be_missing, plan, until_users_have_ended,
};
use super::super::program::Ended;
use super::super::{is_gone, run_seconds, summary, until};
use super::{Machines, agents, descendants};

/// A run on two machines, with its target and its folder.
struct Run {
    machines: Machines,
    target: Running,
    coordinator: Child,
    folder: PathBuf,
}

impl Run {
    /// Starts the command `way` with the options `line`, and returns when two seconds are recorded. `PORT` in `way` is
    /// replaced by the target's port.
    fn new(way: &str, line: &str) -> Self {
        let machines = Machines::new(true);
        let target = targets::start(Config::new("mirror")).expect("a target");
        machines.program.write("asking.jmx", &plan());
        let port = target.addr().port().to_string();
        let line = format!("{} {line} -l out.jtl", way.replace("PORT", &port));
        let coordinator = machines.in_flight(2, &line);
        let folder = machines.program.run_folder();
        Self { machines, target, coordinator, folder }
    }

    /// Starts a run that divides the plan's users between two machines.
    fn divided(line: &str) -> Self {
        Self::new("run asking.jmx --fleet ssh:a,b --workers 1 -Jport=PORT", line)
    }

    fn kill(&mut self) {
        self.coordinator.kill().expect("it lives");
        self.coordinator.wait().expect("its end");
    }

    fn resume_line(&self) -> [&str; 3] {
        ["fleet", "resume", self.folder.to_str().expect("a text")]
    }

    fn resume(&self) -> Ended {
        self.machines.run(&self.resume_line())
    }

    fn adds_up(&self) -> u64 {
        adds_up(&self.machines.program, &self.target, &self.folder)
    }
}

#[test]
fn another_coordinator_reaches_the_agents_and_goes_on_to_the_end() {
    let mut run = Run::divided("-Jusers=20 -Jloops=100 -Jms=80");
    let refused = run.resume();
    assert!(refused.code == 2 && refused.err.contains("is still running"), "{refused:?}");
    let works = agents(&run.coordinator);
    run.kill();
    // Users keep running while the run has no coordinator.
    std::thread::sleep(Duration::from_millis(1_500));
    let before = run.target.log().len();
    let resumed = run.resume();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert!(resumed.err.contains("another coordinator"), "{resumed:?}");
    assert!(before > 0 && run.target.log().len() > before, "it went on");
    assert_eq!(run.adds_up(), 4_000);
    until("the end of the agents", || works.iter().all(|process| is_gone(*process)));
    assert_eq!(run.machines.kept(), Vec::<PathBuf>::new(), "nothing of the run stays there");
    let again = run.resume();
    assert!(again.code == 2 && again.err.contains("has ended"), "{again:?}");
}

#[test]
fn several_coordinators_in_a_row_may_be_killed() {
    let mut run = Run::divided("-Jusers=20 -Jloops=200 -Jms=80");
    for seconds in [5, 8] {
        run.kill();
        let mut command = run.machines.command(&run.resume_line());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        run.coordinator = command.spawn().expect("it starts");
        until("seconds of the next", || run_seconds(&run.machines.program).len() >= seconds);
    }
    run.kill();
    let resumed = run.resume();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(run.adds_up(), 8_000);
}

#[test]
fn hosts_that_each_run_the_whole_plan_are_taken_over() {
    let way = "-n -t asking.jmx -R a,b -Gport=PORT";
    let mut run = Run::new(way, "-Gusers=10 -Gloops=100 -Gms=80");
    run.kill();
    let resumed = run.resume();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(run.adds_up(), 4_000);
}

#[test]
fn what_agents_have_left_that_stopped_after_the_grace_is_fetched() {
    let mut run = Run::divided(ALONE);
    let works = agents(&run.coordinator);
    run.kill();
    until_users_have_ended(&run.target);
    until("the end of the agents", || works.iter().all(|process| is_gone(*process)));
    let resumed = run.resume();
    assert_eq!(resumed.code, 5, "{resumed:?}");
    assert!(resumed.err.contains("longer than the grace"), "{resumed:?}");
    assert!(run.adds_up() > 0);
}

#[test]
fn an_agent_that_was_killed_besides_is_named_with_what_may_be_missing() {
    let mut run = Run::divided("-Jusers=20 -Jloops=100 -Jms=80");
    let works = agents(&run.coordinator);
    let below = descendants(works[0].as_raw_pid() as u32);
    run.kill();
    kill_process(works[0], Signal::KILL).expect("it lives");
    // The users of the killed agent end with its processes. After that the target's request count no longer changes.
    let gone = |id: &u32| Pid::from_raw(*id as i32).is_none_or(is_gone);
    until("the end of its processes", || below.iter().all(gone));
    let resumed = run.resume();
    assert_eq!(resumed.code, 7, "{resumed:?}");
    is_named_with_what_may_be_missing(&run.machines.program, &run.target);
}

#[test]
fn relays_are_taken_over_with_their_agents() {
    for relays in ["2", "ssh:r1,r2"] {
        let way =
            format!("run asking.jmx --fleet ssh:a,b,c --relays {relays} --workers 1 -Jport=PORT");
        let mut run = Run::new(&way, "-Jusers=21 -Jloops=100 -Jms=80");
        run.kill();
        std::thread::sleep(Duration::from_millis(1_000));
        let resumed = run.resume();
        assert_eq!(resumed.code, 0, "{relays}: {resumed:?}");
        assert_eq!(run.adds_up(), 4_200, "{relays}");
        let summary = summary(&run.machines.program);
        let agents = summary["agents"].as_array().expect("a list");
        let names: Vec<_> = agents.iter().filter_map(|agent| agent["name"].as_str()).collect();
        assert_eq!(names, ["a", "b", "c"], "{relays}");
        let samples = agents.iter().filter_map(|agent| agent["samples"].as_u64());
        assert_eq!(samples.sum::<u64>(), 4_200, "{relays}: {agents:?}");
        assert_eq!(run.machines.kept(), Vec::<PathBuf>::new(), "nothing of the run stays there");
    }
}

#[test]
fn rows_that_relays_have_fetched_after_the_grace_are_there() {
    let way = "run asking.jmx --fleet ssh:a,b,c --relays 2 --workers 1 -Jport=PORT";
    let mut run = Run::new(way, ALONE);
    let relays: Vec<_> = descendants(run.coordinator.id())
        .into_iter()
        .filter_map(|id| Pid::from_raw(id as i32))
        .collect();
    run.kill();
    until_users_have_ended(&run.target);
    until("the end of relays and agents", || relays.iter().all(|process| is_gone(*process)));
    let resumed = run.resume();
    assert_eq!(resumed.code, 5, "{resumed:?}");
    assert!(resumed.err.contains("longer than the grace"), "{resumed:?}");
    assert!(run.adds_up() > 0);
}

#[test]
fn ctrl_c_ends_the_wait_for_an_agent_that_stands_still_and_the_run_can_be_taken_over_after() {
    let mut run = Run::divided("-Jusers=20 -Jloops=100 -Jms=80");
    let works = agents(&run.coordinator);
    run.kill();
    kill_process(works[0], Signal::STOP).expect("it lives");
    let mut command = run.machines.command(&run.resume_line());
    let mut waits =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    // The message names the agents that the coordinator waits for.
    let mut said = String::new();
    let mut lines = BufReader::new(waits.stdout.take().expect("a pipe"));
    while !said.contains("waiting for an answer from") {
        assert!(lines.read_line(&mut said).expect("text") > 0, "it ended: {said}");
    }
    kill_process(Pid::from_child(&waits), Signal::INT).expect("it lives");
    assert_eq!(waits.wait().expect("its end").code(), Some(130), "{said}");
    kill_process(works[0], Signal::CONT).expect("it lives");
    let resumed = run.resume();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(run.adds_up(), 4_000);
}
