//! Character references.
