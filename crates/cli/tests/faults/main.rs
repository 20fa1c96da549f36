//! Faults around a run, tested with the real program: a full disk, an output that nobody reads, stopped or killed
//! processes, a terminal that closes, a clock that is set, and servers that send terminal sequences or file names.
//!
//! Each test checks the files in the run's folder and the exit code. A test that the machine does not permit is skipped
//! and counted as skipped.

#[allow(dead_code)] // The other tests use the rest.
#[path = "../robust/http_plan.rs"]
mod http_plan;
#[allow(dead_code)] // The other tests use the rest.
#[path = "../robust/peer.rs"]
mod peer;
#[path = "../program/mod.rs"]
mod program;
#[allow(dead_code)] // The other tests use the rest.
#[path = "../robust/trial.rs"]
mod trial;

mod clock;
mod connect;
mod disk;
mod escape;
mod folder;
mod output;
mod process;
