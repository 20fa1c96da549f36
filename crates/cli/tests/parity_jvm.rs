//! Compares Throng with JMeter 5.6.3 for plans that need Java: scripts, and elements that their Java class runs.
//!
//! The cases are like those of `parity.rs`, in folders whose names begin with `jvm_`. Throng uses the JMeter home in
//! `PARITY_JVM_HOME` (`tests/parity/get-jmeter` creates one), or else the jars that `throng jvm install` downloaded.
//! Without either, each case counts as skipped.

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

parity::jvm_cases!(check);
