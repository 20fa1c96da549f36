//! A change of the load of a run that goes on.

use serde::{Deserialize, Serialize};

/// A change of the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Live {
    /// A group, by its index in the plan, has so many users in all of the run.
    Users { group: u32, users: u32 },
    /// Iterations of a group start so often a second, in all of the run.
    Rate { group: u32, rate: f64 },
    /// No sample begins, or samples begin again.
    Pause(bool),
}
