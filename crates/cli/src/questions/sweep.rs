//! `throng sweep`: measures throughput and response times at a series of loads, and fits a model if one describes them.

mod point;
mod text;
mod verdicts;

use std::path::{Path, PathBuf};
use std::time::Duration;

use answers::scaling::{self, Choice};
use answers::verdict::Verdict;
use record::Record;
use report::Page;
use report::model::SweepPage;
use report::model::sweep::{Axis, Swept};
use serde::{Deserialize, Serialize};

pub(crate) use point::{Figures, Point, in_flight, name, parent};

use super::child::{self, Asked, Failed, Load, Made, Remaining};
use super::place::{self, Answer, Reach};
use super::results;
use crate::args::flags::{OutputFlags, SweepFlags};
use crate::exit::Exit;
use crate::operator::interrupt::Interrupt;
use crate::print::terminal;

/// Name of the JSON file of a sweep.
pub(crate) const FILE: &str = "sweep.json";

/// Sweep in the structure of its JSON file.
#[derive(Debug, Serialize)]
struct Sweep {
    plan: PathBuf,
    /// The varied quantity: `users` or `rps`.
    axis: &'static str,
    /// Requested half-width of the mean's confidence interval, as a share of the mean.
    precision: f64,
    points: Vec<Point>,
    /// The model that was fitted to the points.
    model: Choice,
    /// Requested loads that were not run.
    not_run: Vec<f64>,
}

pub(crate) fn run(flags: SweepFlags) -> Exit {
    let (promised, plan) = (flags.output.promised("throng sweep"), flags.plan.clone());
    promised.around([("the plan", &*plan)], || sweep(flags))
}

fn sweep(flags: SweepFlags) -> Exit {
    let axis = if flags.rps.is_empty() { "users" } else { "rps" };
    if flags.ramp >= flags.at_most {
        let (ramp, most) = (flags.ramp, flags.at_most);
        let why = format!(
            "--ramp ({ramp:?}) must be shorter than --at-most ({most:?}): a point is measured under its full load; give --ramp a shorter time (0s: none)"
        );
        return fail(&why, Exit::Usage);
    }
    if let Some(message) = flags.output.clash(&flags.plan) {
        return fail(&message, Exit::Usage);
    }
    let loads = loads(&flags);
    let folder = match place::create(&flags.output.runs, "sweep", &flags.plan) {
        Ok(folder) => folder,
        Err(message) => return fail(&message, Exit::Aborted),
    };
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let options = flags.passed.arguments();
    let mut sweep = Sweep {
        plan: flags.plan.clone(),
        axis,
        precision: flags.precision,
        points: Vec::new(),
        model: Choice::default(),
        not_run: Vec::new(),
    };
    let mut exit = Exit::Ok;
    for (number, load) in loads.iter().enumerate() {
        let asked = Asked {
            plan: &flags.plan,
            options: &options,
            folder: folder.join(format!("{axis}-{}", value(*load))),
            load: *load,
            ramp: Some(flags.ramp),
            duration: Some(flags.at_most),
            name: format!("point {} of {}, {}", number + 1, loads.len(), load.words()),
            after: after(&flags, &sweep.points, loads.len() - number - 1),
        };
        let least = flags.at_least.as_secs_f64();
        let enough = |record: &record::Record| point::is_known(record, least, flags.precision);
        match child::run(&asked, &interrupt, enough) {
            Ok(made) => {
                let point = Point::of(value(*load), &made, flags.precision);
                terminal::err(&format!("{}: {}\n", asked.name, text::line(&point)));
                sweep.points.push(point);
            }
            Err(failed) => {
                sweep.not_run = loads[number..].iter().copied().map(value).collect();
                exit = stopped(&asked.name, failed, !sweep.points.is_empty());
                break;
            }
        }
        save(&mut sweep, &folder);
    }
    if sweep.points.is_empty() {
        return exit;
    }
    let is_kept = tell(&mut sweep, &folder, &flags.output);
    if !is_kept && exit == Exit::Ok { Exit::Lost } else { exit }
}

/// Returns a description of the remaining points. If a target is overloaded, points take longer than requested.
fn after(flags: &SweepFlags, made: &[Point], points: usize) -> String {
    let least = (flags.ramp + flags.at_least).min(flags.at_most);
    let longest = made.iter().map(|point| point.run_seconds).fold(0.0, f64::max);
    let most = flags.at_most.max(Duration::from_secs_f64(longest));
    let all = points as u32;
    child::after("point", points, Some(Remaining::Between(least * all, most * all)))
}

/// Returns the loads of the points in ascending order, without duplicates.
fn loads(flags: &SweepFlags) -> Vec<Load> {
    let mut loads: Vec<Load> = if flags.rps.is_empty() {
        flags.users.iter().copied().map(Load::Users).collect()
    } else {
        flags.rps.iter().copied().map(Load::Rate).collect()
    };
    loads.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    loads.dedup();
    loads
}

/// Prints the sweep and writes its files. The sweep is printed even if the disk has no space. Returns true if all
/// files were written.
fn tell(sweep: &mut Sweep, folder: &Path, output: &OutputFlags) -> bool {
    sweep.conclude();
    let path = save(sweep, folder);
    let is_kept = path.is_some();
    let page = || {
        let record = results::of_run(&sweep.points.last()?.folder).ok()?;
        Some(Page::Sweep(Box::new(sweep.page(folder, &record))))
    };
    // If there was no space for the sweep's file, the report page is not written either.
    let (shown, whole) = output.report(is_kept.then_some(folder), page);
    let (json, text) = (place::json(sweep), text::page(sweep));
    Answer { json: &json, text: &text, paths: &[path, shown] }.print(output);
    is_kept && whole
}

impl Sweep {
    /// Fits the model to the points that are not excluded.
    fn choose(&mut self) {
        let counted = self.points.iter().filter(|point| point.excluded.is_none());
        let counted: Vec<scaling::Point> = counted.map(Point::for_model).collect();
        self.model = scaling::choose(&counted);
    }

    /// Fits the model to all points. If they show a limit, removes the advice to search for it. A model of fewer
    /// points may have shown a limit that the whole sweep does not show.
    fn conclude(&mut self) {
        self.choose();
        if shows_limit(&self.model) {
            self.points.iter_mut().for_each(|point| drop_search(&mut point.verdict));
        }
    }

    fn axis(&self) -> Axis {
        if self.axis == "users" { Axis::Users } else { Axis::Rate }
    }

    /// Builds the report page of the sweep. `record` is the record of one of its runs.
    fn page(&self, folder: &Path, record: &Record) -> SweepPage {
        let unit = self.axis().unit();
        SweepPage::new(Swept {
            name: &point::name(&folder.canonicalize().unwrap_or_else(|_| folder.to_owned())),
            record,
            span_ms: results::span(self.points.iter().map(|point| &*point.folder), record),
            axis: self.axis(),
            points: self.points.iter().map(Point::on_page).collect(),
            choice: &self.model,
            verdict: &verdicts::together(&self.points, &unit),
            not_run: &self.not_run,
        })
    }
}

/// Returns true if the points together show a limit of the throughput.
fn shows_limit(choice: &Choice) -> bool {
    choice.peak.is_some() || choice.chosen.is_some_and(|fit| fit.model.knee().is_some())
}

/// Removes the advice to search for the limit of the target from the verdict on a point, if the sweep shows that limit.
fn drop_search(verdict: &mut Verdict) {
    const SEARCHES: &str = "constant_load";
    const NEED_SEARCH: [&str; 3] = [SEARCHES, "concurrency_limit", "plateau"];
    verdict.findings.retain(|finding| finding.id != SEARCHES);
    verdict.hidden.retain(|finding| finding.id != SEARCHES);
    verdict.unchecked.retain(|one| !NEED_SEARCH.contains(&one.id));
}

/// Rebuilds the report page of a saved sweep from its runs.
pub(crate) fn again(folder: &Path, reach: Reach<'_>) -> Result<SweepPage, String> {
    #[derive(Deserialize)]
    struct Saved {
        plan: PathBuf,
        axis: String,
        precision: f64,
        points: Vec<SavedPoint>,
        not_run: Vec<f64>,
    }
    #[derive(Deserialize)]
    struct SavedPoint {
        load: f64,
        run_seconds: f64,
        folder: PathBuf,
    }
    let saved: Saved = place::read(folder, FILE)?;
    let mut sweep = Sweep {
        plan: saved.plan,
        axis: if saved.axis == "users" { "users" } else { "rps" },
        precision: saved.precision,
        points: Vec::new(),
        model: Choice::default(),
        not_run: saved.not_run,
    };
    let mut last = None;
    for SavedPoint { load, run_seconds, folder: run } in saved.points {
        let run = reach.run(folder, &run)?;
        let record = results::of_run(&run)?;
        let made = Made { folder: run, record, seconds: run_seconds };
        sweep.points.push(Point::of(load, &made, sweep.precision));
        last = Some(made.record);
    }
    sweep.conclude();
    let last = last.ok_or_else(|| format!("there are no points in {}", folder.display()))?;
    Ok(sweep.page(folder, &last))
}

/// Writes the sweep's JSON file.
fn save(sweep: &mut Sweep, folder: &Path) -> Option<PathBuf> {
    sweep.choose();
    match place::write(folder, FILE, sweep) {
        Ok(path) => Some(path),
        Err(message) => {
            terminal::error(&message);
            None
        }
    }
}

/// Reports why a run is missing, and returns its exit code. `has_some` is true if earlier runs exist, whose results
/// are printed next.
pub(crate) fn stopped(name: &str, failed: Failed, has_some: bool) -> Exit {
    match failed {
        Failed::Interrupted => {
            let words = if has_some {
                "ended by you: the results so far follow".to_owned()
            } else {
                format!("ended by you during {name}: there is no answer")
            };
            terminal::warning(&words);
            Exit::Interrupted
        }
        Failed::Run(exit, output) => {
            let end = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
            terminal::err(&format!("{output}{end}"));
            fail(&format!("{name}: the run failed"), exit)
        }
        Failed::Undecided(why) => fail(&format!("{name}: undecided: {why}"), Exit::Undecided),
    }
}

pub(crate) fn fail(message: &str, exit: Exit) -> Exit {
    terminal::error(message);
    exit
}

fn value(load: Load) -> f64 {
    match load {
        Load::Plan => 0.0,
        Load::Users(users) => f64::from(users),
        Load::Rate(rate) => rate,
    }
}

#[cfg(test)]
mod tests {
    use answers::verdict::{Source, Unchecked};
    use report::model::words;

    use super::*;

    fn choice(rate: impl Fn(f64) -> f64) -> Choice {
        let loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let point = |load| scaling::Point { load, rate: rate(load), windows: Vec::new() };
        scaling::choose(&loads.map(point))
    }

    #[test]
    fn a_limit_that_a_sweep_shows_needs_no_search() {
        assert!(shows_limit(&choice(|load| 60.0 * load.min(4.0))));
        assert!(!shows_limit(&choice(|load| 60.0 * load)));
        let lacks = |id| Unchecked {
            id,
            looks_for: words("", ""),
            lacks: words("a load", ""),
            source: Source::Other,
        };
        let mut verdict = Verdict {
            unchecked: ["concurrency_limit", "plateau", "bandwidth"].map(lacks).into(),
            ..Verdict::default()
        };
        drop_search(&mut verdict);
        let ids: Vec<&str> = verdict.unchecked.iter().map(|one| one.id).collect();
        assert_eq!((ids, verdict.lacks_for_limit()), (vec!["bandwidth"], None));
    }
}
