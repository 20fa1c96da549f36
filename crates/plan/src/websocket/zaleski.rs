//! The older sampler by Maciej Zaleski: opens a connection, sends a message, and waits for a message that matches.
//!
//! The plug-in uses Jetty's client: its upgrade request has different header lines in a different order, and pings
//! are answered. The connection is closed at the end of the sample unless it is a *streaming* connection. Later
//! samplers with the same connection id reuse a streaming connection, and its last messages become part of their
//! response. [`ConnectionState`] is the state of this connection.

use std::collections::VecDeque;
use std::fmt::Write;

use jmx::ElementId;
use lang::charset::Charset;
use lang::percent;
use lang::regexp::Regexp;

use super::{Call, Refusal, WebSocket};
use crate::compile::Context;
use crate::env::Env;
use crate::result::SampleResult;
use crate::template::Template;
use crate::template::flag::{self, Flag};

/// Default number of messages that are kept for later samples.
const BACKLOG: usize = 3;
/// Default timeout in milliseconds, for values that are not a number.
const TIMEOUT: u32 = 20_000;

/// A compiled sampler of Zaleski's plug-in.
#[derive(Debug)]
pub struct Zaleski {
    /// True if the connection stays open for later samplers.
    streaming: Flag,
    connection: Template,
    address: Template,
    port: Template,
    protocol: Template,
    path: Template,
    arguments: Vec<Argument>,
    payload: Template,
    connect_timeout: Template,
    response_timeout: Template,
    response: Template,
    close: Template,
    backlog: Template,
}

/// A parameter of the URL's query.
#[derive(Debug)]
struct Argument {
    name: Template,
    value: Template,
    encode: Flag,
}

/// Effect of a message on a waiting sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The sample continues to wait.
    Wait,
    /// The sample is done.
    Done,
    /// The sample is done, and the connection is closed immediately with status 1000.
    DoneAndClose,
}

const KEPT: &str = " - Leaving streaming connection open\n";

/// Payload of the close frame that Zaleski's sampler sends.
pub const GOODBYE: &[u8] = b"\x03\xe8JMeter closed session.";

/// State of a connection of Zaleski's sampler.
#[derive(Debug, Default)]
pub struct ConnectionState {
    log: String,
    backlog: VecDeque<String>,
    messages: u32,
    /// Payload of the peer's close frame, once received.
    farewell: Option<Vec<u8>>,
    /// Longest time in milliseconds for which the sample waits for its response.
    patience: u32,
    error: i32,
    /// Response pattern; `None` if it is invalid, so that any message is a response.
    response: Option<String>,
    close: String,
    kept: usize,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Zaleski {
    Zaleski {
        streaming: flag::compile(ctx, id, "streamingConnection", false),
        connection: ctx.prop(id, "connectionId"),
        address: ctx.prop(id, "serverAddress"),
        port: ctx.prop_or(id, "serverPort", "0"),
        protocol: ctx.prop(id, "protocol"),
        path: ctx.prop(id, "contextPath"),
        arguments: arguments(ctx, id),
        payload: ctx.prop(id, "requestPayload"),
        connect_timeout: ctx.prop_or(id, "connectionTimeout", "5000"),
        response_timeout: ctx.prop_or(id, "responseTimeout", "20000"),
        response: ctx.prop(id, "responsePattern"),
        close: ctx.prop(id, "closeConncectionPattern"),
        backlog: ctx.prop_or(id, "messageBacklog", "3"),
    }
}

fn arguments(ctx: &mut Context<'_>, id: ElementId) -> Vec<Argument> {
    let Some(object) = ctx.props(id).object("queryStringParameters") else { return Vec::new() };
    let members = object.props.collection("Arguments.arguments");
    let made = members.iter().filter_map(|member| member.object()).map(|argument| {
        let text = |name: &str| argument.props.str(name).unwrap_or("");
        Argument {
            name: ctx.text(id, text("Argument.name")),
            value: ctx.text(id, text("Argument.value")),
            encode: match argument.props.get("HTTPArgument.always_encode") {
                Some(prop) => flag::of_prop(ctx, id, prop),
                // An argument of the plain class is always encoded.
                None => Flag::Fixed(!argument.class.ends_with("HTTPArgument")),
            },
        }
    });
    made.collect()
}

impl Zaleski {
    /// Evaluates the settings of one sample. Sets `call.opens`, which the engine ignores if the user already has a
    /// connection with the same id.
    pub(super) fn render(
        &self,
        sampler: &WebSocket,
        env: &mut Env<'_>,
        call: &mut Call,
    ) -> Result<(), Refusal> {
        call.style = super::Style::Jetty;
        call.opens = true;
        call.keeps = self.streaming.get(env);
        self.connection.eval(env, &mut call.connection);
        let number = |text: &Template, env: &mut Env<'_>| {
            let value = text.parsed(env, |text| text.parse::<i32>().ok());
            value.map_or(TIMEOUT, |ms| u32::try_from(ms).unwrap_or(0))
        };
        call.connect_timeout_ms = number(&self.connect_timeout, env);
        call.read_timeout_ms = number(&self.response_timeout, env);
        self.payload.eval(env, &mut call.data);
        call.payload.extend_from_slice(call.data.as_bytes());
        // Without a payload, no frame is sent.
        call.opcode = u8::from(!call.data.is_empty());
        self.write_url(env, call)?;
        let _ = sampler.write_headers(env, call);
        super::render::thrown(env)
    }

    /// Writes the destination of the connection. The path may be an absolute URL; otherwise it is sent unchanged.
    fn write_url(&self, env: &mut Env<'_>, call: &mut Call) -> Result<(), Refusal> {
        let (mut address, mut path) = (env.core.take(), env.core.take());
        self.path.eval(env, &mut path);
        let whole = ["wss://", "ws://"].iter().find_map(|scheme| path.strip_prefix(scheme));
        let (mut own_port, mut query) = (None, env.core.take());
        if let Some(rest) = whole {
            call.secure = path.starts_with("wss");
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (authority, after) = rest.split_at(end);
            let host_end = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
            address.push_str(&authority[..host_end.unwrap_or(end)]);
            own_port = host_end.and_then(|at| authority[at + 1..].parse::<u16>().ok());
            let after = after.split('#').next().unwrap_or("");
            let (before, own_query) = after.split_once('?').unwrap_or((after, ""));
            query.push_str(own_query);
            let before = before.to_string();
            path.clear();
            path.push_str(&before);
        } else {
            self.address.eval(env, &mut address);
            call.secure = self.protocol.parsed(env, |name| name.eq_ignore_ascii_case("wss"));
            own_port = self.port.parsed(env, |text| text.parse::<u16>().ok()).or(own_port);
            self.write_query(env, &mut query);
        }
        let usual = if call.secure { 443 } else { 80 };
        call.port = own_port.filter(|port| *port > 0).unwrap_or(usual);
        let outcome = super::render::write_url(&address, "/", call);
        call.target.clear();
        if !path.starts_with('/') {
            call.target.push('/');
        }
        call.target.push_str(&path);
        call.path_len = call.target.len();
        if !query.is_empty() {
            call.target.push('?');
            call.target.push_str(&query);
        }
        if call.port == usual {
            let end = call.authority.rfind(':').unwrap_or(call.authority.len());
            call.authority.truncate(end);
        }
        for buffer in [query, path, address] {
            env.core.give(buffer);
        }
        outcome
    }

    /// Writes the query, with parameters encoded if the plan requests it. As in the plug-in, `java.net.URI` then
    /// escapes it once more.
    fn write_query(&self, env: &mut Env<'_>, out: &mut String) {
        let (mut name, mut value, mut joined) = (env.core.take(), env.core.take(), env.core.take());
        let mut bytes = Vec::new();
        for argument in &self.arguments {
            name.clear();
            value.clear();
            argument.name.eval(env, &mut name);
            argument.value.eval(env, &mut value);
            if name.is_empty() {
                continue;
            }
            if !joined.is_empty() {
                joined.push('&');
            }
            if argument.encode.get(env) {
                percent::form(&name, Charset::Utf8, &mut bytes, &mut joined);
                joined.push('=');
                percent::form(&value, Charset::Utf8, &mut bytes, &mut joined);
            } else {
                for piece in [name.as_str(), "=", value.as_str()] {
                    joined.push_str(piece);
                }
            }
        }
        for c in joined.chars() {
            if c.is_ascii_alphanumeric() || ";/?:@&=+$,[]_-!.~'()*".contains(c) || !c.is_ascii() {
                out.push(c);
            } else {
                let _ = write!(out, "%{:02X}", c as u32);
            }
        }
        for buffer in [joined, value, name] {
            env.core.give(buffer);
        }
    }

    /// Creates the state of a new connection, with the patterns of the sampler that opens the connection.
    pub fn open(&self, call: &Call, env: &mut Env<'_>) -> ConnectionState {
        let mut talk = ConnectionState::default();
        talk.log.push_str("\n\n[Execution Flow]\n - Opening new connection\n");
        let mut pattern = |text: &Template, what: &str, invalid: &str| {
            let mut source = String::new();
            text.eval(env, &mut source);
            let _ = writeln!(talk.log, " - Using {what} pattern \"{source}\"");
            let malformed = Regexp::remembered(&source).err();
            if let Some(malformed) = &malformed {
                let reason = &malformed.reason;
                let _ =
                    writeln!(talk.log, " - Invalid {invalid} regular expression pattern: {reason}");
            }
            (source, malformed.is_none())
        };
        let (response, readable) = pattern(&self.response, "response message", "response message");
        (talk.close, _) = pattern(&self.close, "disconnect", "disconnect");
        talk.response = readable.then_some(response);
        talk.kept = self.backlog.parsed(env, |text| text.parse().unwrap_or(BACKLOG));
        talk.patience = call.read_timeout_ms;
        let timeout = call.connect_timeout_ms;
        let _ =
            writeln!(talk.log, " - Waiting for the server connection for {timeout} MILLISECONDS");
        talk
    }

    /// Starts a sample on a kept connection: clears the messages of the previous sample.
    pub fn start_reused(&self, talk: &mut ConnectionState, call: &Call) {
        talk.log.clear();
        talk.log.push_str("\n\n[Execution Flow]\n - Reusing exising connection\n");
        talk.error = 0;
        talk.patience = call.read_timeout_ms;
        talk.wait();
    }
}

impl ConnectionState {
    /// Adds the outcome of opening the connection to the log that the result shows.
    pub fn opened(&mut self, stands: bool) {
        self.log.push_str(if stands {
            " - WebSocket conection has been opened\n - Connection established\n"
        } else {
            " - Cannot connect to the remote server\n"
        });
        self.wait();
    }

    fn wait(&mut self) {
        let patience = self.patience;
        let _ = writeln!(self.log, " - Waiting for messages for {patience} MILLISECONDS");
    }

    /// Returns the payload of the close frame to send: the peer's, if its close frame arrived first.
    pub fn goodbye(&self) -> &[u8] {
        self.farewell.as_deref().unwrap_or(GOODBYE)
    }

    /// Processes a text message. Messages received while no sample waits are processed as well, but their verdict
    /// is ignored.
    pub fn process_text(&mut self, message: &str) -> Verdict {
        self.messages += 1;
        let (number, length) = (self.messages, message.encode_utf16().count());
        let _ = write!(self.log, " - Received message #{number} ({length} bytes)");
        while self.backlog.len() >= self.kept.max(1) {
            self.backlog.pop_front();
        }
        self.backlog.push_back(format!("[Message {number}]\n{message}\n\n"));
        let found = |pattern: &str| {
            Regexp::remembered(pattern).is_ok_and(|pattern| pattern.is_found_in(message))
        };
        let (words, verdict) = if self.response.as_deref().is_none_or(found) {
            ("matched response pattern", Verdict::Done)
        } else if !self.close.is_empty() && found(&self.close) {
            ("matched connection close pattern", Verdict::DoneAndClose)
        } else {
            ("didn't match any pattern", Verdict::Wait)
        };
        let _ = writeln!(self.log, "; {words}");
        verdict
    }

    /// Processes a close frame of the peer with this status.
    pub fn closed(&mut self, status: i32, reason: &str) {
        let mut farewell = (status as u16).to_be_bytes().to_vec();
        farewell.extend_from_slice(reason.as_bytes());
        self.farewell = Some(farewell);
        if status == 1000 {
            self.log
                .push_str(" - WebSocket conection has been successfully closed by the server\n");
        } else {
            let _ = writeln!(
                self.log,
                " - WebSocket conection closed unexpectedly by the server: [{status}] {reason}"
            );
            self.error = status;
        }
    }

    /// Fills the result of a sample that has stopped waiting, for any reason. `keeps` is true if the connection stays
    /// open, `opened` if it was established, and `closes` if a message matched the close pattern.
    pub fn finish(&mut self, keeps: bool, opened: bool, closes: bool, result: &mut SampleResult) {
        const ENDED: &str = " - WebSocket conection has been successfully closed by the server\n";
        const CLOSED: &str = " - WebSocket session closed by the client\n";
        const STOPPED: &str = " - WebSocket client closed by the client\n";
        let lines: &[&str] = match (keeps, opened) {
            (true, _) if closes => &[ENDED, CLOSED, STOPPED, KEPT],
            (true, _) => &[KEPT],
            (_, false) => &[" - WebSocket session wasn't started (...that's odd)\n", STOPPED],
            // The connection is closed twice: because of the message, and at the end of the sample.
            _ if closes => &[ENDED, CLOSED, CLOSED, STOPPED, STOPPED],
            _ if self.farewell.is_some() => &[CLOSED, STOPPED],
            _ => &[ENDED, CLOSED, STOPPED],
        };
        for line in lines {
            self.log.push_str(line);
        }
        result.success = self.error == 0;
        if self.error == 0 {
            result.code.push_str("200");
        } else {
            let _ = write!(result.code, "{}", self.error);
        }
        for message in &self.backlog {
            result.text.push_str(message);
        }
        result.body.extend_from_slice(result.text.as_bytes());
        result.encoding.push_str("UTF-8");
        self.write_message("", result);
    }

    /// Fills the result of a sample that could not send. `problem` is Java's message.
    pub fn fail(&mut self, problem: &str, result: &mut SampleResult) {
        result.success = false;
        self.write_message(problem, result);
    }

    fn write_message(&self, problem: &str, result: &mut SampleResult) {
        result.message.push_str(&self.log);
        let _ = write!(result.message, "\n\n[Variables]\n - Message count: {}\n", self.messages);
        result.message.push_str("\n\n[Problems]\n");
        result.message.push_str(problem);
    }
}
