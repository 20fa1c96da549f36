//! Strings of a sample's result, word for word as in the plug-in. The engine sets the times.
//!
//! The functions in the order of a sample: [`refused_to_start`] if rendering failed; otherwise [`begin`] writes the
//! sampler data, and one of the other functions writes the outcome. The caller first clears the result and sets its
//! label. [`Sizes`] counts bytes as JMeter does, independently of the response as a string, which may not be
//! needed. The plug-in's messages about failures are:
//!
//! | failure | function | text |
//! |---|---|---|
//! | timeout of connecting or reading | [`io_error`] | `Connect timed out`, `Read timed out` |
//! | the peer closed the connection while a frame was read | [`io_error`] | `end of stream` |
//! | the peer closed the connection within a payload | [`io_error`] | `WebSocket protocol error: expected payload of length 5, but can only read 2 bytes` |
//! | a continuation frame without a message | [`io_error`] | `no continuation frame expected` |
//! | a new message before the end of the last | [`io_error`] | `missing continuation frame` |
//! | no response to the upgrade request | [`io_error`] | `Empty response; connection closed.` |
//! | a response that is not HTTP | [`io_error`] | `Invalid status line` |
//! | an unknown opcode | [`error`] | `java.lang.RuntimeException: unsupported frame type: 11` |
//! | a length of more than 31 bits | [`error`] | `java.lang.RuntimeException: Frame too large; Java does not support arrays longer than 2147483647 bytes.` |
//! | a close frame on a connection that was just opened | [`error`] | `java.lang.IllegalStateException: Cannot connect when state is CLOSED_SERVER` |
//!
//! After an I/O error while reading, the plug-in still considers the connection open: the next sampler uses it and
//! fails. After a sent or received close frame, the next sampler has no connection. The last row is an exception:
//! the next sampler that uses an existing connection fails with this error, and only the sampler after it has no
//! connection.

use std::fmt::Write;

use super::{Act, Frame, FrameKind, Refusal};
use crate::env::Env;
use crate::result::SampleResult;

/// Variable that is `true` if the last data frame ended its message.
pub const LAST_FRAME_FINAL: &str = "websocket.last_frame_final";

/// The plug-in's error for a compressed frame if the plan did not offer compression.
pub const NOT_INFLATED: &str = "java.lang.NullPointerException: Cannot invoke \
    \"eu.luminis.websocket.WebSocketInflater.appendCompressedData(byte[], boolean, org.apache.log.Logger)\" because \
    \"webSocketInflater\" is null";

/// Sizes of a sample in bytes, counted as in JMeter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Size in bytes of the upgrade response and of the frames read, minus `body`. The difference is negative if
    /// compression saves more bytes than the headers take.
    pub headers: i64,
    /// Size in bytes of the payloads after decompression.
    pub body: i64,
    /// Bytes sent: the bytes of the upgrade request or, after a frame was sent, of the last frame.
    pub sent: u64,
}

impl Sizes {
    /// Counts the upgrade request and its response for a sample that opened the connection.
    pub fn opened(&mut self, request: u64, answer: u64) {
        (self.sent, self.headers) = (request, answer as i64);
    }

    /// Counts a sent frame of `frame` bytes. Earlier sent bytes no longer count, as in JMeter.
    pub fn sent(&mut self, frame: u64) {
        self.sent = frame;
    }

    /// Counts the frame that the sample read.
    pub fn read(&mut self, frame: &Frame<'_>) {
        let payload = frame.shown().len() as i64;
        self.headers += frame.size as i64 - payload;
        self.body += payload;
    }

    /// Counts a frame that a filter discarded, and its reply of `reply` bytes. Used if
    /// `websocket.result.size_includes_filtered_frames` is set.
    pub fn discarded(&mut self, frame: &Frame<'_>, reply: u64) {
        self.read(frame);
        self.sent += reply;
    }

    /// Returns the bytes that the result counts as received. `data` is the length of the response data.
    pub fn received(&self, data: u64) -> u64 {
        let body = if self.body == 0 { data as i64 } else { self.body };
        u64::try_from(self.headers + body).unwrap_or(0)
    }
}

/// Writes the result of a sample that failed before sending anything.
pub fn refused_to_start(refusal: &Refusal, result: &mut SampleResult) {
    result.success = false;
    result.code.push_str(&refusal.code);
    result.message.push_str(&refusal.message);
    result.sampler_data.push_str(&refusal.sampler_data);
}

/// Writes the result of a sample without a connection, if the sampler does not open one. The time measurement of this
/// sample never started.
pub fn no_connection(act: &Act, result: &mut SampleResult) {
    result.success = false;
    match act {
        Act::Close => {
            result.sampler_data.push_str("No request sent.");
            result.message.push_str("No connection; nothing to close.");
        }
        Act::PingPong | Act::Pong => {
            result.code.push_str("Sampler error");
            result
                .message
                .push_str("Sampler must use existing connection, but there is no connection");
        }
        _ => {
            result.code.push_str("Sampler error");
            result.message.push_str(
                "Sampler configured for using existing connection, but there is no connection",
            );
        }
    }
}

/// Writes the sampler data at the start: the URL of the connection, which an earlier sampler may have opened.
pub fn begin(url: &str, existing: bool, result: &mut SampleResult) {
    let existing = if existing { "(using existing connection)\n" } else { "" };
    let _ = write!(result.sampler_data, "Connect URL:\n{url}\n{existing}");
}

/// Writes the sampler data about the sent frame (`Call::data`).
pub fn request(act: &Act, data: &str, result: &mut SampleResult) {
    match act {
        Act::RequestResponse(_) | Act::Write => {
            let _ = write!(result.sampler_data, "\nRequest data:\n{data}\n");
        }
        Act::Close | Act::Exchange(_) => {
            result.sampler_data.clear();
            result.sampler_data.push_str(data);
        }
        _ => {}
    }
}

/// Writes the result of a successful sample. `opened` is the upgrade response if the sample opened the connection.
/// `frame` is the frame that the sample read; `None` for samplers that do not read.
pub fn success(
    act: &Act,
    opened: Option<&[u8]>,
    frame: Option<&Frame<'_>>,
    result: &mut SampleResult,
    env: &mut Env<'_>,
) {
    done(opened, result);
    match frame {
        Some(frame) if frame.kind == FrameKind::Close => closed(frame, result),
        Some(frame) if frame.is_data() && !matches!(act, Act::PingPong) => {
            fill(frame, result);
            note_final(frame, env);
        }
        _ => {}
    }
}

/// Writes the result of an optional read that timed out.
pub fn no_response(opened: Option<&[u8]>, result: &mut SampleResult) {
    done(opened, result);
    result.code.clear();
    result.code.push_str("No response");
    result.message.clear();
    result.message.push_str("Read timeout, no response received.");
}

/// Writes code, message and headers of a successful sample.
fn done(opened: Option<&[u8]>, result: &mut SampleResult) {
    result.success = true;
    match opened {
        Some(answer) => {
            result.code.push_str("101");
            result.message.push_str("Switching Protocols");
            response_headers(answer, &mut result.response_headers);
        }
        None => {
            result.code.push_str("200");
            result.message.push_str("OK");
        }
    }
}

/// Writes the code and message for the peer's close frame.
fn closed(frame: &Frame<'_>, result: &mut SampleResult) {
    let reason = frame.close_reason().map(String::from_utf8_lossy);
    result.code.clear();
    result.message.clear();
    result.message.push_str("Connection closed");
    let _ = match &reason {
        Some(reason) => write!(result.message, "; close reason: '{reason}'."),
        None => write!(result.message, "."),
    };
    if let Some(status) = frame.close_status() {
        let _ = write!(result.code, "{status}");
        let _ = write!(result.text, "{status}");
    }
    if let Some(reason) = &reason {
        let _ = write!(result.text, ": {reason}");
    }
    result.body.extend_from_slice(result.text.as_bytes());
    result.encoding.push_str("UTF-8");
    result.data_type = "text";
}

/// Writes the payload of a data frame as the response data of the sample.
fn fill(frame: &Frame<'_>, result: &mut SampleResult) {
    result.text.push_str(&String::from_utf8_lossy(frame.shown()));
    if frame.kind == FrameKind::Binary {
        result.body.extend_from_slice(frame.shown());
        result.data_type = "bin";
    } else {
        result.body.extend_from_slice(result.text.as_bytes());
        result.encoding.push_str("UTF-8");
        result.data_type = "text";
    }
}

/// Sets the variable that tells whether a data frame ended its message, if the plan mentions this variable. Used for
/// samples whose result is not needed; for other samples, [`success`] sets the variable.
pub fn note_final(frame: &Frame<'_>, env: &mut Env<'_>) {
    if let Some(variable) = env.names.find(LAST_FRAME_FINAL) {
        env.vars.set(variable, if frame.fin { "true" } else { "false" });
    }
}

/// Writes the result for a frame of an unexpected type.
pub fn unexpected(act: &Act, frame: &Frame<'_>, result: &mut SampleResult) {
    result.success = false;
    if matches!(act, Act::Close) {
        result.code.push_str("WebSocket error: unsuccesful close.");
        result.message.push_str("WebSocket error: received not a close frame, but ");
    } else {
        let _ =
            write!(result.code, "Sampler error: unexpected frame type ({}).", frame.type_name());
        result.message.push_str("Received: ");
    }
    frame.describe(&mut result.message);
}

/// Writes the result for a refused upgrade: the server's status, or the fault of its response ([`fault`]).
pub fn refused(answer: Result<(u16, &str), &str>, result: &mut SampleResult) {
    result.success = false;
    match answer {
        Ok((status, line)) => {
            let _ = write!(result.code, "{status}");
            let _ = write!(result.message, "Got unexpected status {status} with statusLine:{line}");
        }
        Err(fault) => result.message.push_str(fault),
    }
}

/// Faults of a response with status 101.
pub mod fault {
    /// Missing `Upgrade: websocket` header.
    pub const NO_UPGRADE: &str =
        "Server response should contain 'Upgrade' header with value 'websocket'";
    /// Missing `Connection: Upgrade` header.
    pub const NO_CONNECTION: &str =
        "Server response should contain 'Connection' header with value 'Upgrade'";
    /// Missing `Sec-WebSocket-Accept` header.
    pub const NO_ACCEPT: &str = "Server response should contain 'Sec-WebSocket-Accept' header";
    /// Value of `Sec-WebSocket-Accept` that does not match the key.
    pub const WRONG_ACCEPT: &str =
        "Server response header 'Sec-WebSocket-Accept' has incorrect value.";
}

/// Writes the result if the payload could not be built (`Call::problem`).
pub fn unmade(problem: &(String, String), result: &mut SampleResult) {
    result.success = false;
    result.code.push_str(&problem.0);
    result.message.push_str(&problem.1);
}

/// Writes the result of an error on the connection; `text` is Java's message without the class.
pub fn io_error(text: &str, result: &mut SampleResult) {
    result.success = false;
    result.code.push_str("Websocket I/O error");
    result.message.push_str("WebSocket I/O error: ");
    result.message.push_str(text);
}

/// Writes the result of an error in the sampler; `text` is Java's message with the class.
pub fn error(text: &str, result: &mut SampleResult) {
    result.success = false;
    result.code.push_str("Sampler error");
    result.message.push_str("Sampler error: ");
    result.message.push_str(text);
}

/// Writes the sub-result of a discarded frame. Unless configured otherwise, JMeter later replaces its label by one
/// derived from the label of the sample.
pub fn discarded(filter: &str, frame: &Frame<'_>, sub: &mut SampleResult) {
    let _ = write!(sub.label, "Discarded {} frame (by filter '{filter}')", frame.type_name());
    sub.success = true;
    sub.message.push_str("Received ");
    frame.describe(&mut sub.message);
    if frame.is_data() {
        fill(frame, sub);
        sub.data_type = "";
    }
    sub.bytes = frame.size;
}

/// Appends the response headers as the plug-in keeps them: sorted by name without regard to case, equal names
/// joined.
fn response_headers(answer: &[u8], out: &mut String) {
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in answer.split(|byte| *byte == b'\n').skip(1) {
        // The plug-in drops every CR, wherever it is, and interprets the other bytes as ASCII.
        let line: String = line
            .iter()
            .filter(|byte| **byte != b'\r')
            .map(|byte| if byte.is_ascii() { *byte as char } else { '\u{fffd}' })
            .collect();
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim_matches(|c: char| c <= ' ');
        match headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, known)) => {
                let _ = write!(known, ", {value}");
            }
            None => headers.push((name.into(), value.into())),
        }
    }
    headers.sort_by_key(|(name, _)| name.to_ascii_lowercase());
    for (at, (name, value)) in headers.iter().enumerate() {
        let line_end = if at > 0 { "\n" } else { "" };
        let _ = write!(out, "{line_end}{name}: {value}");
    }
}

/// Writes the result of a hold sampler that ended by its time or its number of messages.
pub fn held(messages: u64, least: u64, result: &mut SampleResult) {
    result.success = messages >= least;
    result.code.push_str(if result.success { "200" } else { "Too few messages" });
    let _ = write!(result.message, "{messages} messages");
    if !result.success {
        let _ = write!(result.message, ", expected at least {least}");
    }
}

/// Writes the result of a hold sampler that ended because its connection ended.
pub fn hold_broken(messages: u64, reason: &str, result: &mut SampleResult) {
    result.success = false;
    result.code.push_str("Connection lost");
    let _ = write!(result.message, "{reason} after {messages} messages");
}
