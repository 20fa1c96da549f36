//! Output of a run while it goes on.
//!
//! Into a file or pipe come JMeter's lines, which scripts look for; on a terminal the test is shown instead, below what
//! is printed ([`crate::view`]). With `--json` standard output is kept for the summary, and everything here goes to standard error.

use std::io::{self, IsTerminal};

use record::Now;
use stats::process::Usage;
use stats::snapshot::Brief;
use stats::snapshot_file::Second;
use stats::summariser::{Summariser, Users};

use crate::criteria::Judgement;
use crate::exit::Exit;
use crate::outputs;
use crate::properties::Properties;
use crate::render;
use crate::terminal;
use crate::tty::{Stream, error_colour, width};
use crate::view::{Screen, View};

/// Warnings of the engine that are shown.
const WARNINGS: u32 = 10;

/// The console of a run: its streams, and the form of its output.
pub(crate) struct Console {
    stderr: bool,
    /// `--quiet`: only warnings and errors.
    quiet: bool,
    /// The test is shown here, instead of JMeter's lines.
    screen: Option<Screen>,
    /// The state that is shown, from the first second on to the end of the test.
    view: Option<View>,
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

    /// A line for everybody.
    pub(crate) fn line(&mut self, text: &str) {
        self.beside(|console| console.put(&format!("{text}\n")));
    }

    /// A line that was asked for, also with `--quiet`.
    pub(crate) fn asked_for(&mut self, text: &str) {
        self.clear();
        terminal::write(self.stream(), &format!("{text}\n"));
    }

    /// A line of JMeter's that says nothing new to a person at a terminal.
    pub(crate) fn jmeter_line(&mut self, text: &str) {
        if self.screen.is_none() {
            self.put(&format!("{text}\n"));
        }
    }

    /// A line for a person at a terminal.
    pub(crate) fn live_line(&mut self, text: &str) {
        if self.screen.is_some() {
            self.line(text);
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
        outputs::note_error(message);
        self.report(&render::error(message, error_colour()));
        exit
    }

    /// Prints the criteria that are not met or undecided, if the run is quiet: a quiet run prints no summary that has them.
    pub(crate) fn missed(&mut self, judgement: &Judgement) {
        if self.quiet {
            let lines: Vec<String> = judgement.missed().collect();
            for line in lines {
                self.report(&render::error(&line, error_colour()));
            }
        }
    }

    /// Text for standard error, as it is.
    pub(crate) fn report(&mut self, text: &str) {
        self.beside(|_| terminal::err(text));
    }

    /// Prints something above what is shown of the test.
    fn beside(&mut self, print: impl FnOnce(&mut Self)) {
        self.clear();
        print(self);
        self.refresh();
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

    /// Starts the summarisers' clocks. `engines`: JMeter's list of hosts, where each runs the whole plan.
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

    /// Whether transactions count in the summariser's sums.
    pub(crate) fn counts_transactions(&self) -> bool {
        self.with_transactions
    }

    /// Whether the summariser's lines go to the log.
    pub(crate) fn logs_summary(&self) -> bool {
        self.log
    }

    /// Shows the test as it is by now.
    pub(crate) fn show(&mut self, now: &Now<'_>) {
        if let Some(screen) = &mut self.screen {
            let view = self.view.get_or_insert_default();
            view.follow(now);
            screen.draw(view);
        }
    }

    /// Shows it again, if the terminal has another size, or something was printed.
    pub(crate) fn refresh(&mut self) {
        if let (Some(screen), Some(view)) = (&mut self.screen, &self.view) {
            screen.refresh(view);
        }
    }

    /// Prints the measurements of a second. Returns the summariser's lines, for the log.
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

    /// The end of the test, whose last sample ended at `last_ms`. Returns the summariser's lines, for the log.
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

    fn clear(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.clear();
        }
    }

    fn stream(&self) -> Stream {
        if self.stderr { Stream::Err } else { Stream::Out }
    }
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
}
