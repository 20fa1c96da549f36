//! Functions in expressions.

/// What functions remember for one user.
#[derive(Debug, Default)]
pub struct Memory {}

/// What functions share between all users of the process.
#[derive(Debug, Default)]
pub struct Shared {}
