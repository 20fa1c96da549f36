//! Sends the metrics of a running test to other systems: InfluxDB, Prometheus, OpenTelemetry.
//!
//! [`Exports`] follows the run. Each second is copied to one thread, which sums and encodes the metrics for all
//! targets. Each target to which messages are pushed has its own thread and a bounded queue. A target that is slow,
//! is down or rejects messages does not delay the run: messages that exceed the queue are dropped, counted and
//! reported.
//!
//! | module | holds |
//! |---|---|
//! | `target` | `--out KIND=ADDRESS`, and the credentials of a target |
//! | `sums` | totals of the run so far, with a bounded number of labels |
//! | `metrics` | families of metrics, the input of all encoders but InfluxDB's |
//! | `exposition` | the text that Prometheus scrapes |
//! | `remote_write` | the message of Prometheus's remote write |
//! | `otlp` | OpenTelemetry's metrics as JSON |
//! | `lines` | InfluxDB's line protocol, as JMeter's InfluxDB listener writes it |
//! | `endpoint` | the HTTP server that Prometheus scrapes |
//! | `sender` | a queue and a thread that posts its messages |
//! | `hub` | passes the seconds of a run to all targets |

mod endpoint;
pub mod exposition;
mod hub;
pub mod lines;
pub mod metrics;
pub mod otlp;
pub mod remote_write;
mod sender;
pub mod sums;
pub mod target;

pub use hub::{Exports, Facts};
pub use target::{Kind, Target};
