//! Memory does not grow with the length of a run. Each kind of plan runs for a day on a clock that the test advances,
//! under an allocator that counts.
//!
//! The engine, the totals of a run and the targets are in this process; the targets keep nothing. Some plans have a
//! new label, host or error in every sample. The engine bounds what it stores of those, and reaches the bound
//! within the first hour. Tests run one after the other, because the allocator counts for the whole process. Real
//! time passes only while requests are in flight. Workers and Java scripts are not tested here, because the test's
//! clock reaches neither other processes nor a JVM. `bench/soak` tests those in real time.

mod peer;
mod plans;

use std::alloc::System;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::{Event, Options, ResultFile, Steps};
use stats::Totals;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Lock that lets only one simulated day run at a time.
static ONE: Mutex<()> = Mutex::new(());

const HOUR: u64 = 3600;
/// Limit in bytes on how far the peak memory of a day's second half may exceed that of the first half: 12 bytes a
/// second. Histograms occasionally get a new bin. A leak of one snapshot a second, or of one label a sample, is a
/// hundred times as much.
const FLAT: i64 = 512 << 10;
/// Largest number of seconds by which the simulated clocks may be ahead of the seconds that the cores have reported.
const AHEAD: u64 = 10;
/// Interval of the memory measurements, in simulated seconds.
const LOOK: u64 = 900;
/// Number of consecutive measurements from which the smallest is used.
const LASTING: usize = 6;
/// Real time after which a simulated day counts as hung, and the test fails.
const NEVER: Duration = Duration::from_secs(600);

fn live() -> i64 {
    let now = ALLOCATOR.stats();
    now.bytes_allocated as i64 - now.bytes_deallocated as i64
}

/// Returns the bytes in use once other threads (row writer, target) have finished their work.
fn settled() -> i64 {
    let (mut last, mut same) = (live(), 0);
    for _ in 0..1000 {
        std::thread::sleep(Duration::from_millis(1));
        let now = live();
        same = if now == last { same + 1 } else { 0 };
        last = now;
        if same == 3 {
            break;
        }
    }
    last
}

/// The result of a run of many simulated hours.
struct Day {
    /// Bytes of memory in use at each measurement.
    looks: Vec<i64>,
    samples: u64,
    failed: u64,
    totals: Totals,
}

/// Runs a plan for `hours` hours of simulated time.
fn run(text: &str, cores: u32, hours: u64, results: Vec<ResultFile>) -> Day {
    let (document, _) = jmx::parse("plan.jmx", text.as_bytes().to_vec()).expect("XML");
    let compiled = plan::compile::compile(&document, &plan::compile::Settings::default());
    let plan = compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diags));
    assert!(plan.java_backed.is_empty(), "nothing of it needs Java");
    let steps = Steps::new();
    let options = Options {
        cores,
        properties: HashMap::new(),
        base_dir: PathBuf::from("."),
        results,
        seed: 1,
        steps: Some(Arc::clone(&steps)),
        ..Options::default()
    };
    let mut run = engine::start(Arc::new(plan), options).expect("a run");
    let mut day = Day { looks: Vec::new(), samples: 0, failed: 0, totals: Totals::new() };
    let (begun, mut seconds) = (Instant::now(), vec![0; cores as usize]);
    let mut next = LOOK;
    loop {
        let all = seconds.iter().copied().min().expect("a core");
        if all >= next {
            next += LOOK;
            day.looks.push(settled());
            grown_too_far(&day);
        }
        if all >= hours * HOUR {
            break;
        }
        assert!(begun.elapsed() < NEVER, "it stands after {all} seconds");
        steps.allow(Duration::from_secs(all + AHEAD));
        match run.next_event(Duration::from_millis(100)) {
            Event::Snapshot(snapshot) => {
                seconds[snapshot.core as usize] += 1;
                day.totals.add(&snapshot);
                run.recycle(snapshot);
            }
            Event::Finished => panic!("the run ended after {all} seconds"),
            // Reports of single failures do not matter to this test.
            _ => {}
        }
    }
    steps.allow(Duration::MAX);
    run.stop_now();
    while !matches!(run.next_event(Duration::from_millis(50)), Event::Finished) {}
    for row in day.totals.rows() {
        day.samples += row.tally.count;
        day.failed += row.tally.errors;
    }
    day
}

/// Stops a leaking run before it uses up the machine's memory.
fn grown_too_far(day: &Day) {
    let (first, last) = (day.looks[0], day.looks[day.looks.len() - 1]);
    let seconds = day.looks.len() as u64 * LOOK;
    assert!(last - first < 256 << 20, "{} MiB more after {seconds} s", (last - first) >> 20);
}

/// Returns the peak of the memory in use. On a busy machine, rows that wait for their writer add megabytes to single
/// measurements; a leak stays. So the least of each [`LASTING`] measurements counts.
fn lasting_peak(looks: &[i64]) -> i64 {
    let least = |looks: &[i64]| *looks.iter().min().expect("looks");
    looks.windows(LASTING).map(least).max().expect("looks")
}

/// Runs a plan for a simulated day, and asserts that peak memory in the second half exceeds that of the first half by
/// at most [`FLAT`].
#[track_caller]
fn flat_with(text: &str, cores: u32, results: Vec<ResultFile>) -> Day {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let day = run(text, cores, 24, results);
    let grown: Vec<i64> = day.looks.iter().map(|bytes| (bytes - day.looks[0]) / 1024).collect();
    println!("{} samples, {} failed, KiB since the first: {grown:?}", day.samples, day.failed);
    let (first, second) = day.looks.split_at(day.looks.len() / 2);
    let more = lasting_peak(second) - lasting_peak(first);
    assert!(
        more < FLAT,
        "{more} bytes more in the second half; KiB since the first look: {grown:?}"
    );
    day
}

#[track_caller]
fn flat(text: &str) -> Day {
    flat_with(text, 1, Vec::new())
}

#[test]
fn a_day_of_five_labels() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let port = target.addr().port();
    let gets: String = (1..=5).map(|n| plans::get(&format!("page {n}"), port, "/", "")).collect();
    let day = flat_with(&plans::plan(2, 5000, &gets), 2, Vec::new());
    assert!(day.samples > 30_000 && day.failed == 0, "{} of {}", day.failed, day.samples);
}

#[test]
fn a_day_of_tls_connections() {
    let config = targets::Config::new("fixed").option("tls", "true");
    let target = targets::start(config).expect("a target");
    let get = plans::get("page", target.addr().port(), "/", "")
        .replace("protocol\">http<", "protocol\">https<")
        .replace("use_keepalive\">true<", "use_keepalive\">false<");
    let day = flat(&plans::plan(1, 20_000, &get));
    assert!(day.samples > 4_000 && day.failed == 0, "{} of {}", day.failed, day.samples);
}

#[test]
fn a_day_of_websockets() {
    let target = targets::start(targets::Config::new("websocket-echo")).expect("a target");
    let port = target.addr().port();
    let day = flat(&plans::plan(2, 10_000, &plans::sockets(port)));
    assert!(day.samples > 10_000 && day.failed == 0, "{} of {}", day.failed, day.samples);
}

#[test]
fn a_day_of_scripts_and_functions() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let get = plans::get("page", target.addr().port(), "/${n}?${__Random(1,99)}", plans::SCRIPTS);
    let day = flat(&plans::plan(1, 10_000, &get));
    assert!(day.samples > 8_000 && day.failed == 0, "{} of {}", day.failed, day.samples);
}

#[test]
fn a_day_of_cookies_and_a_cache() {
    let port = peer::serve(peer::Kind::SameCookie);
    let get = plans::get("page", port, "/${__counter(TRUE,)}", "");
    let day = flat(&plans::plan(1, 10_000, &format!("{}{get}", plans::cookies("false"))));
    assert!(day.samples > 8_000 && day.failed == 0, "{} of {}", day.failed, day.samples);
}

#[test]
fn a_day_of_ever_new_cookies_in_jars_that_are_cleared() {
    let port = peer::serve(peer::Kind::NewCookie);
    let get = plans::get("page", port, "/", "");
    let day = flat(&plans::plan(1, 10_000, &format!("{}{get}", plans::cookies("true"))));
    assert!(day.samples > 8_000 && day.failed == 0, "{} of {}", day.failed, day.samples);
}

#[test]
fn a_day_of_ever_new_errors() {
    let port = peer::serve(peer::Kind::NewError);
    let day = flat(&plans::plan(1, 10_000, &plans::get("page", port, "/", plans::NEW_ERROR)));
    assert!(day.samples > 8_000 && day.failed == day.samples, "{}/{}", day.failed, day.samples);
    assert!(day.totals.causes().len() <= stats::cause::MAX_CAUSES + 1);
}

#[test]
fn a_day_of_ever_new_hosts_and_ports() {
    let port = peer::serve(peer::Kind::NewHost);
    let day = flat(&plans::plan(1, 5_000, &plans::many_hosts(port)));
    assert!(day.samples > 15_000, "{} of {}", day.failed, day.samples);
}

#[test]
fn a_day_of_rows() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let folder = tempfile::tempdir().expect("a folder");
    let file = ResultFile {
        path: folder.path().join("out.jtl"),
        columns: stats::jtl::Columns::default(),
        errors_only: false,
        successes_only: false,
    };
    let get = plans::get("page", target.addr().port(), "/", "");
    // With one user, one of the two cores is idle.
    let day = flat_with(&plans::plan(1, 5_000, &get), 2, vec![file]);
    assert!(day.samples > 15_000 && day.failed == 0, "{} of {}", day.failed, day.samples);
}
