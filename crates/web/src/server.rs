//! Connections: accepting, checking, answering.
//!
//! One thread accepts, and each connection has one of its own, of which there are at most [`MOST_CLIENTS`]. When all are
//! taken, the connection that has been sending its request for longest is ended for the next. More than a flood's share
//! of connections is not accepted: they wait in the kernel, and its queue is bounded.

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

/// Clients at once, and of those the ones that read events.
const MOST_CLIENTS: usize = 64;
const MOST_READERS: usize = 32;
/// Connections that are accepted in each of these intervals.
const MOST_IN_INTERVAL: u32 = 50;
const INTERVAL: Duration = Duration::from_millis(100);
/// Longest wait for the place of a client that was ended for another.
const PLACE_TIME: Duration = Duration::from_millis(500);
/// A reader of events that gets none for so long is sent a comment: so it is noticed that it has gone.
const SILENCE: Duration = Duration::from_secs(10);
/// The priority of all threads here, by which those of users come first.
const NICE: i32 = 10;

/// The answers of a server.
///
/// Paths below `/api/` need a token, and a `POST` the one that may change: the server sees to that. Everything else is for
/// everybody who calls the server by its own name.
pub trait Site: Send + Sync + 'static {
    fn answer(&self, request: &Request, right: Right) -> Answer;
}

/// A server that listens. It goes on until the program ends.
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
    /// Those that have not sent their request, the oldest first.
    sending: VecDeque<(u64, TcpStream)>,
}

impl Server {
    /// Listens and answers, on threads of its own. Events come from `feed`.
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

    /// The link for whoever may do that much.
    pub fn link(&self, right: Right) -> String {
        format!("{}#t={}", self.shared.own.link(), self.shared.tokens.of(right))
    }

    /// Whether only this machine reaches it.
    pub fn is_loopback(&self) -> bool {
        self.shared.own.is_loopback()
    }

    /// Where it listens.
    pub fn bound(&self) -> std::net::SocketAddr {
        self.shared.own.bound
    }

    /// Waits until no client is being answered, at most that long.
    pub fn wait_for_clients(&self, time: Duration) {
        let busy = |clients: &mut Clients| clients.count > clients.sending.len();
        let waited = self.shared.left.wait_timeout_while(self.shared.clients(), time, busy);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    // A thread's own priority, and that of the threads it starts.
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
            // No descriptors, for now.
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

/// Gives a client's place back, however its thread ends.
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

    /// A client comes: its number, if there is a place for it.
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

    /// The client has sent its request.
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

/// Takes one request and answers it.
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

/// Checks the request and asks the site.
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

/// Sends events until there are no more, or the client does not take them.
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
