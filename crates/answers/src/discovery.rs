//! Many simultaneous tests: bounds the share of false alarms among the significant ones.
//!
//! Y. Benjamini and Y. Hochberg, "Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57,
//! 1995.

/// Returns for each p value the smallest rate of false discoveries at which its test is significant; 1 for a p that is
/// not a number.
pub fn adjusted(chances: &[f64]) -> Vec<f64> {
    let n = chances.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| chances[*b].total_cmp(&chances[*a]));
    let mut adjusted = vec![1.0; n];
    let mut least = 1.0f64;
    for (from_last, i) in order.into_iter().enumerate() {
        let rank = (n - from_last) as f64;
        if !chances[i].is_nan() {
            least = least.min(chances[i] * n as f64 / rank);
            adjusted[i] = least;
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worked_example_of_the_paper() {
        // Fifteen p values; at a rate of 0.05 the first four are significant.
        let chances = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let passing = adjusted(&chances).iter().filter(|q| **q <= 0.05).count();
        assert_eq!(passing, 4);
        assert!((adjusted(&chances)[0] - 0.0015).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn adjusting_never_helps_and_keeps_the_order(chances in prop::collection::vec(0.0f64..=1.0, 1..40)) {
            let adjusted = adjusted(&chances);
            for (i, p) in chances.iter().enumerate() {
                prop_assert!(adjusted[i] >= *p - 1e-12 && adjusted[i] <= 1.0);
                for (j, other) in chances.iter().enumerate() {
                    prop_assert!(p > other || adjusted[i] <= adjusted[j] + 1e-12);
                }
            }
        }
    }
}
