//! A queue of messages, and the thread that posts them.
//!
//! The queue is bounded; if it is full, the oldest message is dropped. If a target cannot be reached, is busy (429) or
//! fails (5xx), the message is retried with growing pauses. A message that the target rejects is not retried.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stats::grouped::things;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, parse_pem};

use crate::target::{Kind, Target};

/// Maximum number of queued messages.
const MOST_WAITING: usize = 60;
/// Maximum total length of the queued messages in bytes.
const MOST_BYTES: usize = 16 << 20;
/// Time limit for sending one message.
const PATIENCE: Duration = Duration::from_secs(5);
/// Initial and maximum pause before a retry.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));
/// Maximum number of bytes read from an error response.
const MOST_ANSWER: u64 = 2000;

/// Handle of the send queue of one target.
#[derive(Debug)]
pub(crate) struct Sender(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    shown: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Time after which no message is sent; `None` until the end of the run.
    deadline: Option<Instant>,
    done: bool,
    sent: u64,
    dropped: u64,
    /// Text of the last failed attempt; empty if no attempt has failed.
    last_error: String,
    /// Messages for the user.
    messages: Vec<String>,
}

/// The result of one attempt.
enum Attempt {
    Sent,
    /// The target rejected the message; a retry would fail too.
    Rejected(String),
    Retry(String),
}

impl Sender {
    /// Starts the sending thread.
    pub(crate) fn start(
        target: &Target,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> std::io::Result<Self> {
        let shown = target.shown().to_owned();
        let shared = Arc::new(Shared { shown, state: Mutex::default(), changed: Condvar::new() });
        let post = Post::new(target, variable)?;
        let own = Arc::clone(&shared);
        std::thread::Builder::new().name("export".into()).spawn(move || own.work(&post))?;
        Ok(Self(shared))
    }

    /// Appends a message to the queue. An empty message is ignored.
    pub(crate) fn offer(&self, message: Vec<u8>) {
        if message.is_empty() {
            return;
        }
        let mut state = self.0.state();
        state.bytes += message.len();
        state.waiting.push_back(message);
        state.bound();
        self.0.changed.notify_all();
    }

    /// Lets the thread send the queued messages until `deadline`.
    pub(crate) fn end(&self, deadline: Instant) {
        self.0.state().deadline = Some(deadline);
        self.0.changed.notify_all();
    }

    /// Returns the messages for the user since the last call.
    pub(crate) fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.0.state().messages)
    }

    /// Waits for the thread, at most until its deadline. Returns a message about what was not sent.
    pub(crate) fn finish(&self) -> Option<String> {
        let mut state = self.0.state();
        while !state.done {
            let now = Instant::now();
            let Some(left) = state.deadline.and_then(|end| end.checked_duration_since(now)) else {
                break;
            };
            let waited = self.0.changed.wait_timeout(state, left.max(Duration::from_millis(1)));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        // The thread may still wait for its target, but its later results are not reported.
        let lost = state.dropped + if state.done { 0 } else { state.waiting.len() as u64 + 1 };
        (lost > 0).then(|| {
            let State { sent, last_error, .. } = &*state;
            let all = things(sent + lost, "message");
            format!(
                "{}: {lost} of {all} not delivered: {last_error}. The run's folder has all measurements",
                self.0.shown
            )
        })
    }
}

impl State {
    fn bound(&mut self) {
        while self.waiting.len() > MOST_WAITING || self.bytes > MOST_BYTES {
            let Some(oldest) = self.waiting.pop_front() else { return };
            self.bytes -= oldest.len();
            self.dropped += 1;
            if self.last_error.is_empty() {
                self.last_error = "the receiver is too slow".into();
            }
        }
    }

    /// Records the error of an attempt. Only the first error of a target becomes a message for the user.
    fn note(&mut self, shown: &str, words: String, then: &str) {
        if self.last_error.is_empty() {
            self.messages.push(format!("{shown}: {words}; {then}"));
        }
        self.last_error = words;
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, post: &Post) {
        let mut pause = PAUSES.0;
        while let Some((message, left)) = self.next() {
            let attempt = post.send(&message, left);
            let mut state = self.state();
            match attempt {
                Attempt::Sent => {
                    state.sent += 1;
                    pause = PAUSES.0;
                }
                Attempt::Rejected(words) => {
                    state.dropped += 1;
                    state.note(
                        &self.shown,
                        words,
                        "rejected messages are dropped, and the run continues",
                    );
                }
                Attempt::Retry(words) => {
                    state.bytes += message.len();
                    state.waiting.push_front(message);
                    state.bound();
                    state.note(&self.shown, words, "retrying; the run continues");
                    let until = Instant::now() + pause;
                    pause = (pause * 2).min(PAUSES.1);
                    self.rest(state, until);
                }
            }
        }
        self.state().done = true;
        self.changed.notify_all();
    }

    /// Waits for the next message, and returns it with the time allowed for sending it; `None` once the run has ended.
    fn next(&self) -> Option<(Vec<u8>, Duration)> {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let left = match state.deadline {
                None => PATIENCE,
                Some(end) => end.saturating_duration_since(now).min(PATIENCE),
            };
            if left.is_zero() {
                state.dropped += state.waiting.len() as u64;
                state.waiting.clear();
                return None;
            }
            if let Some(message) = state.waiting.pop_front() {
                state.bytes -= message.len();
                return Some((message, left));
            }
            if state.deadline.is_some() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `until`, before a retry. The end of the run shortens the wait.
    fn rest(&self, mut state: MutexGuard<'_, State>, mut until: Instant) {
        let mut ended = state.deadline.is_some();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.deadline.is_some() && !ended {
                ended = true;
                until = until.min(Instant::now() + PAUSES.0);
            }
        }
    }
}

/// The HTTP client of a target.
struct Post {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
    advice: &'static str,
}

impl Post {
    fn new(target: &Target, variable: &dyn Fn(&str) -> Option<String>) -> std::io::Result<Self> {
        let advice = match target.kind {
            Kind::InfluxDb => {
                "set the token in THRONG_INFLUXDB_TOKEN, or user and password in THRONG_INFLUXDB_USER and THRONG_INFLUXDB_PASSWORD"
            }
            Kind::RemoteWrite => {
                "set the token in THRONG_REMOTE_WRITE_TOKEN, or user and password in THRONG_REMOTE_WRITE_USER and THRONG_REMOTE_WRITE_PASSWORD"
            }
            Kind::Otlp | Kind::Prometheus => {
                "set headers in OTEL_EXPORTER_OTLP_HEADERS, for example Authorization=Bearer%20TOKEN"
            }
        };
        let url = target.url.clone();
        let own = target.roots.as_deref().map(roots).transpose()?.unwrap_or_default();
        Ok(Self { agent: agent(&url, own), url, headers: target.headers(variable), advice })
    }

    fn send(&self, message: &[u8], left: Duration) -> Attempt {
        let mut request = self.agent.post(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.config().timeout_global(Some(left)).build();
        let mut answer = match request.send(message) {
            Ok(answer) => answer,
            // For example, a secret is not a valid header value; the message must not show it.
            Err(ureq::Error::Http(_)) => {
                return Attempt::Rejected("a header or the URL is invalid".into());
            }
            Err(error) => return Attempt::Retry(words(&error)),
        };
        let status = answer.status().as_u16();
        let body =
            answer.body_mut().with_config().limit(MOST_ANSWER).read_to_string().unwrap_or_default();
        let body: String =
            body.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
        match status {
            200..=299 => Attempt::Sent,
            401 | 403 => {
                Attempt::Rejected(format!("HTTP status {status} ({body}): {}", self.advice))
            }
            404 => Attempt::Rejected(format!(
                "HTTP status {status} ({body}): check the URL, and that the database or path in it exists"
            )),
            408 | 425 | 429 | 500..=599 => Attempt::Retry(format!("HTTP status {status} ({body})")),
            300..=399 => Attempt::Rejected(format!(
                "HTTP status {status}, a redirect: use the URL that it leads to"
            )),
            _ => Attempt::Rejected(format!("HTTP status {status} ({body})")),
        }
    }
}

/// Reads the certificates of a PEM file.
fn roots(file: &Path) -> std::io::Result<Vec<Certificate<'static>>> {
    let wrong = |words: String| {
        let words = format!("ca={}: {words}", file.display());
        std::io::Error::new(std::io::ErrorKind::InvalidInput, words)
    };
    let text = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let found = parse_pem(&text).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    let found: Result<Vec<_>, _> = found.collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(wrong("no certificate in PEM format in the file".to_owned())),
    }
}

/// Returns a connection error as text for the user.
fn words(error: &ureq::Error) -> String {
    let text = error.to_string();
    if text.contains("UnknownIssuer") {
        return "the issuer of the server's certificate is unknown: append the issuer's certificate to the URL, as \
                ,ca=FILE"
            .into();
    }
    if let Some((_, what)) = text.split_once("invalid peer certificate: ") {
        return format!("the server's certificate is rejected: {what}");
    }
    match error {
        ureq::Error::Timeout(_) => "no response in time".into(),
        ureq::Error::HostNotFound => "the host name does not resolve".into(),
        ureq::Error::Io(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                "connection refused: no program listens at this address".into()
            }
            _ => error.to_string(),
        },
        _ => text,
    }
}

/// Returns the HTTP client of a target. The client trusts the certificates in `own` in addition to the system's
/// certificates.
fn agent(url: &str, own: Vec<Certificate<'static>>) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(PATIENCE))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("throng/", env!("CARGO_PKG_VERSION")));
    if !url.starts_with("https:") {
        // Collectors are usually in the local network; proxies in the environment are for other destinations.
        return config.proxy(None).build().into();
    }
    config.tls_config(trust::by_roots_of_system_and(&own)).build().into()
}
