//! Output of a run while it goes on.
//!
//! Into a file or pipe come JMeter's lines, which scripts look for; on a terminal one line of status is renewed every
//! second instead. With `--json` standard output is kept for the summary, and everything here goes to standard error.

use std::io::{self, IsTerminal};

use stats::process::Usage;
use stats::snapshot::Brief;
use stats::snapshot_file::Second;
use stats::summariser::{Summariser, Users};

use crate::exit::Exit;
use crate::properties::Properties;
use crate::render;
use crate::terminal::{self, Stream};
use crate::tty::{error_colour, renews_lines, width};

/// Warnings of the engine that are shown.
const WARNINGS: u32 = 10;

/// The console of a run: its streams, and the form of its output.
pub(crate) struct Console {
    stderr: bool,
    /// `--quiet`: only warnings and errors.
    quiet: bool,
    /// Whether a line of status is shown instead of JMeter's lines.
    live: bool,
    status: bool,
    /// That of the properties, and those of the plan.
    summarisers: Vec<Summariser>,
    /// `summariser.out`.
    print: bool,
    /// `summariser.log`.
    log: bool,
    with_transactions: bool,
    /// Warnings of the engine so far.
    warned: u32,
}

impl Console {
    /// `json`: standard output belongs to the summary.
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let live = if json { renews_lines(&io::stderr()) } else { renews_lines(&io::stdout()) };
        Self {
            stderr: json,
            quiet,
            live: live && !quiet,
            status: false,
            summarisers: Vec::new(),
            print: true,
            log: true,
            with_transactions: false,
            warned: 0,
        }
    }

    /// A line for everybody.
    pub(crate) fn line(&mut self, text: &str) {
        self.clear();
        self.put(&format!("{text}\n"));
    }

    /// A line that was asked for, also with `--quiet`.
    pub(crate) fn asked_for(&mut self, text: &str) {
        self.clear();
        terminal::write(self.stream(), &format!("{text}\n"));
    }

    /// A line of JMeter's that says nothing new to a person at a terminal.
    pub(crate) fn jmeter_line(&mut self, text: &str) {
        if !self.live {
            self.put(&format!("{text}\n"));
        }
    }

    /// A line for a person at a terminal.
    pub(crate) fn live_line(&mut self, text: &str) {
        if self.live {
            self.put(&format!("{text}\n"));
        }
    }

    /// A warning, on standard error.
    pub(crate) fn warn(&mut self, message: &str) {
        self.report(&render::warning(message, error_colour()));
    }

    /// A warning of which there may be very many: the first are shown, all are in the log.
    pub(crate) fn warn_some(&mut self, message: &str) {
        self.warned += 1;
        match self.warned {
            ..=WARNINGS => self.warn(message),
            n if n == WARNINGS + 1 => self.warn("more of these warnings are in the log"),
            _ => {}
        }
    }

    /// An error, on standard error; gives the exit code back.
    pub(crate) fn fail(&mut self, message: &str, exit: Exit) -> Exit {
        self.report(&render::error(message, error_colour()));
        exit
    }

    /// Text for standard error, as it is.
    pub(crate) fn report(&mut self, text: &str) {
        self.clear();
        terminal::err(text);
    }

    /// Sets up JMeter's summarisers: that of the properties, and those that the plan names.
    pub(crate) fn create_summarisers(&mut self, properties: &Properties, of_plan: &[String]) {
        self.print = properties.flag("summariser.out", true);
        self.log = properties.flag("summariser.log", true);
        self.with_transactions =
            !properties.flag("summariser.ignore_transaction_controller_sample_result", true);
        let interval = properties.int("summariser.interval", 30).clamp(1, 86_400) as u32;
        let name = properties.get("summariser.name").filter(|name| !name.is_empty());
        if let Some(name) = name {
            self.jmeter_line(&format!("Creating summariser <{name}>"));
        }
        let names = of_plan.iter().map(String::as_str).chain(name);
        self.summarisers = names.map(|name| Summariser::new(name, interval, 0)).collect();
    }

    /// Starts the summarisers' clocks.
    pub(crate) fn start(&mut self, now_ms: i64) {
        for summariser in &mut self.summarisers {
            summariser.start(now_ms);
        }
        self.jmeter_line(&format!("Starting standalone test @ {}", stamp(now_ms)));
    }

    /// Whether transactions count in the summariser's sums.
    pub(crate) fn counts_transactions(&self) -> bool {
        self.with_transactions
    }

    /// Whether the summariser's lines go to the log.
    pub(crate) fn logs_summary(&self) -> bool {
        self.log
    }

    /// Prints the measurements of a second. Returns the summariser's lines, for the log.
    pub(crate) fn second(&mut self, second: &Second, sums: &Brief, elapsed_s: u64) -> Vec<String> {
        let users =
            Users { active: second.users, started: second.started, finished: second.finished };
        let lines: Vec<String> = self
            .summarisers
            .iter_mut()
            .flat_map(|summariser| summariser.add(sums, second.at_ms, users))
            .collect();
        if self.live {
            self.show_status(&status(second, elapsed_s));
        }
        self.print_summariser(&lines);
        lines
    }

    /// The end of the test. Returns the summariser's lines, for the log.
    pub(crate) fn finish(&mut self, users: Users, now_ms: i64) -> Vec<String> {
        self.clear();
        let lines: Vec<String> = self
            .summarisers
            .iter_mut()
            .flat_map(|summariser| summariser.finish(now_ms, users))
            .collect();
        self.print_summariser(&lines);
        self.jmeter_line(&format!("Tidying up ...    @ {}", stamp(now_ms)));
        self.jmeter_line("... end of run");
        lines
    }

    fn print_summariser(&mut self, lines: &[String]) {
        if self.print && !self.live {
            for line in lines {
                self.put(&format!("{line}\n"));
            }
        }
    }

    /// Prints text as it is.
    pub(crate) fn put(&mut self, text: &str) {
        if !self.quiet {
            terminal::write(self.stream(), text);
        }
    }

    /// Columns that a line of a table may take; `None` where it goes to a file or pipe.
    pub(crate) fn table_width(&self) -> Option<usize> {
        let terminal =
            if self.stderr { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
        terminal.then(|| width(self.stderr))
    }

    fn show_status(&mut self, text: &str) {
        self.status = true;
        let width = width(self.stderr);
        let text: String = text.chars().take(width).collect();
        terminal::renew(self.stream(), &text);
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.status) {
            terminal::renew(self.stream(), "");
        }
    }

    fn stream(&self) -> Stream {
        if self.stderr { Stream::Err } else { Stream::Out }
    }
}

/// The status of a second, in one line.
fn status(second: &Second, elapsed_s: u64) -> String {
    let (minutes, seconds) = (elapsed_s / 60, elapsed_s % 60);
    let errors = if second.samples == 0 {
        0.0
    } else {
        second.errors as f64 * 100.0 / second.samples as f64
    };
    format!(
        "{minutes:02}:{seconds:02}  users {}{}{}  {}/s  p50 {:.0}  p95 {:.0}  p99 {:.0} ms  errors {errors:.1}%  CPU {:.0}%  overhead p99 {:.1} ms",
        second.users,
        if second.workers > 0 { format!(" on {} workers", second.workers) } else { String::new() },
        second
            .connections
            .as_ref()
            .map_or_else(String::new, |flow| format!("  held {}", flow.held)),
        second.samples,
        second.p50_ms,
        second.p95_ms,
        second.p99_ms,
        second.cpu_s * 100.0,
        second.lag_p99_ms
    )
}

/// A moment as JMeter prints it: `2026 Nov 21 07:44:18 UTC (1795247058000)`.
fn stamp(now_ms: i64) -> String {
    let now =
        jiff::Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(lang::zone::here());
    format!("{} ({now_ms})", now.strftime("%Y %b %-d %H:%M:%S %Z"))
}

/// Usage between two readings; the peak is that of the later one.
pub(crate) fn used(before: &Usage, now: &Usage) -> Usage {
    Usage { user_s: now.user_s - before.user_s, system_s: now.system_s - before.system_s, ..*now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_printed_as_jmeter_does() {
        let text = stamp(1_700_000_000_000);
        assert!(text.starts_with("2023 Nov 1") && text.ends_with(" (1700000000000)"), "{text}");
    }

    #[test]
    fn the_status_says_what_matters_in_one_line() {
        let second = Second {
            users: 5,
            samples: 200,
            errors: 1,
            p99_ms: 12.4,
            cpu_s: 0.25,
            lag_p99_ms: 0.31,
            ..Second::default()
        };
        let text = status(&second, 75);
        assert_eq!(
            text,
            "01:15  users 5  200/s  p50 0  p95 0  p99 12 ms  errors 0.5%  CPU 25%  overhead p99 0.3 ms"
        );
    }
}
