//! Checks before a run starts. A run makes them itself, and each is a command.
//!
//! | module | holds |
//! |---|---|
//! | `check` | `throng check`: what of a plan can run |
//! | `preflight` | `throng preflight`: the limits of a machine and of a chain of proxies |

pub(crate) mod check;
pub(crate) mod preflight;
