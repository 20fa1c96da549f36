//! The target `mgs` with requests that openssl's command line signed and encrypted: `targets/tests/mgs/record`.

mod raw;

use std::io::Write;

use aes::Aes128;
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use raw::{Client, End, target};
use targets::{Config, Error, Running, start};

const RECORDED: &str = include_str!("mgs/requests.txt");
const PLAIN: &str = "[{\"_requestBody\":{\"to\":\"王\",\"amount\":12.50}}]";

struct Recorded {
    name: &'static str,
    options: Vec<(&'static str, &'static str)>,
    headers: Vec<String>,
    body: Vec<u8>,
    answer: Vec<u8>,
}

fn bytes(digits: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn all() -> Vec<Recorded> {
    let read = |line: &'static str| {
        let [name, options, headers, body, answer] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        Recorded {
            name,
            options: options.split(' ').map(|pair| pair.split_once('=').unwrap()).collect(),
            headers: headers.split('|').map(str::to_owned).collect(),
            body: bytes(body),
            answer: bytes(answer),
        }
    };
    RECORDED.lines().map(read).collect()
}

fn recorded(name: &str) -> Recorded {
    all().into_iter().find(|request| request.name == name).unwrap()
}

/// An answer of the gateway as a client sees it.
#[derive(Debug, PartialEq)]
struct Answer {
    code: u16,
    tips: String,
    head: String,
    body: Vec<u8>,
}

impl Recorded {
    fn gateway(&self, further: &[(&str, &str)]) -> Running {
        target("mgs", &[&self.options[..], further].concat())
    }

    /// Returns the request with this value of a header; without the header if the value is empty.
    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|line| !line.starts_with(&format!("{name}:")));
        if !value.is_empty() {
            self.headers.push(format!("{name}: {value}"));
        }
        self
    }

    fn send(&self, client: &mut Client) -> Answer {
        let headers = self.headers.join("\r\n");
        let length = self.body.len();
        let head = format!(
            "POST /mgw.htm HTTP/1.1\r\nHost: h\r\n{headers}\r\nContent-Length: {length}\r\n\r\n"
        );
        client.0.write_all(&[head.as_bytes(), &self.body].concat()).unwrap();
        let (head, body) = client.answer();
        let of = |name: &str| {
            head.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned()
        };
        Answer {
            code: of("Result-Status: ").parse().unwrap_or(0),
            tips: of("Tips: ").replace("%20", " "),
            // The client decodes bytes as Latin-1.
            body: body.chars().map(|char| char as u8).collect(),
            head,
        }
    }

    fn code(&self, gateway: &Running) -> u16 {
        self.send(&mut Client::new(gateway)).code
    }
}

fn stats(gateway: &Running) -> serde_json::Value {
    serde_json::from_str(&Client::new(gateway).body("/stats")).unwrap()
}

#[test]
fn what_openssl_signed_and_encrypted_is_verified_and_decrypted() {
    let all = all();
    assert_eq!(all.len(), 35);
    for request in all {
        let gateway = request.gateway(&[("body", "echo"), ("answers", "plain")]);
        let answer = request.send(&mut Client::new(&gateway));
        assert_eq!((answer.code, &*answer.tips), (1000, ""), "{}", request.name);
        assert_eq!(String::from_utf8(answer.body).unwrap(), PLAIN, "{}", request.name);
        let kind = request.name.split('-').next().unwrap();
        let stats = stats(&gateway);
        assert_eq!(stats["verified"], 1, "{stats}");
        for key in ["rsa", "ecc", "sm2"] {
            assert_eq!(
                stats["decrypted"][key],
                u64::from(key == kind),
                "{}: {stats}",
                request.name
            );
        }
    }
}

#[test]
fn answers_are_encrypted_as_openssl_would() {
    let uncompressed = all().into_iter().filter(|request| !request.answer.is_empty());
    let mut count = 0;
    for request in uncompressed {
        let gateway = request.gateway(&[("body", "echo")]);
        let answer = request.send(&mut Client::new(&gateway));
        assert!(answer.head.contains("\r\nx-mgs-encryption: 1\r\n"), "{}", answer.head);
        assert_eq!(answer.body, request.answer, "{}", request.name);
        count += 1;
    }
    assert_eq!(count, 3, "one for each cipher");
    // With gzip, the exact bytes depend on the compressor, so the answer is decrypted and decompressed.
    let request = recorded("rsa-aes-128");
    let answer = request.send(&mut Client::new(&request.gateway(&[("body", "echo")])));
    let cipher = Decryptor::<Aes128>::new_from_slices(b"0123456789:;<=>?", &[0; 16]).unwrap();
    let packed = cipher.decrypt_padded_vec::<Pkcs7>(&answer.body).unwrap();
    let mut plain = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut plain)
        .unwrap();
    assert_eq!(plain, PLAIN);
}

#[test]
fn each_mistake_of_a_signature_has_its_code() {
    let plain = || recorded("plain-md5");
    let gateway = plain().gateway(&[("app", "A1"), ("workspace", "default"), ("sign_type", "0")]);
    let good = || plain().with("signType", "0");
    assert_eq!(good().code(&gateway), 1000);
    for (header, value, code) in [
        ("Sign", "", 7014),
        ("Ts", "", 7007),
        ("AppId", "", 7001),
        ("WorkspaceId", "", 7001),
        ("Operation-Type", "", 7001),
        ("signType", "", 7001),
        ("signType", "1", 7001),
        ("AppId", "A2", 7000),
        ("Sign", "00", 7002),
        ("Operation-Type", "com.example.other", 7002),
        ("Ts", "OCGcKcF", 7002),
    ] {
        assert_eq!(good().with(header, value).code(&gateway), code, "{header}: {value}");
    }
    let upper =
        good().headers.iter().find_map(|line| line.strip_prefix("Sign: ").map(str::to_uppercase));
    assert_eq!(good().with("Sign", &upper.unwrap()).code(&gateway), 7002, "upper case");
    let mut other = good();
    other.body[5] ^= 1;
    assert_eq!(other.code(&gateway), 7002, "another body");
    let codes = &stats(&gateway)["codes"];
    assert_eq!((&codes["1000"], &codes["7002"], &codes["7001"]), (&1.into(), &5.into(), &5.into()));
}

#[test]
fn time_stamps_are_good_within_the_window() {
    // Gateway times of two minutes and one millisecond after or before the requests' time.
    for (clock, window, code) in [
        ("1662430944847", "3", 1000),
        ("1662430944847", "2", 7003),
        ("1662430704845", "2", 7003),
        ("1662430704845", "0", 1000),
        // The gateway's clock has the current time.
        ("0", "5256000", 1000),
    ] {
        let gateway = recorded("plain-md5").gateway(&[("clock", clock), ("window", window)]);
        assert_eq!(recorded("plain-md5").code(&gateway), code, "{clock} {window}");
    }
}

#[test]
fn each_mistake_of_a_body_has_its_code() {
    let none = [("digest", "none"), ("operations", "com.example.transfer,b")];
    let gateway = recorded("plain-md5").gateway(&none);
    for (body, code) in [
        ("[{}]", 1000),
        ("", 3001),
        ("{}", 3002),
        ("[]", 3002),
        ("[{},{}]", 3002),
        ("[1]", 3002),
        ("[{}", 3002),
        ("\u{feff}[{}]", 3002),
    ] {
        let request = Recorded { body: body.as_bytes().to_vec(), ..recorded("plain-md5") };
        assert_eq!(request.code(&gateway), code, "{body}");
    }
    let deep = Recorded { body: vec![b'['; 1 << 20], ..recorded("plain-md5") };
    assert_eq!(deep.code(&gateway), 3002);
    let absent = recorded("plain-md5").with("Operation-Type", "com.example.absent");
    assert_eq!(absent.code(&gateway), 3000);
    let logged_in = recorded("plain-md5").gateway(&[("session", "sid")]);
    assert_eq!(recorded("plain-md5").code(&logged_in), 2000);
    assert_eq!(recorded("plain-md5").with("Cookie", "a=b; sid=1").code(&logged_in), 1000);
    assert_eq!(recorded("plain-md5").with("sid", "1").code(&logged_in), 1000);
}

#[test]
fn a_body_that_cannot_be_decrypted_says_at_which_step() {
    let gateway = recorded("rsa-aes-128").gateway(&[("inflated", "40")]);
    let tips = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut request = recorded("rsa-aes-128");
        change(&mut request.body);
        let answer = request.send(&mut Client::new(&gateway));
        assert!(answer.body.is_empty());
        (answer.code, answer.tips)
    };
    let failed = |words: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let (code, tips) = tips(change);
        assert_eq!(code, 3003, "{tips}");
        assert!(tips.contains(words), "{tips}");
    };
    failed("7f is no tag of the key", &|body| body[0] = 0x7f);
    failed("6f is no tag of the ciphertext", &|body| body[4 + 256] = 0x6f);
    failed("RSA does not decrypt the key", &|body| body[4..4 + 256].fill(0xff));
    failed("ends within tag and length of the ciphertext", &|body| body.truncate(4 + 256));
    failed("bytes of the ciphertext", &|body| body.truncate(300));
    failed("behind the ciphertext", &|body| body.push(0));
    failed("do not decrypt to padded blocks", &|body| *body.last_mut().unwrap() ^= 0xff);
    failed("is no gzip", &|body| {
        // A changed first block decrypts to bytes without a gzip header.
        body[4 + 256 + 4] ^= 0xff;
    });
    failed("more than 40 bytes decompressed", &|_| {});
    // A damaged RSA ciphertext whose padding error is hidden: decryption yields random bytes of some length.
    failed("the key has", &|body| body[4 + 100] ^= 1);
    let point = recorded("ecc-sha256");
    let mut wrong = recorded("ecc-sha256");
    wrong.body[4..37].fill(0xff);
    assert_eq!(wrong.code(&point.gateway(&[])), 3003);
    let strict = recorded("plain-md5").gateway(&[("encryption", "required")]);
    assert_eq!(recorded("plain-md5").code(&strict), 3003);
    let never = recorded("rsa-aes-128").gateway(&[("encryption", "never")]);
    assert_eq!(recorded("rsa-aes-128").code(&never), 3003);
}

#[test]
fn headers_may_have_other_names() {
    let names = [("header", "Sign=X-Sign"), ("header", "x-mgs-encryption=X-Enc")];
    let gateway = recorded("rsa-aes-128").gateway(&names);
    assert_eq!(recorded("rsa-aes-128").code(&gateway), 7014);
    let mut renamed = recorded("rsa-aes-128");
    for line in &mut renamed.headers {
        *line = line.replace("Sign:", "X-Sign:").replace("x-mgs-encryption", "X-Enc");
    }
    let answer = renamed.send(&mut Client::new(&gateway));
    assert_eq!(answer.code, 1000);
    assert!(answer.head.contains("\r\nX-Enc: 1\r\n"), "{}", answer.head);
}

#[test]
fn limits_and_faults_refuse_with_their_codes() {
    let of = |options: &[(&str, &str)]| {
        let gateway = recorded("plain-md5").gateway(options);
        let mut client = Client::new(&gateway);
        (0..5).map(|_| recorded("plain-md5").send(&mut client).code).collect::<Vec<_>>()
    };
    // The rate limit's next token arrives only after more than a quarter of an hour.
    assert_eq!(of(&[("rate", "0.001"), ("burst", "3")]), [1000, 1000, 1000, 1002, 1002]);
    assert_eq!(
        of(&[("fail", "4001:0.5"), ("fail", "5000:0.5")]).iter().filter(|c| **c == 1000).count(),
        0
    );
    assert_eq!(of(&[("users", "1"), ("workers", "1"), ("burn", "1")]), [1000; 5]);
    // A request that waits for its backend counts as concurrent with the next request.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let gateway = recorded("plain-md5").gateway(&[
        ("users", "1"),
        ("upstream", &address),
        ("patience", "60000"),
    ]);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| recorded("plain-md5").code(&gateway));
        while stats(&gateway)["most_at_once"] == 0 {
            std::thread::yield_now();
        }
        assert_eq!(recorded("plain-md5").code(&gateway), 1002);
        // The backend closes its connections without an answer.
        drop(silent);
        assert_eq!(first.join().unwrap(), 4002);
    });
    assert_eq!(stats(&gateway)["most_at_once"], 2);
}

#[test]
fn backends_are_chosen_asked_and_named() {
    let [one, two] = ["a", "b"].map(|_| target("fixed", &[("size", "5")]));
    let addresses = format!("{},{}", one.addr(), two.addr());
    let options =
        [("upstream", &*addresses), ("pin", "ip"), ("forwarded", "true"), ("answers", "plain")];
    let gateway = recorded("rsa-aes-128").gateway(&options);
    let mut client = Client::new(&gateway);
    for last in 1..=8 {
        let from = format!("10.0.0.{last}, 10.9.9.9");
        let answer = recorded("rsa-aes-128").with("X-Forwarded-For", &from).send(&mut client);
        assert_eq!((answer.code, &*answer.body), (1000, &b"abcde"[..]));
    }
    let counted = stats(&gateway);
    let served = |address: std::net::SocketAddr| counted["backends"][address.to_string()].as_u64();
    assert_eq!((served(one.addr()), served(two.addr())), (Some(4), Some(4)));
    assert_eq!((&counted["upstream_opened"], &counted["upstream_reused"]), (&2.into(), &6.into()));
    // The gateway uses one connection per request, like a proxy without keep-alive.
    let gateway = recorded("plain-md5").gateway(&[("upstream", &addresses), ("keepalive", "0")]);
    for _ in 0..4 {
        assert_eq!(recorded("plain-md5").code(&gateway), 1000);
    }
    assert_eq!(stats(&gateway)["upstream_opened"], 4);
    Client::new(&gateway).body("/stats/reset");
    assert_eq!(stats(&gateway)["upstream_opened"], 0);
}

#[test]
fn a_backend_that_fails_has_its_code() {
    let failing = target("fixed", &[("status", "500")]).addr().to_string();
    let slow = target("delay", &[("ms", "3000")]);
    let slow_address = slow.addr().to_string();
    for (upstream, patience, code) in [
        // This backend was stopped before the request.
        (&*failing, "3000", 4002),
        (&slow_address, "20", 4001),
        // A backend with an invalid host name.
        ("a..b:80", "3000", 4003),
    ] {
        let gateway =
            recorded("plain-md5").gateway(&[("upstream", upstream), ("patience", patience)]);
        assert_eq!(recorded("plain-md5").code(&gateway), code, "{upstream}");
    }
    let failing = target("fixed", &[("status", "500")]);
    let gateway = recorded("plain-md5").gateway(&[("upstream", &failing.addr().to_string())]);
    assert_eq!(recorded("plain-md5").code(&gateway), 4002);
}

#[test]
fn it_is_there_over_tls() {
    let gateway = recorded("plain-md5").gateway(&[("tls", "true")]);
    assert!(gateway.url().starts_with("https://"));
    // The TLS gateway sends an alert to a client that does not use TLS.
    assert!(Client::new(&gateway).get("/").until("\u{15}\u{3}").len() >= 2);
}

#[test]
fn the_plan_of_the_example_has_its_key() {
    let public = Client::new(&target("mgs", &[])).body("/key/rsa");
    let base64: String = public.lines().filter(|line| !line.starts_with('-')).collect();
    let plan = include_str!("../../examples/04-mobile-gateway/plugin/plan.jmx");
    assert!(plan.contains(&format!(">{base64}<")), "{public}");
}

#[test]
fn hostile_requests_are_refused_and_the_next_is_served() {
    let gateway = recorded("rsa-aes-128").gateway(&[("limit", "100000")]);
    let head = "POST /mgw.htm HTTP/1.1\r\nContent-Length: 300000\r\n\r\n";
    let mut client = Client::new(&gateway);
    // The gateway may close the connection before all bytes are sent.
    let _ = client.0.write_all(&[head.as_bytes(), &vec![b'x'; 200_000]].concat());
    match client.rest() {
        End::Fin(text) => assert!(text.starts_with("HTTP/1.1 413 "), "{text}"),
        End::Reset(text) => assert!(text.is_empty() || text.starts_with("HTTP/1.1 413 ")),
    }
    assert!(
        matches!(Client::new(&gateway).send("rubbish\r\n\r\n").rest(), End::Fin(text) if text.starts_with("HTTP/1.1 400"))
    );
    for (path, status) in [("/", "404"), ("/mgw.htm", "405"), ("/key/dsa", "404")] {
        assert_eq!(Client::new(&gateway).get(path).answer().0[9..12], *status, "{path}");
    }
    assert!(Client::new(&gateway).body("/key/sm2").starts_with("-----BEGIN PUBLIC KEY-----\n"));
    assert_eq!(recorded("rsa-aes-128").code(&gateway), 1000);
}

#[test]
fn what_the_gateway_cannot_be_says_why() {
    let why = |key: &str, value: &str| match start(Config::new("mgs").option(key, value)) {
        Err(Error::BadOption { option, why, .. }) => format!("{option}: {why}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{key}={value} is taken"),
    };
    let folder = std::env::temp_dir().join(format!("throng-mgs-keys-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let public = Client::new(&target("mgs", &[])).body("/key/rsa");
    // A test key published in RFC 9500.
    let p256 = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIObLW92AqkWunJXowVR2Z5/+yVPBaFHnEedDk5WJxk/BoAoGCCqGSM49\nAwEHoUQDQgAEQiVI+I+3gv+17KN0RFLHKh5Vj71vc75eSOkyMsxFxbFsTNEMTLjV\nuKFxOelIgsiZJXKZNCX0FBmrfpCkKklCcg==\n-----END EC PRIVATE KEY-----\n";
    for (name, text, words) in [
        ("public.pem", &*public, "has no private key in PEM form"),
        ("empty.pem", "", "has no private key in PEM form"),
        (
            "locked.pem",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "takes the password off",
        ),
        ("curve.pem", p256, "is no key of RSA"),
        ("broken.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n", "is no key of RSA"),
    ] {
        let why = why("key", &file(name, text));
        assert!(why.contains(words), "{name}: {why}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(why("key", "/nowhere.pem").starts_with("key: "));
    for (key, value) in [
        ("digest", "crc"),
        ("iv", "00"),
        ("iv", "+0000000000000000000000000000000"),
        ("tag_ecc", "01"),
        ("tag_aes", "+1"),
        ("tag_sm4", "0f"),
        ("aes", "192"),
        ("kdf", "none"),
        ("header", "Sign"),
        ("header", "Sine=X"),
        ("header", "Sign=a b"),
        ("fail", "1002"),
        ("fail", "1002:2"),
        ("rate", "-1"),
        ("burst", "0"),
        ("upstream", "nowhere"),
        ("upstream", "a:0"),
        ("upstream", "a/b:80"),
        ("backends", "0"),
        ("size", "99999999"),
    ] {
        why(key, value);
    }
    let short = Config::new("mgs").option("aes", 256).option("iv", "derived");
    assert!(matches!(start(short), Err(Error::BadOption { option, .. }) if option == "kdf"));
}
