//! Strings of plans and servers with terminal control sequences: the terminal shows them as text and does not
//! execute them.

use crate::peer::answering;
use crate::program::Ended;
use crate::trial::Trial;

/// Characters that must never reach a terminal: ESC, CSI (U+009B), bell, carriage return, backspace, and the
/// right-to-left override.
const STEERING: [char; 6] = ['\u{1b}', '\u{9b}', '\u{7}', '\r', '\u{8}', '\u{202e}'];

fn holds_none(ended: &Ended, trial: &Trial) {
    let folder = trial.program.run_folder();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a text");
    for (name, text) in [
        ("standard output", ended.out.clone()),
        ("standard error", ended.err.clone()),
        ("throng.log", read("throng.log")),
        ("summary.txt", read("summary.txt")),
    ] {
        assert!(!text.contains(STEERING), "{name}: {text:?}");
    }
}

#[test]
fn reason_phrases_are_shown() {
    let trial = Trial::new();
    let phrase = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    let port = answering(format!("HTTP/1.1 500 {phrase}\r\nContent-Length: 0\r\n\r\n"));
    for more in [None, Some("--json")] {
        let port = format!("-Jport={port}");
        let line = ["run", "http.jmx", "-Jloops=1", "-l", "rows.jtl", &port];
        let ended = trial.run(&[&line[..], more.as_slice()].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.out.contains("500") && ended.out.contains("owned"), "{ended:?}");
        if more.is_some() {
            let json: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
            assert!(json["errors"].to_string().contains("owned"), "{json}");
        }
        holds_none(&ended, &trial);
        std::fs::remove_dir_all(trial.program.path("runs")).expect("the run");
    }
}

#[test]
fn names_and_lines_of_a_plan_are_shown() {
    let trial = Trial::new();
    let plan = trial.program.read("plan.jmx");
    let name = "a&#x9b;2J&#x202e;\u{85}${__log(x\u{9b}31m\u{202e},OUT)}${__log(y\u{9b}32m,WARN)}";
    trial
        .program
        .write("named.jmx", &plan.replace("testname=\"Sleep\"", &format!("testname=\"{name}\"")));
    let ended = trial.run(&["run", "named.jmx"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("2J\\u{202e}"), "{ended:?}");
    assert!(ended.out.contains("x\\x9b31m"), "{ended:?}");
    holds_none(&ended, &trial);
    for line in [&["check", "named.jmx"][..], &["check", "--json", "named.jmx"]] {
        let ended = trial.run(line);
        assert!(!ended.out.contains(STEERING) && !ended.err.contains(STEERING), "{ended:?}");
    }
    let ended = trial.run(&["check", "\u{1b}[2Jno.jmx"]);
    assert!(ended.err.contains("\\x1b[2Jno.jmx") && !ended.err.contains('\u{1b}'), "{ended:?}");
}
