//! Console output of a run in progress.
//!
//! A file or pipe receives JMeter's lines, which scripts search for. A terminal shows the view of the test below
//! the printed lines ([`crate::operator::view`]). With `--json`, standard output is reserved for the summary, and this
//! module writes to standard error.

use std::io::{self, IsTerminal};

use record::Now;
use stats::process::Usage;
use stats::snapshot::Brief;
use stats::snapshot_file::Second;
use stats::summariser::{Summariser, Users};

use crate::exit::Exit;
use crate::inputs::properties::Properties;
use crate::judge::criteria::Judgement;
use crate::operator::view::{Screen, View};
use crate::print::tty::{Stream, error_colour, width};
use crate::print::{render, terminal};

/// Largest number of engine warnings that are printed.
const WARNINGS: u32 = 10;

/// The console of a run: its streams, and the form of its output.
pub(crate) struct Console {
    stderr: bool,
    /// True with `--quiet`: only warnings and errors are printed.
    quiet: bool,
    /// The part of the terminal with the view of the test, which replaces JMeter's lines.
    screen: Option<Screen>,
    /// State of the view, from the first second to the end of the test.
    view: Option<View>,
    /// The summariser that the properties define, and those of the plan.
    summarisers: Vec<Summariser>,
    /// True if the summariser's lines are printed (property `summariser.out`).
    print: bool,
    /// True if the summariser's lines are logged (property `summariser.log`).
    log: bool,
    /// True if the summariser's sums include transactions.
    with_transactions: bool,
    /// Number of engine warnings so far.
    warned: u32,
}

impl Console {
    /// Creates the console. With `json`, standard output is reserved for the summary.
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let stream = if json { Stream::Err } else { Stream::Out };
        Self {
            stderr: json,
            quiet,
            screen: if quiet { None } else { Screen::new(stream) },
            view: None,
            summarisers: Vec::new(),
            print: true,
            log: true,
            with_transactions: false,
            warned: 0,
        }
    }

    /// Prints a line, whether the output is a terminal or a file.
    pub(crate) fn line(&mut self, text: &str) {
        self.beside(|console| console.put(&format!("{text}\n")));
    }

    /// Prints a line that the user has requested, even with `--quiet`.
    pub(crate) fn asked_for(&mut self, text: &str) {
        self.clear();
        terminal::write(self.stream(), &format!("{text}\n"));
    }

    /// Prints a line of JMeter, unless the output is a terminal, where the line would be redundant.
    pub(crate) fn jmeter_line(&mut self, text: &str) {
        if self.screen.is_none() {
            self.put(&format!("{text}\n"));
        }
    }

    /// Prints a line on a terminal only.
    pub(crate) fn live_line(&mut self, text: &str) {
        if self.screen.is_some() {
            self.line(text);
        }
    }

    /// Prints a warning on standard error.
    pub(crate) fn warn(&mut self, message: &str) {
        self.report(&render::warning(message, error_colour()));
    }

    /// Prints a warning that may occur very often. Only the first ones are printed; the log has all of them.
    pub(crate) fn warn_some(&mut self, message: &str) {
        self.warned += 1;
        match self.warned {
            ..=WARNINGS => self.warn(message),
            n if n == WARNINGS + 1 => self.warn("more of these warnings are in the log"),
            _ => {}
        }
    }

    /// Prints an error on standard error. Returns the given exit code.
    pub(crate) fn fail(&mut self, message: &str, exit: Exit) -> Exit {
        terminal::note_error(message);
        self.report(&render::error(message, error_colour()));
        exit
    }

    /// Prints the criteria that are missed or undecided, if the run is quiet and so prints no summary with them.
    pub(crate) fn missed(&mut self, judgement: &Judgement) {
        if self.quiet {
            let lines: Vec<String> = judgement.missed().collect();
            for line in lines {
                self.report(&render::error(&line, error_colour()));
            }
        }
    }

    /// Prints a string unchanged on standard error, above the view of the test.
    pub(crate) fn report(&mut self, text: &str) {
        self.beside(|_| terminal::err(text));
    }

    /// Prints output above the view of the test.
    fn beside(&mut self, print: impl FnOnce(&mut Self)) {
        self.clear();
        print(self);
        self.refresh();
    }

    /// Creates JMeter's summarisers: the one that the properties define, and those of the plan.
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

    /// Starts the summarisers' clocks. `engines` is JMeter's list of hosts if each host runs the whole plan.
    pub(crate) fn start(&mut self, now_ms: i64, engines: Option<&str>) {
        for summariser in &mut self.summarisers {
            summariser.start(now_ms);
        }
        let what = engines.map_or_else(
            || "standalone test".to_owned(),
            |engines| format!("distributed test with remote engines: [{engines}]"),
        );
        self.jmeter_line(&format!("Starting {what} @ {}", stamp(now_ms)));
    }

    /// True if the summariser's sums include transactions.
    pub(crate) fn counts_transactions(&self) -> bool {
        self.with_transactions
    }

    /// True if the summariser's lines are logged.
    pub(crate) fn logs_summary(&self) -> bool {
        self.log
    }

    /// Updates and shows the view of the test.
    pub(crate) fn show(&mut self, now: &Now<'_>) {
        if let Some(screen) = &mut self.screen {
            let view = self.view.get_or_insert_default();
            view.follow(now);
            screen.draw(view);
        }
    }

    /// Redraws the view if the terminal's size has changed or other output was printed.
    pub(crate) fn refresh(&mut self) {
        if let (Some(screen), Some(view)) = (&mut self.screen, &self.view) {
            screen.refresh(view);
        }
    }

    /// Prints the measurements of a second. Returns the summariser's lines for the log.
    pub(crate) fn second(
        &mut self,
        second: &Second,
        sums: &Brief,
        first_ms: Option<i64>,
    ) -> Vec<String> {
        if let Some(first_ms) = first_ms {
            self.summarisers.iter_mut().for_each(|summariser| summariser.begin(first_ms));
        }
        let users =
            Users { active: second.users, started: second.started, finished: second.finished };
        let lines: Vec<String> = self
            .summarisers
            .iter_mut()
            .flat_map(|summariser| summariser.add(sums, second.at_ms, users))
            .collect();
        self.print_summariser(&lines);
        lines
    }

    /// Ends the output of the test, whose last sample ended at `last_ms`. Returns the summariser's lines for the log.
    pub(crate) fn finish(&mut self, users: Users, (last_ms, now_ms): (i64, i64)) -> Vec<String> {
        self.clear();
        self.view = None;
        let lines: Vec<String> = self
            .summarisers
            .iter_mut()
            .flat_map(|summariser| summariser.finish(last_ms, users))
            .collect();
        self.print_summariser(&lines);
        self.jmeter_line(&format!("Tidying up ...    @ {}", stamp(now_ms)));
        self.jmeter_line("... end of run");
        lines
    }

    fn print_summariser(&mut self, lines: &[String]) {
        if self.print && self.screen.is_none() {
            for line in lines {
                self.put(&format!("{line}\n"));
            }
        }
    }

    /// Prints a string unchanged, except in a quiet run.
    pub(crate) fn put(&mut self, text: &str) {
        if !self.quiet {
            terminal::write(self.stream(), text);
        }
    }

    /// Returns the width available to a table in columns, or `None` if the output is a file or pipe.
    pub(crate) fn table_width(&self) -> Option<usize> {
        let terminal =
            if self.stderr { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
        terminal.then(|| width(self.stderr))
    }

    fn clear(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.clear();
        }
    }

    fn stream(&self) -> Stream {
        if self.stderr { Stream::Err } else { Stream::Out }
    }
}

/// Formats a time as JMeter does: `2026 Nov 21 07:44:18 UTC (1795247058000)`.
fn stamp(now_ms: i64) -> String {
    let now =
        jiff::Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(lang::zone::here());
    format!("{} ({now_ms})", now.strftime("%Y %b %-d %H:%M:%S %Z"))
}

/// Returns the resources used between two measurements. The peak is that of the later measurement.
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
}
