//! `throng verdict`: prints the verdict on a run or a result file.

use std::path::Path;

use answers::rules;
use answers::verdict::{Language, Verdict, Words};
use record::{Ending, Part, Record};
use report::model::losses;
use serde_json::{Value, json};
use stats::grouped::{count, seconds, things};

use crate::args::flags::{PropertyFlags, VerdictFlags};
use crate::exit::Exit;
use crate::judge::verdict::{data, language, text};
use crate::print::{terminal, tty};
use crate::questions::refusal;
use crate::results::columns::columns;
use crate::results::summary::{self, Told};

/// Runs `throng verdict`.
pub(crate) fn run(flags: &VerdictFlags) -> Exit {
    let Some(record) = open(&flags.path, &flags.properties) else { return Exit::Usage };
    let verdict = rules::verdict(&record);
    let told = summary::folder_of(&flags.path).and_then(|folder| Told::of(&folder));
    let mut losses = losses(&record);
    losses.extend(told.as_ref().map(Told::lost).unwrap_or_default());
    if flags.json {
        let mut data = data(&verdict);
        data["read"] = read(&record);
        data["losses"] = json!(losses);
        if let Some(Told(summary)) = &told
            && summary["criteria"].is_object()
        {
            data["criteria"] = summary["criteria"].clone();
        }
        terminal::json(&serde_json::to_string_pretty(&data).unwrap_or_default());
    } else {
        let language = if flags.zh { Language::Chinese } else { language(flags.lang) };
        let criteria = told.as_ref().map(|told| told.criteria_text(language));
        let not_met = told.as_ref().is_some_and(|told| {
            told.criteria().iter().any(|criterion| criterion.met == Some(false))
        });
        let said = text(&verdict, not_met, language, tty::output_width());
        let all = head(&record, &losses, language) + &criteria.unwrap_or_default() + &said;
        terminal::out(&terminal::visible(&all));
    }
    exit(&record, &verdict, told.as_ref())
}

/// Returns the exit code of the verdict. The run's exit codes for criteria and for losses come first. A run without
/// samples is undecided, and so is an aborted run, because only a part of its load was generated.
fn exit(record: &Record, verdict: &Verdict, told: Option<&Told>) -> Exit {
    let is_empty = record.seconds.iter().all(|second| second.all.count == 0);
    let is_aborted = matches!(record.frame.ending, Ending::Aborted(_));
    let is_open = verdict.undecided.is_some() || is_empty || is_aborted;
    let own = if is_open { Exit::Undecided } else { Exit::Ok };
    Exit::first(told.into_iter().flat_map(Told::exits).chain([own]))
}

/// Returns, as JSON, what was read: the numbers of requests and errors (transactions are not counted), the duration in
/// milliseconds, and the largest number of users.
fn read(record: &Record) -> Value {
    let sum = |of: fn(&Part) -> u64| record.seconds.iter().map(|one| of(&one.all)).sum::<u64>();
    let users = record.has.users.then(|| record.seconds.iter().map(|one| one.users).max());
    json!({
        "requests": sum(|part| part.count),
        "errors": record.knows_errors().then(|| sum(|part| part.errors)),
        "length_ms": record.frame.length_ms,
        "users": users.flatten(),
    })
}

/// Formats the lines before the verdict: which data was read, and which data is missing.
fn head(record: &Record, losses: &[Words], language: Language) -> String {
    let zh = language == Language::Chinese;
    let read = read(record);
    let of = |name: &str| read[name].as_u64();
    let requests = of("requests").unwrap_or(0);
    let length = seconds(of("length_ms").unwrap_or(0));
    let users = of("users").filter(|users| *users > 0);
    let mut out = if zh {
        let users = users.map_or_else(String::new, |users| format!("，{} 个用户", count(users)));
        format!("{} 个请求，历时 {length}{users}\n", count(requests))
    } else {
        let users = users.map_or_else(String::new, |users| format!(", {}", things(users, "user")));
        format!("{} in {length}{users}\n", things(requests, "request"))
    };
    for loss in losses {
        let care = if zh { "注意：" } else { "take care: " };
        out.push_str(&format!("{care}{}\n", loss.of(language)));
    }
    out + "\n"
}

/// Reads the record of a run or of a result file. Prints an error and returns `None` if that fails.
fn open(path: &Path, properties: &PropertyFlags) -> Option<Record> {
    let record = columns(path, properties)
        .and_then(|columns| Record::open(path, &columns).map_err(|error| refusal(&error)));
    match record {
        Ok(record) => Some(record),
        Err(error) => {
            terminal::error(&error);
            None
        }
    }
}
