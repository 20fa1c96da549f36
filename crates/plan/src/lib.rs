//! The meaning of a plan: `jmx::Document` in, [`Plan`](plan::Plan) out.
//!
//! Data and functions: no sockets and no threads; the current time is an argument. A compiled plan is shared by all cores; what
//! changes during a run is passed in through [`env::Env`].
//!
//! | module | holds |
//! |---|---|
//! | `plan` | the compiled form: operations, controllers, samplers |
//! | `compile` | from the document to the plan: scopes, the tree of controllers, findings |
//! | `support` | what becomes of each class of JMeter's elements |
//! | `element` | one file per JMeter element: its properties, compiled form, `compile`, support level |
//! | `text`, `function` | expressions with `${…}` and the functions in them |
//! | `vars`, `env`, `random` | what expressions read and write |
//! | `state` | what changes while a plan runs: of the run, and of its users |
//! | `event` | the work of elements at the start of an iteration, and before a sampler |
//! | `http` | HTTP Request: its compiled form and how a request is rendered |
//! | `gateway` | RPC Gateway Security: what of it is settings |
//! | `websocket` | WebSocket samplers, frame filters, heartbeats, holds |
//! | `extract`, `assertion` | post-processors and assertions; their languages are in `lang` |
//! | `pattern` | regular expressions of a plan, fixed or made of expressions |
//! | `evaluation` | evaluations under a bound of work, and what the log says of those that gave up |
//! | `number` | texts read as numbers |
//! | `input` | files that a plan names, read within bounds |
//! | `load` | load that is given beside the plan, and rates of starts |
//! | `condition` | conditions of If controllers |
//! | `script` | elements with compiled Groovy or BeanShell (crate `script`), and a user as the world of a script |
//! | `result` | a finished sample as processors see it |

// Tests of units and of the crate have one world, which names the crate so.
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
