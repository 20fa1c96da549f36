//! Faults and the real program's reaction to them: servers, this machine, plans, and users who press Ctrl-C.
//!
//! Every test checks the same rules. Either the run ends in bounded time without a panic, each sample has one row with
//! JMeter's messages, and the exit code is right. Or the plan is refused before the first user starts. Tests that need
//! kernel namespaces are skipped where those are not permitted.

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
