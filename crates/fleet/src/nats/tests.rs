//! Tests with a real server: reconnects, orders that count once and only with the operator's signature, and agents that
//! can speak only for themselves and within limits.
//!
//! The server has no permissions here, so only signatures and encryption protect.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::client::{Client, Event};
use super::envelope::{self, Kind, Offer, Order, OrderKind, RandomId, Reply, ReplyKind};
use super::key::Secret;
use super::link::Packet;
use super::reserve::{Access, ReservedAgents};
use super::sealed::{Keys, Own, Shared, Side};
use super::server::{Login, Server};
use super::wait::{Waiting, wait};
use super::{Pools, reserve, start};
use crate::remote::{AgentEvent, Offered};

#[path = "../../../../tests/free_port.rs"]
mod free_port;
#[path = "../../../../tests/skipped.rs"]
mod skipped;

mod secrets;

/// Maximum wait for any event.
const LONG: Duration = Duration::from_secs(30);

/// A running NATS server from Debian's package, without credentials.
struct Bus {
    port: u16,
    child: Child,
}

impl Bus {
    fn new() -> Option<Self> {
        let port = free_port::free_port();
        match server(port) {
            Ok(child) => Some(Self { port, child }),
            Err(error) => {
                skipped::skip(format!("nats-server cannot be started: {error}"));
                None
            }
        }
    }

    /// Starts a server program with a configuration, in which `PORT` stands for the server's port.
    fn of(program: &str, config: &str) -> Option<Self> {
        let port = free_port::free_port();
        let path = config_file(port);
        std::fs::write(&path, format!("listen: \"127.0.0.1:{port}\"\n{config}")).expect("a file");
        let mut command = Command::new(program);
        command
            .arg("-c")
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match command.spawn() {
            Ok(child) => Some(Self { port, child }),
            Err(error) => {
                let _ = std::fs::remove_file(path);
                skipped::skip(format!("{program} cannot be started: {error}"));
                None
            }
        }
    }

    /// Connects to the server with this address and these environment variables. Returns the result of the first
    /// attempt that reached a listener.
    fn tried(&self, address: &str, vars: &[(&str, &str)]) -> Result<(), String> {
        let server =
            Server::read(&address.replace("PORT", &self.port.to_string())).expect("an address");
        let var = |name: &str| {
            vars.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
        };
        let login = Login::of(&server, var).expect("credentials");
        let (say, events) = channel();
        let client = Client::start(server, login, "test".into(), move |event| {
            let _ = say.send(event);
        });
        let _client = client.expect("a client");
        until(&events, |event| match event {
            Event::Up { .. } => Some(Ok(())),
            Event::Down { words, .. } if words.contains("refused (os error") => None,
            Event::Down { words, .. } => Some(Err(words)),
            _ => None,
        })
    }

    fn again(&mut self) {
        self.child.kill().expect("it lives");
        self.child.wait().expect("its end");
        self.child = server(self.port).expect("a server");
    }

    fn address(&self) -> Server {
        Server::read(&format!("nats://127.0.0.1:{}", self.port)).expect("an address")
    }

    fn client(&self) -> (Client, Receiver<Event>) {
        let (say, events) = channel();
        let client = Client::start(self.address(), Login::default(), "test".into(), move |event| {
            let _ = say.send(event);
        });
        (client.expect("a client"), events)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(config_file(self.port));
    }
}

fn config_file(port: u16) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("throng-nats-{port}.conf"))
}

/// Returns the path of the NATS server from Debian's package, which may not be in the user's PATH.
fn debians() -> String {
    let aside = std::path::Path::new("/usr/sbin/nats-server");
    if aside.exists() { aside.display().to_string() } else { "nats-server".into() }
}

fn server(port: u16) -> std::io::Result<Child> {
    let mut command = Command::new(debians());
    command.args(["-a", "127.0.0.1", "-p", &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Waits for an event for which `fits` returns a value, and returns that value.
fn until<T>(events: &Receiver<Event>, mut fits: impl FnMut(Event) -> Option<T>) -> T {
    let end = Instant::now() + LONG;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let event = events.recv_timeout(left).expect("an event in time");
        if let Some(found) = fits(event) {
            return found;
        }
    }
}

fn up(event: Event) -> Option<usize> {
    match event {
        Event::Up { max_payload } => Some(max_payload),
        _ => None,
    }
}

#[test]
fn a_connection_comes_back_with_its_subscriptions() {
    let Some(mut bus) = Bus::new() else { return };
    let (client, events) = bus.client();
    let (other, others) = bus.client();
    client.subscribe("a.*");
    assert_eq!(until(&events, up), 1 << 20);
    until(&others, up);
    // A subscription becomes active some time after its request.
    let hears = |payload: &[u8]| {
        let end = Instant::now() + LONG;
        loop {
            other.publish("a.b", payload.to_vec());
            match events.recv_timeout(Duration::from_millis(50)) {
                Ok(Event::Message { subject, payload: heard, .. }) if heard == payload => {
                    return assert_eq!(subject, "a.b");
                }
                _ => assert!(Instant::now() < end, "it is not heard"),
            }
        }
    };
    hears(b"one");
    hears(&vec![7; 900 << 10]);
    bus.again();
    until(&others, up);
    hears(b"two");
}

#[test]
fn users_and_tokens_are_let_in_and_others_are_not() {
    let config = "authorization { users: [ { user: me, password: pw } ] }";
    let Some(bus) = Bus::of(&debians(), config) else { return };
    assert_eq!(bus.tried("nats://me:pw@127.0.0.1:PORT", &[]), Ok(()));
    let vars = [("THRONG_NATS_USER", "me"), ("THRONG_NATS_PASSWORD", "pw")];
    assert_eq!(bus.tried("nats://127.0.0.1:PORT", &vars), Ok(()));
    for wrong in ["nats://me:other@127.0.0.1:PORT", "nats://127.0.0.1:PORT"] {
        let refused = bus.tried(wrong, &[]).expect_err(wrong);
        assert!(refused.contains("Authorization Violation"), "{refused}");
    }
    let insists = bus.tried("tls://me:pw@127.0.0.1:PORT", &[]).expect_err("no TLS");
    assert!(insists.contains("the server offers no TLS"), "{insists}");
    let Some(bus) = Bus::of(&debians(), "authorization { token: secret }") else { return };
    assert_eq!(bus.tried("nats://secret@127.0.0.1:PORT", &[]), Ok(()));
    assert_eq!(bus.tried("nats://127.0.0.1:PORT", &[("THRONG_NATS_TOKEN", "secret")]), Ok(()));
    assert!(bus.tried("nats://wrong@127.0.0.1:PORT", &[]).is_err());
}

/// Checks that client and server agree on TLS with a generated certificate. `more` is added to the server's `tls`
/// block.
fn shakes_hands(program: &str, more: &str, query: &str) {
    let folder =
        std::env::temp_dir().join(format!("throng-tls-{}-{}", std::process::id(), more.len()));
    let setup = super::Setup {
        folder: folder.clone(),
        listen: "127.0.0.1:1".parse().expect("an address"),
        hosts: Vec::new(),
        agents: vec!["a1".into()],
    };
    let files = setup.write().expect("files");
    let at = |name: &str| folder.join(name).display().to_string();
    let config = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\", {more} }}",
        at("server.pem"),
        at("server.key")
    );
    let Some(bus) = Bus::of(program, &config) else {
        let _ = std::fs::remove_dir_all(folder);
        return;
    };
    let ca = files.ca.display().to_string();
    for host in ["127.0.0.1", "localhost"] {
        let address = format!("nats://{host}:PORT{query}");
        assert_eq!(bus.tried(&address, &[("THRONG_NATS_CA", &ca)]), Ok(()), "{host}");
        let unknown = bus.tried(&address, &[]).expect_err("the system does not know it");
        assert!(unknown.contains("TLS:"), "{unknown}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn tls_comes_after_the_servers_first_word_or_before_it() {
    shakes_hands(&debians(), "timeout: 5", "");
    let go = std::env::var("HOME").unwrap_or_default() + "/go/bin/nats-server";
    let newest = std::env::var("NATS_SERVER_NEWEST").unwrap_or(go);
    shakes_hands(&newest, "handshake_first: true", "?tls=first");
}

/// Builds a NATS JWT for an operator, an account or a user. `kind` is the prefix byte of the issuer's public key.
fn jwt((issuer, kind): (&Secret, u8), subject: &str, about: &str) -> String {
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let by = super::key::encode(&[&[kind][..], &issuer.public().bytes()].concat());
    let claims = format!(
        r#"{{"jti":"X","iat":1700000000,"iss":"{by}","name":"test","sub":"{subject}","nats":{{{about},"version":2}}}}"#
    );
    let text = format!("{}.{}", encode(r#"{"typ":"JWT","alg":"ed25519-nkey"}"#), encode(&claims));
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(issuer.sign(text.as_bytes())))
}

#[test]
fn credentials_of_natss_own_tools_are_let_in() {
    let key = || Secret::new().expect("a key");
    let (operator, account, user) = (key(), key(), key());
    let (of_operator, of_account) = (14 << 3, 0);
    let name =
        |kind: u8, key: &Secret| super::key::encode(&[&[kind][..], &key.public().bytes()].concat());
    let (operator_name, account_name) = (name(of_operator, &operator), name(of_account, &account));
    let limits = r#""limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1},"type":"account""#;
    let config = format!(
        "operator: \"{}\"\nresolver: MEMORY\nresolver_preload: {{ {account_name}: \"{}\" }}",
        jwt((&operator, of_operator), &operator_name, r#""type":"operator""#),
        jwt((&operator, of_operator), &account_name, limits)
    );
    let Some(bus) = Bus::of(&debians(), &config) else { return };
    let rights = r#""pub":{},"sub":{},"subs":-1,"data":-1,"payload":-1,"type":"user""#;
    let creds = |of: &Secret| {
        let jwt = jwt((&account, of_account), &user.public().text(), rights);
        let seed = of.text();
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        );
        let path = std::env::temp_dir().join(format!("throng-{}.creds", &seed[4..12]));
        std::fs::write(&path, text).expect("a file");
        path
    };
    let (right, wrong) = (creds(&user), creds(&key()));
    let by = |path: &std::path::Path| {
        bus.tried("nats://127.0.0.1:PORT", &[("THRONG_NATS_CREDS", &path.display().to_string())])
    };
    assert_eq!(by(&right), Ok(()));
    assert!(by(&wrong).is_err(), "the key is not that of the JWT");
    for path in [right, wrong] {
        let _ = std::fs::remove_file(path);
    }
}

/// A waiting agent on a separate thread.
struct Agent {
    stop: Arc<AtomicBool>,
    notes: Arc<Mutex<Vec<String>>>,
    thread: Option<std::thread::JoinHandle<Result<(), String>>>,
}

impl Agent {
    fn new(bus: &Bus, operator: &Secret) -> Self {
        let path = std::env::temp_dir().join(format!("throng-operator-{}", bus.port));
        std::fs::write(&path, operator.public().text()).expect("a file");
        let waiting = Waiting {
            server: bus.address(),
            pool: None,
            name: Some("a1".into()),
            zone: Some("eu".into()),
            labels: vec![("size".into(), "large".into())],
            operator: Some(path.to_string_lossy().into_owned()),
            once: false,
            // The working process is this test's program, which rejects these arguments and ends.
            arguments: Vec::new(),
        };
        let (stop, notes) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (stopped, noted) = (Arc::clone(&stop), Arc::clone(&notes));
        let thread = std::thread::spawn(move || {
            let ended = wait(&waiting, &|| stopped.load(Ordering::Relaxed), &mut |words| {
                noted.lock().expect("notes").push(words.to_owned());
            });
            let _ = std::fs::remove_file(path);
            ended
        });
        Self { stop, notes, thread: Some(thread) }
    }

    /// Returns how often the agent was reserved.
    fn runs(&self) -> usize {
        let notes = self.notes.lock().expect("notes");
        notes.iter().filter(|words| words.contains("a run has started")).count()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(std::thread::panicking() || matches!(ended, Ok(Ok(()))), "{ended:?}");
        }
    }
}

/// A client that may use all subjects, like an attacker.
struct Thief {
    client: Client,
    events: Receiver<Event>,
}

impl Thief {
    fn new(bus: &Bus) -> Self {
        let (client, events) = bus.client();
        for subject in ["throng.offer.default.*", "throng.from.*"] {
            client.subscribe(subject);
        }
        until(&events, up);
        Self { client, events }
    }

    /// Waits for the agent's next offer and returns it.
    fn offer(&self) -> Offer {
        let end = Instant::now() + LONG;
        // Offers from before the call are ignored.
        while self.events.try_recv().is_ok() {}
        loop {
            self.client.publish("throng.call.default", Vec::new());
            match self.events.recv_timeout(Duration::from_millis(150)) {
                Ok(Event::Message { subject, payload, .. })
                    if subject == "throng.offer.default.a1" =>
                {
                    return envelope::open_offer("a1", &payload)
                        .expect("an offer with its own seal");
                }
                _ => assert!(Instant::now() < end, "no offer"),
            }
        }
    }

    fn order(
        &self,
        key: Option<&Secret>,
        (agent, session): (&str, u8),
        nonce: RandomId,
    ) -> Vec<u8> {
        let half = Own::new().expect("a half").half();
        let what = OrderKind::Reserve { nonce, patience: 30, half };
        let bytes =
            envelope::seal(key, (Kind::Order, agent), &Order { session: [session; 16], what });
        self.client.publish("throng.to.a1", bytes.clone());
        bytes
    }

    /// Waits until the agent ends a session, and returns the reason that it gives.
    fn end(&self, key: &[u8; 32], session: u8) -> String {
        let key = super::Public::of(*key);
        until(&self.events, |event| match event {
            Event::Message { subject, payload, .. } if subject == "throng.from.a1" => {
                let word: Reply = envelope::open(Some(&key), (Kind::Reply, "a1"), &payload)?;
                match word.what {
                    ReplyKind::Close(words) if word.session == [session; 16] => Some(words),
                    _ => None,
                }
            }
            _ => None,
        })
    }
}

#[test]
fn orders_are_obeyed_under_the_operators_seal_and_once() {
    let Some(bus) = Bus::new() else { return };
    let (operator, foreign) = (Secret::new().expect("a key"), Secret::new().expect("a key"));
    let agent = Agent::new(&bus, &operator);
    let thief = Thief::new(&bus);
    let first = thief.offer();
    assert_eq!((first.zone.as_str(), first.busy, &first.refusal), ("eu", false, &None));
    thief.order(None, ("a1", 1), first.nonce);
    let refused = thief.offer();
    let (session, words) = refused.refusal.expect("a reason");
    assert!(session == [1; 16] && words.contains("not signed by the operator"), "{words}");
    thief.order(Some(&foreign), ("a1", 2), first.nonce);
    thief.order(Some(&operator), ("a2", 3), first.nonce);
    thief.order(Some(&operator), ("a1", 4), [0; 16]);
    let offer = thief.offer();
    assert_eq!((agent.runs(), offer.busy, offer.nonce), (0, false, first.nonce));
    let order = thief.order(Some(&operator), ("a1", 5), first.nonce);
    let words = thief.end(&first.key, 5);
    assert!(words.contains("exited with code"), "the process of a test knows no agent: {words}");
    let next = thief.offer();
    assert!(next.nonce != first.nonce && next.refusal.is_none(), "{next:?}");
    // A replay of a recorded order.
    thief.client.publish("throng.to.a1", order);
    let offer = thief.offer();
    assert_eq!((agent.runs(), offer.busy, offer.nonce), (1, false, next.nonce));
}

/// A simulated agent that sends what the test requires.
struct Liar {
    client: Client,
    key: Secret,
    own: Own,
    /// Encryption keys of the simulated agent's stream, after a coordinator reserved the agent.
    keys: Mutex<Option<Keys>>,
    name: &'static str,
}

impl Liar {
    fn say(&self, session: RandomId, name: &str, what: ReplyKind) {
        let bytes = envelope::seal(Some(&self.key), (Kind::Reply, name), &Reply { session, what });
        self.client.publish(&envelope::from(name), bytes);
    }

    fn new(bus: &Bus, name: &'static str) -> Self {
        let (client, keys) = (bus.client().0, Mutex::default());
        let (key, own) = (Secret::new().expect("a key"), Own::new().expect("a half"));
        Self { client, key, own, keys, name }
    }

    /// Returns an encrypted packet of the simulated agent's stream.
    fn packet(&self, number: u64, bytes: &[u8]) -> ReplyKind {
        let keys = self.keys.lock().expect("keys");
        let packet = Packet { number, has: 0, bytes: bytes.to_vec() };
        ReplyKind::Packet(keys.as_ref().expect("it was reserved").seal(packet))
    }

    fn offer(&self) {
        let offer = Offer {
            nonce: [9; 16],
            key: self.key.public().bytes(),
            half: self.own.half(),
            mark: None,
            program: "same".into(),
            zone: String::new(),
            labels: Vec::new(),
            busy: false,
            refusal: None,
            offered: Offered::default(),
        };
        let bytes = envelope::seal(Some(&self.key), (Kind::Offer, self.name), &offer);
        self.client.publish(&envelope::offer("default", self.name), bytes);
    }
}

/// Returns the credentials of a coordinator with the same program as the simulated agents.
fn access(shared: Option<Shared>) -> Access {
    Access { login: Login::default(), operator: None, shared, program: "same".into() }
}

/// Reserves two simulated agents with these names. Their keys and sessions are known to the test.
fn reserved_agents(bus: &Bus, names: [&'static str; 2]) -> ([Liar; 2], ReservedAgents) {
    let pools = Pools {
        server: bus.address(),
        agents: Some(2),
        zones: vec![],
        labels: vec![],
        names: vec![],
    };
    let liars = names.map(|name| Liar::new(bus, name));
    let (client, orders) = bus.client();
    client.subscribe("throng.to.*");
    let done = AtomicBool::new(false);
    let (all, stop) = (&liars, &done);
    let reserved = std::thread::scope(|scope| {
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                all.iter().for_each(Liar::offer);
                while let Ok(event) = orders.recv_timeout(Duration::from_millis(50)) {
                    let Event::Message { subject, payload, .. } = event else { continue };
                    let Some(liar) = all.iter().find(|liar| subject == envelope::to(liar.name))
                    else {
                        continue;
                    };
                    let order = envelope::open::<Order>(None, (Kind::Order, liar.name), &payload);
                    if let Some(Order { session, what }) = order
                        && let OrderKind::Reserve { nonce: [9, ..], half, .. } = what
                    {
                        let keys = liar.own.keys(Side::Agent, &half, None, (session, liar.name));
                        *liar.keys.lock().expect("keys") = keys.ok();
                        let nothing = Packet { number: 0, has: 0, bytes: Vec::new() };
                        liar.say(session, liar.name, ReplyKind::Packet(nothing));
                    }
                }
            }
        });
        let access = access(None);
        let reserved = reserve(&pools, access, 60, &|| false, &mut |_| {});
        done.store(true, Ordering::Relaxed);
        reserved
    });
    (liars, reserved.expect("two agents"))
}

#[test]
fn an_agent_speaks_for_itself_and_within_bounds() {
    let Some(bus) = Bus::new() else { return };
    let ([a1, a2], reserved) = reserved_agents(&bus, ["a1", "a2"]);
    let sessions: Vec<RandomId> = reserved.agents.iter().map(|agent| agent.session).collect();
    assert_eq!(
        reserved.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(),
        ["a1", "a2"]
    );
    let (say, heard) = channel();
    let lines = start(reserved, (Instant::now(), say)).expect("streams");
    // Frames of one byte: `Alive` is the eleventh kind of message.
    let mut alive = Vec::new();
    crate::frame::push(&mut alive, &crate::remote::FromAgent::Alive).expect("a frame");
    // The second agent sends messages in the name of the first agent, in its own session and in the first agent's
    // session.
    for session in &sessions {
        a2.say(*session, "a1", a2.packet(1, &alive));
        a2.say(*session, "a1", ReplyKind::Close("stolen".into()));
    }
    a1.say(sessions[0], "a1", a1.packet(1, &alive));
    // The first packet of the second agent announces a message that is too long.
    a2.say(sessions[1], "a2", a2.packet(1, &[0xff, 0xff, 0xff, 0x0f, 1]));
    let (mut from_first, mut ended) = (0, None);
    while ended.is_none() || from_first == 0 {
        match heard.recv_timeout(LONG).expect("something in time") {
            (0, AgentEvent::Message(..)) => from_first += 1,
            (1, AgentEvent::Ended(_)) => ended = Some(lines[1].end(Duration::ZERO)),
            (_, AgentEvent::Note(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(from_first, 1, "only its own word");
    assert!(ended.is_some_and(|words| words.contains("the limit is")));
    assert!(!lines[0].has_ended());
    // Another key means another agent: the reserved agent is gone.
    let anew = Liar { key: Secret::new().expect("a key"), ..a1 };
    anew.offer();
    loop {
        if let (0, AgentEvent::Ended(_)) = heard.recv_timeout(LONG).expect("something in time") {
            break;
        }
    }
    assert!(lines[0].end(Duration::ZERO).contains("restarted"));
}
