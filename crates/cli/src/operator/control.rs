//! JMeter's control port: `shutdown.sh`, `stoptest.sh` and similar scripts send a command by UDP from this machine.
//!
//! `Shutdown` ends the run gracefully, and `StopTestNow` ends it immediately, like the first and the second Ctrl-C.
//! `HeapDump` and `ThreadDump` apply only to a JVM; they are answered with a message. The port is the first free
//! one from `jmeterengine.nongui.port` (4445) to `jmeterengine.nongui.maxport` (4455). A value of at most 1000
//! disables it. The AutoStop listener of jp@gc ends a run through this port, so plans with that listener receive
//! the port's number.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};

use plan::plan::Plan;

use crate::inputs::properties::Properties;
use crate::operator::interrupt::Interrupt;

/// JMeter's control port while a run listens on it.
#[derive(Debug)]
pub(crate) struct Control {
    /// The line about the port that JMeter prints.
    pub(crate) line: String,
    /// Port number, if a port is open.
    pub(crate) port: Option<u16>,
    /// Messages for the user about received commands.
    said: Receiver<String>,
}

impl Control {
    /// Returns the messages about commands that were received since the last call.
    pub(crate) fn said(&self) -> impl Iterator<Item = String> + '_ {
        self.said.try_iter()
    }
}

/// Class of an element that sends a stop command to its own run.
const AUTO_STOP: &str = "kg.apc.jmeter.reporters.AutoStop";

/// True if an element of the plan ends the run through the control port.
pub(crate) fn is_used(plan: &Plan) -> bool {
    plan.java_backed.elements.iter().any(|element| element.class == AUTO_STOP)
}

/// Opens the control port, unless the properties disable it.
pub(crate) fn listen(properties: &Properties, interrupt: &Interrupt) -> Option<Control> {
    let first = properties.int("jmeterengine.nongui.port", 4445);
    let last = properties.int("jmeterengine.nongui.maxport", 4455);
    if first <= 1000 {
        return None;
    }
    let (say, said) = channel();
    let mut ports = (first..=last).filter_map(|port| u16::try_from(port).ok());
    let Some(socket) = ports.find_map(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok())
    else {
        return Some(Control { line: "Failed to create UDP port".to_string(), port: None, said });
    };
    let port = socket.local_addr().ok()?.port();
    let interrupt = interrupt.clone();
    let waiter = std::thread::Builder::new().name("control".into());
    waiter.spawn(move || wait(&socket, &interrupt, &say)).ok()?;
    let line = format!(
        "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {port}"
    );
    Some(Control { line, port: Some(port), said })
}

/// Receives commands and carries them out one after the other, until the run stops listening.
fn wait(socket: &UdpSocket, interrupt: &Interrupt, say: &Sender<String>) {
    let mut buffer = [0; 80];
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let command = String::from_utf8_lossy(&buffer[..length]).into_owned();
        let mut lines = vec![format!("Command: {command} received from /{}", from.ip())];
        match &*command {
            "Shutdown" => {
                interrupt.ask(1);
            }
            "StopTestNow" => {
                interrupt.ask(2);
            }
            "HeapDump" | "ThreadDump" => {
                lines.push(format!("{command}: no Java machine runs, so there is nothing to dump"));
            }
            _ => lines.push(format!("Command: {command} not recognised ")),
        }
        if lines.into_iter().any(|line| say.send(line).is_err()) {
            return;
        }
    }
}
