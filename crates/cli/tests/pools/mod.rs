//! Runs with agents that wait for work at a real NATS server, which `throng fleet up` configures with TLS, keys and
//! permissions.

pub(crate) mod taken;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::program::{Ended, Program, ended, free_port, skip};
use super::{is_gone, run_seconds, share, share_in, summary, until};

/// A running NATS server with its keys and configuration, and the agents that wait there.
struct Pool {
    program: Program,
    server: PathBuf,
    port: u16,
    bus: Child,
    agents: Vec<Child>,
}

impl Pool {
    /// Starts a server configured for three agents. Returns `None` and skips the test if the program `server` cannot be
    /// started.
    fn new(server: &str) -> Option<Self> {
        if let Err(error) = Command::new(server).arg("--version").output() {
            skip(format!("{server} cannot be started: {error}"));
            return None;
        }
        let port = free_port();
        let program = Program::new();
        let mut up = program.command(&["fleet", "up", "--folder", "fleet", "--agents", "a1,a2,a3"]);
        up.args(["--server", server, "--listen", &format!("127.0.0.1:{port}")]);
        let file = |name| std::fs::File::create(program.path(name)).expect("a file");
        let mut up = up.stdout(file("up.log")).stderr(file("up.err")).spawn().expect("it starts");
        until("the server", || {
            let ended = up.try_wait().expect("a child");
            assert_eq!(ended, None, "the server's end: {}", program.read("up.err"));
            program.read("up.log").contains("--fleet nats://127.0.0.1:")
        });
        kill_process(Pid::from_child(&up), Signal::INT).expect("it lives");
        assert!(up.wait().expect("its end").success());
        let server = PathBuf::from(server);
        let bus = bus(&server, &program);
        Some(Self { program, server, port, bus, agents: Vec::new() })
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Returns a `throng` command that connects to the server with the credentials `key`.
    fn with(&self, key: &str, line: &[&str]) -> Command {
        let mut command = self.program.command(line);
        let at = |name: &str| self.program.path("fleet").join(name);
        command.env("THRONG_NATS_CREDS", at(key)).env("THRONG_NATS_CA", at("ca.pem"));
        command.env("THRONG_SEAL_KEY", at("seal.key"));
        command.env_remove("XDG_CACHE_HOME");
        command
    }

    /// Starts an agent and returns its index in `agents`.
    fn agent(&mut self, name: &str, more: &[&str]) -> usize {
        let home = self.program.path(&format!("home-{name}"));
        std::fs::create_dir_all(&home).expect("a folder");
        let mut command = self.with(&format!("agent-{name}.nk"), &["agent", "--nats", &self.url()]);
        command.args(["--name", name]).args(more).env("HOME", home);
        command.env("THRONG_OPERATOR_KEY", self.program.path("fleet/operator.pub"));
        let log = std::fs::File::create(self.program.path(&format!("{name}.log"))).expect("a file");
        self.agents.push(command.stdout(Stdio::null()).stderr(log).spawn().expect("it starts"));
        self.agents.len() - 1
    }

    fn three(server: &str) -> Option<Self> {
        let mut pool = Self::new(server)?;
        for (name, zone) in [("a1", "eu"), ("a2", "us"), ("a3", "us")] {
            pool.agent(name, &["--zone", zone, "--label", "size=small"]);
        }
        Some(pool)
    }

    /// Returns a `throng` command with the operator's credentials.
    fn run(&self, line: &[&str]) -> Command {
        let mut command = self.with("operator.nk", line);
        command.env("THRONG_OPERATOR_SECRET", self.program.path("fleet/operator.secret"));
        command.args(["--fleet", &self.url()]);
        command
    }

    fn ran(&self, line: &[&str]) -> Ended {
        ended(self.run(line).output().expect("it starts"))
    }

    /// Starts a run and returns when it has recorded `seconds` seconds.
    fn under_way(&self, seconds: usize, line: &str) -> Child {
        let mut command = self.run(&line.split(' ').collect::<Vec<_>>());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        until("its seconds", || run_seconds(&self.program).len() >= seconds);
        child
    }

    /// Kills the NATS server and starts another one after the time `away`.
    fn lose_server(&mut self, away: std::time::Duration) {
        self.bus.kill().expect("it lives");
        self.bus.wait().expect("its end");
        std::thread::sleep(away);
        self.bus = bus(&self.server, &self.program);
    }

    /// Returns all processes that the agents have started.
    fn processes(&self) -> Vec<Pid> {
        self.agents
            .iter()
            .flat_map(|agent| super::agents::descendants(agent.id()))
            .filter_map(|id| Pid::from_raw(id as i32))
            .collect()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for child in self.agents.iter_mut().chain([&mut self.bus]) {
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
        for child in self.agents.iter_mut().chain([&mut self.bus]) {
            let _ = child.wait();
        }
    }
}

/// Returns the path of Debian's `nats-server`, whose folder is often missing in the PATH of users.
fn debians() -> String {
    let aside = std::path::Path::new("/usr/sbin/nats-server");
    if aside.exists() { aside.display().to_string() } else { "nats-server".into() }
}

fn bus(server: &PathBuf, program: &Program) -> Child {
    let mut command = Command::new(server);
    command.arg("-c").arg(program.path("fleet/nats.conf"));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a server")
}

fn agents_do_what_one_process_does(server: &str) {
    let Some(pool) = Pool::three(server) else { return };
    let one = share("1", &[]);
    let zones = ["--agents", "3", "--zone", "eu=2", "--zone", "us=1", "--label", "size=small"];
    let seen = share_in(&pool.program, pool.run(&["run"]), &zones);
    assert_eq!(seen, one);
    let summary = summary(&pool.program);
    assert_eq!(
        (summary["workers"].as_u64(), summary["accounted"].as_bool()),
        (Some(3), Some(true))
    );
    let parts: Vec<_> = summary["agents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|agent| {
            let text = |key: &str| agent[key].as_str().unwrap_or_default().to_owned();
            (text("name"), text("zone"), agent["shares"].as_u64().unwrap_or(0))
        })
        .collect();
    let of = |zone: &str| {
        parts.iter().filter(|(_, of, _)| of == zone).map(|(.., shares)| shares).sum::<u64>()
    };
    assert_eq!((parts.len(), of("eu")), (3, 2 * of("us")), "{parts:?}");
    // The agents wait for work again after the first run. Each agent is a separate process, so two agents count as two
    // machines.
    let line = ["run", "plan.jmx", "--runs", "again", "--agents", "2", "-Jusers=4"];
    let again = pool.ran(&line);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.out.contains("2 machines, 2 processes"), "{again:?}");
}

#[test]
fn agents_of_a_pool_do_what_one_process_does() {
    agents_do_what_one_process_does(&debians());
}

/// A run of two agents in two zones: samples take 10 ms on one agent and 60 ms on the other.
#[test]
fn figures_by_agent_and_by_zone_add_up_to_the_run() {
    let Some(mut pool) = Pool::new(&debians()) else { return };
    let slow = super::program::PLAN.replace("${__P(ms,1)}", "${__P(ms.${__threadNum})}");
    pool.program.write("slow.jmx", &slow);
    pool.agent("a1", &["--zone", "eu"]);
    pool.agent("a2", &["--zone", "us"]);
    let line = "run slow.jmx --zone eu=1 --zone us=1 -Jusers=2 -Jloops=20 -Jms.1=10 -Jms.2=60";
    let ended = pool.ran(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, 0, "{ended:?}");
    let summary = summary(&pool.program);
    for key in ["agents", "zones"] {
        let rows = summary[key].as_array().expect(key);
        let sum = |of: &str| rows.iter().filter_map(|row| row[of].as_u64()).sum::<u64>();
        assert_eq!((rows.len(), sum("samples"), sum("users"), sum("errors")), (2, 40, 2, 0));
        let rate: f64 = rows.iter().filter_map(|row| row["rate_per_s"].as_f64()).sum();
        let all = summary["requests_per_s"].as_f64().expect("a rate");
        assert!((rate / all - 1.0).abs() < 1e-6, "{rate} instead of {all}");
    }
    let zone = |name: &str| {
        let zones = summary["zones"].as_array().expect("zones");
        zones.iter().find(|zone| zone["name"] == name).expect(name)["response"].clone()
    };
    let p50 = |of: &Value| of["p50"].as_f64().expect("a number");
    let mut both = [p50(&zone("eu")), p50(&zone("us"))];
    both.sort_by(f64::total_cmp);
    assert!(both[0] >= 9.9 && both[0] < both[1] && both[1] >= 59.9, "{both:?}");
    // The longest sample of the run is in one of the zones, because percentiles come from merged histograms.
    let most = |of: &Value| of["max"].as_f64().expect("a number");
    assert_eq!(most(&zone("eu")).max(most(&zone("us"))), most(&summary["response"]));
    for (head, row) in [("Agent  zone", "a1       eu"), ("Zone  agents", "us         1")] {
        let table = ended.out.split_once(head).unwrap_or_else(|| panic!("{head}: {ended:?}"));
        assert!(table.1.contains(row), "{row}: {ended:?}");
    }
    let folder = pool.program.run_folder();
    let path = folder.display().to_string();
    let again = pool.program.run(&["report", &path, "-o", "again.html", "--tables", "tables"]);
    assert_eq!(again.code, 0, "{again:?}");
    let written = std::fs::read_to_string(folder.join("report.html")).expect("a report");
    for page in [written, pool.program.read("again.html")] {
        assert!(page.contains("By agent") && page.contains("By zone"), "the report has the tables");
    }
    let table = pool.program.read("tables/zones.csv");
    assert!(table.contains("\r\nus,1,1,20,0,0,"), "{table}");
}

#[test]
fn agents_of_a_pool_behind_relays_do_what_one_process_does() {
    let Some(pool) = Pool::three(&debians()) else { return };
    let one = share("1", &[]);
    let fleet = ["--agents", "3", "--zone", "eu=2", "--zone", "us=1", "--relays", "2"];
    assert_eq!(share_in(&pool.program, pool.run(&["run"]), &fleet), one);
    let summary = summary(&pool.program);
    assert_eq!(summary["accounted"].as_bool(), Some(true));
    let zones = summary["zones"].as_array().expect("zones");
    let sum: u64 = zones.iter().filter_map(|zone| zone["samples"].as_u64()).sum();
    assert_eq!((zones.len(), sum), (2, 14), "{zones:?}");
    // Relays on other machines have only the credentials that the coordinator sends them.
    pool.program.write(
        "ssh",
        "#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\nunset THRONG_NATS_CREDS THRONG_NATS_CA THRONG_SEAL_KEY THRONG_OPERATOR_SECRET\nexec sh -c \"$2\"\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(pool.program.path("ssh"), mode).expect("a program");
    let mut command =
        pool.run(&["run", "plan.jmx", "--runs", "again", "--agents", "3", "-Jusers=4"]);
    command.args(["--relays", "ssh:r1"]).env("HOME", pool.program.path("home-r1"));
    let again =
        ended(command.env("THRONG_SSH", pool.program.path("ssh")).output().expect("it starts"));
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.out.contains("3 machines by one relay, 3 processes"), "{again:?}");
}

#[test]
fn the_newest_server_does_as_well() {
    let go = std::env::var("HOME").unwrap_or_default() + "/go/bin/nats-server";
    agents_do_what_one_process_does(&std::env::var("NATS_SERVER_NEWEST").unwrap_or(go));
}

#[test]
fn a_server_that_is_killed_loses_nothing() {
    let Some(mut pool) = Pool::three(&debians()) else { return };
    let child =
        pool.under_way(1, "run plan.jmx -l out.jtl --agents 3 -Jusers=30 -Jloops=100 -Jms=100");
    pool.lose_server(std::time::Duration::from_millis(1_500));
    let ended = ended(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("agents continue for their grace time"), "{ended:?}");
    let summary = summary(&pool.program);
    assert_eq!(
        (summary["requests"].as_u64(), summary["accounted"].as_bool()),
        (Some(3_000), Some(true))
    );
    assert_eq!(pool.program.read("out.jtl").lines().count(), 3_001, "each row once");
}

#[test]
fn agents_that_are_killed_are_named_and_the_others_go_on() {
    let Some(mut pool) = Pool::three(&debians()) else { return };
    let child =
        pool.under_way(1, "run plan.jmx -l out.jtl --agents 3 -Jusers=30 -Jloops=100 -Jms=100");
    // Kills the working process of the first agent, and the waiting process of the second agent.
    let works = super::agents::descendants(pool.agents[0].id());
    kill_process(Pid::from_raw(works[0] as i32).expect("a process"), Signal::KILL)
        .expect("it lives");
    pool.agents[1].kill().expect("it lives");
    pool.agents[1].wait().expect("its end");
    pool.agent("a2", &["--zone", "us"]);
    let ended = ended(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, 7, "{ended:?}");
    assert!(ended.err.contains("killed by signal 9"), "{ended:?}");
    assert!(ended.err.contains("the agent was restarted"), "{ended:?}");
    let summary = summary(&pool.program);
    let missing = summary["missing"].as_array().expect("a list");
    let mut names: Vec<_> =
        missing.iter().filter_map(|missing| missing["agent"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a1", "a2"], "{missing:?}");
    let requests = summary["requests"].as_u64().expect("a number");
    assert!((1_000..3_000).contains(&requests), "{requests}");
    let at_most: u64 =
        missing.iter().filter_map(|missing| missing["samples_at_most"].as_u64()).sum();
    assert!(requests + at_most >= 3_000, "{missing:?}");
    assert_eq!(pool.program.read("out.jtl").lines().count(), 1_001, "rows of the one that is left");
}

#[test]
fn without_its_coordinator_a_pool_stops_its_users() {
    let Some(pool) = Pool::three(&debians()) else { return };
    let line = "run plan.jmx --agents 2 -Jusers=4 -Jloops=-1 -Jms=20 -Jthrong.fleet.grace=4";
    let mut child = pool.under_way(1, line);
    let before = pool.processes();
    assert!(before.len() >= 4, "{before:?}");
    child.kill().expect("it lives");
    child.wait().expect("its end");
    // Processes that hold unreported measurements stay for a while; processes that run users end.
    until("the end of the users", || {
        before.iter().filter(|process| is_gone(**process)).count() >= 2
    });
}

#[test]
fn orders_without_the_operators_seal_are_refused() {
    let Some(mut pool) = Pool::new(&debians()) else { return };
    pool.agent("a1", &[]);
    let mut run = pool.run(&["run", "plan.jmx", "--agents", "1"]);
    let unsigned = ended(run.env_remove("THRONG_OPERATOR_SECRET").output().expect("it starts"));
    assert_eq!(unsigned.code, 5, "{unsigned:?}");
    assert!(
        unsigned.err.contains("agent a1: the order is not signed by the operator"),
        "{unsigned:?}"
    );
    let mut run = pool.run(&["run", "plan.jmx", "--agents", "1", "--runs", "foreign"]);
    // The operator's key for the NATS server differs from the key that signs orders.
    run.env("THRONG_OPERATOR_SECRET", pool.program.path("fleet/operator.nk"));
    let foreign = ended(run.output().expect("it starts"));
    assert!(foreign.code == 5 && foreign.err.contains("not signed by the operator"), "{foreign:?}");
    // A run that exits because it does not fit the machine releases its agent for the next run.
    let many =
        pool.ran(&["run", "plan.jmx", "--agents", "1", "--runs", "many", "-Jusers=100000000"]);
    assert_eq!(many.code, 8, "{many:?}");
    let right = pool.ran(&["run", "plan.jmx", "--agents", "1", "--runs", "right"]);
    assert_eq!(right.code, 0, "{right:?}");
}

#[test]
fn an_agent_loads_the_targets_that_it_permits_and_no_others() {
    let Some(mut pool) = Pool::new(&debians()) else { return };
    let target = targets::start(targets::Config::new("mirror")).expect("a target");
    let port = target.addr().port();
    pool.program.write("asking.jmx", super::program::ASKING);
    pool.agent("a1", &["--zone", "far", "--allow-target", "10.0.0.0/8,*.example"]);
    pool.agent("a2", &["--zone", "near", "--allow-target", &format!("127.0.0.1:{port}")]);
    let ask = |zone: &str| {
        let (zone, port) = (format!("{zone}=1"), format!("-Jport={port}"));
        // The agent's `--allow-target` decides; the run's property `throng.targets.allowed` cannot widen it.
        let line = ["run", "asking.jmx", "-l", "out.jtl", "-Jusers=2", "-Jloops=3"];
        let all = ["--zone", &zone, "--runs", &zone, &port, "-Jthrong.targets.allowed=0.0.0.0/0"];
        let ended = pool.ran(&[&line[..], &all].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        pool.program.read("out.jtl").matches("this machine does not allow the target").count()
    };
    assert_eq!((ask("far"), target.log().len()), (12, 0));
    // The agent permits the target's port and refuses port 1 of the sampler "Nobody".
    assert_eq!((ask("near") - 12, target.log().len()), (6, 6));
    let program = r#"<SystemSampler testclass="SystemSampler" testname="Run"><stringProp name="SystemSampler.command">true</stringProp></SystemSampler><hashTree/>"#;
    pool.program.write("runs.jmx", &super::program::PLAN.replace("<!--more-->", program));
    let ended =
        pool.ran(&["run", "runs.jmx", "--agents", "1", "--runs", "programs", "--allow-processes"]);
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(ended.err.contains("needs Java or starts programs"), "{ended:?}");
}

#[test]
fn an_agent_with_the_key_of_another_is_not_heard() {
    let Some(mut pool) = Pool::new(&debians()) else { return };
    let mut command = pool.with("agent-a1.nk", &["agent", "--nats", &pool.url(), "--name", "a2"]);
    command.env("THRONG_OPERATOR_KEY", pool.program.path("fleet/operator.pub"));
    let log = std::fs::File::create(pool.program.path("thief.log")).expect("a file");
    pool.agents.push(command.stdout(Stdio::null()).stderr(log).spawn().expect("it starts"));
    // The agent may neither subscribe to orders for agent a2 nor offer work in its name.
    let log = || pool.program.read("thief.log");
    until("the refusal", || {
        log().contains("Permissions Violation for Subscription to \"throng.to.a2\"")
            && log().contains("Permissions Violation for Publish to \"throng.offer.default.a2\"")
    });
}

#[test]
fn addresses_and_names_that_cannot_be_are_refused() {
    let program = Program::new();
    for (line, words) in [
        ("run plan.jmx --fleet nats://x/a.b", "invalid pool name"),
        ("run plan.jmx --fleet ssh:a --agents 2", "agents that wait"),
        ("run plan.jmx --agents 2", "need --fleet nats://"),
        ("run plan.jmx --fleet nats://x --zone eu=1 --zone eu=2", "names eu twice"),
        ("agent", "an agent waits at a NATS server"),
        ("agent --nats nats://bus.example", "the operator's public key"),
        ("agent --nats nats://127.0.0.1 --pool a.>", "invalid pool \"a.>\""),
        ("agent --nats nats://127.0.0.1 --name a*", "invalid agent \"a*\""),
        ("fleet up --agents a.b", "invalid agent name"),
        ("fleet up --server nowhere-to-be-found", "apt-get install nats-server"),
    ] {
        let ended = program.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(ended.err.contains(words), "{line}: {ended:?}");
    }
}

#[test]
fn no_server_is_started_where_another_program_listens() {
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("an address").to_string();
    let program = Program::new();
    let ended = program.run(&["fleet", "up", "--folder", "fleet", "--listen", &address]);
    assert_eq!((ended.code, ended.out.as_str()), (5, ""), "{ended:?}");
    assert!(
        ended.err.contains(&format!("--listen {address}: Address already in use")),
        "{ended:?}"
    );
    assert!(!program.path("fleet").exists(), "no files are left");
}
