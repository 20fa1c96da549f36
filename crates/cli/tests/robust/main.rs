//! Faults, and the real program's reaction to them: servers, this machine, plans, and an impatient user.
//!
//! Every test holds the same contract: the run ends in bounded time without a panic, each sample leaves one row with
//! JMeter's wording, and the exit code is the right one; or the plan is refused before the first user.
//! Tests that need the kernel's namespaces are skipped where those are not permitted.

#[path = "../../../../tests/bars.rs"]
mod bars;
#[path = "../program/mod.rs"]
mod program;

mod asked_to_end;
mod at_once;
mod element;
mod frozen;
mod heavy;
mod http_plan;
mod large;
mod machine;
mod page;
mod peer;
mod plans;
mod process;
mod proxy;
mod series;
mod server;
mod sse;
mod stall;
mod tags;
mod tls;
mod trial;
mod websocket;
