//! The outputs of a run: console, folder, log, and messages that are repeated at the end.

use std::path::Path;

use engine::{Line, LogLevel};
use record::{Follower, Record};
use report::model::Known;
use serde_json::Value;
use stats::snapshot::Brief;
use stats::snapshot_file::Second;
use stats::summary::SeriesLine;

use crate::args::request::Request;
use crate::exit::Exit;
use crate::inputs::properties::Properties;
use crate::judge::verdict;
use crate::operator::console::Console;
use crate::print::log::{Level, Log};
use crate::print::terminal;
use crate::results::folder::Folder;
use crate::run::failing;
use crate::run::last_words::LastWords;
use crate::run::machines::about::Machines;
use crate::run::outcome::Outcome;
use crate::run::progress::Progress;

/// The outputs of a run: console, log and folder.
pub(crate) struct Traces<'a> {
    pub(crate) console: &'a mut Console,
    pub(crate) folder: Folder,
    pub(crate) log: Log,
    pub(crate) last: LastWords,
    /// Observers of each second; see [`record::now`].
    pub(crate) followers: Vec<Box<dyn Follower>>,
    /// Target systems of `--out`.
    pub(crate) exports: Option<export::Exports>,
    /// Machines whose agents run the users.
    pub(crate) machines: Machines,
    /// Data for computing the run's cost, as far as it is known before the run.
    pub(crate) cost: Known,
}

impl<'a> Traces<'a> {
    /// Creates the run's folder with the plan and the properties, and opens the log. If either fails, the run continues
    /// without it.
    pub(crate) fn open(
        request: &Request,
        source: &str,
        properties: &Properties,
        now_ms: i64,
        console: &'a mut Console,
    ) -> Self {
        let mut folder =
            Folder::create(&request.runs, &request.plan, now_ms).unwrap_or_else(|error| {
                let runs = request.runs.display();
                console.warn(&format!(
                    "cannot create the run's folder under {runs}: {error}; the run goes on, and its results are not saved there"
                ));
                Folder::default()
            });
        let set = Self::properties(request, properties);
        let written = [folder.write("plan.jmx", source), folder.write("properties.txt", &set)];
        written.into_iter().flatten().for_each(|message| console.warn(&message));
        let short_names = properties.flag("throng.log.short_names", false);
        let log = open_log(request, &folder, (short_names, false), console);
        let mut traces = Self::of(folder, log, console);
        if request.jtl_in_folder && traces.folder.path().is_none() {
            traces.last.add_lost(
                0,
                "all rows: --jtl writes them into the run's folder, and there is none",
            );
        }
        traces
    }

    /// Returns the content of the properties file in the run's folder.
    pub(crate) fn properties(request: &Request, properties: &Properties) -> String {
        properties.file() + &request.sources.global_lines()
    }

    /// Opens the folder of a run that another coordinator has started. Returns an error if the folder is not writable.
    pub(crate) fn again(
        request: &Request,
        folder: &Path,
        properties: &Properties,
        console: &'a mut Console,
    ) -> Result<Self, Exit> {
        let folder = Folder::again(folder).map_err(|error| {
            console.fail(&format!("{}: {error}", folder.display()), Exit::Aborted)
        })?;
        let short_names = properties.flag("throng.log.short_names", false);
        let log = open_log(request, &folder, (short_names, true), console);
        Ok(Self::of(folder, log, console))
    }

    fn of(folder: Folder, log: Log, console: &'a mut Console) -> Self {
        Self {
            console,
            folder,
            log,
            last: LastWords::default(),
            followers: Vec::new(),
            exports: None,
            machines: Machines::default(),
            cost: Known::default(),
        }
    }

    /// Writes a line to the log.
    pub(crate) fn note(&mut self, level: Level, category: &str, message: &str) {
        if let Some(trouble) = self.log.write(level, category, message) {
            self.console.warn(&trouble);
        }
    }

    /// Writes a warning to the log and to the console.
    pub(crate) fn warn(&mut self, category: &str, message: &str) {
        self.note(Level::Warn, category, message);
        self.console.warn(message);
    }

    /// Writes a line from the engine: log lines to the log, lines that the plan prints to the console, and warnings of
    /// the engine to both.
    pub(crate) fn heard(&mut self, line: &Line) {
        match line {
            Line::Printed(text) => self.console.line(text),
            Line::PrintedAsError(text) => self.console.report(&format!("{text}\n")),
            Line::UserEnded(text) => {
                let words = format!("a user was ended by {text}");
                self.note(Level::Warn, "engine", &words);
                if self.last.add_end(text) {
                    self.console.warn_some(&words);
                }
            }
            Line::Lost { count, what } => {
                self.note(Level::Warn, "engine", &line.to_string());
                self.last.add_lost(*count, what);
            }
            Line::Log { level, logger, at_ms, text } => {
                let level = match level {
                    LogLevel::Trace => Level::Trace,
                    LogLevel::Debug => Level::Debug,
                    LogLevel::Info => Level::Info,
                    LogLevel::Warn => Level::Warn,
                    LogLevel::Error => Level::Error,
                };
                self.heard_log(level, logger.as_deref().unwrap_or("plan"), *at_ms, text);
            }
            Line::Engine(text) => {
                self.note(Level::Warn, "engine", text);
                if self.last.add_said(text) {
                    self.console.warn_some(text);
                }
            }
        }
    }

    fn heard_log(&mut self, level: Level, logger: &str, at_ms: Option<i64>, text: &str) {
        if let Some(trouble) = self.log.write_at(at_ms, level, logger, text) {
            self.console.warn(&trouble);
        }
        if let Some(words) = failing::script(logger, text)
            && self.last.add_failure(words.clone())
        {
            self.console.warn(&format!("a script failed: {words}"));
        }
    }

    /// Writes a finished second of the run to its files and shows it.
    pub(crate) fn tell(&mut self, second: Option<(Second, Brief)>, progress: &mut Progress) {
        let Some((second, sums)) = second else { return };
        let first_ms = progress.totals().span_ms().map(|span| span.0);
        let lines = self.console.second(&second, &sums, first_ms);
        self.summariser_log(&lines);
        let now = progress.now();
        self.console.show(&now);
        self.followers.iter_mut().for_each(|follower| follower.second(&now));
        for line in self.exports.iter().flat_map(export::Exports::said).collect::<Vec<_>>() {
            self.warn("export", &line);
        }
        if let Some(message) = self.folder.write_second(&second) {
            self.console.warn(&message);
        }
        self.record(progress);
    }

    /// Writes new data to the run's record.
    pub(crate) fn record(&mut self, progress: &mut Progress) {
        if let Some(message) = self.folder.write_record(progress.recording()) {
            self.console.warn(&message);
        }
        if let Some(words) = progress.word() {
            self.note(Level::Info, "throng", &words);
        }
        if let Some(words) = progress.recording().warning() {
            self.warn("throng", &words);
        }
    }

    /// Returns the record of the run after its end. Reports a loss and returns `None` if it cannot be read.
    pub(crate) fn recorded(&mut self) -> Option<Record> {
        let record = self.folder.recorded();
        record
            .inspect_err(|error| self.last.add_lost(0, &format!("the record of the run: {error}")))
            .ok()
    }

    /// Logs the summariser's lines under the category of JMeter's log, because scripts search for it.
    pub(crate) fn summariser_log(&mut self, lines: &[String]) {
        if self.console.logs_summary() {
            for line in lines {
                self.note(Level::Info, "org.apache.jmeter.reporters.Summariser", line);
            }
        }
    }

    /// Writes the outcome to the console and into the folder. Returns the content of `summary.json`.
    pub(crate) fn report(&mut self, outcome: &Outcome<'_>, request: &Request) -> Value {
        for words in outcome.summary.series.iter().filter_map(SeriesLine::missing) {
            self.warn("throng", &words);
        }
        let Self { console, folder, last, machines, .. } = self;
        folder.end_record();
        if folder.seconds_lost() > 0 {
            last.add_lost(folder.seconds_lost(), "lines of seconds.jsonl");
        }
        if folder.record_lost() > 0 {
            last.add_lost(folder.record_lost(), "seconds of the record");
        }
        let language = verdict::language(request.lang);
        let text = |last: &LastWords, width| {
            outcome.text((last, machines), (language, width), request.listen)
        };
        let json = outcome.json(last, machines);
        let printed = serde_json::to_string_pretty(&json).unwrap_or_default();
        let plain = text(last, None);
        for (name, text) in [("summary.json", &printed), ("summary.txt", &plain)] {
            if let Some(message) = folder.write(name, text) {
                console.warn(&message);
                last.add_lost(0, name);
            }
        }
        let shown = match console.table_width() {
            Some(width) => text(last, Some(width)),
            None => plain,
        };
        console.put(&format!("\n{shown}\n"));
        console.missed(&outcome.judgement);
        match folder.path() {
            Some(path) => console.line(&format!("Results: {}", path.display())),
            None => console.line(
                "Results: not saved: the run's folder could not be created (see the warning above)",
            ),
        }
        if request.json {
            terminal::json(&printed);
        }
        json
    }
}

/// Opens the log. `again` is true if the log exists and is continued.
fn open_log(
    request: &Request,
    folder: &Folder,
    (short_names, again): (bool, bool),
    console: &mut Console,
) -> Log {
    let Some(path) = request.log.clone().or_else(|| folder.file("throng.log")) else {
        return Log::none();
    };
    // A log outside the run's folder has the permissions that the user's umask allows.
    let mode = if request.log.is_some() { 0o666 } else { 0o600 };
    match Log::open(&path, (mode, again), &request.levels, short_names) {
        Ok((log, unknown)) => {
            for message in &unknown {
                console.warn(message);
            }
            log
        }
        Err(error) => {
            console.warn(&format!(
                "cannot write the log {}: {error}; the run goes on without it",
                path.display()
            ));
            Log::none()
        }
    }
}
