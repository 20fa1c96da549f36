//! The program as its users meet it: command lines in, exit codes and words out.

mod program;

use program::{PLAN, Program};

#[test]
fn help_and_version_are_no_errors() {
    let program = Program::new();
    for line in [&["--help"][..], &["-h"], &["-?"]] {
        let ended = program.run(line);
        assert_eq!(ended.code, 0, "{line:?}: {ended:?}");
        assert!(
            ended.out.contains("run") && ended.out.contains("Exit codes"),
            "{line:?}: {ended:?}"
        );
    }
    for line in [&["--version"][..], &["-v"], &["-V"]] {
        let ended = program.run(line);
        assert_eq!(ended.code, 0, "{line:?}: {ended:?}");
        assert!(ended.out.starts_with("throng "), "{line:?}: {ended:?}");
    }
}

#[test]
fn mistakes_in_the_command_line_end_with_2() {
    let program = Program::new();
    for (line, words) in [
        (&[][..], "Usage"),
        (&["fly"], "fly"),
        (&["run"], "PLAN"),
        (&["run", "p.jmx", "--fly"], "--fly"),
        (&["run", "missing.jmx"], "doesn't exist or can't be opened"),
        (&["check", "missing.jmx"], "doesn't exist or can't be opened"),
        (&["-n", "-t", "missing.jmx"], "doesn't exist or can't be opened"),
        (&["-n", "-t"], "Missing argument to option -t"),
        (&["-t", "p.jmx"], "add -n"),
        (&["-n", "-r", "-t", "p.jmx"], "-r (--runremote) is not supported yet"),
        (&["-g", "a.jtl", "-o", "report"], "-g (--reportonly) is not supported yet"),
        (&["target", "nothing"], "nothing"),
        (&["target", "fixed", "--option", "size"], "KEY=VALUE"),
        (&["demo", "nothing"], "fitness"),
    ] {
        let ended = program.run(line);
        assert_eq!(ended.code, 2, "{line:?}: {ended:?}");
        assert!(ended.err.contains(words), "{line:?}: {ended:?}");
    }
}

#[test]
fn what_is_no_plan_ends_with_3_and_says_where() {
    let program = Program::new();
    program.write("page.jmx", "<html>\n</html>");
    program.write("cut.jmx", &PLAN[..PLAN.len() / 2]);
    program.write("bomb.jmx", &format!("<!DOCTYPE a [<!ENTITY b \"c\">]>{PLAN}"));
    for (file, words) in
        [("page.jmx", "page.jmx:1"), ("cut.jmx", "error[not-xml]"), ("bomb.jmx", "error[doctype]")]
    {
        for verb in ["run", "check"] {
            let ended = program.run(&[verb, file]);
            assert_eq!(ended.code, 3, "{verb} {file}: {ended:?}");
            assert!(
                format!("{}{}", ended.out, ended.err).contains(words),
                "{verb} {file}: {ended:?}"
            );
        }
    }
    assert!(!program.path("runs").exists(), "a plan that cannot run leaves no folder");
}

#[test]
fn check_tells_everything_at_once() {
    let program = Program::new();
    program.write(
        "plan.jmx",
        &PLAN.replace(
            "<!--more-->",
            "<FTPSampler guiclass=\"x\" testclass=\"FTPSampler\" testname=\"Upload\"/><hashTree/>",
        ),
    );
    let ended = program.run(&["check", "plan.jmx"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    for words in [
        "Cannot run",
        "Runs natively",
        "plan.jmx:",
        "Test Plan > Users > Upload [FTPSampler]",
        "--skip-unsupported",
    ] {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
    let ended = program.run(&["check", "--json", "plan.jmx"]);
    let report: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!((report["runs"].as_bool(), report["unsupported"].as_u64()), (Some(false), Some(1)));
    let upload = report["elements"]
        .as_array()
        .unwrap()
        .iter()
        .find(|element| element["name"] == "Upload")
        .unwrap();
    assert_eq!(
        (upload["level"].as_str(), upload["class"].as_str()),
        (Some("unsupported"), Some("FTPSampler"))
    );
    assert!(
        upload["line"].as_u64().unwrap() > 1 && !upload["consequence"].as_str().unwrap().is_empty()
    );
}

#[test]
fn a_plan_that_runs_is_checked_with_0() {
    let program = Program::new();
    let ended = program.run(&["check", "plan.jmx"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("The plan runs."), "{ended:?}");
}

#[test]
fn a_target_serves_for_the_time_it_was_given() {
    let ended = Program::new().run(&[
        "target",
        "fixed",
        "--port",
        "0",
        "--option",
        "size=3",
        "--seconds",
        "0",
    ]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.starts_with("listening on http://127.0.0.1:"), "{ended:?}");
}

#[test]
fn targets_are_listed_with_their_options() {
    let ended = Program::new().run(&["target"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in ["fixed", "fitness", "size=20", "tls=false"] {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
}
