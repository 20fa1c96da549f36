//! Faults around a run, with the real program: a full disk, an output that nobody takes, processes that are stopped or
//! killed, a terminal that goes, a clock that is set, servers that send what should steer a terminal or a file name.
//!
//! Each test says what must be in the run's folder and which exit code tells of it. What a machine does not permit is
//! skipped, and counted as such.

#[allow(dead_code)] // The tests that own it use the rest.
#[path = "../robust/http_plan.rs"]
mod http_plan;
#[allow(dead_code)] // The tests that own it use the rest.
#[path = "../robust/peer.rs"]
mod peer;
#[path = "../program/mod.rs"]
mod program;
#[allow(dead_code)] // The tests that own it use the rest.
#[path = "../robust/trial.rs"]
mod trial;

mod clock;
mod connect;
mod disk;
mod escape;
mod folder;
mod output;
mod process;
