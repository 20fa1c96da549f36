//! Estimates the limit from several probes near it, where each single probe errs by chance.
//!
//! A line of the logarithm of the margin over the logarithm of the load is fitted to the probes near the limit; nearer
//! probes have a larger weight (local regression: W. S. Cleveland, JASA 74, 1979). The limit is where the line crosses
//! 0. Its error pools the residuals with the errors that the windows of each probe show. So a load at which a probe
//! failed by chance is not lost, and a load that held by chance is not believed.

use super::{Probe, Purpose, Settings, Together};
use crate::distribution::{student_cdf, student_quantile};
use crate::interval::CONFIDENCE;
use crate::series::{mean, variance};

/// Number of nearest probes that get weight in the fit, unless they are farther from the limit than [`FAR`]. With two
/// probes, the line would have no error estimate.
const NEAREST: usize = 4;
/// Relative distance from the limit beyond which a probe is no evidence about it.
const FAR: f64 = 0.3;
/// Largest absolute logarithm of a margin: far from the limit, only the side counts.
const MOST: f64 = 1.2;
/// Smallest exponent with which response times grow over the load where they pass a limit.
const LEAST_SLOPE: f64 = 0.3;
/// Degrees of freedom that are assumed for the error of a margin that is estimated from the windows of a probe.
const WORTH: f64 = 4.0;
/// Factor on the error that is estimated from windows, because a high percentile of the whole probe depends on its
/// worst windows.
const WORST: f64 = 1.5;

/// The fitted line of margins near the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Logarithm of the load at which the expected margin is 1.
    pub(super) limit: f64,
    /// Growth of the logarithm of the margin over the logarithm of the load.
    slope: f64,
    /// Weighted mean of the logarithms of the loads.
    centre: f64,
    /// Weighted sum of the squared distances of the loads' logarithms from their mean.
    squares: f64,
    /// Sum of the weights of the probes.
    weight: f64,
    /// Standard deviation of the logarithm of a probe's margin.
    deviation: f64,
    /// Degrees of freedom of `deviation`.
    df: f64,
}

/// Returns the standard error of the logarithm of a probe's margin, from the margins of its windows, which depend on
/// each other; `None` for fewer than 6 windows.
pub fn noise(margins: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = margins.iter().filter(|m| **m > 0.0).map(|m| m.ln()).collect();
    let n = logs.len();
    if n < 6 || n < margins.len() {
        return None;
    }
    let (centre, variance) = (mean(&logs), variance(&logs));
    if variance <= 0.0 {
        return Some(0.0);
    }
    let next: f64 = logs.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
    let dependence = (next / (variance * (n - 1) as f64)).clamp(0.0, 0.7);
    let worth = n as f64 * (1.0 - dependence) / (1.0 + dependence);
    Some(WORST * (variance / worth).sqrt())
}

/// Fits the line through the probes near the limit; `None` if there are too few.
pub(super) fn line(settings: &Settings, probes: &[Probe]) -> Option<Line> {
    let usable = |p: &&Probe| !p.is_doubtful() && !p.certain && p.purpose != Purpose::Light;
    let mut points: Vec<Point> = probes
        .iter()
        .filter(usable)
        .filter_map(|p| {
            let margin = p.margin.filter(|m| *m > 0.0 && m.is_finite())?;
            let margin = margin.ln().clamp(-MOST, MOST);
            Some(Point { load: p.load.ln(), margin, noise: p.noise, weight: 0.0 })
        })
        .collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    // The fit starts between the loads that held and the loads that failed.
    let held = points.iter().rev().find(|p| p.margin < 0.0)?.load;
    let failed = points.iter().find(|p| p.margin >= 0.0)?.load;
    let (least, most) = (held.min(failed), held.max(failed));
    let mut limit = f64::midpoint(least, most);
    let mut found = None;
    for _ in 0..4 {
        let line = around(settings, &points, limit)?;
        limit = line.limit.clamp(least - 2.0 * settings.width, most + 2.0 * settings.width);
        found = Some(Line { limit, ..line });
    }
    found
}

/// A probe in the form that the fit uses: logarithms of its load and margin, the error of the margin, and the
/// weight.
#[derive(Clone, Copy, Debug)]
struct Point {
    load: f64,
    margin: f64,
    noise: Option<f64>,
    weight: f64,
}

/// Fits the line through the points near an expected limit.
fn around(settings: &Settings, points: &[Point], limit: f64) -> Option<Line> {
    let mut apart: Vec<f64> = points.iter().map(|p| (p.load - limit).abs()).collect();
    apart.sort_by(f64::total_cmp);
    let reach = apart.get(NEAREST - 1).or(apart.last())? * 1.3;
    let reach = reach.min(FAR).max(4.0 * settings.width);
    let weighed = |p: &Point| {
        let share = ((p.load - limit).abs() / reach).min(1.0);
        Point { weight: (1.0 - share.powi(3)).powi(3), ..*p }
    };
    let near: Vec<Point> = points.iter().map(weighed).filter(|p| p.weight > 0.0).collect();
    let weight: f64 = near.iter().map(|p| p.weight).sum();
    if near.len() < 3 {
        return None;
    }
    let sum = |of: &dyn Fn(&Point) -> f64| -> f64 { near.iter().map(|p| p.weight * of(p)).sum() };
    let (centre, level) = (sum(&|p| p.load) / weight, sum(&|p| p.margin) / weight);
    let squares = sum(&|p| (p.load - centre).powi(2));
    if squares <= 1e-9 {
        return None;
    }
    let slope = sum(&|p| (p.load - centre) * (p.margin - level)) / squares;
    let slope = slope.max(LEAST_SLOPE);
    let rest = sum(&|p| (p.margin - level - slope * (p.load - centre)).powi(2));
    let own: Vec<f64> = near.iter().filter_map(|p| p.noise).map(|noise| noise * noise).collect();
    let worth = if own.is_empty() { 0.0 } else { WORTH };
    let free = (weight - 2.0).max(0.0);
    let df = worth + free;
    if df < 1.0 {
        return None;
    }
    let deviation = ((worth * mean(&own) + rest) / df).sqrt().max(1e-4);
    Some(Line { limit: centre - level / slope, slope, centre, squares, weight, deviation, df })
}

impl Line {
    /// Returns the probability that the mean margin of many probes at a load is below 1.
    pub(super) fn holds(&self, load: f64) -> f64 {
        let at = load.ln();
        let error =
            self.deviation * (1.0 / self.weight + (at - self.centre).powi(2) / self.squares).sqrt();
        student_cdf(self.slope * (self.limit - at) / error, self.df)
    }

    /// Returns the limit with its interval.
    pub(super) fn together(&self) -> Together {
        let reach = student_quantile(f64::midpoint(1.0, CONFIDENCE), self.df) * self.error();
        Together {
            load: self.limit.exp(),
            low: (self.limit - reach).exp(),
            high: (self.limit + reach).exp(),
            spread: self.spread(),
        }
    }

    /// Returns the standard error of the limit, as a share of the load.
    pub(super) fn error(&self) -> f64 {
        let aside = (self.limit - self.centre).powi(2) / self.squares;
        self.spread() * (1.0 / self.weight + aside).sqrt()
    }

    /// Returns the standard deviation of the limit that a single probe shows, as a share of the load.
    pub(super) fn spread(&self) -> f64 {
        self.deviation / self.slope
    }
}
