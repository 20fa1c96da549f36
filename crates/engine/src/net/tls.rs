//! TLS of a run: its properties, the configurations of its users with their caches of TLS sessions, and the client
//! certificates that users present.
//!
//! Trust store, key store and cipher suites are read once, before the first user. If all users of a core share their
//! TLS sessions, they also share one configuration. Otherwise, or if a variable selects the client key, each user gets
//! a separate configuration with the first secure connection, and drops it when an iteration counts as a different
//! user.

use std::sync::Arc;

use plan::element::KeySelection;
use stats::{Counter, Recorder, Span};
use wire::tls::keystore::{self, KeyStore};
use wire::tls::rustls::{CipherSuite, ClientConfig};
use wire::tls::{Handshake, Identity, Limits, Present, Verify};

use crate::net::transport::HandshakeCost;
use crate::time::clock::Nanos;

/// Maximum number of servers with stored TLS sessions, and of tickets per server, for a user with a separate session
/// cache.
const OWN: Limits = Limits { servers: 16, tickets: 4 };
/// Maximum number of servers with stored TLS sessions, and of tickets per server, if all users of a core share the
/// sessions.
const SHARED: Limits = Limits { servers: 1024, tickets: 1024 };

/// TLS settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Secure {
    pub(crate) settings: wire::tls::Settings,
    /// True if all users of a core share one session cache (`https.sessioncontext.shared`).
    shared: bool,
    /// Limits of a user's own session cache.
    own: Limits,
    /// The key store's file and password.
    store: Option<(String, Option<String>)>,
    /// Keys by name, if a variable selects the key for a connection.
    named: Vec<(String, Identity)>,
    /// Name of the variable that selects the key for a connection; empty if connections use the keys in turn.
    variable: String,
}

impl Secure {
    /// Reads the properties. The second value describes the first property that is invalid or unsupported.
    pub(crate) fn from_properties(get: &impl Fn(&str) -> Option<String>) -> (Self, Option<String>) {
        let mut complaint = None;
        let mut heard = |problem: String| {
            complaint.get_or_insert(problem);
        };
        let is =
            |key: &str| get(key).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        let shared = is("https.sessioncontext.shared");
        // In Java, 0 is unlimited; Throng keeps its own limit.
        let asked = get("javax.net.ssl.sessionCacheSize").and_then(|text| text.trim().parse().ok());
        let most = |limits: Limits| match asked {
            Some(servers @ 1..) => Limits { servers: limits.servers.min(servers), ..limits },
            _ => limits,
        };
        let versions = versions(get).unwrap_or_else(|problem| {
            heard(problem);
            (true, true)
        });
        let suites = suites(get).unwrap_or_else(|problem| {
            heard(problem);
            Vec::new()
        });
        let check = get("throng.tls.verify").unwrap_or_default().trim().to_ascii_lowercase();
        let verify = verify(&check, get).unwrap_or_else(|problem| {
            heard(problem);
            Verify::AcceptAll
        });
        let store = get("javax.net.ssl.keyStore")
            .filter(|file| !file.is_empty())
            .map(|file| (file, get("javax.net.ssl.keyStorePassword")));
        let settings = wire::tls::Settings {
            verify,
            check_signature: is("throng.tls.check_signature"),
            check_name: check != "chain",
            versions,
            suites,
            sessions: Some(most(SHARED)),
            sni: get("jsse.enableSNIExtension")
                .is_none_or(|value| value.trim().eq_ignore_ascii_case("true")),
            ..wire::tls::Settings::default()
        };
        if complaint.is_none()
            && let Err(error) = wire::tls::client_config(&settings)
        {
            complaint = Some(format!("cannot set up TLS: {error}"));
        }
        let secure = Self {
            settings,
            shared,
            own: most(OWN),
            store,
            named: Vec::new(),
            variable: String::new(),
        };
        (secure, complaint)
    }

    /// Returns true if server certificates are not checked.
    pub(crate) fn accepts_all(&self) -> bool {
        matches!(self.settings.verify, Verify::AcceptAll)
    }

    /// Reads the key store and keeps the selected keys.
    pub(crate) fn load_keys(&mut self, selection: &KeySelection) -> Result<(), String> {
        let Some((file, password)) = self.store.take() else {
            self.variable.clone_from(&selection.variable);
            return Ok(());
        };
        let named = format!("javax.net.ssl.keyStore: {file}");
        if file.eq_ignore_ascii_case("NONE") {
            return Err(format!(
                "{named}: keys in devices (PKCS#11) are not supported; use a file"
            ));
        }
        let store = read(&file, password.as_deref(), "javax.net.ssl.keyStore")?;
        if store.keys.is_empty() {
            return Err(format!("{named}: it contains no private key"));
        }
        let last = usize::try_from(selection.last).unwrap_or(usize::MAX);
        let first = usize::try_from(selection.first).unwrap_or(0);
        let mut keys = Vec::new();
        for entry in store.keys.iter().take(last.saturating_add(1)).skip(first) {
            let identity = Identity::new(entry).map_err(|_| {
                format!(
                    "{named}: the key of {} is not supported for signing; use RSA with at least 2048 bits, a NIST \
                    curve or Ed25519",
                    entry.alias
                )
            })?;
            keys.push((entry.alias.clone(), identity));
        }
        if keys.is_empty() {
            return Err(format!(
                "{named}: it has {} keys, but the first requested key is number {first} (counted from 0)",
                store.keys.len()
            ));
        }
        if selection.variable.is_empty() {
            let identities = keys.into_iter().map(|(_, identity)| identity).collect();
            self.settings.present = Present::InTurn(identities, Arc::default());
        } else {
            self.named = keys;
            self.variable.clone_from(&selection.variable);
        }
        Ok(())
    }

    /// Returns the certificate that a user presents if its variable has the value `alias`.
    fn presented(&self, alias: &str) -> Present {
        if alias.is_empty() {
            return Present::Absent(format!("No var called '{}' found", self.variable));
        }
        match self.named.iter().find(|(name, _)| name == alias) {
            Some((_, identity)) => Present::One(identity.clone()),
            None => Present::Absent(format!("No PrivateKey found for alias:'{alias}'")),
        }
    }
}

impl Secure {
    /// Returns the base configuration of all users of a core, created at its first use.
    fn base<'a>(
        &self,
        made: &'a mut Option<Arc<ClientConfig>>,
    ) -> Result<&'a Arc<ClientConfig>, wire::tls::Error> {
        Ok(match made {
            Some(base) => base,
            None => made.insert(wire::tls::client_config(&self.settings)?),
        })
    }

    /// Returns the variable that selects the key, if there is one.
    pub(crate) fn variable(&self) -> Option<&str> {
        Some(&*self.variable).filter(|variable| !variable.is_empty())
    }

    /// Returns the configuration for a user's next connection, if all users of the core share one configuration.
    pub(crate) fn shared_config(
        &self,
        made: &mut Option<Arc<ClientConfig>>,
    ) -> Result<Option<Arc<ClientConfig>>, wire::tls::Error> {
        let base = self.base(made)?;
        Ok((self.shared && self.variable.is_empty()).then(|| Arc::clone(base)))
    }

    /// Returns the configuration for a user's next connection if each user has its own. `own` is the user's
    /// configuration, `presented` the key that it presents, `alias` the current value of the variable.
    pub(crate) fn own_config(
        &self,
        made: &mut Option<Arc<ClientConfig>>,
        own: &mut Option<Arc<ClientConfig>>,
        presented: &mut Option<Box<str>>,
        alias: Option<&str>,
    ) -> Result<Arc<ClientConfig>, wire::tls::Error> {
        let base = self.base(made)?;
        let config = own.get_or_insert_with(|| {
            if self.shared {
                Arc::clone(base)
            } else {
                wire::tls::with_fresh_sessions(base, self.own)
            }
        });
        if let Some(alias) = alias.filter(|alias| presented.as_deref() != Some(*alias)) {
            *config = wire::tls::presenting(config, self.presented(alias));
            *presented = Some(alias.into());
        }
        Ok(Arc::clone(config))
    }
}

impl HandshakeCost {
    /// Counts a finished handshake. `ended` is the kind of handshake; `None` if it failed.
    pub(crate) fn count(self, ended: Option<Handshake>, now: Nanos, recorder: &mut Recorder) {
        let (number, cpu) = match ended {
            None => (Counter::TlsFailed, Counter::TlsFailedCpu),
            Some(Handshake::Full) => (Counter::TlsFull, Counter::TlsFullCpu),
            Some(Handshake::Resumed) => (Counter::TlsResumed, Counter::TlsResumedCpu),
        };
        recorder.add(number, 1);
        recorder.add(cpu, self.cpu);
        if ended.is_some() {
            let time = (now - self.began).max(0) as u64;
            recorder.add(Counter::TlsTime, time);
            recorder.span(Span::Tls, time);
        }
    }
}

/// Returns two flags, for TLS 1.2 and TLS 1.3: true if JMeter on Java 17 would offer the version.
fn versions(get: &impl Fn(&str) -> Option<String>) -> Result<(bool, bool), String> {
    let of = |names: &[&str]| (names.contains(&"TLSv1.2"), names.contains(&"TLSv1.3"));
    let offered = |key: &str, text: &str, found: (bool, bool)| match found {
        (false, false) => Err(format!(
            "{key}={text} allows neither TLS 1.2 nor TLS 1.3; Throng supports only these (like Java 17 with its \
            default security settings)"
        )),
        found => Ok(found),
    };
    // The property names an SSL context of Java. Each context also allows the older versions.
    let context = get("https.default.protocol").unwrap_or_default();
    let by_context = match &*context.trim().to_ascii_lowercase() {
        "" | "tls" | "ssl" | "default" => {
            let key = "jdk.tls.client.protocols";
            match get(key).filter(|text| !text.trim().is_empty()) {
                Some(text) => {
                    let names: Vec<&str> = text.split(',').map(str::trim).collect();
                    offered(key, &text, of(&names))
                }
                None => Ok((true, true)),
            }
        }
        "tlsv1.3" => Ok((true, true)),
        "tlsv1.2" => Ok((true, false)),
        _ => offered("https.default.protocol", &context, (false, false)),
    };
    let key = "https.socket.protocols";
    match get(key).filter(|text| !text.trim().is_empty()) {
        Some(text) => {
            let names: Vec<&str> = text.split_ascii_whitespace().collect();
            offered(key, &text, of(&names))
        }
        None => by_context,
    }
}

/// Returns the supported cipher suites that the properties name.
fn suites(get: &impl Fn(&str) -> Option<String>) -> Result<Vec<CipherSuite>, String> {
    let key = ["https.cipherSuites", "https.socket.ciphers"]
        .into_iter()
        .find(|key| get(key).is_some_and(|text| !text.trim().is_empty()));
    let Some(key) = key else { return Ok(Vec::new()) };
    let text = get(key).unwrap_or_default();
    // rustls includes the version in the names of TLS 1.3 suites.
    let name = |suite: &CipherSuite| format!("{suite:?}").replace("TLS13_", "TLS_");
    let wanted = text.split([',', ' ', '\t']).filter(|name| !name.is_empty());
    let found: Vec<CipherSuite> = wanted
        .filter_map(|wanted| wire::tls::suites().find(|suite| name(suite) == wanted))
        .collect();
    if found.is_empty() {
        let all: Vec<String> = wire::tls::suites().map(|suite| name(&suite)).collect();
        return Err(format!(
            "{key}: none of these cipher suites is supported (CBC, RSA key exchange and DHE are not); supported: {}",
            all.join(", ")
        ));
    }
    Ok(found)
}

/// Returns the check of server certificates that the value `check` of `throng.tls.verify` demands.
fn verify(check: &str, get: &impl Fn(&str) -> Option<String>) -> Result<Verify, String> {
    match check {
        "" | "false" => Ok(Verify::AcceptAll),
        "true" | "chain" => trust(get),
        _ => Err(
            "throng.tls.verify must be false, true or chain (chain does not check the host name)"
                .to_owned(),
        ),
    }
}

/// Returns the certificates of the named trust store, or the system's certificates.
fn trust(get: &impl Fn(&str) -> Option<String>) -> Result<Verify, String> {
    let key = "javax.net.ssl.trustStore";
    let Some(file) = get(key).filter(|file| !file.is_empty()) else {
        return Ok(Verify::SystemRoots);
    };
    let password = get("javax.net.ssl.trustStorePassword");
    let store = read(&file, password.as_deref(), key)?;
    // A server's own key store can serve as a trust store: its certificate is trusted.
    let own = store.keys.into_iter().filter_map(|entry| entry.chain.into_iter().last());
    let certificates: Vec<_> = store.trusted.into_iter().chain(own).collect();
    if certificates.is_empty() {
        return Err(format!("{key}: {file}: it contains no certificate"));
    }
    Ok(Verify::Roots(certificates))
}

fn read(file: &str, password: Option<&str>, key: &str) -> Result<KeyStore, String> {
    let bytes =
        plan::input::read(file.as_ref()).map_err(|error| format!("{key}: {file}: {error}"))?;
    keystore::read(&bytes, password).map_err(|error| format!("{key}: {file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(properties: &[(&str, &str)]) -> (Secure, Option<String>) {
        Secure::from_properties(&|key| {
            properties.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn versions_are_those_of_java_17() {
        for (properties, versions) in [
            (&[][..], Some((true, true))),
            (&[("https.default.protocol", "TLS")], Some((true, true))),
            (&[("https.default.protocol", "TLSv1.3")], Some((true, true))),
            (&[("https.default.protocol", "tlsv1.2")], Some((true, false))),
            (&[("https.default.protocol", "SSLv3")], None),
            (&[("https.socket.protocols", "SSLv2Hello TLSv1 TLSv1.2")], Some((true, false))),
            (&[("https.socket.protocols", "TLSv1.3")], Some((false, true))),
            (&[("https.socket.protocols", "TLSv1 TLSv1.1")], None),
            (&[("jdk.tls.client.protocols", "TLSv1.2, TLSv1.1")], Some((true, false))),
            (
                &[("https.default.protocol", "TLSv1.2"), ("https.socket.protocols", "TLSv1.3")],
                Some((false, true)),
            ),
        ] {
            let (secure, complaint) = of(properties);
            assert_eq!(complaint.is_none(), versions.is_some(), "{properties:?}: {complaint:?}");
            if let Some(versions) = versions {
                assert_eq!(secure.settings.versions, versions, "{properties:?}");
            }
        }
    }

    #[test]
    fn cipher_suites_have_the_names_of_java() {
        let (secure, complaint) =
            of(&[("https.socket.ciphers", "TLS_RSA_WITH_AES_128_CBC_SHA TLS_AES_128_GCM_SHA256")]);
        assert_eq!(complaint, None);
        assert_eq!(secure.settings.suites, [CipherSuite::TLS13_AES_128_GCM_SHA256]);
        let (secure, complaint) = of(&[(
            "https.cipherSuites",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        )]);
        assert_eq!(complaint, None);
        assert_eq!(secure.settings.suites.len(), 2);
        let (_, complaint) = of(&[("https.socket.ciphers", "TLS_RSA_WITH_AES_128_CBC_SHA")]);
        assert!(complaint.is_some_and(|text| text.contains("TLS_AES_256_GCM_SHA384")));
        // The cipher suites of this list belong to a version that is not offered.
        let (_, complaint) = of(&[
            ("https.socket.ciphers", "TLS_AES_128_GCM_SHA256"),
            ("https.socket.protocols", "TLSv1.2"),
        ]);
        assert!(complaint.is_some());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let missing = "/does/not/exist.p12";
        let (_, complaint) =
            of(&[("throng.tls.verify", "true"), ("javax.net.ssl.trustStore", missing)]);
        assert!(complaint.is_some_and(|text| text.contains(missing)));
        let (mut secure, complaint) = of(&[("javax.net.ssl.keyStore", missing)]);
        assert_eq!(complaint, None);
        let problem = secure.load_keys(&KeySelection::default()).unwrap_err();
        assert!(problem.contains(missing), "{problem}");
        assert!(of(&[("throng.tls.verify", "perhaps")]).1.is_some());
    }

    #[test]
    fn keys_are_selected_as_jmeter_does() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/keystores/");
        let file = format!("{folder}many.jks");
        let load = |first, last, variable: &str| {
            let (mut secure, _) = of(&[
                ("javax.net.ssl.keyStore", &file),
                ("javax.net.ssl.keyStorePassword", "secret"),
            ]);
            let selection = KeySelection { first, last, variable: variable.into() };
            secure.load_keys(&selection).map(|()| secure)
        };
        let secure = load(2, 3, "who").unwrap();
        let names: Vec<&str> = secure.named.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["anna", "emil"]);
        assert!(matches!(secure.presented("anna"), Present::One(_)));
        assert!(matches!(secure.presented("dora"), Present::Absent(_)));
        let all = load(0, -1, "").unwrap();
        assert!(matches!(&all.settings.present, Present::InTurn(keys, _) if keys.len() == 11));
        assert!(load(11, -1, "").is_err());
    }
}
