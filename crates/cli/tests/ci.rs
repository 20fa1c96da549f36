//! docs/ci.md as CI servers read it: each command of the page is executed, and leaves the files that the page names.

mod program;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use program::{Ended, Program};

/// The page with the lines of its examples, without their indentation.
fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md");
    std::fs::read_to_string(path).expect("the page")
}

/// The lines of the examples in a section; the first section has no name.
fn examples(section: &str) -> Vec<String> {
    let page = page();
    let head = format!("## {section}\n");
    let text = match section {
        "" => page.split("\n## ").next(),
        _ => page.split_once(&*head).and_then(|(_, behind)| behind.split("\n## ").next()),
    };
    let text = text.unwrap_or_else(|| panic!("{section} is no section"));
    text.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// The rest of the only line that begins so.
fn after(lines: &[String], begin: &str) -> String {
    let found: Vec<&str> =
        lines.iter().filter_map(|line| line.trim_start().strip_prefix(begin)).collect();
    assert_eq!(found.len(), 1, "{begin}: {lines:?}");
    found[0].to_owned()
}

/// The lines below the one that is `head`, as far as they are indented more.
fn below(lines: &[String], head: &str) -> Vec<String> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let at = lines.iter().position(|line| line.trim() == head).expect(head);
    let deeper = |line: &&String| depth(line) > depth(&lines[at]);
    lines[at + 1..].iter().take_while(deeper).map(|line| line.trim().to_owned()).collect()
}

/// Executes a command as a job does, with the program on its path.
fn job(program: &Program, command: &str, variables: &[(&str, &str)]) -> Ended {
    let throng = Path::new(env!("CARGO_BIN_EXE_throng")).parent().expect("a folder");
    let path = format!(
        "{}:{}:{}",
        program.path("bin").display(),
        throng.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut shell = Command::new("bash");
    shell.args(["-e", "-c", command]).current_dir(program.path("")).env("PATH", path);
    shell.envs(variables.iter().copied()).stdin(Stdio::null());
    program::ended(shell.output().expect("a shell"))
}

fn succeeds(ended: &Ended) {
    assert_eq!(ended.code, 0, "{ended:?}");
}

/// The sign in front of it depends on how busy the machine was.
fn is_summary(text: &str) {
    let words = " Load test: `plan.jmx` – all criteria met\n";
    assert!(text.starts_with("## ") && text.contains(words), "{text}");
}

/// The figures that GitLab's widget takes out of k6's form.
fn is_widget(text: &str) {
    let summary: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let metrics = &summary["metrics"];
    let wait = &metrics["http_req_waiting"];
    for figure in [&metrics["http_reqs"]["rate"], &wait["p(90)"], &wait["p(95)"]] {
        assert!(figure.as_f64().is_some_and(|figure| figure > 0.0), "{text}");
    }
    assert_eq!(metrics.get("checks"), None, "the plan has no assertion");
    assert_eq!(metrics["http_req_duration"]["thresholds"]["response p95 < 500ms"], false);
}

/// The files that jobs collect are there, and are what they say.
fn collected(program: &Program, names: &[&str]) {
    for name in names {
        match *name {
            "tests.xml" => assert!(program.read(name).contains("<testsuite name=\"plan.jmx\"")),
            "summary.md" => is_summary(&program.read(name)),
            "load.json" => is_widget(&program.read(name)),
            // The columns that Jenkins' Performance plug-in asks for by their names.
            "out.jtl" => {
                let rows = program.read(name);
                let heading: Vec<&str> =
                    rows.lines().next().expect("a heading").split(',').collect();
                for column in ["timeStamp", "elapsed", "label", "responseCode", "success"] {
                    assert!(heading.contains(&column), "{column}: {heading:?}");
                }
                assert!(rows.lines().count() > 1);
            }
            name => assert!(program.run_folder().join(name).exists(), "{name}"),
        }
    }
}

#[test]
fn the_commands_of_the_beginning() {
    let program = Program::new();
    let lines = examples("");
    let [run, compare] = &lines[..] else { panic!("{lines:?}") };
    std::fs::create_dir(program.path("before")).unwrap();
    succeeds(&job(&program, "cd before && throng run ../plan.jmx -Jloops=900 -Jms=2", &[]));
    succeeds(&job(&program, &format!("{run} -Jloops=900 -Jms=2"), &[]));
    collected(
        &program,
        &["tests.xml", "summary.md", "out.jtl", "report.html", "summary.json", "summary.txt"],
    );
    // Runs of seconds cannot decide it.
    let compared = job(&program, compare, &[]);
    assert_eq!(compared.code, 6, "{compared:?}");
    assert!(compared.out.contains("UNDECIDED: response p95 > +5%"), "{compared:?}");
    let changes = program.read("changes.md");
    assert!(changes.contains(" Comparison: `plan") && changes.contains("undecided"), "{changes}");
}

#[test]
fn jenkins() {
    let program = Program::new();
    let lines = examples("Jenkins");
    let command = after(&lines, "sh ");
    let command = command.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap();
    succeeds(&job(&program, command, &[]));
    for step in [("junit ", "tests.xml"), ("perfReport ", "out.jtl")] {
        assert_eq!(after(&lines, step.0), format!("'{}'", step.1));
    }
    assert_eq!(after(&lines, "archiveArtifacts "), "'runs/**/report.html, runs/**/summary.json'");
    collected(&program, &["tests.xml", "out.jtl", "report.html", "summary.json"]);
}

/// Answers one request with 201. Returns its address, and its head and body when it was there.
fn one_request() -> (String, std::thread::JoinHandle<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).expect("a head") > 0);
        }
        let length = head.to_lowercase().split_once("content-length: ").map(|(_, behind)| {
            behind.lines().next().unwrap_or_default().trim().parse::<usize>().expect("a length")
        });
        let mut body = vec![0; length.unwrap_or_default()];
        reader.read_exact(&mut body).expect("a body");
        let answer = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        reader.get_mut().write_all(answer).expect("an answer");
        (head, String::from_utf8(body).expect("text"))
    });
    (address, thread)
}

#[test]
fn gitlab() {
    let program = Program::new();
    let lines = examples("GitLab");
    let run = after(&lines, "- throng run ");
    let note = below(&lines, "- >").join(" ");
    // A job that ended before there was a summary, and one that is for no merge request.
    succeeds(&job(&program, &note, &[("CI_MERGE_REQUEST_IID", "7")]));
    succeeds(&job(&program, &format!("throng run {run}"), &[]));
    assert_eq!(after(&lines, "load_performance: "), "load.json");
    collected(&program, &["tests.xml", "summary.md", "load.json", "report.html"]);
    // The same of the run that is kept.
    let again = "throng report runs/* --k6-summary again.json && cmp again.json load.json";
    succeeds(&job(&program, again, &[]));
    succeeds(&job(&program, &note, &[]));
    let (address, request) = one_request();
    let variables = [
        ("CI_MERGE_REQUEST_IID", "7"),
        ("CI_PROJECT_ID", "42"),
        ("CI_API_V4_URL", &*address),
        ("NOTES_TOKEN", "secret"),
    ];
    succeeds(&job(&program, &note, &variables));
    let (head, body) = request.join().expect("the request");
    assert!(head.starts_with("POST /projects/42/merge_requests/7/notes HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("\r\nprivate-token: secret\r\n"), "{head}");
    let sent = body.strip_prefix("body=").expect("a body");
    assert_eq!(decoded(sent), program.read("summary.md"));
}

/// Text of a form.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let digits = std::str::from_utf8(&rest[..2]).expect("digits");
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).expect("digits")
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).expect("text")
}

#[test]
fn github() {
    let program = Program::new();
    let lines = examples("GitHub Actions");
    let run = after(&lines, "- run: ");
    let file = program.path("step.md").display().to_string();
    succeeds(&job(&program, &run, &[("GITHUB_STEP_SUMMARY", &file)]));
    is_summary(&program.read("step.md"));
    collected(&program, &["tests.xml", "report.html"]);
    // A client of GitHub that keeps what it is told.
    std::fs::create_dir(program.path("bin")).unwrap();
    program.write("bin/gh", "#!/bin/sh\necho \"$@\" > told\ncp summary.md sent.md\n");
    succeeds(&job(&program, "chmod +x bin/gh", &[]));
    let comment = below(&lines, "run: |").join("\n");
    succeeds(&job(&program, &comment, &[("PR", "12")]));
    assert_eq!(program.read("told"), "pr comment 12 --body-file summary.md\n");
    assert_eq!(program.read("sent.md"), program.read("step.md"));
}

/// Each line of the page with a command is one of those above, or those of Taurus and Maven, which `tests/tools` runs.
#[test]
fn no_command_is_left_out() {
    let page = page();
    let commands = page.lines().filter(|line| line.starts_with("    ") && line.contains("throng "));
    let of: Vec<usize> = ["", "Jenkins", "GitLab", "GitHub Actions", "Taurus", "Maven"]
        .iter()
        .map(|section| examples(section).iter().filter(|line| line.contains("throng ")).count())
        .collect();
    assert_eq!(of, [2, 1, 1, 2, 1, 1]);
    assert_eq!(commands.count(), of.iter().sum::<usize>());
}
