//! Ports for programs that are told theirs.
//!
//! A port that the kernel has just given away is not free for long: beside tests of load, one of thousands of connections has
//! taken it as its own end before a program that is told it has started. So ports lie where the kernel takes none for connections.

use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;

/// The first port that the kernel gives to connections, where it does not say.
const FIRST: u16 = 32_768;
/// Ports below are of well-known services.
const LOWEST: u16 = 10_240;

/// A port of 127.0.0.1 at which nothing listens, and that no connection is given.
pub(crate) fn free_port() -> u16 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let first = range.ok().and_then(|range| range.split_whitespace().next()?.parse().ok());
    let first = first.unwrap_or(FIRST);
    assert!(first > LOWEST + 1_000, "ports below {first} are too few for tests");
    let ports = u64::from(first - LOWEST);
    // By chance: each process of tests asks by itself.
    let tried = (0..1_000_u32).map(|attempt| {
        let offset = RandomState::new().hash_one(attempt) % ports;
        LOWEST + u16::try_from(offset).expect("less than a port")
    });
    let mut free = tried.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("one of a thousand ports is free")
}
