//! The description of the messages between the engine and Java, in `messages.txt`, and the generators for both sides.
//!
//! The generators make a Rust module of the engine and two Java classes. The generated files are in the repository, so
//! that a build generates nothing. This crate's test compares them, and writes them with `UPDATE_MESSAGES=1`. No other
//! crate depends on this one.
//!
//! | module | holds |
//! |---|---|
//! | `description` | the description as data, and errors with their lines |
//! | `rust`, `java` | generators |

pub mod description;
pub mod java;
pub mod rust;

/// The text of `messages.txt`.
pub const DESCRIPTION: &str = include_str!("../messages.txt");
