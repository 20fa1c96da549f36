//! Systems under test: small servers with known behaviour, most of them HTTP.
//!
//! Examples, tests, benches and `throng target` all load-test the servers of this library, so that metrics in the
//! docs and in tests refer to the same servers. Most HTTP targets are a [`Service`](service::Service) on one
//! event-loop thread ([`reactor`]). The [`websocket`] targets have their own loop for very many connections.
//! Answers do not depend on the date, except for times in chat messages, so byte counts are the same in each run.
//!
//! ```
//! let running = targets::start(targets::Config::new("fixed").option("size", 20))?;
//! assert!(running.url().starts_with("http://127.0.0.1:"));
//! running.stop();
//! # Ok::<(), targets::Error>(())
//! ```

mod accept;
mod answer;
mod auth;
mod catalogue;
mod config;
mod connection;
mod delay;
mod dying;
mod error;
mod fitness;
mod fixed;
mod flaky;
mod front;
mod journal;
mod mgs;
mod mirror;
mod process;
mod query;
mod random;
mod reactor;
mod redis;
mod request;
mod running;
mod scratch;
mod service;
mod situation;
mod sse;
mod threaded;
mod tls;
mod websocket;

pub use catalogue::{OptionInfo, TargetInfo, names, start};
pub use config::{Config, TlsConfig};
pub use error::Error;
pub use journal::Recorded;
pub use mgs::gateway;
pub use running::Running;
