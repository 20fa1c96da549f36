//! Builds the report page of a run's folder or of a result file.

use std::path::Path;

use answers::rules;
use answers::verdict::Words;
use record::Record;
use report::jmeter::Figures;
use report::k6;
use report::model::{Criterion, Given, RunPage};
use serde_json::Value;
use stats::jtl::source::{STANDARD_INPUT, is_stream};

use super::agents;
use super::columns::PROPERTIES;

/// Builds the report page of a run's folder or of a result file with the function `make`. Values that the record lacks
/// come from the other files in the folder, if they exist.
pub(crate) fn page(
    path: &Path,
    record: &Record,
    figures: Option<&Figures>,
    make: fn(&Given<'_>) -> RunPage,
) -> RunPage {
    let folder =
        if path.is_dir() { Some(path) } else { path.parent().filter(|_| !is_stream(path)) };
    let of_run = folder.filter(|folder| folder.join(record::FILE).exists());
    let text =
        |name: &str| of_run.and_then(|folder| std::fs::read_to_string(folder.join(name)).ok());
    let summary = text("summary.json").and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let run = name(of_run.unwrap_or(path));
    let given = Given {
        record,
        verdict: &rules::verdict(record),
        run: &run,
        criteria: &summary.as_ref().map(criteria).unwrap_or_default(),
        properties: &text(PROPERTIES).as_deref().map(properties).unwrap_or_default(),
        notes: &[],
        jmeter: figures,
        agents: &summary.as_ref().map(agents::agents).unwrap_or_default(),
        live: false,
    };
    let lost = summary.as_ref().map(lost).unwrap_or_default();
    let cost = summary.and_then(|mut summary| serde_json::from_value(summary["cost"].take()).ok());
    let mut page = RunPage { cost, is_incomplete: !lost.is_empty(), ..make(&given) };
    page.about.flaws.extend(lost);
    page
}

/// Returns the sentences about lost results of the run.
fn lost(summary: &Value) -> Vec<Words> {
    let losses = summary["lost"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let one = |loss: &str| Words {
        en: format!("Results are missing: {loss}"),
        zh: format!("结果不完整：{loss}"),
    };
    losses.map(one).collect()
}

/// Returns the criteria with their results from the summary: those that the run must meet, the one that ended the run,
/// and those that could have ended it but had no data to judge.
fn criteria(summary: &Value) -> Vec<Criterion> {
    let criteria = &summary["criteria"];
    let list = |name: &str| criteria[name].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |judged: &Value| Criterion {
        text: text(&judged["criterion"]),
        met: judged["holds"].as_bool(),
        value: judged["value"].as_f64(),
        shown: text(&judged["shown"]),
        reason: said(&judged["reason"]),
        of: judged["label"].as_str().map(str::to_owned),
    };
    let guard = |judged: &Value, met| {
        let guard = one(judged);
        Criterion { text: format!("{}{}", k6::GUARD, guard.text), met, ..guard }
    };
    let ended = criteria["ended_by"].as_object().map(|_| guard(&criteria["ended_by"], Some(false)));
    let unguarded = list("unguarded").map(|judged| guard(judged, None));
    ended.into_iter().chain(list("judged").map(one)).chain(unguarded).collect()
}

/// Parses a text in English and Chinese.
fn said(words: &Value) -> Option<Words> {
    let of = |language: &str| words[language].as_str().map(str::to_owned);
    Some(Words { en: of("en")?, zh: of("zh")? })
}

/// Parses names and values from the run's property file, in which secrets are masked.
fn properties(file: &str) -> Vec<(String, String)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
        .collect()
}

/// Returns the title of a report: the name of its run or result file.
fn name(path: &Path) -> String {
    if path == Path::new(STANDARD_INPUT) {
        return "standard input".into();
    }
    if is_stream(path) {
        return "pipe".into();
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
