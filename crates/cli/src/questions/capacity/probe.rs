//! A probe (a run at one load) of a capacity search, with its results.

use std::path::PathBuf;

use answers::rules;
use answers::search::{self, Purpose};
use answers::shared::Shared;
use answers::verdict::{About, Verdict, Words};
use report::model::capacity::{self as page, Held};
use report::model::sweep::StoppedBy;
use report::model::words;
use serde::{Deserialize, Serialize};

use super::judge::Judged;
use crate::questions::figures::{english, from_english};
use crate::questions::{results, sweep};

/// Reason why a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EndedBy {
    Precision,
    Time,
}

impl EndedBy {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Precision => "precision",
            Self::Time => "time",
        }
    }
}

/// A probe of a capacity search with its results.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Done {
    #[serde(flatten)]
    pub(super) probe: search::Probe,
    pub(super) seconds: f64,
    /// Reason why the probe ended: its result was clear and its mean precise, or its time had passed.
    pub(super) ended_by: EndedBy,
    pub(super) samples: u64,
    /// Median of the response times in milliseconds.
    pub(super) p50: f64,
    /// 95th percentile of the response times in milliseconds. Absent in files of older versions.
    #[serde(default)]
    pub(super) p95: Option<f64>,
    /// 99th percentile of the response times in milliseconds.
    pub(super) p99: f64,
    /// Share of the probe's samples that failed.
    #[serde(default)]
    pub(super) errors: f64,
    /// Mean number of requests in flight.
    pub(super) in_flight: f64,
    pub(super) judged: Vec<Judged>,
    /// First finding of the verdict that is about the generator.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "english",
        deserialize_with = "from_english"
    )]
    pub(super) generator_finding: Option<Words>,
    /// Set if the target and the generator share a machine, and that machine was fully loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shared: Option<Shared>,
    /// Verdict on the probe's run. When a saved search is read, the verdict is recomputed from the run.
    #[serde(skip_deserializing)]
    pub(super) verdict: Verdict,
    pub(super) folder: PathBuf,
}

impl Done {
    pub(super) fn on_page(&self) -> page::Probe {
        let Self { probe, .. } = self;
        let good = probe.trials.iter().filter(|trial| trial.good).count();
        let mut findings = self.verdict.findings.iter();
        let subject = findings
            .find(|finding| finding.about == About::Generator)
            .map(|finding| rules::looks_for(finding.id).unwrap_or_else(|| words("", "")));
        let mut broken: Vec<Words> =
            self.judged.iter().filter(|judged| !judged.holds).map(Judged::broken).collect();
        if let Some(Words { en, zh }) = broken.first_mut().filter(|_| probe.undecided) {
            (*en, *zh) = (format!("undecided: {en}"), format!("无法判定：{zh}"));
        }
        page::Probe {
            load: probe.load,
            kind: page::purpose(probe.purpose),
            verdict: match (probe.generator || probe.undecided, probe.holds) {
                (true, _) => Held::Doubtful,
                (false, true) => Held::Good,
                (false, false) => Held::Bad,
            },
            good,
            bad: probe.trials.len() - good,
            rate_per_s: probe.rate,
            in_flight: self.in_flight,
            p50_us: self.p50 * 1000.0,
            p99_us: self.p99 * 1000.0,
            judged_us: None,
            samples: self.samples,
            length_s: self.seconds,
            stopped_by: match self.ended_by {
                EndedBy::Precision => StoppedBy::Precision,
                EndedBy::Time => StoppedBy::Time,
            },
            words: page::result(
                subject.as_ref(),
                probe.is_within(),
                &broken,
                (good, probe.trials.len()),
            ),
            run: sweep::parent(&self.folder),
            failed: self.errors,
            purpose: probe.purpose,
            holds: probe.holds,
            undecided: probe.undecided && !probe.generator,
            judged: self.judged.iter().map(margin).collect(),
            generator: self.generator_finding.clone(),
            shared: self.shared,
        }
    }
}

fn margin(of: &Judged) -> page::Margin {
    page::Margin { criterion: of.criterion.clone(), holds: of.holds, margin: of.margin }
}

/// Adds to the verdicts on failed probes what a comparison with the light probe shows about the limit.
pub(super) fn add_light(probes: &mut [Done]) {
    let is_light = |done: &&Done| done.probe.purpose == Purpose::Light && !done.probe.generator;
    let Some(light) = probes.iter().find(is_light) else { return };
    let Ok(light) = results::of_run(&light.folder) else { return };
    let failed = |done: &&mut Done| !done.probe.is_within() && done.probe.purpose != Purpose::Light;
    for done in probes.iter_mut().filter(failed) {
        if let Ok(record) = results::of_run(&done.folder) {
            rules::add_light_run(&mut done.verdict, &light, &record);
        }
    }
}
