//! The user's request: both command lines, and `throng.toml`.
//!
//! | module | holds |
//! |---|---|
//! | `flags` | Throng's own command line |
//! | `jmeter_line` | JMeter's command line |
//! | `request` | the requested run, from either command line |
//! | `asked` | the request that JMeter's command line makes |
//! | `project` | `throng.toml` beside a plan |
//! | `outputs` | the files that a command writes: none may overwrite an input |

pub(crate) mod asked;
pub(crate) mod flags;
pub(crate) mod jmeter_line;
pub(crate) mod outputs;
pub(crate) mod project;
pub(crate) mod request;
