//! Models of throughput X over load L. The model is chosen by evidence, or there is none.
//!
//! L is the measured number of requests in flight, X·R by Little's law, not the number of users with their pauses.
//! Models: linear X = λL; plateau X = min(λL, C) (asymptotic bounds: E. Lazowska and others, "Quantitative System
//! Performance", 1984, chapter 5); N. Gunther's universal scalability law X = γL/(1+α(L-1)+βL(L-1)), which shows a peak
//! that does not exist where the throughput has a fixed limit. Errors are relative, so that points of light load count
//! as much as points of heavy load. The model with the smallest AICc (C. Hurvich and C.-L. Tsai, Biometrika 76, 1989)
//! is chosen, unless there is a reason against it ([`Refusal`]).

mod fit;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::random::Random;
use crate::series::quantile;

/// Smallest number of points for a model.
pub const LEAST_POINTS: usize = 6;
/// Smallest number of points that can show a knee: two points on the flat part that agree, and one point below the
/// knee.
pub const KNEE_POINTS: usize = 4;
/// Largest relative difference of the rates on the flat part of a plateau, for a knee.
const KNEE_FLAT: f64 = 0.05;
/// Smallest ratio of the largest load to the smallest load on the flat part of a plateau, for a knee. Twice the users
/// make a little less than twice the requests in flight: starts and pauses take some time.
const KNEE_REACH: f64 = 1.7;
/// Smallest ratio of the largest load to the smallest load of all points, for a knee.
const KNEE_SPAN: f64 = 4.0;
/// Smallest ratio of the largest load to the smallest load of all points, for a model.
pub const LEAST_SPAN: f64 = 8.0;
/// Largest root mean square of a model's relative errors at which the model may be chosen.
pub const MOST_ERROR: f64 = 0.05;
/// Largest relative shift of the peak when one point is left out at which the peak is reported.
pub const MOST_SHIFT: f64 = 0.10;
/// Largest ratio of a peak's load to the largest tested load. A peak at a larger load is extrapolated.
pub const REACH: f64 = 2.0;
/// Number of resamples of windows for the interval of the peak.
const RESAMPLES: usize = 500;

/// A load that was run, with its throughput.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Mean number of requests in flight.
    pub load: f64,
    /// Requests per second.
    pub rate: f64,
    /// Load and rate of equal parts of the point's run, for intervals; empty if there are none.
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
    /// Returns the throughput at a load, requests per second.
    pub fn rate(&self, load: f64) -> f64 {
        match *self {
            Self::Linear { slope } => slope * load,
            Self::Plateau { slope, limit } => (slope * load).min(limit),
            Self::Usl { gamma, alpha, beta } => {
                gamma * load / (1.0 + alpha * (load - 1.0) + beta * load * (load - 1.0))
            }
        }
    }

    /// Returns the largest throughput; `None` if the model has none.
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

    /// Returns the load where the line meets the limit; more load brings no more throughput.
    pub fn knee(&self) -> Option<f64> {
        match *self {
            Self::Plateau { slope, limit } => Some(limit / slope),
            Self::Linear { .. } | Self::Usl { .. } => None,
        }
    }

    /// Returns the load with the largest throughput, beyond which throughput falls: √((1-α)/β).
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

/// A model with fitted parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fit {
    #[serde(flatten)]
    pub model: Model,
    /// Root mean square of the relative errors.
    pub error: f64,
    /// Akaike's criterion, corrected for few points. Smaller is better; a single value has no meaning by itself.
    pub aicc: f64,
}

/// A reason why there is no model, or no peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "refusal")]
pub enum Refusal {
    /// The number of usable points is too small.
    FewPoints { points: usize },
    /// The ratio of the largest load to the smallest load is too small.
    NarrowSpan { span: f64 },
    /// The error of the best model is too large.
    PoorFit { error: f64 },
    /// The peak moves by too large a share when one point is left out.
    UnsteadyPeak { shift: f64 },
    /// The interval of β contains 0: throughput did not fall within the tested loads.
    NoFall,
}

/// The model that describes the points, or the reasons why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Choice {
    pub chosen: Option<Fit>,
    /// Reasons against the chosen model, or against all models if none is chosen.
    pub refusals: Vec<Refusal>,
    /// All fitted models, the best first.
    pub fits: Vec<Fit>,
    /// Peak of the chosen model; its 95 % interval where windows allow one.
    pub peak: Option<Peak>,
}

/// The load with the largest throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Peak {
    pub load: f64,
    pub rate: f64,
    pub interval: Option<(f64, f64)>,
    /// True if the peak lies beyond [`REACH`] times the largest tested load: reports do not show it among their
    /// headline metrics.
    pub extrapolated: bool,
}

/// Chooses a model. The caller leaves out points with findings about the generator or with more than 1 % errors.
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

/// Returns the plateau of a few points if it is unambiguous: it fits well and best of all models, the rate grows below
/// the knee, and the points beyond the knee agree while their load nearly doubles.
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

/// Returns the reason to refuse the peak of a model.
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

/// Returns the 95 % interval of the USL's peak by resampling the windows of each point.
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

/// Returns the number of requests that a server processes at the same time: its largest throughput times the time of a
/// request that does not wait (Little's law). `alone_seconds`: the median at a load of at most 1, or at the lightest
/// load.
pub fn concurrency(limit: f64, alone_seconds: f64) -> f64 {
    limit * alone_seconds
}
