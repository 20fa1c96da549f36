use super::*;

const RANDOM: [u8; 8] = [0, 1, 2, 3, 0xfc, 0xfd, 0xfe, 0xff];

fn mufasa() -> Credentials {
    Credentials::new("", "Mufasa", "Circle Of Life")
}

fn message(method: &'static str, body: Option<&'static [u8]>) -> Message<'static> {
    Message { method, uri: "/dir/index.html", body, random: RANDOM }
}

fn line(dialogue: &mut Dialogue, message: &Message<'_>) -> String {
    let mut out = Vec::new();
    dialogue.answer(Challenger::Server, message, &mut out);
    String::from_utf8(out).expect("ASCII")
}

fn challenged(dialogue: &mut Dialogue, lines: &[&str]) -> bool {
    let mut head = String::from("HTTP/1.1 401 No\r\n");
    for line in lines {
        head += &format!("WWW-Authenticate: {line}\r\n");
    }
    dialogue.challenged(Challenger::Server, head.as_bytes(), &|realm| {
        (realm != Some("strange")).then(mufasa)
    })
}

const TOLD: &str = "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", \
                    nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"";

#[test]
fn basic_before_anybody_asks_is_tried_once() {
    let mut dialogue = Dialogue::preemptive(mufasa());
    let sent = line(&mut dialogue, &message("GET", None));
    assert_eq!(sent, "Authorization: Basic TXVmYXNhOkNpcmNsZSBPZiBMaWZl\r\n");
    assert!(!challenged(&mut dialogue, &["Basic realm=x"]));
    assert_eq!(line(&mut dialogue, &message("GET", None)), "");
    // A challenge for another scheme starts a new attempt.
    let mut dialogue = Dialogue::preemptive(mufasa());
    assert!(challenged(&mut dialogue, &[TOLD]));
    assert!(line(&mut dialogue, &message("GET", None)).starts_with("Authorization: Digest "));
}

#[test]
fn digest_is_worked_out_as_in_the_standard() {
    // The Digest example of RFC 2617, 3.5, except for the client's nonce.
    let mut digest = Digest::default();
    let told = Challenge::parse(TOLD.as_bytes()).expect("a challenge");
    assert_eq!(digest.told(&told), Ok(false));
    let credentials = mufasa();
    let mut out = Vec::new();
    digest.last_nonce = told.get("nonce").map(str::to_owned);
    digest.cnonce = "0a4f113b".into();
    assert!(digest.write(&credentials, &message("GET", None), &mut out));
    assert_eq!(
        String::from_utf8(out).expect("ASCII"),
        "Digest username=\"Mufasa\", realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", \
         uri=\"/dir/index.html\", response=\"6629fae49393a05397450978507c4ef1\", qop=auth, nc=00000001, \
         cnonce=\"0a4f113b\", algorithm=MD5, opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""
    );
}

#[test]
fn requests_of_a_nonce_are_counted() {
    let mut dialogue = Dialogue::default();
    assert!(challenged(&mut dialogue, &[TOLD]));
    let first = line(&mut dialogue, &message("POST", Some(b"x")));
    assert!(first.contains("qop=auth-int, nc=00000001, cnonce=\"00010203fcfdfeff\""), "{first}");
    dialogue.accepted();
    let second = line(&mut dialogue, &message("GET", None));
    assert!(second.contains("qop=auth, nc=00000002"), "{second}");
    let stale = TOLD.replace("nonce=\"d", "stale=TRUE, nonce=\"e");
    assert!(challenged(&mut dialogue, &[&stale]), "accepted before: it begins anew");
    assert!(line(&mut dialogue, &message("GET", None)).contains("nc=00000001"));
    assert!(challenged(&mut dialogue, &[&stale]), "only the nonce was too old");
    assert!(line(&mut dialogue, &message("GET", None)).contains("nc=00000002"));
    assert!(!challenged(&mut dialogue, &[TOLD]), "the password is wrong");
}

#[test]
fn the_best_scheme_that_can_be_answered_is_taken() {
    let mut dialogue = Dialogue::default();
    let odd = "Digest realm=a, nonce=b, algorithm=ROT13";
    assert!(challenged(&mut dialogue, &["Negotiate", "NTLM", "Basic realm=a", odd]));
    assert!(line(&mut dialogue, &message("GET", None)).starts_with("Authorization: Basic "));
    for lines in [&["Negotiate"][..], &["Basic realm=strange"], &["Digest"], &[""], &[]] {
        assert!(!challenged(&mut Dialogue::default(), lines), "{lines:?}");
    }
    // No offered scheme can be answered: the request is resent unchanged, and then the dialogue has failed.
    let mut dialogue = Dialogue::default();
    assert!(challenged(&mut dialogue, &["Digest realm=a, nonce=b, qop=other"]));
    assert_eq!(line(&mut dialogue, &message("GET", None)), "");
}

#[test]
fn algorithms_of_java() {
    let response = |algorithm: &str| {
        let mut dialogue = Dialogue::default();
        assert!(challenged(
            &mut dialogue,
            &[&format!("Digest realm=r, nonce=n, algorithm=\"{algorithm}\"")]
        ));
        line(&mut dialogue, &message("GET", None))
    };
    assert!(response("SHA-256").ends_with("algorithm=SHA-256\r\n"));
    assert!(response("SHA-512/256").ends_with("algorithm=\"SHA-512/256\"\r\n"));
    assert!(response("md5-SESS").ends_with("algorithm=md5-SESS\r\n"));
    assert!(!response("MD5").contains("qop"));
    assert_eq!(response("SHA-256-sess"), "");
}

#[test]
fn challenges_are_taken_apart() {
    let parse = |text: &str| Challenge::parse(text.as_bytes()).expect("a scheme");
    let told = parse("DIGEST  Realm = \"a \\\"b\\\", c\\d\" ; x=y , nonce=n=m,, flag, nonce=last");
    assert!(told.is("digest"));
    assert_eq!(told.get("realm"), Some("a \"b\", c\\d"));
    assert_eq!(told.get("nonce"), Some("last"));
    assert_eq!(told.get("flag"), None);
    assert!(parse("Basic").is_bare() && !told.is_bare());
    assert_eq!(Challenge::parse(b"  "), None);
}

#[test]
fn domains_come_in_capitals_before_the_name() {
    assert_eq!(Credentials::new("corp", "me", "").user, "CORP\\me");
    assert_eq!(ascii("ä€𝄞x"), b"???x");
}
