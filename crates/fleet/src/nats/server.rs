//! The NATS server of a fleet: its address from the command line, and its credentials from the environment.
//!
//! Addresses are `nats://host:4222/pool`, or `tls://…` to require TLS; with `?tls=first` the TLS handshake precedes the
//! server's first message. Except on loopback, both sides refuse connections without TLS, because orders are code that
//! agents execute.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wire::nats::is_token;
use wire::tls::rustls::pki_types::CertificateDer;
use wire::tls::rustls::pki_types::pem::PemObject;

use super::key::Secret;
use super::sealed::Shared;

/// Default port of a NATS server.
const PORT: u16 = 4222;
/// Name of the agent pool if the address contains none.
pub const POOL: &str = "default";

/// Names of the environment variables with credentials for a NATS server.
pub mod var {
    pub const CREDS: &str = "THRONG_NATS_CREDS";
    pub const USER: &str = "THRONG_NATS_USER";
    pub const PASSWORD: &str = "THRONG_NATS_PASSWORD";
    pub const TOKEN: &str = "THRONG_NATS_TOKEN";
    pub const CA: &str = "THRONG_NATS_CA";
    /// File with the operator's public key, with which agents verify orders.
    pub const OPERATOR: &str = "THRONG_OPERATOR_KEY";
    /// File with the operator's secret key, with which runs sign orders.
    pub const OPERATOR_SECRET: &str = "THRONG_OPERATOR_SECRET";
    /// File with the key that the operator shares with its agents, for encrypting streams.
    pub const SEAL: &str = "THRONG_SEAL_KEY";
}

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    pub host: String,
    pub port: u16,
    /// True if the client requires TLS, even if the server does not.
    pub tls: bool,
    /// True if the TLS handshake precedes the server's first message.
    pub tls_first: bool,
    /// User and password, or only a token, from the server's address.
    pub user: Option<(String, Option<String>)>,
    /// Name of the agent pool, taken from the path of the NATS URL.
    pub pool: Option<String>,
}

impl Server {
    /// True if the text begins like an address of a NATS server.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("nats://") || text.starts_with("tls://")
    }

    /// Parses an address. The error is a message for the user.
    pub fn read(text: &str) -> Result<Self, String> {
        let odd = |why: &str| format!("{}: {why}", without_secret(text));
        let (tls, rest) = match text.split_once("://") {
            Some(("nats", rest)) => (false, rest),
            Some(("tls", rest)) => (true, rest),
            _ => return Err(odd("expected nats://host:4222/pool")),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let tls_first = match query {
            "" => false,
            "tls=first" => true,
            _ => return Err(odd("only tls=first is allowed after ?")),
        };
        let (address, pool) = match rest.split_once('/') {
            Some((address, "")) => (address, None),
            Some((address, pool)) if is_token(pool) => (address, Some(pool.to_owned())),
            Some((_, pool)) => {
                return Err(odd(&format!("invalid pool name {pool:?}; use {TOKEN_WORDS}")));
            }
            None => (rest, None),
        };
        let (user, address) = match address.rsplit_once('@') {
            Some((user, address)) => {
                let (user, password) = match user.split_once(':') {
                    Some((user, password)) => (user, Some(password.to_owned())),
                    None => (user, None),
                };
                (Some((user.to_owned(), password)), address)
            }
            None => (None, address),
        };
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                let port = port.parse().ok().filter(|port| *port > 0);
                (host, port.ok_or_else(|| odd("invalid port"))?)
            }
            _ => (address, PORT),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let plain =
            |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, ',' | '[' | ']');
        if bare.is_empty() || !bare.chars().all(plain) || (bare == host && host.contains(':')) {
            return Err(odd("invalid host; name one server, which announces the others"));
        }
        let (tls, host) = (tls || tls_first, bare.to_owned());
        Ok(Self { host, port, tls, tls_first, user, pool })
    }

    /// True if the server is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse().is_ok_and(|host: IpAddr| host.is_loopback())
    }
}

/// Description of valid names, for error messages. Names of pools and agents become parts of subjects.
pub const TOKEN_WORDS: &str = "up to 64 letters, digits, - and _";

fn without_secret(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, address)) => format!("…@{address}"),
        None => text.to_owned(),
    }
}

/// The credentials for a server.
#[derive(Debug, Default)]
pub(crate) struct Login {
    /// User name and password for the server.
    pub(super) user: Option<(String, String)>,
    pub(super) token: Option<String>,
    /// The key that signs the server's challenge.
    pub(super) key: Option<Secret>,
    /// The token that identifies the key's user, if the server requires a token.
    pub(super) jwt: Option<String>,
    /// Certificates of authorities to trust instead of the system's certificates.
    pub(super) roots: Vec<CertificateDer<'static>>,
}

impl Login {
    /// Returns the credentials from environment variables and from the address. The error is a message for the user.
    pub(crate) fn of(
        server: &Server,
        var: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut login = Self::default();
        match (&server.user, var(var::USER), var(var::PASSWORD)) {
            (Some((user, Some(password))), ..) => {
                login.user = Some((user.clone(), password.clone()));
            }
            (Some((token, None)), ..) => login.token = Some(token.clone()),
            (None, Some(user), password) => {
                login.user = Some((user, password.unwrap_or_default()));
            }
            (None, None, _) => login.token = var(var::TOKEN),
        }
        if let Some(path) = var(var::CREDS) {
            let text = read(var::CREDS, &path)?;
            let key =
                Secret::read(&text).map_err(|words| format!("{}: {path}: {words}", var::CREDS))?;
            let jwt = text.lines().map(str::trim).find(|line| line.starts_with("ey"));
            (login.key, login.jwt) = (Some(key), jwt.map(str::to_owned));
        }
        if let Some(path) = var(var::CA) {
            let odd = |error: &dyn std::fmt::Debug| format!("{}: {path}: {error:?}", var::CA);
            let found = CertificateDer::pem_file_iter(PathBuf::from(&path)).map_err(|e| odd(&e))?;
            login.roots = found.collect::<Result<_, _>>().map_err(|e| odd(&e))?;
            if login.roots.is_empty() {
                return Err(format!(
                    "{}: {path}: no certificate in PEM format in the file",
                    var::CA
                ));
            }
        }
        Ok(login)
    }
}

/// Reads the key that an operator shares with its agents, if the environment names one. The error is a message for
/// the user.
pub(super) fn shared(var: impl Fn(&str) -> Option<String>) -> Result<Option<Shared>, String> {
    let Some(path) = var(var::SEAL) else { return Ok(None) };
    let key = Shared::read(&read(var::SEAL, &path)?);
    key.map(Some).map_err(|words| format!("{}: {path}: {words}", var::SEAL))
}

/// Reads the file at `path`. `var` is the environment variable that names the file, for messages.
pub(super) fn read(var: &str, path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{var}: {path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_perhaps_the_rest() {
        let full = Server::read("tls://me:secret@[::1]:4333/eu-1?tls=first").expect("an address");
        assert_eq!(
            (full.host.as_str(), full.port, full.tls, full.tls_first),
            ("::1", 4333, true, true)
        );
        assert_eq!(full.user, Some(("me".into(), Some("secret".into()))));
        assert_eq!(full.pool.as_deref(), Some("eu-1"));
        let plain = Server::read("nats://bus").expect("an address");
        assert_eq!(
            (plain.host.as_str(), plain.port, plain.tls, plain.pool),
            ("bus", 4222, false, None)
        );
        for (host, loopback) in [
            ("localhost", true),
            ("127.0.0.3", true),
            ("[::1]", true),
            ("10.0.0.1", false),
            ("x", false),
        ] {
            let server = Server::read(&format!("nats://{host}/")).expect(host);
            assert_eq!(server.is_loopback(), loopback, "{host}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_secret() {
        for (text, words) in [
            ("http://x", "expected nats://"),
            ("nats://", "invalid host"),
            ("nats://a,b", "invalid host"),
            ("nats://::1", "invalid host"),
            ("nats://a b", "invalid host"),
            ("nats://a:0", "invalid port"),
            ("nats://a:x", "invalid port"),
            ("nats://a/b.c", "invalid pool name"),
            ("nats://a/>", "invalid pool name"),
            ("nats://a/b c\r\nPUB x 0", "invalid pool name"),
            ("nats://a?x", "only tls=first"),
            ("nats://u:secret@a:x", "invalid port"),
        ] {
            let error = Server::read(text).expect_err(text);
            assert!(error.contains(words) && !error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn credentials_come_from_the_address_or_the_environment() {
        let server = Server::read("nats://bus").expect("an address");
        let with = |name: &'static str, value: &'static str| {
            Login::of(&server, move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(with(var::USER, "me").expect("a user").user, Some(("me".into(), String::new())));
        assert_eq!(with(var::TOKEN, "t").expect("a token").token.as_deref(), Some("t"));
        assert!(with(var::CREDS, "/nowhere").is_err_and(|error| error.contains("/nowhere")));
        let sealed = |_: &str| Some("/nowhere".to_owned());
        assert!(shared(sealed).is_err_and(|error| error.contains("/nowhere")));
        assert!(shared(|_| None).is_ok_and(|key| key.is_none()));
        assert!(with(var::CA, "/nowhere").is_err_and(|error| error.contains("/nowhere")));
        let server = Server::read("nats://token@bus").expect("an address");
        assert_eq!(Login::of(&server, |_| None).expect("a token").token.as_deref(), Some("token"));
    }
}
