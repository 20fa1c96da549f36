//! HTTP authentication (`WWW-Authenticate`, `Proxy-Authenticate`) as HttpClient 4.5 does it: Basic and Digest.
//!
//! A [`Dialogue`] is the state of one authentication with a server or a proxy. A dialogue reads responses and writes
//! the header line of the next request. Servers may send anything: a challenge that cannot be parsed ends the dialogue,
//! and the sampler gets the 401 or 407 response as its result. A dialogue costs nothing while no server asks for
//! credentials.

mod challenge;
mod digest;

use base64::Engine as _;

pub use challenge::Challenge;
pub use digest::Digest;

/// User name and password for HTTP authentication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// User name, prefixed with the domain (`DOMAIN\name`) if a domain is set.
    pub user: String,
    /// Password for HTTP authentication, in plain text.
    pub password: String,
}

impl Credentials {
    /// Creates credentials. A domain is written in capitals before the user name, as NTLM does.
    pub fn new(domain: &str, user: &str, password: &str) -> Self {
        let user = if domain.is_empty() {
            user.into()
        } else {
            format!("{}\\{user}", domain.to_uppercase())
        };
        Self { user, password: password.into() }
    }
}

/// The side that asks for credentials: server or proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Challenger {
    /// The server, which asks with status 401.
    Server,
    /// A proxy, which asks with status 407.
    Proxy,
}

impl Challenger {
    /// Returns the HTTP status with which this side asks for credentials.
    pub fn status(self) -> u16 {
        match self {
            Self::Server => 401,
            Self::Proxy => 407,
        }
    }

    fn asks_in(self) -> &'static str {
        match self {
            Self::Server => "www-authenticate",
            Self::Proxy => "proxy-authenticate",
        }
    }

    /// Returns the name of the request header that carries the credentials to this side.
    pub fn answered_in(self) -> &'static str {
        match self {
            Self::Server => "Authorization",
            Self::Proxy => "Proxy-Authorization",
        }
    }
}

/// The parts of a request that an authentication header is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// HTTP method of the request.
    pub method: &'a str,
    /// Target of the request as in its request line.
    pub uri: &'a str,
    /// Body of the request; `None` for methods that never have a body.
    pub body: Option<&'a [u8]>,
    /// Eight random bytes, the source of Digest's client nonce.
    pub random: [u8; 8],
}

/// State of an authentication dialogue with a server or proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    /// The peer has sent no authentication challenge yet.
    #[default]
    Unchallenged,
    /// The next request tries an authentication scheme.
    Challenged,
    /// The next request retries the same authentication scheme with the new challenge.
    Handshake,
    /// The peer rejected the credentials, so the dialogue has failed.
    Failed,
    /// The peer accepted the authentication scheme and the credentials.
    Accepted,
}

/// Authentication scheme with its latest challenge.
#[derive(Clone, Debug)]
enum Scheme {
    Basic {
        /// True if the peer sent a Basic challenge; false if credentials are sent before any challenge.
        told: bool,
    },
    Digest(Box<Digest>),
}

impl Scheme {
    fn name(&self) -> &'static str {
        match self {
            Self::Basic { .. } => "basic",
            Self::Digest(_) => "digest",
        }
    }
}

/// State of the authentication with one server or proxy.
#[derive(Clone, Debug, Default)]
pub struct Dialogue {
    progress: Progress,
    scheme: Option<(Scheme, Credentials)>,
    /// Authentication schemes to try, in descending order of preference.
    options: Option<Vec<(Scheme, Credentials)>>,
}

impl Dialogue {
    /// Creates a dialogue that sends Basic credentials before the server asks for them.
    pub fn preemptive(credentials: Credentials) -> Self {
        Self {
            progress: Progress::Challenged,
            scheme: Some((Scheme::Basic { told: false }, credentials)),
            options: None,
        }
    }

    /// True if an authentication scheme was agreed on or is about to be tried.
    pub fn has_begun(&self) -> bool {
        self.scheme.is_some()
    }

    /// Appends the authentication header line to the next request, if the dialogue needs one.
    pub fn answer(&mut self, asker: Challenger, message: &Message<'_>, out: &mut Vec<u8>) {
        if self.progress == Progress::Failed {
            return;
        }
        if self.progress == Progress::Challenged
            && let Some(options) = self.options.take()
        {
            // An authentication scheme whose challenge cannot be answered is skipped.
            for option in options {
                let (scheme, credentials) = self.scheme.insert(option);
                if write(scheme, asker, credentials, message, out) {
                    return;
                }
            }
            return;
        }
        if let Some((scheme, credentials)) = &mut self.scheme {
            write(scheme, asker, credentials, message, out);
        }
    }

    /// Notes a response of the server that does not ask for credentials.
    pub fn accepted(&mut self) {
        self.progress = match self.progress {
            Progress::Challenged | Progress::Handshake | Progress::Accepted => Progress::Accepted,
            Progress::Unchallenged | Progress::Failed => Progress::Unchallenged,
        };
    }

    /// Notes a response that asks for credentials, given the response head. Returns true if the request must be resent
    /// with credentials. `known` returns the credentials for a realm; its argument is `None` for a challenge without a
    /// realm.
    pub fn challenged(
        &mut self,
        asker: Challenger,
        head: &[u8],
        known: &dyn Fn(Option<&str>) -> Option<Credentials>,
    ) -> bool {
        let challenges = Challenge::all(head, asker.asks_in());
        if challenges.is_empty() {
            return false;
        }
        let find = |name: &str| challenges.iter().rev().find(|one| one.is(name));
        match self.progress {
            Progress::Failed => return false,
            Progress::Accepted => self.reset(),
            Progress::Challenged | Progress::Handshake if self.scheme.is_none() => {
                return self.fail();
            }
            Progress::Challenged | Progress::Handshake | Progress::Unchallenged => {
                if let Some((scheme, _)) = &mut self.scheme {
                    if let Some(challenge) = find(scheme.name()) {
                        let again = match scheme {
                            Scheme::Basic { told } => {
                                *told = true;
                                false
                            }
                            Scheme::Digest(digest) => match digest.told(challenge) {
                                Ok(stale) => stale,
                                Err(()) => {
                                    self.reset();
                                    return false;
                                }
                            },
                        };
                        if !again {
                            return self.fail();
                        }
                        self.progress = Progress::Handshake;
                        return true;
                    }
                    self.reset();
                }
            }
        }
        let mut options = Vec::new();
        for name in ["digest", "basic"] {
            let Some(challenge) = find(name) else { continue };
            let scheme = if name == "digest" {
                let mut digest = Digest::default();
                if digest.told(challenge).is_err() {
                    self.reset();
                    return false;
                }
                Scheme::Digest(Box::new(digest))
            } else {
                Scheme::Basic { told: true }
            };
            if let Some(credentials) = known(challenge.get("realm")) {
                options.push((scheme, credentials));
            }
        }
        if options.is_empty() {
            return false;
        }
        (self.progress, self.scheme, self.options) = (Progress::Challenged, None, Some(options));
        true
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn fail(&mut self) -> bool {
        self.reset();
        self.progress = Progress::Failed;
        false
    }
}

/// Writes the authentication header line of a scheme. Returns false if the scheme cannot answer the challenge.
fn write(
    scheme: &mut Scheme,
    asker: Challenger,
    credentials: &Credentials,
    message: &Message<'_>,
    out: &mut Vec<u8>,
) -> bool {
    let start = out.len();
    out.extend_from_slice(asker.answered_in().as_bytes());
    out.extend_from_slice(b": ");
    let written = match scheme {
        Scheme::Basic { .. } => {
            let secret = ascii(&format!("{}:{}", credentials.user, credentials.password));
            out.extend_from_slice(b"Basic ");
            let encoded = base64::engine::general_purpose::STANDARD.encode(secret);
            out.extend_from_slice(encoded.as_bytes());
            true
        }
        Scheme::Digest(digest) => digest.write(credentials, message, out),
    };
    if written {
        out.extend_from_slice(b"\r\n");
    } else {
        out.truncate(start);
    }
    written
}

/// Encodes text as ASCII. Other characters become question marks, as with Java's ASCII encoder.
fn ascii(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .filter(|unit| !(0xdc00..0xe000).contains(unit))
        .map(|unit| u8::try_from(unit).ok().filter(u8::is_ascii).unwrap_or(b'?'))
        .collect()
}

#[cfg(test)]
mod tests;
