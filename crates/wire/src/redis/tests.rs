//! Parses each conversation whole, split at every position, and byte by byte. The events must be the same.

use super::*;
use proptest::prelude::*;

fn ticket(index: u32) -> Ticket {
    Ticket::first(index)
}

/// All events of a conversation, with the pieces of a reply's content joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    ready: bool,
    answers: Vec<Answer>,
    broken: Option<String>,
    /// Number of bytes of an incomplete line in the conversation.
    rest: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    to: u32,
    kind: char,
    line: String,
    content: Vec<u8>,
    done: bool,
}

const LIMITS: Limits = Limits { line: 40, content: 400 };

fn feed<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    login: Login<'_>,
    asked: u32,
    close: bool,
) -> Seen {
    let mut redis = Redis::new(login, asked.max(1), LIMITS);
    let mut out = Vec::new();
    redis.greet(&mut out);
    for index in 0..asked {
        assert_eq!(redis.begin(ticket(index), &[b"PING"], &mut out), BeginResult::Sent);
    }
    let mut seen = Seen::default();
    let mut unread = Vec::new();
    for piece in pieces {
        unread.extend_from_slice(piece);
        let mut emit = |told: SessionEvent<'_>| match told {
            SessionEvent::Ready => seen.ready = true,
            SessionEvent::Head { to, head: Status { status, bytes } } => {
                seen.answers.push(Answer {
                    to: to.index,
                    kind: char::from(status as u8),
                    line: String::from_utf8_lossy(bytes).into_owned(),
                    content: Vec::new(),
                    done: false,
                });
            }
            SessionEvent::Data { to, bytes } => {
                let answer = seen.answers.last_mut().expect("a head");
                assert!(answer.to == to.index && !answer.done && !bytes.is_empty());
                answer.content.extend_from_slice(bytes);
            }
            SessionEvent::Done { to, kept } => {
                let answer = seen.answers.last_mut().expect("a head");
                assert!(answer.to == to.index && !answer.done && kept);
                answer.done = true;
            }
            other => panic!("{other:?}"),
        };
        match redis.feed(&unread, &mut (), &mut out, &mut emit) {
            Ok(used) => drop(unread.drain(..used)),
            Err(Broken(why)) => return Seen { broken: Some(why), ..seen },
        }
    }
    seen.rest = unread.len();
    if close {
        seen.broken = redis.end(&unread, &mut |_| {}).err().map(|Broken(why)| why);
    }
    seen
}

/// Parses a conversation whole and with every split of its bytes; asserts that all events are the same.
fn read_all(input: &[u8], login: Login<'_>, asked: u32, close: bool) -> Seen {
    let whole = feed([input], login, asked, close);
    for at in 0..=input.len() {
        let (a, b) = input.split_at(at);
        assert_eq!(
            feed([a, b], login, asked, close),
            whole,
            "split at {at} of {}",
            input.escape_ascii()
        );
    }
    let single = feed(input.chunks(1), login, asked, close);
    assert_eq!(single, whole, "byte by byte: {}", input.escape_ascii());
    whole
}

fn answers(input: &str, asked: u32) -> Vec<(char, String, String, bool)> {
    let seen = read_all(input.as_bytes(), Login::default(), asked, false);
    assert_eq!(seen.broken, None, "{input:?}");
    let of = |(at, answer): (usize, Answer)| {
        assert_eq!(answer.to, at as u32);
        let content = String::from_utf8(answer.content).expect("text");
        (answer.kind, answer.line, content, answer.done)
    };
    seen.answers.into_iter().enumerate().map(of).collect()
}

fn one(input: &str) -> (char, String, String) {
    let all = answers(input, 1);
    let [(kind, line, content, true)] = all.as_slice() else { panic!("{all:?}") };
    (*kind, line.clone(), content.clone())
}

fn breaks(input: &str, asked: u32) -> String {
    let seen = read_all(input.as_bytes(), Login::default(), asked, false);
    seen.broken.unwrap_or_else(|| panic!("{input:?} passed"))
}

fn of(kind: char, line: &str, content: &str) -> (char, String, String) {
    (kind, line.to_owned(), content.to_owned())
}

#[test]
fn commands_are_arrays_of_bulk_strings() {
    let mut out = Vec::new();
    push_command(&[b"LPOP", b"a key", b""], &mut out);
    assert_eq!(out, b"*3\r\n$4\r\nLPOP\r\n$5\r\na key\r\n$0\r\n\r\n");
    let mut redis = Redis::new(Login::default(), 1, LIMITS);
    assert!(matches!(redis.begin(ticket(0), &[], &mut out), BeginResult::Refused(_)));
    assert_eq!(redis.room(), Capacity::Free(1));
}

#[test]
fn every_type_of_answer() {
    assert_eq!(one("+OK\r\n"), of('+', "OK", ""));
    assert_eq!(one("+\r\n"), of('+', "", ""));
    assert_eq!(one("-ERR no such key\r\n"), of('-', "ERR no such key", ""));
    assert_eq!(one(":-12\r\n"), of(':', "-12", ""));
    assert_eq!(one("$5\r\na\r\nbc\r\n"), of('$', "5", "a\r\nbc"));
    assert_eq!(one("$0\r\n\r\n"), of('$', "0", ""));
    assert_eq!(one("$-1\r\n"), of('$', "-1", ""));
    assert_eq!(one("*0\r\n"), of('*', "0", ""));
    assert_eq!(one("*-1\r\n"), of('*', "-1", ""));
}

#[test]
fn arrays_are_told_as_they_stand() {
    for content in [
        "$1\r\na\r\n",
        "$-1\r\n",
        "*0\r\n",
        "*2\r\n:1\r\n$2\r\n\r\n\r\n",
        "*1\r\n*1\r\n*1\r\n+x\r\n",
        "-ERR in it\r\n",
    ] {
        assert_eq!(one(&format!("*1\r\n{content}")), of('*', "1", content));
        let twice = format!("{content}{content}");
        assert_eq!(one(&format!("*2\r\n{twice}")), of('*', "2", &twice));
    }
}

#[test]
fn answers_come_in_the_order_of_their_commands() {
    let all = answers("+a\r\n*1\r\n*1\r\n$1\r\nx\r\n$2\r\nbb\r\n:3\r\n$4\r\nab", 6);
    let kinds: Vec<_> = all.iter().map(|(kind, _, _, done)| (*kind, *done)).collect();
    assert_eq!(kinds, [('+', true), ('*', true), ('$', true), (':', true), ('$', false)]);
    assert_eq!(all[4].2, "ab");
}

#[test]
fn room_is_counted() {
    let mut redis = Redis::new(Login::default(), 2, LIMITS);
    let mut out = Vec::new();
    assert_eq!(redis.room(), Capacity::Free(2));
    redis.begin(ticket(0), &[b"PING"], &mut out);
    assert_eq!(redis.room(), Capacity::Free(1));
    redis.begin(ticket(1), &[b"PING"], &mut out);
    assert_eq!(redis.room(), Capacity::Full);
    redis.feed(b"+PONG\r\n", &mut (), &mut out, &mut |_| {}).expect("an answer");
    assert_eq!(redis.room(), Capacity::Free(1));
    assert_eq!(redis.cancel(ticket(1), &mut out), crate::session::Cancelled::MustClose);
}

fn greets(login: Login<'_>) -> String {
    let mut out = Vec::new();
    Redis::new(login, 1, LIMITS).greet(&mut out);
    String::from_utf8(out).expect("text")
}

#[test]
fn greetings() {
    let anyone = Login::default();
    assert_eq!(greets(anyone), "");
    let password = Login { password: "p", ..anyone };
    assert_eq!(greets(password), "*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n");
    let user = Login { user: "u", ..password };
    assert_eq!(greets(user), "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n");
    let select = "*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n";
    assert_eq!(greets(Login { database: 12, ..anyone }), select);
    assert_eq!(greets(Login { database: 12, ..user }), greets(user) + select);
    assert_eq!(greets(Login { user: "u", ..anyone }), "");
}

#[test]
fn nothing_begins_before_the_greeting_is_answered() {
    let login = Login { password: "p", database: 3, ..Login::default() };
    let mut redis = Redis::new(login, 5, LIMITS);
    let mut out = Vec::new();
    assert_eq!(redis.room(), Capacity::Greeting);
    redis.greet(&mut out);
    let mut ready = 0;
    let mut emit = |told: SessionEvent<'_>| {
        assert_eq!(told, SessionEvent::Ready);
        ready += 1;
    };
    redis.feed(b"+OK\r\n", &mut (), &mut out, &mut emit).expect("AUTH answered");
    assert_eq!(redis.room(), Capacity::Greeting);
    redis.feed(b"+OK\r\n", &mut (), &mut out, &mut emit).expect("SELECT answered");
    assert_eq!((redis.room(), ready), (Capacity::Free(5), 1));

    let seen = read_all(b"+OK\r\n+OK\r\n$1\r\na\r\n", login, 1, false);
    assert!(seen.ready && seen.broken.is_none() && seen.answers[0].done);
}

#[test]
fn a_refused_greeting_breaks_with_the_servers_words() {
    let login = Login { password: "p", database: 99, ..Login::default() };
    let words = "WRONGPASS invalid username-password pair or user is disabled.";
    let limits = format!("-{}\r\n", &words[..39]);
    let seen = read_all(limits.as_bytes(), login, 0, false);
    assert_eq!(seen.broken.as_deref(), Some(&words[..39]));
    let seen = read_all(b"+OK\r\n-ERR DB index is out of range\r\n", login, 0, false);
    assert_eq!(seen.broken.as_deref(), Some("ERR DB index is out of range"));
    assert!(read_all(b":1\r\n", login, 0, false).broken.is_some());
    assert!(read_all(b"+OK\r\n", login, 0, true).broken.is_some());
}

#[test]
fn answers_that_nobody_asked_for() {
    assert_eq!(
        breaks("-ERR max number of clients reached\r\n", 0),
        "ERR max number of clients reached"
    );
    assert!(breaks("+OK\r\n+OK\r\n", 1).contains("without a request"));
}

#[test]
fn peers_that_speak_something_else() {
    for (input, why) in [
        ("HTTP/1.1 400 Bad Request\r\n", "'H'"),
        ("\r\n", "empty line"),
        ("+OK\n", "CR LF"),
        ("\n", "CR LF"),
        (":1x\r\n", "'1x' is not an integer"),
        (":99999999999999999999\r\n", "not an integer"),
        ("$-2\r\n", "'-2' is not a length"),
        ("$\r\n", "not a length"),
        ("$1\r\nab\r\n", "longer than its announced length"),
        ("$1\r\na\r\r\n", "longer than its announced length"),
        ("*x\r\n", "not a length"),
        ("*1\r\n%1\r\n", "'%'"),
        ("_\r\n", "'_'"),
    ] {
        let broken = breaks(input, 1);
        assert!(broken.contains(why), "{input:?}: {broken}");
    }
}

#[test]
fn bounds() {
    one(&format!("+{}\r\n", "a".repeat(39)));
    assert!(breaks(&format!("+{}\r\n", "a".repeat(40)), 1).contains("more than 40 bytes"));
    assert!(breaks(&"+".repeat(60), 1).contains("more than 40 bytes"));
    one(&format!("$400\r\n{}\r\n", "a".repeat(400)));
    assert!(breaks("$401\r\n", 1).contains("more than 400 bytes"));
    assert!(breaks("$9223372036854775807\r\n", 1).contains("more than 400 bytes"));
    assert!(breaks("*9223372036854775807\r\n", 1).contains("more than 400 bytes"));
    let pieces = "$90\r\n".to_owned() + &"a".repeat(90) + "\r\n";
    one(&format!("*4\r\n{}", pieces.repeat(4)));
    assert!(breaks(&format!("*5\r\n{}", pieces.repeat(5)), 1).contains("more than 400 bytes"));
    let nested = |depth: usize| format!("{}:1\r\n", "*1\r\n".repeat(depth));
    one(&nested(DEPTH));
    assert!(breaks(&nested(DEPTH + 1), 1).contains("nested"));
}

#[test]
fn ends() {
    let broken = |input: &str| read_all(input.as_bytes(), Login::default(), 1, true).broken;
    assert_eq!(broken(""), None);
    assert_eq!(broken("+OK\r\n"), None);
    for cut in ["+O", "$3\r\n", "$3\r\nab", "$3\r\nabc\r", "*1\r\n", "*2\r\n:1\r\n"] {
        assert_eq!(broken(cut).as_deref(), Some("connection closed within a reply"), "{cut:?}");
    }
}

/// Generates a Redis value of any type in wire format.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let line = "[ -~]{0,20}";
    let leaf = prop_oneof![
        line.prop_map(|text| format!("+{text}\r\n").into_bytes()),
        line.prop_map(|text| format!("-{text}\r\n").into_bytes()),
        any::<i64>().prop_map(|number| format!(":{number}\r\n").into_bytes()),
        Just(b"$-1\r\n".to_vec()),
        Just(b"*-1\r\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(|bytes| {
            let mut all = format!("${}\r\n", bytes.len()).into_bytes();
            all.extend(bytes);
            all.extend(b"\r\n");
            all
        }),
    ];
    leaf.prop_recursive(4, 10, 3, |inner| {
        prop::collection::vec(inner, 0..3)
            .prop_map(|all| [format!("*{}\r\n", all.len()).into_bytes(), all.concat()].concat())
    })
}

proptest! {
    #[test]
    fn values_read_the_same_however_they_come(values in prop::collection::vec(value(), 1..4)) {
        let asked = values.len() as u32;
        let seen = read_all(&values.concat(), Login::default(), asked, true);
        prop_assert_eq!(seen.broken.as_deref(), None);
        prop_assert_eq!(seen.answers.len(), values.len());
        for (answer, value) in seen.answers.iter().zip(&values) {
            prop_assert!(answer.done);
            let first = format!("{}{}\r\n", answer.kind, answer.line).into_bytes();
            let mut again = [first.as_slice(), &answer.content].concat();
            if answer.kind == '$' && answer.line != "-1" {
                again.extend(b"\r\n");
            }
            prop_assert_eq!(&again, value);
        }
    }

    #[test]
    fn anything_reads_the_same_however_it_comes(input in "[-+:$*0-9a\r\n]{0,60}", asked in 0u32..4) {
        read_all(input.as_bytes(), Login::default(), asked, true);
    }
}
