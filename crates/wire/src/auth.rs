//! Answers to `WWW-Authenticate` and `Proxy-Authenticate`, as HttpClient 4.5 gives them: Basic and Digest.
//!
//! A [`Dialogue`] is the state of one authentication with a server or a proxy. It reads answers and gives the header line of the
//! next request. Servers may send anything: a challenge that cannot be understood ends the dialogue, and the answer is the result.
//! Costs nothing if no credentials are asked for.

mod challenge;
mod digest;

use base64::Engine as _;

pub use challenge::Challenge;
pub use digest::Digest;

/// User name and password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Name, with the domain before it (`DOMAIN\name`) if there is one.
    pub user: String,
    /// Password.
    pub password: String,
}

impl Credentials {
    /// Name and password; a domain is put before the name in capitals, as NTLM has it.
    pub fn new(domain: &str, user: &str, password: &str) -> Self {
        let user = if domain.is_empty() {
            user.into()
        } else {
            format!("{}\\{user}", domain.to_uppercase())
        };
        Self { user, password: password.into() }
    }
}

/// The side that asks for credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// The server, with status 401.
    Server,
    /// A proxy, with status 407.
    Proxy,
}

impl Asker {
    /// The status by which it asks.
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

    /// The header that is answered in.
    pub fn answered_in(self) -> &'static str {
        match self {
            Self::Server => "Authorization",
            Self::Proxy => "Proxy-Authorization",
        }
    }
}

/// The request that credentials are put on.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Method.
    pub method: &'a str,
    /// As in the request line.
    pub uri: &'a str,
    /// The body, for methods that may have one.
    pub body: Option<&'a [u8]>,
    /// Eight random bytes.
    pub random: [u8; 8],
}

/// The state of a dialogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    /// No challenge has come.
    #[default]
    Unchallenged,
    /// The next request tries a scheme.
    Challenged,
    /// The next request tries the same scheme again, with the new challenge.
    Handshake,
    /// It was no use.
    Failed,
    /// The scheme was accepted.
    Accepted,
}

/// A scheme with its challenge.
#[derive(Clone, Debug)]
enum Scheme {
    Basic {
        /// A challenge was seen.
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

/// The state of authentication with one server or proxy.
#[derive(Clone, Debug, Default)]
pub struct Dialogue {
    progress: Progress,
    scheme: Option<(Scheme, Credentials)>,
    /// Schemes to try, the best first.
    options: Option<Vec<(Scheme, Credentials)>>,
}

impl Dialogue {
    /// One that begins with Basic before anybody asks.
    pub fn preemptive(credentials: Credentials) -> Self {
        Self {
            progress: Progress::Challenged,
            scheme: Some((Scheme::Basic { told: false }, credentials)),
            options: None,
        }
    }

    /// Whether a scheme has been agreed on, or is about to be tried.
    pub fn has_begun(&self) -> bool {
        self.scheme.is_some()
    }

    /// Appends the line that the next request is sent with, if there is one.
    pub fn answer(&mut self, asker: Asker, message: &Message<'_>, out: &mut Vec<u8>) {
        if self.progress == Progress::Failed {
            return;
        }
        if self.progress == Progress::Challenged
            && let Some(options) = self.options.take()
        {
            // A scheme that cannot be answered is skipped.
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

    /// Takes note of an answer that does not ask for credentials.
    pub fn accepted(&mut self) {
        self.progress = match self.progress {
            Progress::Challenged | Progress::Handshake | Progress::Accepted => Progress::Accepted,
            Progress::Unchallenged | Progress::Failed => Progress::Unchallenged,
        };
    }

    /// Takes note of an answer that asks for credentials, given its head. True: the request is to be sent again.
    /// `known` has the credentials for a realm; `None` is a challenge without one.
    pub fn challenged(
        &mut self,
        asker: Asker,
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

/// Writes the line of a scheme. False: it cannot be answered.
fn write(
    scheme: &mut Scheme,
    asker: Asker,
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

/// Characters beyond ASCII become question marks, as with Java's encoder.
fn ascii(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .filter(|unit| !(0xdc00..0xe000).contains(unit))
        .map(|unit| u8::try_from(unit).ok().filter(u8::is_ascii).unwrap_or(b'?'))
        .collect()
}

#[cfg(test)]
mod tests;
