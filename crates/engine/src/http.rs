//! HTTP: a request on its way out, its response on its way in, and what lies between them and a sample.

mod answer;
pub(crate) mod assemble;
pub(crate) mod basic;
pub(crate) mod cache;
pub(crate) mod cookies;
pub(crate) mod credentials;
pub(crate) mod dns_cache;
pub(crate) mod exchange;
pub(crate) mod failure;
pub(crate) mod file;
pub(crate) mod fill;
pub(crate) mod names;
mod opening;
pub(crate) mod page;
pub(crate) mod redirect;
pub(crate) mod repeat;
pub(crate) mod requests;
pub(crate) mod side_cookies;
pub(crate) mod tunnel;
