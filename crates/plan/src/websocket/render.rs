//! Evaluates a WebSocket sampler to a [`Call`]: makes the checks in the plug-in's order, then renders URL, headers
//! and payload.
//!
//! Files are read anew for each sample, as in the plug-in; the remaining work only copies bytes. An exception of an
//! expression fails the sample; in JMeter such a sample is lost without a result.

use std::fmt::Write;
use std::io::{ErrorKind, Read};
use std::path::Path;

use lang::url;

use super::{Act, Call, Form, Peer, Refusal, WebSocket, binary};
use crate::env::Env;
use crate::input;
use crate::template::{Template, Thrown};

/// Reason in the plug-in's close frames.
const CLOSE_REASON: &str = "sampler requested close";

/// Maximum number of bytes of a binary file that the sampler data shows.
const SHOWN_OF_FILE: usize = 100;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

impl WebSocket {
    /// Evaluates all data of one sample. On an error, the sample fails before sending anything, and the user's
    /// connection stays unchanged.
    pub fn render(&self, env: &mut Env<'_>, call: &mut Call) -> Result<(), Refusal> {
        call.clear();
        match &self.act {
            Act::Hold(_) => return Ok(()),
            Act::Exchange(exchange) => return exchange.render(self, env, call),
            Act::Open | Act::RequestResponse(_) | Act::Read(_) | Act::Write => {
                call.opens = matches!(self.act, Act::Open) || self.peer.creates.get(env);
            }
            Act::PingPong | Act::Pong | Act::Close => {}
        }
        if call.opens {
            call.port = self.peer.port(env)?;
            call.connect_timeout_ms = timeout(&self.connect_timeout, env, Limit::CONNECT)?;
        }
        let limit = if matches!(self.act, Act::Write) { Limit::UNCHECKED } else { Limit::READ };
        call.read_timeout_ms = timeout(&self.read_timeout, env, limit)?;
        if call.opens {
            self.peer.write(env, call)?;
            if self.write_headers(env, call).is_err() {
                let message =
                    "java.lang.IllegalArgumentException: Invalid header; contains new line.";
                let mut refusal = Refusal { started: true, ..refused(message) };
                let _ = writeln!(refusal.sampler_data, "Connect URL:\n{}", call.url);
                return Err(refusal);
            }
        }
        call.optional = self.optional.get(env);
        self.write_payload(env, call);
        thrown(env)
    }

    /// Evaluates only the sampler's destination. Returns true if the sampler opens a connection; `None` if that is
    /// known only during a run.
    pub fn destination(&self, env: &mut Env<'_>, call: &mut Call) -> Option<bool> {
        call.clear();
        call.opens = match &self.act {
            Act::Open => true,
            Act::RequestResponse(_) | Act::Read(_) | Act::Write => self.peer.creates.get(env),
            Act::Exchange(exchange) => {
                let known = exchange.render(self, env, call).is_ok();
                return (env.core.thrown.take().is_none() && known).then_some(call.opens);
            }
            Act::PingPong | Act::Pong | Act::Close | Act::Hold(_) => false,
        };
        if call.opens {
            let port = self.peer.port(env);
            let known = port.and_then(|port| {
                call.port = port;
                self.peer.write(env, call)
            });
            if env.core.thrown.take().is_some() || known.is_err() {
                return None;
            }
        }
        Some(call.opens)
    }

    /// Returns the size of the sampler's payload in bytes, if it is known before a run. A file is not read.
    pub fn payload_bytes(&self, env: &mut Env<'_>, call: &mut Call) -> Option<u64> {
        call.clear();
        let bytes = match &self.act {
            Act::RequestResponse(_) | Act::Write if self.payload.from_file.get(env) => {
                let mut name = env.core.take();
                self.payload.file.eval(env, &mut name);
                let about = std::fs::metadata(&name);
                env.core.give(name);
                about.ok().filter(std::fs::Metadata::is_file).map(|about| about.len())
            }
            Act::RequestResponse(_) | Act::Write => {
                self.write_payload(env, call);
                Some(call.payload.len() as u64)
            }
            Act::Exchange(exchange) => {
                let sent = exchange.render(self, env, call).is_ok();
                sent.then_some(call.payload.len() as u64)
            }
            _ => None,
        };
        let is_known = env.core.thrown.take().is_none() && call.problem.is_none();
        // Variables that are defined only for users are still references, so the size is unknown.
        bytes.filter(|bytes| is_known && *bytes > 0 && !call.data.contains("${"))
    }

    fn write_payload(&self, env: &mut Env<'_>, call: &mut Call) {
        match self.act {
            Act::RequestResponse(_) | Act::Write => {
                call.opcode = if self.payload.form == Form::Binary { BINARY } else { TEXT };
                if self.payload.from_file.get(env) {
                    self.read_payload(env, call);
                } else {
                    self.payload.data.eval(env, &mut call.data);
                    self.encode_payload(call);
                }
            }
            Act::PingPong => call.opcode = PING,
            Act::Pong => call.opcode = PONG,
            Act::Close => {
                call.opcode = CLOSE;
                self.write_close(env, call);
            }
            Act::Open | Act::Read(_) | Act::Hold(_) | Act::Exchange(_) => {}
        }
    }

    /// Encodes the string in `call.data` as the bytes to send.
    fn encode_payload(&self, call: &mut Call) {
        match self.payload.form {
            Form::Text => {}
            Form::Stomp => {
                while let Some(at) = call.data.find("^@") {
                    call.data.replace_range(at..at + 2, "\0");
                }
            }
            Form::Binary => {
                if binary::parse(&call.data, &mut call.payload).is_err() {
                    let message = format!("Request data is not binary: {}", call.data);
                    call.problem = Some(("Sampler Error".into(), message));
                }
                return;
            }
        }
        call.payload.extend_from_slice(call.data.as_bytes());
    }

    /// Reads the payload's file. A relative path starts in the working directory.
    fn read_payload(&self, env: &mut Env<'_>, call: &mut Call) {
        let mut name = env.core.take();
        self.payload.file.eval(env, &mut name);
        let read = input::open(Path::new(if name.is_empty() { "." } else { &name }))
            .and_then(|mut file| file.read_to_end(&mut call.payload));
        match read {
            Ok(_) if self.payload.form == Form::Binary => {
                binary::format(&call.payload, SHOWN_OF_FILE, "...", &mut call.data);
            }
            Ok(_) => {
                call.data.push_str(&String::from_utf8_lossy(&call.payload));
                call.payload.clear();
                self.encode_payload(call);
            }
            Err(error) => call.problem = Some(unreadable(&name, &error)),
        }
        env.core.give(name);
    }

    fn write_close(&self, env: &mut Env<'_>, call: &mut Call) {
        let parsed = self
            .close_status
            .parsed(env, |text| text.parse::<i32>().map_err(|_| Thrown::not_a_number(text)));
        match parsed {
            Ok(status) => {
                // The frame contains the lower two bytes of the number.
                call.close_status = status as u16;
                call.payload.extend_from_slice(&call.close_status.to_be_bytes());
                call.payload.extend_from_slice(CLOSE_REASON.as_bytes());
                let _ = write!(
                    call.data,
                    "Requested connection close with status {status} and reason '{CLOSE_REASON}'."
                );
            }
            Err(thrown) => {
                let message = format!("Sampler error: {}: {}", thrown.class, thrown.message);
                call.problem = Some(("Sampler error".into(), message));
            }
        }
    }
}

/// Returns code and message of a sample whose file cannot be read.
fn unreadable(name: &str, error: &std::io::Error) -> (String, String) {
    let cause = match error.kind() {
        ErrorKind::NotFound => "not found",
        ErrorKind::PermissionDenied => "not readable",
        ErrorKind::IsADirectory => return io("Is a directory"),
        _ => return io(&error.to_string()),
    };
    let message = format!("Request data cannot be loaded, file '{}' {cause}", normal(name));
    ("Sampler Error".into(), message)
}

fn io(text: &str) -> (String, String) {
    ("Websocket I/O error".into(), format!("WebSocket I/O error: {text}"))
}

/// Returns a path as Java prints it: without double slashes and without a slash at the end.
fn normal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if !(c == '/' && out.ends_with('/')) {
            out.push(c);
        }
    }
    if out.len() > 1 && out.ends_with('/') {
        out.pop();
    }
    out
}

impl Peer {
    pub(super) fn port(&self, env: &mut Env<'_>) -> Result<u16, Refusal> {
        self.port.parsed(env, |text| {
            let text = trim(text);
            match text.parse::<i32>() {
                Ok(port) => u16::try_from(port)
                    .ok()
                    .filter(|port| *port > 0)
                    .ok_or_else(|| refused(&format!("Port number '{text}' is not valid."))),
                Err(_) => Err(refused(&format!("Port number '{text}' is not a number."))),
            }
        })
    }

    /// Writes the destination of the connection, parsed like `java.net.URL`.
    fn write(&self, env: &mut Env<'_>, call: &mut Call) -> Result<(), Refusal> {
        call.secure = self.secure.get(env);
        let (mut server, mut path) = (env.core.take(), env.core.take());
        self.server.eval(env, &mut server);
        self.path.eval(env, &mut path);
        let outcome = write_url(&server, &path, call);
        env.core.give(path);
        env.core.give(server);
        outcome
    }
}

/// Sets all fields of `call` that are computed from server, port and path.
pub(super) fn write_url(server: &str, path: &str, call: &mut Call) -> Result<(), Refusal> {
    url::check_host(server).map_err(|bad| {
        let message =
            format!("java.lang.RuntimeException: java.net.MalformedURLException: {}", bad.0);
        Refusal { started: true, ..refused(&message) }
    })?;
    let bracketed = server.contains(':') && !server.starts_with('[');
    let (open, close) = if bracketed { ("[", "]") } else { ("", "") };
    let _ = write!(call.authority, "{open}{server}{close}:{}", call.port);
    // Java treats an empty host name as this machine.
    let host = server.trim_start_matches('[').trim_end_matches(']');
    call.host.push_str(if host.is_empty() { "127.0.0.1" } else { host });
    let (file, fragment) = path.split_at(path.find('#').unwrap_or(path.len()));
    call.fragment.push_str(fragment);
    if !file.starts_with('/') {
        call.target.push('/');
    }
    let trims = file.starts_with('?') || server.is_empty();
    call.target.push_str(if trims { trim(file) } else { file });
    call.path_len = call.target.rfind('?').unwrap_or(call.target.len());
    let scheme = if call.secure { "wss" } else { "ws" };
    let _ = write!(call.url, "{scheme}://{}{}", call.authority, call.target);
    Ok(())
}

/// Valid range of a timeout in milliseconds, and the timeout's name in messages.
struct Limit {
    name: &'static str,
    least: i32,
    most: i32,
    checked: bool,
}

impl Limit {
    const CONNECT: Self =
        Self { name: "Connection timeout", least: 1, most: 999_999, checked: true };
    const READ: Self = Self { name: "Read timeout", least: 0, most: 9_999_999, checked: true };
    /// Read timeout of a sampler that only writes. The plug-in does not check the range, but the value must be a whole
    /// number of at least 0.
    const UNCHECKED: Self = Self { name: "Read timeout", least: 0, most: i32::MAX, checked: false };
}

fn timeout(text: &Template, env: &mut Env<'_>, limit: Limit) -> Result<u32, Refusal> {
    let Limit { name, least, most, checked } = limit;
    text.parsed(env, |text| {
        let text = trim(text);
        match text.parse::<i32>() {
            Ok(value) if (least..=most).contains(&value) => Ok(value as u32),
            Ok(value) if checked => Err(refused(&format!(
                "{name} '{value}' is not valid; should between {least} and {most}"
            ))),
            Err(_) if checked => Err(refused(&format!("{name} '{text}' is not a number."))),
            Ok(_) => Err(refused("java.lang.IllegalArgumentException: timeout can't be negative")),
            Err(_) => {
                let thrown = Thrown::not_a_number(text);
                Err(refused(&format!("{}: {}", thrown.class, thrown.message)))
            }
        }
    })
}

/// Trims like Java's `String.trim`.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// Returns the error for a sample whose time measurement never started.
fn refused(message: &str) -> Refusal {
    Refusal {
        code: "Sampler error".into(),
        message: format!("Sampler error: {message}"),
        ..Refusal::default()
    }
}

/// Turns a pending exception of an expression into the failure of the sample. The engine handles exceptions that
/// end the user.
pub(super) fn thrown(env: &mut Env<'_>) -> Result<(), Refusal> {
    match env.core.thrown.take_if(|thrown| !thrown.stops_user()) {
        Some(thrown) => Err(Refusal {
            started: true,
            ..refused(&format!("{}: {}", thrown.class, thrown.message))
        }),
        None => Ok(()),
    }
}
