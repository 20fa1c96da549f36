//! One sample, in JMeter's order: pre-processors, timers, sampler, post-processors, assertions, listeners, then the
//! action that its outcome requests. Hot.
//!
//! Each phase is a method of [`samples::Samples`] or a function. It gets the parts of a core that it needs, and
//! returns the next [`step::Step`]. If the next step belongs to another module (a protocol, a barrier, the tree of
//! controllers, a user's end), the core executes it.
//!
//! | module | holds |
//! |---|---|
//! | `step` | the next step of a sample |
//! | `prepare` | pre-processors |
//! | `delay` | timers |
//! | `begin` | the sampler's name, expressions and time limit, before it begins |
//! | `instant` | samplers that compute their result within a turn, or sleep |
//! | `action` | Flow Control Actions |
//! | `close`, `finish` | a sample's end: processors and assertions; recording and listeners |
//! | `outcome` | actions of a user that follow from the outcome of its sample |
//! | `exceptions` | samples that are lost because a function has thrown |
//! | `interrupt` | Sample Timeouts |
//! | `names` | names that are expressions |
//! | `record`, `save`, `reporting` | rows of result files, files of responses, and the order in which listeners get a result |
//! | `branches`, `transaction` | samples that are part of another sample |
//! | `samples` | state of a core's samples |

pub(crate) mod action;
pub(crate) mod begin;
pub(crate) mod branches;
pub(crate) mod close;
pub(crate) mod delay;
pub(crate) mod exceptions;
mod finish;
pub(crate) mod instant;
pub(crate) mod interrupt;
pub(crate) mod names;
pub(crate) mod outcome;
pub(crate) mod prepare;
pub(crate) mod record;
pub(crate) mod reporting;
pub(crate) mod samples;
pub(crate) mod save;
pub(crate) mod step;
pub(crate) mod transaction;
