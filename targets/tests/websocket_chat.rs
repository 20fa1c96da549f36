//! The chat target, in this process and as a program with several processes.

mod raw;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use raw::target;
use serde_json::Value;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};

struct Member(WebSocket<TcpStream>);

impl Member {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        // Only a hanging test reaches this read timeout.
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(tungstenite::client("ws://h/", stream).unwrap().0)
    }

    fn send(&mut self, text: &str) -> &mut Self {
        self.0.send(Message::text(text)).unwrap();
        self
    }

    fn read(&mut self) -> String {
        match self.0.read().unwrap() {
            Message::Text(text) => text.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn ask(&mut self, text: &str) -> String {
        self.send(text).read()
    }

    /// Reads the next broadcast; returns its room, sequence number, time and text.
    fn heard(&mut self) -> (String, u64, u64, String) {
        let text = self.read();
        let mut words = text.splitn(5, ' ');
        assert_eq!(words.next(), Some("room"), "{text}");
        let mut word = || words.next().unwrap().to_owned();
        (word(), word().parse().unwrap(), word().parse().unwrap(), word())
    }
}

fn stats(address: SocketAddr) -> Value {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(b"GET /stats HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Waits at most a minute until the statistic at a JSON path has the expected value.
fn until(address: SocketAddr, path: &str, wanted: u64) {
    for _ in 0..12_000 {
        if stats(address).pointer(path).and_then(Value::as_u64) == Some(wanted) {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("{path} is not {wanted}: {}", stats(address));
}

/// The target program with several processes; dropping it ends them.
struct Program {
    child: Child,
    address: SocketAddr,
}

impl Program {
    fn new(options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng-target"));
        command.args(["chat", "--port", "0"]).stdout(Stdio::piped());
        for option in options {
            command.args(["--option", option]);
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().parse().unwrap();
        Self { child, address }
    }

    /// Returns the address of each chat process.
    fn addresses(&self, count: u8) -> Vec<SocketAddr> {
        (1..=count).map(|last| SocketAddr::from(([127, 0, 3, last], self.address.port()))).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The chat processes end when their parent has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn processes(more: &[&str]) -> Program {
    let mut options = vec!["processes=3", "listen=127.0.3.1-127.0.3.3"];
    options.extend_from_slice(more);
    Program::new(&options)
}

#[test]
fn what_is_said_reaches_all_in_the_room_once_and_in_order() {
    let chat = target("chat", &[]);
    let address = chat.addr();
    let mut one = Member::new(address);
    let mut two = Member::new(address);
    let mut other = Member::new(address);
    assert_eq!(one.ask("join red"), "joined red 1");
    assert_eq!(two.ask("join red"), "joined red 2");
    assert_eq!(other.ask("join blue"), "joined blue 1");
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let before = now();
    one.send("say hello  there");
    for member in [&mut one, &mut two] {
        let (room, number, time, text) = member.heard();
        assert_eq!((room.as_str(), number, text.as_str()), ("red", 1, "hello  there"));
        assert!((before..=now()).contains(&time));
    }
    two.send("say t=1700000000123456 x");
    for member in [&mut one, &mut two] {
        assert_eq!(
            member.heard(),
            ("red".to_owned(), 2, 1_700_000_000_123, "t=1700000000123456 x".to_owned())
        );
    }
    // The other room did not get that message and numbers its own messages.
    other.send("say a");
    assert_eq!(other.heard().1, 1);
    // Joining another room leaves the first one; joining the same room changes nothing.
    assert_eq!(two.ask("join blue"), "joined blue 2");
    assert_eq!(two.ask("join blue"), "joined blue 2");
    one.send("say alone");
    assert_eq!(one.heard().1, 3);
    two.send("say b");
    assert_eq!((two.heard().1, other.heard().1), (2, 2));
    let figures = stats(address);
    for (key, value) in
        [("open", 3), ("joined", 4), ("said", 5), ("receivers", 8), ("processes", 1)]
    {
        assert_eq!(figures[key], value, "{key} of {figures}");
    }
    assert_eq!((&figures["messages_in"], &figures["messages_out"]), (&10.into(), &13.into()));
}

#[test]
fn many_messages_at_once_are_all_heard() {
    let chat = target("chat", &[]);
    let mut members: Vec<_> = (0..20).map(|_| Member::new(chat.addr())).collect();
    for member in &mut members {
        member.ask("join r");
    }
    for member in &mut members {
        for number in 0..50 {
            member.0.write(Message::text(format!("say {number}"))).unwrap();
        }
        member.0.flush().unwrap();
    }
    for member in &mut members {
        for number in 1..=1000 {
            assert_eq!(member.heard().1, number);
        }
    }
    assert_eq!(stats(chat.addr())["receivers"], 20_000);
}

#[test]
fn heartbeats_are_answered_and_mistakes_told() {
    let chat = target("chat", &[("rooms", "1")]);
    let mut member = Member::new(chat.addr());
    assert_eq!(member.ask("ping"), "pong");
    member.0.send(Message::Ping(b"x".as_slice().into())).unwrap();
    assert_eq!(member.0.read().unwrap(), Message::Pong(b"x".as_slice().into()));
    assert_eq!(member.ask("say x"), "error in no room");
    for wrong in ["join", "join a b", "what", "ping x", &format!("join {}", "x".repeat(65))] {
        assert!(member.ask(wrong).starts_with("error "), "{wrong}");
    }
    assert_eq!(member.ask("join a"), "joined a 1");
    assert_eq!(member.ask("join b"), "error too many rooms");
    member.0.send(Message::binary(vec![1])).unwrap();
    assert!(member.read().starts_with("error "));
}

#[test]
fn the_silent_are_cut_and_leave_their_room() {
    let chat = target("chat", &[("heartbeat", "1")]);
    let mut silent = Member::new(chat.addr());
    let mut speaker = Member::new(chat.addr());
    silent.ask("join r");
    assert_eq!(speaker.ask("join r"), "joined r 2");
    // A chat member that sends messages is not cut.
    while stats(chat.addr())["closed"]["silent"] == 0 {
        assert_eq!(speaker.ask("ping"), "pong");
        thread::sleep(Duration::from_millis(20));
    }
    let Message::Close(Some(frame)) = silent.0.read().unwrap() else { panic!("no close") };
    assert_eq!(frame.code, CloseCode::Library(4008));
    speaker.send("say x");
    speaker.heard();
    let figures = stats(chat.addr());
    assert_eq!((&figures["open"], &figures["receivers"]), (&1.into(), &1.into()));
}

#[test]
fn a_slow_reader_is_dropped_and_the_others_go_on() {
    let chat = target("chat", &[("unsent", "100000")]);
    let mut slow = Member::new(chat.addr());
    let mut speaker = Member::new(chat.addr());
    slow.ask("join r");
    speaker.ask("join r");
    let text = format!("say {}", "x".repeat(100_000));
    let mut said = 0;
    while stats(chat.addr())["closed"]["slow"] == 0 {
        said += 1;
        assert!(said < 1000, "nobody was dropped");
        speaker.send(&text);
        assert_eq!(speaker.heard().1, said);
    }
    speaker.send("say y");
    assert_eq!(speaker.heard().1, said + 1);
    assert_eq!(stats(chat.addr())["open"], 1);
}

#[test]
fn several_processes_are_one_chat() {
    let program = processes(&[]);
    let addresses = program.addresses(3);
    let mut members: Vec<_> = (0..12).map(|number| Member::new(addresses[number % 3])).collect();
    for (number, member) in members.iter_mut().enumerate() {
        assert_eq!(member.ask("join hall"), format!("joined hall {}", number + 1));
    }
    // All members send at once. All receive the same messages, each once, in the same order.
    for (number, member) in members.iter_mut().enumerate() {
        for turn in 0..20 {
            member.0.write(Message::text(format!("say {number}.{turn}"))).unwrap();
        }
        member.0.flush().unwrap();
    }
    let mut stories = HashSet::new();
    for member in &mut members {
        let heard: Vec<_> = (0..240).map(|_| member.heard()).collect();
        assert!(heard.iter().map(|said| said.1).eq(1..=240));
        stories.insert(heard.into_iter().map(|said| said.3).collect::<Vec<_>>());
    }
    assert_eq!(stories.len(), 1);
    let figures = stats(addresses[1]);
    for (key, value) in [
        ("open", 12),
        ("joined", 12),
        ("said", 240),
        ("receivers", 240 * 12),
        ("processes", 3),
        ("messages_in", 252),
        ("messages_out", 240 * 12 + 12),
    ] {
        assert_eq!(figures[key], value, "{key} of {figures}");
    }
    assert_eq!(figures["open_by_process"], serde_json::json!([4, 4, 4]));

    // A client that joins and sends at once is received by all members, including itself.
    let mut late = Member::new(addresses[2]);
    late.send("join hall").send("say here");
    assert_eq!(late.read(), "joined hall 13");
    assert_eq!(late.heard().3, "here");
    assert!(members.iter_mut().all(|member| member.heard().1 == 241));
    // A closed connection no longer counts as a member.
    drop(late);
    until(addresses[0], "/closed/peer_fin", 1);
    assert_eq!(members[1].ask("join attic"), "joined attic 1");
    assert_eq!(members[4].ask("join attic"), "joined attic 2");
    // Different processes may count the rooms, so the hall may count the two leaving members a moment later.
    let counted = (0..600).any(|_| {
        let of_ten = Member::new(addresses[0]).ask("join hall") == "joined hall 11";
        if !of_ten {
            std::thread::sleep(Duration::from_millis(100));
        }
        of_ten
    });
    assert!(counted, "two have left the hall");
}

#[test]
fn processes_share_an_address_if_there_are_too_few() {
    let program = Program::new(&["processes=2"]);
    let mut members: Vec<_> = (0..40).map(|_| Member::new(program.address)).collect();
    for (number, member) in members.iter_mut().enumerate() {
        assert_eq!(member.ask("join r"), format!("joined r {}", number + 1));
    }
    members[7].send("say x");
    assert!(members.iter_mut().all(|member| member.heard().1 == 1));
    let figures = stats(program.address);
    assert_eq!((&figures["open"], &figures["receivers"]), (&40.into(), &40.into()));
}

fn children(of: u32) -> Vec<u32> {
    let path = format!("/proc/{of}/task/{of}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

#[test]
fn a_process_that_dies_takes_its_members_and_no_more() {
    let program = processes(&[]);
    let addresses = program.addresses(3);
    let mut members: Vec<_> = addresses.iter().map(|&address| Member::new(address)).collect();
    for member in &mut members {
        member.ask("join r");
    }
    let own = children(program.child.id());
    assert_eq!(own.len(), 3);
    let killed = Command::new("kill").args(["-9", &own[1].to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(members[1].0.read().is_err());
    until(addresses[0], "/processes", 2);
    members[0].send("say x");
    assert_eq!((members[0].heard().1, members[2].heard().1), (1, 1));
    assert_eq!(members[2].ask("join r"), "joined r 2");
}

#[test]
fn processes_end_with_their_parent() {
    let mut program = processes(&[]);
    let own = children(program.child.id());
    assert_eq!(own.len(), 3);
    program.child.kill().unwrap();
    program.child.wait().unwrap();
    for number in own {
        let path = format!("/proc/{number}/stat");
        // The process has ended, or is a zombie that its adoptive parent has not reaped yet.
        let lives = || {
            std::fs::read_to_string(&path)
                .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
        };
        for _ in 0..12_000 {
            if !lives() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!lives(), "process {number} lives");
    }
}

#[test]
fn several_processes_need_a_program() {
    let config = targets::Config::new("chat").option("processes", 2);
    assert!(matches!(targets::start(config), Err(targets::Error::BadOption { .. })));
}
