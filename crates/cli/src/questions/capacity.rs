//! `throng capacity`: finds the largest load at which the criteria hold.
//!
//! The search algorithm is in `answers::search`. This module runs the probes, judges them by the criteria, and prints
//! the result.

mod answer;
mod judge;
mod pace;
mod probe;
mod rest;
mod text;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use answers::criterion;
use answers::rules;
use answers::search::{self, Answer, Limit, Purpose, Settings, Step};
use answers::shared::shared;
use report::Page;
use report::model::CapacityPage;
use report::model::capacity as page;

use super::child::{self, Asked, Failed, Load};
use super::place::Reach;
use super::sweep::{self, fail, stopped};
use super::{place, results};
use crate::args::flags::{CapacityFlags, OutputFlags, PassedFlags};
use crate::args::project;
use crate::args::request::Request;
use crate::exit::Exit;
use crate::inputs::load;
use crate::inputs::properties::Properties;
use crate::judge::criteria::{Criteria, unknown_labels};
use crate::operator::interrupt::Interrupt;
use crate::print::terminal;
use answer::Capacity;
use pace::Took;
use probe::{Done, EndedBy};

/// Minimum measured time of a probe that ends early.
const LEAST: Duration = Duration::from_secs(20);
/// Largest factor by which a probe is lengthened for percentiles that need many samples.
const LONGEST: u32 = 5;

/// Name of the file with the result of a capacity search.
pub(crate) const FILE: &str = "capacity.json";

pub(crate) fn run(flags: CapacityFlags) -> Exit {
    let (promised, plan) = (flags.output.promised("throng capacity"), flags.plan.clone());
    promised.around([("the plan", &*plan)], || search(flags))
}

fn search(flags: CapacityFlags) -> Exit {
    let criteria = match criteria(&flags.fail) {
        Ok(criteria) => criteria,
        Err(message) => return fail(&message, Exit::Usage),
    };
    if let Some(message) = flags.output.clash(&flags.plan) {
        return fail(&message, Exit::Usage);
    }
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
        // With a limit of zero errors, an error in any window makes the whole probe fail.
        exceed: 0.5,
        seconds: flags.probe.as_secs_f64(),
        probes: flags.probes as usize,
    };
    if let Err(message) = known_labels(&flags.plan, &flags.passed, &criteria) {
        return fail(&message, Exit::Usage);
    }
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
        took: Vec::new(),
        has_recovered: true,
    };
    let exit = search.go(&interrupt);
    if search.done.is_empty() {
        return exit;
    }
    search.answered(exit, &flags.output)
}

/// Rebuilds the report page of a finished search from its folder.
pub(crate) fn again(folder: &Path, reach: Reach<'_>) -> Result<CapacityPage, String> {
    let mut capacity: Capacity = place::read(folder, FILE)?;
    for done in &mut capacity.probes {
        done.folder = reach.run(folder, &done.folder)?;
        let record = results::of_run(&done.folder)?;
        done.verdict = rules::verdict(&record);
        done.generator_finding = results::doubt(&done.verdict);
    }
    probe::add_light(&mut capacity.probes);
    capacity.page(folder).ok_or_else(|| format!("there are no probes in {}", folder.display()))
}

/// Returns the exit code of a search that has finished.
fn code(answer: &Answer) -> Exit {
    match answer.limit {
        _ if answer.lower.is_some() => Exit::Ok,
        Limit::Samples => Exit::Undecided,
        _ if answer.undecided => Exit::Undecided,
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
        if criterion.series.is_some() {
            return Err(format!(
                "{text:?}: probes are judged by their samples; give a series to throng run"
            ));
        }
        Ok(criterion)
    });
    parsed.collect()
}

/// Refuses criteria for labels that the plan does not have, before the first probe. Other faults of the plan are
/// reported by the first run of the search.
fn known_labels(
    plan: &Path,
    passed: &PassedFlags,
    criteria: &[criterion::Criterion],
) -> Result<(), String> {
    let sources = passed.properties().sources();
    let mut request = Request { plan: plan.to_owned(), sources, ..Request::default() };
    project::apply(&mut request)?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let (properties, _) = Properties::load(&request.sources, now_ms)?;
    // A plan in a pipe is not checked, because reading it would leave nothing for the runs.
    let is_readable = plan.is_file() && !passed.has_more_properties();
    let Some(bytes) = is_readable.then(|| std::fs::read(plan).ok()).flatten() else {
        return Ok(());
    };
    let loaded = load::load(plan, bytes, &properties);
    let Some(plan) = loaded.plan.as_ref().filter(|_| loaded.runs()) else { return Ok(()) };
    let asked = Criteria { fail: criteria.to_vec(), ..Criteria::default() };
    match unknown_labels(&asked, plan) {
        unknown if unknown.is_empty() => Ok(()),
        unknown => Err(unknown.join("\n")),
    }
}

/// A capacity search in progress.
struct Search<'a> {
    plan: PathBuf,
    options: &'a [std::ffi::OsString],
    criteria: &'a [criterion::Criterion],
    settings: Settings,
    /// Time before the measured part of a probe, in which the load rises and the target settles.
    settle: Duration,
    /// Duration of the measured part of a probe. It grows if percentiles need more samples.
    length: Duration,
    /// Largest value to which `length` grows.
    longest: Duration,
    /// A clear probe may end early when the half-width of the mean's confidence interval, as a share of the mean,
    /// is at most this value.
    precision: f64,
    /// Folder of the search.
    folder: PathBuf,
    /// Finished probes of the search.
    done: Vec<Done>,
    /// Purpose, result and duration of each finished probe.
    took: Vec<Took>,
    /// False if, after the last probe, the target no longer met the criteria at the lightest load.
    has_recovered: bool,
}

impl Search<'_> {
    /// Runs probes until the search has a result. Returns the exit code.
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
            let begin = Instant::now();
            if !self.rest(interrupt) {
                self.has_recovered = false;
                return Exit::Ok;
            }
            match self.probe(load, purpose, &name, interrupt) {
                Ok(done) => {
                    let holds = done.probe.is_within();
                    self.took.push(Took { purpose, holds, time: begin.elapsed() });
                    terminal::err(&format!("{name}: {}\n", text::line(&done)));
                    self.done.push(done);
                }
                Err(failed) => return stopped(&name, failed, !self.done.is_empty()),
            }
        }
    }

    /// Prints and saves the result that the finished probes allow. Returns the exit code.
    fn answered(self, exit: Exit, output: &OutputFlags) -> Exit {
        let Self { plan, folder, mut done, settings, criteria, has_recovered, .. } = self;
        let last = done.last().map(|done| done.probe.load);
        probe::add_light(&mut done);
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
            not_recovered_from: last.filter(|_| !has_recovered),
            probes: done,
        };
        capacity.at_least = capacity.searched(&capacity.on_page()).at_least();
        capacity.limited_by = capacity.limit();
        // The result is printed even if the disk has no space for its file.
        let written = place::write(&folder, FILE, &capacity);
        let page = || capacity.page(&folder).map(|page| Page::Capacity(Box::new(page)));
        // If there was no space for the result's file, the report page is not written either.
        let (shown, whole) = output.report(written.is_ok().then_some(&*folder), page);
        let (json, text) = (place::json(&capacity), text::page(&capacity));
        let path = written.as_ref().ok().cloned();
        place::Answer { json: &json, text: &text, paths: &[path, shown] }.print(output);
        if let Err(message) = written {
            return fail(&message, Exit::Lost);
        }
        let exit = if exit == Exit::Ok { code(&capacity.answer) } else { exit };
        if exit == Exit::Ok && !whole { Exit::Lost } else { exit }
    }

    fn load(&self, load: f64) -> Load {
        if self.settings.whole { Load::Users(load as u32) } else { Load::Rate(load) }
    }

    /// Returns a description of the remaining probes and their duration.
    fn after(&self) -> String {
        let left = self.settings.probes.saturating_sub(self.done.len() + 1);
        child::after("probe", left, Some(self.remaining(left as u32)))
    }

    fn probe(
        &mut self,
        load: f64,
        purpose: Purpose,
        name: &str,
        interrupt: &Interrupt,
    ) -> Result<Done, Failed> {
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
        let (settled, length) = (self.settle.as_secs_f64(), self.length.as_secs_f64());
        // A confirming probe always runs for its full time.
        let may_end = purpose != Purpose::Confirm && self.length > LEAST;
        let mut is_clear = false;
        let made = child::run(&asked, interrupt, |record| {
            let seconds = judge::measured(record, settled, length);
            is_clear = may_end
                && seconds.len() as f64 >= LEAST.as_secs_f64()
                && judge::is_clear(self.criteria, record, seconds, self.precision);
            is_clear
        })?;
        if let Some(why) = rules::without_includes(&made.record.frame) {
            return Err(Failed::Undecided(why.en));
        }
        let seconds = judge::measured(&made.record, settled, length);
        let clear = is_clear.then_some(length);
        let judge::Judgement { holds, undecided, judged, margin, trials } =
            judge::probe(self.criteria, &made.record, seconds, clear);
        let figures = sweep::Figures::of(seconds);
        let verdict = rules::verdict(&made.record);
        let finding = results::doubt(&verdict);
        let probe = search::Probe {
            load,
            purpose,
            rate: figures.rate * (1.0 - figures.errors),
            trials,
            holds,
            undecided,
            margin,
            noise: judge::noise(self.criteria, &made.record, seconds, judge::WINDOWS),
            certain: judge::fails_for_certain(&judged),
            generator: finding.is_some(),
        };
        self.lengthen(&probe, &figures, judge::longer(self.criteria, &made.record, seconds));
        Ok(Done {
            probe,
            seconds: seconds.iter().map(|second| second.ms).sum::<u32>() as f64 / 1000.0,
            ended_by: if is_clear { EndedBy::Precision } else { EndedBy::Time },
            samples: figures.samples,
            p50: figures.p50.value,
            p95: Some(figures.p95.value),
            p99: figures.p99.value,
            errors: figures.errors,
            in_flight: sweep::in_flight(seconds),
            judged,
            generator_finding: finding,
            shared: shared(&made.record, seconds),
            verdict,
            folder: made.folder,
        })
    }

    /// Makes the next probes as long as the percentiles need. `longer` is the factor by which the probe was too short
    /// for them. The light probe is not considered: it has few samples, and later probes have many.
    fn lengthen(&mut self, probe: &search::Probe, figures: &sweep::Figures, longer: f64) {
        if probe.purpose == Purpose::Light {
            return;
        }
        self.length = self.length.mul_f64(longer).min(self.longest);
        if figures.effective_samples <= 0.0 {
            return;
        }
        // While a queue grows, the samples depend on each other in another way than under a stable load, so this
        // dependence is ignored.
        let grows =
            probe.purpose == Purpose::Overload || !self.settings.whole && !probe.is_within();
        let worth = if grows { 1.0 } else { judge::worth(figures) };
        let needed = judge::needed(self.criteria, figures.rate, worth);
        let needed = needed.min(self.longest.as_secs_f64());
        self.length = self.length.max(Duration::from_secs_f64(needed));
    }
}
