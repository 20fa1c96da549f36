//! The facts of a sweep, a search for capacity or a comparison.
//!
//! The sentences come from the report page; the metrics come from the JSON file, which exists from the first run
//! on. A row of the list has room for the metrics of one load. For a sweep this is the point with the most requests
//! per second; for a search, the lower bound; for a comparison, side B together with side A. The row names the
//! load.

use std::path::Path;

use answers::verdict::Words;
use report::model::sweep::Axis;
use report::model::words;
use serde_json::Value;

use super::{Criteria, Facts, Figures, Inside, Kind, SUMMARY, State};
use super::{clipped, file_name, is_running, json, said};
use crate::inputs::files;
use crate::questions::{capacity, compare, sweep};
use crate::results::file;

/// Largest report page of a sweep, search or comparison in bytes.
const PAGE: u64 = 16 << 20;

impl Facts {
    /// Reads the first sentence of the report page, and the metrics of a sweep, a search or a comparison.
    pub(super) fn of_answer(&mut self, folder: &Path, inside: &Inside) {
        let file = match self.kind {
            Kind::Sweep => sweep::FILE,
            Kind::Capacity => capacity::FILE,
            Kind::Comparison | Kind::Run => compare::FILE,
        };
        let is_there = inside.files.iter().any(|name| name == file);
        if !inside.folders.is_empty() && is_running(folder, self.kind) {
            self.state = State::Running;
        } else if !is_there {
            self.state = State::Unfinished;
        }
        if is_there && let Some(answer) = json(&folder.join(file), SUMMARY) {
            self.plan = file_name(answer["plan"].as_str().unwrap_or_default());
            match self.kind {
                Kind::Sweep => self.of_points(&answer),
                Kind::Capacity => self.of_probes(&answer),
                Kind::Comparison | Kind::Run => self.of_sides(&answer),
            }
        }
        let page = files::read(&folder.join(file::FILE), PAGE);
        let page = page.and_then(|page| String::from_utf8(page).ok());
        if let Some(data) = page.and_then(|page| report::file::data(&page)) {
            self.of_page(&data);
        }
    }

    fn of_page(&mut self, data: &Value) {
        let refusal = || {
            let doubts = data["validity"].as_array()?;
            said(&doubts.iter().find(|doubt| doubt["refuses"] == true)?["words"])
        };
        self.words = said(&data["sentences"][0]).or_else(refusal);
        for about in ["about", "a"] {
            if let Some(plan) = data[about]["plan"].as_str().filter(|_| self.plan.is_empty()) {
                self.plan = file_name(plan);
            }
        }
        let all = data["criteria"].as_array();
        let met = |one: &Value| one["met"].as_bool();
        self.criteria = all.and_then(|all| Criteria::new(all.iter().map(met)));
    }

    /// Takes the metrics from the points of a sweep.
    fn of_points(&mut self, sweep: &Value) {
        let points = list(&sweep["points"]);
        let seconds = points.iter().filter_map(|point| point["run_seconds"].as_f64()).sum::<f64>();
        self.length_ms = (!points.is_empty()).then_some((seconds * 1000.0) as i64);
        let samples = |point: &Value| point["figures"]["samples"].as_u64();
        self.figures.samples = sum(points.iter().filter_map(samples));
        let rate = |point: &Value| point["figures"]["rate"].as_f64().unwrap_or_default();
        // A point that is excluded from the evaluation is chosen as the best only if all points are excluded.
        let (counted, others): (Vec<&Value>, Vec<&Value>) =
            points.iter().partition(|point| point["excluded"].is_null());
        let best =
            |of: Vec<&Value>| of.into_iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).cloned();
        let Some(best) = best(counted).or_else(|| best(others)) else { return };
        let figures = &best["figures"];
        self.figures.rate_per_s = figures["rate"].as_f64();
        self.figures.p95_us = us(&figures["p95"]["value"]);
        self.figures.error_share = figures["errors"].as_f64();
        self.of = at(sweep, &best);
    }

    /// Takes the metrics from the probes of a search: from the last probe at the lower bound.
    fn of_probes(&mut self, search: &Value) {
        let probes = list(&search["probes"]);
        let samples = |probe: &Value| probe["samples"].as_u64();
        self.figures.samples = sum(probes.iter().filter_map(samples));
        let Some(lower) = search["answer"]["lower"].as_f64() else { return };
        let at_lower = |probe: &&Value| probe["load"].as_f64() == Some(lower);
        let Some(probe) = probes.iter().rev().find(at_lower) else { return };
        let seconds = probe["seconds"].as_f64().filter(|seconds| *seconds > 0.0);
        let count = samples(probe).map(|samples| samples as f64);
        self.figures.rate_per_s = count.zip(seconds).map(|(count, seconds)| count / seconds);
        self.figures.p95_us = us(&probe["p95"]);
        self.figures.error_share = probe["errors"].as_f64();
        self.of = at(search, probe);
    }

    /// Takes the metrics of both sides of a comparison. Of two sweeps, takes the load at which B has the most
    /// requests per second.
    fn of_sides(&mut self, comparison: &Value) {
        let one = std::slice::from_ref(comparison);
        let points = comparison.as_array().map_or(one, Vec::as_slice);
        let rate = |point: &&Value| side(point, 1).rate_per_s.unwrap_or_default();
        let best = points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let Some(best) = best else { return };
        let (a, b) = (side(best, 0), side(best, 1));
        // Without samples in a steady state, nothing was compared.
        if a.samples.min(b.samples).unwrap_or(0) == 0 {
            return;
        }
        (self.figures, self.a) = (b, Some(a));
        let at = best["sources"]["at"].as_str().map(clipped);
        self.of = Some(match at {
            Some(at) => words(format!("B, at {at}"), format!("B，{at}")),
            None => words("B", "B"),
        });
    }
}

/// Returns the metrics of one side of a comparison: 0 for A, 1 for B.
fn side(point: &Value, side: usize) -> Figures {
    let all = &point["comparison"]["all"];
    let figure = |metric: &str| {
        let differences = all["differences"].as_array()?;
        let of = differences.iter().find(|of| of["metric"] == metric)?;
        of[["a", "b"][side]].as_f64()
    };
    Figures {
        samples: all["samples"][side].as_u64(),
        rate_per_s: figure("rate"),
        p95_us: figure("p95").map(|ms| ms * 1000.0),
        error_share: figure("error%"),
    }
}

/// Returns a description of the load of a point or a probe.
fn at(answer: &Value, point: &Value) -> Option<Words> {
    let axis = if answer["axis"] == "users" { Axis::Users } else { Axis::Rate };
    let at = axis.at(point["load"].as_f64()?);
    Some(words(format!("at {}", at.en), format!("{}时", at.zh)))
}

fn us(ms: &Value) -> Option<f64> {
    ms.as_f64().map(|ms| ms * 1000.0)
}

fn list(of: &Value) -> &[Value] {
    of.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the sum of the numbers, or `None` if there are no numbers.
fn sum(of: impl Iterator<Item = u64>) -> Option<u64> {
    of.fold(None, |sum: Option<u64>, one| Some(sum.unwrap_or(0).saturating_add(one)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_of_a_comparison_are_those_of_both_sides() {
        let point = |at: Value, rate: f64, samples: u64| {
            let differences = json!([
                { "metric": "rate", "a": rate, "b": rate * 2.0 },
                { "metric": "error%", "a": 0.0, "b": 0.5 },
                { "metric": "p95", "a": 3.0, "b": 4.0 },
            ]);
            let all = json!({ "samples": [samples, samples * 2], "differences": differences });
            json!({ "comparison": { "all": all }, "sources": { "at": at } })
        };
        let of = |comparison: Value| {
            let mut facts = Facts::default();
            facts.of_sides(&comparison);
            let of = facts.of.map_or_else(String::new, |of| of.en);
            (facts.figures.rate_per_s, facts.a.and_then(|a| a.rate_per_s), of, facts.figures)
        };
        let (b, a, named, figures) = of(point(Value::Null, 10.0, 100));
        assert_eq!((b, a, &*named), (Some(20.0), Some(10.0), "B"));
        assert_eq!((figures.samples, figures.p95_us), (Some(200), Some(4000.0)));
        assert_eq!(figures.error_share, Some(0.5));
        // For two sweeps, the load with the most requests per second is shown.
        let points = [(1.0, "1 user"), (9.0, "4 users"), (8.0, "8 users")];
        let points = points.map(|(rate, at)| point(json!(at), rate, 100)).to_vec();
        let (b, a, named, _) = of(Value::Array(points));
        assert_eq!((b, a, &*named), (Some(18.0), Some(9.0), "B, at 4 users"));
        for nothing in [point(Value::Null, 0.0, 0), json!({ "comparison": null }), json!([])] {
            assert_eq!(of(nothing), (None, None, String::new(), Figures::default()));
        }
    }
}
