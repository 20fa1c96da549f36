//! Parses each stream whole, split at every position, and byte by byte. The events must be the same.

use super::*;
use proptest::prelude::*;

const LIMITS: Limits = Limits { line: 60, event: 80 };

/// Parsed events, the last event id, the reconnect delay, and the error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stream {
    events: Vec<(String, String)>,
    /// The last event id when each event was reported.
    ids: Vec<String>,
    last_id: String,
    retry_ms: Option<u64>,
    broken: Option<String>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Stream {
    let mut events = Events::new(LIMITS);
    let mut seen = Stream::default();
    for piece in pieces {
        let fed = events.feed(piece, &mut |name, id, data| {
            seen.events.push((text(name), text(data)));
            seen.ids.push(text(id));
        });
        if let Err(Broken(why)) = fed {
            seen.broken = Some(why);
            break;
        }
    }
    (seen.last_id, seen.retry_ms) = (text(events.last_id()), events.retry_ms());
    seen
}

/// Parses a stream whole and with every split of its bytes, asserts that the results are the same, and returns them.
fn stream(input: &[u8]) -> Stream {
    let whole = parse([input]);
    for at in 0..=input.len() {
        let (a, b) = input.split_at(at);
        assert_eq!(parse([a, b]), whole, "split at {at} of {}", input.escape_ascii());
    }
    assert_eq!(parse(input.chunks(1)), whole, "byte by byte: {}", input.escape_ascii());
    whole
}

fn events(input: &str) -> Vec<(String, String)> {
    let seen = stream(input.as_bytes());
    assert_eq!(seen.broken, None, "{input:?}");
    seen.events
}

fn of<const N: usize>(all: [(&str, &str); N]) -> Vec<(String, String)> {
    all.map(|(name, data)| (name.to_owned(), data.to_owned())).to_vec()
}

#[test]
fn the_examples_of_the_standard() {
    let stocks = "data: YHOO\ndata: +2\ndata: 10\n\n";
    assert_eq!(events(stocks), of([("", "YHOO\n+2\n10")]));
    let four = stream(
        b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
    );
    assert_eq!(four.events, of([("", "first event"), ("", "second event")]));
    assert_eq!(four.last_id, "");
    assert_eq!(events("data\n\ndata\ndata\n\ndata:"), of([("", ""), ("", "\n")]));
    assert_eq!(events("data:test\n\ndata: test\n\n"), of([("", "test"), ("", "test")]));
}

#[test]
fn lines_end_in_any_way() {
    for end in ["\n", "\r", "\r\n"] {
        let input = "event: a;data: 1;data: 2;;data: 3;;".replace(';', end);
        assert_eq!(events(&input), of([("a", "1\n2"), ("", "3")]), "{end:?}");
    }
    assert_eq!(events("data: 1\r\n\r\ndata: 2\r\n\n"), of([("", "1"), ("", "2")]));
    assert_eq!(events("data: 1\n\rdata: 2\n\r\n"), of([("", "1"), ("", "2")]));
    assert_eq!(events("data: 1\r\r\ndata: 2\n\n"), of([("", "1"), ("", "2")]));
}

#[test]
fn an_event_is_told_at_the_first_byte_that_ends_it() {
    let mut events = Events::new(LIMITS);
    let mut told = 0;
    events.feed(b"data: 1\r\n\r", &mut |_, _, _| told += 1).expect("within bounds");
    assert_eq!(told, 1);
}

#[test]
fn a_byte_order_mark_is_skipped_once() {
    assert_eq!(events("\u{feff}data: 1\n\n"), of([("", "1")]));
    assert_eq!(events("\u{feff}\u{feff}data: 1\n\n"), of([]));
    assert_eq!(events("\n\u{feff}data: 1\n\n"), of([]));
}

#[test]
fn fields() {
    assert_eq!(events("data:  a \n\n"), of([("", " a ")]));
    assert_eq!(events("data: a:b\n\n"), of([("", "a:b")]));
    assert_eq!(events("Data: a\nother: b\n data: c\ndata : d\n\n"), of([]));
    assert_eq!(events("event: a\nevent: b\ndata: 1\n\n"), of([("b", "1")]));
    assert_eq!(events("event: a\n\ndata: 1\n\n"), of([("", "1")]));
    assert_eq!(events("event: a\nevent\ndata: 1\n\n"), of([("", "1")]));
    assert_eq!(events(":\n: a comment\n:data: 1\n\n"), of([]));
    assert_eq!(events("data: unfinished\n"), of([]));
}

#[test]
fn ids_stand_until_others_come() {
    let seen = stream(b"id: 1\ndata: a\n\ndata: b\n\n");
    assert_eq!((seen.events.len(), seen.last_id.as_str()), (2, "1"));
    assert_eq!(seen.ids, ["1", "1"]);
    assert_eq!(stream(b"data: a\n\nid: 2\ndata: b\n\nid\ndata: c\n\n").ids, ["", "2", ""]);
    assert_eq!(stream(b"id: 1\n\n").last_id, "1");
    assert_eq!(stream(b"id: 1\n\nid: 2\n").last_id, "1");
    assert_eq!(stream(b"id: 1\n\nid: 2\0\n\n").last_id, "1");
    assert_eq!(stream(b"id: 1\n\nid\n\n").last_id, "");
}

#[test]
fn the_time_before_a_new_request_is_digits_only() {
    assert_eq!(stream(b"retry: 3000\n").retry_ms, Some(3000));
    assert_eq!(stream(b"retry: 0\nretry: 1x\nretry: -1\nretry: \nretry:  1\n").retry_ms, Some(0));
    assert_eq!(stream(b"retry: 99999999999999999999999\n").retry_ms, None);
}

#[test]
fn bounds() {
    let line = |length: usize| format!("data:{}\n\n", "a".repeat(length - 5));
    assert_eq!(events(&line(60)).len(), 1);
    let seen = stream(line(61).as_bytes());
    assert!(seen.broken.expect("too long").contains("more than 60 bytes"));
    let data = |lines: usize| "data:0123456789abcdefghi\n".repeat(lines) + "\n";
    assert_eq!(events(&data(4)).len(), 1);
    let seen = stream(data(5).as_bytes());
    assert!(seen.broken.expect("too large").contains("more than 80 bytes"));
    // Server-sent events reported before an error remain valid.
    assert_eq!(stream((data(1) + &line(61)).as_bytes()).events.len(), 1);
    assert!(stream(b"event: a\n").events.is_empty());
}

#[test]
fn another_stream_forgets_what_is_unfinished() {
    let mut events = Events::new(LIMITS);
    let mut told = Vec::new();
    let mut emit = |name: &[u8], _: &[u8], data: &[u8]| told.push((text(name), text(data)));
    events.feed(b"id: 7\nretry: 5\n\nevent: a\nid: 8\ndata: b\nda\r", &mut emit).expect("bounds");
    events.restart();
    assert_eq!((events.last_id(), events.retry_ms()), (b"7".as_slice(), Some(5)));
    events.feed(b"\ndata: c\n\n", &mut emit).expect("within bounds");
    assert_eq!(events.last_id(), b"7");
    assert_eq!(told, of([("", "c")]));
}

const TO: Ticket = Ticket::first(3);

/// All events that the session reports for an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    status: Option<u16>,
    head: Vec<u8>,
    events: Vec<(String, String)>,
    data: Vec<u8>,
    done: Option<bool>,
    broken: Option<String>,
}

fn exchange<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, close: bool) -> Seen {
    let mut sse = Sse::new(LIMITS);
    let mut out = Vec::new();
    assert_eq!(sse.room(), Capacity::Free(1));
    assert_eq!(sse.begin(TO, b"GET / HTTP/1.1\r\n\r\n", &mut out), BeginResult::Sent);
    assert_eq!(
        (sse.room(), out.as_slice()),
        (Capacity::Full, b"GET / HTTP/1.1\r\n\r\n".as_slice())
    );
    let mut seen = Seen::default();
    let mut unread = Vec::new();
    let mut broken = None;
    let mut emit = |told: SessionEvent<'_>| match told {
        SessionEvent::Head { to, head: Status { status, bytes } } => {
            assert!(to == TO && seen.status.is_none());
            (seen.status, seen.head) = (Some(status), bytes.to_vec());
        }
        SessionEvent::Data { to, bytes } => {
            assert!(to == TO && !bytes.is_empty());
            seen.data.extend_from_slice(bytes);
        }
        SessionEvent::Push { kind, bytes, .. } => seen.events.push((text(kind), text(bytes))),
        SessionEvent::Done { to, kept } => {
            assert!(to == TO && seen.done.is_none());
            seen.done = Some(kept);
        }
        other => panic!("{other:?}"),
    };
    for piece in pieces {
        unread.extend_from_slice(piece);
        match sse.feed(&unread, &mut (), &mut out, &mut emit) {
            Ok(used) => drop(unread.drain(..used)),
            Err(Broken(why)) => {
                broken = Some(why);
                break;
            }
        }
    }
    if close && broken.is_none() {
        broken = sse.end(&unread, &mut emit).err().map(|Broken(why)| why);
    }
    Seen { broken, ..seen }
}

/// Runs an exchange with every split of its response, asserts that the events are the same, and returns them.
fn answered(input: &[u8], close: bool) -> Seen {
    let whole = exchange([input], close);
    for at in 0..=input.len() {
        let (a, b) = input.split_at(at);
        assert_eq!(exchange([a, b], close), whole, "split at {at} of {}", input.escape_ascii());
    }
    assert_eq!(exchange(input.chunks(1), close), whole, "{}", input.escape_ascii());
    whole
}

fn response(headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{headers}\r\n{body}").into_bytes()
}

#[test]
fn events_come_however_the_body_is_framed() {
    let kind = "Content-Type: text/event-stream;charset=utf-8\r\n";
    let expected = of([("a", "1"), ("", "2")]);
    let length =
        response(&format!("{kind}Content-Length: 28\r\n"), "event: a\ndata: 1\n\ndata: 2\n\n\n");
    let seen = answered(&length, false);
    assert_eq!((seen.status, seen.done, &seen.events), (Some(200), Some(true), &expected));
    assert!(seen.head.ends_with(b"\r\n\r\n") && seen.data.is_empty());
    let chunked = response(
        &format!("{kind}Transfer-Encoding: chunked\r\n"),
        "5\r\nevent\r\n13\r\n: a\ndata: 1\n\ndata: \r\n3\r\n2\n\n\r\n0\r\n\r\n",
    );
    let seen = answered(&chunked, false);
    assert_eq!((seen.done, &seen.events), (Some(true), &expected));
    let open = response(kind, "event: a\ndata: 1\n\ndata: 2\n\ndata: 3\n");
    let seen = answered(&open, false);
    assert_eq!((seen.done, &seen.events), (None, &expected));
    let seen = answered(&open, true);
    assert_eq!((seen.done, seen.broken, &seen.events), (Some(false), None, &expected));
}

#[test]
fn other_bodies_are_data() {
    let page =
        b"HTTP/1.1 503 Busy\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\ndata: 1\n\n";
    let seen = answered(page, false);
    assert_eq!((seen.status, seen.data.as_slice()), (Some(503), b"data: 1\n\n".as_slice()));
    assert!(seen.events.is_empty() && seen.done == Some(true));
    for (headers, streams) in [
        ("Content-Type: TEXT/Event-Stream ; a=b\r\n", true),
        ("Content-Type: text/event-stream\r\nContent-Encoding: identity\r\n", true),
        ("Content-Type: text/event-stream\r\nContent-Encoding: gzip\r\n", false),
        ("Content-Type: text/event-streams\r\n", false),
        ("", false),
    ] {
        let seen = answered(&response(headers, "data: 1\n\n"), true);
        assert_eq!((seen.events.len() == 1, seen.data.is_empty()), (streams, streams), "{headers}");
    }
    assert_eq!(answered(b"HTTP/1.1 204 No Content\r\n\r\n", false).done, Some(true));
}

#[test]
fn what_breaks() {
    for (input, why) in [
        (response("Content-Length: 0\r\n", "more"), "belong to no response"),
        (response("Transfer-Encoding: chunked\r\n", "x\r\n"), "invalid chunk size"),
        (b"HTTP/1.1 abc\r\n\r\n".to_vec(), "invalid HTTP status line"),
        (response("Content-Type: text/event-stream\r\n", &"a".repeat(61)), "more than 60 bytes"),
    ] {
        assert!(answered(&input, false).broken.expect(why).contains(why));
    }
    let cut = response("Content-Type: text/event-stream\r\nContent-Length: 99\r\n", "data: 1\n\n");
    let seen = answered(&cut, true);
    assert!(seen.broken.expect("cut").contains("closed within the body"));
    assert_eq!((seen.events.len(), seen.done), (1, None));
    assert!(answered(b"", true).broken.expect("nothing").contains("without a response"));
}

#[test]
fn a_connection_carries_one_answer_after_another() {
    let mut sse = Sse::new(LIMITS);
    let mut out = Vec::new();
    let input = response(
        "Content-Type: text/event-stream\r\nContent-Length: 20\r\n",
        "id: 4\nretry: 2\ndata\n",
    );
    let mut pushes = 0;
    for _ in 0..2 {
        sse.begin(TO, b"", &mut out);
        let mut emit = |told: SessionEvent<'_>| {
            pushes += usize::from(matches!(told, SessionEvent::Push { .. }));
        };
        assert_eq!(sse.feed(&input, &mut (), &mut out, &mut emit), Ok(input.len()));
    }
    assert_eq!((pushes, sse.last_event_id(), sse.retry_ms()), (0, b"".as_slice(), Some(2)));
    assert_eq!(sse.end(b"", &mut |_| panic!("nothing is in flight")), Ok(()));
}

proptest! {
    #[test]
    fn anything_reads_the_same_however_it_comes(
        input in "(data|id|event|retry|:| |1|a|\u{feff}|\r|\n|\r\n|\n\n){0,30}",
    ) {
        stream(input.as_bytes());
    }

    #[test]
    fn what_is_written_is_read(
        all in prop::collection::vec(("[a-z]{0,8}", prop::collection::vec("[ -~]{0,10}", 1..5)), 0..5),
        end in prop_oneof![Just("\n"), Just("\r"), Just("\r\n")],
    ) {
        let mut input = String::new();
        for (name, lines) in &all {
            input += &format!("event: {name}{end}");
            for line in lines {
                input += &format!("data: {line}{end}");
            }
            input += end;
        }
        let expected: Vec<_> = all.into_iter().map(|(name, lines)| (name, lines.join("\n"))).collect();
        prop_assert_eq!(events(&input), expected);
    }
}
