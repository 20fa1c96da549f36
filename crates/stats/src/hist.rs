//! Histograms: where values go, and the stores for the counts.
//!
//! `layout` maps a value in µs to a bin with three significant digits, as an HDR histogram does.
//! `Paged` is a histogram whose memory grows with the bins touched, not with the range;
//! `Bins` is a sorted list of (bin, count): what a snapshot carries; `Adder` adds many of them up; `Exact` counts whole ms;
//! `Tray` is filled and emptied again and again.
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
