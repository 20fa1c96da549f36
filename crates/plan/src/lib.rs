//! The meaning of a plan: converts a `jmx::Document` to a [`Plan`](plan::Plan).
//!
//! This crate has data and functions only: no sockets and no threads. The current time is an argument. All cores
//! share one compiled plan; state that changes during a run is passed in through [`env::Env`].
//!
//! | module | holds |
//! |---|---|
//! | `plan` | the compiled form: operations, controllers, samplers |
//! | `compile` | from the document to the plan: scopes, the tree of controllers, findings |
//! | `support` | support level of each JMeter element class |
//! | `element` | one file per JMeter element: its properties, compiled form, `compile`, support level |
//! | `template`, `function` | expressions with `${…}` and the functions in them |
//! | `vars`, `env`, `random` | variables, properties and random numbers that expressions read and write |
//! | `state` | state that changes while a plan runs: shared by the run, or private to a user |
//! | `event` | the work of elements at the start of an iteration, and before a sampler |
//! | `http` | HTTP Request: its compiled form and how a request is rendered |
//! | `gateway` | RPC Gateway Security: settings that sign and encrypt requests for a mobile gateway |
//! | `websocket` | WebSocket samplers, frame filters, heartbeats, holds |
//! | `extract`, `assertion` | post-processors and assertions; their languages are in `lang` |
//! | `pattern` | regular expressions of a plan, constant or built from expressions at run time |
//! | `evaluation` | bounded evaluation of expressions, and the log message when one exceeds its bound |
//! | `number` | parsing of numbers |
//! | `input` | files that a plan names, read up to a size limit |
//! | `load` | load that the command line sets instead of the plan, and rates of starts |
//! | `condition` | conditions of If controllers |
//! | `script` | elements with compiled Groovy or BeanShell (crate `script`), and the user as scripts see it |
//! | `result` | a finished sample as processors see it |

// Makes this crate available as `subject`, the name that the shared test module `tests/world` uses in unit tests
// and in integration tests.
#[cfg(test)]
extern crate self as subject;

pub mod action;
pub mod assertion;
pub mod compile;
pub mod condition;
pub mod element;
pub mod env;
mod evaluation;
pub mod event;
pub mod extract;
pub mod function;
pub mod gateway;
pub mod http;
pub mod input;
pub mod java_backed;
pub mod load;
pub mod number;
mod pattern;
pub mod plan;
pub mod random;
pub mod result;
pub mod root;
pub mod script;
pub mod state;
pub mod support;
pub mod template;
pub mod vars;
pub mod websocket;
#[cfg(test)]
#[path = "../tests/world/mod.rs"]
mod world;
