//! `throng capacity`: the largest load at which criteria hold.
//!
//! The search itself is `answers::search`; here its probes are run, judged by the criteria, and told.

mod judge;
mod limit;
mod text;

use std::path::{Path, PathBuf};
use std::time::Duration;

use answers::criterion;
use answers::rules;
use answers::search::{self, Answer, Limit, Purpose, Settings, Step};
use answers::shared::{Shared, shared};
use answers::verdict::{About, Verdict, Words};
use report::model::capacity::{self as page, Held, Searched};
use report::model::sweep::{Axis, StoppedBy};
use report::model::{CapacityPage, Criterion, words};
use serde::{Deserialize, Serialize};

use super::child::{self, Asked, Failed, Load};
use super::figures::{english, from_english};
use super::sweep::{self, fail, stopped};
use super::{place, results};
use crate::exit::Exit;
use crate::flags::{CapacityFlags, OutputFlags};
use crate::interrupt::Interrupt;
use crate::terminal;
use judge::Judged;
use limit::LimitedBy;

/// Time of a probe that counts, before it may end early.
const LEAST: Duration = Duration::from_secs(20);
/// Time by which a probe is lengthened at most, for percentiles that need many samples.
const LONGEST: u32 = 5;

/// The file of a search in its folder.
pub(crate) const FILE: &str = "capacity.json";

/// A search as its file has it.
#[derive(Debug, Deserialize, Serialize)]
struct Capacity {
    plan: PathBuf,
    /// `users` or `rps`: what was searched.
    axis: String,
    criteria: Vec<String>,
    answer: Answer,
    /// The answer is a lower bound of what the target can take: nothing larger was tried, or the generator, or a machine
    /// that both share, was at its limit.
    at_least: bool,
    /// The reason for which the upper bound is one; absent where nothing failed.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    limited_by: Option<LimitedBy>,
    /// It was ended, or failed, before there was an answer: the bounds are those of the probes until then.
    unfinished: bool,
    probes: Vec<Done>,
}

/// The reason for which a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum EndedBy {
    Precision,
    Time,
}

impl EndedBy {
    fn word(self) -> &'static str {
        match self {
            Self::Precision => "precision",
            Self::Time => "time",
        }
    }
}

/// A probe with what it showed.
#[derive(Debug, Deserialize, Serialize)]
struct Done {
    #[serde(flatten)]
    probe: search::Probe,
    seconds: f64,
    /// The reason for its end: what it shows was clear, and its mean known to the precision; else its time was up.
    ended_by: EndedBy,
    samples: u64,
    /// Median and p99 of service times, ms.
    p50: f64,
    p99: f64,
    in_flight: f64,
    judged: Vec<Judged>,
    /// The first finding of its verdict on the generator.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "english",
        deserialize_with = "from_english"
    )]
    generator_finding: Option<Words>,
    /// The machine that the target shares with the generator, if it was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<Shared>,
    /// Of a search that is read again it is made anew from the run.
    #[serde(skip_deserializing)]
    verdict: Verdict,
    folder: PathBuf,
}

pub(crate) fn run(flags: CapacityFlags) -> Exit {
    let criteria = match criteria(&flags.fail) {
        Ok(criteria) => criteria,
        Err(message) => return fail(&message, Exit::Usage),
    };
    let is_load = |load: f64| load.is_finite() && load > 0.0;
    if !(is_load(flags.at_least) && is_load(flags.at_most) && flags.at_least < flags.at_most) {
        return fail(
            "--at-least and --at-most must be loads above 0, the first the smaller one",
            Exit::Usage,
        );
    }
    let settings = Settings {
        least: if flags.rps { flags.at_least } else { flags.at_least.round().max(1.0) },
        most: if flags.rps { flags.at_most } else { flags.at_most.round() },
        whole: !flags.rps,
        width: flags.width,
        // Where no error is allowed, one in any window fails the whole.
        exceed: 0.5,
        seconds: flags.probe.as_secs_f64(),
        probes: flags.probes as usize,
    };
    let folder = match place::create(&flags.output.runs, "capacity", &flags.plan) {
        Ok(folder) => folder,
        Err(message) => return fail(&message, Exit::Aborted),
    };
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let options = flags.passed.arguments();
    let mut search = Search {
        plan: flags.plan,
        options: &options,
        criteria: &criteria,
        settings,
        settle: flags.settle,
        length: flags.probe,
        longest: flags.probe * LONGEST,
        precision: flags.precision,
        folder,
        done: Vec::new(),
    };
    let exit = search.go(&interrupt);
    if search.done.is_empty() {
        return exit;
    }
    search.answered(exit, &flags.output)
}

impl Capacity {
    fn axis(&self) -> Axis {
        if self.axis == "users" { Axis::Users } else { Axis::Rate }
    }

    /// Its probes as a page has them.
    fn on_page(&self) -> Vec<page::Probe> {
        self.probes.iter().map(Done::on_page).collect()
    }

    fn searched<'a>(&'a self, probes: &'a [page::Probe]) -> Searched<'a> {
        Searched {
            axis: self.axis(),
            criteria: &self.criteria,
            answer: &self.answer,
            unfinished: self.unfinished,
            probes,
        }
    }

    /// The probe that decided.
    fn decided(&self) -> Option<&Done> {
        let probes = self.on_page();
        let searched = self.searched(&probes);
        let run = &searched.decided()?.run;
        self.probes.iter().find(|done| sweep::parent(&done.folder) == *run)
    }

    /// `None` where the run that decided cannot be read.
    fn page(&self, folder: &Path) -> Option<CapacityPage> {
        let decided = self.speaking()?;
        let record = results::of_run(&decided.folder).ok()?;
        let probes = self.on_page();
        let lower = self.answer.lower.unwrap_or(decided.probe.load);
        let at = self.probes.iter().rev().find(|done| done.probe.load == lower);
        let one = |judged: &Judged| Criterion {
            text: judged.criterion.clone(),
            met: Some(judged.holds),
            value: judged.margin,
            shown: judged.shown.clone(),
            of: None,
        };
        let criteria = at.map(|done| done.judged.iter().map(one).collect()).unwrap_or_default();
        let name = sweep::name(&folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        let searched = self.searched(&probes);
        Some(CapacityPage::new(&name, &record, &decided.verdict, criteria, &searched))
    }
}

impl Done {
    fn on_page(&self) -> page::Probe {
        let Self { probe, .. } = self;
        let good = probe.trials.iter().filter(|trial| trial.good).count();
        let mut findings = self.verdict.findings.iter();
        let subject = findings
            .find(|finding| finding.about == About::Generator)
            .map(|finding| rules::looks_for(finding.id).unwrap_or_else(|| words("", "")));
        let broken: Vec<String> = self
            .judged
            .iter()
            .filter(|judged| !judged.holds)
            .map(|judged| format!("{}: {}", judged.criterion, judged.shown))
            .collect();
        page::Probe {
            load: probe.load,
            kind: page::purpose(probe.purpose),
            verdict: match (probe.generator, probe.holds) {
                (true, _) => Held::Doubtful,
                (false, true) => Held::Good,
                (false, false) => Held::Bad,
            },
            good,
            bad: probe.trials.len() - good,
            rate_per_s: probe.rate,
            in_flight: self.in_flight,
            p50_us: self.p50 * 1000.0,
            p99_us: self.p99 * 1000.0,
            samples: self.samples,
            length_s: self.seconds,
            stopped_by: match self.ended_by {
                EndedBy::Precision => StoppedBy::Precision,
                EndedBy::Time => StoppedBy::Time,
            },
            words: page::result(subject.as_ref(), probe.holds, &broken, (good, probe.trials.len())),
            run: sweep::parent(&self.folder),
            purpose: probe.purpose,
            holds: probe.holds,
            generator: self.generator_finding.clone(),
            shared: self.shared,
        }
    }
}

/// The page of a search that was made before.
pub(crate) fn again(folder: &Path) -> Result<CapacityPage, String> {
    let mut capacity: Capacity = place::read(folder, FILE)?;
    for done in &mut capacity.probes {
        done.folder = place::moved(folder, &done.folder);
        let record = results::of_run(&done.folder)?;
        done.verdict = rules::verdict(&record);
        done.generator_finding = results::doubt(&done.verdict);
    }
    capacity.page(folder).ok_or_else(|| format!("there are no probes in {}", folder.display()))
}

/// The exit code of a search that went to its end.
fn code(answer: &Answer) -> Exit {
    match answer.limit {
        _ if answer.lower.is_some() => Exit::Ok,
        Limit::Generator => Exit::TooSmall,
        Limit::Criteria | Limit::Most => Exit::Criteria,
    }
}

fn criteria(texts: &[String]) -> Result<Vec<criterion::Criterion>, String> {
    let parsed = texts.iter().map(|text| {
        let criterion = criterion::Criterion::parse(text)?;
        if criterion.over.is_some() {
            return Err(format!(
                "{text:?}: a window (over …) has no meaning here: each probe is judged as a whole"
            ));
        }
        Ok(criterion)
    });
    parsed.collect()
}

/// A search that goes on.
struct Search<'a> {
    plan: PathBuf,
    options: &'a [std::ffi::OsString],
    criteria: &'a [criterion::Criterion],
    settings: Settings,
    settle: Duration,
    /// Length of a probe, without the settling; it grows up to the longest.
    length: Duration,
    longest: Duration,
    /// Half of the mean's interval, as a share, at which a probe that is clear ends.
    precision: f64,
    folder: PathBuf,
    done: Vec<Done>,
}

impl Search<'_> {
    /// Runs probes until there is an answer. Returns the exit code.
    fn go(&mut self, interrupt: &Interrupt) -> Exit {
        loop {
            let probes: Vec<search::Probe> =
                self.done.iter().map(|done| done.probe.clone()).collect();
            let Step::Probe { load, purpose } = search::next(&self.settings, &probes) else {
                return Exit::Ok;
            };
            let name = format!(
                "probe {} of at most {}, {}, {}",
                self.done.len() + 1,
                self.settings.probes,
                self.load(load).words(),
                page::purpose(purpose).en
            );
            match self.probe(load, purpose, &name, interrupt) {
                Ok(done) => {
                    terminal::err(&format!("{name}: {}\n", text::line(&done)));
                    self.done.push(done);
                }
                Err(failed) => return stopped(&name, failed),
            }
        }
    }

    /// Tells the answer of the probes that were made. Returns the exit code.
    fn answered(self, exit: Exit, output: &OutputFlags) -> Exit {
        let Self { plan, folder, done, settings, criteria, .. } = self;
        let probes: Vec<search::Probe> = done.iter().map(|done| done.probe.clone()).collect();
        let answer = search::so_far(&settings, &probes);
        let mut capacity = Capacity {
            plan,
            axis: if settings.whole { "users" } else { "rps" }.to_owned(),
            criteria: criteria.iter().map(ToString::to_string).collect(),
            answer,
            at_least: false,
            limited_by: None,
            unfinished: exit != Exit::Ok,
            probes: done,
        };
        capacity.at_least = capacity.searched(&capacity.on_page()).at_least();
        capacity.limited_by = capacity.limit();
        // The answer is printed even if its file finds no room.
        let written = place::write(&folder, FILE, &capacity);
        let html = || capacity.page(&folder).map(|page| report::capacity(&page, output.language()));
        // Where the answer finds no room, its page finds none.
        let shown = if written.is_ok() { output.report(Some(&folder), html) } else { None };
        let (json, text) = (place::json(&capacity), text::page(&capacity));
        let path = written.as_ref().ok().cloned();
        place::Answer { json: &json, text: &text, paths: &[path, shown] }.print(output);
        if let Err(message) = written {
            return fail(&message, Exit::Lost);
        }
        match exit {
            Exit::Ok => code(&capacity.answer),
            exit => exit,
        }
    }

    fn load(&self, load: f64) -> Load {
        if self.settings.whole { Load::Users(load as u32) } else { Load::Rate(load) }
    }

    /// Words about the probes that may follow.
    fn after(&self) -> String {
        let left = self.settings.probes.saturating_sub(self.done.len() + 1);
        child::after("probe", left, Some(self.settle + self.length))
    }

    fn probe(
        &mut self,
        load: f64,
        purpose: Purpose,
        name: &str,
        interrupt: &Interrupt,
    ) -> Result<Done, Failed> {
        self.drain(interrupt);
        let asked = Asked {
            plan: &self.plan,
            options: self.options,
            folder: self.folder.join(format!("probe-{}", self.done.len() + 1)),
            load: self.load(load),
            ramp: Some(self.settle / 2),
            duration: Some(self.settle + self.length),
            name: name.to_owned(),
            after: self.after(),
        };
        let settled = self.settle.as_secs_f64();
        let length = self.length.as_secs_f64();
        // What is confirmed is confirmed in full.
        let may_end = purpose != Purpose::Confirm && self.length > LEAST;
        let mut is_clear = false;
        let made = child::run(&asked, interrupt, |record| {
            let seconds = judge::measured(record, settled, length);
            is_clear = may_end
                && seconds.len() as f64 >= LEAST.as_secs_f64()
                && judge::is_clear(self.criteria, record, seconds, self.precision);
            is_clear
        })?;
        let seconds = judge::measured(&made.record, settled, length);
        let (holds, judged) = judge::whole(self.criteria, &made.record, seconds);
        let figures = sweep::Figures::of(seconds);
        let verdict = rules::verdict(&made.record);
        let finding = results::doubt(&verdict);
        let probe = search::Probe {
            load,
            purpose,
            rate: figures.rate * (1.0 - figures.errors),
            trials: judge::trials(
                self.criteria,
                &made.record,
                seconds,
                holds,
                is_clear.then_some(length),
            ),
            holds,
            margin: judge::margin(&judged),
            noise: judge::noise(self.criteria, &made.record, seconds, judge::WINDOWS),
            certain: judge::fails_for_certain(&judged),
            generator: finding.is_some(),
        };
        self.lengthen(purpose, &figures);
        Ok(Done {
            probe,
            seconds: seconds.iter().map(|second| f64::from(second.ms) / 1000.0).sum(),
            ended_by: if is_clear { EndedBy::Precision } else { EndedBy::Time },
            samples: figures.samples,
            p50: figures.p50.value,
            p99: figures.p99.value,
            in_flight: figures.rate * figures.mean / 1000.0,
            judged,
            generator_finding: finding,
            shared: shared(&made.record, seconds),
            verdict,
            folder: made.folder,
        })
    }

    /// Makes the next probes as long as percentiles need. A light probe has few samples, and those after it have many.
    fn lengthen(&mut self, purpose: Purpose, figures: &sweep::Figures) {
        if purpose != Purpose::Light {
            let needed = judge::needed(self.criteria, figures).min(self.longest.as_secs_f64());
            self.length = self.length.max(Duration::from_secs_f64(needed));
        }
    }

    /// Lets the target work off what the last probe has left: twice its p99, as long as a settling at most.
    fn drain(&self, interrupt: &Interrupt) {
        let Some(last) = self.done.last() else { return };
        let time =
            Duration::from_secs_f64((last.p99 * 2.0 / 1000.0).clamp(0.0, 3600.0)).min(self.settle);
        let end = std::time::Instant::now() + time;
        while std::time::Instant::now() < end && interrupt.asked() == 0 {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
