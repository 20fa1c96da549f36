//! Console output of a running test, and the ways in which a user ends or changes the test.
//!
//! | module | holds |
//! |---|---|
//! | `console` | console output of a run in progress |
//! | `view` | the view of a running test on a terminal |
//! | `interrupt` | Ctrl-C, SIGTERM and SIGHUP |
//! | `control` | JMeter's control port |
//! | `ctl` | `throng ctl`, through a socket in the folder of the run |

pub(crate) mod console;
pub(crate) mod control;
pub(crate) mod ctl;
pub(crate) mod interrupt;
pub(crate) mod view;
