//! HTTP: a request on its way out, its response on its way in, and what lies between them and a sample.
//!
//! An answer may make another request; a request knows of no answer. No file imports one that needs it, be it by others.
//!
//! | module | holds |
//! |---|---|
//! | `requests` | the room's state in two parts, and what the loop calls |
//! | `answer` | what becomes of an answer's line, cookies and redirects, and of the sample |
//! | `redirect`, `resources` | requests that an answer makes: where it leads to, what is embedded in it |
//! | `repeat` | exchanges that fail: sent once more, or concluded |
//! | `tunnel`, `credentials` | what proxies and servers ask for first |
//! | `exchange` | requests on their way out |
//! | `fixed` | requests that never change |
//! | `gateway` | requests that are signed and encrypted |
//! | `cache`, `cookies`, `side_cookies`, `dns_cache` | what users keep |
//! | `opening`, `proxy` | lines of requests, and the way to their servers |
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
