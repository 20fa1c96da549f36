//! Tests that need idle processors, because the program under test measures times or rates.
//!
//! `quiet!(a, b);` makes a test of each named function, in a module `quiet`. `cargo test -- quiet::` runs only
//! these tests, and `.ci/run` runs them after all other tests. They run one after the other. A failed test is run a
//! second time; its name is printed, and added to the file that `THRONG_TWICE` names.

// Each test file uses only a part of this module.
#![allow(dead_code, unused_macros, unused_imports)]

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::catch_unwind;
use std::sync::{Mutex, PoisonError};

/// Lock that lets one test run at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Runs a test while no other test of this module runs. Runs it once more if it fails.
pub(crate) fn alone(name: &str, test: fn()) {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if catch_unwind(test).is_ok() {
        return;
    }
    let line = format!("{}::{name}\n", env!("CARGO_CRATE_NAME"));
    print!("second attempt: {line}");
    if let Some(path) = std::env::var_os("THRONG_TWICE") {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    test();
}

/// Makes tests of the named functions; the comment at the top of this file describes them.
macro_rules! quiet {
    ($($name:ident),* $(,)?) => {
        mod quiet {
            $(#[test]
            fn $name() {
                crate::program::alone(stringify!($name), super::$name);
            })*
        }
    };
}
pub(crate) use quiet;
