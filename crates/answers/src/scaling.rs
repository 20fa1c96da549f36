//! Models of throughput X over load L, chosen by evidence, or none.
//!
//! L is the measured number of requests in flight, X·R by Little's law, not the number of users with their pauses.
//! Models: linear X = λL; plateau X = min(λL, C) (asymptotic bounds: E. Lazowska and others, "Quantitative System
//! Performance", 1984, chapter 5); N. Gunther's universal scalability law X = γL/(1+α(L-1)+βL(L-1)), which invents a peak
//! where a fixed limit is. Errors are relative, so that the light points count as much as the heavy ones. The model with
//! the least AICc (C. Hurvich and C.-L. Tsai, Biometrika 76, 1989) is taken, if nothing speaks against it ([`Refusal`]).

mod fit;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::random::Random;
use crate::series::quantile;

/// Points for a model, at least.
pub const LEAST_POINTS: usize = 6;
/// Points that show a knee, at least: two of them on the flat part, which agree, and one below it.
pub const KNEE_POINTS: usize = 4;
/// Rates of points on the flat part differ by this share at most.
const KNEE_FLAT: f64 = 0.05;
/// Ratio of loads on the flat part, and of all loads, at least. Users that double are a little less than twice as many
/// requests in flight: starts and pauses take some.
const KNEE_REACH: f64 = 1.7;
const KNEE_SPAN: f64 = 4.0;
/// Ratio of the largest to the smallest load, at least.
pub const LEAST_SPAN: f64 = 8.0;
/// Root of the mean square of relative errors, at most.
pub const MOST_ERROR: f64 = 0.05;
/// Share by which the peak may move when one point is left out.
pub const MOST_SHIFT: f64 = 0.10;
/// A peak beyond so many times the largest load tested is extrapolated.
pub const REACH: f64 = 2.0;
/// Resamples of windows for the interval of the peak.
const RESAMPLES: usize = 500;

/// A load that was run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Requests in flight, mean.
    pub load: f64,
    /// Requests per second.
    pub rate: f64,
    /// The same of parts of the point of equal length, for intervals; empty where there are none.
    pub windows: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "model")]
pub enum Model {
    /// X = `slope`·L.
    Linear { slope: f64 },
    /// X = min(`slope`·L, `limit`).
    Plateau { slope: f64, limit: f64 },
    /// X = `gamma`·L/(1+`alpha`(L-1)+`beta`·L(L-1)).
    Usl { gamma: f64, alpha: f64, beta: f64 },
}

impl Model {
    /// Throughput at a load.
    pub fn rate(&self, load: f64) -> f64 {
        match *self {
            Self::Linear { slope } => slope * load,
            Self::Plateau { slope, limit } => (slope * load).min(limit),
            Self::Usl { gamma, alpha, beta } => {
                gamma * load / (1.0 + alpha * (load - 1.0) + beta * load * (load - 1.0))
            }
        }
    }

    /// Largest throughput, where the model has one.
    pub fn limit(&self) -> Option<f64> {
        match *self {
            Self::Linear { .. } => None,
            Self::Plateau { limit, .. } => Some(limit),
            Self::Usl { gamma, alpha, beta } => match self.peak() {
                Some(load) => Some(self.rate(load)),
                None => (beta == 0.0 && alpha > 0.0).then(|| gamma / alpha),
            },
        }
    }

    /// The load from which on more of it brings no more throughput: where the line meets the limit.
    pub fn knee(&self) -> Option<f64> {
        match *self {
            Self::Plateau { slope, limit } => Some(limit / slope),
            Self::Linear { .. } | Self::Usl { .. } => None,
        }
    }

    /// The load with the largest throughput, beyond which it falls: √((1-α)/β).
    pub fn peak(&self) -> Option<f64> {
        match *self {
            Self::Usl { alpha, beta, .. } if beta > 0.0 && alpha < 1.0 => {
                Some(((1.0 - alpha) / beta).sqrt())
            }
            _ => None,
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Linear { .. } => "linear",
            Self::Plateau { .. } => "plateau",
            Self::Usl { .. } => "USL",
        }
    }
}

/// A model with its parameters found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fit {
    #[serde(flatten)]
    pub model: Model,
    /// Root of the mean square of relative errors.
    pub error: f64,
    /// Akaike's criterion, corrected for few points: less is better, and alone it says nothing.
    pub aicc: f64,
}

/// A reason for which there is no model, or no peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "refusal")]
pub enum Refusal {
    /// Points that count.
    FewPoints { points: usize },
    /// Ratio of the largest to the smallest load.
    NarrowSpan { span: f64 },
    /// Error of the best model.
    PoorFit { error: f64 },
    /// A peak that moves by that share when a point is left out.
    UnsteadyPeak { shift: f64 },
    /// The interval of β contains 0: no fall was seen, flat within what was tested.
    NoFall,
}

/// The model that describes the points, or the reasons for none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Choice {
    pub chosen: Option<Fit>,
    /// Reasons against a model: against all if none is chosen.
    pub refusals: Vec<Refusal>,
    /// All fits, the best first.
    pub fits: Vec<Fit>,
    /// Peak of the chosen model with its 95 % interval, where windows allow one.
    pub peak: Option<Peak>,
}

/// A load with the largest throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Peak {
    pub load: f64,
    pub rate: f64,
    pub interval: Option<(f64, f64)>,
    /// Beyond what was tested: no number for the first lines.
    pub extrapolated: bool,
}

/// Chooses. Points with findings on the generator or more than 1 % of errors are not to be among them.
pub fn choose(points: &[Point]) -> Choice {
    let mut points: Vec<Point> =
        points.iter().filter(|p| p.load > 0.0 && p.rate > 0.0).cloned().collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    let mut choice = Choice { fits: fit::all(&points), ..Choice::default() };
    if points.len() < LEAST_POINTS {
        choice.chosen = clear_knee(&points, &choice.fits);
        if choice.chosen.is_some() {
            return choice;
        }
        choice.refusals.push(Refusal::FewPoints { points: points.len() });
        return choice;
    }
    let (smallest, largest) = (points[0].load, points[points.len() - 1].load);
    if largest / smallest < LEAST_SPAN {
        choice.refusals.push(Refusal::NarrowSpan { span: largest / smallest });
        return choice;
    }
    for candidate in &choice.fits {
        if candidate.error > MOST_ERROR {
            choice.refusals.push(Refusal::PoorFit { error: candidate.error });
            break;
        }
        let against = against_peak(&points, &candidate.model);
        if let Some(refusal) = against {
            choice.refusals.push(refusal);
            continue;
        }
        choice.chosen = Some(*candidate);
        break;
    }
    let model = choice.chosen.map(|fit| fit.model);
    choice.peak = model.and_then(|model| {
        let load = model.peak()?;
        let extrapolated = load > REACH * largest;
        Some(Peak { load, rate: model.rate(load), interval: peak_interval(&points), extrapolated })
    });
    choice
}

/// The plateau of a few points that leave no doubt: it fits them well and best of all, the rate grows below the knee, and the
/// points beyond it agree while their load nearly doubles.
fn clear_knee(points: &[Point], fits: &[Fit]) -> Option<Fit> {
    let (first, last) = (points.first()?, points.last()?);
    let fit = *fits.iter().find(|fit| matches!(fit.model, Model::Plateau { .. }))?;
    let knee = fit.model.knee()?;
    let flat: Vec<&Point> = points.iter().filter(|point| point.load >= knee).collect();
    let rates = || flat.iter().map(|point| point.rate);
    let (low, high) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
    let better = fits.iter().all(|other| other.error >= fit.error);
    let is_clear = points.len() >= KNEE_POINTS
        && last.load >= KNEE_SPAN * first.load
        && fit.error <= MOST_ERROR
        && better
        && flat.len() >= 2
        && last.load >= KNEE_REACH * flat[0].load
        && high - low <= KNEE_FLAT * high
        && first.load <= 0.8 * knee
        && first.rate <= 0.8 * low;
    is_clear.then_some(fit)
}

/// The reason to refuse the peak of a model.
fn against_peak(points: &[Point], model: &Model) -> Option<Refusal> {
    let peak = match model {
        Model::Usl { .. } => model.peak(),
        Model::Linear { .. } | Model::Plateau { .. } => return None,
    };
    let Some(peak) = peak.filter(|_| fit::has_fall(points)) else { return Some(Refusal::NoFall) };
    let shift = (0..points.len()).map(|left_out| {
        let mut rest = points.to_vec();
        rest.remove(left_out);
        let moved = fit::usl(&rest).and_then(|model| model.peak());
        moved.map_or(f64::INFINITY, |moved| (moved / peak - 1.0).abs())
    });
    let shift = shift.fold(0.0, f64::max);
    (shift > MOST_SHIFT).then_some(Refusal::UnsteadyPeak { shift })
}

/// 95 % interval of the USL's peak: windows of each point drawn anew.
fn peak_interval(points: &[Point]) -> Option<(f64, f64)> {
    if points.iter().any(|point| point.windows.len() < 4) {
        return None;
    }
    let mut random = Random::new(0x5CA1_E0F1);
    let mut peaks = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let drawn: Vec<Point> = points.iter().map(|point| redrawn(point, &mut random)).collect();
        peaks.push(fit::usl(&drawn).and_then(|model| model.peak()).unwrap_or(f64::INFINITY));
    }
    let (low, high) = (quantile(&peaks, 0.025), quantile(&peaks, 0.975));
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

fn redrawn(point: &Point, random: &mut Random) -> Point {
    let n = point.windows.len();
    let (mut load, mut rate) = (0.0, 0.0);
    for _ in 0..n {
        let window = point.windows[random.below(n)];
        load += window.0 / n as f64;
        rate += window.1 / n as f64;
    }
    Point { load, rate, windows: Vec::new() }
}

/// Requests that a server works on at once: its largest throughput times the time of a request that does not wait
/// (Little's law). `alone_seconds`: the median at a load of at most 1, or of the lightest one.
pub fn concurrency(limit: f64, alone_seconds: f64) -> f64 {
    limit * alone_seconds
}
