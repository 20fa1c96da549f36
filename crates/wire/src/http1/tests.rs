//! Decodes each response of a table whole, split at every position, and byte by byte. The events must be the same.

use super::*;
use proptest::prelude::*;

/// The events of a response, with the pieces of the body joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    status: Option<u16>,
    reason: Vec<u8>,
    minor: u8,
    keep_alive: bool,
    head: Vec<u8>,
    body: Vec<u8>,
    /// True if the decoder returned `End`.
    ended: bool,
    /// Number of bytes after the end of the response.
    rest: usize,
    error: Option<Error>,
}

fn feed<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    head_request: bool,
    limits: Limits,
    close: bool,
) -> Seen {
    let mut decoder = Decoder::new(head_request, limits);
    let mut seen = Seen::default();
    let mut unread = Vec::new();
    for piece in pieces {
        unread.extend_from_slice(piece);
        while !seen.ended {
            let (used, event) = match decoder.next(&unread) {
                Ok(found) => found,
                Err(error) => {
                    seen.error = Some(error);
                    return seen;
                }
            };
            let mut more = true;
            match event {
                Event::NeedMore => more = false,
                Event::Head(head) => {
                    assert!(seen.status.is_none(), "two heads");
                    seen.status = Some(head.status);
                    seen.reason = head.reason.to_vec();
                    seen.minor = head.version_minor;
                    seen.keep_alive = head.keep_alive;
                    seen.head = head.raw.to_vec();
                }
                Event::Body(body) => {
                    assert!(!body.is_empty());
                    seen.body.extend_from_slice(body);
                }
                Event::End => seen.ended = true,
            }
            unread.drain(..used);
            if !more {
                break;
            }
        }
    }
    if close && !seen.ended {
        seen.error = decoder.eof(&unread).err();
        seen.ended = seen.error.is_none();
    } else {
        seen.rest = unread.len();
    }
    seen
}

/// Decodes a response whole and with every split of its bytes, asserts that the events are the same, and returns them.
fn read(response: &[u8], head_request: bool, limits: Limits, close: bool) -> Seen {
    let whole = feed([response], head_request, limits, close);
    for at in 0..=response.len() {
        let (a, b) = response.split_at(at);
        assert_eq!(
            feed([a, b], head_request, limits, close),
            whole,
            "split at {at} of {}",
            response.escape_ascii()
        );
    }
    let single = feed(response.chunks(1), head_request, limits, close);
    assert_eq!(single, whole, "byte by byte: {}", response.escape_ascii());
    whole
}

fn ok(response: &str, body: &str) -> Seen {
    let seen = read(response.as_bytes(), false, Limits::default(), false);
    assert_eq!(seen.error, None, "{response:?}");
    assert!(seen.ended, "{response:?} did not end");
    assert_eq!(seen.body, body.as_bytes(), "{response:?}");
    seen
}

fn closed(response: &str) -> Seen {
    read(response.as_bytes(), false, Limits::default(), true)
}

fn error(response: &str) -> Error {
    let seen = closed(response);
    seen.error.unwrap_or_else(|| panic!("{response:?} passed"))
}

#[test]
fn a_decoder_is_small() {
    assert!(size_of::<Decoder>() <= 48, "{}", size_of::<Decoder>());
}

#[test]
fn bodies_of_known_length() {
    let seen = ok("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello");
    assert_eq!((seen.status, seen.reason.as_slice(), seen.minor), (Some(200), b"OK".as_slice(), 1));
    assert!(seen.keep_alive);
    assert_eq!(seen.head, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    ok("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "");
    assert_eq!(ok("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1", "ok").rest, 8);
    ok("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "ok");
    ok("HTTP/1.1 200 OK\r\ncontent-length:\t+2 \r\n\r\nok", "ok");
    ok("HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", "ok");
    ok("HTTP/1.1 200 OK\r\nContent-Length:\r\n  2\r\n\r\nok", "ok");
}

#[test]
fn repeated_lengths_count_from_the_end_but_cost_the_connection() {
    let seen = ok("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "ok");
    assert!(!seen.keep_alive);
    ok(
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 2\r\nContent-Length: x\r\n\r\nok",
        "ok",
    );
}

#[test]
fn unreadable_lengths_read_until_close() {
    for length in ["x", "-1", "2, 2", "99999999999999999999", ""] {
        let seen = closed(&format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nok"));
        assert_eq!(
            (seen.error, seen.body.as_slice(), seen.keep_alive),
            (None, b"ok".as_slice(), false),
            "{length}"
        );
    }
}

#[test]
fn status_lines_in_the_wild() {
    assert_eq!(ok("HTTP/1.1 204\r\n\r\n", "").reason, b"");
    assert_eq!(ok("HTTP/1.1 204 \r\n\r\n", "").reason, b"");
    assert_eq!(ok("  HTTP/1.1   204    No   Content  \r\n\r\n", "").reason, b"No   Content");
    assert_eq!(ok("HTTP/1.0 304 Not Modified\r\n\r\n", "").minor, 0);
    assert_eq!(ok("HTTP/2.0 204 x\r\n\r\n", "").minor, 1);
    assert_eq!(ok("HTTP/1.1 599 \u{e9}\r\nContent-Length: 0\r\n\r\n", "").status, Some(599));
    assert_eq!(ok("HTTP/1.1 0204 x\r\n\r\n", "").status, Some(204));
    let seen = ok("\r\n\r\nrubbish\nHTTP/1.1 204 x\r\nA: b\r\n\r\n", "");
    assert_eq!(seen.head, b"HTTP/1.1 204 x\r\nA: b\r\n\r\n");
}

#[test]
fn status_lines_that_are_none() {
    for line in [
        "HTTP/1.1 abc",
        "HTTP/1.1 20x OK",
        "HTTP/x.1 200 OK",
        "HTTP/11 200 OK",
        "HTTP/1.1 99 x",
        "HTTP/1.1 99999 x",
    ] {
        assert_eq!(error(&format!("{line}\r\n\r\n")), Error::BadStatusLine, "{line}");
    }
    assert_eq!(error("hello\r\n"), Error::BadStatusLine);
    assert_eq!(error("hello"), Error::BadStatusLine);
    assert_eq!(error("http/1.1 200 OK\r\n\r\n"), Error::BadStatusLine);
}

#[test]
fn headers_in_the_wild() {
    ok("HTTP/1.1 204 x\r\nX: a\r\n b\r\n\tc\r\n \r\n\r\n", "");
    ok("HTTP/1.1 204 x\r\n lead: a\r\n\r\n", "");
    ok("HTTP/1.1 204 x\r\nX:\r\nY:a:b\r\n\r\n", "");
    ok("HTTP/1.1 204 x\r\nX: \u{1}\u{7f}\u{e9}\0\r\n\r\n", "");
    assert_eq!(error("HTTP/1.1 200 OK\r\nnocolon\r\nContent-Length: 0\r\n\r\n"), Error::BadHeader);
    assert_eq!(error("HTTP/1.1 200 OK\r\n: x\r\n\r\n"), Error::BadHeader);
    assert_eq!(error("HTTP/1.1 200 OK\r\n\r\r\n\r\n"), Error::BadHeader);
}

#[test]
fn headers_can_be_looked_up() {
    let input = b"HTTP/1.1 200 OK\r\nDate: now\r\nSet-Cookie: a=b\r\nX-Fold: a\r\n  b\r\nset-cookie: c=d\r\n\
        Location: /1\r\nLocation: /2\r\nContent-Type: a/b\r\nContent-Encoding: gzip\r\nKeep-Alive: max=3, timeout=17\r\n\
        Content-Length: 0\r\n\r\n";
    let (used, event) = Decoder::new(false, Limits::default()).next(input).unwrap();
    assert_eq!(used, input.len());
    let Event::Head(head) = event else { panic!("{event:?}") };
    assert_eq!(head.header("DATE"), Some(b"now".as_slice()));
    assert_eq!(head.header("X-Fold"), Some(b"a\r\n  b".as_slice()));
    assert_eq!(head.header("Absent"), None);
    let cookies: Vec<_> = head
        .headers()
        .filter(|(n, _)| n.eq_ignore_ascii_case(b"set-cookie"))
        .map(|(_, v)| v)
        .collect();
    assert_eq!(cookies, [b"a=b", b"c=d"]);
    assert_eq!(head.headers().count(), 10);
    assert_eq!(head.location, Some(b"/2".as_slice()));
    assert_eq!(head.content_type, Some(b"a/b".as_slice()));
    assert_eq!(head.content_encoding, Some(b"gzip".as_slice()));
    assert_eq!(head.keep_alive_timeout_s, Some(17));
    assert!(head.set_cookie && head.has_body);
    assert_eq!(head.content_length, Some(0));
}

#[test]
fn responses_without_a_body() {
    for status in [204, 205, 304, 101] {
        let seen = ok(&format!("HTTP/1.1 {status} x\r\nContent-Length: 5\r\n\r\nrest"), "");
        assert_eq!((seen.status, seen.rest), (Some(status), 4));
    }
    let seen = read(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        true,
        Limits::default(),
        false,
    );
    assert!(seen.ended && seen.keep_alive && seen.error.is_none());
}

#[test]
fn interim_responses_are_skipped() {
    let seen = ok(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "ok",
    );
    assert_eq!(seen.head, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(error("HTTP/1.1 100 Continue\r\n\r\n"), Error::NoResponse);
}

#[test]
fn chunked_bodies() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = |chunks: &str, body| ok(&format!("{head}{chunks}"), body);
    assert!(body("5\r\nhello\r\n0\r\n\r\n", "hello").keep_alive);
    body("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world");
    body("0\r\n\r\n", "");
    body("A;ext=\"x\"\r\n0123456789\r\n0;x\r\n\r\n", "0123456789");
    body("a ; x\r\n0123456789\r\n00000000000000000000\r\n\r\n", "0123456789");
    body("5\nhello\n0\n\n", "hello");
    body(" +5 \r\nhello\r\n-0\r\n\r\n", "hello");
    body("1\r\n\n\r\n0\r\n\r\n", "\n");
    assert_eq!(body("1\r\nx\r\n0\r\nTrailer: y\r\n folded\r\nAnother: z\r\n\r\nHTTP", "x").rest, 4);
    ok(
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "x",
    );
    ok("HTTP/1.0 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "x");
}

#[test]
fn chunked_bodies_that_are_none() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let error = |chunks: &str| error(&format!("{head}{chunks}"));
    for size in
        ["", "g", "-1", "5 5", "0x5", "8000000000000000", "10000000000000000", "+", "\u{e9}"]
    {
        assert_eq!(error(&format!("{size}\r\nhello\r\n")), Error::BadChunkSize, "{size}");
    }
    let expected = i64::MAX as u64;
    assert_eq!(error("7fffffffffffffff\r\nhello"), Error::TruncatedChunk { expected, got: 5 });
    assert_eq!(error("5\r\nhelloX\r\n"), Error::BadChunkEnd);
    assert_eq!(error("5\r\nhello\rX"), Error::BadChunkEnd);
    assert_eq!(error("5\r\nhello"), Error::BadChunkEnd);
    assert_eq!(error("5\r\nhello\r\n"), Error::NoLastChunk);
    assert_eq!(error("5\r\nhel"), Error::TruncatedChunk { expected: 5, got: 3 });
    assert_eq!(error("5"), Error::TruncatedChunk { expected: 5, got: 0 });
    assert_eq!(error(""), Error::NoLastChunk);
    assert_eq!(error("0\r\nnocolon\r\n\r\n"), Error::BadTrailer);
}

#[test]
fn a_last_chunk_cut_short_by_the_close_is_complete() {
    for chunks in ["0", "0\r\n", "0\r\nA: b", "0\r\nA: b\r\n", "0\r\n\r"] {
        let seen = closed(&format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n{chunks}"
        ));
        assert_eq!(
            (seen.error, seen.ended, seen.body.as_slice()),
            (None, true, b"x".as_slice()),
            "{chunks:?}"
        );
    }
}

#[test]
fn other_transfer_encodings_read_until_close() {
    for coding in ["identity", "gzip", "chunked, gzip"] {
        let seen = closed(&format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\nContent-Length: 1\r\n\r\nok"
        ));
        assert_eq!(
            (seen.error, seen.body.as_slice(), seen.keep_alive),
            (None, b"ok".as_slice(), false),
            "{coding}"
        );
    }
}

#[test]
fn the_close_ends_a_body_or_cuts_it() {
    let seen = closed("HTTP/1.1 200 OK\r\n\r\nhello");
    assert_eq!((seen.error, seen.ended, seen.body.as_slice()), (None, true, b"hello".as_slice()));
    assert!(!seen.keep_alive);
    assert_eq!(error(""), Error::NoResponse);
    assert_eq!(error("HTTP/1.1 2"), Error::TruncatedHead);
    assert_eq!(error("HTTP/1.1 200 OK\r\nA: b\r\n"), Error::TruncatedHead);
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
    assert_eq!(error(cut), Error::TruncatedBody { expected: 5, got: 2 });
    assert_eq!(error(&cut[..cut.len() - 2]), Error::TruncatedBody { expected: 5, got: 0 });
}

#[test]
fn connections_that_can_be_used_again() {
    let keep = |version: &str, headers: &str| {
        ok(&format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\n{headers}\r\n"), "").keep_alive
    };
    assert!(keep("1.1", ""));
    assert!(!keep("1.0", ""));
    assert!(keep("1.0", "Connection: Keep-Alive\r\n"));
    assert!(!keep("1.1", "Connection: close\r\n"));
    assert!(!keep("1.1", "connection: foo, CLOSE\r\n"));
    assert!(!keep("1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
    assert!(!keep("1.1", "Connection: keep-alive close\r\n"));
    assert!(keep("1.1", "Connection: , foo,\r\n"));
    assert!(!keep("1.1", "Proxy-Connection: close\r\n"));
    assert!(keep("1.1", "Proxy-Connection: close\r\nConnection: keep-alive\r\n"));
    assert!(keep("1.0", "Proxy-Connection: keep-alive\r\n"));
    assert!(!ok("HTTP/1.1 204 x\r\nContent-Length: 1\r\n\r\n", "").keep_alive);
    assert!(ok("HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n", "").keep_alive);
    assert!(ok("HTTP/1.1 304 x\r\n\r\n", "").keep_alive);
}

#[test]
fn limits_hold_wherever_the_input_is_split() {
    let limits = Limits { head: 64, headers: 3 };
    let read = |response: &str| read(response.as_bytes(), false, limits, true).error;
    assert_eq!(read("HTTP/1.1 204 x\r\na: 1\r\nb: 2\r\nc: 3\r\n\r\n"), None);
    assert_eq!(
        read("HTTP/1.1 204 x\r\na: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\n\r\n"),
        Some(Error::TooManyHeaders { limit: 3 })
    );
    let large = Some(Error::HeadTooLarge { limit: 64 });
    assert_eq!(read(&format!("HTTP/1.1 204 x\r\na: {}\r\n\r\n", "x".repeat(64))), large);
    assert_eq!(read(&"x".repeat(65)), large);
    assert_eq!(read(&"xx\n".repeat(22)), large);
    assert_eq!(
        read(&format!("{}HTTP/1.1 204 x\r\na: {}\r\n\r\n", "x\n".repeat(16), "x".repeat(20))),
        large
    );
    let chunked = "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(read(&format!("{chunked}1;{}\r\nx", "x".repeat(64))), large);
    assert_eq!(
        read(&format!("{chunked}0\r\n{}", "a: 1\r\n".repeat(4))),
        Some(Error::TooManyHeaders { limit: 3 })
    );
    assert_eq!(read(&format!("{chunked}0\r\na: 1\r\n{}", " xxxxxxx\r\n".repeat(10))), large);
}

#[test]
fn endless_headers_in_small_pieces_cost_linear_time() {
    // A response head of 1 MiB in pieces of 16 bytes. Searching it from the start each time would scan 32 GiB.
    let mut decoder = Decoder::new(false, Limits::default());
    let mut unread = b"HTTP/1.1 200 OK\r\n".to_vec();
    loop {
        unread.extend_from_slice(b"x-header: value\n");
        match decoder.next(&unread) {
            Ok((0, Event::NeedMore)) => {}
            Ok(found) => panic!("{found:?}"),
            Err(error) => {
                assert_eq!(error, Error::HeadTooLarge { limit: 1 << 20 });
                break;
            }
        }
    }
    assert!(unread.len() > 1 << 20);
}

proptest! {
    #[test]
    fn any_bytes_read_the_same_however_they_are_split(
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
        cuts in proptest::collection::vec(0usize..400, 0..6),
        start in prop_oneof![
            Just(""), Just("HTTP/1.1 200 OK\r\n"), Just("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
            Just("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Just("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
        ],
        close: bool,
    ) {
        same_however_split(start.as_bytes(), &bytes, cuts, close);
    }

    #[test]
    fn any_likely_text_reads_the_same_however_it_is_split(
        text in "([ \r\n\t]|HTTP/1\\.1 |[0-9a-f]{1,3}|\r\n|\n|: |Content-Length|Transfer-Encoding|chunked|x|;|,|close){0,40}",
        cuts in proptest::collection::vec(0usize..400, 0..6),
        start in prop_oneof![
            Just(""), Just("HTTP/1.1 200 OK\r\n"), Just("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ],
        close: bool,
    ) {
        same_however_split(start.as_bytes(), text.as_bytes(), cuts, close);
    }

    #[test]
    fn chunked_round_trip(body in proptest::collection::vec(any::<u8>(), 0..200), sizes in proptest::collection::vec(1usize..50, 1..9)) {
        let mut response = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        let mut rest = body.as_slice();
        for size in sizes.into_iter().cycle() {
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            response.extend_from_slice(format!("{:X};e=1\r\n", chunk.len()).as_bytes());
            response.extend_from_slice(chunk);
            response.extend_from_slice(b"\r\n");
            rest = after;
            if chunk.is_empty() {
                break;
            }
        }
        let seen = feed(response.chunks(7), false, Limits::default(), false);
        prop_assert_eq!((seen.ended, seen.error, seen.rest), (true, None, 0));
        prop_assert_eq!(seen.body, body);
    }
}

fn same_however_split(start: &[u8], rest: &[u8], mut cuts: Vec<usize>, close: bool) {
    let input = [start, rest].concat();
    let limits = Limits { head: 128, headers: 4 };
    let whole = feed([input.as_slice()], false, limits, close);
    for cut in &mut cuts {
        *cut %= input.len() + 1;
    }
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for cut in cuts {
        pieces.push(&input[from..cut]);
        from = cut;
    }
    pieces.push(&input[from..]);
    assert_eq!(feed(pieces, false, limits, close), whole);
}
