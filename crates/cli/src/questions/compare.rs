//! `throng compare`: compares two runs, two sweeps, two result files, or two plans that run alternately.

mod change;
mod sweeps;
mod text;

use std::path::{Path, PathBuf};
use std::time::Duration;

use answers::compare::{
    self as comparing, Changed, Comparison, Doubt, Lost, Settings, changes, compare_runs, doubts,
};
use answers::unread::Unread;
use record::Record;
use report::Page;
use report::model::{self, ComparisonPage, Criterion};
use serde::{Deserialize, Serialize};
use stats::jtl::source::{STANDARD_INPUT, is_stream};

use super::child::{self, Load, Remaining};
use super::place::{Answer, Reach};
use super::sweep::{fail, stopped};
use super::{place, results};
use crate::args::flags::{CompareFlags, PropertyFlags};
use crate::args::outputs;
use crate::exit::Exit;
use crate::operator::interrupt::Interrupt;
use crate::print::terminal;
use crate::results::columns::{RowSettings, columns_of, row_settings};
use change::FailIf;

/// Default of `--floor`: changes below this share are ignored.
const FLOOR: f64 = 0.02;
/// Name of the JSON file of a comparison.
pub(crate) const FILE: &str = "compare.json";

/// Comparison in the structure of its JSON file.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    /// Name of side A.
    a: String,
    /// Name of side B.
    b: String,
    /// Reasons that forbid the comparison, or that require caution.
    doubts: Vec<Doubt>,
    /// Comparison of the metrics. Absent if the two sides cannot be compared.
    comparison: Option<Comparison>,
    /// Other differences between the sides, such as settings or versions.
    changed: Vec<Changed>,
    /// Results for the changes of `--fail-if`, whether they were found or not.
    failed: Vec<change::Judged>,
    /// The inputs of the comparison and its settings.
    sources: Sources,
}

/// Inputs of a comparison, sufficient to repeat the comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sources {
    /// Paths of side A: folders of runs, or result files.
    a: Vec<PathBuf>,
    /// Paths of side B: folders of runs, or result files.
    b: Vec<PathBuf>,
    /// Properties with which the result files of sides A and B were read.
    #[serde(default)]
    rows: (RowSettings, RowSettings),
    /// The load, if two sweeps are compared.
    at: Option<String>,
    /// Loads that only one of the two sweeps has. The comparisons of all points have the same value.
    #[serde(default)]
    apart: sweeps::Apart,
    /// Settings that the user chose.
    asked: Asked,
}

/// The settings that the user chose for the comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Asked {
    floor: f64,
    anyway: bool,
    fail_if: Vec<String>,
}

impl Asked {
    fn of(flags: &CompareFlags) -> Self {
        Self { floor: flags.floor, anyway: flags.anyway, fail_if: flags.fail_if.clone() }
    }

    fn settings(&self) -> Settings {
        // The arguments of `--fail-if` were already parsed successfully.
        let times = FailIf::read(&self.fail_if).unwrap_or_default().times();
        Settings { floor: self.floor, times, ..Settings::default() }
    }
}

/// One side of a comparison: its runs and their paths.
#[derive(Debug, Default)]
struct Side {
    name: String,
    records: Vec<Record>,
    paths: Vec<PathBuf>,
    /// Properties with which the side's result file was read.
    rows: RowSettings,
}

impl Side {
    /// Reads one side from a run's folder or a result file.
    fn read(path: &Path, properties: Option<&PropertyFlags>) -> Result<Self, String> {
        let rows = properties.filter(|_| !path.is_dir());
        let rows = rows.map(|properties| row_settings(path, properties)).transpose()?;
        let rows = rows.unwrap_or_default();
        let mut side = Self { name: path.display().to_string(), rows, ..Self::default() };
        side.push(results::read(path, &columns_of(&side.rows)?)?, path);
        Ok(side)
    }

    fn push(&mut self, record: Record, path: &Path) {
        self.records.push(record);
        self.paths.push(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    }
}

/// The two sides of a comparison that is still to be computed.
#[derive(Debug, Default)]
struct Pair {
    a: Side,
    b: Side,
    /// The load, if two sweeps are compared.
    at: Option<String>,
    /// Loads that only one of the two sweeps has.
    apart: sweeps::Apart,
}

/// A finished comparison with its two sides.
struct Done {
    pair: Pair,
    compared: Compared,
}

pub(crate) fn run(flags: CompareFlags) -> Exit {
    let promised = flags.output.promised("throng compare");
    let read = [flags.sides.clone(), flags.plans.clone()].concat();
    promised.around(read.iter().map(|side| ("a side", &**side)), || compare(flags))
}

fn compare(flags: CompareFlags) -> Exit {
    let asked = Asked::of(&flags);
    let fail_if = match FailIf::read(&asked.fail_if) {
        Ok(fail_if) => fail_if,
        Err(message) => return fail(&message, Exit::Usage),
    };
    let sides = if flags.plans.is_empty() { flags.sides.clone() } else { flags.plans.clone() };
    let [a, b] = &sides[..] else {
        let what = "two folders of runs, sweeps or result files, or two plans";
        return fail(&format!("throng compare takes {what}: A and B"), Exit::Usage);
    };
    let are_plans = !flags.plans.is_empty() || [a, b].iter().all(|side| is_plan(side));
    if are_plans {
        return plans(&flags, (a.clone(), b.clone()), &asked);
    }
    if flags.repeat.is_some() {
        return fail("--repeat runs plans: give two plans, not results", Exit::Usage);
    }
    if [a, b].iter().any(|side| is_plan(side)) {
        return fail(
            "a plan can only be compared with a plan: give two plans, or two results",
            Exit::Usage,
        );
    }
    if let Some(message) = read_twice(a, b) {
        return fail(&message, Exit::Usage);
    }
    let markdown = flags.output.markdown.iter().map(|file| ("--markdown", &**file));
    if let Some(message) = outputs::clash([("A", &**a), ("B", &**b)], markdown) {
        return fail(&message, Exit::Usage);
    }
    let pairs = match pairs(a, b, Reach::Anywhere, Some(flags.passed.properties())) {
        Ok(found) => found,
        Err(message) => return fail(&message, Exit::Usage),
    };
    let sides = || pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
    if let Some(label) = fail_if.unknown_label(sides().flat_map(|side| &side.records)) {
        return fail(&format!("--fail-if: neither A nor B has a label {label:?}"), Exit::Usage);
    }
    let done: Vec<Done> = pairs.into_iter().map(|pair| pair.compare(&asked)).collect();
    let folder = (!flags.output.no_report).then(|| place::create(&flags.output.runs, "compare", a));
    let folder = folder.and_then(|made| {
        // If the report cannot be built, the comparison is printed nevertheless.
        made.map_err(|message| terminal::warning(&format!("no report is made: {message}"))).ok()
    });
    tell(&done, folder.as_deref(), &flags)
}

/// Returns an error message if both sides name the same pipe or standard input, which can be read only once.
fn read_twice(a: &Path, b: &Path) -> Option<String> {
    let what = if a == Path::new(STANDARD_INPUT) { "standard input" } else { "one pipe" };
    let words = || format!("A and B are {what}, which can be read once only: give one as a file");
    (is_stream(a) && a == b).then(words)
}

/// Returns the two sides as one pair. For two sweeps, returns a pair for each load that both have.
fn pairs(
    a: &Path,
    b: &Path,
    reach: Reach<'_>,
    properties: Option<&PropertyFlags>,
) -> Result<Vec<Pair>, String> {
    if [a, b].iter().all(|side| sweeps::is_sweep(side)) {
        return sweeps::pairs(a, b, reach);
    }
    if let Some(sweep) = [a, b].into_iter().find(|side| sweeps::is_sweep(side)) {
        return Err(format!(
            "{} is a sweep, and the other side is not: give two sweeps, or two runs",
            sweep.display()
        ));
    }
    let read = |path| Side::read(path, properties);
    Ok(vec![Pair { a: read(a)?, b: read(b)?, ..Pair::default() }])
}

/// Compares two folders with default options, for the web server. Returns the JSON and the page. Each side is named
/// after its folder.
pub(crate) fn of_folders(
    a: &Path,
    b: &Path,
    reach: Reach<'_>,
) -> Result<(String, ComparisonPage), String> {
    let asked = Asked { floor: FLOOR, anyway: false, fail_if: Vec::new() };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut done = Vec::new();
    for mut pair in pairs(a, b, reach, None)? {
        (pair.a.name, pair.b.name) = (name(a), name(b));
        done.push(pair.compare(&asked));
    }
    let json = json(&done.iter().map(|one| &one.compared).collect::<Vec<_>>());
    let page = page(&done).ok_or_else(|| "there is nothing to compare".to_owned())?;
    Ok((json, page))
}

/// Formats comparisons as JSON: one object for two results, a list for two sweeps.
fn json(all: &[&Compared]) -> String {
    match all {
        [one] if one.sources.at.is_none() => place::json(one),
        points => place::json(&points),
    }
}

fn is_plan(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jmx"))
}

impl Pair {
    fn compare(self, asked: &Asked) -> Done {
        let (Some(a), Some(b)) = (self.a.records.first(), self.b.records.first()) else {
            unreachable!("each side has a run")
        };
        let limits = (comparing::limited(&self.a.records), comparing::limited(&self.b.records));
        let sides = [("A", &self.a, &limits.0), ("B", &self.b, &limits.1)];
        let careful = sides.into_iter().filter(|(_, _, limit)| limit.is_none());
        let careful: Vec<Doubt> = careful
            .filter_map(|(name, side, _)| match &self.at {
                Some(load) => comparing::doubted(&format!("{name} at {load}"), &side.records),
                None => comparing::doubted(name, &side.records),
            })
            .collect();
        let mut doubts = doubts(a, b, limits);
        doubts.extend(careful);
        doubts.extend(model::lacks("A", &self.a.records));
        doubts.extend(model::lacks("B", &self.b.records));
        let refused = !asked.anyway && doubts.iter().any(|doubt| doubt.refuses);
        let settings = asked.settings();
        let mut comparison = (!refused).then(|| match (&self.a.records[..], &self.b.records[..]) {
            ([a], [b]) => comparing::compare(a, b, &settings),
            (a, b) => compare_runs(a, b, &settings),
        });
        // The arguments of `--fail-if` were already parsed successfully.
        let fail_if = FailIf::read(&asked.fail_if).unwrap_or_default();
        if let Some(comparison) = &mut comparison {
            fail_if.name(comparison, &settings);
        }
        let partial = [&self.a, &self.b].map(|side| comparing::partial(&side.records));
        for (name, why) in ["A", "B"].into_iter().zip(&partial) {
            doubts.extend(why.iter().map(|why| comparing::careful(name, why)));
        }
        let lost = Lost::new(Unread::of(&self.a.records), Unread::of(&self.b.records));
        let failed = comparison.as_mut().map(|comparison| {
            let mut judged = fail_if.judge(comparison);
            comparison.doubt_unread(&lost, &settings);
            fail_if.doubt_unread(&mut judged, comparison, &lost);
            fail_if.doubt_partial(&mut judged, &partial);
            judged
        });
        let name = |side: &Side| match &self.at {
            Some(load) => format!("{} at {load}", side.name),
            None => side.name.clone(),
        };
        let compared = Compared {
            a: name(&self.a),
            b: name(&self.b),
            failed: failed.unwrap_or_default(),
            doubts,
            comparison,
            changed: changes(&self.a.records, &self.b.records),
            sources: Sources {
                a: self.a.paths.clone(),
                b: self.b.paths.clone(),
                rows: (self.a.rows.clone(), self.b.rows.clone()),
                at: self.at.clone(),
                apart: self.apart.clone(),
                asked: asked.clone(),
            },
        };
        Done { pair: self, compared }
    }
}

impl Compared {
    /// Returns the changes of `--fail-if` as criteria. A criterion is met if its change was not found.
    fn criteria(&self) -> Vec<Criterion> {
        let at = self.sources.at.as_ref().map_or_else(String::new, |at| format!("{at}: "));
        let one = |judged: &change::Judged| Criterion {
            text: format!("{at}{}", judged.change),
            met: (!judged.unknown).then_some(!judged.is_there),
            value: judged.found,
            shown: judged.shown().unwrap_or_else(|| model::words("", "")),
            reason: judged.reason.clone(),
            of: (!judged.label.is_empty()).then(|| judged.label.clone()),
        };
        self.failed.iter().map(one).collect()
    }
}

/// Builds the report page of one comparison, or of the comparisons at each load of two sweeps.
fn page(done: &[Done]) -> Option<ComparisonPage> {
    let criteria: Vec<Vec<Criterion>> = done.iter().map(|one| one.compared.criteria()).collect();
    let settings: Vec<Settings> =
        done.iter().map(|one| one.compared.sources.asked.settings()).collect();
    let points: Vec<model::Compared<'_>> = done
        .iter()
        .zip(criteria.iter().zip(&settings))
        .map(|(Done { pair, compared }, (criteria, settings))| model::Compared {
            names: (&pair.a.name, &pair.b.name),
            a: &pair.a.records,
            b: &pair.b.records,
            doubts: &compared.doubts,
            comparison: compared.comparison.as_ref(),
            changed: &compared.changed,
            criteria,
            settings,
            at: pair.at.as_deref(),
        })
        .collect();
    let apart: Vec<_> =
        done.first().map(|one| one.pair.apart.lists().collect()).unwrap_or_default();
    let mut page = ComparisonPage::new(&points)?;
    page.add_apart(&apart);
    Some(page)
}

/// Rebuilds the report page of a saved comparison from its inputs.
pub(crate) fn again(folder: &Path, reach: Reach<'_>) -> Result<ComparisonPage, String> {
    #[derive(Deserialize)]
    struct Saved {
        a: String,
        b: String,
        sources: Sources,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum File {
        One(Box<Saved>),
        Points(Vec<Saved>),
    }
    let saved = match place::read(folder, FILE)? {
        File::One(saved) => vec![*saved],
        File::Points(points) => points,
    };
    let side = |name: String,
                at: Option<&String>,
                (paths, rows): (&[PathBuf], &RowSettings)|
     -> Result<Side, String> {
        let end = at.map_or_else(String::new, |at| format!(" at {at}"));
        let name = name.strip_suffix(&*end).unwrap_or(&name).to_owned();
        let mut side = Side { name, rows: rows.clone(), ..Side::default() };
        let columns = columns_of(rows)?;
        for path in paths {
            let path = reach.run(folder, path)?;
            side.push(results::read(&path, &columns)?, &path);
        }
        Ok(side)
    };
    let mut done = Vec::new();
    for Saved { a, b, sources } in saved {
        let at = sources.at.as_ref();
        let rows = &sources.rows;
        let a = side(a, at, (&sources.a, &rows.0))?;
        let b = side(b, at, (&sources.b, &rows.1))?;
        if a.records.is_empty() || b.records.is_empty() {
            continue;
        }
        done.push(Pair { a, b, at: sources.at, apart: sources.apart }.compare(&sources.asked));
    }
    page(&done).ok_or_else(|| format!("there is no comparison in {}", folder.display()))
}

/// Prints the comparison and writes its files. Returns the exit code.
fn tell(done: &[Done], folder: Option<&Path>, flags: &CompareFlags) -> Exit {
    let all: Vec<&Compared> = done.iter().map(|one| &one.compared).collect();
    let json = json(&all);
    let text = match &all[..] {
        [one] if one.sources.at.is_none() => text::page(one),
        points => text::sweeps(points),
    };
    let written = folder.map(|folder| place::write_text(folder, FILE, &json));
    let page = || page(done).map(|page| Page::Comparison(Box::new(page)));
    let (shown, whole) = flags.output.report(folder, page);
    Answer { json: &json, text: &text, paths: &[shown] }.print(&flags.output);
    match written {
        Some(Err(message)) => fail(&message, Exit::Lost),
        _ => Exit::first([exit(&all), if whole { Exit::Ok } else { Exit::Lost }]),
    }
}

fn exit(compared: &[&Compared]) -> Exit {
    let of_change = |judged: &change::Judged| match judged {
        judged if judged.is_there => Exit::Criteria,
        judged if judged.unknown => Exit::Undecided,
        _ => Exit::Ok,
    };
    Exit::first(compared.iter().flat_map(|compared| {
        let refused = compared.comparison.is_none().then_some(Exit::Plan);
        refused.into_iter().chain(compared.failed.iter().map(of_change))
    }))
}

/// Returns a description of the remaining runs and their duration.
fn after(each: Option<Duration>, runs: u32) -> String {
    let all = each.map(|each| Remaining::Between(each * runs, each * runs));
    child::after("run", runs as usize, all)
}

/// Runs two plans alternately, and compares the runs.
fn plans(flags: &CompareFlags, plans: (PathBuf, PathBuf), asked: &Asked) -> Exit {
    let folder = match place::create(&flags.output.runs, "compare", &plans.0) {
        Ok(folder) => folder,
        Err(message) => return fail(&message, Exit::Aborted),
    };
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let options = flags.passed.arguments();
    let load = match (flags.users, flags.rps) {
        (Some(users), _) => Load::Users(users),
        (None, Some(rate)) => Load::Rate(rate),
        (None, None) => Load::Plan,
    };
    let times = flags.repeat.unwrap_or(1);
    let side = |plan: &Path| Side { name: plan.display().to_string(), ..Side::default() };
    let (mut runs_a, mut runs_b) = (side(&plans.0), side(&plans.1));
    let mut exit = Exit::Ok;
    'all: for turn in 1..=times {
        for (side, plan, runs) in [("A", &plans.0, &mut runs_a), ("B", &plans.1, &mut runs_b)] {
            let run = child::Asked {
                plan,
                options: &options,
                folder: folder.join(format!("{side}-{turn}")),
                load,
                ramp: None,
                duration: flags.duration,
                name: format!("{side}, run {turn} of {times}, {}", load.words()),
                after: after(flags.duration, 2 * (times - turn) + u32::from(side == "A")),
            };
            match child::run(&run, &interrupt, |_| false) {
                Ok(made) => {
                    terminal::err(&format!(
                        "{}: {:.0} s, {}\n",
                        run.name,
                        made.seconds,
                        made.folder.display()
                    ));
                    runs.push(made.record, &made.folder);
                }
                Err(failed) => {
                    exit = stopped(&run.name, failed, turn > 1);
                    break 'all;
                }
            }
        }
    }
    if runs_b.records.is_empty() {
        return exit;
    }
    // Both sides must have the same number of runs. In the last repetition, plan A may have run without plan B.
    runs_a.records.truncate(runs_b.records.len());
    runs_a.paths.truncate(runs_b.paths.len());
    let done = Pair { a: runs_a, b: runs_b, ..Pair::default() }.compare(asked);
    Exit::first([tell(&[done], Some(&folder), flags), exit])
}
