//! Everything that the program prints or logs.
//!
//! | module | holds |
//! |---|---|
//! | `terminal` | standard output and standard error, with control characters escaped |
//! | `tty` | the abilities of the terminal behind them: colours, width |
//! | `render` | findings, errors and warnings as text |
//! | `log` | the run's log file, in JMeter's line format |

pub(crate) mod log;
pub(crate) mod render;
pub(crate) mod terminal;
pub(crate) mod tty;
