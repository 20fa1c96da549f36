//! Tests that a machine does not permit: said, named and counted, since a test that did not run has not passed.
//!
//! The caller of all tests names a file in `THRONG_SKIPPED`; each test that is skipped adds a line there: where it is, its
//! name, and why. `.ci/run` prints them and fails for those that `.ci/may-skip` does not allow.

// Each test file uses a part of this.
#![allow(dead_code)]

use std::fs::OpenOptions;
use std::io::Write;

/// Notes that the test on this thread is skipped. The caller returns.
pub(crate) fn skip(why: impl AsRef<str>) {
    let thread = std::thread::current();
    skip_part(thread.name().unwrap_or("?"), why);
}

/// Notes that a part of a test is skipped, by its name.
pub(crate) fn skip_part(name: &str, why: impl AsRef<str>) {
    let why = why.as_ref().replace('\n', " ");
    let line = format!("{}::{name}: {why}\n", env!("CARGO_CRATE_NAME"));
    print!("skipped: {line}");
    if let Some(path) = std::env::var_os("THRONG_SKIPPED") {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
