//! The answer of a search as text: the sentence first, then its probes.

use answers::rules;
use answers::scaling::concurrency;
use answers::search::{Limit, Purpose};
use answers::shared::Shared;
use answers::verdict::{About, Finding, Language};

use super::super::figures::{load, number, percent, table};
use super::{Capacity, Done, EndedBy, LimitedBy};
use crate::{tty, verdict};

pub(super) fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Light => "light",
        Purpose::Overload => "overload",
        Purpose::Narrow => "between",
        Purpose::Confirm => "to confirm",
    }
}

/// A probe in a line.
pub(super) fn line(done: &Done) -> String {
    let judged: Vec<String> = done
        .judged
        .iter()
        .map(|judged| format!("{} ({})", judged.criterion, judged.shown))
        .collect();
    let result = if done.probe.generator {
        "doubtful for the generator"
    } else if done.probe.holds {
        "holds"
    } else {
        "does not hold"
    };
    let ended = match done.ended_by {
        EndedBy::Precision => format!("; clear after {:.0} s", done.seconds),
        EndedBy::Time => String::new(),
    };
    format!("{result}: {}; {}/s succeeded{ended}", judged.join(", "), number(done.probe.rate))
}

pub(super) fn page(capacity: &Capacity) -> String {
    let unit = if capacity.axis == "users" { "users" } else { "starts/s" };
    let mut out = sentence(capacity, unit);
    out.push('\n');
    out.push_str(&what_limited(capacity, unit));
    let heading = [
        "probe",
        unit,
        "succeeded/s",
        "in flight",
        "p50 ms",
        "p99 ms",
        "samples",
        "s",
        "ended by",
        "result",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (at, done) in capacity.probes.iter().enumerate() {
        rows.push(vec![
            format!("{} {}", at + 1, purpose(done.probe.purpose)),
            load(done.probe.load),
            number(done.probe.rate),
            number(done.in_flight),
            number(done.p50),
            number(done.p99),
            done.samples.to_string(),
            format!("{:.0}", done.seconds),
            done.ended_by.word().to_owned(),
            result(done),
        ]);
    }
    out.push_str(&table(&rows));
    out
}

fn result(done: &Done) -> String {
    let mut findings = done.verdict.findings.iter();
    if let Some(finding) = findings.find(|finding| finding.about == About::Generator) {
        let subject = rules::looks_for(finding.id).map_or_else(String::new, |words| words.en);
        let criteria = if done.probe.holds { "criteria held" } else { "criteria did not hold" };
        return format!("doubtful: {subject} ({criteria})");
    }
    let broken: Vec<String> = done
        .judged
        .iter()
        .filter(|judged| !judged.holds)
        .map(|judged| format!("{}: {}", judged.criterion, judged.shown))
        .collect();
    let good = done.probe.trials.iter().filter(|trial| trial.good).count();
    match broken.is_empty() {
        true if done.probe.trials.len() > 1 => {
            format!("holds, in {good} of {} windows", done.probe.trials.len())
        }
        true => "holds".to_owned(),
        false => broken.join(", "),
    }
}

fn sentence(capacity: &Capacity, unit: &'static str) -> String {
    let answer = &capacity.answer;
    let at = |load: f64| capacity.probes.iter().rev().find(|done| done.probe.load == load);
    let Some(lower) = answer.lower else { return nothing_held(capacity, unit) };
    let other = at(lower).map_or_else(String::new, |done| {
        format!(" ({} requests/s, {} in flight)", number(done.probe.rate), number(done.in_flight))
    });
    let shared = shared(capacity);
    let mut out = up_to(capacity, unit, lower, &other);
    if let Some((upper, done)) = answer.upper.and_then(|upper| Some((upper, at(upper)?)))
        && answer.limit == Limit::Criteria
    {
        let they = if shared.is_some() { "The criteria do not hold at" } else { "They do not at" };
        out.push_str(&format!("{they} {} {unit}: {}.\n", load(upper), result(done)));
    }
    if let (Some(shared), Some(upper)) = (shared, answer.upper) {
        out.push_str(&format!(
            "At {} {unit} {}: on a machine of its own the target may take more.\n",
            load(upper),
            shared.words()
        ));
    }
    if let Some(limit) = &answer.together {
        out.push_str(&format!(
            "Runs near the limit differ by chance (±{} of the load, each); together they put it at {} ({} to {}, 95 %).\n",
            percent(limit.spread),
            number(limit.load),
            number(limit.low),
            number(limit.high)
        ));
    }
    out.push_str(&limits(capacity));
    out.push_str(&notes(capacity));
    out
}

/// The first sentence: up to which load the criteria hold.
fn up_to(capacity: &Capacity, unit: &'static str, lower: f64, other: &str) -> String {
    let answer = &capacity.answer;
    let criteria = capacity.criteria.join(", ");
    match answer.limit {
        Limit::Criteria if shared(capacity).is_some() => {
            format!(
                "At least {} {unit}{other}: {criteria} held; the machine was shared, and it was full.\n",
                load(lower)
            )
        }
        Limit::Criteria => {
            format!("The criteria hold up to {} {unit}{other}: {criteria}.\n", load(lower))
        }
        Limit::Generator => {
            let why = decided(capacity).and_then(|done| done.generator_finding.as_deref());
            format!(
                "At least {} {unit}{other}; the generator, not the target, stopped it. {criteria} held there.\n\
                 At {} {unit} it did not keep up: {}.\n",
                load(lower),
                load(answer.upper.unwrap_or_default()),
                why.unwrap_or_default()
            )
        }
        Limit::Most if capacity.unfinished => format!(
            "At least {} {}{other}: {criteria} held, and the search ended before anything larger was tried.\n",
            load(lower),
            of(unit, lower)
        ),
        Limit::Most => format!(
            "At least {} {unit}{other}: {criteria} held, and nothing larger was to be tried (--at-most).\n",
            load(lower)
        ),
    }
}

/// Reasons for care.
fn notes(capacity: &Capacity) -> String {
    let answer = &capacity.answer;
    let mut out = String::new();
    let mut notes = Vec::new();
    if answer.doubtful {
        notes.push("the lower bound is doubtful: nothing but the light probe held, and the generator did not keep up there");
    }
    if capacity.unfinished {
        notes.push(
            "the search ended before its answer: the bounds are those of the probes until then",
        );
    }
    if answer.limit == Limit::Criteria && !answer.confirmed {
        notes.push("the lower bound is not confirmed by a run of its own");
    }
    if answer.upper.is_some() && !answer.narrow {
        notes.push("the bounds are wider apart than was asked for");
    }
    if answer.irregular {
        notes.push("a load above the upper bound held: there is more than one limit, or chance");
    }
    for note in notes {
        out.push_str(&format!("- {note}\n"));
    }
    out
}

/// The sentence of a search without an answer.
fn nothing_held(capacity: &Capacity, unit: &'static str) -> String {
    let Some(first) = decided(capacity) else { return String::new() };
    let (lightest, unit) = (load(first.probe.load), of(unit, first.probe.load));
    if capacity.answer.limit == Limit::Generator {
        let why = first.generator_finding.as_deref().unwrap_or_default();
        return format!(
            "No answer: already with {lightest} {unit}, what was measured says little about the target. {why}.\n"
        );
    }
    let verb = if lightest == "1" { "holds" } else { "hold" };
    format!("Not even {lightest} {unit} {verb}: {}.\n", result(first))
}

/// The unit of a load.
fn of(unit: &'static str, load: f64) -> &'static str {
    if load == 1.0 && unit == "users" { "user" } else { unit }
}

/// The machine that target and generator share, if it was full in the probe that decided against a larger load.
pub(super) fn shared(capacity: &Capacity) -> Option<&Shared> {
    capacity.answer.upper?;
    decided(capacity)?.shared.as_ref()
}

/// The probe that decided: the last one at the upper bound, or at the lower one where nothing larger was tried.
fn decided(capacity: &Capacity) -> Option<&Done> {
    let Capacity { answer, probes, .. } = capacity;
    let first = probes.first()?;
    let nothing_held = answer.lower.is_none().then_some(first.probe.load);
    let load = nothing_held.or(answer.upper).or(answer.lower)?;
    // Its criteria did not hold once; a second probe may have been better.
    let here = || probes.iter().rev().filter(|done| done.probe.load == load);
    here().find(|done| !done.probe.holds && !done.probe.generator).or_else(|| here().next())
}

/// The reason for which a larger load does not hold: the criteria that broke, and what the runs say.
pub(super) fn limited_by(capacity: &Capacity) -> Option<LimitedBy> {
    capacity.answer.upper?;
    let done = decided(capacity)?;
    let broken = done.judged.iter().filter(|judged| !judged.holds);
    let speaks = speaking(capacity, done);
    Some(LimitedBy {
        load: done.probe.load,
        criteria: broken.cloned().collect(),
        finding: speaks.and_then(|done| limit(done)).cloned(),
        finding_at: speaks.map(|done| done.probe.load),
    })
}

/// The finding of a run that names its limit.
fn limit(done: &Done) -> Option<&Finding> {
    done.verdict.findings.iter().find(|finding| finding.about != About::Test)
}

/// The run whose verdict names the limit: the one that decided, or else the overload.
fn speaking<'a>(capacity: &'a Capacity, decided: &'a Done) -> Option<&'a Done> {
    let is_overload = |done: &&Done| done.probe.purpose == Purpose::Overload;
    let overload = capacity.probes.iter().find(is_overload).filter(|done| !done.probe.holds);
    [Some(decided), overload].into_iter().flatten().find(|done| limit(done).is_some())
}

/// The verdict on the run that decided, or on the overload, where that one alone names the limit.
fn what_limited(capacity: &Capacity, unit: &'static str) -> String {
    let Some(done) = decided(capacity) else { return String::new() };
    let done = capacity.answer.upper.and_then(|_| speaking(capacity, done)).unwrap_or(done);
    let (at, unit) = (load(done.probe.load), of(unit, done.probe.load));
    if done.verdict.findings.is_empty() {
        let looked = done.verdict.silent.len();
        return format!("Nothing stands out in the run at {at} {unit}: {looked} rules looked.\n\n");
    }
    let text = verdict::text(&done.verdict, Language::English, tty::output_width());
    let text = text.strip_prefix("Verdict\n").unwrap_or(&text);
    format!("The run at {at} {unit} says what limited it:\n{text}")
}

/// The number of requests that the target works on at once, by the light and the overload probe.
fn limits(capacity: &Capacity) -> String {
    let find = |purpose: Purpose| {
        capacity.probes.iter().find(|done| done.probe.purpose == purpose && !done.probe.generator)
    };
    let (Some(light), Some(over)) = (find(Purpose::Light), find(Purpose::Overload)) else {
        return String::new();
    };
    let best = capacity
        .probes
        .iter()
        .filter(|done| !done.probe.generator)
        .map(|done| done.probe.rate)
        .fold(0.0, f64::max);
    let is_flat = !over.probe.holds
        && over.probe.rate > 0.9 * best
        && light.in_flight <= 2.0
        && light.samples >= 20;
    if !is_flat || over.probe.rate < 1.5 * light.probe.rate {
        return String::new();
    }
    format!(
        "Beyond the limit it answers {}/s, whatever the load: about {} requests at once, at {} ms each when none waits.\n",
        number(over.probe.rate),
        number(concurrency(over.probe.rate, light.p50 / 1000.0)),
        number(light.p50)
    )
}
