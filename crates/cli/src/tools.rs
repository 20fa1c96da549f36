//! Commands beside running a test.
//!
//! | module | holds |
//! |---|---|
//! | `demo` | `throng demo`: an example against its bundled target |
//! | `curl` | `throng curl`: the request of a curl command |
//! | `importing` | `throng import`: a plan from curl commands or URLs |
//! | `target` | `throng target`: a bundled system under test |
//! | `explain` | `throng explain`: sections of the documentation |
//! | `manual` | shell completions and manual pages, generated from the flags |
//! | `jars` | `throng jvm`: the jars that scripts and plug-ins need |
//! | `vectors` | `throng mgs`: captured requests to a mobile gateway |
//! | `shim` | a program called jmeter, which falls back to the real JMeter |
//! | `launcher` | a program in place of java, for tools that start JMeter with java |
//! | `window` | the plug-in for JMeter's window |

pub(crate) mod curl;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod importing;
pub(crate) mod jars;
pub(crate) mod launcher;
pub(crate) mod manual;
pub(crate) mod shim;
pub(crate) mod target;
pub(crate) mod vectors;
pub(crate) mod window;
