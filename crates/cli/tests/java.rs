//! Plans with scripts as users run them, with and without Java.
//!
//! Tests that need a JVM and JMeter's jars run only if `throng jvm status` finds both; otherwise they count as
//! skipped.

mod program;

use std::io::{BufRead, BufReader};
use std::time::Duration;

use program::{Ended, PLAN, Program, ended};

const SAMPLER: &str = "<JSR223Sampler guiclass=\"TestBeanGUI\" testclass=\"JSR223Sampler\" testname=\"Script\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
     <stringProp name=\"cacheKey\">true</stringProp><stringProp name=\"script\">SCRIPT</stringProp></JSR223Sampler><hashTree/>";

/// Creates a program whose plan contains the Groovy script.
fn with_script(script: &str) -> Program {
    let program = Program::new();
    let sampler = SAMPLER.replace("SCRIPT", script);
    program.write("script.jmx", &PLAN.replace("<!--more-->", &sampler));
    program
}

/// True if a JVM and JMeter's jars are available. Otherwise the test counts as skipped.
fn has_java() -> bool {
    let found = Program::new().run(&["jvm", "status"]);
    if found.code != 0 {
        program::skip(&found.out);
    }
    found.code == 0
}

/// Limits Java's JIT compiler to the first tier: optimizing the short test scripts takes more time than it saves.
const QUICKLY: &str = "--jvm-option=-XX:TieredStopAtLevel=1";

/// Runs a plan with these options.
fn run(program: &Program, line: &[&str]) -> Ended {
    program.run(&[&["run"], line, &[QUICKLY]].concat())
}

/// Like [`Program::run`], but without JMeter's jars and without a JMeter installation.
fn without_jars(program: &Program, line: &str) -> Ended {
    let cache = program.path("cache");
    program.shell(&format!(
        "unset JMETER_HOME; export THRONG_CACHE={}; exec \"$0\" {line}",
        cache.display()
    ))
}

#[test]
fn a_script_runs_and_its_result_is_in_the_rows() {
    if !has_java() {
        return;
    }
    let program =
        with_script("vars.put('a', 'b'); return 'seen: ' + [vars.get('a')][0] + props.get('x')");
    let ended = run(&program, &["script.jmx", "-Jx=y", "-l", "out.jtl", "--workers", "2"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let ended = run(&program, &["script.jmx", "-Jx=y", "-l", "out.jtl", "--jvm-heap=64m"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("starting Java") && ended.out.contains("(Script)"), "{ended:?}");
    let rows = program.read("out.jtl");
    let of_script: Vec<_> = rows.lines().filter(|row| row.contains(",Script,200,")).collect();
    // Each of the two runs has one user and writes one row; the 8 bytes are the text `seen: by`.
    assert_eq!(of_script.len(), 2, "{rows}");
    assert!(of_script.iter().all(|row| row.contains(",true,,8,")), "{rows}");
}

#[test]
fn check_finds_what_does_not_compile_and_what_is_nowhere() {
    if !has_java() {
        return;
    }
    let program = with_script("def a = 1\ndef (");
    let ended = program.run(&["check", "script.jmx", "--run-java"]);
    assert_eq!(ended.code, 0, "it fails its sample only: {ended:?}");
    for words in
        ["warning[java]: line 2 of the script", "Users > Script", "In Java: 1 element (Script)"]
    {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
    let program = Program::new();
    let sampler = "<com.example.Sampler guiclass=\"x\" testclass=\"com.example.Sampler\" testname=\"Odd\"/><hashTree/>";
    program.write("odd.jmx", &PLAN.replace("<!--more-->", sampler));
    let ended = program.run(&["check", "odd.jmx"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.out.contains("com.example.Sampler"), "{ended:?}");
}

const DUMMY: &str = "<kg.apc.jmeter.samplers.DummySampler guiclass=\"x\" testclass=\"kg.apc.jmeter.samplers.DummySampler\" testname=\"Made up\">\
     <stringProp name=\"RESPONSE_CODE\">200</stringProp><boolProp name=\"SUCCESFULL\">true</boolProp></kg.apc.jmeter.samplers.DummySampler>\
     <hashTree><JSR223PreProcessor guiclass=\"TestBeanGUI\" testclass=\"JSR223PreProcessor\" testname=\"Before\">\
     <stringProp name=\"scriptLanguage\">groovy</stringProp><stringProp name=\"script\">SCRIPT</stringProp></JSR223PreProcessor><hashTree/></hashTree>";

#[test]
fn a_script_before_a_native_sampler_whose_plug_in_is_not_there_is_told_what_it_cannot_do() {
    if !has_java() {
        return;
    }
    let program = Program::new();
    let script = "if (sampler != null) sampler.setProperty('RESPONSE_CODE', [207][0] + '')";
    let dummy = DUMMY.replace("SCRIPT", script);
    program.write("dummy.jmx", &PLAN.replace("<!--more-->", &dummy));
    let home = program.shell("exec \"$0\" jvm status");
    let line = home
        .out
        .lines()
        .find_map(|line| line.split_once(" in ").filter(|_| line.starts_with("JMeter: ")));
    let folder = line.and_then(|(_, folder)| folder.split(" (").next()).expect("a folder");
    let plugins = std::path::Path::new(folder).join("lib/ext");
    let has = std::fs::read_dir(plugins).expect("jars").flatten();
    let has = has.into_iter().any(|jar| jar.file_name().to_string_lossy().contains("dummy"));
    let missing = "class kg.apc.jmeter.samplers.DummySampler is not in the class path: the element runs without it, but scripts get no sampler object";
    for line in [&["check", "dummy.jmx"][..], &["check", "dummy.jmx", "--run-java"]] {
        let checked = program.run(line);
        assert_eq!(checked.code, 0, "{checked:?}");
        assert_eq!(checked.out.contains(missing), !has, "{checked:?}");
        assert_eq!(checked.out.contains("jpgc-dummy"), !has, "{checked:?}");
        assert!(checked.out.contains("In Java: 1 element (Before)"), "{checked:?}");
    }
    let ran = run(&program, &["dummy.jmx", "-l", "out.jtl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        format!("{}{}", ran.out, ran.err).matches(missing).count(),
        usize::from(!has),
        "once: {ran:?}"
    );
    let code = if has { ",Made up,207," } else { ",Made up,200," };
    assert!(program.read("out.jtl").contains(code), "{}", program.read("out.jtl"));
}

#[test]
fn https_of_scripts_is_checked_where_certificates_are() {
    if !has_java() {
        return;
    }
    let target =
        targets::start(targets::Config::new("fixed").option("tls", true)).expect("a target");
    let port = target.addr().port();
    let script = "def words\ntry { words = new URL('https://127.0.0.1:PORT/').text.length() + ' bytes' }\
         \ncatch (javax.net.ssl.SSLException e) { words = 'refused' }\nSampleResult.setResponseMessage(words)\nreturn null";
    let sampler = SAMPLER.replace("SCRIPT", &script.replace("PORT", &port.to_string()));
    let https = "<HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"Secure\">\
         <stringProp name=\"HTTPSampler.protocol\">https</stringProp><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
         <stringProp name=\"HTTPSampler.port\">PORT</stringProp><stringProp name=\"HTTPSampler.method\">GET</stringProp></HTTPSamplerProxy><hashTree/>";
    let all = format!("{sampler}{}{sampler}", https.replace("PORT", &port.to_string()));
    let program = Program::new();
    program.write("https.jmx", &PLAN.replace("<!--more-->", &all));
    let words = |more: &[&str], rows: &str| {
        let ended = run(&program, &[&["https.jmx", "-l", rows], more].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let rows = program.read(rows);
        let of_script = rows.lines().filter(|row| row.contains(",Script,200,"));
        let words = of_script.map(|row| row.split(',').nth(4).unwrap_or("").to_owned());
        words.collect::<Vec<_>>()
    };
    assert_eq!(words(&[], "any.jtl"), ["refused", "20 bytes"]);
    assert_eq!(words(&["-Jthrong.tls.verify=true"], "checked.jtl"), ["refused", "refused"]);
}

/// Returns a sampler that only sleeps, with a Groovy pre-processor.
fn before_a_sample(name: &str, script: &str) -> String {
    let sampler = "<JavaSampler guiclass=\"x\" testclass=\"JavaSampler\" testname=\"Made\"><stringProp name=\"classname\">\
         org.apache.jmeter.protocol.java.test.JavaTest</stringProp></JavaSampler>";
    format!(
        "{sampler}<hashTree><JSR223PreProcessor guiclass=\"TestBeanGUI\" testclass=\"JSR223PreProcessor\" testname=\"{name}\">\
         <stringProp name=\"scriptLanguage\">groovy</stringProp><stringProp name=\"script\">{script}</stringProp>\
         </JSR223PreProcessor><hashTree/></hashTree>"
    )
}

/// Asserts that the console shows the first failure of each script, and that the end of the run shows the count.
fn failures_are_told(script: &str, exception: &str) {
    let program = Program::new();
    let all = before_a_sample("sign", script) + &before_a_sample("again", script);
    program.write("failing.jmx", &PLAN.replace("<!--more-->", &all));
    let ended = run(&program, &["failing.jmx", "-Jloops=3", "-Jusers=2", "--runs", "runs"]);
    assert_eq!(ended.code, 0, "a script before a sampler fails no sample: {ended:?}");
    let first = format!("Problem in JSR223 script, sign: {exception}");
    let lines: Vec<_> = ended.err.lines().filter(|line| line.contains("script")).collect();
    let [begun, last] = &lines[..] else { panic!("{ended:?}") };
    assert!(begun.contains(&format!("a script failed: {first}")), "{ended:?}");
    assert!(last.contains(&format!("scripts failed 12 times, the first: {first}")), "{ended:?}");
    let (_, log) = last.rsplit_once("see all in ").expect("the log");
    let log = program.read(log.trim());
    assert_eq!(log.matches("Problem in JSR223 script, ").count(), 12, "{log}");
    let summary = std::path::Path::new("runs");
    let run = std::fs::read_dir(program.path(summary.to_str().expect("text"))).expect("runs");
    let run = run.flatten().next().expect("a run").path().join("summary.json");
    let summary = std::fs::read_to_string(run).expect("a summary");
    assert!(
        summary.contains("\"script_failures\"") && summary.contains("\"count\": 12"),
        "{summary}"
    );
}

#[test]
fn failing_scripts_leave_a_line_with_how_many_the_first_and_where_the_rest_is() {
    failures_are_told("Integer.parseInt('x')", "java.lang.NumberFormatException");
    if has_java() {
        failures_are_told("[1].each { nowhere(it) }", "groovy.lang.MissingMethodException");
    }
}

#[test]
fn what_is_said_once_for_each_user_is_said_once() {
    let program = Program::new();
    program.write("one.csv", "a\n");
    let data = "<CSVDataSet guiclass=\"TestBeanGUI\" testclass=\"CSVDataSet\" testname=\"Data\"><stringProp name=\"filename\">one.csv</stringProp>\
         <stringProp name=\"variableNames\">x</stringProp><boolProp name=\"recycle\">false</boolProp><boolProp name=\"stopThread\">true</boolProp>\
         <stringProp name=\"shareMode\">shareMode.all</stringProp><stringProp name=\"delimiter\">,</stringProp></CSVDataSet><hashTree/>";
    program.write("data.jmx", &PLAN.replace("<!--more-->", data));
    let ended = run(&program, &["data.jmx", "-Jloops=9", "-Jusers=30"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let told: Vec<_> = ended.err.lines().filter(|line| line.contains("user stopped: ")).collect();
    assert_eq!(told.len(), 2, "{ended:?}");
    assert!(told[1].contains(" 30 times: user stopped: "), "{ended:?}");
}

#[test]
fn a_script_that_never_ends_does_not_keep_the_run() {
    if !has_java() {
        return;
    }
    let program = with_script("while (true) { }");
    let mut child = program.start(&["run", "script.jmx", QUICKLY]);
    let out = child.stdout.take().expect("a pipe");
    let mut lines = BufReader::new(out).lines();
    let begun =
        lines.by_ref().map_while(Result::ok).any(|line| line.contains("Starting standalone"));
    assert!(begun, "the run begins");
    let pid = child.id().to_string();
    let interrupt = || {
        std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill");
    };
    interrupt();
    let mut err = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let stopping = err.by_ref().map_while(Result::ok).any(|line| line.contains("stopping:"));
    assert!(stopping, "the first is obeyed");
    interrupt();
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    let ended = ended(child.wait_with_output().expect("it ends"));
    assert_eq!(ended.code, 130, "{rest:?} {ended:?}");
}

#[test]
fn without_jars_both_ways_to_them_are_named_and_the_rest_runs_on_demand() {
    let program = with_script("return [1][0]");
    let refused = without_jars(&program, "run script.jmx");
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("Java is needed for 1 element (Script)"), "{refused:?}");
    assert!(refused.err.contains("Users > Script [JSR223Sampler]"), "{refused:?}");
    let checked = without_jars(&program, "check script.jmx");
    assert_eq!(checked.code, 3, "{checked:?}");
    for words in [
        "Java is needed for 1 element (Script)",
        "\nCannot run without Java (1)\n",
        "an element cannot run. --skip-unsupported runs it without.",
    ] {
        assert!(checked.out.contains(words), "{words}: {checked:?}");
    }
    let refused = without_jars(&program, "preflight script.jmx");
    assert_eq!(refused.code, 3, "{refused:?}");
    let sized = without_jars(&program, "preflight script.jmx --skip-unsupported");
    assert!(sized.code == 0 && sized.out.starts_with("Load: 1 user"), "{sized:?}");
    let skipped = without_jars(&program, "run script.jmx --skip-unsupported -l out.jtl");
    assert_eq!(skipped.code, 0, "{skipped:?}");
    assert!(skipped.err.contains("Users > Script [JSR223Sampler]"), "{skipped:?}");
    let rows = program.read("out.jtl");
    assert!(rows.contains(",Sleep,") && !rows.contains(",Script,"), "{rows}");
    let status = without_jars(&program, "jvm status");
    assert_eq!(status.code, 3, "{status:?}");
    for way in ["--jmeter-home", "JMETER_HOME", "throng jvm install"] {
        assert!(status.out.contains(way), "{way}: {status:?}");
    }
}

#[test]
fn a_plan_that_needs_no_java_looks_for_none() {
    let program = Program::new();
    let ended = without_jars(&program, "run plan.jmx --java-home=/nowhere");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!program.path("cache").exists());
}

#[test]
fn an_error_in_a_script_ends_its_user_and_is_told_once_more_at_the_end() {
    if !has_java() {
        return;
    }
    let program = with_script("[1].collect { it }\nthrow new StackOverflowError('deep')");
    let ended = run(&program, &["script.jmx", "-l", "out.jtl"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = "1 user was ended by java.lang.StackOverflowError: deep in ";
    assert!(
        ended.err.trim_end().lines().last().is_some_and(|line| line.contains(said)),
        "{ended:?}"
    );
    assert!(!program.read("out.jtl").contains(",Script,"));
}

#[test]
fn lines_of_scripts_are_in_the_log_as_jmeter_writes_them() {
    if !has_java() {
        return;
    }
    let program = with_script("[1].collect { log.debug('low'); log.info('high') }");
    for (level, lines) in [("INFO", 1), ("jmeter.protocol=DEBUG", 2), ("WARN", 0)] {
        let ended = run(&program, &["script.jmx", "-j", "out.log", "-L", level]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let log = program.read("out.log");
        let of_script = log.lines().filter(|line| {
            line.contains(" org.apache.jmeter.protocol.java.sampler.JSR223Sampler.Script: ")
        });
        assert_eq!(of_script.count(), lines, "{level}: {log}");
    }
}

#[test]
fn what_a_script_leaves_for_the_end_is_done_at_the_end() {
    if !has_java() {
        return;
    }
    let script = "def put = { new File(it).append(it) }\n\
        Runtime.runtime.addShutdownHook(new Thread({ put('hook') }))\n\
        new File('gone').with { createNewFile(); deleteOnExit() }\n\
        new Thread({ Thread.sleep(300); put('thread') }).start()\n\
        if (props.get('stays')) { new Thread({ Thread.sleep(600000) }, 'one that stays').start() }";
    let program = with_script(script);
    let ended = run(&program, &["script.jmx", "-Jjmeter.exit.check.pause=60000"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(
        (program.read("hook").as_str(), program.read("thread").as_str()),
        ("hook", "thread")
    );
    assert!(!program.path("gone").exists());
    // The only user runs in one of the two workers, so the script's shutdown hook runs once.
    let ended = run(&program, &["script.jmx", "--workers", "2"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    while program.read("hook") != "hookhook" {
        std::thread::sleep(Duration::from_millis(20));
    }
    let line = ["script.jmx", "-Jstays=1", "-Jjmeter.exit.check.pause=1", "-j", "out.log"];
    let ended = run(&program, &line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(program.read("hook"), "hookhookhook");
    for told in [&ended.err, &program.read("out.log")] {
        assert!(told.contains("longer than 1 ms") && told.contains("one that stays"), "{ended:?}");
    }
}

#[test]
fn a_script_that_ends_the_process_loses_nothing_that_was_done() {
    if !has_java() {
        return;
    }
    let program = with_script("[1].collect { it }\nSystem.exit(3)");
    let ended = run(&program, &["script.jmx", "-l", "out.jtl"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.err.contains("a script ended the process"), "{ended:?}");
    assert!(ended.out.contains("Results: "), "the summary is there: {ended:?}");
    let rows = program.read("out.jtl");
    assert!(rows.ends_with('\n') && rows.lines().count() > 1, "{rows}");
}

/// A script may print a server's text, which may contain terminal sequences.
#[test]
fn what_scripts_print_is_shown_and_not_obeyed() {
    if !has_java() {
        return;
    }
    let script =
        "[1].collect { it }\nprintln 'a\\u001b[2Jb\\rc'\nSystem.err.println('d\\u001b]0;e\\u0007')";
    for more in [&[][..], &["--jvm-isolated"]] {
        let program = with_script(script);
        let ended = run(&program, &[&["script.jmx"][..], more].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let all = format!("{}{}", ended.out, ended.err);
        assert!(all.contains("a\\x1b[2Jb\\x0dc\n") && all.contains("d\\x1b]0;e\\x07"), "{ended:?}");
        assert!(!all.contains(['\u{1b}', '\r', '\u{7}']), "{ended:?}");
    }
}

#[test]
fn a_machine_of_its_own_loses_nothing_when_it_crashes() {
    if !has_java() {
        return;
    }
    // The Java process ends normally, by System.exit, by halt, or by a crash. Rows before the end are written, and the
    // run ends in order.
    let unsafely = "def f = Class.forName('sun.misc.Unsafe').getDeclaredField('theUnsafe'); f.setAccessible(true); f.get(null).putAddress(0, 0)";
    let endings = [
        ("return 'seen: ' + [1][0]", 0, ""),
        ("[1].collect { it }\nSystem.exit(3)", 3, "a script ended the process"),
        (
            "Runtime.getRuntime().halt(4)",
            4,
            "the run was aborted: the Java process ended with exit code 4",
        ),
        (unsafely, 134, "the run was aborted: the Java process crashed with signal 6"),
    ];
    for (script, code, words) in endings {
        let program = with_script(script);
        let ended = run(&program, &["script.jmx", "-l", "out.jtl", "--jvm-isolated"]);
        assert_eq!(ended.code, code, "{ended:?}");
        assert!(ended.err.contains(words), "{ended:?}");
        assert!(ended.out.contains("Results: "), "the summary is there: {ended:?}");
        let rows = program.read("out.jtl");
        assert!(rows.ends_with('\n') && rows.lines().count() > 1, "{rows}");
        assert_eq!(rows.contains(",Script,200,"), code == 0, "{rows}");
    }
}

/// Runs a script without a home folder, and with a temporary folder into which another user could have put a jar.
fn without_home(program: &Program) -> Ended {
    let status = program.run(&["jvm", "status"]).out;
    let home = status.lines().find_map(|line| {
        let (_, rest) = line.strip_prefix("JMeter: ")?.split_once(" in ")?;
        Some(rest.rsplit_once(" (").map_or(rest, |(home, _)| home).to_owned())
    });
    let home = home.unwrap_or_else(|| panic!("a JMeter: {status}"));
    program.shell(&format!(
        "unset HOME XDG_CACHE_HOME THRONG_CACHE; export TMPDIR=\"$PWD/tmp\" JMETER_HOME='{home}'; exec \"$0\" run script.jmx -l out.jtl"
    ))
}

#[test]
fn a_jar_of_somebody_else_is_not_loaded() {
    use std::os::unix::fs::{PermissionsExt, chown};
    if !has_java() {
        return;
    }
    let program = with_script("return 'seen: ' + [1][0]");
    let private = program.path(&format!("tmp/throng-{}", rustix::process::geteuid().as_raw()));
    let folders = [private.clone(), private.join("jvm")];
    std::fs::create_dir_all(program.path("tmp")).expect("a folder");
    let ended = without_home(&program);
    assert_eq!(ended.code, 0, "{ended:?}");
    let jar = std::fs::read_dir(&folders[1]).expect("a folder").flatten().next().expect("a jar");
    assert!(jar.file_name().to_string_lossy().starts_with("bridge-"), "{jar:?}");
    let refused = |words: &str| {
        let ended = without_home(&program);
        assert_eq!(ended.code, 3, "{ended:?}");
        assert!(ended.err.contains(words) && ended.err.contains("THRONG_CACHE"), "{ended:?}");
    };
    for folder in &folders {
        let mode = |mode| {
            let set = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode));
            set.expect("permissions");
        };
        mode(0o777);
        refused("is writable by everybody");
        mode(0o700);
    }
    if !rustix::process::geteuid().is_root() {
        return program::skip_part(
            "a_jar_of_somebody_else_is_not_loaded",
            "only root can give a folder away",
        );
    }
    for folder in &folders {
        chown(folder, Some(65534), Some(65534)).expect("root may");
        refused("belongs to another user");
        chown(folder, Some(0), Some(0)).expect("root may");
    }
    assert_eq!(without_home(&program).code, 0);
}

#[test]
fn a_script_that_exits_with_0_ends_the_run_with_0_and_no_word_of_an_abort() {
    if !has_java() {
        return;
    }
    for line in ["run script.jmx", "run script.jmx --jvm-isolated"] {
        let program = with_script("[1].collect { it }\nSystem.exit(0)");
        let ended = program.shell(&format!("exec \"$0\" {line}"));
        assert_eq!(ended.code, 0, "{line}: {ended:?}");
        let words = "warning: a script ended the process (System.exit); Throng exits with the code that the script passed";
        assert!(ended.err.contains(words) && !ended.err.contains("aborted"), "{line}: {ended:?}");
    }
    // A Java process that ends without a request from Throng fails the run, whatever its exit code is.
    let program = with_script("Runtime.getRuntime().halt(0)");
    let ended = run(&program, &["script.jmx", "--jvm-isolated"]);
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(
        ended.err.contains("the run was aborted: the Java process ended with exit code 0"),
        "{ended:?}"
    );
}

/// Uses a jar and a plan like those of mobile gateway testers, against the bundled gateway, which shares no code with
/// them.
#[test]
fn scripts_that_call_a_jar_sign_and_encrypt() {
    if !has_java() {
        return;
    }
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/04-mobile-gateway/plugin");
    let program = Program::new();
    let compiled =
        std::process::Command::new(format!("{sample}/build")).arg(program.path("jar")).output();
    let compiled = compiled.expect("a shell");
    let words = String::from_utf8_lossy(&compiled.stderr);
    if words.contains("not found") {
        return program::skip(format!("no JDK: {words}"));
    }
    assert!(compiled.status.success(), "{words}");
    let gateway = targets::start(targets::Config::new("mgs")).expect("a target");
    let passed = |cache: u32, secret: &str| {
        let plan = std::fs::read_to_string(format!("{sample}/plan.jmx")).expect("a plan");
        let value =
            |secret: &str| format!("<stringProp name=\"Argument.value\">{secret}</stringProp>");
        program.write("plan.jmx", &plan.replace(&value("secret"), &value(secret)));
        let port = format!("-Jport={}", gateway.addr().port());
        let cache = format!("-Jcache={cache}");
        let jar = "-Juser.classpath=jar/mgs-sample.jar";
        let sizes = ["-Jusers=2", "-Jloops=3", "-Jrampup=0", "-f", "-l", "out.jtl"];
        let ended = run(&program, &[&["plan.jmx", &port, &cache, jar][..], &sizes].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let rows = program.read("out.jtl");
        ["signed,200,OK", "encrypted,200,OK"].map(|label| {
            let of_label: Vec<_> = rows.lines().filter(|row| row.contains(label)).collect();
            assert_eq!(of_label.len(), 6, "{rows}");
            of_label.iter().filter(|row| row.contains(",true,")).count()
        })
    };
    assert_eq!(passed(0, "secret"), [6, 6]);
    assert_eq!(passed(10, "secret"), [6, 6]);
    assert_eq!(passed(0, "another"), [0, 0], "the gateway refuses another secret's signatures");
}
