//! Time as a core has it: one clock, which tests step by hand, and timers in a wheel.

pub(crate) mod clock;
pub(crate) mod milestones;
pub(crate) mod steps;
pub(crate) mod timing;
pub(crate) mod wheel;
