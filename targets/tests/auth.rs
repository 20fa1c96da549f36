//! The target `auth`, with a substitute for its token store.

mod raw;

use std::io::{Read, Write};
use std::net::TcpListener;

use raw::{Client, target};

/// Starts a token store that contains only `token:alice` and serves each connection until its client closes; returns
/// the address.
fn store() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut command = [0; 512];
                while let Ok(count @ 1..) = socket.read(&mut command) {
                    let known = command[..count].ends_with(b"$11\r\ntoken:alice\r\n");
                    let reply: &[u8] = if known { b"$1\r\n1\r\n" } else { b"$-1\r\n" };
                    if socket.write_all(reply).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

fn status(client: &mut Client, token: &str) -> String {
    let header =
        if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    client.send(&format!("GET /check HTTP/1.1\r\n{header}\r\n")).answer().0[9..12].to_owned()
}

#[test]
fn tokens_are_looked_up_with_and_without_a_pool() {
    for (pool, opened) in [("2", 1), ("0", 3)] {
        let store = store();
        let auth = target("auth", &[("redis", &store), ("pool", pool), ("trace", "1")]);
        let mut client = Client::new(&auth);
        let answers = ["alice", "mallory", "alice", ""].map(|token| status(&mut client, token));
        assert_eq!(answers, ["200", "401", "200", "401"]);
        let stats: serde_json::Value = serde_json::from_str(&client.body("/stats")).unwrap();
        assert_eq!(stats["store_connections"], opened, "{stats}");
        assert_eq!((&stats["requests"], &stats["traced"]), (&4.into(), &4.into()));
    }
}

#[test]
fn spans_are_lines_in_a_file() {
    let file = std::env::temp_dir().join(format!("throng-spans-{}", std::process::id()));
    let auth =
        target("auth", &[("redis", &store()), ("trace", "1"), ("spans", file.to_str().unwrap())]);
    let mut client = Client::new(&auth);
    assert_eq!(status(&mut client, "alice"), "200");
    let text = std::fs::read_to_string(&file).unwrap();
    let _ = std::fs::remove_file(&file);
    let span: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(span["tags"]["http.status"], "200 OK");
}

#[test]
fn a_store_that_is_gone_makes_it_unavailable() {
    let auth = target("auth", &[("redis", "127.0.0.1:1")]);
    let mut client = Client::new(&auth);
    assert_eq!(status(&mut client, "alice"), "503");
    assert_eq!(
        status(&mut client, "alice"),
        "503",
        "a failed connection leaves its place in the pool"
    );
}
