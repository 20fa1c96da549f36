//! Compares Throng with JMeter 5.6.3, case by case: every request as the target received it, and every row of the
//! results.
//!
//! JMeter's results are recorded in `tests/parity/cases/*/golden`, so these tests need no Java. `tests/parity/record`
//! records them again. `tests/parity/README.md` describes the contents of a case and the masked values. Each folder in
//! `cases` is one test.

#[path = "../../../tests/skipped.rs"]
mod skipped;

use parity::Suite;
use std::sync::LazyLock;

fn check(name: &str) {
    static SUITE: LazyLock<Suite> =
        LazyLock::new(|| Suite::new(env!("CARGO_BIN_EXE_throng"), env!("CARGO_TARGET_TMPDIR")));
    if let Err(why) = SUITE.check(name) {
        skipped::skip_part(name, why);
    }
}

parity::native_cases!(check);
