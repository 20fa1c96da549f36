//! Answers: what can it take, what stopped it, is this run better than that one.
//!
//! Pure functions of records: no clock, no file, no terminal. An answer says what it rests on, and is silent where that
//! does not carry.

pub mod verdict;
