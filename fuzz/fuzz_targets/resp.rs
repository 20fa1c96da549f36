//! Fuzzes replies of Redis. The result is the same for the whole input, pieces and single bytes. No panic, no reply
//! that is not in the input, and none before the greeting is answered.
//!
//! Input: a byte of flags, two split positions, the replies.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::redis::{Limits, Login, Redis};
use wire::session::{Broken, Capacity, Session, SessionEvent, Status, Ticket};

const LIMITS: Limits = Limits { line: 64, content: 512 };
const ASKED: u32 = 4;

#[derive(Debug, Default, PartialEq)]
struct Seen {
    ready: bool,
    answers: Vec<(u16, Vec<u8>, Vec<u8>, bool)>,
    broken: Option<Broken>,
}

fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, login: Login<'_>, close: bool) -> Seen {
    let mut redis = Redis::new(login, ASKED, LIMITS);
    let mut out = Vec::new();
    redis.greet(&mut out);
    let greets = redis.room() == Capacity::Greeting;
    for index in 0..ASKED {
        redis.begin(Ticket::first(index), &[b"PING"], &mut out);
    }
    let mut seen = Seen::default();
    let mut unread = Vec::new();
    for piece in pieces {
        unread.extend_from_slice(piece);
        let fed = redis.feed(&unread, &mut (), &mut out, &mut |told| match told {
            SessionEvent::Ready => {
                assert!(greets && !seen.ready && seen.answers.is_empty());
                seen.ready = true;
            }
            SessionEvent::Head { to, head: Status { status, bytes } } => {
                assert!(to.index as usize == seen.answers.len() && (seen.ready || !greets));
                assert!(bytes.len() <= LIMITS.line as usize);
                seen.answers.push((status, bytes.to_vec(), Vec::new(), false));
            }
            SessionEvent::Data { to, bytes } => {
                assert!(to.index as usize + 1 == seen.answers.len());
                let (.., content, done) = seen.answers.last_mut().expect("a head");
                content.extend_from_slice(bytes);
                assert!(!*done && !bytes.is_empty() && content.len() <= LIMITS.content as usize);
            }
            SessionEvent::Done { to, kept } => {
                assert!(kept && to.index as usize + 1 == seen.answers.len());
                seen.answers.last_mut().expect("a head").3 = true;
            }
            other => panic!("{other:?}"),
        });
        match fed {
            Ok(used) => drop(unread.drain(..used)),
            Err(broken) => return Seen { broken: Some(broken), ..seen },
        }
        assert!(unread.len() <= LIMITS.line as usize + 1);
    }
    if close {
        seen.broken = redis.end(&unread, &mut |_| {}).err();
    }
    seen
}

fuzz_target!(|data: &[u8]| {
    let [flags, a, b, answers @ ..] = data else { return };
    let login = Login {
        password: if flags & 1 == 0 { "" } else { "p" },
        database: u32::from(flags & 2),
        ..Login::default()
    };
    let close = flags & 4 != 0;
    let whole = feed([answers], login, close);
    let mut cuts = [usize::from(*a), usize::from(*b)].map(|cut| cut % (answers.len() + 1));
    cuts.sort_unstable();
    let pieces = [&answers[..cuts[0]], &answers[cuts[0]..cuts[1]], &answers[cuts[1]..]];
    assert_eq!(feed(pieces, login, close), whole);
    if answers.len() <= 1024 {
        assert_eq!(feed(answers.chunks(1), login, close), whole);
    }
});
