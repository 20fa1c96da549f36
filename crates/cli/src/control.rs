//! JMeter's control port: its `shutdown.sh`, `stoptest.sh` and their like send a word by UDP from this machine.
//!
//! `Shutdown` ends the run gracefully, `StopTestNow` at once, as the first and second Ctrl-C do. `HeapDump` and
//! `ThreadDump` ask for what only a Java machine has: they are answered with a line. The port is the first free one from
//! `jmeterengine.nongui.port` (4445) to `jmeterengine.nongui.maxport` (4455); up to 1000 means none. jp@gc's AutoStop ends a run in the same way: plans
//! that have it are told the port.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};

use plan::plan::Plan;

use crate::interrupt::Interrupt;
use crate::properties::Properties;

/// The port, listened to.
#[derive(Debug)]
pub(crate) struct Control {
    /// The line that JMeter prints about it.
    pub(crate) line: String,
    /// Its number, if there is one.
    pub(crate) port: Option<u16>,
    /// Lines about commands that came, for the user.
    said: Receiver<String>,
}

impl Control {
    /// Lines about commands that came since the last call.
    pub(crate) fn said(&self) -> impl Iterator<Item = String> + '_ {
        self.said.try_iter()
    }
}

/// The class of an element that sends such a word to its own run.
const AUTO_STOP: &str = "kg.apc.jmeter.reporters.AutoStop";

/// Whether something in the plan ends the run through the port.
pub(crate) fn is_used(plan: &Plan) -> bool {
    plan.java_backed.elements.iter().any(|element| element.class == AUTO_STOP)
}

/// Starts listening, unless the properties say not to.
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

/// Obeys one command after the other, until the run does not listen any more.
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
