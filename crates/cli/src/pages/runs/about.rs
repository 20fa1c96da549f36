//! The facts of a run, sweep, search or comparison, as the list shows them.
//!
//! The facts come from small files in the folder: the summary of a finished run, the data in the report of a sweep,
//! search or comparison, or the last second of a running test. Only for a killed run the record is read, if it is not
//! large.

mod answer;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use answers::lines::without_findings;
use answers::rules;
use answers::verdict::{About as Part, Words};
use record::Record;
use report::model::{self, words};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stats::grouped::things;

use crate::inputs::files;
use crate::operator::ctl;
use crate::questions::{capacity, compare, sweep};

/// Largest size in bytes of the summary of a run, or of the JSON file of a sweep, search or comparison.
const SUMMARY: u64 = 8 << 20;
/// Largest size in bytes of a record from which the list computes the metrics of a killed run.
const RECORD: u64 = 8 << 20;
/// Number of bytes at the end of `seconds.jsonl` in which the last second is searched.
const LAST: u64 = 64 << 10;
/// Largest number of run folders that are read in the folder of a sweep, search or comparison.
const MOST_RUNS: usize = 500;
/// Number of characters to which a string from a file is shortened.
const LONGEST: usize = 400;
/// Largest number of tags of an entry.
pub(super) const MOST_TAGS: usize = 20;
/// Name of the file with the name and the tags that a user gave to an entry.
pub(super) const NOTE: &str = "note.json";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    #[default]
    Run,
    Sweep,
    Capacity,
    Comparison,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    #[default]
    Ended,
    Running,
    /// The run has no recorded end: its process was killed.
    Unfinished,
}

/// Name and tags that a user gave to an entry to find it later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Note {
    pub(super) name: String,
    pub(super) tags: Vec<String>,
}

/// Counts of the criteria of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Criteria {
    /// Number of criteria that were met.
    met: usize,
    /// Number of all criteria.
    of: usize,
    /// Number of undecided criteria.
    #[serde(skip_serializing_if = "is_none")]
    undecided: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Metrics of an entry in the list. For a sweep or a search, the samples are those of all its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Figures {
    samples: Option<u64>,
    rate_per_s: Option<f64>,
    p95_us: Option<f64>,
    error_share: Option<f64>,
}

/// A response time that a criterion of a run limits.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct JudgedTime {
    name: Words,
    /// Measured value in microseconds.
    us: f64,
    /// Limit of the criterion in microseconds.
    limit_us: f64,
}

/// Facts of an entry in the list of runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Facts {
    pub(super) kind: Kind,
    pub(super) state: State,
    pub(super) note: Note,
    /// Start of the run, sweep, search or comparison in epoch milliseconds.
    pub(super) at_ms: i64,
    length_ms: Option<i64>,
    plan: String,
    /// First sentence of the verdict on a run, or of the result of a sweep, search or comparison. For a running
    /// test: a description of its last second.
    words: Option<Words>,
    /// True if the generator or its machine was the bottleneck, so that the metrics are doubtful.
    doubtful: bool,
    #[serde(flatten)]
    figures: Figures,
    /// The load at which the metrics of a sweep or search were measured.
    of: Option<Words>,
    /// Metrics of side A of a comparison.
    a: Option<Figures>,
    criteria: Option<Criteria>,
    /// The response time from the first criterion about a time of all requests.
    judged: Option<JudgedTime>,
    /// Version of the program that made the run.
    program: Option<String>,
    /// Reason for the run's end, as the summary names it.
    end: Option<String>,
}

/// Returns the facts of a folder, or `None` if it is not the folder of a run, sweep, search or comparison.
pub(super) fn of(folder: &Path) -> Option<Facts> {
    let inside = inside(folder)?;
    let kind = kind(folder, &inside)?;
    let mut facts = Facts { kind, note: note(folder), ..Facts::default() };
    facts.at_ms = begun_ms(folder);
    match kind {
        Kind::Run => facts.of_run(folder),
        _ => facts.of_answer(folder, &inside),
    }
    Some(facts)
}

/// Names of the files and folders in a folder. Symbolic links are left out.
struct Inside {
    files: Vec<String>,
    folders: Vec<String>,
}

fn inside(folder: &Path) -> Option<Inside> {
    let mut inside = Inside { files: Vec::new(), folders: Vec::new() };
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
            continue;
        };
        if kind.is_dir() {
            inside.folders.push(name);
        } else if kind.is_file() {
            inside.files.push(name);
        }
    }
    Some(inside)
}

/// Returns the kind of a folder (run, sweep, search or comparison), judged by the names in it.
pub(super) fn kind_of(folder: &Path) -> Option<Kind> {
    kind(folder, &inside(folder)?)
}

fn kind(folder: &Path, inside: &Inside) -> Option<Kind> {
    let has = |name: &str| inside.files.iter().any(|file| file == name);
    for (file, kind) in [
        (compare::FILE, Kind::Comparison),
        (sweep::FILE, Kind::Sweep),
        (capacity::FILE, Kind::Capacity),
    ] {
        if has(file) {
            return Some(kind);
        }
    }
    if has("seconds.jsonl") && (has("properties.txt") || has(record::FILE)) {
        return Some(Kind::Run);
    }
    // An unfinished sweep, search or comparison has no file yet; the names of its first run folders show its kind.
    let first = inside.folders.iter().find(|name| size_of_output(folder, name).is_some())?;
    let (word, _) = first.split_once('-')?;
    match word {
        "probe" => Some(Kind::Capacity),
        "users" | "rps" => Some(Kind::Sweep),
        "A" | "B" => Some(Kind::Comparison),
        _ => None,
    }
}

fn size_of_output(folder: &Path, name: &str) -> Option<u64> {
    files::size(&folder.join(name).join("output.txt"))
}

/// True if a test is running in this folder, or in one of the run folders of a sweep, search or comparison.
pub(super) fn is_running(folder: &Path, kind: Kind) -> bool {
    if kind == Kind::Run {
        return ctl::is_running(folder);
    }
    runs(folder).iter().any(|run| ctl::is_running(run))
}

/// Returns the folders of the runs that belong to a sweep, search or comparison.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| {
        let names = inside(folder).map(|inside| inside.folders).unwrap_or_default();
        names.into_iter().map(|name| folder.join(name)).collect::<Vec<_>>()
    };
    below(folder).iter().take(MOST_RUNS).flat_map(|run| below(run)).take(MOST_RUNS).collect()
}

fn note(folder: &Path) -> Note {
    let bytes = files::read(&folder.join(NOTE), 64 << 10).unwrap_or_default();
    let Note { name, tags } = serde_json::from_slice(&bytes).unwrap_or_default();
    let tags = tags.iter().take(MOST_TAGS).map(|tag| clipped(tag)).collect();
    Note { name: clipped(&name), tags }
}

/// Shortens a string from a file to the length that the list shows. The file may come from another user.
fn clipped(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

fn json(path: &Path, most: u64) -> Option<Value> {
    serde_json::from_slice(&files::read(path, most)?).ok()
}

/// Returns the start time from the folder's name, or else the time of the folder's last change, in epoch
/// milliseconds.
fn begun_ms(folder: &Path) -> i64 {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let changed = || {
        let changed = fs::symlink_metadata(folder).and_then(|about| about.modified()).ok()?;
        jiff::Timestamp::try_from(changed).ok().map(jiff::Timestamp::as_millisecond)
    };
    in_name(name).or_else(changed).unwrap_or_default()
}

/// Parses `YYYYmmdd-HHMMSS` in local time from a folder's name.
fn in_name(name: &str) -> Option<i64> {
    let parts: Vec<&str> = name.split('-').collect();
    let digits =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let both = parts.windows(2).rev().find(|two| digits(two[0], 8) && digits(two[1], 6))?;
    let time = jiff::civil::DateTime::strptime("%Y%m%d %H%M%S", both.join(" ")).ok()?;
    let here = time.to_zoned(lang::zone::here()).ok()?;
    Some(here.timestamp().as_millisecond())
}

/// Returns the file name of a path that a result file contains.
fn file_name(path: &str) -> String {
    clipped(path.rsplit(['/', '\\']).next().unwrap_or_default())
}

fn said(words: &Value) -> Option<Words> {
    let text = |language: &str| words[language].as_str().map(clipped);
    Some(Words { en: text("en")?, zh: text("zh")? })
}

/// Returns the response time of a judged criterion. Returns `None` for a criterion about something else, about one
/// label, or about windows of time (`over`), which report the value of the worst window.
fn judged_time(judged: &Value) -> Option<JudgedTime> {
    let criterion = judged["criterion"].as_str().filter(|text| !text.contains(" over "))?;
    let model::capacity::JudgedTime { name, limit_us, .. } =
        model::capacity::JudgedTime::of(criterion)?;
    let ms = judged["value"].as_f64().filter(|_| judged["label"].is_null())?;
    Some(JudgedTime { name, us: ms * 1000.0, limit_us })
}

impl Criteria {
    /// Counts criteria. Each item is true if the criterion is met, and `None` if it is undecided.
    fn new(met: impl Iterator<Item = Option<bool>>) -> Option<Self> {
        let all: Vec<Option<bool>> = met.collect();
        let count = |outcome| all.iter().filter(|met| **met == outcome).count();
        let (met, undecided) = (count(Some(true)), count(None));
        (!all.is_empty()).then_some(Self { met, of: all.len(), undecided })
    }
}

impl Facts {
    fn of_run(&mut self, folder: &Path) {
        match json(&folder.join("summary.json"), SUMMARY) {
            Some(summary) => self.of_summary(&summary),
            None if is_running(folder, Kind::Run) => {
                self.state = State::Running;
                self.of_last_second(folder);
            }
            None => {
                self.state = State::Unfinished;
                self.of_record(folder);
            }
        }
    }

    fn of_summary(&mut self, summary: &Value) {
        self.at_ms = summary["start_ms"].as_i64().unwrap_or(self.at_ms);
        self.length_ms = summary["duration_ms"].as_i64();
        self.plan = file_name(summary["plan"].as_str().unwrap_or_default());
        self.figures.samples = summary["requests"].as_u64();
        self.figures.rate_per_s = summary["requests_per_s"].as_f64();
        self.figures.p95_us = summary["response"]["p95"].as_f64().map(|ms| ms * 1000.0);
        let failed = summary["failed"].as_u64();
        let share = |(failed, all): (u64, u64)| (all > 0).then(|| failed as f64 / all as f64);
        self.figures.error_share = failed.zip(self.figures.samples).and_then(share);
        self.end = summary["end"]["how"].as_str().map(clipped);
        let judged = summary["criteria"]["judged"].as_array();
        let met = |judged: &Value| judged["holds"].as_bool();
        self.criteria = judged.and_then(|all| Criteria::new(all.iter().map(met)));
        self.judged = judged.and_then(|all| all.iter().find_map(judged_time));
        self.program = summary["throng"].as_str().map(clipped);
        let verdict = &summary["verdict"];
        if let Some(findings) = verdict["findings"].as_array() {
            let undecided = said(&verdict["undecided"]);
            let not_met = self
                .criteria
                .is_some_and(|criteria| criteria.met + criteria.undecided < criteria.of);
            self.words = match findings.first() {
                Some(finding) => said(&finding["words"]),
                None => Some(without_findings(undecided.as_ref(), not_met)),
            };
            self.doubtful = findings.iter().any(|finding| finding["about"] == "generator");
        }
    }

    /// Reads the metrics of a running test from its last second.
    fn of_last_second(&mut self, folder: &Path) {
        let tail = files::tail(&folder.join("seconds.jsonl"), LAST).unwrap_or_default();
        let tail = String::from_utf8_lossy(&tail);
        // The first and last lines of the excerpt may be incomplete. Only whole lines are parsed.
        let whole = tail.rfind('\n').map_or("", |end| &tail[..end]);
        let last = whole.lines().next_back().and_then(|line| serde_json::from_str(line).ok());
        let Some(last) = last else { return };
        let last: Value = last;
        let users = last["users"].as_u64().unwrap_or_default();
        let rate = last["samples"].as_u64().unwrap_or_default();
        self.length_ms = last["at_ms"].as_i64().map(|at| (at - self.at_ms).max(0));
        self.figures.rate_per_s = Some(rate as f64);
        self.figures.p95_us =
            last["response_p95_ms"].as_f64().filter(|_| rate > 0).map(|ms| ms * 1000.0);
        let errors = last["errors"].as_u64().unwrap_or_default();
        self.figures.error_share = (rate > 0).then(|| errors as f64 / rate as f64);
        self.words = Some(words(
            format!(
                "In its last second: {}, {}, {errors} failed.",
                things(users, "user"),
                things(rate, "sample")
            ),
            format!("最近一秒：{users} 个用户，{rate} 个样本，{errors} 个失败。"),
        ));
    }

    /// Computes the metrics of a killed run from its record.
    fn of_record(&mut self, folder: &Path) {
        let file = folder.join(record::FILE);
        let Some(bytes) = files::read(&file, RECORD) else { return };
        let Some(record) = Record::of_bytes(&bytes) else { return };
        self.at_ms = record.frame.start_ms;
        self.length_ms = Some(record.frame.length_ms);
        self.plan = file_name(&record.frame.plan);
        let mut hist = stats::hist::Hist::new();
        let (mut count, mut errors) = (0, 0);
        for second in &record.seconds {
            hist.add(second.all.response());
            (count, errors) = (count + second.all.count, errors + second.all.errors);
        }
        self.figures.samples = Some(count);
        if count > 0 {
            self.figures.error_share = Some(errors as f64 / count as f64);
            self.figures.p95_us = Some(hist.quantile(0.95) as f64);
            let seconds = record.frame.length_ms as f64 / 1000.0;
            self.figures.rate_per_s = (seconds > 0.0).then(|| count as f64 / seconds);
        }
        let verdict = rules::verdict(&record);
        let first = verdict.findings.first().map(|finding| finding.words.clone());
        self.words =
            Some(first.unwrap_or_else(|| without_findings(verdict.undecided.as_ref(), false)));
        self.doubtful = verdict.findings.iter().any(|finding| finding.about == Part::Generator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_in_names() {
        let zone = lang::zone::here();
        let shown = |name| {
            let at = jiff::Timestamp::from_millisecond(in_name(name)?).ok()?;
            Some(at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string())
        };
        let noon = Some("12:03:04".to_owned());
        for name in ["20260203-120304-plan", "sweep-a-b-20260203-120304-2", "x-20260203-120304"] {
            assert_eq!(shown(name), noon, "{name}");
        }
        for name in ["plan", "20260203-1203", "20269903-120304", "2026020é-120304", ""] {
            assert_eq!(in_name(name), None, "{name}");
        }
    }

    #[test]
    fn undecided_criteria_are_not_counted_as_not_met() {
        let shown = |all: &[Option<bool>]| {
            serde_json::to_value(Criteria::new(all.iter().copied())).expect("JSON")
        };
        assert_eq!(shown(&[]), serde_json::json!(null));
        let decided = serde_json::json!({ "met": 1, "of": 2 });
        assert_eq!(shown(&[Some(true), Some(false)]), decided);
        let undecided = serde_json::json!({ "met": 1, "of": 2, "undecided": 1 });
        assert_eq!(shown(&[Some(true), None]), undecided);
    }

    #[test]
    fn the_worst_window_is_not_the_time_of_a_run() {
        let judged = |criterion: &str| {
            judged_time(&serde_json::json!({ "criterion": criterion, "value": 5.0 }))
        };
        assert!(judged("response p95 < 500ms").is_some_and(|time| time.us == 5000.0));
        assert!(judged("response p95 < 500ms over 10s").is_none());
    }

    #[test]
    fn folders_are_known_by_their_files() {
        let root = tempfile::tempdir().expect("a folder");
        let made = |name: &str, files: &[&str]| {
            let folder = root.path().join(name);
            for file in files {
                let file = folder.join(file);
                fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
                fs::write(file, "{}").expect("a file");
            }
            kind_of(&folder)
        };
        assert_eq!(made("a", &["seconds.jsonl", "record"]), Some(Kind::Run));
        assert_eq!(made("b", &["seconds.jsonl"]), None, "too little to be sure");
        assert_eq!(made("c", &["sweep.json"]), Some(Kind::Sweep));
        assert_eq!(made("d", &["probe-1/output.txt"]), Some(Kind::Capacity));
        assert_eq!(made("e", &["photos-1/output.txt"]), None);
        assert_eq!(made("f", &["summary.json", "plan.jmx"]), None);
    }
}
