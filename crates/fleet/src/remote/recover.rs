//! Delivers what a run left on an agent whose process has ended: the records in its spool that no coordinator has
//! acknowledged.
//!
//! In the account, this process is a restarted sender: it declares what the previous sender may have lost, and measures
//! nothing itself.

use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use super::agent::{ALONE, PATIENCE, RESEND};
use super::disk::{Disk, Frames};
use super::stdio::{Orders, Output};
use super::store::RunFolder;
use super::wire::{FromAgent, RunState, ToAgent};
use crate::account::{Entry, Origin, Record, Sender, Up, What};

/// Sends the remaining records of a run until the coordinator has acknowledged them. Returns the state of the run;
/// `None` if no coordinator receives the records.
pub(super) fn recover(
    place: &RunFolder,
    output: &Output,
    orders: &Orders,
) -> Result<Option<RunState>, String> {
    let words = |error: io::Error| format!("the agent's spool file: {error}");
    let path = place.root.join("spool");
    let mut spool = Disk::open(&path).map_err(words)?;
    let mut frames = Frames::open(&path).map_err(words)?;
    let Some(Entry::Begun(Origin { sender, .. })) = frames.next().map_err(words)? else {
        return Err("the agent's spool file has no first record".into());
    };
    let (mut frames, mut samples) = (Frames::open(&path).map_err(words)?, 0);
    let entries = std::iter::from_fn(|| frames.next::<Entry>().ok().flatten());
    let (mut sender, mut begun) = Sender::read(
        sender,
        entries.inspect(|entry| {
            if let Entry::Spooled(Record { what: What::Delta { samples: n, .. }, .. }) = entry {
                samples += n;
            }
        }),
    );
    let is_torn =
        |entry: &Entry| matches!(entry, Entry::Spooled(Record { what: What::Killed { .. }, .. }));
    let torn = begun.iter().any(is_torn);
    // If everything is acknowledged, the coordinator has also received the end.
    let was_alone = !sender.is_clear();
    if let Some(end) = sender.finish() {
        sender.written(&end);
        begun.push(end);
    }
    for entry in &begun {
        spool.write(entry).map_err(words)?;
    }
    deliver(&mut sender, &mut spool, output, orders).map(|all| {
        all.then(|| RunState {
            begun: true,
            done: (!torn).then(|| (was_alone.then(|| ALONE.to_owned()), samples)),
            torn: torn.then(|| "the agent was killed or restarted during the run".to_owned()),
            ..RunState::default()
        })
    })
}

/// Sends the sender's pending records until all are acknowledged. Returns false if no coordinator receives them.
fn deliver(
    sender: &mut Sender,
    spool: &mut Disk,
    output: &Output,
    orders: &Orders,
) -> Result<bool, String> {
    let mut sent: Option<(Record, Instant)> = None;
    loop {
        let Some(first) = sender.due().next().cloned() else { return Ok(true) };
        let is_new = |(last, at): &(Record, Instant)| *last != first || at.elapsed() > RESEND;
        if sent.as_ref().is_none_or(is_new) {
            sent = Some((first, Instant::now()));
            for record in sender.due() {
                output.say(&FromAgent::Up(Up::Record(record.clone())));
            }
        }
        match orders.next_within(PATIENCE) {
            Ok(ToAgent::Down(down)) => {
                if let Some(entry) = sender.handle(&down) {
                    let written = spool.write(&entry);
                    written.map_err(|error| format!("the agent's spool file: {error}"))?;
                    sender.written(&entry);
                }
            }
            Ok(ToAgent::Leave) | Err(RecvTimeoutError::Disconnected) => return Ok(false),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
