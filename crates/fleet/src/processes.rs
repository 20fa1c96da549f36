//! Workers as child processes of the same program. The standard input of each worker is one end of a socket pair.
//!
//! One thread polls all sockets, which are non-blocking. The end of a worker closes its socket. The end of the
//! coordinator closes all sockets, at which workers end by themselves without a signal. Workers have their own process
//! groups, so that Ctrl-C reaches only the coordinator.
//!
//! A worker sends a heartbeat every second. A worker that is stopped (SIGSTOP) or blocked in the kernel sends none: it
//! is reported after 4 s and killed after 30 s, or after 5 s if the run is to stop immediately. So no run waits for
//! such a worker for ever.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::bus::{Bus, Transport, WorkerEvent};
use crate::frame::{self, Incoming};
use crate::message::{FromWorker, ToWorker};

/// The bus to workers that are processes on this machine.
#[derive(Debug)]
pub struct Processes {
    workers: Vec<Worker>,
    heard: VecDeque<(u32, WorkerEvent)>,
    buffer: Vec<u8>,
    /// Time at which the silence of workers was last updated.
    counted: Instant,
    /// Duration of silence after which a worker is killed.
    limit: Duration,
}

/// Duration of silence after which the user is informed. A running worker is silent for at most a second, or a few
/// seconds on an overloaded machine.
const TOLD: Duration = Duration::from_secs(4);
/// Duration of silence after which a worker is killed.
const LIMIT: Duration = Duration::from_secs(30);
/// Duration of silence after which a worker is killed when the run is to stop immediately.
const LIMIT_AT_END: Duration = Duration::from_secs(5);
/// Interval at which the silence of workers is updated.
const COUNT: Duration = Duration::from_secs(1);
/// Maximum time that one update adds to the silence: if more has passed, this process itself did not run.
const COUNT_MOST: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct Worker {
    child: Child,
    /// Socket to the worker; `None` if the worker has ended.
    socket: Option<UnixStream>,
    incoming: Incoming,
    outgoing: Vec<u8>,
    /// Duration of silence: time for which this process has listened without a message from the worker.
    silent: Duration,
}

impl Processes {
    /// Starts `count` processes of this program with the argument `worker`.
    pub fn start(count: u32) -> io::Result<Self> {
        Self::start_with(count, Stdio::inherit)
    }

    /// Starts `count` worker processes of an agent. The agent's standard output carries frames, so the output of the
    /// workers is redirected to standard error.
    pub(crate) fn of_agent(count: u32) -> io::Result<Self> {
        Self::start_with(count, || io::stderr().into())
    }

    fn start_with(count: u32, stdout: impl Fn() -> Stdio) -> io::Result<Self> {
        let workers = (0..count).map(|_| Worker::start(stdout())).collect::<io::Result<_>>()?;
        Ok(Self {
            workers,
            heard: VecDeque::new(),
            buffer: vec![0; 64 << 10],
            counted: Instant::now(),
            limit: LIMIT,
        })
    }

    /// Adds the passed time to the silence of all workers, once per interval.
    fn listen(&mut self) {
        let passed = self.counted.elapsed();
        if passed >= COUNT {
            self.counted = Instant::now();
            self.count_silence(passed);
        }
    }

    /// Updates the silence of all workers, and kills the workers that exceed the limit.
    fn count_silence(&mut self, passed: Duration) {
        // This process may have been busy: read received messages before counting silence.
        self.wait(Duration::ZERO);
        for (number, worker) in (0u32..).zip(&mut self.workers) {
            if worker.socket.is_none() {
                continue;
            }
            let before = worker.silent;
            worker.silent += passed.min(COUNT_MOST);
            let silent = worker.silent;
            let told = before < TOLD && silent >= TOLD;
            if !told && silent < self.limit {
                continue;
            }
            let Some(state) = worker.state() else { continue };
            let seconds = silent.as_secs();
            if silent >= self.limit {
                worker.socket = None;
                worker.kill();
                let words = format!("no message for {seconds} s{state}; it was killed");
                self.heard.push_back((number, WorkerEvent::Ended(words)));
            } else {
                let limit = self.limit.as_secs();
                let words =
                    format!("no message for {seconds} s{state}; it will be killed after {limit} s");
                self.heard.push_back((number, WorkerEvent::Silent(words)));
            }
        }
    }

    /// Waits until some socket is readable or has space for queued bytes, then receives and sends.
    fn wait(&mut self, patience: Duration) {
        let mut ready = Vec::new();
        let mut sockets = Vec::new();
        for (number, worker) in (0u32..).zip(&self.workers) {
            let Some(socket) = &worker.socket else { continue };
            let mut flags = PollFlags::IN;
            if !worker.outgoing.is_empty() {
                flags |= PollFlags::OUT;
            }
            sockets.push(PollFd::new(socket, flags));
            ready.push((number, PollFlags::empty()));
        }
        let patience = Timespec::try_from(patience).ok();
        if sockets.is_empty() {
            std::thread::sleep(Duration::from_millis(1));
            return;
        }
        if poll(&mut sockets, patience.as_ref()).is_err() {
            return;
        }
        for (ready, socket) in ready.iter_mut().zip(&sockets) {
            ready.1 = socket.revents();
        }
        drop(sockets);
        for (number, flags) in ready {
            if flags.intersects(PollFlags::OUT) {
                self.workers[number as usize].flush();
            }
            if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                self.receive(number);
            }
        }
    }

    fn receive(&mut self, number: u32) {
        let worker = &mut self.workers[number as usize];
        let mut gone = None;
        while let Some(socket) = &mut worker.socket {
            match socket.read(&mut self.buffer) {
                Ok(0) => gone = Some(String::new()),
                Ok(n) => {
                    worker.silent = Duration::ZERO;
                    worker.incoming.add(&self.buffer[..n]);
                    loop {
                        match worker.incoming.next() {
                            Ok(Some(FromWorker::Alive)) => {}
                            Ok(Some(message)) => {
                                self.heard.push_back((number, WorkerEvent::Message(message)));
                            }
                            Ok(None) => break,
                            Err(error) => {
                                gone = Some(error);
                                break;
                            }
                        }
                    }
                    if n == self.buffer.len() && gone.is_none() {
                        continue;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // The connection reset after a process died contains no reason.
                Err(_) => gone = Some(String::new()),
            }
            break;
        }
        if let Some(words) = gone {
            worker.socket = None;
            let ended = worker.reap(words.is_empty());
            let words = if words.is_empty() { ended } else { words };
            self.heard.push_back((number, WorkerEvent::Ended(words)));
        }
    }
}

impl Bus for Processes {
    fn workers(&self) -> u32 {
        self.workers.len() as u32
    }

    fn transport(&self) -> Transport {
        Transport::Local
    }

    fn send(&mut self, worker: u32, message: &ToWorker) {
        if matches!(message, ToWorker::Stop { now: true }) {
            self.limit = LIMIT_AT_END;
        }
        let Some(to) = self.workers.get_mut(worker as usize) else { return };
        if to.socket.is_none() {
            return;
        }
        match frame::push(&mut to.outgoing, message) {
            Ok(()) => to.flush(),
            Err(error) => {
                to.socket = None;
                to.reap(false);
                self.heard.push_back((worker, WorkerEvent::Ended(error)));
            }
        }
    }

    fn next(&mut self, patience: Duration) -> Option<(u32, WorkerEvent)> {
        let end = Instant::now() + patience;
        self.listen();
        loop {
            if let Some(news) = self.heard.pop_front() {
                return Some(news);
            }
            let left = end.saturating_duration_since(Instant::now());
            self.wait(left);
            if left.is_zero() {
                return self.heard.pop_front();
            }
        }
    }

    fn kill(&mut self, worker: u32) {
        if let Some(worker) = self.workers.get_mut(worker as usize) {
            let _ = worker.child.kill();
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // Closing its socket ends each worker. Only workers that have already ended are waited for.
        for worker in &mut self.workers {
            worker.socket = None;
            let _ = worker.child.try_wait();
        }
    }
}

impl Worker {
    fn start(stdout: Stdio) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let child = Command::new("/proc/self/exe")
            .arg0("throng")
            .arg("worker")
            // One malloc arena for all threads: a worker has few threads, and each arena costs memory in every worker.
            .env("MALLOC_ARENA_MAX", "1")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(stdout)
            .process_group(0)
            .spawn()?;
        Ok(Self {
            child,
            socket: Some(ours),
            incoming: Incoming::default(),
            outgoing: Vec::new(),
            silent: Duration::ZERO,
        })
    }

    /// Returns the operating system's state of the process, as the end of a sentence. `None`: a debugger has stopped
    /// the process, so its silence is not limited.
    fn state(&self) -> Option<&'static str> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        match state {
            Some('t') => None,
            Some('T') => Some(" (stopped by SIGSTOP)"),
            Some('D') => Some(" (blocked in the kernel, perhaps by a disk)"),
            _ => Some(""),
        }
    }

    /// Kills the process. Waits at most a second for its end, because a process blocked in the kernel does not end.
    fn kill(&mut self) {
        let _ = self.child.kill();
        for _ in 0..100 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends as much as the socket accepts.
    fn flush(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        let mut sent = 0;
        while sent < self.outgoing.len() {
            match socket.write(&self.outgoing[sent..]) {
                Ok(0) => break,
                Ok(n) => sent += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The next read will detect that the worker is gone.
                Err(_) => sent = self.outgoing.len(),
            }
        }
        self.outgoing.drain(..sent);
        if self.outgoing.is_empty() {
            self.outgoing.shrink_to(4 << 10);
        }
    }

    /// Waits for the end of the process and returns a description of it. Kills the process unless it is expected to end
    /// by itself.
    fn reap(&mut self, ends_by_itself: bool) -> String {
        if !ends_by_itself {
            let _ = self.child.kill();
        }
        match self.child.wait() {
            Ok(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("killed by signal {signal}"),
                (None, Some(code)) => format!("exited with code {code}"),
                (None, None) => "the process ended".to_string(),
            },
            Err(error) => format!("cannot wait for the process: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Processes, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        ours.set_nonblocking(true).expect("a socket that does not block");
        let worker = Worker {
            child: Command::new("sleep").arg("600").spawn().expect("a process"),
            socket: Some(ours),
            incoming: Incoming::default(),
            outgoing: Vec::new(),
            silent: Duration::ZERO,
        };
        let processes = Processes {
            workers: vec![worker],
            heard: VecDeque::new(),
            buffer: vec![0; 64 << 10],
            counted: Instant::now(),
            limit: LIMIT,
        };
        (processes, theirs)
    }

    #[test]
    fn what_lies_there_unread_is_no_silence() {
        let (mut processes, mut worker) = pair();
        let mut alive = Vec::new();
        frame::push(&mut alive, &FromWorker::Alive).expect("a frame");
        // Twice as long as a worker may be silent, without any other call in between.
        for _ in 0..LIMIT.as_secs() {
            worker.write_all(&alive).expect("a worker that speaks");
            processes.count_silence(COUNT_MOST);
        }
        assert!(processes.heard.is_empty(), "{:?}", processes.heard);
        // Then the worker is silent: this is reported, and finally the worker is killed.
        for _ in 0..LIMIT.as_secs() {
            processes.count_silence(COUNT_MOST);
        }
        let heard: Vec<_> = processes.heard.drain(..).map(|(_, news)| news).collect();
        assert!(matches!(&heard[..], [WorkerEvent::Silent(_), WorkerEvent::Ended(_)]), "{heard:?}");
        assert!(processes.workers[0].child.try_wait().is_ok_and(|ended| ended.is_some()));
    }
}
