//! Reasons for which two runs cannot be compared, or only with care.

use std::collections::BTreeSet;

use record::frame::PLAN_TEXT;
use record::{Frame, Record};
use serde::Serialize;

use crate::shared::target_is_here;

/// Properties that are named at most.
const MOST_NAMES: usize = 5;

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// The difference would not say what a reader takes it for.
    pub refuses: bool,
    pub words: String,
}

/// Doubts about comparing two runs. `limited`: findings on the generator of each, if it was at its limit.
pub fn doubts(a: &Record, b: &Record, limited: (Option<&str>, Option<&str>)) -> Vec<Doubt> {
    let mut found = Vec::new();
    let mut doubt = |refuses: bool, words: String| found.push(Doubt { refuses, words });
    for (name, finding) in [("A", limited.0), ("B", limited.1)] {
        if let Some(finding) = finding {
            doubt(true, format!("the generator of {name} limits what the run can show: {finding}"));
        }
    }
    let (load_a, load_b) = (load(a), load(b));
    if let (Some(load_a), Some(load_b)) = (&load_a, &load_b)
        && load_a != load_b
    {
        doubt(true, format!("the load is not the same: A {load_a}, B {load_b}"));
    }
    let apart = |a: u64, b: u64| a > 0 && b > 0 && a.abs_diff(b) as f64 > 0.02 * a.max(b) as f64;
    let (users_a, users_b) = (most_users(a), most_users(b));
    if (load_a.is_none() || load_b.is_none()) && apart(users_a, users_b) && !a.frame.load.open {
        doubt(true, format!("the load is not the same: A had {users_a} users, B {users_b}"));
    }
    let (frame_a, frame_b) = (&a.frame, &b.frame);
    if let Some(words) = plans(a, b) {
        doubt(false, words);
    }
    if frame_a.processors != 0
        && frame_b.processors != 0
        && (frame_a.processors, frame_a.threads) != (frame_b.processors, frame_b.threads)
    {
        let of = |frame: &record::Frame| {
            format!("{} threads on {} processors", frame.threads, frame.processors)
        };
        doubt(
            false,
            format!("the generators are not the same: A {}, B {}", of(frame_a), of(frame_b)),
        );
    }
    if !frame_a.version.is_empty()
        && !frame_b.version.is_empty()
        && frame_a.version != frame_b.version
    {
        doubt(
            false,
            format!("the versions are not the same: A {}, B {}", frame_a.version, frame_b.version),
        );
    }
    found
}

/// The difference of the plans, or of their properties. Another port of a target on this machine is no reason for care:
/// a target that is started anew for each run has another one each time. It is told with what else changed.
fn plans(a: &Record, b: &Record) -> Option<String> {
    let (frame_a, frame_b) = (&a.frame, &b.frame);
    let of = |frame: &Frame, name: &str| {
        frame.settings.iter().find(|setting| setting.0 == name).map(|setting| setting.1.clone())
    };
    let both = of(frame_a, PLAN_TEXT).zip(of(frame_b, PLAN_TEXT));
    let Some((text_a, text_b)) = both else {
        let known = frame_a.plan_hash != 0 && frame_b.plan_hash != 0;
        return (known && frame_a.plan_hash != frame_b.plan_hash).then(|| {
            format!(
                "the plans or their properties are not the same: A {}, B {}",
                frame_a.plan, frame_b.plan
            )
        });
    };
    if text_a != text_b {
        return Some(format!("the plans are not the same: A {}, B {}", frame_a.plan, frame_b.plan));
    }
    let is_here = target_is_here(a) && target_is_here(b);
    let is_port = |name: &str, value: &Option<String>| {
        name.to_ascii_lowercase().ends_with("port")
            && value.as_ref().is_some_and(|value| value.parse::<u16>().is_ok())
    };
    let names: BTreeSet<&str> = frame_a
        .settings
        .iter()
        .chain(&frame_b.settings)
        .map(|setting| &*setting.0)
        .filter(|name| name.starts_with("-J"))
        .collect();
    let mut moved = Vec::new();
    for name in names {
        let (of_a, of_b) = (of(frame_a, name), of(frame_b, name));
        let is_other_port = is_here && is_port(name, &of_a) && is_port(name, &of_b);
        if of_a != of_b && !is_other_port {
            let value = |value: Option<String>| value.unwrap_or_else(|| "not set".to_owned());
            moved.push(format!("{name} (A {}, B {})", value(of_a), value(of_b)));
        }
    }
    let more = moved.len().saturating_sub(MOST_NAMES);
    moved.truncate(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!moved.is_empty()).then(|| format!("properties are not the same: {}{more}", moved.join(", ")))
}

fn load(record: &Record) -> Option<String> {
    let load = &record.frame.load;
    if !record.has.load {
        return None;
    }
    Some(match load.rate {
        Some(rate) if load.open => format!("{rate} starts a second"),
        Some(rate) => format!("{} users, at most {rate} a second", load.users),
        None => format!("{} users", load.users),
    })
}

fn most_users(record: &Record) -> u64 {
    record.seconds.iter().map(|second| second.users).max().unwrap_or(0)
}
