//! State that changes while a plan runs: shared state of the run, memory of its users, and this process's share of
//! the run.

mod memory;
mod run;
mod shard;
mod start;

pub use crate::element::csv_data_set::{DealtFile, UnsplittableFile};
pub use memory::Memory;
pub use run::{RunState, dealt_files};
pub use shard::{Deal, Shard};
pub(crate) use start::START_VARIABLES;
