//! Destination of a sampler's requests, evaluated without running the plan.
//!
//! Only the templates of the destination are evaluated, not parameters, bodies, headers or files. Modifications by
//! pre-processors are unknown.

use lang::url;

use super::Http;
use super::render::{default_port, encode_spaces, is_default_port};
use crate::env::Env;

/// The server that a sampler connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Host name without brackets. Parts that cannot be evaluated remain as `${…}`.
    pub host: String,
    /// Port of the server.
    pub port: u16,
    /// True if the connection uses TLS.
    pub secure: bool,
}

/// The result of evaluating a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The destination is a server.
    Server(Destination),
    /// The destination is a file of this machine.
    File,
    /// The destination is known only during a run.
    Unknown,
}

impl Http {
    /// Evaluates the destination of the requests.
    pub fn destination(&self, env: &mut Env<'_>) -> Target {
        let (mut path, mut url) = (String::new(), String::new());
        self.path.eval(env, &mut path);
        // Of the path, only an absolute URL affects the destination, so exceptions in the path are ignored.
        env.core.thrown = None;
        encode_spaces(&mut path);
        let built = if path.starts_with("http://") || path.starts_with("https://") {
            url::resolve(None, &path, &mut url)
        } else {
            let (mut protocol, mut domain) = (String::new(), String::new());
            self.protocol.eval(env, &mut protocol);
            self.domain.eval(env, &mut domain);
            if protocol.is_empty() {
                protocol.push_str("http");
            }
            if protocol.eq_ignore_ascii_case("file") {
                return Target::File;
            }
            let port = self.port.parsed(env, |text| text.trim().parse().unwrap_or(0));
            let port = Some(port).filter(|port| !is_default_port(&protocol, *port));
            url::assemble(&protocol, &domain, port, "/", &mut url)
        };
        if env.core.thrown.take().is_some() || built.is_err() {
            return Target::Unknown;
        }
        let parts = url::split(&url);
        let secure = url[parts.protocol].eq_ignore_ascii_case("https");
        let host = url[parts.host].trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = match parts.port {
            Some(port) => u16::try_from(port).ok(),
            None => Some(default_port(secure)),
        };
        match port {
            Some(port) if !host.is_empty() => Target::Server(Destination { host, port, secure }),
            _ => Target::Unknown,
        }
    }
}
