//! The metrics of Backend Listeners: the figures of JMeter's SamplerMetric and UserMetric, and the texts made of them.
//!
//! Pure data: samples go in as [`Taken`], lines for InfluxDB or metrics for Graphite come out when an interval is
//! over. A sample costs a look-up of its label and four pushes into windows.

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
