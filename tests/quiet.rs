//! Tests that need quiet processors, because the program under test measures times or rates.
//!
//! `quiet!(a, b);` makes a test of each named function, in a module `quiet`: `cargo test -- quiet::` runs only those, and
//! `.ci/run` runs them alone, after all other tests. They run one after the other. A failed one runs a second time, which
//! is printed, and noted in the file that `THRONG_TWICE` names.

// Each test file uses a part of this.
#![allow(dead_code, unused_macros, unused_imports)]

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::catch_unwind;
use std::sync::{Mutex, PoisonError};

/// One test at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Runs a test alone; once more if it fails.
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

/// Makes tests of functions; see the head of this file.
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
