//! Commands that show and change plans.
//!
//! | module | holds |
//! |---|---|
//! | `show` | `throng list` and `throng diff` |
//! | `change` | `throng set`, `throng replace` and `throng fmt` |
//! | `merge` | `throng merge` |
//! | `file` | reading a plan, and writing it without loss |

pub(crate) mod change;
mod file;
pub(crate) mod merge;
pub(crate) mod show;
