//! Workers as threads of this process, for tests. They exchange the same messages through channels.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::bus::{Bus, Transport, WorkerEvent};
use crate::message::{FromWorker, ToWorker};

/// The bus to workers that are threads of this process.
#[derive(Debug)]
pub struct Threads {
    /// For each worker: the channel into which messages to it are put; `None` after the worker was killed.
    workers: Vec<Option<Sender<ToWorker>>>,
    heard: Receiver<(u32, WorkerEvent)>,
    transport: Transport,
}

impl Threads {
    /// Starts `count` threads. Each runs `work` with its number, the receiver of its messages, and a function that
    /// sends messages to the coordinator.
    pub fn start<F>(count: u32, work: F) -> Self
    where
        F: Fn(u32, Receiver<ToWorker>, &mut dyn FnMut(FromWorker)) + Clone + Send + 'static,
    {
        let (say, heard) = channel();
        let workers = (0..count).map(|number| {
            let (to, from) = channel();
            let (say, work) = (say.clone(), work.clone());
            std::thread::spawn(move || {
                work(number, from, &mut |message| {
                    let _ = say.send((number, WorkerEvent::Message(message)));
                });
                let _ = say.send((number, WorkerEvent::Ended("the thread ended".into())));
            });
            Some(to)
        });
        Self { workers: workers.collect(), heard, transport: Transport::Local }
    }

    /// Makes the threads simulate other machines: each report covers a whole worker, and workers confirm that they are
    /// reachable before each start.
    #[must_use]
    pub fn on_machines(self) -> Self {
        Self { transport: Transport::MACHINES, ..self }
    }
}

impl Bus for Threads {
    fn workers(&self) -> u32 {
        self.workers.len() as u32
    }

    fn transport(&self) -> Transport {
        self.transport
    }

    fn send(&mut self, worker: u32, message: &ToWorker) {
        // Messages are serialized, as between processes.
        let mut bytes = Vec::new();
        let mut incoming = crate::frame::Incoming::default();
        if crate::frame::push(&mut bytes, message).is_ok() {
            incoming.add(&bytes);
        }
        if let (Some(Some(to)), Ok(Some(message))) =
            (self.workers.get(worker as usize), incoming.next())
        {
            let _ = to.send(message);
        }
    }

    fn next(&mut self, patience: Duration) -> Option<(u32, WorkerEvent)> {
        self.heard.recv_timeout(patience).ok()
    }

    fn kill(&mut self, worker: u32) {
        if let Some(to) = self.workers.get_mut(worker as usize) {
            *to = None;
        }
    }
}
