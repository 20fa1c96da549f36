//! Runs users on cores: the only hot crate.
//!
//! A run is started with [`start`]; it reports by events and is stopped through its handle. Inside, each core is one
//! thread that owns its users, connections, timers and recorder; cores share nothing that changes but a few counters.
//!
//! The hot path, in reading order: `core` (the loop) → `flow::search` (the next sampler) → `sample` (a sampler from
//! pre-processors to listeners) → `http::exchange` (a request goes out) → `http::receive` (its response comes in) →
//! `completions` (the completion that the loop takes).
//!
//! Rooms, each above those it may import:
//!
//! | room | holds |
//! |---|---|
//! | `run` | everything around cores: starting groups in order, what is evaluated before, shared counters, writers of rows and figures, properties |
//! | `core` | the loop of a core; a clock that tests step |
//! | `flow` | controllers: the search for the next sampler, kinds of controllers (`flow/kinds`), iterations, conditions, loop control; schedules, barriers, arrivals, parallel branches |
//! | `sample` | a sample: pre-processors, timers, recording, transactions, interruption, exceptions of functions |
//! | `http` | HTTP requests and responses, pages, redirects, cookies, caches, credentials; files by their URLs |
//! | `websocket` | WebSocket connections and their samplers |
//! | `tcp` | TCP, raw requests, UDP |
//! | `sse` | server-sent events |
//! | `process` | programs that a plan runs |
//! | `java`, `offload` | messages to Java and its answers, and the seam to whoever runs it |
//! | `net` | connections, sockets, addresses, local ports, TLS, the connect rate, the wording of failures |
//! | `completions` | what is done, for the loop to go on with |
//! | `settings` | properties that change how the engine works |
//! | `users`, `inbox` | users as data; messages of other threads to a core |
//! | `time`, `ids` | the clock, timers, the measurements of a sample; numbers of users, connections, routes |

mod completions;
mod core;
mod flow;
mod http;
mod ids;
mod inbox;
mod java;
mod net;
pub mod offload;
mod process;
mod redis;
mod run;
mod sample;
mod session;
mod settings;
mod sse;
mod tcp;
mod time;
mod users;
mod websocket;

pub use core::stepped::Steps;
pub use net::source::parse as source_addresses;
pub use run::backend::{Backends, Figures};
pub use run::batches::Batches;
pub use run::diary::LOG_SAMPLES;
pub use run::output::Made;
pub use run::prepare::{Evaluated, close_results, create_results, evaluate};
pub use run::rows::ResultFile;
pub use run::{Event, Handle, Options, Paced, Run, StartError, Users, start};
pub use settings::{PROPERTIES, complaint};
