//! Systems under test: small servers with known behaviour, of HTTP nearly all.
//!
//! Examples, tests, benches and `throng target` all load-test the servers of this one library, so that a figure in the docs and a figure
//! in a test speak of the same thing. Every HTTP target is one [`Service`](service::Service) on one event-loop thread ([`reactor`]); the
//! [`websocket`] targets have a loop of their own, for very many connections. Nothing they answer depends on the clock of the day but the
//! time in a chat's messages, so byte counts repeat from run to run.
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
