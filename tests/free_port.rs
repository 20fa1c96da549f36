//! Free ports for servers whose port is set before they start.
//!
//! A port that the kernel has assigned and released does not stay free: load tests open thousands of connections,
//! and one of them may get it as its local port before the server has started. So the ports are below the range
//! from which the kernel takes local ports of connections.

use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;

/// The first port of the kernel's range for local ports of connections, if the range cannot be read.
const FIRST: u16 = 32_768;
/// Lowest port that is used. Lower ports belong to well-known services.
const LOWEST: u16 = 10_240;

/// Returns a port of 127.0.0.1 on which nothing listens and which the kernel gives to no connection.
pub(crate) fn free_port() -> u16 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let first = range.ok().and_then(|range| range.split_whitespace().next()?.parse().ok());
    let first = first.unwrap_or(FIRST);
    assert!(first > LOWEST + 1_000, "ports below {first} are too few for tests");
    let ports = u64::from(first - LOWEST);
    // Ports are tried in random order, because several test processes search at the same time.
    let tried = (0..1_000_u32).map(|attempt| {
        let offset = RandomState::new().hash_one(attempt) % ports;
        LOWEST + u16::try_from(offset).expect("less than a port")
    });
    let mut free = tried.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("one of a thousand ports is free")
}
