//! The load that this machine generates: sends small requests to a fast target for a few seconds. A separate
//! process sends them, so that the measured processor time is only that of the generator.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use stats::grouped::count;
use targets::Config;

/// Length of the load in seconds.
pub(super) const SECONDS: u64 = 3;
/// Number of users, the same as in `bench/http-keepalive`.
const USERS: u32 = 50;
/// Time limit for the measurement.
const LONGEST: Duration = Duration::from_secs(20);

const PLAN: &str = include_str!("../../../../../bench/http-keepalive/plan.jmx");
/// Port in the text of the plan, which is replaced by the target's port.
const PORT: &str = ">19080<";
/// Text of the page with the results of other generators for the same plan.
const FIGURES: &str = include_str!("../../../../../bench/README.md");

/// Measures the load. Returns the lines about the result, or the reason why there is none.
pub(super) fn lines() -> String {
    let own = match measure() {
        Ok(summary) => own_line(&summary),
        Err(reason) => format!("The load that this machine makes was not measured: {reason}.\n"),
    };
    own + &jmeter_line().unwrap_or_default()
}

/// Formats the results of the measurement.
fn own_line(summary: &Value) -> String {
    let figure = |value: &Value| value.as_f64().unwrap_or_default();
    let rate = figure(&summary["requests_per_s"]);
    let cpu = figure(&summary["generator"]["cpu_us_per_request"]);
    let reason = if summary["failed"].as_u64() != Some(0) {
        Some("requests failed")
    } else if rate <= 0.0 {
        Some("no requests were sent")
    } else if cpu <= 0.0 {
        Some("the processor time is not known")
    } else {
        None
    };
    if let Some(reason) = reason {
        return format!("The load that this machine makes was not measured: {reason}.\n");
    }
    format!(
        "This machine: {} requests/s, {cpu:.1} µs of processor time per request ({USERS} users for {SECONDS} s; the target runs beside them).\n",
        count(rate.round() as u64)
    )
}

/// Returns the line about JMeter, from the published results; `None` if they are missing.
fn jmeter_line() -> Option<String> {
    let is_row =
        |line: &&str| line.contains("](http-keepalive/README.md)") && line.contains("jmeter ");
    let row = FIGURES.lines().find(is_row)?;
    let own = row.split("**").nth(1)?;
    let (_, jmeter) = row.split_once("jmeter ")?;
    let jmeter = jmeter.split([' ', ',', '|']).next()?;
    Some(format!(
        "JMeter, measured elsewhere: {jmeter} µs of processor time per request, where Throng took {own} µs (the same plan, bench/http-keepalive).\n"
    ))
}

/// Runs the plan in a child process, and returns its summary. The error is a part of a sentence.
fn measure() -> Result<Value, String> {
    let folder = own_folder().map_err(|error| format!("no folder for temporary files: {error}"))?;
    let summary = measure_in(&folder);
    // Files that remain in the folder for temporary files are harmless.
    let _ = fs::remove_dir_all(&folder);
    summary
}

/// Creates a folder for temporary files that no other user can read or has created before.
fn own_folder() -> io::Result<PathBuf> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = format!("throng-demo-{}-{}", std::process::id(), now.as_nanos());
    let folder = std::env::temp_dir().join(name);
    // Fails if the folder exists.
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Starts the target, and runs the plan in a folder.
fn measure_in(folder: &Path) -> Result<Value, String> {
    let target =
        targets::start(Config::new("fixed")).map_err(|error| format!("no target: {error}"))?;
    let plan = PLAN.replace(PORT, &format!(">{}<", target.addr().port()));
    let summary = fs::write(folder.join("plan.jmx"), plan)
        .map_err(|error| format!("{}: {error}", folder.display()))
        .and_then(|()| run(folder));
    target.stop();
    summary
}

/// Runs `plan.jmx` in a folder.
fn run(folder: &Path) -> Result<Value, String> {
    let output = folder.join("summary.json");
    let file = |error: std::io::Error| format!("{}: {error}", output.display());
    let printed = fs::File::create(&output).map_err(file)?;
    let program = std::env::current_exe().map_err(|error| format!("no program: {error}"))?;
    let mut child = Command::new(program)
        .args(["run", "plan.jmx", "--json", "--no-report"])
        .args([format!("-Jusers={USERS}"), format!("-Jseconds={SECONDS}")])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(printed)
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("no process: {error}"))?;
    let start = Instant::now();
    let status = loop {
        let reason = match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < LONGEST => {
                std::thread::sleep(Duration::from_millis(50));
                continue;
            }
            Ok(None) => format!("the run took longer than {} s", LONGEST.as_secs()),
            Err(error) => format!("cannot wait for the run: {error}"),
        };
        // An error means that the child process has ended meanwhile.
        let _ = child.kill().and_then(|()| child.wait());
        return Err(reason);
    };
    if !status.success() {
        return Err(format!("the run ended with {status}"));
    }
    let text = fs::read_to_string(&output).map_err(file)?;
    serde_json::from_str(&text).map_err(|error| format!("its summary: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jmeters_figure_is_the_published_one() {
        let line = jmeter_line().expect("the row of bench/README.md");
        let numbers: Vec<f64> =
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert_eq!(numbers.len(), 2, "{line}");
        assert!(numbers[0] > numbers[1] && numbers[1] > 0.0, "{line}");
        assert!(line.contains("measured elsewhere"), "{line}");
    }

    #[test]
    fn failed_requests_are_no_measurement() {
        let line = |failed: u64, rate: f64, cpu: f64| {
            own_line(&serde_json::json!({
                "failed": failed, "requests_per_s": rate, "generator": { "cpu_us_per_request": cpu }
            }))
        };
        assert!(line(0, 41_234.4, 8.94).contains("8.9 µs of processor time per request"));
        for (line, reason) in [
            (line(1, 41_234.4, 8.94), "requests failed"),
            (line(0, 0.0, 0.0), "no requests were sent"),
            (line(0, 41_234.4, 0.0), "the processor time is not known"),
        ] {
            assert!(line.ends_with(&format!(" was not measured: {reason}.\n")), "{line}");
        }
        assert_eq!(PLAN.matches(PORT).count(), 1);
    }
}
