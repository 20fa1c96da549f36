//! The stream of an agent: orders from standard input, and its messages on standard output.
//!
//! While the agent works, another stream can replace standard input and output (`takeover_socket`), so that another
//! coordinator can continue the run. Further input of an earlier stream is then ignored. Standard output carries only
//! frames; output of processes is redirected to standard error.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::line::nanos;
use super::wire::{FromAgent, PIECE, ToAgent};
use crate::frame::{self, Incoming};
use crate::message::FromWorker;

/// Maximum time to wait at the end until a slow coordinator has read the remaining output.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// Maximum time to wait for a coordinator that stops reading while rows are sent.
pub(super) const UNREAD: Duration = Duration::from_secs(120);
/// Interval at which waiting for an order checks if the stream has ended.
const TICK: Duration = Duration::from_millis(50);

/// The agent's output to the coordinator. A separate thread writes the output, so that a coordinator that does not read
/// cannot prevent the agent from stopping its users.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pipe: Arc<Mutex<Pipe>>,
}

/// Queue to the thread that writes to one stream, and number of bytes in that queue.
#[derive(Clone, Debug)]
struct Pipe {
    to: Sender<Vec<u8>>,
    queued: Arc<AtomicUsize>,
}

impl Pipe {
    fn start(mut out: impl Write + Send + 'static) -> io::Result<Self> {
        let (to, from) = channel::<Vec<u8>>();
        let queued: Arc<AtomicUsize> = Arc::default();
        let waiting = Arc::clone(&queued);
        std::thread::Builder::new().name("out".into()).spawn(move || {
            for bytes in from {
                // The reading thread detects that the coordinator is gone.
                let sent = out.write_all(&bytes).and_then(|()| out.flush());
                if sent.is_err() {
                    // Queued bytes no longer count, because nobody will receive them.
                    return waiting.store(0, Ordering::Relaxed);
                }
                waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
            }
        })?;
        Ok(Self { to, queued })
    }

    fn push(&self, bytes: Vec<u8>) {
        let length = bytes.len();
        self.queued.fetch_add(length, Ordering::Relaxed);
        if self.to.send(bytes).is_err() {
            self.queued.fetch_sub(length, Ordering::Relaxed);
        }
    }
}

impl Output {
    /// Creates the agent's output, which is written to standard output.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { pipe: Arc::new(Mutex::new(Pipe::start(io::stdout())?)) })
    }

    /// Makes a different stream receive all further output. Bytes that are queued for the previous stream are not
    /// moved.
    pub(super) fn redirect(&self, out: impl Write + Send + 'static) -> io::Result<()> {
        *self.pipe() = Pipe::start(out)?;
        Ok(())
    }

    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queued(&self) -> usize {
        self.pipe().queued.load(Ordering::Relaxed)
    }

    pub(super) fn say(&self, message: &FromAgent) {
        let mut bytes = Vec::new();
        if frame::push(&mut bytes, message).is_ok() {
            self.pipe().push(bytes);
        }
    }

    /// Sends a message for the user.
    pub(super) fn note(&self, words: &str) {
        self.say(&FromAgent::Message(FromWorker::Log(words.to_owned().into())));
    }

    /// Waits until all queued output is written, at most [`LAST_WORDS`].
    pub(super) fn flush(&self) {
        let until = Instant::now() + LAST_WORDS;
        while self.queued() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// True if more than 4 MiB are queued because the coordinator does not read. Then nothing is resent.
    pub(super) fn is_full(&self) -> bool {
        self.queued() > 16 * PIECE
    }

    /// Waits until the queue has space for the next piece of a file. Returns false if the coordinator does not read.
    pub(super) fn has_room(&self) -> bool {
        let until = Instant::now() + UNREAD;
        while self.is_full() {
            if Instant::now() > until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

/// Receives the coordinator's orders from the current stream.
#[derive(Debug)]
pub(super) struct Orders {
    from: Receiver<ToAgent>,
    reader: Arc<OrderReader>,
}

/// The state that is shared by the threads that read orders from streams.
#[derive(Debug)]
pub(super) struct OrderReader {
    clock: Instant,
    output: Output,
    to: Sender<ToAgent>,
    stream: Mutex<Stream>,
}

/// State of the stream from which orders are read.
#[derive(Debug, Default)]
struct Stream {
    number: u64,
    ended: bool,
    /// True if the agent is leaving: then no other stream can replace an ended stream.
    left: bool,
}

impl Orders {
    /// Starts to read orders from standard input. The reading thread answers clock queries immediately.
    pub(super) fn read(clock: Instant, output: Output) -> io::Result<Self> {
        let (to, from) = channel();
        let reader = Arc::new(OrderReader { clock, output, to, stream: Mutex::default() });
        reader.read(0, io::stdin())?;
        Ok(Self { from, reader })
    }

    /// Returns the handle through which another stream replaces the current stream.
    pub(super) fn reader(&self) -> Arc<OrderReader> {
        Arc::clone(&self.reader)
    }

    /// Returns the next order if an order has arrived. `Disconnected`: the stream has ended, but another stream may
    /// replace it.
    pub(super) fn try_next(&self) -> Result<ToAgent, TryRecvError> {
        match self.from.try_recv() {
            // The last order may have arrived just before the end was noticed.
            Err(TryRecvError::Empty) if self.reader.stream().ended => {
                self.from.try_recv().map_err(|_| TryRecvError::Disconnected)
            }
            other => other,
        }
    }

    /// Waits for an order. `Disconnected`: the stream has ended, and no other stream can replace it.
    pub(super) fn next_within(&self, patience: Duration) -> Result<ToAgent, RecvTimeoutError> {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.from.recv_timeout(left.min(TICK)) {
                Err(RecvTimeoutError::Timeout) => {}
                other => return other,
            }
            if self.leave() {
                // The last order may have arrived in the meantime.
                return self.from.try_recv().map_err(|_| RecvTimeoutError::Disconnected);
            }
            if Instant::now() >= until {
                return Err(RecvTimeoutError::Timeout);
            }
        }
    }

    /// Waits for an order. `None`: the stream has ended, and no other stream can replace it.
    pub(super) fn next(&self) -> Option<ToAgent> {
        loop {
            match self.next_within(UNREAD) {
                Ok(order) => return Some(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Returns true if the stream has ended, and then prevents other streams from replacing it.
    pub(super) fn leave(&self) -> bool {
        let mut stream = self.reader.stream();
        stream.left |= stream.ended;
        stream.left
    }
}

impl OrderReader {
    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a new stream the current stream and returns its number; `None` if the agent is leaving.
    pub(super) fn next(&self) -> Option<u64> {
        let mut stream = self.stream();
        if stream.left {
            return None;
        }
        (stream.number, stream.ended) = (stream.number + 1, false);
        Some(stream.number)
    }

    /// Makes a different stream receive all further messages of the agent.
    pub(super) fn redirect(&self, out: impl Write + Send + 'static) -> io::Result<()> {
        self.output.redirect(out)
    }

    pub(super) fn say(&self, message: &FromAgent) {
        self.output.say(message);
    }

    /// Records that stream `number` has ended, unless another stream has replaced it.
    pub(super) fn end(&self, number: u64) {
        let mut stream = self.stream();
        stream.ended |= stream.number == number;
    }

    /// Reads orders from stream `number`, as long as this stream is the current stream.
    pub(super) fn read(
        self: &Arc<Self>,
        number: u64,
        from: impl Read + Send + 'static,
    ) -> io::Result<()> {
        let reader = Arc::clone(self);
        let reads = std::thread::Builder::new().name("orders".into()).spawn(move || {
            reader.follow(number, from);
            reader.end(number);
        });
        reads.map(drop)
    }

    fn follow(&self, number: u64, mut from: impl Read) {
        let (mut incoming, mut buffer) = (Incoming::default(), vec![0; 64 << 10]);
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => incoming.add(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
            while let Ok(Some(order)) = incoming.next() {
                if self.stream().number != number {
                    return;
                }
                if let ToAgent::Time { asked } = order {
                    let (monotonic, wall) = (nanos(self.clock), super::bus::wall_ns());
                    self.output.say(&FromAgent::Time { asked, monotonic, wall });
                } else if self.to.send(order).is_err() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    impl Orders {
        /// Returns a source of exactly these orders, which then ends.
        pub(in crate::remote) fn of(orders: impl IntoIterator<Item = ToAgent>) -> Self {
            let this = Self::open(Output::new().expect("a thread"));
            orders.into_iter().for_each(|order| this.reader.to.send(order).expect("it is heard"));
            this.reader.end(0);
            this
        }

        /// Returns a source of orders that does not end and is still empty.
        pub(in crate::remote) fn open(output: Output) -> Self {
            let (to, from) = channel();
            let reader =
                OrderReader { clock: Instant::now(), output, to, stream: Mutex::default() };
            Self { from, reader: Arc::new(reader) }
        }
    }

    fn frame(message: &ToAgent) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame::push(&mut bytes, message).expect("a frame");
        bytes
    }

    #[test]
    fn the_last_order_is_heard_before_the_end() {
        let orders = Orders::of([ToAgent::Leave]);
        assert!(matches!(orders.next_within(Duration::ZERO), Ok(ToAgent::Leave)));
        assert_eq!(orders.try_next().err(), Some(TryRecvError::Disconnected));
        assert!(orders.next().is_none());
        assert_eq!(orders.reader().next(), None, "it has left");
    }

    #[test]
    fn a_stream_takes_the_place_of_another_one_whatever_that_brings() {
        let orders = Orders::open(Output::new().expect("a thread"));
        let reader = orders.reader();
        let mut streams = Vec::new();
        for number in [0, 1] {
            let (mut here, there) = UnixStream::pair().expect("a pair");
            if number > 0 {
                assert_eq!(reader.next(), Some(number));
            }
            reader.redirect(there.try_clone().expect("the same")).expect("a thread");
            reader.read(number, there).expect("a thread");
            here.write_all(&frame(&ToAgent::Time { asked: 7 })).expect("it is read");
            // The complete answer arrives on the stream of the query.
            let mut length = [0; 4];
            here.read_exact(&mut length).expect("a length");
            let mut answer = vec![0; u32::from_le_bytes(length) as usize];
            here.read_exact(&mut answer).expect("an answer");
            streams.push(here);
        }
        let (mut first, mut second) = (streams.remove(0), streams.remove(0));
        let _ = first.write_all(&frame(&ToAgent::Leave));
        drop(first);
        let files = ToAgent::Files { run: "r".into(), depth: 0, files: Vec::new() };
        second.write_all(&frame(&files)).expect("it is read");
        assert!(matches!(orders.next(), Some(ToAgent::Files { .. })), "not the order to leave");
        assert_eq!(orders.try_next().err(), Some(TryRecvError::Empty), "the second one is there");
        assert!(!orders.leave());
        drop(second);
        assert!(orders.next().is_none());
    }
}
