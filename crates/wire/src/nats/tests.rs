//! Operations of a server, whole and split at every byte; invalid operations, and operations beyond the limits.

use super::*;

const LIMITS: Limits = Limits { line: 64, payload: 32 };

/// Returns all operations of a NATS server as text, from input that arrives in pieces.
fn read(pieces: &[&[u8]]) -> Result<Vec<String>, Broken> {
    let (mut unread, mut seen) = (Vec::new(), Vec::new());
    for piece in pieces {
        unread.extend_from_slice(piece);
        while let Some((told, used)) = next(&unread, LIMITS)? {
            seen.push(format!("{told:?}"));
            unread.drain(..used);
        }
    }
    Ok(seen)
}

#[test]
fn operations_survive_every_split() {
    let input = b"INFO {\"a\":1}\r\nPING\r\nMSG a.b 7 3\r\nx\r\n\r\nmsg a.b 7 _r.1 0\r\n\r\n+OK\r\n-ERR 'Stale Connection'\r\nPONG\r\n";
    let whole = read(&[input]).expect("operations");
    assert_eq!(whole.len(), 7, "{whole:?}");
    assert!(whole[2].contains("reply: None, payload: [120, 13, 10]"), "{whole:?}");
    assert!(whole[3].contains("reply: Some(\"_r.1\"), payload: []"), "{whole:?}");
    assert_eq!(whole[5], "Err(\"Stale Connection\")");
    for split in 0..input.len() {
        assert_eq!(read(&[&input[..split], &input[split..]]).as_ref(), Ok(&whole), "at {split}");
    }
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(read(&bytes), Ok(whole));
}

#[test]
fn what_is_not_of_the_protocol_is_broken() {
    for (input, broken) in [
        ("HTTP/1.1 400 Bad Request\r\n", Broken::Unknown),
        ("MSG a 1\r\n", Broken::Unknown),
        ("MSG a 1 b 2 3\r\n", Broken::Unknown),
        ("MSG a +1 2\r\nxx\r\n", Broken::Unknown),
        ("MSG a 1 -2\r\n", Broken::Unknown),
        ("MSG a 1 33\r\n", Broken::LongPayload),
        ("MSG a 1 99999999999999999999999\r\n", Broken::LongPayload),
        ("MSG a 1 2\r\nxxx\r\n", Broken::NoEnd),
        ("HMSG a 1 12 14\r\n", Broken::Unknown),
    ] {
        assert_eq!(read(&[input.as_bytes()]), Err(broken), "{input}");
    }
    assert_eq!(read(&[&[b'x'; 66]]), Err(Broken::LongLine));
    assert_eq!(read(&[&[b'x'; 65]]), Ok(vec![]));
}

#[test]
fn a_client_writes_lines() {
    let mut out = Vec::new();
    push_connect("{}", &mut out);
    push_subscribe("a.*", 2, &mut out);
    push_publish("a.b", b"xy", &mut out);
    push_ping(&mut out);
    push_pong(&mut out);
    assert_eq!(
        out,
        b"CONNECT {}\r\nSUB a.* 2\r\nPUB a.b 2\r\nxy\r\nPING\r\nPONG\r\n",
        "{}",
        String::from_utf8_lossy(&out)
    );
}

#[test]
fn names_cannot_make_other_subjects() {
    for good in ["a", "eu-1", "pool_2", &"x".repeat(64)] {
        assert!(is_token(good) && is_subject(&format!("throng.{good}")), "{good}");
    }
    for bad in ["", "a.b", "*", ">", "a b", "a\r\nPUB x 0", "ü", "a\t", &"x".repeat(65)] {
        assert!(!is_token(bad), "{bad}");
    }
    for bad in ["", ".", "a..b", "a.*", "a.>", "a. b"] {
        assert!(!is_subject(bad), "{bad}");
    }
}
