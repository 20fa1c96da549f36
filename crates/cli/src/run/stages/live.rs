//! The load during a run: carries out requests of `throng ctl`, and records the changes.

use engine::{Evaluated, Level, Live};
use plan::load::shares;
use plan::plan::Plan;
use record::{Change, State};
use stats::grouped::things;

use super::phases::Phases;
use super::refusals::Refusals;
use super::traces::Traces;
use super::waiting::Waiting;
use crate::operator::ctl::{Amount, Command};
use crate::operator::interrupt::Interrupt;
use crate::pages::control::Changeable;
use crate::print::log::Level as LogLevel;
use crate::run::progress::Progress;
use crate::run::spread::Spread;

/// The currently requested load of a running test.
#[derive(Debug)]
pub(crate) struct Asked {
    levels: Vec<Level>,
    users: u64,
    rate: f64,
    paused: bool,
    /// Phases of the load (ramps, steps and holds) that have not started yet.
    phases: Phases,
    waiting: Waiting,
    refusals: Refusals,
}

/// The parts of a run that a `throng ctl` request may use.
pub(crate) struct Parts<'a, 'c> {
    pub(crate) run: &'a mut Spread,
    pub(crate) progress: &'a mut Progress,
    pub(crate) traces: &'a mut Traces<'c>,
    pub(crate) interrupt: &'a Interrupt,
}

impl Parts<'_, '_> {
    /// Writes a change into the record, into `seconds.jsonl` and into the log, and shows it on the console.
    fn mark(&mut self, change: Change, words: &str) {
        self.progress.mark(change, words);
        self.traces.note(LogLevel::Info, "throng", words);
        self.traces.console.live_line(words);
    }

    fn change(&mut self, changes: &[Live]) -> Result<(), String> {
        if self.run.change(changes) {
            return Ok(());
        }
        Err("no running thread group has a load that can change: the load has not begun, or is over"
            .into())
    }
}

impl Asked {
    pub(crate) fn new(evaluated: &Evaluated, plan: &Plan) -> Self {
        let asked = evaluated.asked(plan);
        let (length_ms, whole_ms) = (asked.main_length_ms, asked.length_ms);
        let levels = evaluated.levels(plan);
        let phases = Phases::new(evaluated.phases(plan), length_ms);
        let users = levels.iter().filter(|level| !level.scheduled);
        let users = users.map(|level| u64::from(level.users)).sum();
        let rate = levels.iter().filter_map(|level| level.rate).sum();
        let waits_for_starts = |level: &Level| level.scheduled || level.rate.is_some();
        let waiting = match Waiting::new(whole_ms) {
            waiting if levels.iter().any(waits_for_starts) => waiting,
            waiting => waiting.for_answers_of(plan),
        };
        let refusals = Refusals::default();
        Self { levels, users, rate, paused: false, phases, waiting, refusals }
    }

    /// Updates the state of the test, and records phases that have started. `started` is the number of users started so
    /// far.
    pub(crate) fn tell(
        &mut self,
        stopping: bool,
        started: u32,
        progress: &mut Progress,
        traces: &mut Traces<'_>,
    ) {
        let state = match (stopping, self.paused) {
            (true, _) => State::Stopping,
            (false, true) => State::Paused,
            (false, false) => State::Running,
        };
        progress.set_state(state, self.users());
        let now_ms = stats::clock::now_ms();
        if let Some(words) = self.waiting.words((stopping, self.paused), now_ms, progress) {
            traces.warn("throng", &words);
        }
        if let Some(words) = self.refusals.words(&progress.now()) {
            progress.mark(Change::Note(words.clone()), &words);
            traces.warn("throng", &words);
        }
        if stopping {
            return self.phases.forget();
        }
        for (at_ms, words) in self.phases.begun(now_ms, progress.start_ms, started) {
            progress.mark_at(at_ms, Change::Phase(words.clone()), &words);
            traces.note(LogLevel::Info, "throng", &words);
        }
        if let Some(end_ms) = self.phases.end_ms() {
            let length_ms = end_ms - progress.start_ms;
            self.waiting.length_ms = Some(length_ms);
            progress.recording().set_length(length_ms);
        }
    }

    /// Returns the requested number of users, if it can be changed.
    fn users(&self) -> Option<u64> {
        self.levels.iter().any(|level| !level.scheduled).then_some(self.users)
    }

    /// Returns the parts of the load that can be changed.
    pub(crate) fn changeable(&self) -> Changeable {
        let rate = self.levels.iter().any(|level| level.rate.is_some());
        Changeable { users: self.users().is_some(), rate }
    }

    /// Carries out a `throng ctl` request. Returns the answer for the user.
    pub(crate) fn obey(
        &mut self,
        command: Command,
        on: &mut Parts<'_, '_>,
    ) -> Result<String, String> {
        match command {
            Command::Users(amount) => self.set_users(amount, on),
            Command::Rate(amount) => self.set_rate(amount, on),
            Command::Pause | Command::Resume => self.pause(command == Command::Pause, on),
            Command::Stop { now } => {
                on.interrupt.ask(if now { 2 } else { 1 });
                let words = if now {
                    "the test stops at once"
                } else {
                    "the test stops: samples in flight finish"
                };
                Ok(words.into())
            }
            Command::Mark(text) => {
                on.mark(Change::Note(text.clone()), &format!("mark: {text}"));
                Ok(format!("marked: {text}"))
            }
            Command::Status => Ok(self.status(on)),
        }
    }

    fn set_users(&mut self, amount: Amount, on: &mut Parts<'_, '_>) -> Result<String, String> {
        let groups: Vec<&Level> = self.levels.iter().filter(|level| !level.scheduled).collect();
        if groups.is_empty() {
            return Err(match self.fixed() {
                Some(words) => words,
                None => "this test starts iterations at a rate: throng ctl rps changes it".into(),
            });
        }
        let users = amount.of(self.users as f64) as u64;
        if users == 0 {
            return Err(
                "without users the test ends: throng ctl stop ends it, pause interrupts it".into(),
            );
        }
        let weights: Vec<u64> = groups.iter().map(|level| level.users.into()).collect();
        let of = |(level, users): (&&Level, u64)| Live::Users {
            group: level.group,
            users: users as u32,
        };
        let changes: Vec<Live> = groups.iter().zip(shares(users, &weights)).map(of).collect();
        on.change(&changes)?;
        self.phases.forget();
        let before = std::mem::replace(&mut self.users, users);
        let words = format!("users: {users} instead of {before}");
        on.mark(Change::Users(users), &words);
        Ok(words)
    }

    fn set_rate(&mut self, amount: Amount, on: &mut Parts<'_, '_>) -> Result<String, String> {
        let groups: Vec<&Level> = self.levels.iter().filter(|level| level.rate.is_some()).collect();
        if groups.is_empty() {
            let users = self.levels.iter().any(|level| !level.scheduled);
            return Err(match self.fixed().filter(|_| !users) {
                Some(words) => words,
                None => "this test has a number of users: throng ctl users changes it; --rps gives it a rate".into(),
            });
        }
        let rate = amount.of(self.rate);
        let sum: f64 = groups.iter().filter_map(|level| level.rate).sum();
        let even = 1.0 / groups.len() as f64;
        let of = |level: &&Level| {
            let part = level.rate.filter(|_| sum > 0.0).map_or(even, |own| own / sum);
            Live::Rate { group: level.group, rate: rate * part }
        };
        let changes: Vec<Live> = groups.iter().map(of).collect();
        on.change(&changes)?;
        self.phases.forget();
        let before = std::mem::replace(&mut self.rate, rate);
        let words = format!("rate: {rate} starts/s instead of {before}");
        on.mark(Change::Rate(rate), &words);
        Ok(words)
    }

    /// Returns the error message if no thread group can be changed because each follows a fixed schedule. Otherwise
    /// returns `None`.
    fn fixed(&self) -> Option<String> {
        let fixed = |level: &&Level| level.scheduled && level.rate.is_none();
        let name = &self.levels.iter().find(fixed)?.name;
        self.levels.iter().all(|level| fixed(&level)).then(|| {
            format!(
                "thread group {name:?} starts each user at a time of its schedule (Open Model), which does not change while it \
                 runs: start the test with --rps N or --scenario '{name}=rps:N' to change the rate by throng ctl rps, or with \
                 --users N to change users"
            )
        })
    }

    fn pause(&mut self, paused: bool, on: &mut Parts<'_, '_>) -> Result<String, String> {
        if paused == self.paused {
            return Err(if paused {
                "the test is paused already"
            } else {
                "the test is not paused"
            }
            .into());
        }
        on.change(&[Live::Pause(paused)])?;
        self.paused = paused;
        let (change, words) = if paused {
            (Change::Paused, "paused: samples in flight finish, and no other begins")
        } else {
            (Change::WentOn, "the test goes on")
        };
        on.mark(change, words);
        Ok(words.into())
    }

    fn status(&self, on: &Parts<'_, '_>) -> String {
        let users = on.run.users();
        let asked = match (self.users, self.rate) {
            (0, rate) => format!("{rate} starts/s asked for"),
            (asked, 0.0) => format!("{} asked for", things(asked, "user")),
            (asked, rate) => {
                format!("{} and {rate} starts/s asked for", things(asked, "user"))
            }
        };
        let paused = if self.paused { "paused" } else { "running" };
        let done = on.progress.totals().requests().tally;
        format!(
            "{paused}, {asked}; {} active, {} started, {} finished; {}, {} failed",
            things(users.active.into(), "user"),
            users.started,
            users.finished,
            things(done.count, "request"),
            done.errors
        )
    }
}
