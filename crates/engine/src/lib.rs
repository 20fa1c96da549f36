//! Runs users on cores: the only hot crate.
//!
//! A run is started with [`start`]. It reports events and is stopped through its handle. Inside, each core is one
//! thread that owns its users, connections, timers and recorder. A few counters are the only state that cores share
//! and change.
//!
//! The hot path, in reading order: `core` (the loop) → `core::turns` → `flow::search` (the next sampler) → `sample` (a
//! sampler from pre-processors to listeners) → `http::exchange` (a request is sent) → `session` (connections) →
//! `http::answer` (the response and the result) → `completions` (the completion that the loop takes).
//!
//! Modules, each above the modules that it may import:
//!
//! | module | holds |
//! |---|---|
//! | `run` | everything around cores: starting groups in order, values that are evaluated before the start, threads, Backend Listeners' senders |
//! | `core` | the loop of a core, and the joints between modules; a clock that tests step |
//! | `flow` | controllers: the search for the next sampler, kinds of controllers (`flow/kinds`), iterations, conditions, loop control; schedules, barriers, arrivals, parallel branches |
//! | `sample` | a sample: pre-processors, timers, recording, transactions, interruption, exceptions of functions |
//! | `http` | HTTP requests and responses, pages, redirects, cookies, caches, credentials; files by their URLs |
//! | `websocket` | WebSocket connections and their samplers |
//! | `tcp` | TCP, raw requests, UDP |
//! | `redis`, `sse` | values of Redis Data Sets; server-sent events |
//! | `process` | programs that a plan runs |
//! | `java`, `offload` | messages to Java and its replies, and the interface to whatever runs it |
//! | `net` | connections, sockets, addresses, local ports, TLS, the connect rate, the wording of failures |
//! | `context` | the parts of a core that every module above uses |
//! | `session` | exchanges of protocols that are sessions |
//! | `completions` | finished work that the loop handles next |
//! | `shared` | the state of a run that all its cores see |
//! | `settings` | properties that change how the engine works |
//! | `files` | a thread that reads files |
//! | `results` | result files, and feeds to Backend Listeners |
//! | `users`, `inbox`, `reports` | users as data; messages of other threads to a core, and a core's to the coordinator |
//! | `time`, `ids` | the clock, timers, the measurements of a sample; numbers of users, connections, routes |

mod completions;
mod context;
mod core;
mod files;
mod flow;
mod http;
mod ids;
mod inbox;
mod java;
mod net;
pub mod offload;
mod process;
mod redis;
mod reports;
mod results;
mod run;
mod sample;
mod session;
mod settings;
mod shared;
mod sse;
mod tcp;
mod time;
mod users;
mod websocket;

pub use java::{message, read_reply};
pub use net::source::parse as source_addresses;
pub use reports::figures::Figures;
pub use reports::line::{Line, LogLevel};
pub use reports::live::Live;
pub use results::output::Made;
pub use results::rows::ResultFile;
pub use run::backend::Backends;
pub use run::batches::Batches;
pub use run::error::StartError;
pub use run::evaluated::Evaluated;
pub use run::load::{Changed, Level};
pub use run::monitors::Monitor;
pub use run::options::{Options, Paced};
pub use run::phases::{Phase, Phases};
pub use run::prepare::{close_results, create_results, evaluate, unlike_results};
pub use run::start::{set_up, start};
pub use run::total_load::TotalLoad;
pub use run::{Event, Handle, Run, Users};
pub use settings::series::{MOST_SERIES, check_series};
pub use settings::tags::{check_baggage, check_tag};
pub use settings::{PROPERTIES, THREAD_PREFIX, allowed_targets, complaint, permits};
pub use shared::diary::LOG_SAMPLES;
pub use time::steps::Steps;
