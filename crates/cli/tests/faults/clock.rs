//! The wall clock is set by one hour during a run. Durations use the monotonic clock, so no metric changes and no
//! user is late.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stats::jtl::Columns;
use stats::jtl::read::Table;

use crate::program::{PLAN, skip};
use crate::trial::{JTL, Trial, number};

/// C library shim for LD_PRELOAD: the wall clock is off by `CLOCK_BY` seconds once the file `CLOCK_STEP` exists.
const SHIM: &str = r#"
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, id, time);
    const char *step = getenv("CLOCK_STEP"), *by = getenv("CLOCK_BY");
    if (id == CLOCK_REALTIME && step && by && access(step, F_OK) == 0) time->tv_sec += atol(by);
    return result;
}
"#;

/// Returns a plan with two groups that run one after the other.
fn two_groups() -> String {
    let from = PLAN.find("      <ThreadGroup").expect("a group");
    let to = PLAN.find("    </hashTree>\n  </hashTree>").expect("its end");
    let group = &PLAN[from..to];
    PLAN.replace(
        group,
        &format!(
            "{}{group}",
            group
                .replace("ThreadGroup ", "SetupThreadGroup ")
                .replace("\"ThreadGroup\"", "\"SetupThreadGroup\"")
                .replace("</ThreadGroup>", "</SetupThreadGroup>")
        ),
    )
}

fn start(trial: &Trial, by: &str, workers: &str) -> Child {
    let file = |name: &str| std::fs::File::create(trial.program.path(name)).expect("a file");
    Command::new(env!("CARGO_BIN_EXE_throng"))
        .args([
            "run",
            "two.jmx",
            "-l",
            JTL,
            "-Jusers=2",
            "-Jloops=100",
            "-Jms=20",
            "--workers",
            workers,
            "--fail",
            "rate > 5",
            "--fail",
            "rate <= 100",
        ])
        .current_dir(trial.program.path("."))
        .env("LD_PRELOAD", trial.program.path("shim.so"))
        .env("CLOCK_STEP", trial.program.path("step"))
        .env("CLOCK_BY", by)
        .stdin(Stdio::null())
        .stdout(file("stdout"))
        .stderr(file("stderr"))
        .spawn()
        .expect("it starts")
}

#[test]
fn a_clock_that_is_set_changes_stamps_alone() {
    let steps = ["3600", "-3600", "2", "-2"];
    for (by, workers) in steps.into_iter().flat_map(|by| [(by, "1"), (by, "2")]) {
        let trial = Trial::new();
        trial.program.write("two.jmx", &two_groups());
        trial.program.write("shim.c", SHIM);
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o", "shim.so", "shim.c"])
            .current_dir(trial.program.path("."))
            .status();
        if !built.as_ref().is_ok_and(std::process::ExitStatus::success) {
            return skip(format!("no C compiler: {built:?}"));
        }
        let child = start(&trial, by, workers);
        let end = Instant::now() + Duration::from_secs(60);
        while trial.seconds().is_empty() {
            assert!(Instant::now() < end, "never: a second");
            std::thread::sleep(Duration::from_millis(20));
        }
        trial.program.write("step", "");
        let ended = trial.finish(child);
        assert_eq!(ended.code, 0, "{by}, {workers}: {ended:?}");
        assert_eq!(number(&trial.summary(), "requests"), 400, "{by}, {workers}: {ended:?}");
        let rows =
            Table::read(trial.program.read(JTL).as_bytes(), &Columns::default()).expect("rows");
        assert_eq!(rows.rows.len(), 400);
        // Each user sleeps 2 s in each of two groups that run one after the other.
        let summary = trial.summary();
        let length = summary["duration_ms"].as_i64().expect("a length");
        assert!((4_000..60_000).contains(&length), "{by}, {workers}: {summary}");
        let rate = summary["requests_per_s"].as_f64().expect("a rate");
        assert!(rate > 0.0 && rate <= 100.0, "400 samples in 4 s at most: {summary}");
        let line = ended.out.lines().rfind(|line| line.starts_with("summary =")).expect("a line");
        assert!(line.contains(&format!("= {rate:>6.1}/s")), "{line} is not {rate}");
        assert!(!ended.err.contains("NOT MET"), "{ended:?}");
        let way = if by.starts_with('-') { "back" } else { "forward" };
        let words = format!("the system clock was set {way} by {}", by.trim_start_matches('-'));
        assert!(ended.err.contains(&words), "{by}, {workers}: {ended:?}");
        let longest = rows.values("elapsed").map(|ms| ms.parse::<u64>().expect("a number")).max();
        assert!(longest.is_some_and(|ms| ms < 60_000), "{longest:?}");
    }
}
