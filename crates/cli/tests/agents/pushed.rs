//! Agents that upload their result rows to a store by HTTP PUT.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use super::super::summary;
use super::Machines;

/// Files that a store received: path to headers and body.
type Files = Arc<Mutex<BTreeMap<String, (String, Vec<u8>)>>>;

/// Starts an HTTP store that accepts PUT and refuses files whose path contains `refused`. Its thread runs until the
/// test process ends.
fn store(refused: &'static str) -> (SocketAddr, Files) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let files = Files::default();
    let kept = Arc::clone(&files);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || take(&stream, refused, &kept));
        }
    });
    (address, files)
}

fn take(stream: &TcpStream, refused: &str, kept: &Files) {
    let mut from = BufReader::new(stream);
    let mut head = String::new();
    while from.read_line(&mut head).is_ok_and(|n| n > 2) {}
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
    // Object stores require Content-Length, so the test store reads its body by that header.
    let length = length.and_then(|length| length.trim().parse().ok()).expect("its length");
    let mut body = vec![0; length];
    from.read_exact(&mut body).expect("the whole file");
    let status = if path.contains(refused) { "507 Insufficient Storage" } else { "201 Created" };
    if status.starts_with("201") && head.starts_with("PUT ") {
        kept.lock().expect("files").insert(path, (lower, body));
    }
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let mut stream = stream;
    let _ = stream.write_all(answer.as_bytes());
}

/// True if a line of a result file is a row and not a heading.
fn is_row(line: &&String) -> bool {
    line.starts_with(|first: char| first.is_ascii_digit())
}

/// Returns the lines of a gzip-compressed file.
fn unpacked(bytes: &[u8]) -> Vec<String> {
    let mut gzip = Command::new("gzip");
    let gzip = gzip.arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut gzip = gzip.spawn().expect("gzip");
    let mut to = gzip.stdin.take().expect("a pipe");
    to.write_all(bytes).expect("it reads");
    drop(to);
    let out = gzip.wait_with_output().expect("its end");
    assert!(out.status.success());
    String::from_utf8(out.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn rows_go_to_a_store_and_those_it_refuses_come_here() {
    let machines = Machines::new(true);
    let (address, files) = store("me%40b");
    let place = format!("http://{address}/kept/{{run}}/{{agent}}-{{file}}.gz");
    let mut command = machines.command(&["run", "plan.jmx", "-l", "out.jtl", "--fleet"]);
    command.args(["ssh:a,me@b,c", "--workers", "1", "-Jusers=6", "-Jloops=5"]);
    let ended = super::ended(
        command
            .args(["--rows-to", &place])
            .env("THRONG_ROWS_TOKEN", "a token")
            .output()
            .expect("it starts"),
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    let all = format!("{}{}", ended.out, ended.err);
    assert!(all.contains("2 of 3 agents uploaded their rows"), "{ended:?}");
    assert!(
        all.contains("agent me@b could not upload its rows for out.jtl: HTTP status 507"),
        "{ended:?}"
    );
    let here = machines.program.read("out.jtl");
    let head = here.lines().next().expect("a header");
    let mut rows = here.lines().count() - 1;
    assert_eq!(rows, 10, "those of two users with five samples");
    let files = files.lock().expect("files");
    let run = machines.program.run_folder();
    let run = run.file_name().expect("a name").to_str().expect("text");
    let names: Vec<_> = files.keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for (path, (headers, body)) in files.iter() {
        assert!(
            path.starts_with(&format!("/kept/{run}/")) && path.ends_with("-out.jtl.gz"),
            "{path}"
        );
        assert!(headers.contains("authorization: bearer a token"), "{headers}");
        let lines = unpacked(body);
        assert_eq!(lines[0], head, "a file stands for itself");
        rows += lines[1..].iter().filter(is_row).count();
    }
    assert_eq!(summary(&machines.program)["requests"].as_u64(), Some(rows as u64));
}

#[test]
fn a_store_that_never_answers_is_given_up_and_rows_are_fetched() {
    let machines = Machines::new(true);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = format!("http://{}/{{agent}}", listener.local_addr().expect("an address"));
    let line = ["run", "plan.jmx", "-l", "out.jtl", "--fleet", "ssh:a", "--workers", "1"];
    let ended =
        machines.run(&[&line[..], &["-Jusers=2", "-Jloops=3", "--rows-to", &place]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let all = format!("{}{}", ended.out, ended.err);
    assert!(
        all.contains("agent a could not upload its rows for out.jtl: no progress for 10 s"),
        "{ended:?}"
    );
    assert_eq!(machines.program.read("out.jtl").lines().count(), 7, "a header and all rows");
}

#[test]
fn rows_go_to_a_folder_of_the_machines() {
    let machines = Machines::new(true);
    let folder = machines.program.path("share");
    let place = folder.to_str().expect("text");
    let line = ["run", "plan.jmx", "-l", "out.jtl", "--fleet", "ssh:a,b", "--workers", "1"];
    let ended =
        machines.run(&[&line[..], &["-Jusers=4", "-Jloops=3", "--rows-to", place]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(machines.program.read("out.jtl").lines().count(), 1, "the header alone");
    let files: Vec<_> = std::fs::read_dir(&folder).expect("the folder").flatten().collect();
    assert_eq!(files.len(), 2, "{files:?}");
    let rows = files.iter().map(|file| {
        let lines = unpacked(&std::fs::read(file.path()).expect("a file"));
        lines.iter().filter(is_row).count()
    });
    assert_eq!(rows.sum::<usize>(), 12);
}

#[test]
fn a_place_that_is_none_is_refused_before_anything_starts() {
    let machines = Machines::new(true);
    for (more, words) in [
        (vec!["--fleet", "ssh:a", "--rows-to", "results"], "invalid destination for rows"),
        (
            vec!["--fleet", "ssh:a", "--rows-to", "http://127.0.0.1:1/all.gz"],
            "add {agent} to the URL",
        ),
        (vec!["--rows-to", "/mnt"], "--rows-to needs agents"),
    ] {
        let ended = machines.run(&[&["run", "plan.jmx"][..], &more].concat());
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.err.contains(words), "{ended:?}");
    }
}
