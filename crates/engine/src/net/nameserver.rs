//! The plan's own name servers (DNS Cache Manager). A separate thread sends many queries concurrently.
//!
//! The behaviour is that of JMeter's DNS library. A server is queried at most three times, with a timeout of five
//! seconds each. When the first try has timed out, the next server is queried too. A server that refuses or sends
//! an invalid answer is not queried a second time. An alias is resolved by a separate query. The thread blocks only
//! to resolve the name of a server, which happens once per server.

use std::cmp::Reverse;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::hash::BuildHasher;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use wire::dns::{self, Answer, Name};

use crate::ids::UserId;
use crate::inbox::{Inbox, Message, Wake};
use crate::net::allowed::Targets;
use crate::net::driver::{self, Driver, Events, INBOX};
use crate::net::ports::Ports;
use crate::net::resolve;
use crate::net::routes::RouteId;
use crate::time::clock::Nanos;

/// Maximum number of queries to one server.
const TRIES: u8 = 3;
/// Maximum length of a chain of aliases.
const ALIASES: u8 = 6;
/// Maximum size of an answer over TCP, including its length prefix, in bytes.
const LONGEST: usize = 65_535 + 2;

/// Parameters of queries to name servers.
#[derive(Clone, Debug)]
pub(crate) struct QuerySettings {
    /// Port of the name servers.
    pub(crate) port: u16,
    /// Timeout of each try.
    pub(crate) patience: Duration,
    /// Targets to which queries are permitted: the same targets as for connections.
    pub(crate) allowed: Targets,
}

/// A lookup for a user.
#[derive(Debug)]
pub(crate) struct Lookup {
    pub(crate) host: String,
    /// The addresses or names that the plan defines for the host, which are looked up instead of the host. A name
    /// that is not found is resolved by the system, or omitted.
    pub(crate) aliases: Option<Vec<String>>,
    pub(crate) servers: Vec<String>,
    /// Sequence number that selects the server to query first.
    pub(crate) turn: u32,
    pub(crate) user: UserId,
    pub(crate) route: RouteId,
    pub(crate) reply_to: Inbox,
}

/// Addresses, each with the name that was looked up; or Java's error message.
pub(crate) type Found = Result<Vec<(String, SocketAddr)>, String>;

/// Sender of lookups to the thread. The thread ends when the sender is dropped.
#[derive(Debug)]
pub(crate) struct NameServers {
    to: Option<Sender<Lookup>>,
    wake: Arc<Wake>,
}

impl NameServers {
    pub(crate) fn start(manners: QuerySettings) -> io::Result<Self> {
        Self::with(manners, &search_path())
    }

    fn with(manners: QuerySettings, path: &SearchPath) -> io::Result<Self> {
        let wake = Arc::new(Wake::new()?);
        let (to, questions) = channel();
        let driver = Driver::new(&wake)?;
        let mut thread = QueryState::new(driver, questions, Arc::clone(&wake), manners, path);
        std::thread::Builder::new().name("names".into()).spawn(move || thread.run())?;
        Ok(Self { to: Some(to), wake })
    }

    pub(crate) fn ask(&self, lookup: Lookup) {
        if self.to.as_ref().is_some_and(|to| to.send(lookup).is_ok()) {
            self.wake.raise();
        }
    }
}

impl Drop for NameServers {
    fn drop(&mut self) {
        self.to = None;
        self.wake.raise();
    }
}

/// The domains that the system appends to names.
#[derive(Debug, Default)]
struct SearchPath {
    below: Vec<Name>,
    /// A name with at least this number of dots is first queried without an appended domain. All other names are
    /// queried only with an appended domain.
    dots: usize,
}

fn search_path() -> SearchPath {
    read_search_path(&std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default())
}

fn read_search_path(text: &str) -> SearchPath {
    let mut path = SearchPath { below: Vec::new(), dots: 1 };
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("domain") if path.below.is_empty() => {
                path.below.extend(words.next().and_then(Name::new));
            }
            Some("search") => path.below = words.filter_map(Name::new).collect(),
            Some("options") => {
                let mut dots = words.filter_map(|word| word.strip_prefix("ndots:")?.parse().ok());
                path.dots = dots.next_back().unwrap_or(path.dots);
            }
            _ => {}
        }
    }
    path
}

/// A lookup that is in progress.
#[derive(Debug)]
struct Task {
    lookup: Lookup,
    /// Index of the alias that is being resolved, in the aliases of the lookup.
    at: usize,
    found: Vec<(String, SocketAddr)>,
    servers: Vec<SocketAddr>,
    /// Remaining candidate names, and the name that is being queried.
    candidates: VecDeque<Name>,
    name: Name,
    aliases: u8,
    /// Number of queries sent to each server for the current name.
    asked: Vec<u8>,
    /// Number of queries without an answer yet.
    open: u32,
}

/// A query that was sent to a name server and has no answer yet.
#[derive(Debug)]
struct Query {
    task: u64,
    server: usize,
    id: u16,
    until: Instant,
    fd: OwnedFd,
    way: Way,
}

/// The transport of a query to a name server.
#[derive(Debug)]
enum Way {
    Datagram,
    /// A TCP connection that is not established yet.
    Opening,
    /// A TCP connection, with the part of the answer received so far.
    Stream(Vec<u8>),
}

/// The reason why a server gave no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Late,
    /// The server refused the query, or its answer cannot be parsed.
    Broken,
}

/// State of the thread that queries name servers.
#[derive(Debug)]
struct QueryState {
    driver: Driver,
    questions: Receiver<Lookup>,
    wake: Arc<Wake>,
    manners: QuerySettings,
    below: Vec<Name>,
    dots: usize,
    tasks: BTreeMap<u64, Task>,
    asks: BTreeMap<u64, Query>,
    limits: BinaryHeap<Reverse<(Instant, u64)>>,
    /// Addresses of servers by name; `None` if the system cannot resolve the name.
    known: HashMap<String, Option<SocketAddr>>,
    /// The last number assigned to a task or query.
    last: u64,
    random: RandomState,
    buffer: Vec<u8>,
}

impl QueryState {
    fn new(
        driver: Driver,
        questions: Receiver<Lookup>,
        wake: Arc<Wake>,
        manners: QuerySettings,
        path: &SearchPath,
    ) -> Self {
        Self {
            driver,
            questions,
            wake,
            manners,
            below: path.below.clone(),
            dots: path.dots,
            tasks: BTreeMap::new(),
            asks: BTreeMap::new(),
            limits: BinaryHeap::new(),
            known: HashMap::new(),
            last: 0,
            random: RandomState::new(),
            buffer: vec![0; LONGEST],
        }
    }

    fn run(&mut self) {
        let mut events = Events::new();
        loop {
            if !self.turn(&mut events, self.until_next_limit()) {
                return;
            }
            // The wait may have ended because this process was suspended. Answers that arrived meanwhile are read
            // before their queries time out.
            if self.until_next_limit() == Some(0) && !self.turn(&mut events, Some(0)) {
                return;
            }
            self.expire();
        }
    }

    fn until_next_limit(&self) -> Option<Nanos> {
        let Reverse((until, _)) = self.limits.peek()?;
        Some(until.saturating_duration_since(Instant::now()).as_nanos() as Nanos)
    }

    /// Waits for events and handles them. Returns false if the run is over.
    fn turn(&mut self, events: &mut Events, timeout: Option<Nanos>) -> bool {
        if self.driver.wait(events, timeout).is_err() {
            return false;
        }
        for ready in events.iter() {
            if ready.token != INBOX {
                self.on_ready(ready.token, ready.readable, ready.writable);
            } else if !self.take_questions() {
                return false;
            }
        }
        true
    }

    /// Starts new lookups. Returns false if the run is over.
    fn take_questions(&mut self) -> bool {
        self.wake.lower();
        loop {
            match self.questions.try_recv() {
                Ok(lookup) => self.begin(lookup),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn begin(&mut self, lookup: Lookup) {
        let port = self.manners.port;
        let servers: Option<Vec<_>> =
            lookup.servers.iter().map(|name| self.server(name, port)).collect();
        let Some(mut servers) = servers else {
            let words = format!(
                "Could not resolve host:{}, failed to initialize resolver or no resolver found",
                lookup.host
            );
            return answer(&lookup, Err(words));
        };
        let first = lookup.turn as usize % servers.len().max(1);
        servers.rotate_left(first);
        self.last += 1;
        let asked = vec![0; servers.len()];
        let task = Task {
            lookup,
            at: 0,
            found: Vec::new(),
            servers,
            candidates: VecDeque::new(),
            name: Name::root(),
            aliases: 0,
            asked,
            open: 0,
        };
        self.begin_name(self.last, task);
    }

    fn server(&mut self, name: &str, port: u16) -> Option<SocketAddr> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        // Java treats an empty name as this machine.
        let asked = if name.is_empty() { "127.0.0.1" } else { name };
        let found = resolve::literal(asked).map(|ip| SocketAddr::new(ip, port)).or_else(|| {
            let mut all: Vec<_> = (asked, port).to_socket_addrs().ok()?.collect();
            all.sort_by_key(SocketAddr::is_ipv6);
            all.first().copied()
        });
        let found = found.filter(|to| self.manners.allowed.permit(asked, *to, true));
        self.known.insert(name.to_owned(), found);
        found
    }

    /// Looks up the task's next name, or ends the task.
    fn begin_name(&mut self, number: u64, mut task: Task) {
        let text = match &task.lookup.aliases {
            None if task.at == 0 => task.lookup.host.clone(),
            Some(aliases) if task.at < aliases.len() => aliases[task.at].clone(),
            _ => return answer(&task.lookup, Ok(task.found)),
        };
        task.aliases = 0;
        task.candidates = self.candidates(&text);
        self.next_candidate(number, task);
    }

    /// Returns the full names to query for a host name, formed with the domains of the search path.
    fn candidates(&self, text: &str) -> VecDeque<Name> {
        let Some(name) = Name::new(text) else { return VecDeque::new() };
        if text.ends_with('.') || self.below.is_empty() {
            return VecDeque::from([name]);
        }
        let whole = (name.labels() > self.dots).then(|| name.clone());
        whole.into_iter().chain(self.below.iter().filter_map(|path| name.below(path))).collect()
    }

    fn next_candidate(&mut self, number: u64, mut task: Task) {
        match task.candidates.pop_front() {
            // A chain of aliases that reaches the limit ends the search.
            Some(name) if task.aliases == 0 => {
                task.name = name;
                self.ask_all(number, task);
            }
            _ => self.not_found(number, task),
        }
    }

    fn not_found(&mut self, number: u64, mut task: Task) {
        let Some(aliases) = &task.lookup.aliases else {
            let words = format!("Failed to resolve host name: {}", task.lookup.host);
            return answer(&task.lookup, Err(words));
        };
        // JMeter then uses the system's resolver. In most cases the alias is an IP address.
        let alias = aliases[task.at].clone();
        let found = match resolve::literal(&alias) {
            Some(ip) => Some(SocketAddr::new(ip, 0)),
            None => (&*alias, 0).to_socket_addrs().ok().and_then(|mut all| all.next()),
        };
        task.found.extend(found.map(|address| (resolve::shown(&alias), address)));
        task.at += 1;
        self.begin_name(number, task);
    }

    /// Starts to query name servers for the task's name: sends a query to the first server.
    fn ask_all(&mut self, number: u64, mut task: Task) {
        task.asked.fill(0);
        task.open = 0;
        self.tasks.insert(number, task);
        self.ask(number, 0);
        self.settle(number);
    }

    /// Sends one more query to a server.
    fn ask(&mut self, number: u64, server: usize) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        let Some(address) = task.servers.get(server).copied() else { return };
        task.asked[server] += 1;
        task.open += 1;
        self.last += 1;
        let token = self.last;
        let id = self.random.hash_one(token) as u16;
        let mut question = Vec::new();
        dns::ask(id, &task.name, &mut question);
        let sent = self.driver.connect_datagram(address, None, token).and_then(|fd| {
            driver::send(&fd, &question)?;
            Ok(fd)
        });
        let Ok(fd) = sent else { return self.trouble(number, server, Trouble::Broken) };
        let until = Instant::now() + self.manners.patience;
        self.limits.push(Reverse((until, token)));
        self.asks.insert(token, Query { task: number, server, id, until, fd, way: Way::Datagram });
    }

    /// Handles a query without a usable answer: retries, or queries the next server.
    fn trouble(&mut self, number: u64, server: usize, trouble: Trouble) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        task.open -= 1;
        let asked = task.asked[server];
        let goes_on = asked == 1 && server + 1 < task.servers.len();
        if trouble == Trouble::Late && asked < TRIES {
            self.ask(number, server);
        }
        if goes_on {
            self.ask(number, server + 1);
        }
    }

    /// Continues with the task's next candidate name if no query for the current one is unanswered.
    fn settle(&mut self, number: u64) {
        if self.tasks.get(&number).is_some_and(|task| task.open == 0)
            && let Some(task) = self.tasks.remove(&number)
        {
            self.next_candidate(number, task);
        }
    }

    fn fail(&mut self, token: u64, trouble: Trouble) {
        if let Some(ask) = self.asks.remove(&token) {
            self.trouble(ask.task, ask.server, trouble);
            self.settle(ask.task);
        }
    }

    fn expire(&mut self) {
        let now = Instant::now();
        while let Some(Reverse((until, token))) = self.limits.peek().copied() {
            if until > now {
                return;
            }
            self.limits.pop();
            // A query that was repeated over TCP has a new token, and the same deadline.
            self.fail(token, Trouble::Late);
        }
    }

    fn on_ready(&mut self, token: u64, readable: bool, writable: bool) {
        let Some(ask) = self.asks.get_mut(&token) else { return };
        if writable && matches!(ask.way, Way::Opening) {
            let Some(task) = self.tasks.get(&ask.task) else { return };
            let mut question = vec![0, 0];
            dns::ask(ask.id, &task.name, &mut question);
            let length = (question.len() - 2) as u16;
            question[..2].copy_from_slice(&length.to_be_bytes());
            let sent =
                driver::connect_result(&ask.fd).and_then(|()| driver::send(&ask.fd, &question));
            if sent.is_err() {
                return self.fail(token, Trouble::Broken);
            }
            ask.way = Way::Stream(Vec::new());
        }
        if readable {
            self.read(token);
        }
    }

    fn read(&mut self, token: u64) {
        let mut buffer = std::mem::take(&mut self.buffer);
        while let Some(ask) = self.asks.get_mut(&token) {
            let bytes = match self.driver.receive(&ask.fd, &mut buffer) {
                Ok(Some(received)) => &buffer[..received.bytes],
                Ok(None) => break,
                Err(_) => {
                    self.fail(token, Trouble::Broken);
                    break;
                }
            };
            match &mut ask.way {
                Way::Datagram => {
                    let message = bytes.to_vec();
                    self.handle_answer(token, &message, false);
                }
                Way::Opening => break,
                Way::Stream(came) => {
                    came.extend_from_slice(bytes);
                    let whole = came.split_first_chunk::<2>().and_then(|(length, rest)| {
                        rest.get(..usize::from(u16::from_be_bytes(*length))).map(<[u8]>::to_vec)
                    });
                    match whole {
                        Some(message) => self.handle_answer(token, &message, true),
                        None if bytes.is_empty() => self.fail(token, Trouble::Broken),
                        None => {}
                    }
                }
            }
        }
        self.buffer = buffer;
    }

    /// Handles an answer of a server: continues its lookup, or repeats the query over TCP if the answer is truncated.
    fn handle_answer(&mut self, token: u64, message: &[u8], whole: bool) {
        let Some(ask) = self.asks.get(&token) else { return };
        let Some(task) = self.tasks.get(&ask.task) else { return };
        match dns::read(ask.id, &task.name, message, whole) {
            Err(dns::Malformed) => self.fail(token, Trouble::Broken),
            Ok(Answer::NotOurs) if whole => self.fail(token, Trouble::Broken),
            Ok(Answer::NotOurs) => {}
            Ok(Answer::Truncated) => self.ask_by_stream(token),
            Ok(found) => {
                let number = ask.task;
                self.asks.retain(|_, ask| ask.task != number);
                if let Some(task) = self.tasks.remove(&number) {
                    self.answered(number, task, found);
                }
            }
        }
    }

    fn ask_by_stream(&mut self, token: u64) {
        let Some(ask) = self.asks.remove(&token) else { return };
        let Some(task) = self.tasks.get(&ask.task) else { return };
        self.last += 1;
        let next = self.last;
        match self.driver.connect(task.servers[ask.server], None, &mut Ports::of_kernel(), next) {
            Ok(fd) => {
                self.limits.push(Reverse((ask.until, next)));
                self.asks.insert(next, Query { fd, way: Way::Opening, ..ask });
            }
            Err(_) => {
                self.trouble(ask.task, ask.server, Trouble::Broken);
                self.settle(ask.task);
            }
        }
    }

    fn answered(&mut self, number: u64, mut task: Task, found: Answer) {
        match found {
            Answer::Addresses(addresses) => {
                let name = task.name.to_string();
                let with = |address| (name.clone(), SocketAddr::new(address, 0));
                task.found.extend(addresses.into_iter().map(|address| with(address.into())));
                task.at += 1;
                self.begin_name(number, task);
            }
            Answer::Alias(target) => {
                task.aliases += 1;
                if task.aliases >= ALIASES || target == task.name {
                    return self.not_found(number, task);
                }
                task.name = target;
                self.ask_all(number, task);
            }
            Answer::Nothing | Answer::Truncated | Answer::NotOurs => {
                self.next_candidate(number, task);
            }
        }
    }
}

fn answer(lookup: &Lookup, found: Found) {
    let (user, route) = (lookup.user, lookup.route);
    lookup.reply_to.send(Message::Named { user, route, found });
}

#[cfg(test)]
mod tests;
