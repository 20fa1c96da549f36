//! Selects the next load to try between two bounds.
//!
//! From the overload probe alone, with users: beyond the knee, response times in a closed loop grow in proportion to
//! users. So the limit is expected at users divided by margin, but not before the knee, which is the throughput divided
//! by the throughput per user without waiting (both by Little's law). With a rate: just below the throughput under
//! overload. Later the guess comes from the margins measured on both sides of the limit, on a line in log-log space.
//! Without margins, and where lines have not helped, the search bisects in log space.

use super::{Probe, Purpose, Settings};

/// Distance of the first guesses from the expected limit, as a share of the configured width.
const ASIDE: f64 = 0.45;
/// Smallest ratio of two loads from which their margins differ by more than chance.
const APART: f64 = 1.1;

pub(super) fn load(settings: &Settings, probes: &[Probe], low: f64, high: f64) -> f64 {
    let narrowing: Vec<&Probe> =
        probes.iter().filter(|p| matches!(p.purpose, Purpose::Narrow | Purpose::Confirm)).collect();
    let Some(first) = narrowing.first() else {
        let expected = expected(settings, probes).unwrap_or_else(|| (low * high).sqrt());
        return aside(settings, expected, low, high);
    };
    let tried = narrowing.len();
    let is_steep = !settings.whole
        && probes
            .iter()
            .any(|p| p.load == high && p.purpose == Purpose::Overload && !p.is_doubtful());
    // The target cannot answer more than it answered under overload: a load just above that rate is an upper bound.
    if let Some(over) =
        probes.iter().find(|p| is_steep && p.load == high && !p.is_doubtful() && p.rate > low)
    {
        let above = over.rate * (1.0 + ASIDE * settings.width);
        if above < high && tried == 1 {
            return above;
        }
    }
    let crossing = crossing(settings, probes, low, high).filter(|_| !is_steep && tried <= 4);
    // Only the light probe held: each guess goes further below the expected limit.
    if let Some(crossing) =
        crossing.filter(|_| tried > 1 && narrowing.iter().all(|p| p.load >= high))
    {
        return (crossing.min(high) * (1.0 - settings.width * (1 << tried.min(5)) as f64 / 2.0))
            .max((low * high).sqrt());
    }
    if let Some(crossing) = crossing {
        return aside(settings, crossing, low, high);
    }
    let half = (low * high).sqrt();
    // There was no first guess, because the overload probe is doubtful.
    if expected(settings, probes).is_none() {
        return half;
    }
    // Steps that double lead away from the first guess until the limit lies between two of them.
    let step = (1.0 + settings.width).powi(1 << tried.min(6));
    if low == first.load || narrowing.iter().all(|p| p.load <= low) {
        (low * step).min(half.max(low))
    } else if high == first.load || narrowing.iter().all(|p| p.load >= high) {
        (high / step).max(half.min(high))
    } else {
        half
    }
}

/// Returns a load just below the expected limit, or just above it if the lower bound already lies there.
fn aside(settings: &Settings, expected: f64, low: f64, high: f64) -> f64 {
    let below = expected * (1.0 - ASIDE * settings.width);
    let above = expected * (1.0 + ASIDE * settings.width);
    let nearly = 1.0 + settings.width * 0.25;
    if below > low * nearly && below < high / nearly {
        below
    } else if above > low * nearly && above < high / nearly {
        above
    } else if below <= low * nearly {
        // The line points to the lower bound itself: a load one width above it decides.
        (low * (1.0 + settings.width)).min((low * high).sqrt())
    } else {
        (high * (1.0 - settings.width)).max((low * high).sqrt())
    }
}

/// Returns the limit expected from the light probe and the overload probe.
fn expected(settings: &Settings, probes: &[Probe]) -> Option<f64> {
    let light = probes.iter().find(|p| p.purpose == Purpose::Light)?;
    let over = probes.iter().find(|p| p.purpose == Purpose::Overload && !p.is_doubtful())?;
    if !settings.whole {
        return (over.rate > 0.0 && over.rate < over.load).then_some(over.rate * 0.99);
    }
    let knee = (light.rate > 0.0).then(|| over.rate / (light.rate / light.load));
    match (over.margin, knee) {
        (Some(margin), knee) if margin > 1.0 && margin.is_finite() => {
            Some((over.load / margin).max(knee.unwrap_or(0.0)))
        }
        (_, knee) => knee,
    }
}

/// Returns the load at which the margin is expected to be 1, on a line in log-log space. The line goes through both
/// bounds where both have margins, else through the two nearest probes above. The light probe is not used: the curve is
/// flat before it rises, so a line from there is misleading.
fn crossing(settings: &Settings, probes: &[Probe], low: f64, high: f64) -> Option<f64> {
    let margin = |load: f64| {
        let here = probes
            .iter()
            .filter(|p| p.load == load && !p.is_doubtful() && p.purpose != Purpose::Light);
        let here: Vec<f64> =
            here.filter_map(|p| p.margin).map(f64::ln).filter(|m| m.is_finite()).collect();
        (!here.is_empty()).then(|| here.iter().sum::<f64>() / here.len() as f64)
    };
    let above = margin(high).filter(|m| *m > 0.0)?;
    let crossing = |load: f64, margin: f64| {
        let slope = (margin - above) / (load.ln() - high.ln());
        (slope > 0.0).then(|| (high.ln() - above / slope).exp())
    };
    if let Some(below) = margin(low).filter(|m| *m < 0.0) {
        return crossing(low, below);
    }
    // With a rate, times explode beyond the limit: a line through these probes is misleading, too.
    if !settings.whole {
        return None;
    }
    let apart = |p: &&Probe| p.load > high * APART;
    let next = probes.iter().filter(apart).map(|p| p.load).min_by(f64::total_cmp)?;
    crossing(next, margin(next)?)
}
