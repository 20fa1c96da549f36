//! JMeter's control port: its `shutdown.sh` and `stoptest.sh` send a word by UDP from this machine.
//!
//! `Shutdown` ends the run gracefully, `StopTestNow` at once, as the first and second Ctrl-C do. The port is the
//! first free one from `jmeterengine.nongui.port` (4445) to `jmeterengine.nongui.maxport` (4455); up to 1000 means none.

use std::net::{Ipv4Addr, UdpSocket};

use crate::interrupt::Interrupt;
use crate::properties::Properties;

/// Starts listening. Returns the line that JMeter prints about it.
pub(crate) fn listen(properties: &Properties, interrupt: &Interrupt) -> Option<String> {
    let first = properties.int("jmeterengine.nongui.port", 4445);
    let last = properties.int("jmeterengine.nongui.maxport", 4455);
    if first <= 1000 {
        return None;
    }
    let mut ports = (first..=last).filter_map(|port| u16::try_from(port).ok());
    let Some(socket) = ports.find_map(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok())
    else {
        return Some("Failed to create UDP port".to_string());
    };
    let port = socket.local_addr().ok()?.port();
    let interrupt = interrupt.clone();
    let waiter = std::thread::Builder::new().name("control".into());
    waiter.spawn(move || wait(&socket, &interrupt)).ok()?;
    Some(format!(
        "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {port}"
    ))
}

fn wait(socket: &UdpSocket, interrupt: &Interrupt) {
    let mut buffer = [0; 80];
    while let Ok((length, _)) = socket.recv_from(&mut buffer) {
        match &buffer[..length] {
            b"Shutdown" => interrupt.ask(1),
            b"StopTestNow" => interrupt.ask(2),
            _ => 0,
        };
    }
}
