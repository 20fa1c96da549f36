//! State that changes while a plan runs: that of the run, which elements share, memory of its users, and the share of a run that is in this process.

mod memory;
mod run;
mod shard;
mod start;

pub use crate::element::csv_data_set::{DealtFile, Odd};
pub use memory::Memory;
pub use run::{RunState, dealt_files};
pub use shard::{Deal, Shard};
pub(crate) use start::START_VARIABLES;
