//! A running target, and its stop function.
//!
//! Stopping wakes the target's thread and joins it. Dropping does the same, so no thread outlives its [`Running`].

use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::journal::{Journal, Recorded};

#[derive(Debug)]
pub struct Running {
    pub(crate) addr: SocketAddr,
    pub(crate) tls: bool,
    /// Pipe that wakes the target's thread; closing it ends the thread.
    pub(crate) wake: Option<UnixStream>,
    pub(crate) thread: Option<JoinHandle<()>>,
    pub(crate) journal: Arc<Journal>,
}

impl Running {
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the target's URL without a path, for example `http://127.0.0.1:8080`.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.tls { "https" } else { "http" }, self.addr)
    }

    /// Returns the requests recorded so far, in order of arrival. Only `mirror` records requests.
    pub fn log(&self) -> Vec<Recorded> {
        self.journal.recorded()
    }

    /// True if the target ended by itself, for example because its parent process has ended.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Closes the target's listener and all connections, and joins its thread.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            // A panic on the target's thread was already printed, and tests that use the target notice it.
            let _ = thread.join();
        }
    }
}
