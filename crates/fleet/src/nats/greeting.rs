//! The first messages of a connection to a NATS server: the server's description, and the client's credentials.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::server::Login;

/// The server's INFO message, limited to the fields that the client needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Info {
    /// Maximum length of a payload in bytes.
    pub(super) max_payload: usize,
    pub(super) tls_required: bool,
    pub(super) tls_available: bool,
    pub(super) auth_required: bool,
    /// Random text that the client signs to authenticate with a key; `None` if the server requires no key.
    pub(super) nonce: Option<String>,
}

impl Info {
    pub(super) fn read(json: &[u8]) -> Result<Self, String> {
        let info: Self = serde_json::from_slice(json)
            .map_err(|error| format!("cannot parse the server's INFO message: {error}"))?;
        if info.max_payload < 4096 {
            return Err(format!(
                "the server accepts messages of at most {} bytes; set max_payload to 4096 or more",
                info.max_payload
            ));
        }
        Ok(info)
    }
}

/// The client's CONNECT message.
pub(super) struct Greeting<'a> {
    pub(super) login: &'a Login,
    pub(super) name: &'a str,
    pub(super) tls: bool,
}

#[derive(Serialize)]
struct Connect<'a> {
    verbose: bool,
    pedantic: bool,
    tls_required: bool,
    name: &'a str,
    lang: &'a str,
    version: &'a str,
    /// Version 1 of the client protocol: the server may send further INFO messages.
    protocol: u8,
    echo: bool,
    headers: bool,
    no_responders: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nkey: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sig: Option<String>,
}

impl Greeting<'_> {
    pub(super) fn json(&self, info: &Info) -> Result<String, String> {
        let Login { user, token, key, jwt, .. } = self.login;
        let sig = match (key, &info.nonce) {
            (Some(key), Some(nonce)) => Some(URL_SAFE_NO_PAD.encode(key.sign(nonce.as_bytes()))),
            (Some(_), None) if info.auth_required => {
                return Err("the server does not accept keys; log in with user and password, or with a token".into());
            }
            _ => None,
        };
        // A JWT itself contains the key's owner, so the public key is not sent.
        let key = key.as_ref().filter(|_| sig.is_some() && jwt.is_none());
        let connect = Connect {
            verbose: false,
            pedantic: false,
            tls_required: self.tls,
            name: self.name,
            lang: "throng",
            version: env!("CARGO_PKG_VERSION"),
            protocol: 1,
            echo: false,
            headers: false,
            no_responders: false,
            user: user.as_ref().map(|(user, _)| user.as_str()),
            pass: user.as_ref().map(|(_, password)| password.as_str()),
            auth_token: token.as_deref(),
            jwt: jwt.as_deref().filter(|_| sig.is_some()),
            nkey: key.map(|key| key.public().text()),
            sig,
        };
        serde_json::to_string(&connect).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Secret;
    use super::*;

    #[test]
    fn a_server_is_read_and_greeted() {
        let json = br#"{"server_id":"N","version":"2.9.10","max_payload":1048576,"nonce":"abc","auth_required":true,"x":[1]}"#;
        let info = Info::read(json).expect("a description");
        assert_eq!(
            (info.max_payload, info.nonce.as_deref(), info.tls_required),
            (1 << 20, Some("abc"), false)
        );
        let login = Login { key: Some(Secret::new().expect("a key")), ..Login::default() };
        let greeting = Greeting { login: &login, name: "a\"1", tls: true };
        let connect: serde_json::Value =
            serde_json::from_str(&greeting.json(&info).expect("a greeting")).expect("JSON");
        assert_eq!((&connect["name"], &connect["tls_required"]), (&"a\"1".into(), &true.into()));
        assert!(connect["nkey"].as_str().is_some_and(|key| key.starts_with('U')), "{connect}");
        let signature =
            URL_SAFE_NO_PAD.decode(connect["sig"].as_str().expect("a text")).expect("base64");
        let key = login.key.as_ref().map(Secret::public).expect("a key");
        assert!(key.has_signed(b"abc", &signature) && connect.get("user").is_none());
        let info = Info { nonce: None, ..info };
        assert!(greeting.json(&info).is_err_and(|words| words.contains("does not accept keys")));
    }

    #[test]
    fn users_and_tokens_are_told() {
        let login = Login { user: Some(("me".into(), "pw".into())), ..Login::default() };
        let json = Greeting { login: &login, name: "x", tls: false }.json(&Info::default());
        let json = json.expect("a greeting");
        assert!(json.contains(r#""user":"me","pass":"pw""#) && !json.contains("nkey"), "{json}");
        let login = Login { token: Some("t".into()), ..Login::default() };
        let json = Greeting { login: &login, name: "x", tls: false }.json(&Info::default());
        assert!(json.is_ok_and(|json| json.contains(r#""auth_token":"t""#)));
        for bad in [&b"{"[..], b"{}", br#"{"max_payload":10}"#] {
            assert!(Info::read(bad).is_err());
        }
    }
}
