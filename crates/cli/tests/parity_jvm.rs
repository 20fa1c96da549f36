//! Throng against JMeter 5.6.3 where a plan needs Java: scripts, and elements run by their own classes.
//!
//! The cases are like those of `parity.rs`, in folders whose names begin with `jvm_`. Throng runs them with the JMeter home that
//! `PARITY_JVM_HOME` names (`tests/parity/get-jmeter` makes one), or else with the set that `throng jvm install` has made; without
//! either they are left out, each saying so.

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
