//! A socket in the run's folder, through which another coordinator reaches an agent that ssh has started, or a relay.
//!
//! An agent whose stream has ended continues within its grant. A coordinator that takes over the run starts an agent in
//! the same way, with the run's name. This second agent finds the socket and connects its standard input and output to
//! the running agent. If that agent has ended, the second one delivers the files of the run (`recover`). The folder
//! belongs to the user, and nobody else can reach the socket.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::offer::offered;
use super::stdio::OrderReader;
use super::store::Store;
use super::wire::FromAgent;
use crate::frame;

/// Name of the socket in the run's folder.
const NAME: &str = "again";
/// The first byte that a client receives if its stream was accepted.
const TAKEN: u8 = b'T';
/// Maximum wait of a client for the first byte, per attempt.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum duration of all attempts together.
const MOST: Duration = Duration::from_secs(120);
/// Pause between two attempts while the agent is leaving.
const TICK: Duration = Duration::from_millis(200);

/// Starts a thread that accepts streams to replace the agent's own stream, until the process ends.
pub(super) fn listen(folder: &Path, reader: Arc<OrderReader>) -> io::Result<()> {
    let listener = at(folder, |path| UnixListener::bind(path))?;
    let takes = std::thread::Builder::new().name("again".into()).spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // No file descriptor is free at present.
                std::thread::sleep(TICK);
                continue;
            };
            let Some(number) = reader.next() else { continue };
            if take(&reader, number, stream).is_err() {
                reader.end(number);
            }
        }
    });
    takes.map(drop)
}

fn take(reader: &Arc<OrderReader>, number: u64, mut stream: UnixStream) -> io::Result<()> {
    stream.write_all(&[TAKEN])?;
    reader.redirect(stream.try_clone()?)?;
    reader.say(&FromAgent::Offer(offered()));
    reader.read(number, stream)
}

/// Connects to the agent that works for a run on this machine. Returns `None` if there is no such agent, or if the
/// agent has ended.
pub(super) fn reach(store: &Store, run: &str) -> io::Result<Option<UnixStream>> {
    let Some(folder) = store.run(run) else { return Ok(None) };
    let until = Instant::now() + MOST;
    while Instant::now() < until {
        let Ok(mut stream) = at(&folder, |path| UnixStream::connect(path)) else { return Ok(None) };
        let mut first = [0];
        stream.set_read_timeout(Some(PATIENCE))?;
        if matches!(stream.read(&mut first), Ok(1)) && first == [TAKEN] {
            stream.set_read_timeout(None)?;
            return Ok(Some(stream));
        }
        // The agent is leaving. When it has ended, its files can be delivered. A relay first fetches its agents' rows.
        wait_beside()?;
    }
    let words = format!("the agent of this run did not answer within {} s", MOST.as_secs());
    Err(io::Error::other(words))
}

/// Sends a heartbeat to the new coordinator, and waits for a moment.
fn wait_beside() -> io::Result<()> {
    let mut bytes = Vec::new();
    frame::push(&mut bytes, &FromAgent::Alive).map_err(io::Error::other)?;
    let mut out = io::stdout().lock();
    out.write_all(&bytes).and_then(|()| out.flush())?;
    std::thread::sleep(TICK);
    Ok(())
}

/// Forwards standard input to the running agent and its output to standard output, until the stream ends.
pub(super) fn carry(mut stream: UnixStream) -> io::Result<()> {
    let mut to = stream.try_clone()?;
    std::thread::Builder::new().name("in".into()).spawn(move || {
        let _ = copy(&mut io::stdin().lock(), &mut to);
        let _ = to.shutdown(Shutdown::Write);
    })?;
    copy(&mut stream, &mut io::stdout().lock())
}

/// Copies bytes until the input ends, and flushes after each read.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => to.write_all(&buffer[..n]).and_then(|()| to.flush())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Calls `does` with a path to the socket. A socket's path is limited to about a hundred bytes, so the path goes
/// through the descriptor of the run's folder.
fn at<T>(folder: &Path, does: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let folder = File::open(folder)?;
    does(&PathBuf::from(format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd())))
}

#[cfg(test)]
mod tests {
    use super::super::stdio::{Orders, Output};
    use super::super::wire::ToAgent;
    use super::*;
    use crate::frame::Incoming;

    #[test]
    fn another_stream_takes_the_place_of_one_that_has_ended() {
        let root = std::env::temp_dir().join(format!(
            "throng-{}-{}",
            "again".repeat(30),
            std::process::id()
        ));
        let _ = std::fs::remove_dir_all(&root);
        let store = Store::at(root.clone()).expect("a folder");
        let place = store.place("r-0", 0, &[]).expect("a folder");
        assert!(reach(&store, "r-0").expect("a look").is_none(), "nobody works");
        assert!(reach(&store, "../r").expect("a look").is_none(), "that is no run");
        // The folder's path is longer than a socket's path may be.
        let orders = Orders::open(Output::new().expect("a thread"));
        listen(&place.root, orders.reader()).expect("a socket");
        let mut stream = reach(&store, "r-0").expect("a look").expect("it works");
        let mut incoming = Incoming::default();
        let first = loop {
            let mut bytes = [0; 64];
            let n = stream.read(&mut bytes).expect("its offer");
            incoming.add(&bytes[..n]);
            if let Some(message) = incoming.next::<FromAgent>().expect("a frame") {
                break message;
            }
        };
        assert!(matches!(first, FromAgent::Offer(_)), "{first:?}");
        let mut bytes = Vec::new();
        frame::push(&mut bytes, &ToAgent::Leave).expect("a frame");
        stream.write_all(&bytes).expect("it is read");
        assert!(matches!(orders.next(), Some(ToAgent::Leave)));
        let _ = std::fs::remove_dir_all(root);
    }
}
