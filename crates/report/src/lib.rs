//! Reports of runs. Pure: from a record or rows of a result file to figures and pages; writes no file.
//!
//! | module | holds |
//! |---|---|
//! | `jmeter` | the figures of JMeter's HTML dashboard, digit for digit |
pub mod jmeter;
