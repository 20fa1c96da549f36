//! Runs whose coordinator is killed and taken over by another coordinator.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use targets::{Config, Running};

use super::super::agents::descendants;
use super::super::program::{Ended, PLAN, Program, ended};
use super::super::{is_gone, run_seconds, summary, until};
use super::{Pool, debians};

/// Returns a plan whose users pause for `ms` milliseconds and then send a request.
pub(crate) fn plan() -> String {
    let ask = r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="Ask"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp><stringProp name="HTTPSampler.path">${__P(path,/)}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>"#;
    PLAN.replace("<!--more-->", ask)
}

/// Options of an endless run: without a coordinator its users end after the grace of 2 s, mostly with a request in
/// flight.
pub(crate) const ALONE: &str =
    "-Jusers=20 -Jloops=-1 -Jms=20 -Jpath=/delay/80 -Jthrong.fleet.grace=2";

/// A run with two agents, its target and its folder.
struct Run {
    pool: Pool,
    target: Running,
    coordinator: Child,
    folder: PathBuf,
}

impl Run {
    /// Starts a run and returns when two seconds are recorded. Returns `None` if there is no NATS server.
    fn new(line: &str) -> Option<Self> {
        let pool = Pool::three(&debians())?;
        let target = targets::start(Config::new("mirror")).expect("a target");
        pool.program.write("asking.jmx", &plan());
        let port = target.addr().port();
        let line = format!("run asking.jmx -l out.jtl --agents 2 -Jport={port} {line}");
        let mut command = pool.run(&line.split(' ').collect::<Vec<_>>());
        let coordinator = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        until("its seconds", || run_seconds(&pool.program).len() >= 2);
        let folder = pool.program.run_folder();
        Some(Self { pool, target, coordinator: coordinator.expect("it starts"), folder })
    }

    /// Kills the waiting agents, waits until all their processes have ended, and starts the agents again.
    fn start_agents_anew(&mut self) {
        let processes = self.pool.processes();
        for agent in &mut self.pool.agents {
            agent.kill().expect("it lives");
            agent.wait().expect("its end");
        }
        until("the end of the processes", || processes.iter().all(|process| is_gone(*process)));
        self.pool.agents.clear();
        for name in ["a1", "a2", "a3"] {
            self.pool.agent(name, &[]);
        }
    }

    fn kill(&mut self) {
        self.coordinator.kill().expect("it lives");
        self.coordinator.wait().expect("its end");
    }

    fn resume(&self) -> Ended {
        let mut command = self.pool.with("operator.nk", &["fleet", "resume"]);
        command.env("THRONG_OPERATOR_SECRET", self.pool.program.path("fleet/operator.secret"));
        ended(command.arg(&self.folder).output().expect("it starts"))
    }

    fn adds_up(&self) -> u64 {
        adds_up(&self.pool.program, &self.target, &self.folder)
    }
}

/// Asserts that the summary, the rows and the target's log agree on the number of requests, and returns that number.
pub(crate) fn adds_up(program: &Program, target: &Running, folder: &Path) -> u64 {
    let summary = summary(program);
    let rows = program.read("out.jtl");
    let asked = rows.lines().filter(|row| row.contains(",Ask,")).count();
    assert_eq!(asked, target.log().len(), "each request of the target is a row, once");
    let requests = summary["requests"].as_u64().expect("a number");
    assert_eq!(requests, rows.lines().count() as u64 - 1, "{summary}");
    assert_eq!(summary["accounted"].as_bool(), Some(true), "{summary}");
    let seconds = run_seconds(program);
    let samples = seconds.iter().filter_map(|second| second["samples"].as_u64());
    assert_eq!(samples.sum::<u64>(), requests, "of all seconds, those before included");
    for left in ["fleet.notes", "fleet.run", "fleet.line"] {
        assert!(!folder.join(left).exists(), "{left} is left");
    }
    requests
}

/// Asserts that the summary names one killed agent of two, and a bound for the lost samples, in a run of 4 000 samples.
pub(crate) fn is_named_with_what_may_be_missing(program: &Program, target: &Running) {
    let summary = summary(program);
    let missing = summary["missing"].as_array().expect("a list");
    assert_eq!((missing.len(), summary["accounted"].as_bool()), (1, Some(false)), "{summary}");
    let requests = summary["requests"].as_u64().expect("a number");
    let at_most = missing[0]["samples_at_most"].as_u64().expect("a number");
    // The pause before each request is a sample too, so each request of the target stands for two samples.
    assert!(requests + at_most >= 2 * target.log().len() as u64, "{summary}");
    assert!((2_000..4_000).contains(&requests), "the other one went on: {summary}");
}

/// Waits until the target receives no more requests. Users without a grant pause for up to the grace of 2 s and are
/// stopped then.
pub(crate) fn until_users_have_ended(target: &Running) {
    until("the end of the users", || {
        let before = target.log().len();
        std::thread::sleep(Duration::from_millis(4_000));
        before == target.log().len()
    });
}

#[test]
fn another_coordinator_goes_on_to_the_end() {
    let Some(mut run) = Run::new("-Jusers=20 -Jloops=100 -Jms=80") else { return };
    let refused = run.resume();
    assert!(refused.code == 2 && refused.err.contains("is still running"), "{refused:?}");
    run.kill();
    // Users keep running while the run has no coordinator.
    std::thread::sleep(Duration::from_millis(1_500));
    let before = run.target.log().len();
    let resumed = run.resume();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert!(resumed.err.contains("another coordinator"), "{resumed:?}");
    assert!(before > 0 && run.target.log().len() > before, "it went on");
    assert_eq!(run.adds_up(), 4_000);
    let again = run.resume();
    assert!(again.code == 2 && again.err.contains("has ended"), "{again:?}");
    // After the resumed run, the agents are free for another run.
    let next = run.pool.ran(&["run", "plan.jmx", "--runs", "next", "--agents", "2"]);
    assert_eq!(next.code, 0, "{next:?}");
}

#[test]
fn two_coordinators_in_a_row_may_be_killed() {
    let Some(mut run) = Run::new("-Jusers=20 -Jloops=150 -Jms=80") else { return };
    run.kill();
    let mut command = run.pool.with("operator.nk", &["fleet", "resume"]);
    command.env("THRONG_OPERATOR_SECRET", run.pool.program.path("fleet/operator.secret"));
    command.arg(&run.folder).stdout(Stdio::null()).stderr(Stdio::null());
    run.coordinator = command.spawn().expect("it starts");
    until("seconds of the second", || run_seconds(&run.pool.program).len() >= 5);
    run.kill();
    let resumed = run.resume();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(run.adds_up(), 6_000);
}

#[test]
fn after_the_grace_another_coordinator_gets_what_was_measured() {
    let Some(mut run) = Run::new(ALONE) else { return };
    run.kill();
    until_users_have_ended(&run.target);
    let resumed = run.resume();
    assert_eq!(resumed.code, 5, "{resumed:?}");
    assert!(resumed.err.contains("longer than the grace"), "{resumed:?}");
    assert!(run.adds_up() > 0);
}

#[test]
fn spools_of_agents_that_have_ended_are_fetched() {
    let Some(mut run) = Run::new(ALONE) else { return };
    run.kill();
    run.start_agents_anew();
    let resumed = run.resume();
    assert_eq!(resumed.code, 5, "{resumed:?}");
    assert!(resumed.err.contains("longer than the grace"), "{resumed:?}");
    assert!(run.adds_up() > 0);
}

#[test]
fn an_agent_that_was_killed_besides_is_named_with_what_may_be_missing() {
    let Some(mut run) = Run::new("-Jusers=20 -Jloops=100 -Jms=80") else { return };
    run.kill();
    let works =
        run.pool.agents.iter().filter_map(|agent| descendants(agent.id()).into_iter().next());
    let first = works.min().and_then(|id| Pid::from_raw(id as i32)).expect("a process");
    kill_process(first, Signal::KILL).expect("it lives");
    let resumed = run.resume();
    assert_eq!(resumed.code, 7, "{resumed:?}");
    is_named_with_what_may_be_missing(&run.pool.program, &run.target);
}

#[test]
fn relays_are_taken_over_with_the_agents_that_they_have_hired() {
    let Some(mut run) = Run::new("--relays 2 -Jusers=20 -Jloops=100 -Jms=80") else { return };
    run.kill();
    std::thread::sleep(Duration::from_millis(1_000));
    let resumed = run.resume();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(run.adds_up(), 4_000);
    // After the resumed run, the agents are free for another run.
    let next = run.pool.ran(&["run", "plan.jmx", "--runs", "next", "--agents", "2"]);
    assert_eq!(next.code, 0, "{next:?}");
}
