//! Tests every client setting against the same setting of the bundled gateway, which shares no code with the client.
//! The gateway must accept each sealed request, and the client must decrypt the response. If only one side changes a
//! setting, the request must be refused; otherwise the test would prove nothing.

use mgs::{Sealed, Sealer, SessionKey, Settings};
use targets::Config;

const NOW: u64 = 1_662_430_824_846;
const OPERATION: &str = "com.example.transfer";
const BODY: &str = r#"[{"_requestBody":{"to":"王","amount":12.50}}]"#;
const FIXED: &str = "0102030405060708090a0b0c0d0e0f10";
const GOOD: u16 = 1000;
const UNDECRYPTED: u16 = 3003;
const UNSIGNED: u16 = 7002;

type Pairs = Vec<(&'static str, &'static str)>;

/// One gateway setting, in the property names of client and gateway.
#[derive(Clone, Debug, Default)]
struct Row {
    client: Pairs,
    gateway: Pairs,
}

impl Row {
    fn new(
        client: &[(&'static str, &'static str)],
        gateway: &[(&'static str, &'static str)],
    ) -> Self {
        Self { client: client.to_vec(), gateway: gateway.to_vec() }
    }

    /// Adds a setting, with the name that client and gateway each use for it.
    fn and(mut self, client: &'static str, gateway: &'static str, word: &'static str) -> Self {
        self.client.push((client, word));
        self.gateway.push((gateway, word));
        self
    }

    fn with(&self, other: &Self) -> Self {
        Self {
            client: [&self.client[..], &other.client].concat(),
            gateway: [&self.gateway[..], &other.gateway].concat(),
        }
    }
}

type Gateway = Box<dyn Fn(&[u8]) -> Option<Vec<u8>>>;

/// Creates a gateway with a fixed clock. If an option is given twice, the last value counts. `None`: the gateway does
/// not support an option.
fn gateway(options: &Pairs) -> Option<Gateway> {
    let now = NOW.to_string();
    let config = Config::new("mgs").option("clock", &now).option("body", "echo");
    let mut last: Pairs = Vec::new();
    for (name, value) in options {
        last.retain(|(known, _)| known != name || *name == "header");
        last.push((name, value));
    }
    let config = last.into_iter().fold(config, |config, (name, value)| config.option(name, value));
    targets::gateway(&config).ok().map(|answer| Box::new(answer) as Gateway)
}

fn client(pairs: &Pairs) -> Sealer {
    let key = pairs.iter().find(|(name, _)| *name == "encrypt").map(|(_, kind)| public_key(kind));
    let value = |name: &str| match name {
        "public_key" => key.clone(),
        _ => pairs.iter().rfind(|(known, _)| *known == name).map(|(_, value)| (*value).to_string()),
    };
    let settings = Settings::read(value).expect("settings").expect("enabled");
    Sealer::new(settings, 1).expect("a sealer")
}

/// Returns the public key that the gateway offers to clients.
fn public_key(encrypt: &str) -> String {
    let kind = encrypt.split('-').next().unwrap_or_default();
    let ask = format!("GET /key/{kind} HTTP/1.1\r\nHost: h\r\n\r\n");
    let answer = gateway(&vec![]).expect("a gateway")(ask.as_bytes()).expect("an answer");
    let text = String::from_utf8(answer).expect("text");
    text.split_once("\r\n\r\n").expect("a head").1.to_owned()
}

/// Returns a sealed request as bytes, and the key for its response.
fn request(sealer: &mut Sealer, body: &str) -> (Vec<u8>, Option<SessionKey>) {
    let mut sealed = Sealed::default();
    sealer.seal(OPERATION, body.as_bytes(), NOW, &mut sealed).expect("seals");
    let settings = sealer.settings();
    let names = &settings.names;
    let mut lines = vec![("Host", "h"), ("AppId", "app"), ("WorkspaceId", "default")];
    lines.push((&names.operation, OPERATION));
    lines.push((&names.time, &sealed.stamp));
    lines.push((&names.sign, &sealed.sign));
    lines.push((&names.sign_type, &settings.sign_type));
    let encryption = settings.encryption.iter().flat_map(|encryption| &encryption.headers);
    lines.extend(encryption.map(|(name, value)| (name.as_str(), value.as_str())));
    let body = if sealed.key.is_some() { &sealed.body[..] } else { body.as_bytes() };
    let mut bytes = b"POST /mgw.htm HTTP/1.1\r\n".to_vec();
    for (name, value) in lines.into_iter().filter(|(_, value)| !value.is_empty()) {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(body);
    (bytes, sealed.key)
}

/// Sends a request; returns the result code and the body of the response.
fn ask(gateway: &Gateway, request: &[u8]) -> (u16, Vec<u8>) {
    let answer = gateway(request).expect("an answer");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let code = head.lines().find_map(|line| line.strip_prefix("Result-Status: "));
    (code.and_then(|code| code.parse().ok()).expect("a code"), answer[end + 4..].to_vec())
}

/// Sends a body; asserts that the decrypted response is the same body.
fn comes_back(row: &Row, sealer: &mut Sealer, gateway: &Gateway, body: &str) {
    let (bytes, key) = request(sealer, body);
    let (code, mut answer) = ask(gateway, &bytes);
    assert_eq!(code, GOOD, "{row:?}");
    let Some(key) = key else {
        assert_eq!(answer, body.as_bytes(), "{row:?}");
        return;
    };
    assert_ne!(answer, body.as_bytes(), "the answer is encrypted: {row:?}");
    // A response uses the initialisation vector of its request, which is not sent in the response.
    let key = SessionKey { sends_vector: false, ..key };
    let mut plain = Vec::new();
    let opened = sealer.open(&key, &mut answer, body.len(), &mut plain);
    assert!(opened.is_ok() && plain == body.as_bytes(), "{opened:?}: {row:?}");
}

const DIGESTS: [&str; 4] = ["md5", "sha256", "hmac-sha256", "sm3"];
const JOINS: [&str; 3] = ["prefix", "suffix", "none"];
const ENCODINGS: [&str; 3] = ["hex", "hex-upper", "base64"];

/// Returns all signature settings, each with the parts that decide the signature. HMAC has no join, and without a
/// secret there is no separator.
fn signatures() -> Vec<(Row, [&'static str; 4])> {
    let separators = [
        (Row::default(), "as a rule"),
        (Row::new(&[("sign.separator", "none")], &[("between", "")]), ""),
        (Row::default().and("sign.separator", "between", "::"), "::"),
    ];
    let mut all = Vec::new();
    for digest in DIGESTS {
        for join in JOINS {
            for (separator, text) in &separators {
                for encoding in ENCODINGS {
                    let row = Row::default()
                        .and("secret", "secret", "s3cret")
                        .and("sign", "digest", digest)
                        .and("sign.join", "join", join)
                        .and("sign.encoding", "encoding", encoding)
                        .with(separator);
                    let decides = match (digest, join, *text) {
                        ("hmac-sha256", ..) => [digest, "", "", encoding],
                        (_, "none", _) => [digest, join, "", encoding],
                        (_, "prefix", "as a rule") => [digest, join, "&", encoding],
                        (_, _, "as a rule") => [digest, join, "", encoding],
                        (_, _, text) => [digest, join, text, encoding],
                    };
                    all.push((row, decides));
                }
            }
        }
    }
    all
}

/// Sends each signature to the gateway of each signature. A gateway accepts only the signature with its own settings.
#[test]
fn each_signature_is_accepted_by_a_gateway_with_the_same_settings_alone() {
    let all = signatures();
    assert_eq!(all.len(), 108);
    let requests: Vec<_> =
        all.iter().map(|(row, _)| request(&mut client(&row.client), BODY).0).collect();
    for (row, decides) in &all {
        let gateway = gateway(&row.gateway).expect("it offers all of them");
        for ((sent, same), request) in all.iter().zip(&requests) {
            let wanted = if decides == same { GOOD } else { UNSIGNED };
            assert_eq!(ask(&gateway, request).0, wanted, "{:?} at {row:?}", sent.client);
        }
    }
}

const RSA: [(&str, &str); 3] =
    [("rsa", "pkcs1"), ("rsa-oaep-sha1", "oaep-sha1"), ("rsa-oaep-sha256", "oaep-sha256")];
const CIPHERS: [(&str, &str); 3] = [("aes-128", "128"), ("aes-256", "256"), ("sm4", "128")];
const DERIVATIONS: [&str; 6] = ["x", "md5", "sha256", "sm3", "x963-sha256", "x963-sm3"];
const VECTORS: [(&str, &str); 5] = [
    ("zero", "00000000000000000000000000000000"),
    ("key", "key"),
    ("derived", "derived"),
    ("fresh", "sent"),
    (FIXED, FIXED),
];

/// Returns all key transports, with the settings that matter for them: derivations of agreed secrets, paddings of RSA.
fn transports() -> Vec<Row> {
    // The gateway demands a derivation of sufficient length even for a key that is not derived.
    let long = [("kdf", "x963-sha256")];
    let mut all: Vec<Row> = RSA
        .iter()
        .map(|(encrypt, padding)| Row::new(&[("encrypt", encrypt)], &[("rsa", padding), long[0]]))
        .collect();
    all.push(Row::new(&[("encrypt", "sm2-encrypted")], &long));
    for curve in ["ecc", "sm2"] {
        let row = Row::new(&[("encrypt", curve)], &[]);
        all.extend(DERIVATIONS.map(|derivation| row.clone().and("derive", "kdf", derivation)));
    }
    all
}

/// Returns all encryption settings. Compression, tags and signatures rotate through the rows, because they are
/// independent of the rest.
fn encryptions() -> Vec<Row> {
    let signatures = signatures();
    let compressed = [Row::default(), Row::new(&[("gzip", "0")], &[("gzip", "false")])];
    let tagged = Row::new(
        &[("tag.key", "41"), ("tag.body", "7e")],
        &[("tag_rsa", "41"), ("tag_ecc", "41"), ("tag_sm2", "41")],
    );
    let mut all = Vec::new();
    for transport in transports() {
        for (cipher, bits) in CIPHERS {
            for (vector, iv) in VECTORS {
                let n = all.len();
                let mut row = transport
                    .with(&Row::new(
                        &[("cipher", cipher), ("iv", vector)],
                        &[("aes", bits), ("iv", iv)],
                    ))
                    .with(&compressed[n % 2])
                    .with(&signatures[n * 7 % signatures.len()].0);
                if n % 3 == 0 {
                    row = row.with(&only_kind_of_key(&tagged, &row));
                    row.gateway.push((if cipher == "sm4" { "tag_sm4" } else { "tag_aes" }, "7e"));
                }
                row.gateway.push(("encryption", "required"));
                all.push(row);
            }
        }
    }
    all
}

/// Removes the gateway's tags for other kinds of keys, so that these tags keep their defaults: all tags must differ.
fn only_kind_of_key(tagged: &Row, row: &Row) -> Row {
    let kind = row.client[0].1.split('-').next().unwrap_or_default();
    let mut own = tagged.clone();
    own.gateway.retain(|(name, _)| name.strip_prefix("tag_") == Some(kind));
    own
}

#[test]
fn each_encryption_is_decrypted_and_its_answer_opens() {
    let all = encryptions();
    assert_eq!(all.len(), 16 * 3 * 5);
    let mut not_offered = 0;
    for row in &all {
        let Some(gateway) = gateway(&row.gateway) else {
            // The digest is shorter than key and vector. The client uses the bytes that exist; the gateway does not
            // support this.
            let has = |word: &str| row.client.iter().any(|(_, value)| *value == word);
            assert!(has("derived") || (has("md5") && has("aes-256")), "{row:?}");
            not_offered += 1;
            continue;
        };
        comes_back(row, &mut client(&row.client), &gateway, BODY);
    }
    assert_eq!(not_offered, 20);
}

#[test]
fn a_setting_that_one_side_changes_is_refused() {
    for (encrypt, changes) in [
        (
            "ecc",
            vec![
                ("kdf", "sm3"),
                ("kdf", "x"),
                ("aes", "256"),
                ("tag_ecc", "33"),
                ("tag_aes", "33"),
            ],
        ),
        (
            "sm2",
            vec![
                ("kdf", "sha256"),
                ("kdf", "x963-sm3"),
                ("shared", "xy"),
                ("tag_sm2", "33"),
                ("tag_sm4", "33"),
            ],
        ),
        ("sm2-encrypted", vec![("sm2", "c1c2c3"), ("tag_sm2", "33")]),
        ("rsa", vec![("rsa", "oaep-sha1"), ("aes", "256"), ("tag_rsa", "33")]),
        ("rsa-oaep-sha256", vec![("rsa", "oaep-sha256-mgf1-sha1")]),
    ] {
        let padding = if encrypt == "rsa-oaep-sha256" { "oaep-sha256" } else { "pkcs1" };
        let base = Row::new(&[("encrypt", encrypt)], &[("rsa", padding)])
            .and("secret", "secret", "s3cret");
        let (request, _) = request(&mut client(&base.client), BODY);
        let code = |further: &[(&'static str, &'static str)]| {
            let options = [&base.gateway[..], further].concat();
            ask(&gateway(&options).expect("a gateway"), &request).0
        };
        assert_eq!(code(&[]), GOOD, "{encrypt}");
        let always = [
            ("gzip", "false"),
            ("iv", "key"),
            ("iv", FIXED),
            ("iv", "sent"),
            ("encryption", "never"),
        ];
        for change in changes.into_iter().chain(always) {
            let code = code(&[change]);
            assert!([UNDECRYPTED, UNSIGNED].contains(&code), "{encrypt}, {change:?}: {code}");
        }
        // The gateway expects a signature over the body as sent, but the client signs the plain body.
        assert_eq!(code(&[("signed", "sent")]), UNSIGNED, "{encrypt}");
        assert_eq!(code(&[("secret", "other")]), UNSIGNED, "{encrypt}");
    }
}

/// Bodies with lengths around multiples of the block length, where padding adds a block.
#[test]
fn bodies_of_every_length_come_back() {
    for (cipher, bits) in CIPHERS {
        for compressed in [Row::default(), Row::new(&[("gzip", "0")], &[("gzip", "false")])] {
            let row = Row::new(
                &[("encrypt", "ecc"), ("ephemeral", "once"), ("cipher", cipher)],
                &[("aes", bits)],
            );
            let row = row.and("secret", "secret", "s3cret").with(&compressed);
            let (mut client, gateway) =
                (client(&row.client), gateway(&row.gateway).expect("a gateway"));
            for letters in (0..36).chain([1000, 70_000]) {
                let body = format!("[{{\"a\":\"{}\"}}]", "x".repeat(letters));
                comes_back(&row, &mut client, &gateway, &body);
            }
        }
    }
}

#[test]
fn headers_may_have_other_names() {
    let row = Row::new(
        &[
            ("header.operation", "X-Op"),
            ("header.time", "X-Time"),
            ("header.sign", "X-Sign"),
            ("header.sign_type", "X-Kind"),
            ("sign.type", "4"),
            ("encrypt", "sm2"),
            ("encrypt.headers", "X-Enc: 1"),
        ],
        &[
            ("header", "Operation-Type=X-Op"),
            ("header", "Ts=X-Time"),
            ("header", "Sign=X-Sign"),
            ("header", "signType=X-Kind"),
            ("sign_type", "4"),
            ("header", "x-mgs-encryption=X-Enc"),
        ],
    );
    let row = row.and("secret", "secret", "s3cret");
    let gateway = gateway(&row.gateway).expect("a gateway");
    comes_back(&row, &mut client(&row.client), &gateway, BODY);
    let mut other = row.client.clone();
    other.push(("sign.type", "5"));
    assert_eq!(ask(&gateway, &request(&mut client(&other), BODY).0).0, 7001);
}
