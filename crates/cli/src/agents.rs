//! Commands around a run on several machines.
//!
//! | module | holds |
//! |---|---|
//! | `agent` | `throng agent`: an agent that a run uses |
//! | `fleet_up` | `throng fleet up`: the NATS server at which agents wait |
//! | `resume` | `throng fleet resume`: taking over a run by another coordinator |
//! | `manifest` | `throng fleet manifest`: Kubernetes objects of waiting agents |

pub(crate) mod agent;
pub(crate) mod fleet_up;
pub(crate) mod manifest;
pub(crate) mod resume;
