//! TCP Sampler: sends bytes to a server and reads its response, with JMeter's three clients: text, binary (as
//! hexadecimal digits), and binary with a length prefix.
//!
//! This file evaluates the exchange and later checks the response; the engine sends and receives.

use std::collections::HashMap;

use jmx::ElementId;
use lang::charset::Charset;
use lang::property_file;

use crate::compile::{Context, Settings, scope};
use crate::env::Env;
use crate::template::Template;
use crate::template::flag::{self, Flag};

/// A compiled TCP Sampler.
#[derive(Debug)]
pub struct TcpSampler {
    client: Client,
    server: Template,
    port: Template,
    request: Template,
    timeout: Template,
    connect_timeout: Template,
    linger: Template,
    end: Template,
    no_delay: Flag,
    reuse: Flag,
    close: Flag,
    /// End byte of responses from the properties. Used if the plan defines none.
    usual_end: Option<u8>,
    charset: Box<str>,
    /// Prefix and suffix of the status in a response (`tcp.status.prefix` and `.suffix`). With an empty prefix,
    /// responses have no status.
    status: (Box<str>, Box<str>),
    /// Response messages by status, from the file that `tcp.status.properties` names; `None` if the file is not
    /// readable.
    messages: Option<HashMap<String, String>>,
}

/// JMeter's client class: the format of requests and responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Client {
    /// Text; the response ends at the end byte or at the end of the stream.
    #[default]
    Text,
    /// Hexadecimal digits; without an end byte, the response also ends at the timeout.
    Binary,
    /// Hexadecimal digits with a length prefix of this many bytes.
    Prefixed(usize),
}

/// Evaluated settings of one TCP exchange.
#[derive(Debug, Default)]
pub struct TcpCall {
    /// Format of the request and the response.
    pub client: Client,
    /// Host to connect to.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// Bytes to send.
    pub bytes: Vec<u8>,
    /// Message of the Java exception if the request cannot be encoded.
    pub unwritable: Option<String>,
    /// Byte that ends a response; `None` if no byte does.
    pub end: Option<u8>,
    /// Timeout in milliseconds between two reads; 0 means no limit.
    pub timeout_ms: u32,
    /// Timeout in milliseconds for connecting; 0 means no limit.
    pub connect_timeout_ms: u32,
    /// Linger time in seconds for closing the socket.
    pub linger_s: Option<u16>,
    /// True if an open connection is reused.
    pub reuse: bool,
    /// True if the connection is closed after the response.
    pub close: bool,
    /// Text of the request as in the plan; the result shows it as sampler data if the request is sent.
    pub request: String,
    /// Settings as in the plan, for the sampler data.
    shown: ShownSettings,
}

/// Settings of a TCP sampler that its sampler data shows.
#[derive(Clone, Copy, Debug, Default)]
struct ShownSettings {
    port: i32,
    /// Linger time in seconds.
    linger: i32,
    /// Value of the end byte.
    end: i32,
    no_delay: bool,
}

impl TcpCall {
    /// Returns the sampler data of a sample that fails before its request is sent.
    pub fn unsent(&self) -> String {
        let ShownSettings { port, linger, end, no_delay } = self.shown;
        let Self { host, reuse, close, .. } = self;
        format!(
            "Host: {host} Port: {port}\nReuse: {reuse} Close: {close}\n[SOLINGER: {linger} EOL: {end} noDelay: {no_delay}]"
        )
    }
}

/// Compiles the sampler; `None` if its client needs a JVM.
pub(super) fn compile(
    ctx: &mut Context<'_>,
    id: ElementId,
    configs: &[ElementId],
) -> Option<TcpSampler> {
    let applies = |id: &ElementId| {
        let gui = ctx.doc.element(*id).gui_class.rsplit('.').next().unwrap_or("");
        scope::class(ctx.doc, *id) == "ConfigTestElement"
            && matches!(gui, "TCPConfigGui" | "LoginConfigGui" | "SimpleConfigGui")
    };
    let chain: Vec<_> =
        std::iter::once(id).chain(configs.iter().copied().filter(applies)).collect();
    let from = |ctx: &Context<'_>, name: &str| {
        let has = |id: &ElementId| ctx.props(*id).str(name).is_some_and(|text| !text.is_empty());
        chain.iter().copied().find(has).unwrap_or(id)
    };
    let text = |ctx: &mut Context<'_>, name: &str| {
        let id = from(ctx, name);
        let value = ctx.props(id).str(name).unwrap_or("").to_owned();
        ctx.text(id, &value)
    };
    let on = |ctx: &mut Context<'_>, name: &str, default: bool| {
        let id = from(ctx, name);
        flag::compile(ctx, id, name, default)
    };
    let class = ctx.props(from(ctx, "TCPSampler.classname")).str("TCPSampler.classname");
    let class = class.filter(|class| !class.is_empty());
    let class = class.unwrap_or_else(|| ctx.settings.property("tcp.handler", "TCPClientImpl"));
    let Some((client, usual_end)) = client_of(class, ctx.settings) else {
        ctx.remark_class(id, "the client", class);
        return None;
    };
    let property = |name: &str, default: &'static str| ctx.settings.property(name, default).into();
    let charset: Box<str> = property("tcp.charset", "UTF-8");
    let status = (property("tcp.status.prefix", ""), property("tcp.status.suffix", ""));
    let messages = messages(ctx.settings.property("tcp.status.properties", ""));
    Some(TcpSampler {
        client,
        usual_end: byte(usual_end),
        charset,
        status,
        messages,
        server: text(ctx, "TCPSampler.server"),
        port: text(ctx, "TCPSampler.port"),
        request: text(ctx, "TCPSampler.request"),
        timeout: text(ctx, "TCPSampler.timeout"),
        connect_timeout: text(ctx, "TCPSampler.ctimeout"),
        linger: text(ctx, "TCPSampler.soLinger"),
        end: text(ctx, "TCPSampler.EolByte"),
        no_delay: on(ctx, "TCPSampler.nodelay", false),
        reuse: on(ctx, "TCPSampler.reUseConnection", true),
        close: on(ctx, "TCPSampler.closeConnection", false),
    })
}

/// Returns the TCP client that a class name selects, and its default end byte from the properties. A number outside of
/// -128 to 127 means no end byte.
fn client_of(class: &str, settings: &Settings) -> Option<(Client, i32)> {
    let number = |name: &str, default: i32| {
        settings.property(name, "").trim().parse::<i32>().unwrap_or(default)
    };
    match class.strip_prefix("org.apache.jmeter.protocol.tcp.sampler.").unwrap_or(class) {
        "TCPClientImpl" => Some((Client::Text, number("tcp.eolByte", 1000))),
        "BinaryTCPClientImpl" => {
            Some((Client::Binary, number("tcp.BinaryTCPClient.eomByte", 1000)))
        }
        "LengthPrefixedBinaryTCPClientImpl" => {
            let length = number("tcp.binarylength.prefix.length", 2);
            Some((Client::Prefixed(usize::try_from(length).unwrap_or(2).clamp(1, 4)), 1000))
        }
        _ => None,
    }
}

/// Reads response messages by status from a property file; `None` if the file is not readable.
fn messages(file: &str) -> Option<HashMap<String, String>> {
    if file.is_empty() {
        return None;
    }
    let pairs = property_file::read(&crate::input::read(file.as_ref()).ok()?).ok()?;
    Some(pairs.into_iter().collect())
}

/// Converts a number to a byte; `None` outside the range of a Java `byte` (-128 to 127).
fn byte(number: i32) -> Option<u8> {
    i8::try_from(number).ok().map(|byte| byte as u8)
}

impl TcpSampler {
    /// Evaluates the next exchange into `call`, replacing the previous exchange.
    pub fn call(&self, call: &mut TcpCall, env: &mut Env<'_>) {
        for (text, value) in [(&self.server, &mut call.host), (&self.request, &mut call.request)] {
            value.clear();
            text.eval(env, value);
        }
        let port = self.port.int(env);
        let number = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap_or(0));
        let end: Option<i32> = self.end.parsed(env, number);
        let linger: Option<i32> = self.linger.parsed(env, number);
        call.client = self.client;
        call.bytes.clear();
        call.unwritable = self.write(&call.request, &mut call.bytes).err();
        call.port = u16::try_from(port).unwrap_or(0);
        call.end = end.map_or(self.usual_end, byte);
        call.timeout_ms = u32::try_from(self.timeout.int(env)).unwrap_or(0);
        call.connect_timeout_ms = u32::try_from(self.connect_timeout.int(env)).unwrap_or(0);
        call.linger_s = linger.map(|seconds| seconds.clamp(0, 65_535) as u16);
        (call.reuse, call.close) = (self.reuse.get(env), self.close.get(env));
        call.shown = ShownSettings {
            port,
            linger: linger.unwrap_or(0),
            end: end.unwrap_or(0),
            no_delay: self.no_delay.get(env),
        };
    }

    fn write(&self, request: &str, bytes: &mut Vec<u8>) -> Result<(), String> {
        match self.client {
            Client::Text => match Charset::named(&self.charset) {
                Some(charset) => charset.encode(request, bytes),
                None => {
                    return Err(format!("java.io.UnsupportedEncodingException: {}", self.charset));
                }
            },
            Client::Binary => unhex(request, bytes)?,
            Client::Prefixed(length) => {
                let size = (request.encode_utf16().count() / 2) as u32;
                bytes.extend_from_slice(&size.to_be_bytes()[4 - length..]);
                unhex(request, bytes)?;
            }
        }
        Ok(())
    }

    /// Returns the name of the character set of responses.
    pub fn charset(&self) -> &str {
        &self.charset
    }

    /// Writes the code and message of a sample with this response. Returns true if the sample is successful.
    /// `exception` is the exception that ended the sample, if any.
    pub fn judge(
        &self,
        answer: &str,
        exception: Option<&str>,
        code: &mut String,
        message: &mut String,
    ) -> bool {
        let (prefix, suffix) = (&*self.status.0, &*self.status.1);
        let passed = exception.is_none();
        code.clear();
        message.clear();
        if answer.is_empty() || prefix.is_empty() {
            code.push_str(if passed { "200" } else { "500" });
            message.push_str(exception.unwrap_or("OK"));
            return passed;
        }
        let status = answer.find(prefix).and_then(|at| {
            let rest = &answer[at + prefix.len()..];
            rest.find(suffix).filter(|end| *end > 0).map(|end| &rest[..end])
        });
        let Some(status) = status else {
            code.push_str("999");
            message.push_str("Status value not found");
            return false;
        };
        code.push_str(status);
        message.push_str(match &self.messages {
            None => "No status property file",
            Some(messages) => {
                messages.get(status).map_or("Status code not found in properties", String::as_str)
            }
        });
        // JMeter treats status codes from 400 to 599 as successful.
        passed && status.parse().is_ok_and(|code| (400..=599).contains(&code))
    }
}

/// Decodes hexadecimal digits. The error is the message of JMeter's exception.
pub(super) fn unhex(text: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let digits: Vec<char> = text.chars().collect();
    let wrong = |what: String| {
        format!("java.lang.IllegalArgumentException: Hex-encoded binary string contains an {what}")
    };
    if !digits.len().is_multiple_of(2) {
        return Err(wrong("uneven no. of digits".into()));
    }
    for pair in digits.chunks_exact(2) {
        match (pair[0].to_digit(16), pair[1].to_digit(16)) {
            (Some(high), Some(low)) => out.push((high << 4 | low) as u8),
            _ => return Err(wrong(format!("invalid hex digit in '{}{}'", pair[0], pair[1]))),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits() {
        let mut out = Vec::new();
        assert_eq!(unhex("00fF7a", &mut out), Ok(()));
        assert_eq!(out, [0, 255, 0x7a]);
        let message = unhex("0g", &mut out).unwrap_err();
        assert!(message.ends_with("contains an invalid hex digit in '0g'"), "{message}");
        assert!(unhex("123", &mut out).unwrap_err().ends_with("uneven no. of digits"));
    }

    #[test]
    fn end_bytes_are_bytes_of_java() {
        assert_eq!(
            [10, -1, 127, 128, 1000].map(byte),
            [Some(10), Some(255), Some(127), None, None]
        );
    }
}
