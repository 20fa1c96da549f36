//! A change of the load during a run.

use serde::{Deserialize, Serialize};

/// A change of the load during a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Live {
    /// Sets the number of users of a group, by its index in the plan, in the whole run.
    Users { group: u32, users: u32 },
    /// Sets the rate of a group's iterations per second in the whole run.
    Rate { group: u32, rate: f64 },
    /// Pauses or resumes the start of samples in the whole run.
    Pause(bool),
}
