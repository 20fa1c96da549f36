//! Queueing laws that hold for every system in equilibrium, used to cross-check measurements.

/// Returns the mean number of requests in flight by Little's law, L = λ·W: throughput per second times mean service
/// time `mean_seconds`. Source: J. D. C. Little, "A Proof for the Queuing Formula: L = λW", Operations Research 9 (3),
/// 1961, pages 383-387.
pub fn concurrency(throughput_per_second: f64, mean_seconds: f64) -> f64 {
    throughput_per_second * mean_seconds
}

/// Returns the number of users that a closed workload needs for a throughput, by the interactive response time law N =
/// X·(R + Z). Source: Lazowska, Zahorjan, Graham, Sevcik, "Quantitative System Performance", 1984, chapter 3.
/// `think_seconds` is the mean pause between two requests of a user.
pub fn users(throughput_per_second: f64, mean_seconds: f64, think_seconds: f64) -> f64 {
    throughput_per_second * (mean_seconds + think_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_a_second_of_fifty_milliseconds_is_fifty_in_flight() {
        assert!((concurrency(1000.0, 0.05) - 50.0).abs() < 1e-9);
        assert!((users(1000.0, 0.05, 0.45) - 500.0).abs() < 1e-9);
    }
}
