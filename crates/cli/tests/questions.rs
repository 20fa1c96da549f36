//! Commands that answer a question by several runs (`sweep`, `capacity`, `compare`), tested on bundled targets with a
//! known limit.

#[path = "questions/happened.rs"]
mod happened;
mod program;
#[path = "questions/recovery.rs"]
mod recovery;
#[path = "questions/undecided.rs"]
mod undecided;

use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use program::{Program, quiet};
use recovery::a_search_waits_for_a_target_that_works_off_what_nobody_waits_for;
use serde_json::Value;
use targets::{Config, Running};

quiet! {
    a_sweep_over_a_fixed_concurrency_is_a_plateau,
    a_capacity_search_ends_within_its_probes_and_says_both_bounds,
    what_was_not_exceeded_is_at_least,
    a_percentile_of_too_few_samples_does_not_let_a_load_hold,
    failures_that_no_criterion_is_about_are_said,
    a_probe_begins_when_the_target_has_worked_off_the_last_one,
    a_full_machine_that_the_target_shares_is_said,
    where_the_generator_does_not_keep_up_there_is_no_answer_about_the_target,
    points_at_which_the_generator_did_not_keep_up_do_not_count,
    plans_are_run_in_turns_and_the_run_is_the_unit,
    two_sweeps_are_compared_point_by_point,
    a_search_waits_for_a_target_that_works_off_what_nobody_waits_for,
}

const PLAN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/01-server-fitness/plan.jmx");

/// Starts a service that handles `workers` requests at once, each 16 ms on average. Returns it and the properties with
/// its address.
fn service(workers: u32) -> (Running, [String; 2]) {
    let config = Config::new("fitness")
        .option("workers", workers.to_string())
        .option("scale", "0.02")
        .option("seed", "1");
    let running = targets::start(config).expect("the target starts");
    let address = running.addr();
    (running, [format!("-Jhost={}", address.ip()), format!("-Jport={}", address.port())])
}

/// Reads a JSON file from the folder of the only run in `runs`.
fn answer(program: &Program, file: &str) -> Value {
    serde_json::from_slice(&std::fs::read(program.run_folder().join(file)).expect(file))
        .expect("JSON")
}

/// Checks that a table has all columns, because a pipe has no width.
fn has_columns(out: &str, columns: &[&str]) {
    let is_heading = |line: &str| columns.iter().all(|column| line.contains(column));
    assert!(out.lines().any(is_heading) && !out.contains("more column"), "{out}");
}

fn a_sweep_over_a_fixed_concurrency_is_a_plateau() {
    let program = Program::new();
    let (running, [host, port]) = service(4);
    let ended = program.run(&[
        "sweep",
        PLAN,
        "--users",
        "1,2,4,8,16,32",
        "--at-least",
        "3s",
        "--at-most",
        "4s",
        "--ramp",
        "0s",
        &host,
        &port,
    ]);
    running.stop();
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    // The target handles 4 requests of 16 ms at once: about 250 requests a second for any number of users.
    let sweep = answer(&program, "sweep.json");
    let points = sweep["points"].as_array().expect("points");
    assert_eq!(points.len(), 6);
    let rates: Vec<f64> =
        points.iter().map(|point| point["figures"]["rate"].as_f64().unwrap()).collect();
    assert!(rates[0] < 0.5 * rates[5], "{rates:?}");
    // On a busy machine the fitted model may be uncertain, but it must never show a peak.
    assert_ne!(sweep["model"]["chosen"]["model"], "usl", "{}", sweep["model"]);
    assert!(sweep["model"]["peak"].is_null());
    assert!(ended.err.contains("point 6 of 6, 32 users: "), "{}", ended.err);
    assert!(ended.err.contains("too short for a confidence interval"), "{}", ended.err);
    let first = ended.out.lines().next().expect("a sentence");
    let words = ["Limit: about ", "Throughput", "Highest throughput", "No answer: "];
    assert!(words.iter().any(|words| first.contains(words)), "{first}");
    // The verdict on the points is printed before the table.
    let verdict = ended.out.find("Verdict on the points\n").expect("a verdict");
    assert!(verdict < ended.out.find("mean ms").expect("a table"), "{}", ended.out);
    has_columns(&ended.out, &["mean ms", "±", "p99 from … to", "KiB/s in", "ended by"]);
    for finding in points.iter().flat_map(|p| p["verdict"]["findings"].as_array().unwrap()) {
        let doc = finding["doc"].as_str().expect("a page");
        let is_few = finding["id"] == "too_few_samples";
        assert!(is_few || ended.out.contains(doc), "{doc}: {}", ended.out);
    }
    let is_quiet = |p: &Value| {
        let findings = p["verdict"]["findings"].as_array().expect("findings");
        let is_open = !p["verdict"]["undecided"].is_null();
        !is_open && findings.iter().all(|finding| finding["id"] == "too_few_samples")
    };
    let says_so = |words| ended.out.lines().any(|line| line.starts_with(words));
    let says_quiet = says_so("  No other problem found at ") || says_so("  No problem found at ");
    assert_eq!(points.iter().any(is_quiet), says_quiet, "{}", ended.out);
    assert!(points.iter().all(|point| point["warm_up"]["not_looked_for"] == true));
}

fn a_capacity_search_ends_within_its_probes_and_says_both_bounds() {
    let program = Program::new();
    let (running, [host, port]) = service(8);
    let ended = program.run(&[
        "capacity",
        PLAN,
        "--fail",
        "p99 < 400ms",
        "--fail",
        "error% = 0",
        "--at-most",
        "800",
        "--probe",
        "3s",
        "--settle",
        "1s",
        "--width",
        "5%",
        &host,
        &port,
    ]);
    running.stop();
    let capacity = answer(&program, "capacity.json");
    let probes = capacity["probes"].as_array().expect("probes");
    assert!(probes.len() <= 10);
    let findings = probes.iter().map(|probe| probe["verdict"]["findings"].as_array().unwrap());
    assert!(findings.flatten().all(|finding| finding["words"]["en"].is_string()));
    if is_doubted(&capacity) {
        return is_one_of_the_answers(&ended);
    }
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let (lower, upper) = (
        capacity["answer"]["lower"].as_f64().unwrap(),
        capacity["answer"]["upper"].as_f64().unwrap(),
    );
    // With N users each request takes N / 500 s, which reaches the limit of 400 ms at about 190 users.
    assert!(lower < upper && (80.0..260.0).contains(&lower), "{lower} {upper}");
    has_columns(&ended.out, &["succeeded/s", "in flight", "samples", "ended by"]);
    let purposes = probes.iter().map(|probe| probe["purpose"].as_str().expect("a word"));
    assert!(purposes.clone().any(|purpose| purpose == "overload"));
    assert_eq!(purposes.clone().next(), Some("light"));
    // If other programs fill the machine, the search's answer says so.
    let first = ended.out.lines().next().expect("a sentence");
    let says = if ended.out.contains("on a machine of its own the target may take more") {
        ["Limit on this machine: about ", "At least "]
    } else {
        ["Limit: about ", "Limit: "]
    };
    assert!(says.iter().any(|says| first.starts_with(says)), "{first}");
    assert!(first.contains(" held") && first.contains(&format!("; at {upper} ")), "{first}");
    // `limited_by` contains the verdict on the run that decided the limit.
    let limit = &capacity["limited_by"];
    assert_eq!(limit["load"].as_f64(), Some(upper));
    assert!(limit["criteria"][0]["criterion"].is_string(), "{limit}");
    // If the deciding run has no finding, the overload run has one: its users wait and the rate stays flat.
    let at = limit["finding_at"].as_f64().unwrap_or(upper);
    let says = format!("The run at {at} users says what limited it:\n");
    let silent = format!(
        "Of the run at {upper} users, which decided:\n  No cause of the limit was found.\n  "
    );
    let named = limit["finding"]["words"]["en"].as_str().is_some();
    let is_said = ended.out.contains(&says);
    assert!(is_said || !named && ended.out.contains(&silent), "{limit} {}", ended.out);
}

fn what_was_not_exceeded_is_at_least() {
    let program = Program::new();
    let (running, [host, port]) = service(8);
    let rest = ["--probe", "2s", "--settle", "1s", &host, &port];
    let line = ["capacity", PLAN, "--fail", "p99 < 30s", "--at-most", "4"];
    let ended = program.run(&[&line[..], &rest].concat());
    if is_doubted(&answer(&program, "capacity.json")) {
        is_one_of_the_answers(&ended);
    } else {
        assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
        assert!(ended.out.starts_with("At least 4 users"), "{}", ended.out);
    }
    let other = Program::new();
    let ended = other.run(&[&["capacity", PLAN, "--fail", "p50 < 1us"][..], &rest].concat());
    running.stop();
    if is_doubted(&answer(&other, "capacity.json")) {
        return is_one_of_the_answers(&ended);
    }
    assert_eq!(ended.code, 4, "{}{}", ended.out, ended.err);
    assert!(ended.out.starts_with("Not even 1 user holds: response p50"), "{}", ended.out);
}

fn a_percentile_of_too_few_samples_does_not_let_a_load_hold() {
    let program = Program::new();
    let (running, [host, port]) = service(8);
    // The percentile needs 100 000 samples. The second probe of the largest load is five times as long.
    let line = ["capacity", PLAN, "--fail", "p99.999 < 30s", "--at-most", "2"];
    let ended =
        program.run(&[&line[..], &["--probe", "2s", "--settle", "1s", &host, &port]].concat());
    running.stop();
    let capacity = answer(&program, "capacity.json");
    if is_doubted(&capacity) {
        return is_one_of_the_answers(&ended);
    }
    assert_eq!(ended.code, 6, "{}{}", ended.out, ended.err);
    let words = "No answer: with 1 user the samples do not decide the criteria";
    assert!(ended.out.starts_with(words), "{}", ended.out);
    assert!(ended.out.contains("at least 100 000 needed for p99.999"), "{}", ended.out);
    assert!(ended.err.contains("undecided, too few samples"), "{}", ended.err);
    let found = &capacity["answer"];
    assert!(found["lower"].is_null() && found["undecided"] == true, "{found}");
    assert_eq!(found["limit"], "samples", "{found}");
    let probes = capacity["probes"].as_array().expect("probes");
    let loads: Vec<f64> = probes.iter().filter_map(|probe| probe["load"].as_f64()).collect();
    assert_eq!(loads, [1.0, 2.0, 2.0]);
    assert!(probes.iter().all(|probe| probe["holds"] == false && probe["undecided"] == true));
    let seconds = |at: usize| probes[at]["seconds"].as_f64().expect("a length");
    assert!(seconds(2) > 4.0 * seconds(1), "{} {}", seconds(1), seconds(2));
}

fn failures_that_no_criterion_is_about_are_said() {
    let running = targets::start(Config::new("service").option("errors", "1")).expect("it starts");
    let address = running.addr();
    let [host, port] = [format!("-Jhost={}", address.ip()), format!("-Jport={}", address.port())];
    let rest = ["--at-most", "4", "--probe", "2s", "--settle", "1s", &host, &port];
    for (criterion, is_said) in [("p99 < 30s", true), ("error% <= 100", false)] {
        let program = Program::new();
        let ended = program.run(&[&["capacity", PLAN, "--fail", criterion][..], &rest].concat());
        if is_doubted(&answer(&program, "capacity.json")) {
            is_one_of_the_answers(&ended);
            continue;
        }
        // A criterion on response times needs successful samples.
        assert_eq!(ended.code, if is_said { 4 } else { 0 }, "{}{}", ended.out, ended.err);
        assert_eq!(ended.out.contains("samples failed"), is_said, "{}", ended.out);
    }
    running.stop();
}

fn a_probe_begins_when_the_target_has_worked_off_the_last_one() {
    let program = Program::new();
    // The target handles 50 requests a second. An overload of 1.5 s leaves about 13 s of work, even after its users
    // have gone.
    let config = Config::new("service").option("workers", "1").option("ms", "20");
    let running = targets::start(config).expect("it starts");
    let address = running.addr();
    let [host, port] = [format!("-Jhost={}", address.ip()), format!("-Jport={}", address.port())];
    let line = ["capacity", PLAN, "--rps", "--at-least", "2", "--at-most", "500", "--probes", "3"];
    let rest = ["--fail", "p90 < 300ms", "--probe", "1s", "--settle", "500ms", &host, &port];
    let ended = program.run(&[&line[..], &rest].concat());
    running.stop();
    let capacity = answer(&program, "capacity.json");
    if is_doubted(&capacity) {
        return is_one_of_the_answers(&ended);
    }
    let third = &capacity["probes"][2];
    assert!((25.0..55.0).contains(&third["load"].as_f64().expect("a load")), "{third}");
    // Users of the third probe do not wait behind the requests of the overload.
    assert!(third["samples"].as_u64().is_some_and(|samples| samples > 10), "{third}");
    assert!(third["p50"].as_f64().is_some_and(|ms| ms < 500.0), "{third}");
    let kept = program.run_folder().join("between");
    assert!(!kept.exists(), "what was looked at is no part of the answer");
}

/// Keeps all processors except one busy.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn new() -> Self {
        let on = Arc::new(AtomicBool::new(true));
        for _ in 1..std::thread::available_parallelism().map_or(1, usize::from) {
            let on = Arc::clone(&on);
            std::thread::spawn(move || while on.load(Relaxed) {});
        }
        Self(on)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

fn a_full_machine_that_the_target_shares_is_said() {
    let program = Program::new();
    // Each request uses a processor for 20 ms, so a few users fill the free processor. The other processors are busy.
    let busy = Busy::new();
    let running = targets::start(Config::new("service").option("burn", "20")).expect("it starts");
    let address = running.addr();
    let properties = [format!("-Jhost={}", address.ip()), format!("-Jport={}", address.port())];
    let line = ["capacity", PLAN, "--fail", "p50 < 150ms", "--at-most", "64", "--probes", "4"];
    let rest = ["--probe", "3s", "--settle", "1s", &properties[0], &properties[1]];
    let ended = program.run(&[&line[..], &rest].concat());
    let capacity = answer(&program, "capacity.json");
    let probes = capacity["probes"].as_array().expect("probes");
    let over = probes.iter().find(|probe| probe["purpose"] == "overload").expect("an overload");
    let shared = &over["shared"];
    assert!(shared["machine"].as_f64().expect("a shared machine") > 0.9, "{shared}");
    if is_doubted(&capacity) {
        running.stop();
        return is_one_of_the_answers(&ended);
    }
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert_eq!(capacity["at_least"], true);
    let first = ended.out.lines().next().expect("a sentence");
    let says = ["At least ", "Limit on this machine: about "];
    assert!(says.iter().any(|says| first.starts_with(says)), "{first}");
    assert!(first.contains("p50 < 150ms held") && !first.contains("full"), "{first}");
    assert!(
        ended.out.contains("on a machine of its own the target may take more"),
        "{}",
        ended.out
    );
    let line = ["sweep", PLAN, "--users", "64", "--at-least", "2s", "--at-most", "3s"];
    let swept = Program::new();
    let ended = swept.run(&[&line[..], &["--ramp", "0s"], &rest[4..]].concat());
    running.stop();
    drop(busy);
    assert!(ended.out.contains("- 64: the target shares the generator's machine"), "{}", ended.out);
}

/// Fails unless the output begins with the first word of an answer and the exit code fits that word.
fn is_one_of_the_answers(ended: &program::Ended) {
    let code = match ended.out.split_once(' ').map(|(word, _)| word) {
        Some("The" | "At") => 0,
        Some("Not") => 4,
        Some("No") => 8,
        _ => panic!("{}{}", ended.out, ended.err),
    };
    assert_eq!(ended.code, code, "{}{}", ended.out, ended.err);
}

/// True if a busy machine made a probe doubtful.
fn is_doubted(capacity: &Value) -> bool {
    let probes = capacity["probes"].as_array().expect("probes");
    probes.iter().any(|probe| probe["generator"] == true)
}

/// Repeatedly stops the child processes of `parent` for half a second each, until they end. Returns the number of
/// stops.
fn hold_up(parent: u32) -> std::thread::JoinHandle<u32> {
    std::thread::spawn(move || {
        let children = || {
            let path = format!("/proc/{parent}/task/{parent}/children");
            let text = std::fs::read_to_string(path).ok()?;
            Some(text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>())
        };
        let send = |pids: &[i32], signal| {
            for pid in pids.iter().filter_map(|pid| rustix::process::Pid::from_raw(*pid)) {
                let _ = rustix::process::kill_process(pid, signal);
            }
        };
        let mut times = 0;
        while let Some(pids) = children() {
            send(&pids, rustix::process::Signal::STOP);
            std::thread::sleep(Duration::from_millis(500));
            send(&pids, rustix::process::Signal::CONT);
            std::thread::sleep(Duration::from_millis(500));
            times += u32::from(!pids.is_empty());
        }
        times
    })
}

fn where_the_generator_does_not_keep_up_there_is_no_answer_about_the_target() {
    let program = Program::new();
    let (running, [host, port]) = service(8);
    let rest = ["--probe", "2s", "--settle", "1s", &host, &port];
    let line = ["capacity", PLAN, "--fail", "p99 < 30s", "--at-most", "4"];
    let capacity = program.start(&[&line[..], &rest].concat());
    let held_up = hold_up(capacity.id());
    let ended = capacity.wait_with_output().expect("it ends");
    running.stop();
    assert!(held_up.join().expect("it ends") > 2);
    let out = String::from_utf8_lossy(&ended.stdout);
    // The search makes three probes: light, overload, and light again.
    let found = answer(&program, "capacity.json");
    assert_eq!(found["probes"].as_array().map(Vec::len), Some(3), "{out}");
    assert_eq!(found["answer"]["limit"], "generator", "{out}");
    assert_eq!(ended.status.code(), Some(8), "{out}");
    assert!(out.starts_with("No answer: already with 1 user, "), "{out}");
    assert!(out.lines().next().is_some_and(|line| line.contains("enerator")), "{out}");
}

fn points_at_which_the_generator_did_not_keep_up_do_not_count() {
    let program = Program::new();
    let (running, [host, port]) = service(4);
    let line =
        ["sweep", PLAN, "--users", "1,2", "--at-least", "2s", "--at-most", "3s", "--ramp", "0s"];
    let sweep = program.start(&[&line[..], &[&host, &port]].concat());
    let held_up = hold_up(sweep.id());
    let ended = sweep.wait_with_output().expect("it ends");
    running.stop();
    assert!(held_up.join().expect("it ends") > 1);
    let out = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{out}");
    for point in answer(&program, "sweep.json")["points"].as_array().expect("points") {
        let why = point["excluded"].as_str().expect("a reason");
        assert!(why.starts_with("generator: ") && why.len() > 30, "{why}");
    }
    assert!(
        out.starts_with("No answer: no point counts (see the notes below). The most that"),
        "{out}"
    );
    assert!(out.contains("(○) is not used for the model: generator: "), "{out}");
}

#[test]
fn ctrl_c_ends_a_sweep_with_what_there_is() {
    let program = Program::new();
    let (running, [host, port]) = service(4);
    let mut sweep = program.start(&[
        "sweep",
        PLAN,
        "--users",
        "1,2,4",
        "--at-least",
        "2s",
        "--at-most",
        "3s",
        "--ramp",
        "0s",
        &host,
        &port,
    ]);
    let mut lines = BufReader::new(sweep.stderr.take().expect("piped")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(first.starts_with("point 1 of 3, 1 user: "), "{first}");
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&sweep);
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let status = sweep.wait().expect("it ends");
    running.stop();
    assert_eq!(status.code(), Some(130), "{rest:?}");
    let answer = answer(&program, "sweep.json");
    assert!(!answer["points"].as_array().unwrap().is_empty());
    assert!(!answer["not_run"].as_array().unwrap().is_empty());
}

fn interrupt(process: &Child) {
    let pid = rustix::process::Pid::from_raw(process.id() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
}

/// Returns a result file of 120 s with 40 requests a second. Each request takes `ms` to 1.5 × `ms` milliseconds.
fn rows(seed: u64, ms: u64, failing: u64, users: u64) -> String {
    let mut text = String::from(
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,grpThreads,allThreads\n",
    );
    let mut state = seed;
    for i in 0..4800u64 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let elapsed = ms + (state >> 33) % (ms / 2);
        let good = failing == 0 || !(state >> 20).is_multiple_of(failing);
        let code = if good { "200,OK" } else { "500,Broken" };
        let label = if i % 2 == 0 { "Login" } else { "Search" };
        text.push_str(&format!(
            "{},{elapsed},{label},{code},t,{good},100,10,{users},{users}\n",
            1_700_000_000_000 + i * 25
        ));
    }
    text
}

#[test]
fn two_result_files_are_compared() {
    let program = Program::new();
    program.write("a.jtl", &rows(1, 100, 0, 10));
    program.write("same.jtl", &rows(2, 100, 0, 10));
    program.write("slower.jtl", &rows(3, 110, 50, 10));
    program.write("other.jtl", &rows(4, 100, 0, 20));
    let same = program.run(&["compare", "a.jtl", "same.jtl", "--fail-if", "p95 > +5%"]);
    assert_eq!(same.code, 0, "{}{}", same.out, same.err);
    assert!(
        same.out
            .contains("No difference that these runs can show; they would have shown a change of"),
        "{}",
        same.out
    );
    assert!(same.out.contains("passed: "), "{}", same.out);
    assert_eq!(same.err, "");
    // The complete rows of a truncated file are compared, and the output reports the loss.
    let text = rows(2, 100, 0, 10);
    program.write("cut.jtl", &text[..text.len() - 10]);
    let cut = program.run(&["compare", "a.jtl", "cut.jtl"]);
    assert!(cut.out.contains("take care: B: the last "), "{}", cut.out);
    let slower = program.run(&["compare", "a.jtl", "slower.jtl", "--fail-if", "p95 > +5%"]);
    assert_eq!(slower.code, 4, "{}{}", slower.out, slower.err);
    assert!(
        slower.out.contains("B's service p95 is 10.")
            || slower.out.contains("B's service p95 is 9."),
        "{}",
        slower.out
    );
    assert!(
        slower.out.contains("B's error% is ") && slower.out.contains(" points higher"),
        "{}",
        slower.out
    );
    assert!(
        slower.out.contains("Labels that differ: Login (") && slower.out.contains(", Search ("),
        "{}",
        slower.out
    );
    let other = program.run(&["compare", "a.jtl", "other.jtl"]);
    assert_eq!(other.code, 3, "{}{}", other.out, other.err);
    assert!(
        other.out.contains("cannot be compared: the load is not the same: A had 10 users, B 20"),
        "{}",
        other.out
    );
    let anyway = program.run(&["compare", "a.jtl", "other.jtl", "--anyway", "--json"]);
    assert_eq!(anyway.code, 0, "{}{}", anyway.out, anyway.err);
    let json: Value = serde_json::from_str(&anyway.out).expect("JSON");
    assert_eq!(json["comparison"]["all"]["differences"][0]["metric"], "rate");
}

fn plans_are_run_in_turns_and_the_run_is_the_unit() {
    let program = Program::new();
    program.write("b.jmx", &program::PLAN.replace("${__P(ms,1)}", "40"));
    let line = ["compare", "--plan", "plan.jmx", "--plan", "b.jmx", "--repeat", "3"];
    let rest = ["--users", "2", "--duration", "2s", "-Jloops=-1", "-Jms=10", "--json"];
    let ended = program.run(&[&line[..], &rest].concat());
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let words: Vec<&str> = ended.err.lines().filter_map(|l| l.split(" of 3").next()).collect();
    let turns: Vec<&str> = words.into_iter().filter(|l| l.contains(", run ")).collect();
    let expected = ["A, run 1", "B, run 1", "A, run 2", "B, run 2", "A, run 3", "B, run 3"];
    assert_eq!(turns, expected, "{}", ended.err);
    let json: Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(json, answer(&program, "compare.json"));
    assert_eq!(json["comparison"]["runs"], serde_json::json!([3, 3]));
    // Runs of 2 s are too short for an interval within a run, so the interval comes from the differences between runs.
    let all = &json["comparison"]["all"];
    assert!(all["refusal"].is_null(), "{all}");
    let mean = &all["differences"][2];
    assert_eq!((&mean["metric"], &mean["result"]), (&"mean".into(), &"different".into()), "{mean}");
    let low = mean["interval"][0].as_f64().expect("an interval between runs");
    assert!(low > 0.5 && mean["change"].as_f64().unwrap() > 1.0, "{mean}");
}

fn two_sweeps_are_compared_point_by_point() {
    let program = Program::new();
    let sweep = |runs: &str, users: &str, ms: &str| {
        let line = ["sweep", "plan.jmx", "--users", users, "--at-least", "2s", "--at-most", "3s"];
        let rest = ["--ramp", "0s", "-Jloops=-1", ms, "--runs", runs];
        let ended = program.run(&[&line[..], &rest].concat());
        assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
        let mut entries = std::fs::read_dir(program.path(runs)).expect("a folder of runs");
        entries.next().expect("a sweep").expect("a folder").path()
    };
    let (a, b) = (sweep("a", "1,2,3", "-Jms=5"), sweep("b", "1,2,4", "-Jms=20"));
    // Renames the folder of a sweep, which must still find its runs.
    let moved = program.path("moved");
    std::fs::rename(&b, &moved).expect("it can be moved");
    let (a, moved) = (a.to_str().expect("text"), moved.to_str().expect("text"));
    let ended = program.run(&["compare", a, moved, "--json", "--anyway"]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let json: Value = serde_json::from_str(&ended.out).expect("JSON");
    let points = json.as_array().expect("a comparison of each point");
    // Only loads that both sweeps have are compared.
    let names: Vec<&str> = points.iter().map(|point| point["a"].as_str().unwrap()).collect();
    assert_eq!(points.len(), 2, "{names:?}");
    for (point, at) in points.iter().zip([" at 1 user", " at 2 users"]) {
        assert!(
            point["a"].as_str().unwrap().ends_with(at)
                && point["b"].as_str().unwrap().ends_with(at)
        );
        let differences = point["comparison"]["all"]["differences"].as_array().expect("figures");
        let change = |metric: &str| {
            let of = differences.iter().find(|d| d["metric"] == metric).expect("a figure");
            of["change"].as_f64().expect("a number")
        };
        assert!(change("mean") > 0.5 && change("rate") < -0.3, "{point}");
        assert!(
            point["comparison"]["all"]["refusal"].as_str().unwrap().contains("60 s are needed")
        );
    }
    // The output names the property that differs, but not the start times, which always differ.
    let doubts = points[0]["doubts"].as_array().expect("doubts");
    let words: Vec<&str> = doubts.iter().map(|doubt| doubt["words"].as_str().unwrap()).collect();
    assert!(words.contains(&"properties are not the same: -Jms (A 5, B 20)"), "{words:?}");
    let text = program.run(&["compare", a, moved, "--anyway"]);
    assert!(text.out.contains("\n1 user ") && text.out.contains("\n2 users "), "{}", text.out);
    assert!(text.out.contains("take care: properties are not the same: -Jms"), "{}", text.out);
    // Points of 3 s are too short to tell a change from chance, so the criterion is undecided.
    let asked = program.run(&["compare", a, moved, "--anyway", "--fail-if", "mean > +5%"]);
    assert!(asked.out.contains("\n1 user: UNDECIDED: response mean > +5%"), "{}", asked.out);
    assert!(!asked.out.contains("passed"), "{}", asked.out);
    // Comparing a sweep with itself prints no warnings.
    let same = program.run(&["compare", a, a, "--anyway"]);
    assert!(!same.out.contains("are not the same"), "{}", same.out);
}

#[test]
fn ctrl_c_ends_a_search_with_what_there_is() {
    let program = Program::new();
    let (running, [host, port]) = service(4);
    let line = ["capacity", PLAN, "--fail", "p99 < 30s", "--at-most", "8"];
    let rest = ["--probe", "2s", "--settle", "1s", &host, &port];
    let mut search = program.start(&[&line[..], &rest].concat());
    let mut lines = BufReader::new(search.stderr.take().expect("piped")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(first.starts_with("probe 1 of at most 10, 1 user, light: "), "{first}");
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&search);
    lines.map_while(Result::ok).for_each(drop);
    let ended = search.wait_with_output().expect("it ends");
    running.stop();
    let out = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(130), "{out}");
    let capacity = answer(&program, "capacity.json");
    assert_eq!(capacity["unfinished"], true);
    assert_eq!(capacity["probes"].as_array().map(Vec::len), Some(1));
    if !is_doubted(&capacity) {
        assert!(out.starts_with("At least 1 user "), "{out}");
        assert!(out.contains("The search ended before anything larger was tried"), "{out}");
    }
    assert!(out.contains("The search stopped early: the limits are those found so far"), "{out}");
}

#[test]
fn a_full_disk_is_said_and_what_there_is_is_printed() {
    if !program::may_unshare("-rm") {
        return;
    }
    let program = Program::new();
    let script = r#"exec unshare -rm sh -c '
        mkdir small && mount -t tmpfs -o size=72k none small || exit 99
        exec "$0" sweep plan.jmx --users 2,4,8,16,32 --at-least 2s --at-most 3s --ramp 0s \
            -Jloops=-1 -Jms=2 --runs small
    ' "$0""#;
    let ended = program.shell(script);
    assert_eq!(ended.code, 9, "{ended:?}");
    let words = "is full (";
    assert!(ended.err.contains(words) && ended.err.contains("--runs"), "{}", ended.err);
    assert!(ended.err.lines().last().expect("a line").starts_with("error: "), "{}", ended.err);
    if ended.err.contains("point 1 of 5, 2 users: ") && !ended.out.is_empty() {
        assert!(ended.out.contains("- not run: "), "{}", ended.out);
    }
}

#[test]
fn a_killed_run_has_its_verdict() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "--users", "5", "--duration", "60s", "-Jloops=-1", "-Jms=5"];
    let mut run = program.start(&line);
    let seconds = || {
        let folder = std::fs::read_dir(program.path("runs")).ok()?.next()?.ok()?.path();
        Some(std::fs::read_to_string(folder.join("seconds.jsonl")).ok()?.lines().count())
    };
    let begun = std::time::Instant::now();
    while seconds().unwrap_or(0) < 4 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no seconds are written");
        std::thread::sleep(Duration::from_millis(100));
    }
    run.kill().expect("it runs");
    run.wait().expect("it ends");
    let folder = program.run_folder();
    let ended = program.run(&["verdict", folder.to_str().expect("text")]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("take care: the run has no end: "), "{}", ended.out);
    assert!(ended.out.contains("\nVerdict\n"), "{}", ended.out);
}

#[test]
fn mistakes_are_sentences() {
    let program = Program::new();
    program.write("a.jtl", &rows(1, 100, 0, 10));
    for (line, words) in [
        (&["sweep", "plan.jmx"][..], "--users"),
        (&["sweep", "plan.jmx", "--users", "1,x"], "x"),
        (&["sweep", "plan.jmx", "--users", "1", "--precision", "0"], "share"),
        (
            &["sweep", "plan.jmx", "--users", "1", "--at-most", "5s"],
            "--ramp (5s) must be shorter than --at-most (5s)",
        ),
        (&["capacity", "plan.jmx"], "--fail"),
        (&["capacity", "plan.jmx", "--fail", "p99 ~ 3"], "p99 ~ 3"),
        (&["capacity", "plan.jmx", "--fail", "p99 < 1s over 10s"], "no meaning here"),
        (
            &["capacity", "plan.jmx", "--fail", "p99 < 1s", "--at-most", "1"],
            "--at-least and --at-most",
        ),
        (&["compare", "a"], "takes two"),
        (&["compare", "nothing.jtl", "nowhere.jtl"], "nothing.jtl"),
        (&["compare", "plan.jmx", "a.jtl"], "only be compared with a plan"),
        (&["compare", "a", "b", "--fail-if", "p95 > 5s"], "is not a change"),
        (&["compare", "a", "b", "--fail-if", "p95 < +5%"], "would fail where B is as good as A"),
        (&["compare", "a.jtl", "a.jtl", "--fail-if", "p95 > +5% for label Nope"], "has a label"),
        (&["compare", ".", "a.jtl"], ". is not the folder of a run: "),
    ] {
        let ended = program.run(line);
        assert_eq!(ended.code, 2, "{line:?}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains(words), "{line:?}: {}", ended.err);
    }
}
