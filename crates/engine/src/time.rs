//! Time of a core: its clock, which tests can step, and its timer wheel.

pub(crate) mod clock;
pub(crate) mod milestones;
pub(crate) mod steps;
pub(crate) mod timing;
pub(crate) mod wheel;
