//! Numbers and records of messages between the engine and Java: both modules are generated from
//! `crates/messages/messages.txt`.

mod numbers;
mod records;

pub use numbers::*;
pub use records::*;
