//! The `redis` and `sse` targets, byte by byte.

mod raw;

use raw::{Client, End, target};

/// Sends a Redis command, and asserts that the reply begins with `answer`.
fn ask(client: &mut Client, words: &str, answer: &str) {
    let words: Vec<_> = words.split(' ').collect();
    let mut command = format!("*{}\r\n", words.len());
    for word in words {
        command.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    assert_eq!(client.send(&command).until(answer), answer, "{command:?}");
}

#[test]
fn lists_and_sets_are_loaded_and_taken() {
    let redis = target(
        "redis",
        &[("list", "l=a"), ("list", "l=b"), ("list", "l=c"), ("set", "s=x"), ("set", "s=y")],
    );
    let mut client = Client::new(&redis);
    ask(&mut client, "PING", "+PONG\r\n");
    ask(&mut client, "LLEN l", ":3\r\n");
    ask(&mut client, "LMOVE l l RIGHT LEFT", "$1\r\nc\r\n");
    ask(&mut client, "lpop l", "$1\r\nc\r\n");
    ask(&mut client, "RPUSH l d", ":3\r\n");
    ask(&mut client, "SRANDMEMBER s", "$1\r\nx\r\n");
    ask(&mut client, "SRANDMEMBER s", "$1\r\ny\r\n");
    ask(&mut client, "SADD s y z", ":1\r\n");
    for _ in 0..3 {
        client.send("*2\r\n$4\r\nSPOP\r\n$1\r\ns\r\n").until("\r\n");
        client.until("\r\n");
    }
    ask(&mut client, "SPOP s", "$-1\r\n");
    ask(&mut client, "LMOVE none none RIGHT LEFT", "$-1\r\n");
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
    ask(&mut client, "SPOP l", wrong);
    ask(&mut client, "NOPE", "-ERR unknown command 'NOPE'\r\n");
    ask(&mut client, "LPOP", "-ERR wrong number of arguments for 'lpop' command\r\n");
    // Another connection sees the same lists; another database has its own lists.
    let mut other = Client::new(&redis);
    ask(&mut other, "LLEN l", ":3\r\n");
    ask(&mut other, "SELECT 3", "+OK\r\n");
    ask(&mut other, "LLEN l", ":0\r\n");
    ask(&mut other, "SELECT 16", "-ERR DB index is out of range\r\n");
    redis.stop();
    assert!(matches!(client.rest(), End::Fin(rest) if rest.is_empty()));
}

#[test]
fn who_has_to_log_in_is_told_so() {
    let redis = target("redis", &[("password", "p")]);
    let mut client = Client::new(&redis);
    ask(&mut client, "LLEN l", "-NOAUTH Authentication required.\r\n");
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    ask(&mut client, "AUTH q", wrong);
    ask(&mut client, "AUTH someone p", wrong);
    ask(&mut client, "AUTH p", "+OK\r\n");
    ask(&mut client, "LLEN l", ":0\r\n");
    ask(&mut Client::new(&redis), "AUTH default p", "+OK\r\n");
}

#[test]
fn commands_may_come_many_at_once_and_in_pieces() {
    let redis = target("redis", &[]);
    let mut client = Client::new(&redis);
    let ping = "*1\r\n$4\r\nPING\r\n";
    client.send(&ping.repeat(3)).send(&ping[..7]);
    assert_eq!(client.until("+PONG\r\n+PONG\r\n+PONG\r\n").len(), 21);
    client.send(&ping[7..]).until("+PONG\r\n");
    assert!(matches!(client.send("HELLO\r\n").rest(), End::Fin(_) | End::Reset(_)));
}

#[test]
fn events_come_as_told() {
    let sse = target(
        "sse",
        &[("events", "2"), ("name", "tick"), ("ids", "true"), ("retry", "7"), ("every", "1")],
    );
    let mut client = Client::new(&sse);
    let first = "retry: 7\nevent: tick\nid: 1\ndata: event 1\n\n";
    let second = "event: tick\nid: 2\ndata: event 2\n\n";
    let body =
        format!("{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len());
    for _ in 0..2 {
        let head = client.get("/").until("\r\n\r\n");
        assert!(head.contains("\r\nContent-Type: text/event-stream\r\n"), "{head}");
        assert_eq!(client.until(&body), body);
    }
}

#[test]
fn an_answer_comes_in_tokens() {
    let sse = target("sse", &[("events", "3"), ("tokens", "true")]);
    let mut client = Client::new(&sse);
    let all = client.get("/").until("0\r\n\r\n");
    let data: Vec<_> = all.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let [tokens @ .., "[DONE]"] = data.as_slice() else { panic!("{all}") };
    let text: String = tokens
        .iter()
        .map(|json| {
            let json: serde_json::Value = serde_json::from_str(json).unwrap();
            json["choices"][0]["delta"]["content"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(text, "token1 token2 token3 ");
}
