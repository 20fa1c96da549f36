//! HTTP: sending requests, receiving responses, and building samples from them.
//!
//! A response may cause another request, but the request code does not use the response code. The imports between
//! these files have no cycle.
//!
//! | module | holds |
//! |---|---|
//! | `requests` | the state of a core, in two parts: for sending and for responses; functions that the loop calls |
//! | `answer` | the handling of a response: its connection, cookies, redirects and sample |
//! | `redirect`, `resources` | requests that a response causes: redirects and embedded resources |
//! | `repeat` | failed exchanges: sent once more, or completed as failed |
//! | `tunnel`, `credentials` | tunnels through proxies; authentication with proxies and servers |
//! | `exchange` | sending requests |
//! | `fixed` | requests that never change |
//! | `gateway` | requests that are signed and encrypted |
//! | `cache`, `cookies`, `side_cookies`, `dns_cache` | caches and cookies of users |
//! | `opening`, `proxy` | opening connections, directly or through a proxy |
//! | `page`, `chain` | pages and redirects in flight |
//! | `failure`, `file`, `fill` | results |
//! | `assemble`, `basic`, `entries`, `lines`, `names` | parts of requests and heads |

mod answer;
pub(crate) mod assemble;
pub(crate) mod basic;
pub(crate) mod cache;
mod chain;
pub(crate) mod cookies;
pub(crate) mod credentials;
pub(crate) mod dns_cache;
mod entries;
pub(crate) mod exchange;
pub(crate) mod failure;
pub(crate) mod file;
pub(crate) mod fill;
mod fixed;
pub(crate) mod gateway;
mod lines;
pub(crate) mod names;
mod opening;
pub(crate) mod page;
mod proxy;
pub(crate) mod redirect;
pub(crate) mod repeat;
pub(crate) mod requests;
mod resources;
pub(crate) mod side_cookies;
pub(crate) mod tunnel;
