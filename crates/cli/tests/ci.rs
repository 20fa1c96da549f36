//! Runs the commands of docs/ci.md as CI servers run them. Each command must create the files that the page names.

mod program;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use program::{Ended, Program};

/// Returns a folder with a plan that makes enough samples for the criteria of the page.
fn with_samples() -> Program {
    let program = Program::new();
    program.write("plan.jmx", &program::PLAN.replace("${__P(loops,1)}", "20"));
    program
}

/// Returns the text of docs/ci.md.
fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md");
    std::fs::read_to_string(path).expect("the page")
}

/// Returns the lines of the indented examples in a section of docs/ci.md. The text above the first heading is the
/// section "".
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

/// Returns the rest of the only line that begins with `begin`.
fn after(lines: &[String], begin: &str) -> String {
    let found: Vec<&str> =
        lines.iter().filter_map(|line| line.trim_start().strip_prefix(begin)).collect();
    assert_eq!(found.len(), 1, "{begin}: {lines:?}");
    found[0].to_owned()
}

/// Returns the lines below the line `head` that are indented more than it.
fn below(lines: &[String], head: &str) -> Vec<String> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let at = lines.iter().position(|line| line.trim() == head).expect(head);
    let deeper = |line: &&String| depth(line) > depth(&lines[at]);
    lines[at + 1..].iter().take_while(deeper).map(|line| line.trim().to_owned()).collect()
}

/// Runs a command as a CI job does, with the folder of `throng` in PATH.
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

/// Asserts that the text is the Markdown summary. The first sign is not checked, because it depends on the machine's
/// load.
fn is_summary(text: &str) {
    let words = " Load test: `plan.jmx` – all criteria met\n";
    assert!(text.starts_with("## ") && text.contains(words), "{text}");
}

/// Asserts that the file in k6's format contains the metrics that GitLab's widget reads.
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

/// Asserts that the files that jobs collect exist and have the right content.
fn collected(program: &Program, names: &[&str]) {
    for name in names {
        match *name {
            "tests.xml" => assert!(program.read(name).contains("<testsuite name=\"plan.jmx\"")),
            "summary.md" => is_summary(&program.read(name)),
            "load.json" => is_widget(&program.read(name)),
            // Jenkins' Performance plug-in reads these columns by name.
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
    let program = with_samples();
    let lines = [examples(""), examples("Files")].concat();
    let [run, compare] = &lines[..] else { panic!("{lines:?}") };
    std::fs::create_dir(program.path("before")).unwrap();
    succeeds(&job(&program, "cd before && throng run ../plan.jmx -Jloops=900 -Jms=2", &[]));
    succeeds(&job(&program, &format!("{run} -Jloops=900 -Jms=2"), &[]));
    collected(
        &program,
        &["tests.xml", "summary.md", "out.jtl", "report.html", "summary.json", "summary.txt"],
    );
    // Runs of a few seconds are too short to decide the comparison.
    let compared = job(&program, compare, &[]);
    assert_eq!(compared.code, 6, "{compared:?}");
    assert!(compared.out.contains("UNDECIDED: response p95 > +5%"), "{compared:?}");
    let changes = program.read("changes.md");
    assert!(changes.contains(" Comparison: `plan") && changes.contains("undecided"), "{changes}");
}

#[test]
fn jenkins() {
    let program = with_samples();
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

/// Starts a server that answers one request with 201. Returns its address, and a thread that returns the request's head
/// and body.
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
    let program = with_samples();
    let lines = examples("GitLab");
    let run = after(&lines, "- throng run ");
    let note = below(&lines, "- >").join(" ");
    // A job that ended without a summary must not fail. Below, a job without a merge request must not fail either.
    succeeds(&job(&program, &note, &[("CI_MERGE_REQUEST_IID", "7")]));
    succeeds(&job(&program, &format!("throng run {run}"), &[]));
    assert_eq!(after(&lines, "load_performance: "), "load.json");
    collected(&program, &["tests.xml", "summary.md", "load.json", "report.html"]);
    // `throng report` must write the same k6 summary from the recorded run.
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

/// Decodes a URL-encoded form value.
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
    let program = with_samples();
    let lines = examples("GitHub Actions");
    let run = after(&lines, "- run: ");
    let file = program.path("step.md").display().to_string();
    succeeds(&job(&program, &run, &[("GITHUB_STEP_SUMMARY", &file)]));
    is_summary(&program.read("step.md"));
    collected(&program, &["tests.xml", "report.html"]);
    // A fake GitHub client `gh` that records its arguments and the file it sends.
    std::fs::create_dir(program.path("bin")).unwrap();
    program.write("bin/gh", "#!/bin/sh\necho \"$@\" > told\ncp summary.md sent.md\n");
    succeeds(&job(&program, "chmod +x bin/gh", &[]));
    let comment = below(&lines, "run: |").join("\n");
    succeeds(&job(&program, &comment, &[("PR", "12")]));
    assert_eq!(program.read("told"), "pr comment 12 --body-file summary.md\n");
    assert_eq!(program.read("sent.md"), program.read("step.md"));
}

/// Every line of docs/ci.md with a command is tested by this file, or by `tests/tools` (Taurus and Maven).
#[test]
fn no_command_is_left_out() {
    let page = page();
    let commands = page.lines().filter(|line| line.starts_with("    ") && line.contains("throng "));
    let of: Vec<usize> = ["", "Files", "Jenkins", "GitLab", "GitHub Actions", "Taurus", "Maven"]
        .iter()
        .map(|section| examples(section).iter().filter(|line| line.contains("throng ")).count())
        .collect();
    assert_eq!(of, [1, 1, 1, 1, 2, 1, 1]);
    assert_eq!(commands.count(), of.iter().sum::<usize>());
}

#[test]
fn secrets_in_names_of_samplers_are_in_no_file_of_the_result() {
    let program = Program::new();
    let plan = program::PLAN.replace("\"Sleep\"", "\"GET /x?token=hu5h of bob:hu5h@db.internal\"");
    program.write("plan.jmx", &plan);
    let label = "error% < 1 for label GET /x?token=hu5h of bob:hu5h@db.internal";
    let line = ["run", "plan.jmx", "--junit", "t.xml", "--markdown", "s.md", "--fail", label];
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    let folder = program.run_folder();
    let of_folder = ["summary.txt", "summary.json", "report.html"]
        .map(|name| std::fs::read_to_string(folder.join(name)).expect(name));
    let texts = [ended.out, program.read("t.xml"), program.read("s.md")];
    for text in texts.iter().chain(&of_folder) {
        assert!(text.contains("token=***") && !text.contains("hu5h"), "{text}");
    }
}
