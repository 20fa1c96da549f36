//! Rules that find what limited or disturbed a run. Each rule is a pure function of the record.
//!
//! A rule reports a finding or stays silent; in doubt it stays silent. A statistical rule needs two independent
//! signs, each of them significant. Findings about the target are hidden while the generator is in doubt
//! ([`judge`]). Thresholds are constants in the file of each rule, with their sources; `docs/verdict.md` has a
//! heading for each rule.

mod alike;
mod backend_names;
mod backends;
mod bimodal;
mod breaker;
mod chance;
mod concurrency;
mod connections;
mod constant_load;
mod course;
mod courses;
mod defaults;
mod delayed_ack;
mod down;
mod errors;
mod failing_time;
mod fails_above;
pub(crate) mod figures;
mod gateway;
mod generator;
mod hang;
mod host_ports;
mod hosts;
mod java;
mod java_options;
mod late_starts;
mod light;
mod machine;
mod moment;
mod network;
mod one_thread;
mod outlasts;
mod pace;
mod places;
mod plan_fault;
mod ports;
mod queue_grows;
mod quota;
mod rate_limit;
mod reading;
mod realism;
mod regular;
mod request_keys;
mod resets;
mod rhythm;
mod run;
mod same_work;
mod samples;
pub(crate) mod say;
mod series_level;
mod series_moves;
mod sessions;
mod short_wait;
mod silence;
mod slow_phase;
mod slows;
mod stalled;
mod stalls;
mod steps;
mod storm;
mod systems;
#[allow(non_camel_case_types, reason = "Rules name texts like functions.")]
pub(crate) mod texts;
mod timeouts;
mod transactions;
mod waiting_labels;
mod whose;

use record::Record;

pub use errors::{
    Cut, EARLIER_MS, MOST_ENDED, cut_by_errors, cut_short, cut_short_by_errors, without_includes,
    words_of,
};
pub use hang::unanswered;
pub use late_starts::missed_starts;
pub use run::{Rule, Run, interrupted, judge};
pub(crate) use say::clock;
pub use say::part;

use crate::verdict::{Verdict, Words};

/// Ids of charts that several rules share: load and response times.
const LOAD: [&str; 2] = ["load", "response"];
/// Ids of charts that several rules share: the generator's processor use, overhead and pauses.
const GENERATOR: [&str; 3] = ["cpu", "own", "waiting"];

// Each rule is declared with its module and the ids of the charts that show its findings, the most telling first. An id
// that ends with a dot stands for all charts whose ids begin with it. Its subject is the text of the same name in
// `texts`.
macro_rules! rules {
    ($($id:ident = $module:ident: $charts:expr;)*) => {
        /// All rules in their order: first rules about whether the run can be trusted, then rules about what
        /// limited it.
        pub const ALL: &[Rule] = &[$(Rule {
            id: stringify!($id),
            looks_for: (texts::en::subjects::$id(), texts::zh::subjects::$id()),
            charts: &$charts,
            judge: |run| $module::$id(run),
        }),*];
    };
}

rules! {
    cpu_quota = quota: GENERATOR;
    generator_limit = generator: GENERATOR;
    machine_busy = generator: GENERATOR;
    files_exhausted = machine: ["errors", "cpu"];
    workers_lost = machine: ["load", "cpu"];
    generator_stalled = machine: ["waiting", "cpu"];
    java_pauses = java: ["waiting", "cpu"];
    reading_stopped = reading: ["messages", "memory"];
    messages_dropped = reading: ["messages", "memory"];
    unread_growing = reading: ["messages", "memory"];
    zero_windows = reading: ["segments", "bytes"];
    generator_memory = machine: ["memory"];
    target_down = down: ["errors", "load"];
    errors_named = errors: ["errors", "response"];
    queue_grows = queue_grows: ["load", "flight"];
    concurrency_limit = concurrency: ["load", "response", "flight"];
    plateau = concurrency: ["load", "response", "flight"];
    ports = ports: ["ports", "opened"];
    host_ports = host_ports: ["watched."];
    host_churn = hosts: ["watched."];
    host_sessions = sessions: ["watched."];
    host_uneven = hosts: ["watched."];
    host_busy = hosts: ["watched."];
    host_java = java: ["watched."];
    plan_fault = plan_fault: ["errors"];
    cut_by_end = errors: ["errors", "load"];
    fails_above = fails_above: ["errors", "flight"];
    reset_under_load = resets: ["errors", "load"];
    connection_churn = connections: ["opened", "connect"];
    tls_cost = connections: ["tls", "opened", "cpu"];
    fixed_timeout = timeouts: ["errors", "response"];
    accept_queue = timeouts: ["connect", "response"];
    backend_uneven = backends: LOAD;
    rate_limit = rate_limit: ["errors", "load"];
    late_starts = late_starts: LOAD;
    warmup_unfinished = course: LOAD;
    stalls = stalls: LOAD;
    slow_phase = slow_phase: LOAD;
    bimodal = bimodal: LOAD;
    drift = course: LOAD;
    step_change = course: LOAD;
    network_loss = network: ["segments", "bytes"];
    bandwidth = network: ["bytes"];
    constant_load = constant_load: LOAD;
    delayed_ack = delayed_ack: ["phases", "response"];
    too_few_samples = samples: LOAD;
    circuit_breaker = breaker: ["errors", "response"];
    test_realism = realism: LOAD;
}

/// Ids of further findings, which are only added if a run has the data for them.
pub const ADDED: &[&str] =
    &[series_level::ID, series_moves::ID, java_options::ID, transactions::ID];

/// Id, subject and charts of a rule.
type Entry = (&'static str, (&'static str, &'static str), &'static [&'static str]);

/// Subjects of the findings in [`ADDED`], in English and Chinese, and their charts.
const ADDED_ENTRIES: &[Entry] = &[
    (
        series_level::ID,
        (texts::en::subjects::series_level(), texts::zh::subjects::series_level()),
        &["series."],
    ),
    (
        series_moves::ID,
        (texts::en::subjects::series_moves(), texts::zh::subjects::series_moves()),
        &["series.", "response"],
    ),
    (
        java_options::ID,
        (texts::en::subjects::java_options(), texts::zh::subjects::java_options()),
        &LOAD,
    ),
    (
        transactions::ID,
        (texts::en::subjects::transactions_failed(), texts::zh::subjects::transactions_failed()),
        &["errors"],
    ),
];

/// Applies all rules to a record.
pub fn verdict(record: &Record) -> Verdict {
    let run = Run::new(record, ALL);
    let mut verdict = run.judge();
    series_level::add(&mut verdict, record);
    series_moves::add(&mut verdict, &run);
    java_options::add(&mut verdict, record);
    transactions::add(&mut verdict, record);
    verdict
}

/// Adds to the verdict on a run what a light run shows about its limit. In a light run, requests do not wait for each
/// other.
pub fn add_light_run(verdict: &mut Verdict, light: &Record, record: &Record) {
    let known = verdict.findings.iter().chain(&verdict.hidden);
    if known.map(|finding| finding.id).any(|id| matches!(id, "concurrency_limit" | "rate_limit")) {
        return;
    }
    if let Some(finding) = concurrency::with_light_run(light, record) {
        // The number of requests that the target processes at once says more than a plateau or a constant load.
        verdict.remove("plateau");
        verdict.remove("constant_load");
        verdict.add(finding, |id| ALL.iter().position(|rule| rule.id == id));
    }
}

/// Returns the subject and the charts of a rule; `None` for an unknown rule.
fn declared(id: &str) -> Option<Entry> {
    let rule = ALL.iter().find(|rule| rule.id == id);
    let rule = rule.map(|rule| (rule.id, rule.looks_for, rule.charts));
    rule.or_else(|| ADDED_ENTRIES.iter().find(|added| added.0 == id).copied())
}

/// Returns the subject of a rule for the list of checks; `None` for an unknown rule.
pub fn looks_for(id: &str) -> Option<Words> {
    let (_, (en, zh), _) = declared(id)?;
    Some(Words { en: en.into(), zh: zh.into() })
}

/// Returns the ids of the charts that show the findings of a rule, the most telling first. An id that ends with a dot
/// stands for all charts whose ids begin with it.
pub fn charts(id: &str) -> &'static [&'static str] {
    declared(id).map_or(&[], |(_, _, charts)| charts)
}
