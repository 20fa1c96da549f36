//! The installed program: the `jmeter` and `java` replacements, shell completions, manual pages, and a plan on standard
//! input.

mod program;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use program::{Ended, PLAN, Program, ended};

/// A fake `jmeter` that prints its arguments and exits with 42.
const REAL: &str = "#!/bin/sh\necho \"real: $*\"\nexit 42\n";

fn executable(program: &Program, name: &str, text: &str) {
    let path = program.path(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
    fs::write(&path, text).expect("a writable folder");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an own file");
}

/// Runs `jmeter` from a shell that does not know Throng, with these folders first in PATH.
fn jmeter(program: &Program, folders: &[&str], line: &str) -> Ended {
    let folders: Vec<_> = folders.iter().map(|name| program.path(name)).collect();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&rest)));
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("jmeter {line}")]).current_dir(program.path("."));
    shell.env("PATH", path.expect("a PATH")).env_remove("JMETER_HOME").stdin(Stdio::null());
    // Hides JMeter's jars. With them, Throng would first try to run the plan with Java.
    shell.env_remove("THRONG_JMETER").env("THRONG_CACHE", program.path("no-cache"));
    ended(shell.output().expect("a shell"))
}

#[test]
fn scripts_that_call_jmeter_use_throng_and_jmeter_for_the_rest() {
    let program = Program::new();
    executable(&program, "real/jmeter", REAL);
    let installed = program.run(&["jmeter", "install-shim", "shim"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    let folders = &["shim", "real"][..];

    let ran = jmeter(&program, folders, "-n -t plan.jmx -l out.jtl -Jusers=2");
    assert_eq!((ran.code, program.read("out.jtl").lines().count()), (0, 3), "{ran:?}");
    assert!(ran.out.contains("... end of run") && !ran.out.contains("real:"), "{ran:?}");

    // Throng refuses the plan before the run starts, so JMeter runs it.
    program.write("odd.jmx", &PLAN.replace("JavaSampler", "NobodyHasThisSampler"));
    let other = jmeter(&program, folders, "-n -t odd.jmx -l other.jtl");
    assert_eq!((other.code, other.out.as_str()), (42, "real: -n -t odd.jmx -l other.jtl\n"));
    assert!(other.err.contains("NobodyHasThisSampler"), "{other:?}");
    assert!(other.err.contains("JMeter runs it instead"), "{other:?}");

    // JMeter itself handles calls that open its window.
    for (line, out) in [("", "real: \n"), ("-t plan.jmx", "real: -t plan.jmx\n")] {
        let ended = jmeter(&program, folders, line);
        assert_eq!((ended.code, ended.out.as_str()), (42, out), "{line}: {ended:?}");
    }

    // If there is no JMeter, the `jmeter` replacement keeps Throng's own message and exit code.
    let alone = jmeter(&program, &["shim"], "-n -t odd.jmx");
    assert_eq!(alone.code, 3, "{alone:?}");
    assert!(alone.err.contains("JMETER_HOME"), "{alone:?}");
}

#[test]
fn a_jmeter_that_calls_the_stand_in_does_not_go_round_for_ever() {
    let program = Program::new();
    assert_eq!(program.run(&["jmeter", "install-shim", "shim"]).code, 0);
    executable(
        &program,
        "real/jmeter",
        &format!("#!/bin/sh\nexec {} \"$@\"\n", program.path("shim/jmeter").display()),
    );
    let ended = jmeter(&program, &["shim", "real"], "-t plan.jmx");
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("THRONG_JMETER"), "{ended:?}");
}

#[test]
fn a_stand_in_knows_its_jmeter_and_is_taken_away_again() {
    let program = Program::new();
    executable(&program, "it's a home/bin/jmeter", REAL);
    let line = ["jmeter", "install-shim", "shim", "--jmeter", "it's a home"];
    assert_eq!(program.run(&line).code, 0);
    // Installing the `jmeter` replacement a second time replaces the first.
    assert_eq!(program.run(&line).code, 0);
    let ended = jmeter(&program, &["shim"], "-t plan.jmx");
    assert_eq!((ended.code, ended.out.as_str()), (42, "real: -t plan.jmx\n"), "{ended:?}");

    // A `jmeter` that Throng did not install is neither replaced nor removed.
    for line in [
        &["jmeter", "install-shim", "it's a home/bin"][..],
        &["jmeter", "install-shim", "it's a home/bin", "--remove"],
        &["jmeter", "install-shim", "shim", "--jmeter", "nowhere"],
    ] {
        let refused = program.run(line);
        assert_eq!(refused.code, 2, "{line:?}: {refused:?}");
        assert_eq!(program.read("it's a home/bin/jmeter"), REAL);
    }
    assert_eq!(program.run(&["jmeter", "install-shim", "shim", "--remove"]).code, 0);
    assert!(!program.path("shim/jmeter").exists());
}

/// Calls the launcher `throng-java` as a tool calls `java`, with JAVA_HOME set to `home`.
fn java(program: &Program, home: &str, line: &str) -> Ended {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("tools/throng-java {line}")]).current_dir(program.path("."));
    shell.env("JAVA_HOME", program.path(home)).env_remove("THRONG_JAVA_LAUNCHER");
    shell.env_remove("JMETER_HOME").env("THRONG_CACHE", program.path("no-cache"));
    ended(shell.stdin(Stdio::null()).output().expect("a shell"))
}

#[test]
fn tools_that_start_jmeter_by_java_use_throng_and_java_for_the_rest() {
    let program = Program::new();
    executable(&program, "home/bin/java", REAL);
    let installed = program.run(&["jmeter", "install-java", "tools"]);
    assert_eq!(installed.code, 0, "{installed:?}");

    let options = "-Xms512M -Xmx512M -Djava.awt.headless=true -jar ApacheJMeter-5.6.3.jar";
    let ran = java(&program, "home", &format!("{options} -n -t plan.jmx -l out.jtl -Jusers=2"));
    assert_eq!((ran.code, program.read("out.jtl").lines().count()), (0, 3), "{ran:?}");
    assert!(ran.out.contains("... end of run") && !ran.out.contains("real:"), "{ran:?}");

    program.write("odd.jmx", &PLAN.replace("JavaSampler", "NobodyHasThisSampler"));
    let line = format!("{options} -n -t odd.jmx -l other.jtl");
    let other = java(&program, "home", &line);
    assert_eq!((other.code, other.out), (42, format!("real: {line}\n")));
    assert!(other.err.contains("Java runs it instead"), "{}", other.err);
    for line in ["-version".to_owned(), format!("{options} -t plan.jmx")] {
        let ended = java(&program, "home", &line);
        assert_eq!((ended.code, ended.out), (42, format!("real: {line}\n")));
    }

    // The launcher ignores a `java` that is the launcher itself, and detects a `java` that calls the launcher, so no
    // endless loop arises.
    fs::create_dir_all(program.path("self/bin")).expect("a folder");
    std::os::unix::fs::symlink(program.path("tools/throng-java"), program.path("self/bin/java"))
        .expect("a link");
    let again = format!("#!/bin/sh\nexec {} \"$@\"\n", program.path("tools/throng-java").display());
    executable(&program, "round/bin/java", &again);
    let round = java(&program, "round", "-version");
    assert!(round.code == 2 && round.err.contains("JAVA_HOME"), "{round:?}");
    let own = java(&program, "self", "-version");
    // The launcher runs another Java of PATH, or fails with 2 if there is none.
    assert!([0, 2].contains(&own.code), "{own:?}");

    executable(&program, "theirs/throng-java", REAL);
    for line in [
        &["jmeter", "install-java", "theirs"][..],
        &["jmeter", "install-java", "theirs", "--remove"],
    ] {
        assert_eq!(program.run(line).code, 2, "{line:?}");
        assert_eq!(program.read("theirs/throng-java"), REAL);
    }
    assert_eq!(program.run(&["jmeter", "install-java", "tools", "--remove"]).code, 0);
    assert!(!program.path("tools/throng-java").exists());
}

#[test]
fn a_plan_comes_on_standard_input() {
    let program = Program::new();
    for verb in ["run -", "-n -t -"] {
        let ended = program.shell(&format!("cat plan.jmx | \"$0\" {verb} -l out.jtl -f -Jusers=3"));
        assert_eq!(ended.code, 0, "{verb}: {ended:?}");
        assert_eq!(program.read("out.jtl").lines().count(), 4, "{verb}");
    }
    let folders: Vec<_> = fs::read_dir(program.path("runs")).expect("runs").flatten().collect();
    assert_eq!(folders.len(), 2);
    for folder in folders {
        assert!(folder.file_name().to_string_lossy().contains("-stdin"), "{folder:?}");
        assert_eq!(fs::read_to_string(folder.path().join("plan.jmx")).expect("the plan"), PLAN);
    }
    let checked = program.shell("\"$0\" check - < plan.jmx");
    assert!(checked.code == 0 && checked.out.contains("stdin.jmx:4"), "{checked:?}");
    let nothing = program.shell("\"$0\" run - < /dev/null");
    assert!(nothing.code == 3 && nothing.err.contains("stdin.jmx"), "{nothing:?}");
    for verb in
        ["sweep - --users 1,2", "capacity - --fail 'p99 < 1s'", "compare --plan - --plan plan.jmx"]
    {
        let refused = program.shell(&format!("\"$0\" {verb} < plan.jmx"));
        assert_eq!(refused.code, 2, "{verb}: {refused:?}");
        assert!(refused.err.contains("name a file"), "{verb}: {refused:?}");
    }
}

#[test]
fn completions_and_manual_pages_name_verbs_and_options() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = program.run(&["completions", shell]);
        assert_eq!(ended.code, 0, "{shell}: {ended:?}");
        for word in ["capacity", "overcommit", "install-shim"] {
            assert!(ended.out.contains(word), "{shell} lacks {word}");
        }
    }
    // Bash loads the completion script and completes with it.
    let script = "eval \"$(\"$0\" completions bash)\"; COMP_WORDS=(throng cap); COMP_CWORD=1; _throng throng cap throng; echo \"${COMPREPLY[*]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script, env!("CARGO_BIN_EXE_throng")]);
    assert_eq!(ended(bash.output().expect("bash")).out, "capacity\n");

    let printed = program.run(&["man"]);
    assert!(printed.code == 0 && printed.out.contains(".TH throng 1"), "{printed:?}");
    assert_eq!(program.run(&["man", "a/b"]).code, 0);
    let page = program.read("a/b/throng-run.1");
    assert!(page.contains("overcommit") && page.contains("throng-run"), "{page}");
    for verb in ["sweep", "jvm-install", "jmeter-install-shim"] {
        assert!(program.path(&format!("a/b/throng-{verb}.1")).exists(), "{verb}");
    }
    let refused = program.run(&["man", "plan.jmx"]);
    assert!(refused.code == 2 && refused.err.contains("plan.jmx"), "{refused:?}");
}
