//! Numbers that are invalid or too large for any machine: Throng refuses them before the run starts.

mod program;

use program::{Ended, PLAN, Program};

/// Returns latency and elapsed time in ms of four responses with 20 000 bytes of content, limited to 40 960 bytes/s.
fn slow_answers(tls: bool) -> Vec<(u64, u64)> {
    let config = targets::Config::new("fixed").option("size", "20000");
    let config = if tls { config.option("tls", "true") } else { config };
    let target = targets::start(config).expect("the target starts");
    let port = format!("-Jport={}", target.addr().port());
    let program = Program::new();
    let (protocol, property) = if tls {
        ("https", "-Jhttpclient.socket.https.cps=40960")
    } else {
        ("http", "-Jhttpclient.socket.http.cps=40960")
    };
    let path = "<stringProp name=\"HTTPSampler.path\">";
    let with = format!("<stringProp name=\"HTTPSampler.protocol\">{protocol}</stringProp>{path}");
    program.write("ask.jmx", &program::ASKING.replace(path, &with));
    let line = ["run", "ask.jmx", &port, "-Jusers=2", "-Jloops=2", "-l", "out.jtl", property];
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.err.contains("has no effect"), "{ended:?}");
    let rows = program.read("out.jtl");
    let heads: Vec<&str> = rows.lines().next().expect("a heading").split(',').collect();
    let of = |name: &str| heads.iter().position(|head| *head == name).expect("a column");
    let (label, elapsed, latency) = (of("label"), of("elapsed"), of("Latency"));
    let (success, bytes) = (of("success"), of("bytes"));
    let asked: Vec<Vec<&str>> = rows.lines().map(|row| row.split(',').collect()).collect();
    let asked = asked.iter().filter(|row| row[label] == "Ask");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let times: Vec<(u64, u64)> = asked
        .map(|row| {
            assert!(row[success] == "true" && number(row[bytes]) > 20_000, "{row:?}");
            (number(row[latency]), number(row[elapsed]))
        })
        .collect();
    assert_eq!(times.len(), 4, "{rows}");
    target.stop();
    times
}

#[test]
fn a_slow_line_takes_the_time_of_its_bytes() {
    for tls in [false, true] {
        let times = slow_answers(tls);
        // The limited rate delays 8192 bytes before the first byte counts, and all 20 000 bytes until the end.
        let is_slow = |(latency, elapsed): &(u64, u64)| *latency >= 200 && *elapsed >= 480;
        assert!(times.iter().all(is_slow), "{tls}: {times:?}");
        // The first byte counts after 8192 bytes, also under TLS, where a record is larger than that.
        let is_early = |(latency, elapsed): &(u64, u64)| elapsed - latency >= 270;
        assert!(times.iter().all(is_early), "{tls}: {times:?}");
    }
}

/// Runs a command line with at most 60 s and about 6 GB of address space. Asserts that neither limit ended it.
fn bounded(program: &Program, line: &str) -> Ended {
    let ended = program.shell(&format!("ulimit -v 6000000; exec timeout -s KILL 60 \"$0\" {line}"));
    assert!(![-1, 137, 134].contains(&ended.code), "{line}: {ended:?}");
    ended
}

fn in_place_of(group: &str, class: &str, props: &str) -> String {
    let begin = PLAN.find("      <ThreadGroup ").expect("a group");
    let end = PLAN.find("</ThreadGroup>").expect("its end") + "</ThreadGroup>".len();
    let element = format!("<{group} testclass=\"{class}\" testname=\"Users\">{props}</{group}>");
    format!("{}{element}{}", &PLAN[..begin], &PLAN[end..])
}

const LOOP: &str = "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><boolProp name=\"LoopController.continue_forever\">false</boolProp><stringProp name=\"LoopController.loops\">1</stringProp></elementProp>";

/// Returns a plan with nested controllers and one sampler in the innermost controller.
fn deep(levels: usize) -> String {
    let open = "<GenericController testclass=\"GenericController\" testname=\"c\" enabled=\"true\"/><hashTree>";
    let begin = PLAN.find("<JavaSampler").expect("a sampler");
    let end =
        begin + PLAN[begin..].find("<hashTree/>").expect("its children") + "<hashTree/>".len();
    let (sampler, close) = (&PLAN[begin..end], "</hashTree>".repeat(levels));
    format!("{}{}{sampler}{close}{}", &PLAN[..begin], open.repeat(levels), &PLAN[end..])
}

#[test]
fn plans_are_as_deep_as_jmeter_reads_them_and_no_stack_ends() {
    let program = Program::new();
    for levels in [600, 1000] {
        program.write("deep.jmx", &deep(levels));
        let ended = bounded(&program, "check deep.jmx --quiet");
        assert_eq!((ended.code, &*ended.out), (0, ""), "{levels}: {ended:?}");
        let runs = format!("runs-{levels}");
        let line = format!("run deep.jmx -Jusers=2 -Jloops=3 -l {levels}.jtl --runs {runs}");
        let ended = bounded(&program, &line);
        assert_eq!(ended.code, 0, "{levels}: {ended:?}");
        assert_eq!(program.read(&format!("{levels}.jtl")).lines().count(), 7, "{ended:?}");
        for line in [format!("report {runs}/* --markdown {levels}.md"), format!("verdict {runs}/*")]
        {
            let ended = bounded(&program, &line);
            assert_eq!(ended.code, 0, "{line}: {ended:?}");
        }
        let ended = bounded(&program, "preflight deep.jmx");
        assert_eq!(ended.code, 0, "{levels}: {ended:?}");
    }
    program.write("deep.jmx", &deep(5000));
    for verb in ["check", "run", "-n -t", "preflight"] {
        let ended = bounded(&program, &format!("{verb} deep.jmx"));
        assert_eq!(ended.code, 3, "{verb}: {ended:?}");
        let words = format!("{}{}", ended.out, ended.err);
        assert!(words.contains("nested more than 1024 deep"), "{verb}: {words:.2000}");
        assert!(words.contains("deep.jmx:"), "{verb} names no line: {words:.2000}");
    }
}

#[test]
fn more_users_than_the_machine_holds_are_refused_before_anything_starts() {
    let program = Program::new();
    let ended = bounded(&program, "run plan.jmx -Jusers=2147483647 -l out.jtl");
    assert_eq!(ended.code, 8, "{ended:?}");
    for words in
        ["cannot hold 2 147 483 647 users", "memory: ", "needed ", "fewer users", "--overcommit"]
    {
        assert!(ended.err.contains(words), "{words}: {ended:?}");
    }
    assert!(!program.path("runs").exists() && !program.path("out.jtl").exists(), "{ended:?}");
    let ended = bounded(&program, "preflight plan.jmx -Jusers=2147483647");
    assert_eq!(ended.code, 8, "{ended:?}");
    // JMeter's command line refuses the number of users too.
    let ended = bounded(&program, "-n -t plan.jmx -Jusers=2147483647");
    assert_eq!(ended.code, 8, "{ended:?}");
}

#[test]
fn groups_of_all_kinds_are_refused() {
    let program = Program::new();
    let standard = format!(
        "{LOOP}<stringProp name=\"ThreadGroup.num_threads\">2147483647</stringProp><stringProp name=\"ThreadGroup.ramp_time\">2147483647</stringProp>"
    );
    let concurrency = "<stringProp name=\"TargetLevel\">2147483647</stringProp><stringProp name=\"RampUp\"></stringProp><stringProp name=\"Hold\">10</stringProp>";
    let arrivals = "<stringProp name=\"TargetLevel\">2147483647</stringProp><stringProp name=\"Hold\">10</stringProp>";
    let stepping = format!(
        "{LOOP}<stringProp name=\"ThreadGroup.num_threads\">2147483647</stringProp><stringProp name=\"rampUp\">2147483647</stringProp>\
         <stringProp name=\"Start users count\">1</stringProp><stringProp name=\"Start users period\">2147483647</stringProp>"
    );
    let row = "<stringProp name=\"0\">2147483647</stringProp>".repeat(5);
    let ultimate = format!(
        "{LOOP}<collectionProp name=\"ultimatethreadgroupdata\"><collectionProp name=\"row\">{row}</collectionProp></collectionProp>"
    );
    let open = "<stringProp name=\"OpenModelThreadGroup.schedule\">rate(1e9/sec) random_arrivals(1e9 s)</stringProp>";
    let bzm = "com.blazemeter.jmeter.threads";
    // Plug-in groups that need more than any table can hold do not start; the other groups run.
    let tables = [
        (format!("{bzm}.concurrency.ConcurrencyThreadGroup"), concurrency.to_owned()),
        (format!("{bzm}.arrivals.ArrivalsThreadGroup"), arrivals.to_owned()),
        ("kg.apc.jmeter.threads.SteppingThreadGroup".into(), stepping),
        ("kg.apc.jmeter.threads.UltimateThreadGroup".into(), ultimate),
        ("OpenModelThreadGroup".into(), open.to_owned()),
    ];
    for (class, props) in tables {
        program.write("plan.jmx", &in_place_of(&class, &class, &props));
        let ended = bounded(&program, "run plan.jmx");
        assert!(ended.err.contains("does not start: "), "{class}: {ended:?}");
    }
    for class in ["SetupThreadGroup", "PostThreadGroup"] {
        program.write("plan.jmx", &in_place_of(class, class, &standard));
        let ended = bounded(&program, "run plan.jmx");
        assert_eq!(ended.code, 8, "{class}: {ended:?}");
    }
}

#[test]
fn too_many_workers_and_threads_are_a_mistake_of_the_command_line() {
    let program = Program::new();
    for line in [
        "run plan.jmx --workers 100000",
        "run plan.jmx -Jthrong.workers=100000",
        "run plan.jmx -Jthrong.workers=many",
        "run plan.jmx --cores 100000",
    ] {
        let ended = bounded(&program, line);
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
    }
}

#[test]
fn whoever_insists_gets_it() {
    // The refusal depends on a sum that is the same on every machine: with 40 descriptors, 30 000 users need more than
    // 1000 workers.
    let program = Program::new();
    let refused =
        program.shell("ulimit -n 40; exec timeout 60 \"$0\" run plan.jmx -Jusers=30000 -Jms=0");
    assert_eq!(refused.code, 8, "{refused:?}");
    let forced = program
        .shell("ulimit -n 40; exec timeout 60 \"$0\" run plan.jmx -Jusers=30000 -Jms=0 --overcommit --workers 2");
    assert_ne!(forced.code, 8, "{forced:?}");
}

/// Returns the number of samples of a completed run, and its standard error.
fn samples(program: &Program, line: &str) -> (u64, String) {
    let ended = bounded(program, &format!("run plan.jmx --json {line}"));
    let summary: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    let count = summary["requests"].as_u64().unwrap_or_else(|| panic!("{summary}"));
    assert_eq!(ended.code, if count == 0 { 6 } else { 0 }, "{line}: {ended:?}");
    (count, ended.err)
}

#[test]
fn threads_that_are_no_number_are_told_and_none_starts() {
    let program = Program::new();
    for text in ["abc", "1e12", "1.5", "1000000000000"] {
        let (count, err) = samples(&program, &format!("-Jusers={text}"));
        let words = format!(
            "the number of threads {text:?} is not a whole number up to 2147483647: 0 users"
        );
        assert_eq!((count, err.matches(&words).count()), (0, 1), "{err}");
        let checked = program.run(&["check", "plan.jmx", &format!("-Jusers={text}")]);
        assert!(
            checked.out.contains(&words) && checked.out.contains("warning[bad-number]"),
            "{checked:?}"
        );
    }
    let (count, err) = samples(&program, "-Jloops=abc");
    assert!(count == 0 && err.contains("the loop count \"abc\" is not a whole number"), "{err}");
    program.write("plan.jmx", &PLAN.replace("${__P(users,1)}", ""));
    let (count, err) = samples(&program, "");
    assert!(count == 0 && err.contains("the number of threads is empty: 0 users"), "{err}");
    let ramp = PLAN.replace("\"ThreadGroup.ramp_time\">0<", "\"ThreadGroup.ramp_time\">soon<");
    program.write("plan.jmx", &ramp);
    let (count, err) = samples(&program, "");
    assert!(count == 1 && err.contains("the ramp-up \"soon\" is not a whole number"), "{err}");
    let scheduled = "<boolProp name=\"ThreadGroup.scheduler\">true</boolProp><stringProp name=\"ThreadGroup.duration\">1h</stringProp>\
        <stringProp name=\"ThreadGroup.delay\">x</stringProp></ThreadGroup>";
    program.write("plan.jmx", &PLAN.replace("</ThreadGroup>", scheduled));
    let (count, err) = samples(&program, "");
    assert_eq!(count, 0, "{err}");
    for words in [
        "the duration \"1h\" is not a whole number",
        "the startup delay \"x\" is not a whole number",
    ] {
        assert!(err.contains(words), "{words}: {err}");
    }
}

#[test]
fn numbers_of_samplers_and_timers_that_are_none_are_told() {
    let program = Program::new();
    let elements = "<HTTPSamplerProxy testclass=\"HTTPSamplerProxy\" testname=\"get\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
        <stringProp name=\"HTTPSampler.port\">eighty</stringProp><stringProp name=\"HTTPSampler.connect_timeout\">1s</stringProp>\
        <stringProp name=\"HTTPSampler.response_timeout\">2.5</stringProp></HTTPSamplerProxy><hashTree>\
        <ConstantTimer testclass=\"ConstantTimer\" testname=\"pause\"><stringProp name=\"ConstantTimer.delay\">300ms</stringProp></ConstantTimer><hashTree/></hashTree>";
    program.write("plan.jmx", &PLAN.replace("<!--more-->", elements));
    let ended = program.run(&["check", "plan.jmx"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in ["\"eighty\"", "\"1s\"", "\"2.5\"", "\"300ms\""] {
        let words = format!("{words} is not a whole number");
        assert!(ended.out.contains(&words), "{words}: {ended:?}");
    }
}

#[test]
fn a_property_file_that_was_named_and_cannot_be_read_ends_with_2() {
    let program = Program::new();
    program.write("bad.properties", "x=\\uZZZZ");
    for file in ["none.properties", "bad.properties", "."] {
        for flag in ["-q", "-p", "-S"] {
            for verb in [
                "run plan.jmx",
                "check plan.jmx",
                "preflight plan.jmx",
                "jvm status",
                "-n -t plan.jmx",
            ] {
                let ended = program.shell(&format!("exec \"$0\" {verb} {flag} {file}"));
                assert_eq!(ended.code, 2, "{verb} {flag} {file}: {ended:?}");
                let words = format!("error: cannot read the property file {file}: ");
                assert!(ended.err.contains(&words), "{verb} {flag} {file}: {ended:?}");
            }
        }
    }
    assert!(!program.path("runs").exists());
    // An unreadable `user.properties` that the command line does not name is only a warning.
    program.write("user.properties", "x=\\uZZZZ");
    let ended = program.run(&["run", "plan.jmx"]);
    assert!(
        ended.code == 0 && ended.err.contains("warning: cannot read the property file"),
        "{ended:?}"
    );
}

#[test]
fn a_quote_that_is_never_closed_is_told() {
    let program = Program::new();
    let data = "<CSVDataSet guiclass=\"TestBeanGUI\" testclass=\"CSVDataSet\" testname=\"people\"><stringProp name=\"filename\">people.csv</stringProp>\
        <stringProp name=\"variableNames\">a,b</stringProp><boolProp name=\"quotedData\">true</boolProp><boolProp name=\"recycle\">false</boolProp></CSVDataSet><hashTree/>";
    let plan =
        PLAN.replace("<!--more-->", data).replace("testname=\"Sleep\"", "testname=\"Sleep ${a}\"");
    program.write("plan.jmx", &plan);
    program.write("people.csv", "one,1\n\"two,2\nthree,3\nfour,4\n");
    let ended = program.run(&["run", "plan.jmx", "-Jloops=3", "-Jusers=2", "-l", "out.jtl"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = program.read("out.jtl");
    assert_eq!(
        (rows.matches("Sleep one").count(), rows.matches("Sleep <EOF>").count()),
        (1, 5),
        "{rows}"
    );
    let words = "CSV Data Set Config people: in people.csv the line that begins with \"\\\"two,2\" and the 2 lines after it cannot be read";
    assert_eq!(ended.err.matches(words).count(), 1, "{ended:?}");
}
