//! The answer of a search as text: the sentence first, then its probes.

use answers::scaling::concurrency;
use answers::search::{Limit, Purpose};

use super::super::figures::{load, number, table};
use super::{Capacity, Done};

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
        "the generator is at its limit"
    } else if done.probe.holds {
        "holds"
    } else {
        "does not hold"
    };
    format!("{result}: {}; {}/s succeeded", judged.join(", "), number(done.probe.rate))
}

pub(super) fn page(capacity: &Capacity) -> String {
    let unit = if capacity.axis == "users" { "users" } else { "starts/s" };
    let mut out = sentence(capacity, unit);
    out.push('\n');
    let heading =
        ["probe", unit, "succeeded/s", "in flight", "p50 ms", "p99 ms", "samples", "s", "result"];
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
            result(done),
        ]);
    }
    out.push_str(&table(&rows));
    out
}

fn result(done: &Done) -> String {
    if let Some(finding) = &done.generator_finding {
        return format!("generator: {finding}");
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

fn sentence(capacity: &Capacity, unit: &str) -> String {
    let answer = &capacity.answer;
    let at = |load: f64| capacity.probes.iter().rev().find(|done| done.probe.load == load);
    let criteria = capacity.criteria.join(", ");
    let Some(lower) = answer.lower else {
        let lightest = capacity.probes.first().map_or(0.0, |done| done.probe.load);
        let why = capacity.probes.first().map_or_else(String::new, result);
        let unit = if lightest == 1.0 { unit.trim_end_matches('s') } else { unit };
        let verb = if lightest == 1.0 { "holds" } else { "hold" };
        return format!("Not even {} {unit} {verb}: {why}.\n", load(lightest));
    };
    let other = at(lower).map_or_else(String::new, |done| {
        format!(" ({} requests/s, {} in flight)", number(done.probe.rate), number(done.in_flight))
    });
    let mut out = match answer.limit {
        Limit::Criteria => {
            format!("The criteria hold up to {} {unit}{other}: {criteria}.\n", load(lower))
        }
        Limit::Generator => format!(
            "At least {} {unit}{other}: the generator, not the target, stopped the search. {criteria} held there.\n",
            load(lower)
        ),
        Limit::Most => format!(
            "At least {} {unit}{other}: {criteria} held, and nothing larger was to be tried (--at-most).\n",
            load(lower)
        ),
    };
    if let Some((upper, done)) = answer.upper.and_then(|upper| Some((upper, at(upper)?))) {
        out.push_str(&format!("They do not at {} {unit}: {}.\n", load(upper), result(done)));
    }
    out.push_str(&limits(capacity));
    let mut notes = Vec::new();
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
