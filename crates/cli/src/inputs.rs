//! Everything that a command reads before it knows its request: the plan, its properties, its need of Java.
//!
//! | module | holds |
//! |---|---|
//! | `load` | reading and compiling a plan file |
//! | `imported` | plans made from curl commands and URLs |
//! | `properties` | JMeter's properties, in JMeter's layers |
//! | `asked_load` | descriptions of a load that replaces the plan's load |
//! | `java` | the JVM that a plan needs |
//! | `setenv` | variables that JMeter's `bin/setenv.sh` sets |
//! | `plugins` | advice about plug-ins whose classes are missing |
//! | `perfmon` | agents of the plan's PerfMon collectors, as hosts to watch |
//! | `files` | reading untrusted files: no link is followed |
//! | `suggest` | suggestions for misspelled options, commands and names |
//! | `size` | sizes in bytes, as users write them |

pub(crate) mod asked_load;
pub(crate) mod files;
pub(crate) mod imported;
pub(crate) mod java;
pub(crate) mod load;
pub(crate) mod perfmon;
pub(crate) mod plugins;
pub(crate) mod properties;
pub(crate) mod setenv;
pub(crate) mod size;
pub(crate) mod suggest;
