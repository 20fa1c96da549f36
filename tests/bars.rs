//! Measured limits of a machine's resources: printed by tests, judged by `bench/bounds/run`.
//!
//! A test must not depend on how fast or how full the machine is. What a test measures in passing (memory of the process)
//! is printed here, and compared with its limit only if `THRONG_BARS` is set.

/// Prints a measured value, and fails above `at_most` if limits are judged. Both in `unit`.
pub(crate) fn bar(what: &str, value: u64, at_most: u64, unit: &str) {
    println!("bar: {what}: {value} {unit}, at most {at_most}");
    let judged = std::env::var_os("THRONG_BARS").is_some();
    assert!(!judged || value <= at_most, "{what}: {value} {unit}, at most {at_most}");
}
