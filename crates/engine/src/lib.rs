//! Runs users on cores: the only hot crate.
//!
//! A run is started with [`start`]; it reports by events and is stopped through its handle. Inside, each core is one
//! thread that owns its users, connections, timers and recorder; cores share nothing that changes but a few counters.
//!
//! The hot path, in reading order: `core` (the loop) → `step` (which sampler is next) → `sample` (a sampler from
//! pre-processors to listeners) → `exchange` (an HTTP request goes out) → `receive` (its response comes in).
//!
//! | module | holds |
//! |---|---|
//! | `run`, `prepare`, `batches`, `group`, `schedule` | starting groups in order, what is evaluated before, when users start |
//! | `core`, `user`, `wheel`, `clock`, `stepped` | the loop of a core, its users, its timers; a clock that tests step |
//! | `step`, `choice`, `until`, `pass`, `place`, `leave` | which sampler is next |
//! | `sample`, `transaction`, `meet`, `lane`, `interrupt`, `thrown` | samples, transactions, users that wait for each other, Parallel Controllers, Sample Timeouts, exceptions of functions |
//! | `exchange`, `assemble`, `receive`, `failure`, `redirect`, `cookies`, `cached`, `credentials`, `basic`, `tunnel`, `fill`, `local` | HTTP, and files by their URLs |
//! | `connect`, `conn`, `routes`, `driver`, `resolve`, `names`, `nameserver`, `source`, `ports`, `pace` | connections, sockets, addresses, local ports, the connect rate |
//! | `stream`, `raw`, `datagram` | TCP, raw requests, UDP |
//! | `secure` | TLS: properties, sessions, client certificates |
//! | `socket` | WebSocket connections and their samplers |
//! | `record`, `rows`, `output` | result rows, the thread that writes them, its files |
//! | `save`, `diary` | responses as files of their own, users and samples in the run's log |
//! | `job`, `offload` | what only Java can do: messages, waits, and the seam to whoever runs it |
//! | `backend`, `client`, `sender` | figures for InfluxDB and Graphite, on threads of their own |
//! | `outcome`, `settings` | the wording of failures, properties |

mod arrive;
mod assemble;
mod backend;
mod basic;
mod batches;
mod cached;
mod choice;
mod client;
mod clock;
mod conn;
mod connect;
mod cookies;
mod core;
mod credentials;
mod datagram;
mod diary;
mod done;
mod driver;
mod ends;
mod exchange;
mod failure;
mod fill;
mod flow;
mod group;
mod inbox;
mod interrupt;
mod job;
mod lane;
mod leave;
mod lifecycle;
mod local;
mod look;
mod meet;
mod name;
mod names;
mod nameserver;
mod net;
pub mod offload;
mod outcome;
mod output;
mod pace;
mod page;
mod pass;
mod place;
mod ports;
mod prepare;
mod process;
mod raw;
mod receive;
mod record;
mod redirect;
mod requests;
mod resolve;
mod routes;
mod rows;
mod run;
mod sample;
mod samples;
mod save;
mod schedule;
mod secure;
mod sender;
mod settings;
mod side_cookies;
mod sinks;
mod socket;
mod source;
mod step;
mod stepped;
mod stream;
mod thrown;
mod transaction;
mod tunnel;
mod until;
mod user;
mod weighted;
mod wheel;

pub use backend::{Backends, Figures};
pub use batches::Batches;
pub use diary::LOG_SAMPLES;
pub use output::Made;
pub use prepare::{Evaluated, close_results, create_results, evaluate};
pub use rows::ResultFile;
pub use run::{Event, Handle, Options, Paced, Run, StartError, Users, start};
pub use settings::{PROPERTIES, complaint};
pub use source::parse as source_addresses;
pub use stepped::Steps;
