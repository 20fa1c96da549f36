//! `throng web`: the list of runs in a folder, with their reports, comparisons and names. No request may read outside
//! that folder or delete files that belong to no run.

mod client;
mod program;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Child;

use client::{Answer, Links, until};
use program::Program;
use serde_json::{Value, json};

/// Creates a folder with `count` short runs.
fn runs(count: usize) -> Program {
    let program = Program::new();
    for _ in 0..count {
        let line =
            ["run", "plan.jmx", "--quiet", "--no-report", "-Jloops=50", "--fail", "p95 < 1m"];
        let ended = program.run(&line);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    program
}

fn serve(program: &Program) -> Links {
    Links::of(program.start(&["web"]))
}

fn list(links: &Links) -> Value {
    let mut list = Value::Null;
    until("a folder that was read", || {
        list = links.get("/api/runs", &links.full).json();
        list["looked"] == true && list["left"] == 0
    });
    list
}

fn entries(links: &Links) -> Vec<Value> {
    list(links)["entries"].as_array().expect("entries").clone()
}

fn end(mut links: Links) {
    let asked = std::process::Command::new("kill").arg(links.process().to_string()).status();
    assert!(asked.expect("kill").success());
    assert_eq!(links.end().code, 0);
}

fn folder(program: &Program, entry: &Value) -> PathBuf {
    program.path("runs").join(entry["folder"].as_str().expect("a name"))
}

#[test]
fn runs_are_listed_opened_and_compared() {
    let program = runs(2);
    let links = serve(&program);
    let list = list(&links);
    assert_eq!((&list["folder"], &list["read_only"]), (&json!("runs"), &json!(false)));
    assert_eq!(links.get("/api/runs", &links.read).json()["read_only"], true);
    let entries = list["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 2, "{list}");
    for entry in entries {
        assert_eq!(
            (&entry["kind"], &entry["state"], &entry["plan"], &entry["samples"]),
            (&json!("run"), &json!("ended"), &json!("plan.jmx"), &json!(50))
        );
        assert!(entry["words"]["en"].is_string() && entry["words"]["zh"].is_string(), "{entry}");
        assert!(entry["p95_us"].as_f64() > Some(0.0) && entry["at_ms"].as_i64() > Some(0));
        assert_eq!(
            (&entry["criteria"], &entry["error_share"]),
            (&json!({ "met": 1, "of": 1 }), &json!(0.0))
        );
        let file = folder(&program, entry).join("report.html");
        assert!(!file.exists());
        let page = links.get(entry["address"].as_str().expect("an address"), "");
        assert!(page.status == 200 && page.head.contains("sandbox allow-scripts"), "{}", page.head);
        assert!(!page.head.contains("allow-same-origin"), "the report knows no token");
        assert_eq!(fs::read_to_string(file).expect("a report"), page.body);
    }
    let (a, b) = (&entries[0]["id"], &entries[1]["id"]);
    // Viewing a comparison writes no files, and the read-only link permits it.
    let look = links.get(&format!("/api/compare?a={a}&b={b}"), &links.read).json();
    let page = links.get(look["address"].as_str().expect("an address"), "");
    assert!(page.status == 200 && page.body.contains("id=\"data\""), "{}", page.head);
    assert_eq!(self::entries(&links).len(), 2);
    let asked = json!({ "a": a, "b": b });
    assert_eq!(links.post("/api/compare", &links.read, &asked).status, 403);
    let kept = links.post("/api/compare", &links.full, &asked).json();
    assert_eq!(kept["ok"], true, "{kept}");
    let all = self::entries(&links);
    let made = all.iter().find(|entry| entry["kind"] == "comparison").expect("an entry");
    assert_eq!(made["address"], kept["address"]);
    assert!(made["words"]["en"].is_string() && made["plan"] == "plan.jmx", "{made}");
    // Runs shorter than a second are compared with all their requests.
    assert!(made["samples"] == made["a"]["samples"] && made["of"]["en"] == "B", "{made}");
    assert!(made["samples"].as_u64().is_some_and(|samples| samples > 0), "{made}");
    // The program builds the comparison's report again on request, by page and by command.
    let path = folder(&program, made);
    fs::remove_file(path.join("report.html")).expect("a report");
    assert_eq!(links.get(made["address"].as_str().expect("an address"), "").status, 200);
    let again = program.run(&["report", path.to_str().expect("a path")]);
    assert_eq!(again.code, 0, "{again:?}");
    for (sides, status) in [
        (json!({ "a": a, "b": a }), 200),
        (json!({ "a": a, "b": made["id"] }), 200),
        (json!({ "a": a, "b": 999 }), 404),
        (json!({ "a": "../x", "b": a }), 400),
        (json!({ "a": a }), 400),
    ] {
        let answer = links.post("/api/compare", &links.full, &sides);
        assert_eq!(answer.status, status, "{sides}");
        assert!(status != 200 || answer.json()["ok"] == false, "{sides}");
    }
    end(links);
}

/// Runs a command that leaves a result in the list. Returns its list entry and the JSON of its file.
fn answered(line: &[&str], file: &str) -> (Value, Value) {
    let program = Program::new();
    let ended = program.run(&[line, &["-Jms=20", "-Jloops=-1"]].concat());
    // On a busy machine the result is doubtful, and it is listed nevertheless.
    assert!([0, 4].contains(&ended.code), "{ended:?}");
    let links = serve(&program);
    let entry = entries(&links).remove(0);
    let text = fs::read_to_string(folder(&program, &entry).join(file)).expect("an answer");
    end(links);
    (entry, serde_json::from_str(&text).expect("JSON"))
}

/// True if the list entry says that its metrics belong to this point's load.
fn is_of(entry: &Value, point: &Value) -> bool {
    let users = point["load"].as_f64().expect("a load");
    entry["of"]["en"] == format!("at {users} user{}", if users == 1.0 { "" } else { "s" })
}

#[test]
fn sweeps_are_listed_with_the_figures_of_their_best_point() {
    let line = ["sweep", "plan.jmx", "--users", "1,2", "--at-least", "2s", "--at-most", "3s"];
    let (entry, sweep) = answered(&[&line[..], &["--ramp", "0s"]].concat(), "sweep.json");
    let points = sweep["points"].as_array().expect("points");
    let samples: u64 = points.iter().filter_map(|of| of["figures"]["samples"].as_u64()).sum();
    assert_eq!((&entry["kind"], &entry["samples"]), (&json!("sweep"), &json!(samples)));
    assert!(entry["length_ms"].as_i64() >= Some(4000), "{entry}");
    let shown = points.iter().find(|point| is_of(&entry, point)).expect("a point");
    let figures = &shown["figures"];
    assert_eq!(entry["rate_per_s"], figures["rate"], "{entry} {sweep}");
    assert_eq!(entry["error_share"], figures["errors"]);
    let p95 = figures["p95"]["value"].as_f64().expect("a p95") * 1000.0;
    assert_eq!(entry["p95_us"].as_f64(), Some(p95));
    // Every other point of the sweep has a lower rate or is excluded.
    let lower = |of: &Value| of["figures"]["rate"].as_f64() <= figures["rate"].as_f64();
    assert!(points.iter().all(|of| lower(of) || of["excluded"].is_string()), "{entry} {sweep}");
}

#[test]
fn searches_are_listed_with_the_figures_at_their_lower_bound() {
    let line = ["capacity", "plan.jmx", "--fail", "p99 < 30s", "--at-most", "4", "--probe", "2s"];
    let (entry, search) = answered(&[&line[..], &["--settle", "1s"]].concat(), "capacity.json");
    let probes = search["probes"].as_array().expect("probes");
    let samples: u64 = probes.iter().filter_map(|of| of["samples"].as_u64()).sum();
    assert_eq!((&entry["kind"], &entry["samples"]), (&json!("capacity"), &json!(samples)));
    let lower = &search["answer"]["lower"];
    let Some(at) = probes.iter().rev().find(|probe| probe["load"] == *lower) else {
        assert!(lower.is_null() && entry["rate_per_s"].is_null(), "{entry}");
        return;
    };
    assert!(is_of(&entry, at), "{entry}");
    let p95 = at["p95"].as_f64().expect("a p95") * 1000.0;
    assert_eq!(entry["p95_us"].as_f64(), Some(p95), "{entry}");
    assert!(entry["rate_per_s"].as_f64() > Some(0.0), "{entry}");
}

#[test]
fn runs_are_named_and_deleted_but_not_by_who_may_only_read() {
    let program = runs(2);
    let links = serve(&program);
    let entry = entries(&links).remove(0);
    let (id, path) = (&entry["id"], folder(&program, &entry));
    let named = json!({ "id": id, "name": "基线 <b>", "tags": ["release 2", "x"] });
    for (to, body) in [("/api/name", &named), ("/api/delete", &json!({ "ids": [id] }))] {
        assert_eq!(links.post(to, &links.read, body).status, 403, "{to}");
        assert_eq!(links.post(to, "", body).status, 401, "{to}");
    }
    assert_eq!(links.post("/api/name", &links.full, &named).json()["ok"], true);
    let note = |entries: &[Value]| {
        entries.iter().find(|entry| entry["id"] == *id).map(|entry| entry["note"].clone())
    };
    let wanted = json!({ "name": "基线 <b>", "tags": ["release 2", "x"] });
    assert_eq!(note(&entries(&links)), Some(wanted));
    assert!(path.join("note.json").exists());
    for (name, tags) in
        [("a\nb", json!([])), ("\u{202e}x", json!([])), ("", json!(["y".repeat(41)]))]
    {
        let answer =
            links.post("/api/name", &links.full, &json!({ "id": id, "name": name, "tags": tags }));
        assert_eq!(answer.json()["ok"], false, "{name:?}");
    }
    for body in [json!({ "id": "x" }), json!({ "ids": id }), json!({ "ids": ["../x"] }), json!([])]
    {
        assert_eq!(links.post("/api/delete", &links.full, &body).status, 400, "{body}");
    }
    // A file that belongs to no run prevents the deletion of the whole folder.
    fs::write(path.join("notes.txt"), "mine").expect("a file");
    let refused = links.post("/api/delete", &links.full, &json!({ "ids": [id] })).json();
    assert!(refused["words"]["en"].as_str().expect("words").contains("notes.txt"), "{refused}");
    assert!(path.join("plan.jmx").exists());
    fs::remove_file(path.join("notes.txt")).expect("it goes");
    let done = links.post("/api/delete", &links.full, &json!({ "ids": [id] })).json();
    assert_eq!(done["ok"], true, "{done}");
    assert!(!path.exists());
    let left = entries(&links);
    assert_eq!((left.len(), note(&left)), (1, None));
    assert_eq!(links.get(entry["address"].as_str().expect("an address"), "").status, 404);
    end(links);
}

#[test]
fn a_run_that_goes_on_is_shown_as_such_and_cannot_be_deleted() {
    let program = Program::new();
    let mut child: Child = program.start(&[
        "run",
        "plan.jmx",
        "--quiet",
        "-Jms=20",
        "--users",
        "3",
        "--duration",
        "50m",
    ]);
    until("a run", || program.path("runs").exists());
    let links = serve(&program);
    let mut entry = Value::Null;
    until("its last second", || {
        entry = entries(&links).first().cloned().unwrap_or_default();
        entry["words"]["en"].as_str().is_some_and(|words| words.contains("3 users"))
    });
    assert_eq!(entry["state"], "running");
    let refused = links.post("/api/delete", &links.full, &json!({ "ids": [entry["id"]] })).json();
    assert!(refused["words"]["en"].as_str().expect("words").contains("stop it first"), "{refused}");
    // The report of a running test covers the time so far and is not written to the folder.
    assert_eq!(links.get(entry["address"].as_str().expect("an address"), "").status, 200);
    assert!(!folder(&program, &entry).join("report.html").exists());
    child.kill().expect("it runs");
    child.wait().expect("an end");
    until("its end", || entries(&links)[0]["state"] == "unfinished");
    let entry = entries(&links).remove(0);
    assert!(entry["samples"].as_u64() > Some(0), "{entry}");
    end(links);
}

/// Sends a GET request with an arbitrary request target.
fn raw(links: &Links, target: &str) -> Answer {
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        links.port, links.full
    );
    links.send(head.as_bytes())
}

#[test]
fn only_who_has_a_token_and_calls_the_server_by_its_name_is_answered() {
    let program = runs(1);
    let links = serve(&program);
    let entry = entries(&links).remove(0);
    for path in ["/api/runs", "/api/events", "/api/compare?a=1&b=2"] {
        for token in ["", "x", &links.full[1..]] {
            assert_eq!(links.get(path, token).status, 401, "{path}");
        }
    }
    let page = links.get("/", "");
    assert!(page.status == 200 && !page.body.contains(entry["folder"].as_str().expect("a name")));
    for never in ["set-cookie", "access-control", "unsafe-inline"] {
        assert!(!page.head.to_lowercase().contains(never), "{}", page.head);
    }
    let own = format!("127.0.0.1:{}", links.port);
    let body = json!({ "ids": [entry["id"]] }).to_string();
    for headers in [
        "Host: evil.example".to_owned(),
        format!("Host: {own}\r\nOrigin: http://evil.example"),
        format!("Host: {own}\r\nOrigin: null"),
        format!("Host: {own}\r\nSec-Fetch-Site: cross-site"),
    ] {
        let token = &links.full;
        let request = format!(
            "POST /api/delete HTTP/1.1\r\n{headers}\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(links.send(request.as_bytes()).status, 403, "{headers}");
        // Requests for reports carry no token, so that links can open them. The secret is in the address, and the
        // server checks the Host header.
        let address = entry["address"].as_str().expect("an address");
        let of_report =
            links.send(format!("GET {address} HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes());
        assert!(headers.contains("Sec-Fetch") || of_report.status == 403, "{headers}");
    }
    let huge = format!(
        "POST /api/name HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer {}\r\nContent-Length: 99999999\r\n\r\n",
        links.full
    );
    assert_eq!(links.send(huge.as_bytes()).status, 413);
    // Clients that send slowly or nothing do not delay other clients.
    let slow: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = links.connect();
            let _ = stream.write_all(b"GET /api/runs HTTP/1.1\r\nHo");
            stream
        })
        .collect();
    assert_eq!(links.get("/api/runs", &links.read).status, 200);
    for mut stream in slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(!String::from_utf8_lossy(&rest).contains(" 200 "));
    }
    assert!(folder(&program, &entry).exists());
    end(links);
}

#[test]
fn no_request_names_a_path() {
    let program = runs(1);
    fs::write(program.path("secret.html"), "SECRET").expect("a file");
    let links = serve(&program);
    let name = entries(&links)[0]["folder"].as_str().expect("a name").to_owned();
    for target in [
        format!("/report/{name}"),
        format!("/report/../{name}/plan.jmx"),
        "/report/..%2f..%2fsecret.html".into(),
        "/report/%2e%2e/%2e%2e/secret.html".into(),
        "/../secret.html".into(),
        "//secret.html".into(),
        "/report/".into(),
        format!("/{name}/plan.jmx"),
        "/api/compare?a=..%2fsecret&b=1".into(),
        "/api/compare?a=1&b=%00".into(),
        "/api/report?run=../../secret.html".into(),
    ] {
        let answer = raw(&links, &target);
        assert!([400, 404].contains(&answer.status), "{target}: {}", answer.head);
        assert!(!answer.body.contains("SECRET") && !answer.body.contains("jmeterTestPlan"));
    }
    end(links);
}

/// Copies a run's folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
    }
}

#[test]
fn links_are_not_followed_and_foreign_paths_not_read() {
    let program = runs(1);
    let runs = program.path("runs");
    let own = program.run_folder();
    // Outside the folder of runs: a run and a file that the server must not read.
    let outside = program.path("outside");
    copy(&own, &outside);
    fs::write(outside.join("report.html"), "SECRET").expect("a file");
    symlink(&outside, runs.join("link")).expect("a link");
    // Creates a run whose files are symbolic links, and a run whose files are pipes, on which a read would block.
    for name in ["linked", "half"] {
        copy(&own, &runs.join(name));
    }
    for file in ["record", "summary.json", "report.html"] {
        let path = runs.join("linked").join(file);
        let _ = fs::remove_file(&path);
        symlink(outside.join(file), path).expect("a link");
    }
    symlink(outside.join("properties.txt"), runs.join("half/results.jtl")).expect("a link");
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(runs.join(name)).status();
        assert!(made.expect("mkfifo").success());
    };
    fs::create_dir(runs.join("piped")).expect("a folder");
    for file in ["seconds.jsonl", "properties.txt"] {
        fs::write(runs.join("piped").join(file), "").expect("a file");
    }
    pipe("piped/summary.json");
    pipe("piped/record");
    // A comparison whose description names a run outside the folder.
    let sources = json!({
        "a": [own], "b": [outside], "at": null,
        "asked": { "floor": 0.02, "anyway": true, "fail_if": [] },
    });
    fs::create_dir(runs.join("compare-x")).expect("a folder");
    let file = json!({ "a": "x", "b": "y", "sources": sources });
    fs::write(runs.join("compare-x/compare.json"), file.to_string()).expect("a file");
    let links = serve(&program);
    let all = entries(&links);
    let find = |name: &str| all.iter().find(|entry| entry["folder"] == name);
    assert!(find("link").is_none(), "a link is no entry");
    for name in ["linked", "half", "piped", "compare-x"] {
        let entry = find(name).unwrap_or_else(|| panic!("{name}: {all:?}"));
        let answer = links.get(entry["address"].as_str().expect("an address"), "");
        assert!(!answer.body.contains("SECRET"), "{name}");
        assert_eq!(answer.status, 409, "{name}: {}", answer.body);
        assert!(!answer.body.contains(outside.to_str().expect("a path")), "{}", answer.body);
        let id = &entry["id"];
        let refused = links.post("/api/delete", &links.full, &json!({ "ids": [id] })).json();
        assert!(refused["ok"] == false || name == "compare-x", "{name}: {refused}");
    }
    let linked = find("linked").expect("an entry");
    assert_eq!(linked["samples"], Value::Null, "its summary is a link: {linked}");
    assert!(outside.join("record").exists() && own.join("record").exists());
    end(links);
}

#[test]
fn a_folder_that_is_none_is_told_of() {
    let program = Program::new();
    for (line, words) in [
        (&["web"][..], "cannot open runs"),
        (&["web", "plan.jmx"], "is not a folder"),
        (&["web", ".", "--listen", "no:such:address"], "not an address to listen on"),
    ] {
        let ended = program.run(line);
        assert!(ended.code == 2 && ended.err.contains(words), "{line:?}: {ended:?}");
    }
}
