//! Tests against name servers on the loopback interface, which answer as each test defines.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::Mutex;

use super::*;
use crate::ids::UserId;
use crate::net::routes::RouteId;

/// Names queried so far.
type Asked = Arc<Mutex<Vec<String>>>;

/// Builds answers to a query from its name and its bytes.
type Script = dyn Fn(&str, &[u8]) -> Vec<Vec<u8>> + Send + Sync;

const PATIENT: Duration = Duration::from_secs(20);
const HASTY: Duration = Duration::from_millis(20);

/// Returns the name that a query asks for.
fn name_of(question: &[u8]) -> String {
    let (mut at, mut name) = (12, String::new());
    while question[at] > 0 {
        let length = usize::from(question[at]);
        name += &String::from_utf8_lossy(&question[at + 1..=at + length]);
        name.push('.');
        at += length + 1;
    }
    name
}

/// Returns the answer to a query, with the given flags and records (type and data) of the queried name.
fn reply(question: &[u8], flags: u16, records: &[(u8, &[u8])]) -> Vec<u8> {
    let mut message = question.to_vec();
    message[2..4].copy_from_slice(&flags.to_be_bytes());
    message[7] = records.len() as u8;
    for (kind, data) in records {
        message.extend_from_slice(&[192, 12, 0, *kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        message.extend_from_slice(data);
    }
    message
}

/// Runs a server. Returns its port, and the names queried so far.
fn server(ip: &str, script: Box<Script>) -> (u16, Asked) {
    let socket = UdpSocket::bind((ip, 0)).expect("a free port");
    let port = socket.local_addr().expect("an address").port();
    (port, serve(socket, script))
}

fn serve(socket: UdpSocket, script: Box<Script>) -> Asked {
    let asked = Asked::default();
    let of_thread = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let name = name_of(&buffer[..length]);
            of_thread.lock().expect("no panic").push(name.clone());
            for answer in script(&name, &buffer[..length]) {
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    asked
}

fn look_up(
    (port, patience): (u16, Duration),
    path: &SearchPath,
    host: &str,
    aliases: Option<&[&str]>,
    servers: &[&str],
) -> Found {
    let manners = QuerySettings { port, patience, allowed: Targets::default() };
    look_up_by(manners, path, host, aliases, servers)
}

fn look_up_by(
    manners: QuerySettings,
    path: &SearchPath,
    host: &str,
    aliases: Option<&[&str]>,
    servers: &[&str],
) -> Found {
    let names = NameServers::with(manners, path).expect("a thread");
    let (reply_to, answers) = Inbox::pair();
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    names.ask(Lookup {
        host: host.into(),
        aliases: aliases.map(owned),
        servers: owned(servers),
        turn: 0,
        user: UserId::from(3),
        route: RouteId(5),
        reply_to,
    });
    match answers.recv().expect("an answer") {
        Message::Named { user, route: RouteId(5), found } if user == UserId::from(3) => found,
        other => panic!("{other:?}"),
    }
}

fn plain(port: u16, host: &str) -> Found {
    look_up((port, PATIENT), &SearchPath::default(), host, None, &["127.0.0.1"])
}

fn address(name: &str, ip: [u8; 4]) -> (String, SocketAddr) {
    (name.into(), SocketAddr::new(Ipv4Addr::from(ip).into(), 0))
}

fn unknown(host: &str) -> Found {
    Err(format!("Failed to resolve host name: {host}"))
}

#[test]
fn addresses_come_with_the_name_they_are_of() {
    let script = |_: &str, question: &[u8]| {
        vec![reply(question, 0x8180, &[(1, &[10, 0, 0, 2]), (1, &[10, 0, 0, 1])])]
    };
    let (port, asked) = server("127.0.0.1", Box::new(script));
    let expected = vec![address("www.test.", [10, 0, 0, 2]), address("www.test.", [10, 0, 0, 1])];
    assert_eq!(plain(port, "www.test"), Ok(expected));
    assert_eq!(*asked.lock().expect("no panic"), ["www.test."]);
}

#[test]
fn an_alias_is_asked_for_by_another_question() {
    let script = |name: &str, question: &[u8]| {
        vec![match name {
            "www.test." => reply(question, 0x8180, &[(5, b"\x01x\xc0\x10")]),
            "x.test." => reply(question, 0x8180, &[(1, &[10, 0, 0, 1])]),
            _ => reply(question, 0x8180, &[(5, &[192, 12])]),
        }]
    };
    let (port, asked) = server("127.0.0.1", Box::new(script));
    assert_eq!(plain(port, "www.test"), Ok(vec![address("x.test.", [10, 0, 0, 1])]));
    assert_eq!(*asked.lock().expect("no panic"), ["www.test.", "x.test."]);
    assert_eq!(plain(port, "loop.test"), unknown("loop.test"));
}

#[test]
fn servers_that_do_not_know_or_talk_nonsense() {
    let script = |name: &str, question: &[u8]| {
        vec![match name {
            "failing.test." => reply(question, 0x8182, &[]),
            "nowhere.test." => reply(question, 0x8183, &[]),
            "garbage.test." => b"what?".to_vec(),
            "broken.test." => reply(question, 0x8180, &[(1, &[10, 0, 0])]),
            "other.test." => {
                let mut other = reply(question, 0x8180, &[(1, &[10, 0, 0, 1])]);
                other[13] = b'X';
                other
            }
            _ => reply(question, 0x8180, &[]),
        }]
    };
    let (port, asked) = server("127.0.0.1", Box::new(script));
    for host in ["failing", "nowhere", "garbage", "broken", "other", "empty"] {
        let host = format!("{host}.test");
        assert_eq!(plain(port, &host), unknown(&host));
    }
    assert_eq!(asked.lock().expect("no panic").len(), 6, "none is asked again");
    assert_eq!(plain(port, "a..b"), unknown("a..b"));
}

#[test]
fn a_server_that_stalls_is_asked_three_times() {
    let (port, asked) = server("127.0.0.1", Box::new(|_, _| Vec::new()));
    let manner = (port, HASTY);
    let found = look_up(manner, &SearchPath::default(), "www.test", None, &["127.0.0.1"]);
    assert_eq!(found, unknown("www.test"));
    assert_eq!(asked.lock().expect("no panic").len(), 3);
}

#[test]
fn the_next_server_helps_where_one_refuses() {
    let script = |_: &str, question: &[u8]| vec![reply(question, 0x8180, &[(1, &[10, 0, 0, 1])])];
    let (port, _) = server("127.0.0.4", Box::new(script));
    let servers = ["127.0.0.3", "127.0.0.4"];
    let found = look_up((port, PATIENT), &SearchPath::default(), "a.test", None, &servers);
    assert_eq!(found, Ok(vec![address("a.test.", [10, 0, 0, 1])]));
    let found = look_up((port, PATIENT), &SearchPath::default(), "a.test", None, &servers[..1]);
    assert_eq!(found, unknown("a.test"));
}

#[test]
fn what_answers_another_question_is_passed_over() {
    let script = |_: &str, question: &[u8]| {
        let mut foreign = reply(question, 0x8180, &[(1, &[10, 9, 9, 9])]);
        foreign[0] ^= 1;
        vec![foreign, reply(question, 0x8180, &[(1, &[10, 0, 0, 1])])]
    };
    let (port, _) = server("127.0.0.1", Box::new(script));
    assert_eq!(plain(port, "a.test"), Ok(vec![address("a.test.", [10, 0, 0, 1])]));
}

#[test]
fn what_is_cut_short_is_asked_for_by_tcp() {
    let (listener, socket) = loop {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        if let Ok(socket) = UdpSocket::bind(listener.local_addr().expect("an address")) {
            break (listener, socket);
        }
    };
    let port = listener.local_addr().expect("an address").port();
    serve(socket, Box::new(|_, question| vec![reply(question, 0x8380, &[])]));
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().flatten().enumerate() {
            let mut stream = stream;
            let mut length = [0; 2];
            stream.read_exact(&mut length).expect("a length");
            let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut question).expect("a question");
            let answer = reply(&question, 0x8180, &[(1, &[10, 0, 0, 7])]);
            let mut bytes = (answer.len() as u16).to_be_bytes().to_vec();
            bytes.extend_from_slice(&answer);
            // The answer on the second connection is truncated.
            let end = if n == 0 { bytes.len() } else { 9 };
            for piece in bytes[..end].chunks(5) {
                stream.write_all(piece).expect("a reader");
            }
        }
    });
    assert_eq!(plain(port, "a.test"), Ok(vec![address("a.test.", [10, 0, 0, 7])]));
    assert_eq!(plain(port, "b.test"), unknown("b.test"));
}

#[test]
fn names_are_tried_below_those_of_the_search_path() {
    let script = |name: &str, question: &[u8]| {
        vec![match name {
            "www.b.test." => reply(question, 0x8180, &[(1, &[10, 0, 0, 1])]),
            _ => reply(question, 0x8183, &[]),
        }]
    };
    let (port, asked) = server("127.0.0.1", Box::new(script));
    let path = read_search_path("domain x.test\nsearch a.test b.test\noptions rotate ndots:1\n");
    let of = |host| look_up((port, PATIENT), &path, host, None, &["127.0.0.1"]);
    assert_eq!(of("www"), Ok(vec![address("www.b.test.", [10, 0, 0, 1])]));
    assert_eq!(of("www.test."), unknown("www.test."));
    assert_eq!(of("a.b"), unknown("a.b"));
    let expected =
        ["www.a.test.", "www.b.test.", "www.test.", "a.b.", "a.b.a.test.", "a.b.b.test."];
    assert_eq!(*asked.lock().expect("no panic"), expected);
}

#[test]
fn addresses_of_the_plans_own_are_looked_up_too() {
    let script = |name: &str, question: &[u8]| {
        vec![match name {
            "a.test." => reply(question, 0x8180, &[(1, &[10, 0, 0, 1])]),
            _ => reply(question, 0x8183, &[]),
        }]
    };
    let (port, asked) = server("127.0.0.1", Box::new(script));
    let aliases = ["10.0.0.9", "a.test"];
    let path = SearchPath::default();
    let found = look_up((port, PATIENT), &path, "host.test", Some(&aliases), &["127.0.0.1"]);
    let expected = vec![address("", [10, 0, 0, 9]), address("a.test.", [10, 0, 0, 1])];
    assert_eq!(found, Ok(expected));
    assert_eq!(*asked.lock().expect("no panic"), ["10.0.0.9.", "a.test."]);
}

#[test]
fn a_server_that_is_not_permitted_is_not_asked() {
    let patience = Duration::from_millis(200);
    let try_with = |allowed: &str| {
        let allowed = Targets::read(allowed).expect("targets");
        let manners = QuerySettings { port: 1, patience, allowed };
        let found = look_up_by(manners, &SearchPath::default(), "a.example", None, &["127.0.0.1"]);
        found.expect_err("nobody answers there")
    };
    assert!(try_with("10.0.0.0/8").contains("failed to initialize resolver"));
    assert!(!try_with("127.0.0.1:1").contains("failed to initialize resolver"));
}
