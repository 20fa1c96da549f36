//! Byte streams and datagrams: TCP Samplers, raw requests, UDP.

pub(crate) mod datagram;
pub(crate) mod raw;
pub(crate) mod stream;
