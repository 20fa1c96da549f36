//! Histograms: the mapping of values to bins, and stores for the counts.
//!
//! `layout` maps a value in µs to a bin with three significant digits, as an HDR histogram does. The memory of a `Hist`
//! grows with the bins used, not with the range. `Bins` is a sorted list of (bin, count), as snapshots contain it.
//! `Adder` sums many such lists. `Exact` counts whole ms. `Tray` is filled and drained repeatedly.
mod adder;
mod bins;
mod exact;
mod growing;
pub mod layout;
mod paged;
#[cfg(test)]
mod tests;
mod tray;

pub use adder::Adder;
pub use bins::Bins;
pub(crate) use bins::Read;
pub use exact::Exact;
pub use paged::Hist;
pub(crate) use tray::Tray;
