//! The figures of JMeter's HTML dashboard, equal to those of JMeter 5.6.3 on the same result file.
//!
//! They are not the best figures that the rows give: percentiles are of the last 20 000 rows of a label. They are here
//! for those who compare with what JMeter said.

mod percentile;

pub use percentile::Estimator;
