//! What breaks, and what the real program makes of it: servers, this machine, plans, and an impatient user.
//!
//! Every test holds the same contract: the run ends in bounded time without a panic, each sample leaves one row with
//! JMeter's wording, and the exit code is the right one; or the plan is refused before the first user.
//! What needs the kernel's namespaces says that it was skipped where they are not permitted.

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
mod server;
mod stall;
mod tls;
mod trial;
mod websocket;
