//! Figures of a running test for other systems, while it runs: InfluxDB, Prometheus, OpenTelemetry.
//!
//! [`Exports`] follows the run: each second is copied and handed to one thread, which adds it up and encodes it for every
//! target. Targets that are pushed to have a thread and a bounded queue each. A target that is slow, down or says no costs the
//! run nothing: what does not fit its queue is dropped, counted, and told of.
//!
//! | module | holds |
//! |---|---|
//! | `target` | `--out KIND=ADDRESS`, and the secrets of a target |
//! | `sums` | the run so far, with a bounded number of labels |
//! | `metrics` | families of metrics, as all encoders take them |
//! | `exposition` | the text that Prometheus reads |
//! | `remote_write` | the message of Prometheus's remote write |
//! | `otlp` | OpenTelemetry's metrics as JSON |
//! | `lines` | InfluxDB's line protocol, as JMeter's listener writes it |
//! | `endpoint` | the server that Prometheus asks |
//! | `sender` | a queue and a thread that posts |
//! | `hub` | from seconds to all targets |

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
