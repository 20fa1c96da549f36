//! Heap use and garbage collections of the JVM, read twice a second by a separate thread. No worker waits for this
//! thread, and it waits for no worker.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use engine::message::{Kind, Memory, Status};

use crate::workers::{Shared, lock};

/// Time between two polls of the heap. One poll takes some tens of microseconds.
const PACE: Duration = Duration::from_millis(500);

/// Starts the thread that reads the heap. The thread ends when no more tasks will come.
pub(crate) fn watch(shared: Arc<Shared>) -> std::io::Result<()> {
    let watch = move || {
        // If this thread cannot reach the JVM, there is nothing to read.
        let _ = shared.carrier.serve("java memory", &mut |_, carry| {
            while !shared.closed.load(SeqCst) {
                let Ok(reply) = carry(&[Kind::Memory as u8]) else { return };
                *lock(&shared.memory) = read(&reply);
                std::thread::sleep(PACE);
            }
        });
    };
    std::thread::Builder::new().name("java memory".into()).spawn(watch).map(drop)
}

fn read(reply: &[u8]) -> Option<Memory> {
    let (status, rest) = reply.split_first()?;
    let known = *status == Status::Well as u8;
    rest.try_into().ok().map(Memory::from_bytes).filter(|_| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_reply_is_read() {
        let memory = Memory { used: 5, most: 9, collections: 2, paused_ms: 7 };
        let reply = |status: Status, length: usize| {
            let mut reply = vec![status as u8];
            reply.extend(&memory.to_bytes()[..length]);
            reply
        };
        let found = read(&reply(Status::Well, Memory::SIZE)).expect("a reading");
        assert_eq!((found.used, found.paused_ms), (5, 7));
        assert!(read(&reply(Status::Failed, Memory::SIZE)).is_none());
        assert!(read(&reply(Status::Well, 31)).is_none() && read(&[]).is_none());
    }
}
