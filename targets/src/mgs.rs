//! `mgs`: a mobile gateway as clients of mPaaS MGS see it: one URL, signed and encrypted calls, and the result code in
//! a header.
//!
//! The target is implemented from public facts about the protocol only, and shares no code with the client. So a
//! mistake on one side shows up on the other. A request is decrypted, its signature and time stamp are checked, its
//! body is parsed as JSON, and it is passed to a backend. The first error decides the result code; the HTTP status is
//! always 200. `/stats` returns counts; `/key/rsa`, `/key/ecc` and `/key/sm2` return the public keys. Other behaviour
//! of a real gateway is not known; every choice is an option.

mod backend;
mod cipher;
mod codes;
mod decoder;
mod derivation;
mod envelope;
mod keys;
mod limits;
mod options;
mod signature;
mod stats;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::config::{Config, bad};
use crate::error::Error;
use crate::process;
use crate::request::{Found, Request};
use crate::running::Running;
use crate::threaded::{self, Threaded};

use backend::Backends;
use cipher::Session;
use codes::{
    DECRYPTION, EMPTY, EXPIRED, FORMAT, LOGGED_OUT, NO_KEY, NO_OPERATION, NO_PARAMETERS,
    NO_SIGNATURE, NO_TIME, OK, Refusal, encoded, memo, refuse,
};
use decoder::Decoder;
use keys::Transport;
use limits::Limits;
pub(crate) use options::OPTIONS;
use options::{choice, filled, list};
use signature::{Rule, milliseconds};
use stats::{Stats, add};

/// Maximum length of a request's head in bytes; the body has a limit of its own.
const HEAD: usize = 64 << 10;

/// Names of the protocol's headers, from public notes. The option `header` replaces names.
const HEADERS: [&str; 7] =
    ["Sign", "Ts", "Operation-Type", "AppId", "WorkspaceId", "signType", "x-mgs-encryption"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Optional,
    Required,
    Never,
}

pub(crate) struct Gateway {
    path: String,
    /// Names of the protocol's headers in use, by their position in [`HEADERS`].
    headers: [String; HEADERS.len()],
    app: Option<String>,
    workspace: Option<String>,
    operations: Vec<String>,
    /// Name of the header or cookie that every request must have, as after a login.
    session: Option<String>,
    signature: Option<Rule>,
    /// True if the signature covers the body as sent; false if it covers the decrypted body.
    signed_as_sent: bool,
    sign_type: Option<String>,
    /// Maximum difference in milliseconds between a request's time stamp and the gateway's clock; 0 accepts any time
    /// stamp.
    window: u64,
    clock: u64,
    encryption: Encryption,
    plain_answers: bool,
    decoder: Decoder,
    limit: usize,
    connections: usize,
    limits: Limits,
    backends: Backends,
    /// True if the header `X-Forwarded-For` names the client's address.
    forwarded: bool,
    work: Duration,
    filler: String,
    echo: bool,
    stats: Stats,
}

pub(crate) fn start(config: &Config) -> Result<Running, Error> {
    threaded::start(config, Arc::new(Gateway::new(config)?))
}

/// Returns the gateway without sockets, for tests: a function from the bytes of a request to the bytes of the answer.
/// The function returns `None` if the bytes do not begin with a complete request.
pub fn gateway(config: &Config) -> Result<impl Fn(&[u8]) -> Option<Vec<u8>> + use<>, Error> {
    let gateway = Gateway::new(config)?;
    Ok(move |bytes: &[u8]| match Request::find(bytes) {
        Found::Whole(request, _) => Some(gateway.answer(&request, Ipv4Addr::LOCALHOST.into())),
        Found::Part { .. } | Found::Bad => None,
    })
}

/// A request that passed all checks of the gateway.
struct Checked {
    operation: String,
    body: Vec<u8>,
    parameters: Value,
    session: Option<Session>,
}

/// The result of a valid request to the gateway.
struct Served<'a> {
    backend: &'a str,
    body: Vec<u8>,
    encrypted: bool,
}

impl Gateway {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let encryptions = [
            ("optional", Encryption::Optional),
            ("required", Encryption::Required),
            ("never", Encryption::Never),
        ];
        let text = |key: &str| filled(config, key).map(str::to_owned);
        let size: usize = config.read("size", 20)?;
        if size > 16 << 20 {
            return Err(bad("size", &size.to_string(), "at most 16777216"));
        }
        Ok(Self {
            path: text("path").unwrap_or_else(|| "/mgw.htm".to_owned()),
            headers: headers(config)?,
            app: text("app"),
            workspace: text("workspace"),
            operations: list(config, "operations"),
            session: text("session"),
            signature: Rule::new(config)?,
            signed_as_sent: choice(config, "signed", &[("plain", false), ("sent", true)], false)?,
            sign_type: text("sign_type"),
            window: config.read("window", 10u64)?.saturating_mul(60_000),
            clock: config.read("clock", 0)?,
            encryption: choice(config, "encryption", &encryptions, Encryption::Optional)?,
            plain_answers: choice(config, "answers", &[("same", false), ("plain", true)], false)?,
            decoder: Decoder::new(config)?,
            limit: config.read("limit", 1 << 20)?,
            connections: config.read("connections", 10_000)?,
            limits: Limits::new(config)?,
            backends: Backends::new(config)?,
            forwarded: config.read("forwarded", false)?,
            work: Duration::from_millis(config.read("ms", 0)?),
            filler: "abcdefghijklmnopqrstuvwxyz".chars().cycle().take(size).collect(),
            echo: choice(config, "body", &[("json", false), ("echo", true)], false)?,
            stats: Stats::default(),
        })
    }

    /// Returns a request's header by its protocol name in [`HEADERS`]; `None` if the header is absent or empty.
    fn header<'a>(&self, request: &Request<'a>, name: &str) -> Option<&'a [u8]> {
        let index = HEADERS.iter().position(|known| *known == name)?;
        request.header(&self.headers[index]).filter(|value| !value.is_empty())
    }

    fn now(&self) -> u64 {
        if self.clock > 0 {
            return self.clock;
        }
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
    }

    fn serve(&self, request: &Request<'_>, client: IpAddr) -> Result<Served<'_>, Refusal> {
        let _admitted = self.limits.admit()?;
        let checked = {
            let worker = self.limits.work();
            let begun = process::thread_time();
            let checked = self.check(request);
            add(&self.stats.crypto, process::thread_time() - begun);
            let checked = checked?;
            worker.burn();
            checked
        };
        let backend = self.backends.of(self.client(request, client));
        let body = if backend.address.is_empty() {
            std::thread::sleep(self.work);
            self.body(&checked, &backend.name)
        } else {
            self.backends.ask(backend, &checked.operation, &checked.parameters)?
        };
        let session = checked.session.filter(|_| !self.plain_answers);
        let encrypted = session.is_some();
        let body = match session {
            None => body,
            Some(session) => {
                let _worker = self.limits.work();
                let begun = process::thread_time();
                let sealed = self.decoder.seal(&session, body);
                add(&self.stats.crypto, process::thread_time() - begun);
                add(&self.stats.encrypted_answers, 1);
                sealed
            }
        };
        Ok(Served { backend: &backend.name, body, encrypted })
    }

    /// Checks a request and decrypts its body. The order of the checks decides which result code a request with several
    /// errors gets.
    fn check(&self, request: &Request<'_>) -> Result<Checked, Refusal> {
        if request.body.is_empty() {
            return Err(refuse(EMPTY, "the body is empty"));
        }
        let (body, session) = self.plain(request)?;
        let operation = self.header(request, "Operation-Type").unwrap_or_default();
        let signed = if self.signed_as_sent { &request.body } else { &body[..] };
        self.check_signature(request, operation, signed)?;
        if operation.is_empty() {
            return Err(refuse(NO_OPERATION, "there is no Operation-Type"));
        }
        let operation = String::from_utf8_lossy(operation).into_owned();
        if !self.operations.is_empty() && !self.operations.contains(&operation) {
            return Err(refuse(NO_OPERATION, format!("there is no {operation}")));
        }
        if let Some(name) = &self.session
            && !has_session(request, name)
        {
            return Err(refuse(LOGGED_OUT, format!("there is no header or cookie {name}")));
        }
        let read: Result<Value, _> = serde_json::from_slice(&body);
        let mut value = read.map_err(|error| refuse(FORMAT, format!("no JSON: {error}")))?;
        match value.as_array_mut().map(Vec::as_mut_slice) {
            Some([parameters @ Value::Object(_)]) => {
                let parameters = parameters.take();
                Ok(Checked { operation, body, parameters, session })
            }
            _ => Err(refuse(FORMAT, "the body is no array of one object")),
        }
    }

    /// Returns the decrypted body of a request, and the key for encrypting the answer if the body was encrypted.
    fn plain(&self, request: &Request<'_>) -> Result<(Vec<u8>, Option<Session>), Refusal> {
        let marked = self.header(request, "x-mgs-encryption").is_some_and(|value| value == b"1");
        match (marked, self.encryption) {
            (false, Encryption::Required) => {
                Err(refuse(DECRYPTION, "requests must be encrypted; x-mgs-encryption is not 1"))
            }
            (true, Encryption::Never) => Err(refuse(DECRYPTION, "encryption is switched off")),
            (false, _) => Ok((request.body.to_vec(), None)),
            (true, _) => {
                let opened = self.decoder.open(&request.body);
                let opened = opened.map_err(|why| refuse(DECRYPTION, why))?;
                self.stats.decrypted(opened.transport);
                if opened.plain.is_empty() {
                    return Err(refuse(EMPTY, "the decrypted body is empty"));
                }
                Ok((opened.plain, Some(opened.session)))
            }
        }
    }

    fn check_signature(
        &self,
        request: &Request<'_>,
        operation: &[u8],
        body: &[u8],
    ) -> Result<(), Refusal> {
        let Some(rule) = &self.signature else { return Ok(()) };
        let Some(sign) = self.header(request, "Sign") else {
            return Err(refuse(NO_SIGNATURE, "there is no signature"));
        };
        let Some(time) = self.header(request, "Ts") else {
            return Err(refuse(NO_TIME, "there is no time stamp"));
        };
        for (name, wanted) in [("AppId", &self.app), ("WorkspaceId", &self.workspace)] {
            let Some(value) = self.header(request, name) else {
                return Err(refuse(NO_PARAMETERS, format!("there is no {name}")));
            };
            if wanted.as_ref().is_some_and(|wanted| wanted.as_bytes() != value) {
                return Err(refuse(NO_KEY, format!("another {name} is known")));
            }
        }
        if operation.is_empty() {
            return Err(refuse(NO_PARAMETERS, "there is no Operation-Type"));
        }
        let kind = self.header(request, "signType").unwrap_or_default();
        if self.sign_type.as_ref().is_some_and(|wanted| wanted.as_bytes() != kind) {
            return Err(refuse(NO_PARAMETERS, "another signType is wanted"));
        }
        if rule.sign(operation, body, time).as_bytes() != sign {
            return Err(refuse(codes::BAD_SIGNATURE, "the signature is another one"));
        }
        add(&self.stats.verified, 1);
        let Some(sent) = milliseconds(time) else {
            return Err(refuse(EXPIRED, "the time stamp is no number of base 64"));
        };
        let away = sent.abs_diff(self.now());
        if self.window > 0 && away > self.window {
            return Err(refuse(EXPIRED, format!("the time stamp is {away} ms away")));
        }
        Ok(())
    }

    /// Returns the client's address, by which the backend is selected.
    fn client(&self, request: &Request<'_>, peer: IpAddr) -> IpAddr {
        let given = request.header("X-Forwarded-For").filter(|_| self.forwarded);
        let first = given.and_then(|value| value.split(|&byte| byte == b',').next());
        let first = first.and_then(|value| std::str::from_utf8(value).ok()?.trim().parse().ok());
        first.unwrap_or(peer)
    }

    /// Returns the answer's body for a backend that the gateway simulates.
    fn body(&self, checked: &Checked, backend: &str) -> Vec<u8> {
        if self.echo {
            return checked.body.clone();
        }
        let operation = &checked.operation;
        json!({"resultStatus": OK, "operationType": operation, "backend": backend, "data": self.filler})
            .to_string()
            .into_bytes()
    }

    /// Formats the gateway's answer as bytes. A refusal has no body; its headers contain the reason.
    fn render(&self, served: Result<Served<'_>, Refusal>, keeps: bool) -> Vec<u8> {
        let (code, why) = match &served {
            Ok(_) => (OK, ""),
            Err(refusal) => (refusal.code, &*refusal.why),
        };
        self.stats.answered(code);
        let number = self.stats.requests.load(std::sync::atomic::Ordering::Relaxed);
        let now = self.now();
        let mut head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json;charset=UTF-8\r\n\
             Result-Status: {code}\r\nMemo: {}\r\nTips: {}\r\n\
             Mgw-TraceId: {now:012x}{number:020x}\r\nServer-Time: {now}\r\n",
            encoded(memo(code)),
            encoded(why),
        );
        if !keeps {
            head.push_str("Connection: close\r\n");
        }
        let body = match served {
            Ok(served) => {
                head.push_str(&format!("X-Served-By: {}\r\n", served.backend));
                if served.encrypted {
                    head.push_str(&format!("{}: 1\r\n", self.headers[6]));
                }
                served.body
            }
            Err(_) => Vec::new(),
        };
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut answer = head.into_bytes();
        answer.extend_from_slice(&body);
        answer
    }

    /// Returns the answer's body for a path outside the protocol: counts or a public key; `None` for any other path.
    fn aside(&self, path: &[u8]) -> Option<String> {
        match path {
            b"/stats" => Some(self.stats.json(&self.limits, &self.backends)),
            b"/stats/reset" => {
                self.stats.reset(&self.limits, &self.backends);
                Some(String::new())
            }
            _ => {
                let name = path.strip_prefix(b"/key/")?;
                let found = Transport::ALL.iter().find(|(known, _)| known.as_bytes() == name);
                found.map(|(_, transport)| self.decoder.keys().public(*transport))
            }
        }
    }
}

impl Threaded for Gateway {
    fn longest(&self) -> usize {
        self.limit.saturating_add(HEAD)
    }

    fn connections(&self) -> usize {
        self.connections
    }

    fn answer(&self, request: &Request<'_>, client: IpAddr) -> Vec<u8> {
        let plain = |status: &str, body: &str| {
            let length = body.len();
            format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
        };
        if request.path() != self.path.as_bytes() {
            return match self.aside(request.path()) {
                Some(body) => plain("200 OK", &body),
                None => plain("404 Not Found", ""),
            };
        }
        if request.method != b"POST" {
            return plain("405 Method Not Allowed\r\nAllow: POST", "");
        }
        add(&self.stats.requests, 1);
        self.render(self.serve(request, client), request.keeps_alive())
    }
}

/// Returns the names of the protocol's headers, of which the configuration may replace some.
fn headers(config: &Config) -> Result<[String; HEADERS.len()], Error> {
    let mut headers = HEADERS.map(str::to_owned);
    for text in config.all("header").filter(|text| !text.is_empty()) {
        let renamed = text.split_once('=').and_then(|(known, name)| {
            let index = HEADERS.iter().position(|header| header.eq_ignore_ascii_case(known))?;
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            (!name.is_empty() && name.bytes().all(token)).then_some((index, name))
        });
        let Some((index, name)) = renamed else {
            let known = HEADERS.join(", ");
            return Err(bad("header", text, format!("HEADER=NAME is wanted, of {known}")));
        };
        name.clone_into(&mut headers[index]);
    }
    Ok(headers)
}

fn has_session(request: &Request<'_>, name: &str) -> bool {
    let of_cookie = |cookies: &[u8]| {
        cookies.split(|&byte| byte == b';').any(|pair| {
            let value = pair.trim_ascii_start().strip_prefix(name.as_bytes());
            value.and_then(|rest| rest.strip_prefix(b"=")).is_some_and(|value| !value.is_empty())
        })
    };
    request.header(name).is_some_and(|value| !value.is_empty())
        || request.header("Cookie").is_some_and(of_cookie)
}

/// Decodes the hexadecimal digits of a test vector.
#[cfg(test)]
fn bytes(digits: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}
