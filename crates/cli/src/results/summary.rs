//! Reads the results that a run stored at its end: the file `summary.json` in the run's folder.
//!
//! Only the run itself judges criteria, because a record contains no criteria. Commands that read the folder later
//! take the judgement from the summary, so that they always agree with the run.

use std::path::{Path, PathBuf};

use answers::criterion;
use answers::verdict::{Language, Words};
use report::k6;
use report::model::Criterion;
use serde_json::Value;
use stats::jtl::source::is_stream;

use crate::exit::Exit;

/// Content of the `summary.json` of a run.
#[derive(Debug)]
pub(crate) struct Told(pub(crate) Value);

/// Returns the run folder for a path to the folder or to a file in it. Returns `None` if the folder contains no
/// record.
pub(crate) fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder =
        if path.is_dir() { Some(path) } else { path.parent().filter(|_| !is_stream(path)) };
    folder.filter(|folder| folder.join(record::FILE).exists()).map(Path::to_path_buf)
}

impl Told {
    /// Reads the summary in a run's folder. Returns `None` if the summary is missing or unreadable.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join("summary.json")).ok()?;
        serde_json::from_str(&text).ok().map(Self)
    }

    /// Returns a sentence for each part of the run's results that is missing.
    pub(crate) fn lost(&self) -> Vec<Words> {
        let losses = self.0["lost"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let one = |loss: &str| Words {
            en: format!("Results are missing: {loss}"),
            zh: format!("结果不完整：{loss}"),
        };
        losses.map(one).collect()
    }

    /// Returns the criteria as the run judged them: the `--abort-if` criterion that ended the run, the criteria that
    /// the run had to meet, and the `--abort-if` criteria without data.
    pub(crate) fn criteria(&self) -> Vec<Criterion> {
        let criteria = &self.0["criteria"];
        let list = |name: &str| criteria[name].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let shown = |judged: &Value| {
            let criterion = criterion::Criterion::parse(&text(&judged["criterion"]));
            let zh = criterion.map(|one| one.shown_words(judged["value"].as_f64()).zh);
            let en = text(&judged["shown"]);
            let zh = zh.unwrap_or_else(|_| en.clone());
            // A value that comes from transactions says so.
            let Words { en: of, zh: of_zh } = said(&judged["of"]).unwrap_or_default();
            Words { en: en + &of, zh: zh + &of_zh }
        };
        let one = |judged: &Value| Criterion {
            text: text(&judged["criterion"]),
            met: judged["holds"].as_bool(),
            value: judged["value"].as_f64(),
            shown: shown(judged),
            reason: said(&judged["reason"]),
            of: judged["label"].as_str().map(str::to_owned),
        };
        let guard = |judged: &Value, met| {
            let guard = one(judged);
            Criterion { text: format!("{}{}", k6::GUARD, guard.text), met, ..guard }
        };
        let ended =
            criteria["ended_by"].as_object().map(|_| guard(&criteria["ended_by"], Some(false)));
        let unguarded = list("unguarded").map(|judged| guard(judged, None));
        ended.into_iter().chain(list("judged").map(one)).chain(unguarded).collect()
    }

    /// Returns the exit codes that follow from the run's criteria, from missing results, and from lost workers.
    pub(crate) fn exits(&self) -> impl Iterator<Item = Exit> {
        let of_criterion = |criterion: Criterion| match criterion.met {
            Some(true) => Exit::Ok,
            Some(false) => Exit::Criteria,
            None => Exit::Undecided,
        };
        let lost = if self.lost().is_empty() { Exit::Ok } else { Exit::Lost };
        let is_whole = self.0["accounted"].as_bool().unwrap_or(true);
        let workers = if is_whole { Exit::Ok } else { Exit::WorkersLost };
        self.criteria().into_iter().map(of_criterion).chain([lost, workers])
    }

    /// Formats the criteria with their values in `language`. Returns an empty string without criteria.
    pub(crate) fn criteria_text(&self, language: Language) -> String {
        let zh = language == Language::Chinese;
        let criteria = self.criteria();
        if criteria.is_empty() {
            return String::new();
        }
        let mut out = String::from(if zh { "判定标准\n" } else { "Criteria\n" });
        for criterion in criteria {
            let word = match (criterion.met, zh) {
                (Some(true), false) => "met      ",
                (Some(false), false) => "NOT MET  ",
                (None, false) => "UNDECIDED",
                (Some(true), true) => "达标",
                (Some(false), true) => "未达标",
                (None, true) => "无法判定",
            };
            let reason = criterion.reason.as_ref().map(|reason| reason.of(language));
            let shown = criterion.shown.of(language);
            let value = match (criterion.value, reason) {
                (None, Some(reason)) => reason.to_owned(),
                (_, Some(reason)) if zh => format!("{shown}（{reason}）"),
                (_, Some(reason)) => format!("{shown} ({reason})"),
                (_, None) => shown.to_owned(),
            };
            let (word, text) = match criterion.text.strip_prefix(k6::GUARD) {
                Some(text) if criterion.met == Some(false) => {
                    (if zh { "结束了运行" } else { "ENDED THE RUN" }, text.to_owned())
                }
                Some(text) => (word, format!("abort if {text}")),
                None => (word, criterion.text.clone()),
            };
            out.push_str(&format!("  {word}  {text}: {value}\n"));
        }
        out.push('\n');
        out
    }
}

/// Reads a sentence in both languages from JSON. Returns `None` if a language is missing.
fn said(words: &Value) -> Option<Words> {
    let of = |language: &str| words[language].as_str().map(str::to_owned);
    Some(Words { en: of("en")?, zh: of("zh")? })
}
