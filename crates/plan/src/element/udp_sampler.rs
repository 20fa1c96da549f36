//! jp@gc UDP Request: sends a datagram to a server and receives the next datagram from it.
//!
//! This file evaluates the exchange; the engine sends and receives. A socket stays open between samples, with the
//! host, port and local address that it had when it was opened.

use jmx::ElementId;
use lang::charset::Charset;

use super::http_raw::{buffer_size, port};
use super::tcp_sampler::unhex;
use crate::compile::Context;
use crate::env::Env;
use crate::template::flag::{self, Flag};
use crate::template::{Template, Thrown};

/// A compiled UDP Request.
#[derive(Debug)]
pub struct UdpSampler {
    encoder: Encoder,
    host: Template,
    port: Template,
    bind_address: Template,
    bind_port: Template,
    data: Template,
    timeout: Template,
    wait: Flag,
    close: Flag,
    buffer: usize,
}

/// The sampler's encoder class: the encoding of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoder {
    /// Windows-1252 text; responses are not converted.
    Raw,
    /// Hexadecimal digits, for requests and responses.
    Hex,
}

/// Evaluated settings of one UDP exchange.
#[derive(Debug)]
pub struct UdpCall {
    /// Encoding of responses.
    pub encoder: Encoder,
    /// Host to send to.
    pub host: String,
    /// Port to send to, or the message of a Java exception.
    pub port: Result<u16, String>,
    /// Local address or name (empty means any) and local port (0 means any), or the message of a Java exception.
    pub bind: Result<(String, u16), String>,
    /// Request data as evaluated from the plan.
    pub data: String,
    /// Bytes to send, or the message of a Java exception.
    pub bytes: Result<Vec<u8>, String>,
    /// Response timeout in milliseconds (0 means no limit), or the message of a Java exception.
    pub timeout_ms: Result<u32, String>,
    /// True if the sampler waits for a response.
    pub wait: bool,
    /// True if the socket is closed after the sample.
    pub close: bool,
    /// Maximum number of bytes of a response.
    pub buffer: usize,
}

/// Compiles the sampler; `None` if its encoder needs a JVM.
pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<UdpSampler> {
    let class = ctx.props(id).str("encodeclass").unwrap_or("");
    let encoder = match class {
        "" | "kg.apc.jmeter.samplers.UDPSampler" => Encoder::Raw,
        "kg.apc.jmeter.samplers.HexStringUDPDecoder" => Encoder::Hex,
        _ => {
            ctx.remark_class(id, "the encoder", class);
            return None;
        }
    };
    Some(UdpSampler {
        encoder,
        host: ctx.prop(id, "hostname"),
        port: ctx.prop(id, "port"),
        bind_address: ctx.prop(id, "bind_address"),
        bind_port: ctx.prop(id, "bind_port"),
        data: ctx.prop(id, "data"),
        timeout: ctx.prop(id, "timeout"),
        wait: flag::compile(ctx, id, "waitresponse", false),
        close: flag::compile(ctx, id, "closechannel", false),
        buffer: buffer_size(ctx),
    })
}

impl UdpSampler {
    /// Evaluates the settings for the next exchange.
    pub fn call(&self, env: &mut Env<'_>) -> UdpCall {
        let data = self.data.parsed(env, str::to_owned);
        let number = self.timeout.int(env);
        UdpCall {
            encoder: self.encoder,
            host: self.host.parsed(env, str::to_owned),
            port: self.port.parsed(env, |text| match text.parse() {
                Ok(number) => port(number),
                Err(_) => {
                    let Thrown { class, message } = Thrown::not_a_number(text);
                    Err(format!("{class}: {message}"))
                }
            }),
            bind: port(self.bind_port.int(env))
                .map(|port| (self.bind_address.parsed(env, str::to_owned), port)),
            bytes: self.bytes(&data),
            data,
            timeout_ms: u32::try_from(number)
                .map_err(|_| "java.lang.IllegalArgumentException: Negative timeout".into()),
            wait: self.wait.get(env),
            close: self.close.get(env),
            buffer: self.buffer,
        }
    }

    fn bytes(&self, data: &str) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        match (self.encoder, Charset::named("windows-1252")) {
            (Encoder::Hex, _) => unhex(data, &mut bytes)?,
            (Encoder::Raw, Some(charset)) => charset.encode(data, &mut bytes),
            (Encoder::Raw, None) => bytes.extend_from_slice(data.as_bytes()),
        }
        Ok(bytes)
    }
}

impl Encoder {
    /// Converts a received response to the bytes that the result contains.
    pub fn decode(self, received: &[u8]) -> Vec<u8> {
        match self {
            Self::Raw => received.to_vec(),
            Self::Hex => {
                let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
                received.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_digits() {
        assert_eq!(Encoder::Hex.decode(&[0, 0xaf, 0x10]), b"00af10");
        assert_eq!(Encoder::Raw.decode(&[0, 0xaf]), [0, 0xaf]);
    }
}
