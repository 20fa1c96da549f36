//! targets
