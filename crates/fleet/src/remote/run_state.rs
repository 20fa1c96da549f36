//! The state of a run on an agent for a takeover, updated by all orders and messages that pass through.

use super::relay::Out;
use super::wire::{RunState, Start};
use crate::message::{FromWorker, ToWorker, opening};

impl RunState {
    /// Records an order of the coordinator.
    pub(crate) fn record_order(&mut self, order: &ToWorker) {
        match order {
            ToWorker::Start { groups, at, properties } => {
                self.starts += 1;
                self.owes = true;
                // The coordinator already has these properties; the order contains their newest values.
                self.properties.clear();
                let (groups, at, properties) = (groups.clone(), *at, properties.clone());
                self.start = Some(Start { groups, at, properties });
            }
            ToWorker::Change(changes) => {
                let opens = opening(changes);
                self.changes += opens;
                self.owes |= opens > 0;
            }
            ToWorker::Stop { .. } => self.stopped = true,
            ToWorker::End => self.ending = true,
            ToWorker::Plan(_) | ToWorker::Arm | ToWorker::Adjust { .. } => {}
        }
    }

    /// Records a message of the agent's workers to the coordinator, or the loss of a worker.
    pub(crate) fn record_output(&mut self, out: &Out) {
        match out {
            Out::Message(message) => self.record_message(message),
            Out::Lost(part) => self.lost.push(part.clone()),
            Out::Second(_) => {}
        }
    }

    /// Records a message to the coordinator. The end of the agent is recorded only after everything is delivered: see
    /// [`RunState::record_end`].
    pub(crate) fn record_message(&mut self, message: &FromWorker) {
        match message {
            FromWorker::Ready { cores } => self.cores = Some(*cores),
            FromWorker::BatchDone { properties, changes } => {
                if *changes == self.changes {
                    self.owes = false;
                }
                for (key, value) in properties {
                    self.properties.retain(|(known, _)| known != key);
                    self.properties.push((key.clone(), value.clone()));
                }
            }
            FromWorker::StopAsked { now } => {
                self.stop_asked = Some(self.stop_asked.unwrap_or(false) || *now);
            }
            _ => {}
        }
    }

    /// Records that the agent's last message was sent to the coordinator.
    pub(crate) fn record_end(&mut self, done: &FromWorker) {
        if let FromWorker::Done { aborted, samples } = done {
            self.done = Some((aborted.clone(), *samples));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_owed_from_its_start_to_its_end() {
        let mut stand = RunState::default();
        let start = ToWorker::Start { groups: vec![1], at: 7, properties: Vec::new() };
        stand.record_order(&start);
        assert!(stand.owes && stand.starts == 1 && stand.start.as_ref().is_some_and(|s| s.at == 7));
        stand.record_order(&ToWorker::Change(vec![engine::Live::Pause(true)]));
        assert_eq!(stand.changes, 0, "a pause starts nobody");
        let done = |value: &str| {
            let properties = vec![("a".to_owned(), value.to_owned())];
            Out::Message(FromWorker::BatchDone { properties, changes: 0 })
        };
        stand.record_output(&done("1"));
        stand.record_output(&done("2"));
        assert!(!stand.owes);
        assert_eq!(stand.properties, [("a".to_owned(), "2".to_owned())]);
        stand.record_order(&start);
        assert!(
            stand.owes && stand.properties.is_empty(),
            "those of the batch before are in the order"
        );
        stand.record_output(&Out::Message(FromWorker::Done { aborted: None, samples: 3 }));
        assert_eq!(stand.done, None, "not before all is delivered");
        stand.record_end(&FromWorker::Done { aborted: None, samples: 3 });
        assert_eq!(stand.done, Some((None, 3)));
    }
}
