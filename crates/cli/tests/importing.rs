//! Plans made from curl commands and URLs: `throng curl`, `throng URL`, `throng run FILE`, `throng import`. The bundled
//! mirror shows the requests that they send.

mod program;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use program::{Program, ended};
use targets::Running;

/// One user who requests everything once.
const ONCE: [&str; 6] = ["--users", "1", "--iterations", "1", "--quiet", "--no-report"];

fn mirror() -> Running {
    targets::start(targets::Config::new("mirror")).expect("a target")
}

/// Returns the requests that the mirror received: method, target, header lines and body.
fn received(mirror: &Running) -> Vec<String> {
    let host = format!("Host: {}", mirror.addr());
    let request = |request: targets::Recorded| {
        assert!(request.headers.contains(&host), "{request:?}");
        let headers: Vec<_> = request.headers.iter().filter(|line| **line != host).collect();
        let body = String::from_utf8_lossy(&request.body).into_owned();
        format!("{} {}\n{headers:?}\n{body}", request.method, request.target)
    };
    mirror.log().into_iter().map(request).collect()
}

#[test]
fn the_request_of_a_curl_command_is_sent() {
    let (program, mirror) = (Program::new(), mirror());
    let url = format!("{}/echo?a=b", mirror.url());
    let line =
        ["curl", "-sS", "-d", "{\"a\": \"${x}\"}", "--users=1", "-H", "X-A: y", "-u", "me:word"];
    let line = [&line[..], &[&url, "--iterations", "1", "--", "--quiet", "--no-report"]].concat();
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.err, "");
    assert_eq!(
        received(&mirror),
        ["POST /echo?a=b\n[\"Connection: keep-alive\", \"Authorization: Basic bWU6d29yZA==\", \
          \"User-Agent: curl/8.5.0\", \"Accept: */*\", \"X-A: y\", \
          \"Content-Type: application/x-www-form-urlencoded\", \"Content-Length: 13\"]\n{\"a\": \"${x}\"}"]
    );
}

#[test]
fn urls_and_files_run_without_a_plan() {
    let (program, mirror) = (Program::new(), mirror());
    let url = |path: &str| format!("{}{path}", mirror.url());
    let one = url("/one");
    program.write("urls.txt", &format!("# list\n{}\nDELETE {}\n", url("/two"), url("/three")));
    program.write("commands.sh", &format!("#!/bin/sh\ncurl -I {}\n", url("/four")));
    for line in [&["run", &one][..], &[&one], &["run", "urls.txt"], &["run", "commands.sh"]] {
        let ended = program.run(&[line, &ONCE].concat());
        assert_eq!(ended.code, 0, "{line:?}: {ended:?}");
    }
    let mut child = program.command(&[&["run", "-"][..], &ONCE].concat());
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().expect("the program starts");
    let text = format!("curl -X PUT -d a {}", url("/five"));
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it is read");
    let ended = ended(child.wait_with_output().expect("it ends"));
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines: Vec<_> = received(&mirror)
        .iter()
        .filter_map(|request| request.lines().next().map(str::to_owned))
        .collect();
    assert_eq!(
        lines,
        ["GET /one", "GET /one", "GET /two", "DELETE /three", "HEAD /four", "PUT /five"]
    );
}

#[test]
fn the_first_line_says_the_load() {
    let (program, mirror) = (Program::new(), mirror());
    let url = mirror.url();
    let mut child = program.start(&["curl", &url]);
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(
        line,
        "127.0.0.1.jmx: 1 request by 10 users for 10 s; --users, --rps and --duration set another load\n"
    );
    let line = ["curl", &url, "--users", "1", "--iterations", "1", "--no-report"];
    let ended = program.run(&line);
    assert!(ended.err.starts_with("127.0.0.1.jmx: 1 request\n"), "{ended:?}");
}

#[test]
fn a_plan_is_written_once() {
    let (program, mirror) = (Program::new(), mirror());
    let text = format!("curl --http2 {0}/a\ncurl nosuch://h\ncurl -d x {0}/b\n", mirror.url());
    program.write("a.sh", &text);
    let made = program.run(&["import", "a.sh", "-o", "new.jmx"]);
    assert_eq!((made.code, made.out.as_str()), (0, ""), "{made:?}");
    assert_eq!(
        made.err,
        "warning: a.sh:1: --http2: requests are sent as HTTP/1.1\n\
         error: a.sh:2: nosuch://h: nosuch is not HTTP: only http:// and https:// are imported\n\
         new.jmx: a plan with 2 requests; throng run new.jmx runs it\n"
    );
    let again = program.run(&["import", "a.sh", "-o", "new.jmx"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.err.contains("new.jmx exists: --force replaces it"), "{again:?}");
    assert_eq!(program.run(&["import", "a.sh", "-o", "new.jmx", "--force"]).code, 0);
    let printed = program.run(&["import", "a.sh"]);
    assert_eq!(printed.out, program.read("new.jmx"), "{printed:?}");
    let checked = program.run(&["check", "new.jmx"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let ended = program.run(&[&["run", "new.jmx"][..], &ONCE].concat());
    assert_eq!((ended.code, received(&mirror).len()), (0, 2), "{ended:?}");
}

#[test]
fn sources_without_requests_are_refused() {
    let program = Program::new();
    program.write("empty.sh", "curl\ncurl ftp://h/\n");
    program.write("a.har", "{\"log\": {\"entries\": []}}");
    program.write("a.txt", "hello\n");
    for (line, code, words) in [
        (&["run", "empty.sh"][..], 2, "empty.sh: no request can be imported"),
        (&["import", "empty.sh"], 3, "error: empty.sh:2: ftp://h/: ftp is not HTTP"),
        (&["run", "a.har"], 2, "recording of a browser (HAR)"),
        (&["import", "a.txt"], 2, "a.txt has no curl commands and no URLs"),
        (&["import", "plan.jmx"], 2, "plan.jmx is a plan already"),
        (&["run", "http://"], 2, "the URL has no host"),
        (&["run", "http://me:word@"], 2, "the URL has no host"),
        (&["curl", "http://h", "-d", "@nofile"], 2, "cannot read nofile"),
        (&["curl", "http://h", "-c", "50"], 2, "did you mean --users 50?"),
        (&["curl", "http://h", "-z", "10s"], 2, "did you mean --duration 10s?"),
        (&["curl", "http://h", "--vus", "5"], 2, "--users N"),
        (&["run", "http://h", "-c", "50"], 2, "--users N"),
    ] {
        let ended = program.run(line);
        assert_eq!(ended.code, code, "{line:?}: {ended:?}");
        assert!(ended.err.contains(words), "{line:?}: {ended:?}");
        assert!(!ended.err.contains("me:word"), "{ended:?}");
    }
    let help = program.run(&["curl", "--help"]);
    assert!(help.code == 0 && help.out.contains("Examples:"), "{help:?}");
}
