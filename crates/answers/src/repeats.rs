//! Repeated runs: each run is one unit of the statistics, and intervals come from the variation between runs.
//!
//! Difference by B. L. Welch (Biometrika 34, 1947), ratio by E. C. Fieller (1954), as T. Kalibera and R. Jones
//! recommend ("Rigorous Benchmarking in Reasonable Time", ISMM 2013): repeat at the level where the variance arises,
//! mostly the run.

use crate::distribution::{student_quantile, student_two_sided};
use crate::interval::CONFIDENCE;
use crate::series::{mean, variance};

/// The difference of two means, b minus a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Probability of a difference at least as large if the two means are equal.
    pub p: f64,
}

/// Compares two means by Welch's test; each side needs at least two values.
pub fn welch(a: &[f64], b: &[f64]) -> Difference {
    let value = mean(b) - mean(a);
    let (of_a, of_b) = (variance(a) / a.len() as f64, variance(b) / b.len() as f64);
    let error = (of_a + of_b).sqrt();
    // Equal values differ by rounding only.
    if error <= 1e-12 * (mean(a).abs() + mean(b).abs()) {
        let same = value.abs() <= 1e-9 * mean(a).abs().max(mean(b).abs());
        return Difference { value, low: value, high: value, p: if same { 1.0 } else { 0.0 } };
    }
    let df = (of_a + of_b).powi(2)
        / (of_a.powi(2) / (a.len() as f64 - 1.0) + of_b.powi(2) / (b.len() as f64 - 1.0));
    let wide = student_quantile(f64::midpoint(1.0, CONFIDENCE), df) * error;
    Difference {
        value,
        low: value - wide,
        high: value + wide,
        p: student_two_sided(value / error, df),
    }
}

/// Returns the 95 % interval of the ratio of two means, b to a, by Fieller; `None` if the mean of a may be 0.
/// (āb̄ ± √((āb̄)² - (ā²-h_a²)(b̄²-h_b²))) / (ā²-h_a²), h = t·√(S²/n).
pub fn ratio(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let (mean_a, mean_b) = (mean(a), mean(b));
    let t = student_quantile(f64::midpoint(1.0, CONFIDENCE), (a.len() + b.len() - 2) as f64);
    let square = |values: &[f64]| t * t * variance(values) / values.len() as f64;
    let (left, right) = (mean_a * mean_a - square(a), mean_b * mean_b - square(b));
    if left <= 0.0 {
        return None;
    }
    let product = mean_a * mean_b;
    let root = (product * product - left * right).max(0.0).sqrt();
    Some(((product - root) / left, (product + root) / left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_worked_example_of_welch() {
        let a = [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ];
        let b = [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5,
            22.6,
        ];
        let found = welch(&a, &b);
        // t = 2.72991 with 27.8933 degrees of freedom; p by numerical integration of the density.
        assert!((found.p - 0.010_848_988).abs() < 1e-8, "{found:?}");
        assert!(found.low > 0.0 && found.high < 5.0);
    }

    #[test]
    fn intervals_cover_the_truth() {
        let mut random = Random::new(5);
        let (mut difference, mut quotient) = (0, 0);
        for _ in 0..2000 {
            let mut draw =
                |mean: f64| -> Vec<f64> { (0..3).map(|_| mean + random.normal()).collect() };
            let (a, b) = (draw(50.0), draw(55.0));
            let found = welch(&a, &b);
            difference += u32::from(found.low <= 5.0 && 5.0 <= found.high);
            let (low, high) = ratio(&a, &b).unwrap();
            quotient += u32::from(low <= 1.1 && 1.1 <= high);
        }
        assert!((1880..=1990).contains(&difference), "{difference} of 2000");
        assert!((1860..=1940).contains(&quotient), "{quotient} of 2000");
        assert_eq!(ratio(&[0.0, 1.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn equal_values_differ_for_certain_or_not_at_all() {
        assert_eq!(welch(&[2.0, 2.0], &[2.0, 2.0]).p, 1.0);
        assert_eq!(welch(&[2.0, 2.0], &[3.0, 3.0]).p, 0.0);
    }
}
