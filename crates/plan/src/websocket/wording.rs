//! Wording of a sample's result, word for word as the plug-in has it. Times are the engine's.
//!
//! In the order of a sample: [`refused_to_start`] where rendering failed; else [`begin`] fills the sampler's data, and
//! one of the others the outcome. A result is cleared and has its label before. [`Sizes`] adds up bytes as JMeter
//! counts them, apart from the text, for nobody may be looking at the text. What the plug-in says of failures below:
//!
//! | what happened | function | text |
//! |---|---|---|
//! | connecting or reading took too long | [`io_error`] | `Connect timed out`, `Read timed out` |
//! | the peer closed while a frame was read | [`io_error`] | `end of stream` |
//! | … within a payload | [`io_error`] | `WebSocket protocol error: expected payload of length 5, but can only read 2 bytes` |
//! | a continuation of nothing | [`io_error`] | `no continuation frame expected` |
//! | a new message within a message | [`io_error`] | `missing continuation frame` |
//! | no answer to the upgrade | [`io_error`] | `Empty response; connection closed.` |
//! | an answer that is no HTTP | [`io_error`] | `Invalid status line` |
//! | an unknown opcode | [`error`] | `java.lang.RuntimeException: unsupported frame type: 11` |
//! | a length of more than 31 bits | [`error`] | `java.lang.RuntimeException: Frame too large; Java does not support arrays longer than 2147483647 bytes.` |
//! | a connection that was just opened and then got a close frame | [`error`] | `java.lang.IllegalStateException: Cannot connect when state is CLOSED_SERVER` |
//!
//! After an I/O error while reading the plug-in still takes the connection for open: the next sampler tries, and fails by itself. After a
//! close frame, sent or received, the connection is gone for the next sampler, except in the last row: there the next
//! sampler that uses an existing connection fails so, and only the one after it finds none.

use std::fmt::Write;

use super::{Act, Frame, FrameKind, Refusal};
use crate::env::Env;
use crate::result::SampleResult;

/// The variable that tells whether the last data frame ended its message.
pub const LAST_FRAME_FINAL: &str = "websocket.last_frame_final";

/// The plug-in's remark on a compressed frame where the plan did not offer to inflate.
pub const NOT_INFLATED: &str = "java.lang.NullPointerException: Cannot invoke \
    \"eu.luminis.websocket.WebSocketInflater.appendCompressedData(byte[], boolean, org.apache.log.Logger)\" because \
    \"webSocketInflater\" is null";

/// Bytes of a sample in JMeter's way of counting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The answer to the upgrade, and what of frames is not payload: less than nothing where a payload was compressed.
    pub headers: i64,
    /// Payload after inflating.
    pub body: i64,
    /// Bytes sent: those of the upgrade, unless a frame was sent after it.
    pub sent: u64,
}

impl Sizes {
    /// The sample opened the connection.
    pub fn opened(&mut self, request: u64, answer: u64) {
        (self.sent, self.headers) = (request, answer as i64);
    }

    /// A frame was sent.
    pub fn sent(&mut self, frame: u64) {
        self.sent = frame;
    }

    /// The frame that the sample was after was read.
    pub fn read(&mut self, frame: &Frame<'_>) {
        let payload = frame.shown().len() as i64;
        self.headers += frame.size as i64 - payload;
        self.body += payload;
    }

    /// A filter discarded a frame and sent `reply` bytes, and `websocket.result.size_includes_filtered_frames` is set.
    pub fn discarded(&mut self, frame: &Frame<'_>, reply: u64) {
        self.read(frame);
        self.sent += reply;
    }

    /// The bytes that the result counts as received. `data` is the length of the response data.
    pub fn received(&self, data: u64) -> u64 {
        let body = if self.body == 0 { data as i64 } else { self.body };
        u64::try_from(self.headers + body).unwrap_or(0)
    }
}

/// The sample failed before anything was sent.
pub fn refused_to_start(refusal: &Refusal, result: &mut SampleResult) {
    result.success = false;
    result.code.push_str(&refusal.code);
    result.message.push_str(&refusal.message);
    result.sampler_data.push_str(&refusal.sampler_data);
}

/// There is no connection, and the sampler does not open one. Its sample never started.
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

/// The sample began: its data shows the URL of the connection, which an earlier sampler may have opened.
pub fn begin(url: &str, existing: bool, result: &mut SampleResult) {
    let existing = if existing { "(using existing connection)\n" } else { "" };
    let _ = write!(result.sampler_data, "Connect URL:\n{url}\n{existing}");
}

/// The sample's frame goes out: its data shows what was sent (`Call::data`).
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

/// The sample got what it was after. `opened` is the answer to the upgrade if it opened the connection. `frame` is
/// what it read; `None` for samplers that read nothing.
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

/// An optional read that found nothing in time.
pub fn no_response(opened: Option<&[u8]>, result: &mut SampleResult) {
    done(opened, result);
    result.code.clear();
    result.code.push_str("No response");
    result.message.clear();
    result.message.push_str("Read timeout, no response received.");
}

/// Code, message and headers of a sample that passed.
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

/// The answer to a close frame.
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

/// Response data of a data frame.
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

/// Sets the variable that says whether a data frame ended its message, if the plan mentions it. For samples at whose
/// result nobody looks; [`success`] does it itself.
pub fn note_final(frame: &Frame<'_>, env: &mut Env<'_>) {
    if let Some(variable) = env.names.find(LAST_FRAME_FINAL) {
        env.vars.set(variable, if frame.fin { "true" } else { "false" });
    }
}

/// A frame of another type came.
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

/// The server did not upgrade: with the status it gave instead, or for what its answer lacks ([`fault`]).
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

/// Faults of an answer of status 101.
pub mod fault {
    /// No `Upgrade: websocket`.
    pub const NO_UPGRADE: &str =
        "Server response should contain 'Upgrade' header with value 'websocket'";
    /// No `Connection: Upgrade`.
    pub const NO_CONNECTION: &str =
        "Server response should contain 'Connection' header with value 'Upgrade'";
    /// No `Sec-WebSocket-Accept`.
    pub const NO_ACCEPT: &str = "Server response should contain 'Sec-WebSocket-Accept' header";
    /// Not the value that follows from the key.
    pub const WRONG_ACCEPT: &str =
        "Server response header 'Sec-WebSocket-Accept' has incorrect value.";
}

/// The payload could not be made (`Call::problem`).
pub fn unmade(problem: &(String, String), result: &mut SampleResult) {
    result.success = false;
    result.code.push_str(&problem.0);
    result.message.push_str(&problem.1);
}

/// Something went wrong on the connection, in Java's words without the class.
pub fn io_error(text: &str, result: &mut SampleResult) {
    result.success = false;
    result.code.push_str("Websocket I/O error");
    result.message.push_str("WebSocket I/O error: ");
    result.message.push_str(text);
}

/// Something went wrong in the sampler, in Java's words with the class.
pub fn error(text: &str, result: &mut SampleResult) {
    result.success = false;
    result.code.push_str("Sampler error");
    result.message.push_str("Sampler error: ");
    result.message.push_str(text);
}

/// A filter of that name discarded a frame: the sub-result. JMeter then names it after its parent, unless told not to.
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

/// Header lines of an answer as the plug-in keeps them: sorted by name whatever the case, equal names joined.
fn response_headers(answer: &[u8], out: &mut String) {
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in answer.split(|byte| *byte == b'\n').skip(1) {
        // The reader drops every CR, wherever it stands, and takes the rest for ASCII.
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

/// A hold ended by itself: by its time, or because enough messages had come.
pub fn held(messages: u64, least: u64, result: &mut SampleResult) {
    result.success = messages >= least;
    result.code.push_str(if result.success { "200" } else { "Too few messages" });
    let _ = write!(result.message, "{messages} messages");
    if !result.success {
        let _ = write!(result.message, "; at least {least} were to come");
    }
}

/// A hold ended because its connection did, for the reason given.
pub fn hold_broken(messages: u64, reason: &str, result: &mut SampleResult) {
    result.success = false;
    result.code.push_str("Connection lost");
    let _ = write!(result.message, "{reason}; {messages} messages until then");
}
