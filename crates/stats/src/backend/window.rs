//! A sliding window over the last values of a series, with the formulas of commons-math.

use std::collections::VecDeque;

/// A method to estimate a percentile from sorted values. Names and formulas are those of commons-math.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimator {
    #[default]
    Legacy,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
}

impl Estimator {
    /// Returns the estimator with that name, or `None`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "LEGACY" => Self::Legacy,
            "R_1" => Self::R1,
            "R_2" => Self::R2,
            "R_3" => Self::R3,
            "R_4" => Self::R4,
            "R_5" => Self::R5,
            "R_6" => Self::R6,
            "R_7" => Self::R7,
            "R_8" => Self::R8,
            "R_9" => Self::R9,
            _ => return None,
        })
    }

    /// Returns the position, counted from 1, of the quantile `p` among `n` sorted values.
    fn place(self, p: f64, n: f64) -> f64 {
        let between = |least: f64, most: f64, inside: f64| {
            if p < least {
                0.0
            } else if p >= most {
                n
            } else {
                inside
            }
        };
        match self {
            Self::Legacy => between(0.0, 1.0, p * (n + 1.0)),
            Self::R1 => n * p + 0.5,
            Self::R2 => between(0.0, 1.0, n * p + 0.5),
            Self::R3 => (n * p).round_ties_even(),
            Self::R4 => between(1.0 / n, 1.0, n * p),
            Self::R5 => between(0.5 / n, (n - 0.5) / n, n * p + 0.5),
            Self::R6 => between(1.0 / (n + 1.0), n / (n + 1.0), (n + 1.0) * p),
            Self::R7 => between(0.0, 1.0, 1.0 + (n - 1.0) * p),
            Self::R8 => {
                let third = 1.0 / 3.0;
                let all = n + third;
                between(2.0 * third / all, (n - third) / all, all * p + third)
            }
            Self::R9 => {
                let all = n + 0.25;
                between(0.625 / all, (n - 0.375) / all, all * p + 0.375)
            }
        }
    }

    /// Returns the percentile of values in ascending order; NaN without values.
    pub fn percentile(self, sorted: &[f64], percent: f64) -> f64 {
        match sorted {
            [] => f64::NAN,
            [one] => *one,
            _ => self.estimate(sorted, percent),
        }
    }

    fn estimate(self, sorted: &[f64], percent: f64) -> f64 {
        let at = |place: f64| {
            let below = place.floor();
            let first = below as usize;
            if place < 1.0 {
                sorted[0]
            } else if place >= sorted.len() as f64 {
                sorted[sorted.len() - 1]
            } else {
                let (lower, upper) = (sorted[first - 1], sorted[first]);
                lower + (place - below) * (upper - lower)
            }
        };
        let place = self.place(percent / 100.0, sorted.len() as f64);
        match self {
            Self::R1 => at((place - 0.5).ceil()),
            Self::R2 => f64::midpoint(at((place - 0.5).ceil()), at((place + 0.5).floor())),
            _ => at(place),
        }
    }
}

/// The last values of a series.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    values: VecDeque<f64>,
    size: usize,
}

impl Window {
    pub(super) fn new(size: usize) -> Self {
        Self { values: VecDeque::new(), size: size.max(1) }
    }

    pub(super) fn push(&mut self, value: f64) {
        if self.values.len() >= self.size {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    /// Returns the minimum; NaN without values.
    pub(super) fn min(&self) -> f64 {
        self.values.iter().copied().fold(f64::NAN, f64::min)
    }

    pub(super) fn max(&self) -> f64 {
        self.values.iter().copied().fold(f64::NAN, f64::max)
    }

    /// Returns the mean; NaN without values. As in commons-math, a second pass adds the mean difference of the values
    /// from the first mean, which corrects rounding errors.
    pub(super) fn mean(&self) -> f64 {
        let n = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        mean + self.values.iter().map(|value| value - mean).sum::<f64>() / n
    }

    /// Returns the value below which `percent` of the values lie; NaN without values.
    pub(super) fn percentile(&self, percent: f64, estimator: Estimator) -> f64 {
        let mut sorted: Vec<f64> = self.values.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        estimator.percentile(&sorted, percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_forgets_what_is_old() {
        let mut window = Window::new(3);
        assert!(window.min().is_nan() && window.mean().is_nan());
        for value in [9.0, 1.0, 2.0, 6.0] {
            window.push(value);
        }
        assert_eq!((window.min(), window.max(), window.mean()), (1.0, 6.0, 3.0));
    }

    /// The expected percentiles are those of commons-math 3.6.1's class `Percentile` for the values 1, 2, 4, 8, 16 and
    /// 32.
    #[test]
    fn percentiles_are_those_of_commons_math() {
        let mut window = Window::new(10);
        for value in [32.0, 1.0, 8.0, 2.0, 4.0, 16.0] {
            window.push(value);
        }
        for (name, half, ninety) in [
            ("LEGACY", 6.0, 32.0),
            ("R_1", 4.0, 32.0),
            ("R_2", 6.0, 32.0),
            ("R_3", 4.0, 16.0),
            ("R_4", 4.0, 22.4),
            ("R_5", 6.0, 30.4),
            ("R_6", 6.0, 32.0),
            ("R_7", 6.0, 24.0),
            ("R_8", 6.0, 32.0),
            ("R_9", 6.0, 32.0),
        ] {
            let estimator = Estimator::named(name).unwrap();
            let got = [50.0, 90.0].map(|p| (window.percentile(p, estimator) * 1e6).round() / 1e6);
            assert_eq!(got, [half, ninety], "{name}");
        }
        assert_eq!(Estimator::named("R_10"), None);
    }
}
