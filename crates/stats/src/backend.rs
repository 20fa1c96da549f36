//! The metrics of Backend Listeners: the metrics of JMeter's SamplerMetric and UserMetric, and their text formats.
//!
//! Pure data: samples are added as [`Taken`]. At the end of an interval, lines for InfluxDB or metrics for Graphite are
//! returned. A sample costs one lookup of its label and four pushes into windows.

mod graphite;
mod influx;
mod metric;
mod pickle;
mod window;

pub use graphite::{Graphite, Metric};
pub use influx::{
    Fields, Influx, LineFormat, Target, UserFields, escape_field, escape_tag, raw_line,
};
pub use metric::{Metrics, Taken, Windows};
pub use pickle::pickle;
pub use window::Estimator;
