//! What messages between the engine and Java are made of: both modules are made from `crates/messages/messages.txt`.

mod numbers;
mod records;

pub use numbers::*;
pub use records::*;
