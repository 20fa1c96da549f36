//! Percentiles by the estimators of Apache Commons Math 3.6.1, which JMeter's dashboard uses.

/// The estimation of a percentile between two ranks: `backend_metrics_percentile_estimator`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimator {
    /// Position p × (n + 1), interpolated between the neighbours.
    #[default]
    Legacy,
    /// The rank nearest to p × n, half to even.
    R3,
}

impl Estimator {
    /// The estimator of that name, as Commons Math's enumeration has it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "LEGACY" => Some(Self::Legacy),
            "R_3" => Some(Self::R3),
            _ => None,
        }
    }

    /// The percentile of values in ascending order; `p` in percent. NaN of no value.
    pub fn of(self, sorted: &[u32], p: f64) -> f64 {
        let n = sorted.len();
        let q = p / 100.0;
        match n {
            0 => return f64::NAN,
            1 => return f64::from(sorted[0]),
            _ => {}
        }
        let length = n as f64;
        let position = match self {
            Self::Legacy if q == 0.0 => 0.0,
            Self::Legacy if q == 1.0 => length,
            Self::Legacy => q * (length + 1.0),
            Self::R3 if q <= 0.5 / length => 0.0,
            Self::R3 => (length * q).round_ties_even(),
        };
        if position < 1.0 {
            return f64::from(sorted[0]);
        }
        if position >= length {
            return f64::from(sorted[n - 1]);
        }
        let below = position.floor();
        let at = below as usize;
        let (lower, upper) = (f64::from(sorted[at - 1]), f64::from(sorted[at]));
        lower + (position - below) * (upper - lower)
    }
}

#[cfg(test)]
mod tests {
    use super::Estimator;

    #[test]
    fn positions_are_those_of_commons_math() {
        let four = [10, 20, 30, 40];
        assert_eq!(Estimator::Legacy.of(&four, 50.0), 25.0);
        assert_eq!(Estimator::Legacy.of(&four, 90.0), 40.0);
        assert_eq!(Estimator::Legacy.of(&four, 10.0), 10.0);
        assert_eq!(Estimator::R3.of(&four, 50.0), 20.0);
        // 4 × 0.625 = 2.5 goes to the even rank.
        assert_eq!(Estimator::R3.of(&four, 62.5), 20.0);
        assert_eq!(Estimator::Legacy.of(&[7], 99.0), 7.0);
        assert!(Estimator::Legacy.of(&[], 99.0).is_nan());
    }
}
