//! The load that this machine makes: a few seconds of small requests to a fast target, sent by a process of its own, so
//! that the processor time is the generator's alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use stats::grouped::count;
use targets::Config;

/// Length of the load in seconds.
pub(super) const SECONDS: u64 = 3;
/// Number of users; `bench/http-keepalive` has as many.
const USERS: u32 = 50;
/// Time after which the measurement is given up.
const LONGEST: Duration = Duration::from_secs(20);

const PLAN: &str = include_str!("../../../../bench/http-keepalive/plan.jmx");
/// Port in the plan, which is replaced by the target's.
const PORT: &str = ">19080<";
/// Page with the figures of other generators for the same plan.
const FIGURES: &str = include_str!("../../../../bench/README.md");

/// Measures the load, and returns the lines about it. If it cannot be measured, the lines say why.
pub(super) fn lines() -> String {
    let own = match measure() {
        Ok(summary) => own_line(&summary),
        Err(reason) => format!("The load that this machine makes was not measured: {reason}.\n"),
    };
    own + &elsewhere().unwrap_or_default()
}

/// Formats the measured figures.
fn own_line(summary: &Value) -> String {
    let figure = |value: &Value| value.as_f64().unwrap_or_default();
    let rate = figure(&summary["requests_per_s"]);
    let cpu = figure(&summary["generator"]["cpu_us_per_request"]);
    if summary["failed"].as_u64() != Some(0) || rate <= 0.0 || cpu <= 0.0 {
        return "The load that this machine makes was not measured: requests failed.\n".to_owned();
    }
    format!(
        "This machine: {} requests/s, {cpu:.1} µs of processor time per request ({USERS} users for {SECONDS} s; the target runs beside them).\n",
        count(rate.round() as u64)
    )
}

/// Returns the line about JMeter, from the published figures; `None` if they are not there.
fn elsewhere() -> Option<String> {
    let is_row =
        |line: &&str| line.contains("](http-keepalive/README.md)") && line.contains("jmeter ");
    let row = FIGURES.lines().find(is_row)?;
    let own = row.split("**").nth(1)?;
    let (_, jmeter) = row.split_once("jmeter ")?;
    let jmeter = jmeter.split([' ', ',', '|']).next()?;
    Some(format!(
        "JMeter, measured elsewhere: {jmeter} µs per request, where Throng took {own} µs (the same plan, bench/http-keepalive).\n"
    ))
}

/// Runs the plan in a child process, and returns its summary. The error is a part of a sentence.
fn measure() -> Result<Value, String> {
    let target =
        targets::start(Config::new("fixed")).map_err(|error| format!("no target: {error}"))?;
    let folder = std::env::temp_dir().join(format!("throng-demo-{}", std::process::id()));
    let plan = PLAN.replace(PORT, &format!(">{}<", target.addr().port()));
    let summary = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("plan.jmx"), plan))
        .map_err(|error| format!("{}: {error}", folder.display()))
        .and_then(|()| run(&folder));
    target.stop();
    // What is left in the folder for temporary files does no harm.
    let _ = fs::remove_dir_all(&folder);
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
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < LONGEST => std::thread::sleep(Duration::from_millis(50)),
            _ => {
                // Errors mean that the child has ended in the meantime.
                let _ = child.kill().and_then(|()| child.wait());
                return Err(format!("the run took longer than {} s", LONGEST.as_secs()));
            }
        }
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
        let line = elsewhere().expect("the row of bench/README.md");
        let numbers: Vec<f64> =
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert_eq!(numbers.len(), 2, "{line}");
        assert!(numbers[0] > numbers[1] && numbers[1] > 0.0, "{line}");
        assert!(line.contains("measured elsewhere"), "{line}");
    }

    #[test]
    fn failed_requests_are_no_measurement() {
        let summary = |failed: u64| {
            serde_json::json!({
                "failed": failed, "requests_per_s": 41_234.4, "generator": { "cpu_us_per_request": 8.94 }
            })
        };
        assert!(own_line(&summary(0)).contains("8.9 µs of processor time per request"));
        assert!(own_line(&summary(1)).contains("was not measured"), "{}", own_line(&summary(1)));
        assert_eq!(PLAN.matches(PORT).count(), 1);
    }
}
