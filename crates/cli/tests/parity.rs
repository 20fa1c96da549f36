//! Throng against JMeter 5.6.3, case by case: every request as the target saw it and every row of the results.
//!
//! JMeter's side is recorded in `tests/parity/cases/*/golden`, so nothing here needs Java; `tests/parity/record`
//! records it anew. `tests/parity/README.md` says what a case holds and what is masked. Each folder there is a test.

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
