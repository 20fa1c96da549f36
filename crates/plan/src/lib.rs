//! What a plan means: `jmx::Document` in, [`Plan`](plan::Plan) out.
//!
//! Data and pure functions only: no sockets, no threads, no clock. A compiled plan is shared by all cores; what
//! changes during a run is passed in through [`env::Env`].
//!
//! | module | holds |
//! |---|---|
//! | `plan` | the compiled form: operations, controllers, samplers |
//! | `compile` | from the document to the plan: scopes, controllers as jumps, what was found wrong |
//! | `support` | what becomes of each class of JMeter's elements |
//! | `element` | one file per JMeter element: its properties, compiled form, `compile`, support level |
//! | `text`, `function` | expressions with `${…}` and the functions in them |
//! | `vars`, `env`, `random` | what expressions read and write |
//! | `http` | HTTP Request: its compiled form and how a request is rendered |
//! | `links` | links of pages and style sheets to what is loaded with them |
//! | `websocket` | WebSocket samplers, frame filters, heartbeats, holds |
//! | `extract`, `regexp`, `jsonpath`, `jmespath`, `jsoup`, `jodd`, `xml`, `xpath` | post-processors and their languages |
//! | `assertion` | assertions |
//! | `number` | texts read as numbers |
//! | `input` | files that a plan names, read within bounds |
//! | `property_file` | Java's property files |
//! | `condition`, `jexl` | conditions of If controllers, and scripts in JEXL |
//! | `script` | scripts in Groovy and BeanShell that are simple enough to run natively |
//! | `result` | a finished sample as processors see it |

pub mod action;
pub mod assertion;
mod charset;
pub mod compile;
pub mod condition;
pub mod element;
pub mod env;
pub mod extract;
pub mod function;
pub mod hosted;
pub mod http;
pub mod input;
mod java;
mod jexl;
pub mod jmespath;
mod jodd;
pub mod jsonpath;
mod jsoup;
pub mod links;
pub mod number;
pub mod plan;
pub mod property_file;
pub mod random;
pub mod regexp;
pub mod result;
pub mod root;
pub mod script;
pub mod support;
pub mod text;
mod tidy;
pub mod vars;
pub mod websocket;
pub mod work;
mod xml;
pub mod xpath;
pub mod zone;
