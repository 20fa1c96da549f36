use super::*;
use proptest::prelude::*;

/// Example key and accept value of RFC 6455, section 1.3.
const KEY: &[u8; 24] = b"dGhlIHNhbXBsZSBub25jZQ==";
const GOOD: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

#[test]
fn the_key_of_the_rfc() {
    assert_eq!(&key(*b"the sample nonce"), KEY);
    assert_eq!(&accept(KEY), b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_ne!(accept(&KEY[..23]), accept(KEY));
}

fn status(status: u16, line: &str) -> Result<Option<Answer>, Refusal> {
    Err(Refusal::Status { status, line: line.to_owned() })
}

#[test]
fn a_good_answer_ends_where_the_frames_begin() {
    let mut bytes = GOOD.as_bytes().to_vec();
    bytes.extend_from_slice(&[0x81, 0]);
    assert_eq!(answer(&bytes, KEY), Ok(Some(Answer { size: GOOD.len(), deflate: None })));
}

#[test]
fn the_status_is_judged_when_its_line_is_there() {
    for (head, verdict) in [
        ("HTTP/1.1 101", Ok(None)),
        ("HTTP/1.1 101\n", Ok(None)),
        // Bytes after three status digits of the status line are ignored.
        ("HTTP/2.0 1010 x\r\n", Ok(None)),
        ("HTTP/1.1 403 For\u{e9}bidden\r\n", status(403, "HTTP/1.1 403 For\u{fffd}\u{fffd}bidden")),
        ("HTTP/1.1 200 OK\r\n\r\nbody", status(200, "HTTP/1.1 200 OK")),
        ("HTTP/1.1 302\n", status(302, "HTTP/1.1 302")),
        // A carriage return in a header is ignored everywhere.
        ("HT\rTP/1.1 \r500 a\rb\r\n", status(500, "HTTP/1.1 500 ab")),
        ("HTTP/1.1  101 x\r\n", Err(Refusal::InvalidStatusLine)),
        ("HTTP/1.1 10\r\n", Err(Refusal::InvalidStatusLine)),
        ("HTTP/11 101\r\n", Err(Refusal::InvalidStatusLine)),
        ("http/1.1 101 x\r\n", Err(Refusal::InvalidStatusLine)),
        (" HTTP/1.1 101 x\r\n", Err(Refusal::InvalidStatusLine)),
        ("\r\nHTTP/1.1 101 x\r\n", Err(Refusal::InvalidStatusLine)),
    ] {
        assert_eq!(answer(head.as_bytes(), KEY), verdict, "{head:?}");
    }
}

/// Returns the valid answer to an upgrade with one piece replaced.
fn with(piece: &str, other: &str) -> String {
    assert!(GOOD.contains(piece));
    GOOD.replace(piece, other)
}

#[test]
fn headers_are_judged_in_the_plug_ins_order() {
    let up = "Upgrade: websocket\r\n";
    let connection = "Connection: Upgrade\r\n";
    let accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
    let value = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    for (head, verdict) in [
        (with(up, ""), Some(Refusal::NoUpgrade)),
        (with(up, "Upgrade: \t WebSocket \t\r\n"), None),
        (with(up, "uPGRADE:websocket\n"), None),
        (with(up, "Upgrade : websocket\r\n"), Some(Refusal::NoUpgrade)),
        (with(up, " Upgrade: websocket\r\n"), Some(Refusal::NoUpgrade)),
        (with(up, "Upgrade: web\rsocket\r\n"), None),
        (with(up, "Upgrade: websocket, h2c\r\n"), Some(Refusal::NoUpgrade)),
        (with(up, "Upgrade: websocket\r\nUpgrade: websocket\r\n"), Some(Refusal::NoUpgrade)),
        (with(up, "Upgrade: websocket\r\nupgrade:\r\n"), Some(Refusal::NoUpgrade)),
        // A folded header line counts as a separate line.
        (with(up, "Upgrade:\r\n websocket\r\n"), Some(Refusal::NoUpgrade)),
        (with(connection, ""), Some(Refusal::NoConnection)),
        (with(connection, "Connection: UPGRADE\r\n"), None),
        (with(connection, "Connection: keep-alive, Upgrade\r\n"), Some(Refusal::NoConnection)),
        (with(connection, "Connection: Upgr\u{e4}de\r\n"), Some(Refusal::NoConnection)),
        (with(accept, ""), Some(Refusal::NoAccept)),
        (with(accept, "Sec-WebSocket-Accept:\r\n"), Some(Refusal::WrongAccept)),
        (with(value, "S3pPLMBiTxaQ9kYGzzhZRbK+xOo="), Some(Refusal::WrongAccept)),
        (with(value, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo"), Some(Refusal::WrongAccept)),
        (with(accept, &accept.repeat(2)), Some(Refusal::WrongAccept)),
        // If several headers are wrong, the first in the order of checks counts.
        (with(accept, "").replace(up, ""), Some(Refusal::NoUpgrade)),
        (with(accept, "").replace(connection, ""), Some(Refusal::NoConnection)),
        // Header lines without a colon are ignored. A line of white space ends the head.
        (with(up, "no colon\r\nUpgrade: websocket\r\n"), None),
        (with(up, " \t \r\nUpgrade: websocket\r\n"), Some(Refusal::NoUpgrade)),
        (GOOD.replace("\r\n", "\n"), None),
    ] {
        let found = answer(head.as_bytes(), KEY);
        match verdict {
            Some(refusal) => assert_eq!(found, Err(refusal), "{head:?}"),
            None => {
                assert_eq!(found, Ok(Some(Answer { size: head.len(), deflate: None })), "{head:?}");
            }
        }
    }
}

#[test]
fn every_split_gives_the_same_verdict_once() {
    for head in [
        GOOD.to_owned(),
        with("Upgrade: websocket", "Upgrade: no"),
        with("101", "404"),
        with("HTTP", "HTML"),
    ] {
        let whole = answer(head.as_bytes(), KEY);
        let mut verdicts = 0;
        for end in 0..=head.len() {
            let found = answer(&head.as_bytes()[..end], KEY);
            if found != Ok(None) {
                assert_eq!(found, whole, "{end} of {head:?}");
                verdicts += 1;
            }
        }
        assert!(verdicts > 0, "{head:?}");
    }
}

#[test]
fn a_server_that_closes_has_ended_the_head() {
    assert_eq!(answer_at_end(b"", KEY), Err(Refusal::Empty));
    assert_eq!(answer_at_end(b"HTTP/1.1 101 x\r\n", KEY), Err(Refusal::NoUpgrade));
    assert_eq!(answer_at_end(b"HTTP/1", KEY), Err(Refusal::InvalidStatusLine));
    assert_eq!(answer_at_end(b"\n", KEY), Err(Refusal::InvalidStatusLine));
    let unfinished = GOOD.trim_end();
    let whole = Answer { size: unfinished.len(), deflate: None };
    assert_eq!(answer_at_end(unfinished.as_bytes(), KEY), Ok(whole));
    assert_eq!(
        answer_at_end(&unfinished.as_bytes()[..unfinished.len() - 1], KEY),
        Err(Refusal::WrongAccept)
    );
}

#[test]
fn a_head_is_bounded() {
    let filler = "x: y\r\n".repeat(LIMIT / 6 + 1);
    let long = with("Upgrade: websocket", &filler);
    assert_eq!(answer(long.as_bytes(), KEY), Err(Refusal::TooLarge));
    assert_eq!(answer(&long.as_bytes()[..LIMIT - 1], KEY), Ok(None));
    assert_eq!(answer(&long.as_bytes()[..LIMIT], KEY), Err(Refusal::TooLarge));
    assert_eq!(answer_at_end(&long.as_bytes()[..LIMIT], KEY), Err(Refusal::TooLarge));
    assert_eq!(answer(&vec![b'H'; LIMIT], KEY), Err(Refusal::TooLarge));
    // Bytes after the head do not count against the head's limit.
    let mut tail = GOOD.as_bytes().to_vec();
    tail.resize(2 * LIMIT, 0);
    assert!(matches!(answer(&tail, KEY), Ok(Some(_))));
}

#[test]
fn compression_that_was_agreed_on_is_told() {
    let head = with(
        "Upgrade: websocket\r\n",
        "Upgrade: websocket\r\nSec-WebSocket-Extensions: foo\r\n\
         sec-websocket-extensions: permessage-deflate; server_no_context_takeover\r\n",
    );
    let deflate = Deflate { server_no_context_takeover: true, ..Deflate::default() };
    assert_eq!(answer(head.as_bytes(), KEY).unwrap().unwrap().deflate, Some(deflate));
}

#[test]
fn a_proxy_is_judged_at_the_end_of_its_head() {
    let head = "HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\n";
    let mut bytes = head.as_bytes().to_vec();
    bytes.extend_from_slice(b"more");
    assert_eq!(proxy_answer(&bytes), Ok(Some(head.len())));
    let refused = "HTTP/1.1 407 Who\r\nA: b\r\n\r\n";
    let verdict = Err(Refusal::Status { status: 407, line: "HTTP/1.1 407 Who".to_owned() });
    for end in 0..refused.len() {
        assert_eq!(proxy_answer(&refused.as_bytes()[..end]), Ok(None));
    }
    assert_eq!(proxy_answer(refused.as_bytes()), verdict);
}

const ASKED: &str = "GET /chat?a=b HTTP/1.1\r\nHost: h:1\r\nUpgrade: WebSocket\r\n\
                     Connection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                     Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat, superchat\r\n\
                     Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n";

#[test]
fn a_request_for_an_upgrade() {
    for end in 0..ASKED.len() {
        assert!(matches!(request(&ASKED.as_bytes()[..end]), Ok(None)), "{end}");
    }
    let asked = request(ASKED.as_bytes()).unwrap().unwrap();
    assert_eq!((asked.size, asked.target, asked.minor), (ASKED.len(), &b"/chat?a=b"[..], 1));
    assert_eq!(asked.upgrade(), Ok(&KEY[..]));
    assert_eq!(asked.deflate(), Some(Deflate::default()));
    assert_eq!(asked.protocols().collect::<Vec<_>>(), [&b"chat"[..], b"superchat"]);
    assert_eq!(asked.values("host").collect::<Vec<_>>(), [b"h:1"]);
    let mut out = Vec::new();
    push_answer(&mut out, KEY, asked.deflate().as_ref(), asked.protocols().next());
    let read = answer(&out, KEY).unwrap().unwrap();
    assert_eq!(read, Answer { size: out.len(), deflate: Some(Deflate::default()) });
    assert!(String::from_utf8(out).unwrap().contains("Sec-WebSocket-Protocol: chat\r\n"));
}

#[test]
fn requests_that_are_none() {
    for (piece, other, why) in [
        ("GET", "POST", NoUpgrade::Ordinary),
        ("HTTP/1.1", "HTTP/1.0", NoUpgrade::Ordinary),
        ("Upgrade: WebSocket", "X: y", NoUpgrade::Ordinary),
        ("keep-alive, Upgrade", "keep-alive", NoUpgrade::Ordinary),
        ("Version: 13", "Version: 8", NoUpgrade::Version),
        ("Sec-WebSocket-Version: 13\r\n", "", NoUpgrade::Version),
        ("ub25jZQ==", "ub25jZQ=", NoUpgrade::Key),
        ("ub25jZQ==", "ub25jZQAAAA==", NoUpgrade::Key),
        ("Sec-WebSocket-Key", "X", NoUpgrade::Key),
    ] {
        let text = ASKED.replace(piece, other);
        assert_eq!(request(text.as_bytes()).unwrap().unwrap().upgrade(), Err(why), "{text}");
    }
    for line in [
        "GET /\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "\r\n",
        " / HTTP/1.1\r\n\r\n",
        "a b c HTTP/1.1\r\n",
    ] {
        assert!(matches!(request(line.as_bytes()), Err(RequestError::RequestLine)), "{line:?}");
    }
    assert!(matches!(request(&vec![b'a'; LIMIT]), Err(RequestError::TooLarge)));
}

proptest! {
    #[test]
    fn any_bytes_have_a_verdict_that_more_bytes_do_not_change(
        bytes in "(HTTP/1.1 101 x\r?\n)?([Uu]pgrade: ?(websocket|x)\r?\n|[a-z:\r\n]{0,5}|Connection: upgrade\n){0,6}\r?\n?",
        more in proptest::collection::vec(any::<u8>(), 0..9),
    ) {
        let first = answer(bytes.as_bytes(), KEY);
        let mut longer = bytes.into_bytes();
        longer.extend_from_slice(&more);
        if first != Ok(None) {
            prop_assert_eq!(answer(&longer, KEY), first);
        }
    }
}
