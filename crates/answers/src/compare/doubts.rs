//! Reasons why two runs cannot be compared, or only with caution.

use std::collections::BTreeSet;

use record::frame::PLAN_TEXT;
use record::{Frame, Record};
use serde::Serialize;

use crate::evidence::{MOST_MISSED, partial_load};
use crate::rules;
use crate::shared::target_is_here;
use crate::verdict::{About, Words};

/// Largest number of properties that a message names.
const MOST_NAMES: usize = 5;

/// A reason against comparing two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// True if the comparison is refused: the difference would mislead a reader.
    pub refuses: bool,
    pub words: String,
    /// The reason in Chinese, for pages.
    #[serde(skip)]
    pub zh: String,
}

/// Use of the generator's processors in a second, as a share, from which they count as saturated.
const FULL: f64 = 0.95;
/// Largest share of seconds in which the generator's processors may be saturated.
const MOST_SECONDS: f64 = 0.25;

/// Returns the reason why one of these runs must not be compared, if there is one: the processors of its generator
/// were saturated, or it did not make the starts that the rate required. A pause of the generator, which a verdict
/// also reports, is not such a reason.
pub fn limited(runs: &[Record]) -> Option<Words> {
    runs.iter().find_map(at_limit)
}

fn at_limit(record: &Record) -> Option<Words> {
    let whole: Vec<_> = record.seconds.iter().filter(|second| second.ms >= 500).collect();
    let full = whole.iter().filter(|second| {
        let threads = second.generator.threads.min(record.frame.processors.max(1)).max(1);
        record.has.generator
            && second.generator.cpu_s * 1000.0 / f64::from(second.ms) / f64::from(threads) >= FULL
    });
    let (full, all) = (full.count(), whole.len());
    if full >= 5 && full as f64 > MOST_SECONDS * all as f64 {
        return Some(Words {
            en: format!("its processors were full in {full} of {all} seconds"),
            zh: format!("其处理器在 {all} 秒中有 {full} 秒满载"),
        });
    }
    let due: u64 = whole.iter().map(|second| second.due).sum();
    let missed: u64 = whole.iter().map(|second| second.missed).sum();
    // If all allowed users wait for responses, the target is slow, and the generator is not at its limit.
    let waits = record
        .seconds
        .iter()
        .any(|second| second.users > 0 && second.users >= record.frame.load.users.max(1));
    (due > 0 && missed as f64 > MOST_MISSED * due as f64 && !waits).then(|| Words {
        en: format!("{missed} of {due} starts were not made"),
        zh: format!("{due} 次启动中有 {missed} 次未执行"),
    })
}

/// Returns the reason why the samples of one of these runs do not represent its whole load; `None` if they do in
/// all runs.
pub fn partial(runs: &[Record]) -> Option<Words> {
    runs.iter().find_map(|record| partial_load(record, &record.seconds))
}

/// Returns a warning about one side. `why` is the reason.
pub fn careful(name: &str, why: &Words) -> Doubt {
    Doubt {
        refuses: false,
        words: format!("{name}: {}", why.en),
        zh: format!("{name}：{}", why.zh),
    }
}

/// Returns a warning about a side if the verdict on one of its runs has a finding about the generator. `name`: name
/// of the side, as in "the generator of A".
pub fn doubted(name: &str, runs: &[Record]) -> Option<Doubt> {
    let of_generator = |run: &Record| {
        let mut findings = rules::verdict(run).findings.into_iter();
        findings.find(|finding| finding.about == About::Generator)
    };
    let Words { en, zh } = runs.iter().find_map(of_generator)?.words;
    let (en, zh) = (en.trim_end_matches('.'), zh.trim_end_matches('。'));
    Some(Doubt {
        refuses: false,
        words: format!("the generator of {name} did not keep up: {en}"),
        zh: format!("{name} 的负载机跟不上：{zh}"),
    })
}

/// Returns the doubts about comparing two runs. `limits`: for each run, the reason why its generator was at its
/// limit, if it was.
pub fn doubts(a: &Record, b: &Record, limits: (Option<Words>, Option<Words>)) -> Vec<Doubt> {
    let mut found = Vec::new();
    let mut doubt = |refuses: bool, words: String, zh: String| {
        found.push(Doubt { refuses, words, zh });
    };
    for (name, limit) in [("A", limits.0), ("B", limits.1)] {
        if let Some(Words { en, zh }) = limit {
            doubt(
                true,
                format!("the generator of {name} limits what the run can show: {en}"),
                format!("{name} 的负载机限制了这次运行所能说明的内容：{zh}"),
            );
        }
    }
    for (name, record) in [("A", a), ("B", b)] {
        if record.seconds.iter().all(|second| second.all.count == 0) {
            doubt(true, format!("{name} has no samples"), format!("{name} 没有样本"));
        }
    }
    let (load_a, load_b) = (load(a), load(b));
    if let (Some(load_a), Some(load_b)) = (&load_a, &load_b)
        && load_a != load_b
    {
        doubt(
            true,
            format!("the load is not the same: A {}, B {}", load_a.en, load_b.en),
            format!("负载不同：A {}，B {}", load_a.zh, load_b.zh),
        );
    }
    let apart = |a: u64, b: u64| a > 0 && b > 0 && a.abs_diff(b) as f64 > 0.02 * a.max(b) as f64;
    let (users_a, users_b) = (most_users(a), most_users(b));
    if (load_a.is_none() || load_b.is_none()) && apart(users_a, users_b) && !a.frame.load.open {
        doubt(
            true,
            format!("the load is not the same: A had {}, B {users_b}", of_users(users_a)),
            format!("负载不同：A 有 {users_a} 个用户，B 有 {users_b} 个"),
        );
    }
    let (frame_a, frame_b) = (&a.frame, &b.frame);
    if let Some(Words { en, zh }) = plans(a, b) {
        doubt(false, en, zh);
    }
    for Words { en, zh } in generators(frame_a, frame_b) {
        doubt(false, en, zh);
    }
    found
}

/// Returns the differences between the generators and their versions.
fn generators(a: &Frame, b: &Frame) -> Vec<Words> {
    let mut found = Vec::new();
    let is_known = a.processors != 0 && b.processors != 0;
    if is_known && (a.processors, a.threads) != (b.processors, b.threads) {
        let en = |of: &Frame| format!("{} threads on {} processors", of.threads, of.processors);
        let zh = |of: &Frame| format!("{} 个处理器上 {} 个线程", of.processors, of.threads);
        found.push(Words {
            en: format!("the generators are not the same: A {}, B {}", en(a), en(b)),
            zh: format!("负载机不同：A {}，B {}", zh(a), zh(b)),
        });
    }
    if !a.version.is_empty() && !b.version.is_empty() && a.version != b.version {
        found.push(Words {
            en: format!("the versions are not the same: A {}, B {}", a.version, b.version),
            zh: format!("版本不同：A {}，B {}", a.version, b.version),
        });
    }
    found
}

/// Returns the difference of the plans, or of their properties. A different port of a target on this machine is not
/// a doubt: a target that is restarted for each run gets a new port each time. Such a port is reported with the
/// other changes.
fn plans(a: &Record, b: &Record) -> Option<Words> {
    let (frame_a, frame_b) = (&a.frame, &b.frame);
    let of = |frame: &Frame, name: &str| {
        frame.settings.iter().find(|setting| setting.0 == name).map(|setting| setting.1.clone())
    };
    let both = of(frame_a, PLAN_TEXT).zip(of(frame_b, PLAN_TEXT));
    let Some((text_a, text_b)) = both else {
        let known = frame_a.plan_hash != 0 && frame_b.plan_hash != 0;
        return (known && frame_a.plan_hash != frame_b.plan_hash).then(|| Words {
            en: format!(
                "the plans or their properties are not the same: A {}, B {}",
                frame_a.plan, frame_b.plan
            ),
            zh: format!("计划或其属性不同：A {}，B {}", frame_a.plan, frame_b.plan),
        });
    };
    if text_a != text_b {
        return Some(Words {
            en: format!("the plans are not the same: A {}, B {}", frame_a.plan, frame_b.plan),
            zh: format!("计划不同：A {}，B {}", frame_a.plan, frame_b.plan),
        });
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
    let (more, more_zh) = match more {
        0 => (String::new(), String::new()),
        more => (format!(" and {more} more"), format!("，另有 {more} 个")),
    };
    let list = moved.join(", ");
    (!moved.is_empty()).then(|| Words {
        en: format!("properties are not the same: {list}{more}"),
        zh: format!("属性不同：{list}{more_zh}"),
    })
}

fn load(record: &Record) -> Option<Words> {
    let load = &record.frame.load;
    if !record.has.load {
        return None;
    }
    let users = load.users;
    let (en, zh) = match load.rate {
        Some(rate) if load.open => {
            (format!("{rate} starts a second"), format!("每秒启动 {rate} 次"))
        }
        Some(rate) => (
            format!("{}, at most {rate} a second", of_users(users)),
            format!("{users} 个用户，每秒最多 {rate} 次"),
        ),
        None => (of_users(users), format!("{users} 个用户")),
    };
    Some(Words { en, zh })
}

fn of_users(users: u64) -> String {
    format!("{users} {}", if users == 1 { "user" } else { "users" })
}

fn most_users(record: &Record) -> u64 {
    record.seconds.iter().map(|second| second.users).max().unwrap_or(0)
}
