//! The program as users see it: command lines, exit codes and messages.

mod program;

use program::{Ended, PLAN, Program};

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
        (&["fly"][..], "there is no verb fly"),
        (&["rnu", "plan.jmx"], "did you mean throng run?"),
        (&["help", "chekc"], "did you mean throng check?"),
        (&["run", "plan.jmx", "--duration", "5"], "\"5\" has no unit"),
        (&["-n", "-t", "plan.jmx", "--duration", "5"], "\"5\" has no unit"),
        (&["run", "plan.jmx", "-t", "plan.jmx"], "cannot be used with"),
        (
            &["run", "-n", "-t", "plan.jmx", "-E", "https"],
            "-E (--proxyScheme) is not supported yet",
        ),
        (&["run"], "PLAN"),
        (&["run", "p.jmx", "--fly"], "--fly"),
        (&["run", "missing.jmx"], "doesn't exist or can't be opened"),
        (&["check", "missing.jmx"], "doesn't exist or can't be opened"),
        (&["-n", "-t", "missing.jmx"], "doesn't exist or can't be opened"),
        (&["-n", "-t"], "Missing argument to option -t"),
        (&["-t", "p.jmx"], "add -n"),
        (&["-n", "-s", "-t", "p.jmx"], "-s (--server) is not supported yet"),
        (&["-n", "-R", "a,-x", "-t", "p.jmx"], "-R: invalid machine \"-x\""),
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
fn no_command_prints_a_short_usage_that_is_no_error() {
    let program = Program::new();
    for line in [&[][..], &["jvm"], &["fleet"], &["mgs"], &["jmeter"]] {
        let ended = program.run(line);
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{line:?}: {ended:?}");
        assert!(!ended.err.contains("error:"), "{line:?}: {ended:?}");
        assert!(ended.err.contains("--help") || ended.err.contains("Commands:"), "{ended:?}");
    }
    let usage = program.run(&[]).err;
    assert!(usage.lines().count() <= 12 && usage.lines().all(|line| line.len() <= 90), "{usage}");
    for verb in ["demo", "check", "run", "capacity", "compare"] {
        assert!(usage.contains(&format!("\n  throng {verb} ")), "{verb}: {usage}");
    }
}

#[test]
fn jmeters_options_stand_once_in_help() {
    let program = Program::new();
    let (all, run) = (program.run(&["--help"]).out, program.run(&["help", "run"]).out);
    assert_eq!(all.matches("-n -t").count(), 1, "{all}");
    let (_, jmeters) = run.split_once("\nOptions of JMeter's command line:\n").expect(&run);
    for option in ["--testfile", "--nongui", "--proxyHost"] {
        assert_eq!(run.matches(option).count(), 1, "{option}: {run}");
        assert!(jmeters.contains(option), "{option}: {run}");
    }
}

#[test]
fn words_of_other_tools_are_answered_by_what_does_that_here() {
    let program = Program::new();
    std::fs::create_dir_all(program.path("tests")).expect("a folder");
    program.write("out.jtl", "");
    program.write("out.txt", "");
    for (line, words) in [
        (&["fleet", "start"][..], "throng fleet has no verb start: its verbs are up, resume, "),
        (&["fleet", "resum"], "did you mean throng fleet resume?"),
        (
            &["help", "run", "fast"],
            "throng run has no verb fast: throng help run lists its options",
        ),
        (&["help", "fleet", "curl"], "throng fleet has no verb curl: its verbs are up, resume, "),
    ] {
        let ended = program.run(line);
        assert_eq!(ended.code, 2, "{line:?}: {ended:?}");
        assert!(ended.err.contains(words), "{line:?}: {ended:?}");
    }
    for (word, help) in [
        ("wget", "throng curl takes the options of curl"),
        ("ftp://127.0.0.1/", "throng https://HOST/PATH requests one address"),
        ("har", "throng import makes one of curl commands"),
        ("k6", "runs JMeter plans"),
        ("start", "throng run PLAN.jmx"),
        ("STOP", "throng ctl stop"),
        ("chekc", "did you mean throng check?"),
        ("compair", "did you mean throng compare?"),
        ("plan", "throng run PLAN.jmx"),
        ("tests", "throng check tests"),
        ("out.jtl", "throng verdict out.jtl says"),
        ("out.txt", "throng run PLAN.jmx runs a plan"),
        ("capcty", "did you mean throng capacity?"),
    ] {
        let ended = program.run(&[word]);
        assert_eq!(ended.code, 2, "{word}: {ended:?}");
        assert!(ended.err.contains(help), "{word}: {ended:?}");
    }
    // Three letters away is no suggestion.
    for word in ["complarion", "prefli", "sweepers"] {
        let ended = program.run(&[word]);
        assert!(!ended.err.contains("did you mean"), "{word}: {ended:?}");
    }
}

#[test]
fn explain_prints_rules_exit_codes_and_pages_without_the_source_tree() {
    let program = Program::new();
    let list = program.run(&["explain"]);
    assert_eq!(list.code, 0, "{list:?}");
    for rule in answers::rules::ALL {
        assert!(
            list.out.contains(&format!("\n  {:<18} {}", rule.id, rule.looks_for.0)),
            "{list:?}"
        );
    }
    for (name, words) in [
        ("rate_limit", "rate_limit\n"),
        ("rate-limit", "rate_limit\n"),
        ("6", "The data cannot answer the question."),
        ("exit-codes", "134   crash"),
        ("criteria", "--fail"),
        ("mgs", "secret"),
    ] {
        let ended = program.run(&["explain", name]);
        assert_eq!(ended.code, 0, "{name}: {ended:?}");
        assert!(ended.out.contains(words), "{name}: {ended:?}");
        assert!(!ended.out.contains(".md)"), "{name}: {ended:?}");
    }
    let plan = include_str!("../../../examples/00-one-request/plan.jmx");
    assert_eq!(program.run(&["explain", "first-plan"]).out, plan);
    for (name, words) in [
        ("rate_limt", "did you mean throng explain rate_limit?"),
        ("capacity", "throng help capacity"),
        ("10", "there is nothing named 10"),
    ] {
        let ended = program.run(&["explain", name]);
        assert_eq!(ended.code, 2, "{name}: {ended:?}");
        assert!(ended.err.contains(words), "{name}: {ended:?}");
    }
}

/// Runs a JMeter command line that writes `out.jtl`. Returns the number of rows and the run's end, and deletes the
/// file.
fn rows_of(program: &Program, line: &[&str]) -> (usize, Ended) {
    let ended = program.run(line);
    assert_eq!(ended.code, 0, "{line:?}: {ended:?}");
    let rows = program.read("out.jtl").lines().count() - 1;
    std::fs::remove_file(program.path("out.jtl")).expect("it was there");
    (rows, ended)
}

#[test]
fn flags_of_jmeter_that_set_properties_do_so_in_jmeters_order() {
    let program = Program::new();
    program.write("base.properties", "users=2\nsummariser.name=base\n");
    program.write("more.properties", "loops=3\n");
    program.write("some.system", "loops=5\n");
    std::fs::create_dir_all(program.path("home/bin")).expect("a folder");
    program.write(
        "home/bin/jmeter.properties",
        "user.properties=user.properties\nsystem.properties=system.properties\nloops=2\nsummariser.name=home\n",
    );
    program.write("home/bin/user.properties", "users=4\n");
    program.write("home/bin/system.properties", "ms=2\n");
    let plan = ["-n", "-t", "plan.jmx", "-l", "out.jtl"];
    let run = |more: &[&str]| rows_of(&program, &[&plan[..], more].concat());

    let (rows, ended) = run(&["-p", "base.properties", "-q", "more.properties"]);
    assert_eq!(rows, 6, "{ended:?}");
    assert!(ended.out.contains("base ="), "{ended:?}");
    let (rows, ended) = run(&["-pbase.properties"]);
    assert_eq!(rows, 2, "{ended:?}");
    let long = ["--nongui", "--testfile", "plan.jmx", "--logfile=out.jtl", "--homedir", "home"];
    let (rows, ended) = rows_of(&program, &long);
    assert_eq!(rows, 8, "{ended:?}");
    assert!(ended.out.contains("home ="), "{ended:?}");
    let (rows, ended) = run(&["-Jusers=3", "-Jusers", "-J", "loops=2"]);
    assert_eq!(rows, 2, "an empty value removes: {ended:?}");
    let (rows, ended) = run(&["-S", "some.system", "-Dusers=2"]);
    assert_eq!(rows, 10, "{ended:?}");
    let (rows, ended) = run(&["-Ssome.system", "-Jloops=4", "--systemproperty", "loops=9"]);
    assert_eq!(rows, 4, "JMeter's own come first: {ended:?}");
    let (rows, ended) = run(&["-Gusers=7", "--globalproperty", "more.properties"]);
    assert_eq!(rows, 1, "these are for remote engines: {ended:?}");
    assert!(!ended.err.contains("users"), "{ended:?}");
}

#[test]
fn flags_of_jmeter_about_its_log_do_as_they_say() {
    let program = Program::new();
    let plan = ["-n", "-t", "plan.jmx", "-l", "out.jtl"];
    let run = |more: &[&str]| rows_of(&program, &[&plan[..], more].concat()).1;

    run(&["-j", "loud.log"]);
    assert!(program.read("loud.log").contains(" INFO "));
    run(&["--jmeterlogfile=quiet.log", "-LERROR"]);
    assert_eq!(program.read("quiet.log"), "");
    run(&["-jsome.log", "-LERROR", "--loglevel", "org.apache.jmeter=INFO"]);
    let log = program.read("some.log");
    assert!(
        log.lines().count() > 0 && log.lines().all(|line| line.contains(" org.apache.jmeter.")),
        "{log}"
    );
    let ended = run(&["-j", "day_'yyyy'.log", "-LLOUDER", "-i", "log4j2.xml"]);
    assert!(ended.err.contains("there is no log level LOUDER"), "{ended:?}");
    assert!(ended.err.contains("log4j2.xml is not read"), "{ended:?}");
    let names: Vec<String> = std::fs::read_dir(program.path("."))
        .expect("the folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("day_2") && name.len() == 12), "{names:?}");
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
            "<net.voorn.markov4jmeter.control.ApplicationState guiclass=\"x\" testclass=\"net.voorn.markov4jmeter.control.ApplicationState\" testname=\"Upload\"/><hashTree/>",
        ),
    );
    let ended = program.run(&["check", "plan.jmx"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    for words in [
        "Cannot run",
        "Runs natively",
        "plan.jmx:",
        "Test Plan > Users > Upload [net.voorn.markov4jmeter.control.ApplicationState]",
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
        (Some("unsupported"), Some("net.voorn.markov4jmeter.control.ApplicationState"))
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

#[test]
fn help_and_version_are_verbs_too_and_every_option_is_described() {
    let program = Program::new();
    for (line, words) in [
        (&["help"][..], "throng -n -t plan.jmx -l out.jtl"),
        (&["help", "run"], "Usage: throng run [OPTIONS] PLAN.jmx"),
        (&["help", "jvm", "install"], "--repository <URL>"),
        (&["version"], "running plans as JMeter 5.6.3"),
        (&["-V"], "running plans as JMeter 5.6.3"),
    ] {
        let ended = program.run(line);
        assert_eq!(ended.code, 0, "{line:?}: {ended:?}");
        assert!(ended.out.contains(words), "{line:?}: {ended:?}");
    }
    for verb in ["run", "check", "preflight", "target", "demo", "help", "jvm install", "jvm status"]
    {
        let line: Vec<&str> = ["help"].into_iter().chain(verb.split(' ')).collect();
        let help = program.run(&line).out;
        let options: Vec<&str> = help.lines().map(str::trim_start).collect();
        for pair in options.windows(2).filter(|pair| pair[0].starts_with(['-', '<', '['])) {
            let described = pair[0].contains("  ") || pair[1].starts_with(char::is_alphabetic);
            assert!(described, "{verb}: {} has no description:\n{help}", pair[0]);
        }
    }
}

#[test]
fn a_plan_is_run_by_its_name_alone_and_by_jmeters_options_behind_run() {
    let program = Program::new();
    for line in [
        &["plan.jmx", "-l", "out.jtl", "-Jloops=2"][..],
        &["run", "-n", "-t", "plan.jmx", "-l", "out.jtl", "-Jloops=2"],
        &["run", "-nt", "plan.jmx", "-l", "out.jtl", "-e", "-o", "pages", "-Jloops=2"],
        &["-nt", "plan.jmx", "-l", "out.jtl", "--quiet", "--runs", "elsewhere", "-Jloops=2"],
    ] {
        let (rows, ended) = rows_of(&program, line);
        assert_eq!(rows, 2, "{line:?}: {ended:?}");
        let reports = line.contains(&"-e");
        assert_eq!(program.path("pages/statistics.json").is_file(), reports, "{line:?}: {ended:?}");
        let _ = std::fs::remove_dir_all(program.path("pages"));
    }
    assert!(program.path("elsewhere").is_dir());
}

#[test]
fn a_quiet_run_says_nothing_and_json_still_goes_to_standard_output() {
    let program = Program::new();
    for line in [&["run", "plan.jmx", "--quiet"][..], &["-n", "-t", "plan.jmx", "--quiet"]] {
        let ended = program.run(line);
        assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (0, "", ""), "{line:?}");
    }
    let ended = program.run(&["-n", "-t", "plan.jmx", "--quiet", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!((summary["requests"].as_u64(), ended.err.as_str()), (Some(1), ""));
    let fails =
        program.run(&["run", "plan.jmx", "--quiet", "--fail", "count > 5", "--fail", "count > 0"]);
    assert_eq!((fails.code, fails.out.as_str()), (4, ""), "{fails:?}");
    assert_eq!(fails.err, "error: NOT MET: count > 5: 1\n");
    let noisy = program.run(&["run", "plan.jmx", "--quiet", "-Jno.such.property=1"]);
    assert!(noisy.out.is_empty() && noisy.err.contains("no.such.property"), "{noisy:?}");
}

#[test]
fn names_of_files_need_not_be_utf8() {
    let program = Program::new();
    // The shell's `printf` creates the bytes; octal 344 is not valid UTF-8.
    let script = r#"plan=$(printf 'pl\344ne.jmx'); rows=$(printf 'o\377.jtl'); extra=$(printf 'p\344.properties')
        cp plan.jmx "$plan"; echo loops=2 > "$extra"
        "$0" run "$plan" -l "$rows" -q "$extra" >/dev/null || exit
        "$0" -n -t "$plan" -l "$rows" -q "$extra" -j "$(printf 'l\377.log')" >/dev/null || exit
        "$0" run "$plan" -l "$rows" -q "$extra" --workers 2 -Jusers=2 >/dev/null || exit
        "$0" check "$plan" >/dev/null || exit
        test -s "$(printf 'l\377.log')" || exit
        wc -l < "$rows"; ls | wc -l"#;
    let ended = program.shell(script);
    assert_eq!(ended.code, 0, "{ended:?}");
    // The result file has a heading and 2 + 2 + 4 rows. The folder contains only the plan twice, rows, properties, log
    // and runs.
    assert_eq!(ended.out.split_whitespace().collect::<Vec<_>>(), ["9", "6"], "{ended:?}");
}

#[test]
fn bytes_of_a_file_that_is_no_plan_are_escaped() {
    let program = Program::new();
    for bytes in [
        &b"\x7fELF\x02\x01\x1b[31mred\x07\x00\xff\xfe"[..],
        b"\xff\xfe\x1b[2J",
        b"<a>\x1b]0;title\x07</a>",
    ] {
        std::fs::write(program.path("binary.jmx"), bytes).expect("a file");
        for verb in ["check", "run", "preflight"] {
            let ended = program.run(&[verb, "binary.jmx"]);
            assert_eq!(ended.code, 3, "{ended:?}");
            let shown = format!("{}{}", ended.out, ended.err);
            let raw = shown.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(raw, None, "{shown:?}");
        }
    }
}

/// Runs a shell line on a terminal of 80 columns and returns its output.
fn on_a_terminal(program: &Program, line: &str) -> String {
    let ended = program.shell(&format!(
        "export PROGRAM=$0; script -qec 'stty cols 80 rows 24; {line}' /dev/null </dev/null"
    ));
    assert_eq!(ended.code, 0, "{ended:?}");
    ended.out
}

#[test]
fn colours_and_renewed_lines_follow_one_rule() {
    let program = Program::new();
    let run = r#""$PROGRAM" run plan.jmx -Jno.such.property=1 -Jms=1500"#;
    let check = r#""$PROGRAM" check plan.jmx -Jno.such.property=1"#;
    for (settings, colours, renews) in [
        ("TERM=xterm", true, true),
        ("TERM=xterm NO_COLOR=1", false, true),
        ("TERM=dumb", false, false),
        // A build server sets `CI` and has a dumb terminal.
        ("TERM=dumb CI=true", false, false),
        ("TERM=dumb CLICOLOR_FORCE=1", true, false),
    ] {
        for line in [run, check] {
            let shown = on_a_terminal(
                &program,
                &format!("env -u NO_COLOR -u CLICOLOR_FORCE {settings} {line}"),
            );
            assert_eq!(shown.contains("\x1b[33;1m"), colours, "{settings} {line}: {shown:?}");
            assert_eq!(
                shown.contains("\x1b[J"),
                renews && line == run,
                "{settings} {line}: {shown:?}"
            );
        }
    }
    let ended = program.run(&["run", "plan.jmx", "-Jno.such.property=1"]);
    assert!(!ended.out.contains('\x1b') && !ended.err.contains('\x1b'), "{ended:?}");
}

#[test]
fn tables_fit_the_terminal_and_files_hold_all_columns() {
    let program = Program::new();
    let shown = on_a_terminal(&program, r#"TERM=dumb "$PROGRAM" run plan.jmx -Jloops=3"#);
    let table: Vec<&str> =
        shown.lines().map(str::trim_end).skip_while(|line| !line.starts_with("Label")).collect();
    assert!(table.iter().any(|line| line.starts_with("TOTAL")), "{shown}");
    for line in table.iter().take_while(|line| !line.is_empty()) {
        assert!(line.chars().count() < 80, "{line}");
    }
    let summary =
        std::fs::read_to_string(program.run_folder().join("summary.txt")).expect("a summary");
    assert!(summary.contains("Sent KB/sec"), "{summary}");
}
