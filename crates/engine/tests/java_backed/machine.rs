//! A JVM for tests: threads that answer jobs with a function of the test, encoded as the message format requires.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use engine::offload::{Job, Offload};

/// A job as decoded by the JVM for tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) user: u64,
    pub(crate) number: u32,
    pub(crate) iteration: u32,
    pub(crate) first: bool,
    pub(crate) thread: String,
    pub(crate) label: String,
    /// Variables by name, or by slot.
    pub(crate) variables: HashMap<String, String>,
    pub(crate) properties: Vec<(String, Option<String>)>,
    pub(crate) sample: u32,
    /// Label, code and success of the result, if there is one.
    pub(crate) result: Option<(String, String, bool)>,
    /// Label of the previous result, if it was sent.
    pub(crate) before: Option<String>,
    pub(crate) sampler_before: Option<u32>,
    /// The encoded result of the sample.
    pub(crate) raw_result: Vec<u8>,
    pub(crate) sampler: Option<u32>,
    /// Names and values of the user's cookies.
    pub(crate) cookies: Option<Vec<(String, String)>>,
    pub(crate) act: u8,
    pub(crate) ids: Vec<u32>,
}

/// The contents of a reply to a job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) variables: Vec<(String, Option<String>)>,
    pub(crate) properties: Vec<(String, Option<String>)>,
    pub(crate) ask: u8,
    pub(crate) log: Vec<String>,
    pub(crate) result: Option<Vec<u8>>,
    pub(crate) request: Option<Vec<u8>>,
    /// Cookies: name, value and domain.
    pub(crate) cookies: Option<Vec<[String; 3]>>,
    pub(crate) delay: i64,
    pub(crate) texts: Vec<String>,
    /// Verdicts of assertions: name, failure, error, and message.
    pub(crate) verdicts: Vec<(String, bool, bool, Option<String>)>,
    /// The encoded reply of a controller.
    pub(crate) said: Vec<u8>,
}

/// A reply, or the reason why there is none.
pub(crate) type Reply = Result<Vec<u8>, String>;
type Work = dyn Fn(&Told) -> Reply + Send + Sync;

/// Events at the JVM for tests, in order: `setup`, `start`, `job <act> <ids>`, `properties <list>`, `bye`, `end`,
/// `interrupt`.
pub(crate) type Seen = Arc<Mutex<Vec<String>>>;

pub(crate) struct Machine {
    pub(crate) seen: Seen,
    jobs: Sender<Job>,
    slots: Mutex<Vec<String>>,
    work: Arc<Work>,
    interrupted: Mutex<Option<Sender<u64>>>,
    start: Vec<u8>,
    /// Elements that are notified when users start.
    pub(crate) hearing: Mutex<Vec<u32>>,
    /// Controllers that are loops and are notified when they are left.
    pub(crate) breaking: Mutex<Vec<u32>>,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Machine")
    }
}

impl Machine {
    pub(crate) fn new(work: impl Fn(&Told) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        Self::starting(started(&[]), None, work)
    }

    /// Creates a JVM for tests with its answer to the start message, and a receiver of interruptions.
    pub(crate) fn starting(
        start: Vec<u8>,
        interrupted: Option<Sender<u64>>,
        work: impl Fn(&Told) -> Reply + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (jobs, todo) = channel::<Job>();
        let machine = Arc::new(Self {
            seen: Seen::default(),
            jobs,
            slots: Mutex::default(),
            work: Arc::new(work),
            interrupted: Mutex::new(interrupted),
            start,
            hearing: Mutex::default(),
            breaking: Mutex::default(),
        });
        let todo = Arc::new(Mutex::new(todo));
        for _ in 0..4 {
            let (todo, machine) = (Arc::clone(&todo), Arc::downgrade(&machine));
            std::thread::spawn(move || {
                loop {
                    let job = todo.lock().unwrap().recv();
                    let (Ok(job), Some(machine)) = (job, machine.upgrade()) else { return };
                    let reply = machine.answer(&job.message);
                    drop(machine);
                    job.finish(reply);
                }
            });
        }
        machine
    }

    fn note(&self, what: String) {
        self.seen.lock().unwrap().push(what);
    }

    fn answer(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        if message[0] == 4 {
            self.note("bye".into());
            return Ok(vec![0, 0, 0, 0, 0]);
        }
        if message[0] == 7 {
            self.note(format!("properties {:?}", Bytes(&message[1..]).properties()));
            return Ok(vec![0, 0, 0, 0, 0]);
        }
        let told = Told::read(message, &self.slots.lock().unwrap());
        self.note(format!("job {} {:?}", told.act, told.ids));
        (self.work)(&told)
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl Offload for Machine {
    fn submit(&self, job: Job) {
        self.jobs.send(job).unwrap();
    }

    fn call(&self, message: Vec<u8>) -> Result<Vec<u8>, String> {
        match message[0] {
            1 => {
                let mut bytes = Bytes(&message[1..]);
                bytes.list(|bytes| (bytes.text(), bytes.text()));
                bytes.list(|bytes| (bytes.text(), bytes.text()));
                bytes.text();
                bytes.text();
                bytes.int();
                *self.slots.lock().unwrap() = bytes.list(Bytes::text);
                bytes.list(|bytes| {
                    bytes.byte();
                    (
                        bytes.text(),
                        bytes.text(),
                        bytes.text(),
                        bytes.int(),
                        bytes.byte(),
                        bytes.text(),
                    )
                });
                bytes.list(|bytes| (bytes.int(), bytes.int(), bytes.list(Bytes::int)));
                bytes.list(Bytes::text);
                bytes.list(|bytes| (bytes.text(), bytes.int()));
                bytes.byte();
                bytes.list(|bytes| {
                    let _ = (bytes.int(), bytes.byte());
                    bytes.list(|bytes| (bytes.byte(), bytes.int(), bytes.text()))
                });
                assert!(bytes.0.is_empty(), "a setup with something behind it");
                self.note("setup".into());
                let mut reply = vec![0; 9];
                let hearing = self.hearing.lock().unwrap();
                reply.extend((hearing.len() as u32).to_le_bytes());
                reply.extend(hearing.iter().flat_map(|id| id.to_le_bytes()));
                // All elements that can listen to iterations are registered for them.
                reply.extend(1000u32.to_le_bytes());
                reply.extend((0..1000u32).flat_map(u32::to_le_bytes));
                let breaking = self.breaking.lock().unwrap();
                reply.extend((breaking.len() as u32).to_le_bytes());
                reply.extend(breaking.iter().flat_map(|id| id.to_le_bytes()));
                reply.extend(0u32.to_le_bytes());
                Ok(reply)
            }
            2 => {
                self.note("start".into());
                Ok(self.start.clone())
            }
            3 => self.answer(&message),
            5 => {
                self.note("end".into());
                Ok(vec![0, 0, 0, 0, 0])
            }
            other => Err(format!("what is {other}?")),
        }
    }

    fn interrupt(&self, user: u64) {
        self.note("interrupt".into());
        self.hear(user);
    }

    fn interrupt_sample(&self, user: u64) {
        self.note("timeout".into());
        self.hear(user);
    }
}

impl Machine {
    fn hear(&self, user: u64) {
        if let Some(heard) = &*self.interrupted.lock().unwrap() {
            let _ = heard.send(user);
        }
    }
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take(&mut self, n: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(n);
        self.0 = rest;
        taken.to_vec()
    }

    fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn int(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn text(&mut self) -> String {
        let length = self.int() as usize;
        String::from_utf8(self.take(length)).unwrap()
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.int();
        (0..count).map(|_| each(self)).collect()
    }

    fn maybe<T>(&mut self, each: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.byte() == 1).then(|| each(self))
    }

    fn properties(&mut self) -> Vec<(String, Option<String>)> {
        self.list(|bytes| {
            bytes.long();
            (bytes.text(), bytes.maybe(Bytes::text))
        })
    }

    fn result(&mut self) -> (String, String, bool) {
        let flags = self.int();
        self.byte();
        let texts: Vec<String> = (0..15).map(|_| self.text()).collect();
        self.take(10 * 8 + 4 * 4);
        if flags & 1 << 8 != 0 {
            let length = self.int() as usize;
            self.take(length);
        }
        self.list(|bytes| (bytes.text(), bytes.byte(), bytes.byte(), bytes.maybe(Self::text)));
        self.list(Self::result);
        (texts[0].clone(), texts[1].clone(), flags & 1 == 1)
    }
}

impl Told {
    fn read(message: &[u8], slots: &[String]) -> Self {
        let mut bytes = Bytes(message);
        let bytes = &mut bytes;
        assert_eq!(bytes.byte(), 3);
        let mut told = Self { user: bytes.long(), ..Self::default() };
        bytes.int();
        (told.number, told.iteration) = (bytes.int(), bytes.int());
        told.first = bytes.byte() & 1 == 1;
        (told.thread, told.label) = (bytes.text(), bytes.text());
        bytes.take(8 + 4 * 4);
        let variables = bytes.list(|bytes| {
            let slot = bytes.int();
            let name = if slot == u32::MAX { bytes.text() } else { slots[slot as usize].clone() };
            (name, bytes.text())
        });
        told.variables = variables.into_iter().collect();
        told.properties = bytes.properties();
        told.sample = bytes.int();
        let has_result = bytes.byte() == 1;
        if has_result {
            let before = bytes.0;
            told.result = Some(bytes.result());
            told.raw_result = before[..before.len() - bytes.0.len()].to_vec();
        }
        told.before = bytes.maybe(Bytes::result).map(|result| result.0);
        told.sampler = bytes.maybe(Bytes::int);
        told.sampler_before = bytes.maybe(Bytes::int);
        told.cookies = bytes.maybe(|bytes| {
            bytes.list(|bytes| {
                let cookie = (bytes.text(), bytes.text());
                bytes.text();
                bytes.text();
                bytes.take(1 + 8 + 1 + 4);
                cookie
            })
        });
        (told.act, told.ids) = (bytes.byte(), bytes.list(Bytes::int));
        assert!(bytes.0.is_empty(), "a job with something behind it");
        told
    }
}

pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

fn maybe(out: &mut Vec<u8>, value: Option<&String>) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        text(out, value);
    }
}

/// Encodes variables by name.
fn named(out: &mut Vec<u8>, pairs: &[(String, Option<String>)]) {
    out.extend((pairs.len() as u32).to_le_bytes());
    for (name, value) in pairs {
        out.extend(u32::MAX.to_le_bytes());
        text(out, name);
        maybe(out, value.as_ref());
    }
}

/// Encodes properties, each with the sequence number of its change.
fn numbered(out: &mut Vec<u8>, pairs: &[(String, Option<String>)]) {
    static CHANGES: AtomicU64 = AtomicU64::new(1);
    out.extend((pairs.len() as u32).to_le_bytes());
    for (name, value) in pairs {
        out.extend(CHANGES.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        text(out, name);
        maybe(out, value.as_ref());
    }
}

/// Returns the reply to the start of a test that sets variables.
pub(crate) fn started(variables: &[(&str, &str)]) -> Vec<u8> {
    let own = |(name, value): &(&str, &str)| (name.to_string(), Some(value.to_string()));
    let variables: Vec<_> = variables.iter().map(own).collect();
    let mut out = vec![0];
    named(&mut out, &variables);
    numbered(&mut out, &[]);
    out.extend([0; 4]);
    out
}

impl Answer {
    pub(crate) fn variable(name: &str, value: &str) -> Self {
        Self { variables: vec![(name.into(), Some(value.into()))], ..Self::default() }
    }

    /// Returns the reply to a job.
    pub(crate) fn to(&self, told: &Told) -> Result<Vec<u8>, String> {
        let mut out = vec![0];
        named(&mut out, &self.variables);
        numbered(&mut out, &self.properties);
        out.push(self.ask);
        out.extend((self.log.len() as u32).to_le_bytes());
        for line in &self.log {
            out.push(2);
            out.extend([0; 8]);
            text(&mut out, "script");
            text(&mut out, line);
        }
        out.push(u8::from(self.cookies.is_some()));
        if let Some(cookies) = &self.cookies {
            out.extend((cookies.len() as u32).to_le_bytes());
            for [name, value, domain] in cookies {
                for part in [name, value, domain, "/"] {
                    text(&mut out, part);
                }
                out.extend([0; 1 + 8 + 1 + 4]);
            }
        }
        for part in [&self.result, &self.request] {
            out.push(u8::from(part.is_some()));
            out.extend(part.iter().flatten());
        }
        match told.act {
            2 => out.extend(self.delay.to_le_bytes()),
            19 => out.extend(&self.said),
            16 => {
                out.extend((self.texts.len() as u32).to_le_bytes());
                for value in &self.texts {
                    text(&mut out, value);
                }
            }
            5 => {
                out.extend((self.verdicts.len() as u32).to_le_bytes());
                for (name, failure, error, message) in &self.verdicts {
                    text(&mut out, name);
                    out.extend([u8::from(*failure), u8::from(*error)]);
                    maybe(&mut out, message.as_ref());
                }
            }
            _ => {}
        }
        Ok(out)
    }
}

/// Encodes a request for a path, with a body of one argument's value and a header. `name` is the sampler's name if
/// a script has changed it; then the headers of other samplers must be requested too.
pub(crate) fn request(
    port: u16,
    path: &str,
    body: &str,
    header: (&str, &str),
    name: Option<&str>,
) -> Vec<u8> {
    let mut out = Vec::new();
    for part in ["http", "127.0.0.1", &port.to_string(), path, "POST", "", "", "", ""] {
        text(&mut out, part);
    }
    // Redirects are followed, the connection is kept, and the body is raw.
    out.extend((1u16 | 1 << 2 | 1 << 5 | u16::from(name.is_some()) << 8).to_le_bytes());
    out.extend(1u32.to_le_bytes());
    text(&mut out, "");
    text(&mut out, body);
    out.extend([0, 0]);
    text(&mut out, "");
    out.extend(0u32.to_le_bytes());
    out.extend(1u32.to_le_bytes());
    text(&mut out, header.0);
    text(&mut out, header.1);
    maybe(&mut out, name.map(String::from).as_ref());
    out
}

/// Encodes a result of a sampler in Java.
pub(crate) fn result(label: &str, code: &str, success: bool, elapsed_ms: u64) -> Vec<u8> {
    let mut out = u32::from(success).to_le_bytes().to_vec();
    out.push(0);
    text(&mut out, label);
    text(&mut out, code);
    for _ in 0..13 {
        text(&mut out, "");
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = now.as_millis() as u64;
    let numbers = [now, now + elapsed_ms, elapsed_ms, 1, 0, 0, 7, 0, 7, 3];
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    out.extend([1u32, u32::from(!success), 1, 1].iter().flat_map(|number| number.to_le_bytes()));
    out.extend([0; 8]);
    out
}
