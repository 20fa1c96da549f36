//! Reserves agents that wait in a pool for a run.
//!
//! The coordinator calls the pool until enough suitable agents have offered themselves: free, with the same program,
//! and with matching zone and labels. Each chosen agent receives a reservation order, which it acknowledges. The wait
//! is limited. At its end, a message lists what is missing and which unsuitable offers arrived.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wire::nats::is_token;

use super::client::{Client, Event};
use super::envelope::{self, Kind, Offer, Order, OrderKind, RandomId};
use super::hub::Input;
use super::key::{Public, Secret};
use super::sealed::{Half, Keys, Own, Shared, Side};
use super::server::{Login, POOL, Server, read, shared, var};

/// Maximum wait for the connection to the server.
const SERVER: Duration = Duration::from_secs(15);
/// Maximum wait for offers of enough agents.
const AGENTS: Duration = Duration::from_secs(60);
/// Time to wait for further offers if the user requested no number of agents.
const MORE: Duration = Duration::from_secs(2);
/// Interval at which calls to the pool, and orders to agents that have not answered, are repeated.
pub(super) const CALL: Duration = Duration::from_millis(500);
/// Time after which a reservation fails because an agent has not acknowledged its order.
const BEGIN: Duration = Duration::from_secs(10);
/// Maximum number of labels of an agent.
pub(super) const LABELS: usize = 32;

/// The agents that the user requests for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pools {
    pub server: Server,
    /// Number of agents; `None` requests all free agents.
    pub agents: Option<u32>,
    /// Zones with their shares of the load. If empty, zones do not matter.
    pub zones: Vec<(String, u32)>,
    /// Labels that every agent must have.
    pub labels: Vec<(String, String)>,
    /// Names of the requested agents, sorted. If empty, all suitable agents.
    pub names: Vec<String>,
}

/// A reserved agent.
#[derive(Debug)]
pub(crate) struct ReservedAgent {
    pub(crate) name: String,
    pub(crate) zone: String,
    pub(super) key: Public,
    /// The agent's public key for the key exchange.
    pub(super) half: Half,
    /// The keys with which the packets of the stream are encrypted.
    pub(super) keys: Keys,
    pub(super) session: RandomId,
}

/// The data that another coordinator needs to take over the stream to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamHandover {
    /// The public key that verifies the agent's messages.
    pub(super) key: [u8; 32],
    /// The agent's public key for the key exchange of the stream.
    pub(super) half: Half,
    /// Sessions of the run on this agent: last the current session, before it earlier sessions in which the agent may
    /// still be.
    pub(super) sessions: Vec<RandomId>,
}

/// Maximum number of stored sessions, and so of coordinators in succession whose takeovers may have failed.
const SESSIONS: usize = 16;

impl StreamHandover {
    /// Appends a new session. The caller must save the data before sending the session to the agent.
    pub(crate) fn next(mut self) -> Result<Self, String> {
        self.sessions.push(envelope::random_id()?);
        let over = self.sessions.len().saturating_sub(SESSIONS);
        self.sessions.drain(..over);
        Ok(self)
    }
}

impl ReservedAgent {
    pub(super) fn handover(&self) -> StreamHandover {
        StreamHandover { key: self.key.bytes(), half: self.half, sessions: vec![self.session] }
    }
}

/// The reserved agents, and the connection through which they were reserved.
pub(crate) struct ReservedAgents {
    pub(crate) agents: Vec<ReservedAgent>,
    pub(super) client: Client,
    pub(super) input: Receiver<Input>,
    pub(super) say: Sender<Input>,
    pub(super) operator: Option<Secret>,
    pub(super) seals: Seals,
    pub(super) max_payload: usize,
}

/// The coordinator's key pair for the key exchanges of its streams, and the key that the operator shares with the
/// agents.
#[derive(Debug)]
pub(super) struct Seals {
    pub(super) own: Own,
    pub(super) shared: Option<Shared>,
}

impl Seals {
    /// Returns the encryption keys of the stream to an agent.
    pub(super) fn keys(&self, half: &Half, about: (RandomId, &str)) -> Result<Keys, String> {
        self.own.keys(Side::Coordinator, half, self.shared.as_ref(), about)
    }
}

/// The credentials of a coordinator for a NATS server and its agents.
#[derive(Debug)]
pub(crate) struct Access {
    pub(super) login: Login,
    /// Secret key of the operator, which signs orders.
    pub(super) operator: Option<Secret>,
    /// The key that the operator shares with the agents.
    pub(super) shared: Option<Shared>,
    /// Hash of this program, which agents' programs must equal.
    pub(super) program: String,
}

impl Access {
    /// Reads the credentials for a server. `env` returns environment variables.
    pub(crate) fn of(
        server: &Server,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let operator = env(var::OPERATOR_SECRET).map(|path| {
            let named = |words| format!("{}: {path}: {words}", var::OPERATOR_SECRET);
            Secret::read(&read(var::OPERATOR_SECRET, &path)?).map_err(named)
        });
        let (operator, login) = (operator.transpose()?, Login::of(server, &env)?);
        let shared = shared(&env)?;
        Ok(Self { login, operator, shared, program: crate::remote::program()? })
    }
}

/// Finds agents that could be reserved, but reserves none. Returns their names, grouped by zone.
pub(crate) fn find_free(
    asked: &Pools,
    access: Access,
    cancelled: &dyn Fn() -> bool,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<String>, String> {
    let mut reservation = Reservation::start(asked, access, cancelled)?;
    reservation.connect(note)?;
    reservation.gather(note)?;
    let mut found: Vec<_> =
        reservation.reserved.agents.into_iter().map(|agent| (agent.zone, agent.name)).collect();
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, name)| name).collect())
}

/// Reserves agents for a run. Each agent closes its stream after `patience` seconds without a message of the
/// coordinator.
pub(crate) fn reserve(
    asked: &Pools,
    access: Access,
    patience: u32,
    cancelled: &dyn Fn() -> bool,
    note: &mut dyn FnMut(&str),
) -> Result<ReservedAgents, String> {
    let mut reservation = Reservation::start(asked, access, cancelled)?;
    reservation.connect(note)?;
    reservation.gather(note)?;
    if let Err(words) = reservation.begin(patience, note) {
        reservation.dismiss();
        return Err(words);
    }
    Ok(reservation.reserved)
}

pub(super) struct Reservation<'a> {
    asked: &'a Pools,
    pub(super) program: String,
    pub(super) reserved: ReservedAgents,
    cancelled: &'a dyn Fn() -> bool,
    /// The last offer of each agent.
    pub(super) offers: BTreeMap<String, Offer>,
    /// The reason for which the server could not be reached last.
    down: String,
}

impl<'a> Reservation<'a> {
    /// Starts to connect to the server, in the background.
    pub(super) fn start(
        asked: &'a Pools,
        access: Access,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Self, String> {
        let Access { login, operator, shared, program } = access;
        let seals = Seals { own: Own::new()?, shared };
        let (say, input) = std::sync::mpsc::channel();
        let to = say.clone();
        let server = asked.server.clone();
        let client = Client::start(server, login, "throng run".into(), move |event| {
            let _ = to.send(Input::Bus(event));
        })?;
        let reserved = ReservedAgents {
            agents: Vec::new(),
            client,
            input,
            say,
            operator,
            seals,
            max_payload: 0,
        };
        let (offers, down) = (BTreeMap::new(), String::new());
        Ok(Self { asked, program, reserved, cancelled, offers, down })
    }

    pub(super) fn pool(&self) -> &str {
        self.asked.server.pool.as_deref().unwrap_or(POOL)
    }

    /// Waits briefly for an event of the connection and handles it. If the event is a message of a reserved agent,
    /// returns the agent's name and the message.
    pub(super) fn listen(
        &mut self,
        note: &mut dyn FnMut(&str),
    ) -> Result<Option<(String, Vec<u8>)>, String> {
        if (self.cancelled)() {
            return Err("interrupted while looking for agents".into());
        }
        let event = match self.reserved.input.recv_timeout(Duration::from_millis(50)) {
            Ok(Input::Bus(event)) => event,
            Ok(_) | Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                return Err("internal error: the thread of the NATS connection has ended".into());
            }
        };
        match event {
            Event::Up { max_payload } => {
                self.reserved.max_payload = max_payload;
                self.down.clear();
            }
            Event::Down { words, refused: true } => return Err(words),
            Event::Down { words, .. } => self.down = words,
            Event::Note(words) => note(&words),
            Event::Message { subject, payload, .. } => {
                let mut tokens = subject.split('.').skip(1);
                match (tokens.next(), tokens.next(), tokens.next()) {
                    (Some("offer"), Some(pool), Some(agent)) if pool == self.pool() => {
                        if let Some(offer) = envelope::open_offer(agent, &payload).filter(is_plain)
                        {
                            self.offers.insert(agent.to_owned(), offer);
                        }
                    }
                    (Some("from"), Some(agent), None) => {
                        return Ok(Some((agent.to_owned(), payload)));
                    }
                    _ => {}
                }
            }
        }
        Ok(None)
    }

    pub(super) fn connect(&mut self, note: &mut dyn FnMut(&str)) -> Result<(), String> {
        let until = Instant::now() + SERVER;
        while self.reserved.max_payload == 0 {
            self.listen(note)?;
            if Instant::now() > until {
                let Server { host, port, .. } = &self.asked.server;
                let silent = format!("{host}:{port}: no answer");
                let why = if self.down.is_empty() { &silent } else { &self.down };
                return Err(format!("cannot reach the NATS server {why}"));
            }
        }
        self.reserved
            .client
            .subscribe(&format!("{}.*", envelope::call(self.pool()).replace("call", "offer")));
        Ok(())
    }

    /// Sends calls to the pool until enough agents have offered themselves.
    fn gather(&mut self, note: &mut dyn FnMut(&str)) -> Result<(), String> {
        let (begun, mut called) = (Instant::now(), None::<Instant>);
        let mut first = None::<Instant>;
        note(&format!("looking for agents in pool {}", self.pool()));
        loop {
            if called.is_none_or(|at| at.elapsed() >= CALL) {
                called = Some(Instant::now());
                let subject = envelope::call(self.pool());
                self.reserved.client.publish(&subject, Vec::new());
            }
            self.listen(note)?;
            let chosen = self.chosen();
            if chosen.is_some() && first.is_none() {
                first = Some(Instant::now());
            }
            let waits = self.asked.agents.is_none() && first.is_none_or(|at| at.elapsed() < MORE);
            if let Some(names) = chosen.filter(|_| !waits) {
                return self.take(names);
            }
            if begun.elapsed() > AGENTS {
                return Err(self.missing());
            }
        }
    }

    fn is_meant(&self, name: &String) -> bool {
        self.asked.names.is_empty() || self.asked.names.binary_search(name).is_ok()
    }

    /// Returns the reason why an agent cannot be reserved.
    fn unfit(&self, offer: &Offer) -> Option<String> {
        let Pools { zones, labels, .. } = self.asked;
        if offer.busy {
            return Some("is busy with another run".into());
        }
        if offer.program != self.program {
            return Some("runs another version or build of Throng".into());
        }
        match (offer.mark, self.reserved.seals.shared.as_ref().map(Shared::mark)) {
            (one, other) if one == other => {}
            (None, _) => return Some(format!("has no shared key ({})", var::SEAL)),
            (_, None) => {
                return Some(format!("has a shared key ({}), but this run has none", var::SEAL));
            }
            _ => return Some(format!("has another shared key ({})", var::SEAL)),
        }
        if !zones.is_empty() && !zones.iter().any(|(zone, _)| *zone == offer.zone) {
            return Some(format!("is in zone {:?}", offer.zone));
        }
        let lacks = |label: &&(String, String)| !offer.labels.contains(label);
        labels
            .iter()
            .find(lacks)
            .map(|(name, value)| format!("does not have the label {name}={value}"))
    }

    /// Returns the names of the agents to reserve, taken from the zones in turn; `None` while there are not enough.
    fn chosen(&self) -> Option<Vec<String>> {
        let fit = || {
            let meant = self.offers.iter().filter(|(name, _)| self.is_meant(name));
            meant.filter(|(_, offer)| self.unfit(offer).is_none())
        };
        let mut by_zone: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        for (name, offer) in fit() {
            let zone = if self.asked.zones.is_empty() { "" } else { offer.zone.as_str() };
            by_zone.entry(zone).or_default().push(name);
        }
        if self.asked.zones.iter().any(|(zone, _)| !by_zone.contains_key(zone.as_str())) {
            return None;
        }
        let all = fit().count();
        let wanted = self.asked.agents.map_or(all, |agents| agents as usize);
        if wanted == 0 || all < wanted {
            return None;
        }
        let longest = by_zone.values().map(Vec::len).max().unwrap_or(0);
        let in_turn =
            (0..longest).flat_map(|nth| by_zone.values().filter_map(move |names| names.get(nth)));
        Some(in_turn.take(wanted).map(|name| (*name).clone()).collect())
    }

    fn take(&mut self, names: Vec<String>) -> Result<(), String> {
        for name in names {
            let offer = self
                .offers
                .get(&name)
                .cloned()
                .ok_or("internal error: an offer has disappeared")?;
            let (key, session) = (Public::of(offer.key), envelope::random_id()?);
            self.reserved.client.subscribe(&envelope::from(&name));
            let (half, keys) =
                (offer.half, self.reserved.seals.keys(&offer.half, (session, &name))?);
            self.reserved.agents.push(ReservedAgent {
                name,
                zone: offer.zone,
                key,
                half,
                keys,
                session,
            });
        }
        Ok(())
    }

    /// Sends reservation orders, and repeats them until every agent has acknowledged. Fails if an agent refuses or is
    /// late.
    fn begin(&mut self, patience: u32, note: &mut dyn FnMut(&str)) -> Result<(), String> {
        let (begun, mut ordered) = (Instant::now(), None::<Instant>);
        let mut answered = vec![false; self.reserved.agents.len()];
        while answered.contains(&false) {
            if ordered.is_none_or(|at| at.elapsed() >= CALL) {
                ordered = Some(Instant::now());
                for (agent, _) in
                    self.reserved.agents.iter().zip(&answered).filter(|(_, done)| !**done)
                {
                    let Some(nonce) = self.offers.get(&agent.name).map(|offer| offer.nonce) else {
                        continue;
                    };
                    let half = self.reserved.seals.own.half();
                    let what = OrderKind::Reserve { nonce, patience, half };
                    let order = Order { session: agent.session, what };
                    let about = (Kind::Order, agent.name.as_str());
                    let bytes = envelope::seal(self.reserved.operator.as_ref(), about, &order);
                    self.reserved.client.publish(&envelope::to(&agent.name), bytes);
                }
            }
            if let Some((name, bytes)) = self.listen(note)? {
                for (agent, done) in self.reserved.agents.iter().zip(&mut answered) {
                    let word = |_: &&ReservedAgent| {
                        envelope::open::<envelope::Reply>(
                            Some(&agent.key),
                            (Kind::Reply, &name),
                            &bytes,
                        )
                    };
                    let word =
                        Some(agent).filter(|agent| agent.name == name).as_ref().and_then(word);
                    *done |= word.is_some_and(|word| word.session == agent.session);
                }
            }
            let silent = self.reserved.agents.iter().zip(&answered).find(|(_, done)| !**done);
            let Some((agent, _)) = silent else { continue };
            let refusal = self.offers.get(&agent.name).and_then(|offer| offer.refusal.clone());
            let refusal =
                refusal.filter(|(session, _)| *session == agent.session).map(|(_, words)| words);
            let late = begun.elapsed() > BEGIN;
            let late = late.then(|| format!("it did not start within {} s", BEGIN.as_secs()));
            if let Some(words) = refusal.or(late) {
                return Err(format!("agent {}: {words}", agent.name));
            }
        }
        Ok(())
    }

    /// Releases the agents that were already reserved.
    fn dismiss(&self) {
        for agent in &self.reserved.agents {
            let order = Order { session: agent.session, what: OrderKind::Close };
            let bytes =
                envelope::seal(self.reserved.operator.as_ref(), (Kind::Order, &agent.name), &order);
            self.reserved.client.publish(&envelope::to(&agent.name), bytes);
        }
        // The connection's thread sends the orders.
        let until = Instant::now() + Duration::from_secs(1);
        while self.reserved.client.queued() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns a message about what is missing and which unsuitable offers arrived.
    pub(super) fn missing(&self) -> String {
        let (pool, seconds) = (self.pool(), AGENTS.as_secs());
        let meant = || self.offers.iter().filter(|(name, _)| self.is_meant(name));
        let fit = meant().filter(|(_, offer)| self.unfit(offer).is_none()).count();
        let needed = self.asked.agents.map_or_else(String::new, |agents| format!(" of {agents}"));
        let zones: Vec<&str> = self.asked.zones.iter().map(|(zone, _)| zone.as_str()).collect();
        let zones = if zones.is_empty() {
            String::new()
        } else {
            format!(" in zones {}", zones.join(", "))
        };
        let others: Vec<String> = meant()
            .filter_map(|(name, offer)| Some(format!("{name} {}", self.unfit(offer)?)))
            .take(5)
            .collect();
        let others = match &others[..] {
            [] if self.offers.is_empty() => "; no agent answered".to_owned(),
            [] => String::new(),
            others => format!("; {}", others.join(", ")),
        };
        let down = if self.down.is_empty() { String::new() } else { format!("; {}", self.down) };
        format!(
            "not enough agents in pool {pool}{zones} after {seconds} s: {fit}{needed} free{others}{down}"
        )
    }
}

/// True if the strings in an offer are short and have only valid characters, because they become parts of messages.
fn is_plain(offer: &Offer) -> bool {
    let label = |(name, value): &(String, String)| is_token(name) && is_token(value);
    (offer.zone.is_empty() || is_token(&offer.zone))
        && offer.labels.len() <= LABELS
        && offer.labels.iter().all(label)
        && offer.program.len() <= 64
        && offer
            .refusal
            .as_ref()
            .is_none_or(|(_, words)| words.len() <= 500 && !words.contains(char::is_control))
}
