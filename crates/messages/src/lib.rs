//! The messages between the engine and Java, described once in `messages.txt`.
//!
//! From the description come a Rust module of the engine, a Java class, and the tables of a page. They are in the repository, so that nothing is made during
//! a build; the test of this crate compares them and, with `UPDATE_MESSAGES=1`, writes them. No other crate depends on this one.
//!
//! | module | holds |
//! |---|---|
//! | `description` | the description as data, and what is wrong with a line of it |
//! | `rust`, `java`, `page` | what is made of it |

pub mod description;
pub mod java;
pub mod page;
pub mod rust;

/// The description of the messages.
pub const DESCRIPTION: &str = include_str!("../messages.txt");
