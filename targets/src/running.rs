//! A target that serves, and the way to end it.
//!
//! Stopping wakes the target's thread and joins it; dropping does the same, so no thread outlives its [`Running`].

use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::journal::{Journal, Recorded};

#[derive(Debug)]
pub struct Running {
    pub(crate) addr: SocketAddr,
    pub(crate) tls: bool,
    /// The target's thread ends when this closes.
    pub(crate) wake: Option<UnixStream>,
    pub(crate) thread: Option<JoinHandle<()>>,
    pub(crate) journal: Arc<Journal>,
}

impl Running {
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.tls { "https" } else { "http" }, self.addr)
    }

    /// The requests recorded so far, in order of arrival. Only `mirror` records.
    pub fn log(&self) -> Vec<Recorded> {
        self.journal.recorded()
    }

    /// Whether it has ended by itself, as a process does whose parent is gone.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Closes the listener and every connection and joins the thread.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            // A panic on the target's thread has been printed there; the tests that use the target notice it as well.
            let _ = thread.join();
        }
    }
}
