//! Pages with embedded resources that cannot be loaded: each failure costs only its own sub-result, and the page is
//! always one row.

use std::io::Write;
use std::net::TcpStream;

use crate::asked_to_end::{interrupt_twice, until};
use crate::peer::{asked, closed_port, peer, stall};
use crate::trial::{Trial, number};

/// Returns a `Trial` that loads embedded resources, six at a time if `at_once`.
fn loading(at_once: bool) -> Trial {
    Trial::with(&format!(
        r#"<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="Defaults" enabled="true">
          <boolProp name="HTTPSampler.image_parser">true</boolProp>
          <boolProp name="HTTPSampler.concurrentDwn">{at_once}</boolProp>
          <stringProp name="HTTPSampler.concurrentPool">6</stringProp>
        </ConfigTestElement>
        <hashTree/>"#
    ))
}

fn send(connection: &mut TcpStream, kind: &str, body: &str) -> bool {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).is_ok() && connection.write_all(body.as_bytes()).is_ok()
}

/// Returns HTML with `count` images on `server`, or on the page's own server if `server` is empty.
fn pictures(count: usize, server: &str) -> String {
    let one = |n: usize| ["<img src=\"", server, "/", &n.to_string(), ".png\">\n"].concat();
    (0..count).map(one).collect()
}

#[test]
fn parts_that_never_come_are_cut_with_their_page() {
    for at_once in [false, true] {
        let trial = loading(at_once);
        let port = peer(|connection| {
            while let Some(target) = asked(connection) {
                match &*target {
                    "/" => _ = send(connection, "text/html", &pictures(20, "")),
                    _ => stall(connection),
                }
            }
        });
        let child = trial.start(port, &["-Jusers=10"]);
        until("a second", || !trial.seconds().is_empty());
        interrupt_twice(&trial, &child);
        let ended = trial.finish(child);
        assert_eq!(ended.code, 130, "{ended:?}");
        let summary = trial.summary();
        let counts = ["requests", "failed", "cut_by_end"].map(|name| number(&summary, name));
        assert_eq!(counts, [0, 0, 10], "{summary}");
    }
}

#[test]
fn parts_that_all_fail_at_once_are_each_a_part() {
    // Number of images. This many nested calls would overflow the stack.
    const PARTS: usize = 20_000;
    let closed = format!("http://127.0.0.1:{}", closed_port());
    let page = pictures(PARTS, &closed);
    let port = peer(
        move |connection| {
            while asked(connection).is_some() && send(connection, "text/html", &page) {}
        },
    );
    for at_once in [false, true] {
        let trial = loading(at_once);
        let (ended, rows) = trial.against(port, &["-Jusers=1", "-Jloops=1"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(rows.len(), PARTS + 2, "the whole, the page, and its parts");
        assert!(!rows[0].success && rows[1].success && rows[2..].iter().all(|row| !row.success));
        assert!(rows[0].message.starts_with("Embedded resource download error:"));
        let summary = trial.summary();
        let counts = ["requests", "failed"].map(|name| number(&summary, name));
        assert_eq!(counts, [1, 1], "{summary}");
    }
}

#[test]
fn parts_that_break_off_fail_alone() {
    let port = peer(|connection| {
        while let Some(target) = asked(connection) {
            let sent = match &*target {
                "/" => send(connection, "text/html", &pictures(4, "")),
                "/1.png" => {
                    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
                    let _ = connection.write_all(half);
                    false
                }
                "/2.png" => {
                    let _ = connection.write_all(b"nonsense\r\n\r\n");
                    false
                }
                _ => send(connection, "image/png", "PNG"),
            };
            if !sent {
                return;
            }
        }
    });
    for at_once in [false, true] {
        let trial = loading(at_once);
        let (ended, rows) = trial.against(port, &["-Jusers=3", "-Jloops=5"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(rows.len(), 3 * 5 * 6, "{ended:?}");
        let failed =
            |label: &str| rows.iter().filter(|row| row.label == label && !row.success).count();
        let labels = ["Request", "Request-0", "Request-1", "Request-2", "Request-3", "Request-4"];
        assert_eq!(labels.map(failed), [15, 0, 0, 15, 15, 0]);
    }
}

#[test]
fn a_page_in_itself_ends() {
    let port = peer(|connection| {
        while asked(connection).is_some()
            && send(connection, "text/html", "<iframe src=\"again\"></iframe><frame src=\"/more\">")
        {
        }
    });
    for at_once in [false, true] {
        let trial = loading(at_once);
        let (ended, rows) = trial.against(port, &["-Jusers=1", "-Jloops=1"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let deepest = rows.iter().filter(|row| row.message.contains("nesting depth exceeded"));
        assert_eq!(deepest.count(), 64, "two to the sixth");
    }
}
