//! Measured values with limits, such as the memory of a process. Tests print them; `bench/bounds/run` compares them
//! with the limits.
//!
//! The result of a test must not depend on the speed or the load of the machine. So tests only print the values,
//! and compare them with the limits only if `THRONG_BARS` is set.

/// Prints a measured value. If `THRONG_BARS` is set, fails for a value above `at_most`. Both numbers are in `unit`.
pub(crate) fn bar(what: &str, value: u64, at_most: u64, unit: &str) {
    println!("bar: {what}: {value} {unit}, at most {at_most}");
    let judged = std::env::var_os("THRONG_BARS").is_some();
    assert!(!judged || value <= at_most, "{what}: {value} {unit}, at most {at_most}");
}
