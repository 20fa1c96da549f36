//! jmx
