//! Reports tests that cannot run on this machine, because a test that did not run has not passed.
//!
//! The variable `THRONG_SKIPPED` names a file. Each skipped test adds a line to it: the test binary, the name of
//! the test, and the reason. `.ci/run` prints these lines, and fails for tests that `.ci/may-skip` does not allow.

// Each test file uses only a part of this module.
#![allow(dead_code)]

use std::fs::OpenOptions;
use std::io::Write;

/// Reports that the test on this thread is skipped. The caller must then return.
pub(crate) fn skip(why: impl AsRef<str>) {
    let thread = std::thread::current();
    skip_part(thread.name().unwrap_or("?"), why);
}

/// Reports that the named part of a test is skipped.
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
