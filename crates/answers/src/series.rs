//! Basic statistics of a series: mean, variance, median, quantiles, means of blocks.

/// Returns the mean; 0 for an empty series.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Returns the sample variance (divisor n - 1); 0 for fewer than two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Returns the median; 0 for an empty series.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Returns a quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996); 0 for an
/// empty series.
pub fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, p)
}

/// Returns a quantile like [`quantile`], of values that are already in ascending order.
pub fn quantile_of_sorted(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = p.clamp(0.0, 1.0) * last as f64;
    let (low, share) = (at.floor() as usize, at.fract());
    sorted[low] + share * (sorted[(low + 1).min(last)] - sorted[low])
}

/// Returns the means of blocks of `size` values each; an incomplete last block is dropped.
pub fn block_means(values: &[f64], size: usize) -> Vec<f64> {
    values.chunks_exact(size.max(1)).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_small_series() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!((mean(&values), median(&values), quantile(&values, 0.25)), (2.5, 2.5, 1.75));
        assert!((variance(&values) - 5.0 / 3.0).abs() < 1e-12);
        assert_eq!(block_means(&[1.0, 3.0, 5.0, 7.0, 9.0], 2), [2.0, 6.0]);
        assert_eq!((mean(&[]), variance(&[1.0]), median(&[])), (0.0, 0.0, 0.0));
    }
}
