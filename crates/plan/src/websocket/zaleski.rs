//! The older sampler by Maciej Zaleski: opens a connection, sends a message, and waits for one that matches.
//!
//! It talks through Jetty's client: its upgrade request has other lines in another order, and pings are answered. A
//! connection is closed at the end of the sample, unless it is a *streaming* one, which later samplers with the same connection
//! id go on using; its last messages are then part of their response as well. [`Talk`] is what such a connection remembers.

use std::collections::VecDeque;
use std::fmt::Write;

use jmx::ElementId;

use super::{Call, Refusal, WebSocket};
use crate::compile::Context;
use crate::element::{Flag, flag};
use crate::env::Env;
use crate::regexp::Regexp;
use crate::result::SampleResult;
use crate::text::Text;

/// Messages that are kept where the plan does not say how many.
const BACKLOG: usize = 3;
/// Milliseconds to wait where the plan's number is none.
const TIMEOUT: u32 = 20_000;

/// A compiled sampler of that plug-in.
#[derive(Debug)]
pub struct Zaleski {
    /// The connection stays open for later samplers.
    streaming: Flag,
    connection: Text,
    address: Text,
    port: Text,
    protocol: Text,
    path: Text,
    payload: Text,
    connect_timeout: Text,
    response_timeout: Text,
    response: Text,
    close: Text,
    backlog: Text,
}

/// What a message is to a sample that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on waiting.
    Wait,
    /// The sample is done.
    Done,
    /// The sample is done, and the connection is closed with status 1000 at once.
    DoneAndClose,
}

/// What a connection of this plug-in remembers.
#[derive(Debug, Default)]
pub struct Talk {
    log: String,
    backlog: VecDeque<String>,
    messages: u32,
    error: i32,
    /// `None` for a pattern that cannot be read: then any message is a response.
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
        payload: ctx.prop(id, "requestPayload"),
        connect_timeout: ctx.prop_or(id, "connectionTimeout", "5000"),
        response_timeout: ctx.prop_or(id, "responseTimeout", "20000"),
        response: ctx.prop(id, "responsePattern"),
        close: ctx.prop(id, "closeConncectionPattern"),
        backlog: ctx.prop_or(id, "messageBacklog", "3"),
    }
}

impl Zaleski {
    /// Evaluates one sample. `opens` of the call says what to do where the user has no connection of the same id.
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
        let number = |text: &Text, env: &mut Env<'_>| {
            let value = text.parsed(env, |text| text.parse::<i32>().ok());
            value.map_or(TIMEOUT, |ms| u32::try_from(ms).unwrap_or(0))
        };
        call.connect_timeout_ms = number(&self.connect_timeout, env);
        call.read_timeout_ms = number(&self.response_timeout, env);
        self.payload.eval(env, &mut call.data);
        call.payload.extend_from_slice(call.data.as_bytes());
        call.opcode = 1;
        self.write_url(env, call)?;
        let _ = sampler.write_headers(env, call);
        super::render::thrown(env)
    }

    fn write_url(&self, env: &mut Env<'_>, call: &mut Call) -> Result<(), Refusal> {
        let (mut address, mut path) = (env.core.take(), env.core.take());
        self.address.eval(env, &mut address);
        self.path.eval(env, &mut path);
        call.secure = self.protocol.parsed(env, |name| name.eq_ignore_ascii_case("wss"));
        let usual = if call.secure { 443 } else { 80 };
        let port = self.port.parsed(env, |text| text.parse::<i32>().ok());
        call.port =
            port.and_then(|port| u16::try_from(port).ok()).filter(|p| *p > 0).unwrap_or(usual);
        let outcome = super::render::write_url(&address, &path, call);
        if call.port == usual {
            let end = call.authority.rfind(':').unwrap_or(call.authority.len());
            call.authority.truncate(end);
        }
        env.core.give(path);
        env.core.give(address);
        outcome
    }

    /// What a new connection remembers; its patterns are those of the sampler that opens it.
    pub fn open(&self, call: &Call, env: &mut Env<'_>) -> Talk {
        let mut talk = Talk::default();
        talk.log.push_str("\n\n[Execution Flow]\n - Opening new connection\n");
        let mut pattern = |text: &Text, what: &str, invalid: &str| {
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
        let timeout = call.connect_timeout_ms;
        let _ =
            writeln!(talk.log, " - Waiting for the server connection for {timeout} MILLISECONDS");
        talk
    }

    /// Begins a sample on a connection: of `talk`, which is new or was kept. What was logged before is dropped where it was kept.
    pub fn begin(&self, talk: &mut Talk, kept: bool, call: &Call, env: &mut Env<'_>) {
        if kept {
            talk.log.clear();
            talk.log.push_str("\n\n[Execution Flow]\n - Reusing exising connection\n");
            talk.error = 0;
        }
        talk.kept = self.backlog.parsed(env, |text| text.parse().unwrap_or(BACKLOG));
        let _ =
            writeln!(talk.log, " - Waiting for messages for {} MILLISECONDS", call.read_timeout_ms);
    }
}

impl Talk {
    /// The connection stands, or does not.
    pub fn opened(&mut self, stands: bool) {
        self.log.push_str(if stands {
            " - WebSocket conection has been opened\n - Connection established\n"
        } else {
            " - Cannot connect to the remote server\n"
        });
    }

    /// A text message came. Those that came while no sample waited are heard as well, their verdict does not count.
    pub fn hear(&mut self, message: &str) -> Verdict {
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

    /// The peer closed the connection, with that status.
    pub fn closed(&mut self, status: i32, reason: &str) {
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

    /// Fills the result of a sample that waited to its end, whatever ended it.
    pub fn finish(&mut self, keeps: bool, opened: bool, result: &mut SampleResult) {
        self.log.push_str(if keeps {
            " - Leaving streaming connection open\n"
        } else if opened {
            " - WebSocket session closed by the client\n - WebSocket client closed by the client\n"
        } else {
            " - WebSocket session wasn't started (...that's odd)\n - WebSocket client closed by the client\n"
        });
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

    /// Fills the result of a sample that could not send: what went wrong, in Java's words.
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
