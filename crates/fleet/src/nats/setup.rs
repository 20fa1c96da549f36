//! Generates the files of a NATS server for agents: certificates, keys, and a configuration with permissions.
//!
//! Each agent has its own key. With it, the agent may publish only offers and messages in its own name, and receive
//! only calls and its own orders. The operator may call, send orders and receive from all agents. Orders are signed
//! with a different key than the operator's login, because the server chooses what is signed at login. Existing files
//! are reused.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256,
};
use wire::nats::is_token;
use wire::tls::rustls::pki_types::PrivateKeyDer;
use wire::tls::rustls::pki_types::pem::PemObject;

use super::key::{Public, Secret};
use super::sealed::Shared;
use super::server::TOKEN_WORDS;

/// Maximum number of agents for which files are generated.
const MOST: usize = 10_000;

/// The parameters from which the files of a NATS server are generated.
#[derive(Debug)]
pub struct Setup {
    pub folder: PathBuf,
    pub listen: SocketAddr,
    /// Host names and addresses by which agents reach the server, in addition to the names and addresses of this
    /// machine.
    pub hosts: Vec<String>,
    /// Names of the agents.
    pub agents: Vec<String>,
}

/// Paths of the generated files.
#[derive(Debug)]
pub struct Files {
    pub config: PathBuf,
    /// The certificate of the authority, which agents and runs must trust.
    pub ca: PathBuf,
    /// The key with which runs log in to the server.
    pub operator: PathBuf,
    /// The secret key that signs orders.
    pub operator_secret: PathBuf,
    /// The public key with which agents verify orders.
    pub operator_public: PathBuf,
    /// The key that the operator shares with the agents, for encrypting streams.
    pub seal: PathBuf,
    /// For each agent: the key with which the agent logs in to the server.
    pub agents: Vec<PathBuf>,
}

impl Setup {
    /// Writes the files. The error is a message for the user.
    pub fn write(&self) -> Result<Files, String> {
        if self.agents.is_empty() || self.agents.len() > MOST {
            return Err(format!("expected the names of 1 to {MOST} agents"));
        }
        if let Some(name) = self.agents.iter().find(|name| !is_token(name)) {
            return Err(format!("invalid agent name {name:?}; use {TOKEN_WORDS}"));
        }
        let odd = |error: io::Error| format!("{}: {error}", self.folder.display());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(odd)?;
        let folder = fs::canonicalize(&self.folder).map_err(odd)?;
        let at = |name: &str| folder.join(name);
        let operator_key = secret(&at("operator.nk"))?;
        let signing = secret(&at("operator.secret"))?;
        write(&at("operator.pub"), &format!("{}\n", signing.public().text()))?;
        shared(&at("seal.key"))?;
        let mut users = user(
            "throng.call.*, throng.to.*",
            "throng.offer.>, throng.from.*",
            &operator_key.public(),
        );
        let mut agents = Vec::new();
        for name in &self.agents {
            let path = at(&format!("agent-{name}.nk"));
            let key = secret(&path)?.public();
            users += &user(
                &format!("throng.offer.*.{name}, throng.from.{name}"),
                &format!("throng.call.*, throng.to.{name}"),
                &key,
            );
            agents.push(path);
        }
        self.certificate(&folder)?;
        let config = at("nats.conf");
        write(&config, &self.config(&folder, &users))?;
        Ok(Files {
            config,
            ca: at("ca.pem"),
            operator: at("operator.nk"),
            operator_secret: at("operator.secret"),
            operator_public: at("operator.pub"),
            seal: at("seal.key"),
            agents,
        })
    }

    fn config(&self, folder: &Path, users: &str) -> String {
        let quoted = |name: &str| {
            let path = folder.join(name).to_string_lossy().into_owned();
            format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
        };
        format!(
            "# Written by throng fleet up.\nlisten: \"{}\"\nserver_name: throng\nmax_control_line: 4096\n\
             tls {{\n  cert_file: {}\n  key_file: {}\n  timeout: 5\n}}\nauthorization {{\n  timeout: 5\n  users: [\n{users}  ]\n}}\n",
            self.listen,
            quoted("server.pem"),
            quoted("server.key"),
        )
    }

    /// Issues a new certificate for the server, because its host names may have changed. The authority's certificate is
    /// kept, because agents trust it.
    fn certificate(&self, folder: &Path) -> Result<(), String> {
        let odd = |error: rcgen::Error| format!("cannot create a certificate: {error}");
        let at = |name: &str| folder.join(name);
        let authority = authority_key(&at("ca.key"))?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "throng fleet");
        if !at("ca.pem").exists() {
            let root = params.self_signed(&authority).map_err(odd)?;
            write(&at("ca.pem"), &pem("CERTIFICATE", root.der()))?;
        }
        let issuer = Issuer::new(params, authority);
        let mut names: Vec<String> = vec!["localhost".into(), "127.0.0.1".into(), "::1".into()];
        if !self.listen.ip().is_unspecified() {
            names.push(self.listen.ip().to_string());
        }
        names.push(rustix::system::uname().nodename().to_string_lossy().into_owned());
        names.extend(self.hosts.iter().cloned());
        let plain = |name: &String| {
            let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
            name.parse::<IpAddr>().is_ok() || (!name.is_empty() && name.chars().all(letter))
        };
        if let Some(name) = self.hosts.iter().find(|name| !plain(name)) {
            return Err(format!("invalid host name or address {name:?}"));
        }
        names.retain(plain);
        names.sort();
        names.dedup();
        let mut params = CertificateParams::new(names).map_err(odd)?;
        params.distinguished_name.push(DnType::CommonName, "throng fleet server");
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(odd)?;
        let certificate = params.signed_by(&key, &issuer).map_err(odd)?;
        write(&at("server.pem"), &pem("CERTIFICATE", certificate.der()))?;
        write(&at("server.key"), &pem("PRIVATE KEY", &key.serialize_der()))
    }
}

/// Returns a user's entry in the server's configuration: key, and subjects to which the user may publish and subscribe.
fn user(publish: &str, subscribe: &str, key: &Public) -> String {
    let list = |subjects: &str| {
        let quoted: Vec<String> =
            subjects.split(", ").map(|subject| format!("\"{subject}\"")).collect();
        quoted.join(", ")
    };
    format!(
        "    {{ nkey: {}, permissions: {{ publish: [{}], subscribe: [{}] }} }}\n",
        key.text(),
        list(publish),
        list(subscribe)
    )
}

/// Reads the secret key in a file. If the file is missing, generates a key and writes the file.
fn secret(path: &Path) -> Result<Secret, String> {
    match fs::read_to_string(path) {
        Ok(text) => Secret::read(&text).map_err(|words| format!("{}: {words}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = Secret::new()?;
            write(path, &format!("{}\n", key.text()))?;
            Ok(key)
        }
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Generates the file of the shared key if it is missing; otherwise checks the file.
fn shared(path: &Path) -> Result<(), String> {
    match fs::read_to_string(path) {
        Ok(text) => {
            Shared::read(&text).map(drop).map_err(|words| format!("{}: {words}", path.display()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            write(path, &format!("{}\n", Shared::new()?.text()))
        }
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

fn authority_key(path: &Path) -> Result<KeyPair, String> {
    let odd = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    if path.exists() {
        let key = PrivateKeyDer::from_pem_file(path).map_err(|error| odd(&error))?;
        return KeyPair::try_from(&key).map_err(|error| odd(&error));
    }
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|error| odd(&error))?;
    write(path, &pem("PRIVATE KEY", &key.serialize_der()))?;
    Ok(key)
}

fn pem(kind: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN {kind}-----\n{}-----END {kind}-----\n", lines.collect::<String>())
}

/// Writes a file that only this user can read.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let mut how = fs::OpenOptions::new();
    let written = how.write(true).create(true).truncate(true).mode(0o600).open(path);
    let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_may_speak_as_itself_only_and_keys_are_used_again() {
        let folder = std::env::temp_dir().join(format!("throng-setup-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let setup = |agents: &[&str]| Setup {
            folder: folder.clone(),
            listen: "127.0.0.1:4222".parse().expect("an address"),
            hosts: vec!["bus.example".into()],
            agents: agents.iter().map(ToString::to_string).collect(),
        };
        let files = setup(&["a1", "a2"]).write().expect("files");
        let text = fs::read_to_string(&files.config).expect("the configuration");
        let key =
            Secret::read(&fs::read_to_string(&files.agents[1]).expect("a key")).expect("a key");
        let line = text.lines().find(|line| line.contains(&key.public().text())).expect("a user");
        assert!(
            line.contains(
                r#"publish: ["throng.offer.*.a2", "throng.from.a2"], subscribe: ["throng.call.*", "throng.to.a2"]"#
            ),
            "{line}"
        );
        let kept = |files: &Files| {
            [&files.ca, &files.operator, &files.seal].map(|path| fs::read(path).expect("it"))
        };
        let before = kept(&files);
        let again = setup(&["a2", "a3"]).write().expect("files");
        assert_eq!(kept(&again), before);
        assert_eq!(again.agents[0], files.agents[1]);
        for bad in ["a.b", ">", "a\"b", "a b", ""] {
            assert!(setup(&[bad]).write().is_err(), "{bad}");
        }
        let _ = fs::remove_dir_all(&folder);
    }
}
