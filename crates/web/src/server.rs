//! Connections: accept, check, respond.
//!
//! One thread accepts connections. Each connection has a thread, and there are at most [`MOST_CLIENTS`]. At that limit,
//! a new connection replaces the one that has been sending its request for the longest time. Connections above the
//! accept rate wait in the kernel's queue, which is bounded.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use crate::address::{Address, Own, is_own_origin};
use crate::answer::{self, Answer};
use crate::feed::{AGAIN, Feed, Next};
use crate::request::{Method, Request, Wrong};
use crate::token::{Right, Tokens};

/// Maximum number of connected clients.
const MOST_CLIENTS: usize = 64;
/// Maximum number of clients that read events.
const MOST_READERS: usize = 32;
/// Maximum number of connections accepted per [`INTERVAL`].
const MOST_IN_INTERVAL: u32 = 50;
const INTERVAL: Duration = Duration::from_millis(100);
/// Longest time that a new client waits for a free place at [`MOST_CLIENTS`], after the oldest client was disconnected.
const PLACE_TIME: Duration = Duration::from_millis(500);
/// Time without events after which a reader is sent a comment. A failed write then shows that the reader has
/// disconnected.
const SILENCE: Duration = Duration::from_secs(10);
/// Nice value of all threads of this server, so that the threads of users have priority.
const NICE: i32 = 10;

/// Supplies the responses of a server.
///
/// The server checks the tokens: paths below `/api/` need one of the two tokens, and a `POST` needs the token that
/// permits changes. All other paths are open to anyone who addresses the server by its own host name.
pub trait Site: Send + Sync + 'static {
    fn answer(&self, request: &Request, right: Right) -> Answer;
}

/// A listening server. It runs until the program ends.
pub struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    own: Own,
    tokens: Tokens,
    site: Box<dyn Site>,
    feed: Arc<Feed>,
    clients: Mutex<Clients>,
    left: Condvar,
}

#[derive(Default)]
struct Clients {
    count: usize,
    next: u64,
    /// Clients that have not sent their whole request, the oldest first.
    sending: VecDeque<(u64, TcpStream)>,
}

impl Server {
    /// Starts the server on separate threads. `feed` supplies the events.
    pub fn start(address: &Address, site: impl Site, feed: Arc<Feed>) -> io::Result<Self> {
        let (listener, own) = address.listen()?;
        let shared = Arc::new(Shared {
            own,
            tokens: Tokens::new()?,
            site: Box::new(site),
            feed,
            clients: Mutex::default(),
            left: Condvar::new(),
        });
        let of_thread = Arc::clone(&shared);
        Builder::new().name("web".into()).spawn(move || accept(&listener, &of_thread))?;
        Ok(Self { shared })
    }

    /// Returns the link with the token for `right`.
    pub fn link(&self, right: Right) -> String {
        format!("{}#t={}", self.shared.own.link(), self.shared.tokens.of(right))
    }

    /// True if the server listens on a loopback address only.
    pub fn is_loopback(&self) -> bool {
        self.shared.own.is_loopback()
    }

    /// Returns the address on which the server listens.
    pub fn bound(&self) -> std::net::SocketAddr {
        self.shared.own.bound
    }

    /// Waits at most `time` until no response is in progress.
    pub fn wait_for_clients(&self, time: Duration) {
        let busy = |clients: &mut Clients| clients.count > clients.sending.len();
        let waited = self.shared.left.wait_timeout_while(self.shared.clients(), time, busy);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    // On Linux this sets the priority of this thread and of the threads that it starts.
    let _ = rustix::process::setpriority_process(None, NICE);
    let (mut began, mut accepted) = (Instant::now(), 0);
    loop {
        if accepted >= MOST_IN_INTERVAL {
            sleep(INTERVAL.saturating_sub(began.elapsed()));
        }
        if began.elapsed() >= INTERVAL {
            (began, accepted) = (Instant::now(), 0);
        }
        let Ok((stream, _)) = listener.accept() else {
            // The process has no free file descriptors at present.
            sleep(INTERVAL);
            continue;
        };
        accepted += 1;
        let Some(client) = shared.enter(&stream) else { continue };
        let of_client = Arc::clone(shared);
        let served = Builder::new().name("web".into()).spawn(move || {
            let gone = Leaving { shared: &of_client, client };
            serve(&stream, &of_client, client);
            drop(gone);
        });
        if served.is_err() {
            shared.leave(client);
        }
    }
}

/// Unregisters a client when dropped, so also if its thread panics.
struct Leaving<'a> {
    shared: &'a Shared,
    client: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.shared.leave(self.client);
    }
}

impl Shared {
    fn clients(&self) -> std::sync::MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a client and returns its number. At [`MOST_CLIENTS`], the oldest client without a complete request is
    /// disconnected. Returns `None` if no client leaves in time.
    fn enter(&self, stream: &TcpStream) -> Option<u64> {
        let own = stream.try_clone().ok()?;
        let mut clients = self.clients();
        if clients.count >= MOST_CLIENTS
            && let Some((_, oldest)) = clients.sending.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        let full = |clients: &mut Clients| clients.count >= MOST_CLIENTS;
        let waited = self.left.wait_timeout_while(clients, PLACE_TIME, full);
        let (mut clients, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return None;
        }
        clients.count += 1;
        clients.next += 1;
        let number = clients.next;
        clients.sending.push_back((number, own));
        Some(number)
    }

    /// Removes a client from the list of clients that are sending their request.
    fn has_sent(&self, client: u64) {
        self.clients().sending.retain(|sending| sending.0 != client);
    }

    fn leave(&self, client: u64) {
        let mut clients = self.clients();
        clients.sending.retain(|sending| sending.0 != client);
        clients.count -= 1;
        drop(clients);
        self.left.notify_all();
    }
}

/// Reads one request and responds.
fn serve(stream: &TcpStream, shared: &Shared, client: u64) {
    let _ = stream.set_nodelay(true);
    let request = Request::read(stream);
    shared.has_sent(client);
    let answer = match request {
        Ok(request) => answer(&request, shared),
        Err(Wrong::Status(status)) => Answer::status(status),
        Err(Wrong::Gone) => return,
    };
    if let Some(behind) = answer.events_behind {
        if !shared.feed.enter(MOST_READERS) {
            let _ = Answer::busy().write(stream);
            return answer::close(stream);
        }
        let done = answer.write(stream).and_then(|()| send_events(stream, behind, &shared.feed));
        answer::close(stream);
        return shared.feed.leave(done.is_ok());
    }
    if answer.write(stream).is_ok() {
        answer::close(stream);
    }
}

/// Checks the host, the origin and the token of a request, then calls the site.
fn answer(request: &Request, shared: &Shared) -> Answer {
    let host = request.header("host").unwrap_or_default();
    if !shared.own.is_called(host) {
        return Answer::status(403);
    }
    if request.header("origin").is_some_and(|origin| !is_own_origin(origin, host)) {
        return Answer::status(403);
    }
    let right = shared.tokens.right(request.bearer());
    let is_api = request.path.starts_with("/api/");
    let changes = request.method == Method::Post;
    let from_elsewhere = request.header("sec-fetch-site").is_some_and(|site| site != "same-origin");
    if is_api && right == Right::Nothing {
        return Answer::status(401);
    }
    if (is_api && from_elsewhere) || (changes && right != Right::Change) {
        return Answer::status(403);
    }
    shared.site.answer(request, right)
}

/// Sends events until the feed is closed or a write fails.
fn send_events(stream: &TcpStream, behind: u64, feed: &Feed) -> io::Result<()> {
    let mut seen = if behind == u64::MAX { feed.newest() } else { behind };
    loop {
        match feed.next(&mut seen, SILENCE) {
            Next::Events(events) => {
                for event in events {
                    answer::write(stream, event.as_bytes())?;
                }
            }
            Next::Again => answer::write(stream, AGAIN.as_bytes())?,
            Next::Nothing => answer::write(stream, b": \n\n")?,
            Next::End => return Ok(()),
        }
    }
}
