//! Load options of the command line (`--users`, `--rps`, `--scenario` and others) that replace the plan's load.

mod program;

use program::{Ended, Program};
use serde_json::Value;

/// A plan with two groups of 1 and 3 users and a setUp group, one iteration each. Each group requests a path with its
/// name.
const GROUPS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true"/><hashTree>
GROUP(SetupThreadGroup,Before,2)
GROUP(ThreadGroup,Buyers,1)
GROUP(ThreadGroup,Guests,3)
</hashTree></hashTree></jmeterTestPlan>
"#;

const GROUP: &str = r#"<CLASS guiclass="ThreadGroupGui" testclass="CLASS" testname="NAME" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>
  <stringProp name="ThreadGroup.num_threads">USERS</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
</CLASS><hashTree>
  <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="NAME" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">/NAME/${__threadNum}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
  </HTTPSamplerProxy><hashTree/>
</hashTree>"#;

fn groups() -> String {
    let group = |line: &str| {
        let inner = line.trim_start_matches("GROUP(").trim_end_matches(')');
        let parts: Vec<&str> = inner.split(',').collect();
        GROUP.replace("CLASS", parts[0]).replace("NAME", parts[1]).replace("USERS", parts[2])
    };
    let lines = GROUPS
        .lines()
        .map(|line| if line.starts_with("GROUP(") { group(line) } else { line.to_string() });
    lines.collect::<Vec<_>>().join("\n")
}

struct Asked {
    program: Program,
    ended: Ended,
    /// Paths of the requests that the target received.
    paths: Vec<String>,
}

impl Asked {
    fn count(&self, group: &str) -> usize {
        let of = format!("/{group}/");
        self.paths.iter().filter(|path| path.starts_with(&of)).count()
    }

    /// Returns the numbers of a group's users that sent a request.
    fn users(&self, group: &str) -> Vec<u32> {
        let of = format!("/{group}/");
        let numbers = self.paths.iter().filter_map(|path| path.strip_prefix(&of)?.parse().ok());
        let mut users: Vec<u32> = numbers.collect();
        users.sort_unstable();
        users.dedup();
        users
    }

    fn summary(&self) -> Value {
        let text = std::fs::read_to_string(self.program.run_folder().join("summary.json"));
        serde_json::from_str(&text.expect("a summary")).expect("JSON")
    }
}

/// Runs the plan [`GROUPS`] against a target that logs its requests.
fn ask(options: &[&str]) -> Asked {
    let target = targets::start(targets::Config::new("mirror")).expect("a target");
    let program = Program::new();
    program.write("groups.jmx", &groups());
    let port = format!("-Jport={}", target.addr().port());
    let mut line = vec!["run", "groups.jmx", &port];
    line.extend(options);
    let ended = program.run(&line);
    let paths = target.log().into_iter().map(|request| request.target).collect();
    Asked { program, ended, paths }
}

#[test]
fn users_are_divided_as_the_plans_are_and_what_comes_before_stays() {
    for workers in ["1", "3"] {
        let asked = ask(&["--users", "8", "--workers", workers]);
        assert_eq!(asked.ended.code, 0, "{:?}", asked.ended);
        assert_eq!(asked.users("Buyers"), [1, 2], "{workers} workers");
        assert_eq!(asked.users("Guests"), [1, 2, 3, 4, 5, 6], "{workers} workers");
        assert_eq!(asked.users("Before"), [1, 2], "{workers} workers");
        assert_eq!(asked.paths.len(), 10);
        let said = "load: Buyers: 2 users, 1 iteration each (plan: 1 user, 1 iteration each)";
        assert!(asked.ended.out.contains(said), "{}", asked.ended.out);
    }
}

#[test]
fn one_group_has_a_load_of_its_own_and_another_is_left_out() {
    let asked = ask(&["--scenario", "Guests=users:2,iterations:5", "--scenario", "Buyers=off"]);
    assert_eq!(asked.ended.code, 0, "{:?}", asked.ended);
    assert_eq!((asked.count("Buyers"), asked.count("Guests"), asked.count("Before")), (0, 10, 2));
    assert!(asked.ended.out.contains("load: Buyers: left out"), "{}", asked.ended.out);
    // A group without options keeps the plan's load.
    let asked = ask(&["--scenario", "Buyers=users:4"]);
    assert_eq!((asked.count("Buyers"), asked.count("Guests")), (4, 3));
}

#[test]
fn numbers_of_the_plan_that_the_load_replaces_are_not_complained_about() {
    let program = Program::new();
    program.write(
        "plan.jmx",
        &program::PLAN
            .replace("${__P(users,1)}", "")
            // Names of groups may be expressions.
            .replace("testname=\"Users\"", "testname=\"${__P(name,Users)}\"")
            .replace("ramp_time\">0<", "ramp_time\">soon<"),
    );
    let loops = "the loop count \"abc\" is not a whole number";
    for (options, complains) in
        [(&["--users", "1"][..], true), (&["--scenario", "Users=users:1,iterations:1"], false)]
    {
        for verb in ["run", "check"] {
            let ended = program.run(&[&[verb, "plan.jmx", "-Jloops=abc"], options].concat());
            let text = format!("{}{}", ended.out, ended.err);
            assert_eq!(text.contains(loops), complains, "{options:?}: {text}");
        }
    }
    let threads = "the number of threads is empty";
    let ramp = "the ramp-up \"soon\" is not a whole number";
    for (options, complains_of_threads, complains_of_ramp) in [
        (&[][..], true, true),
        (&["--users", "2"], false, true),
        (&["--users", "2", "--ramp", "1s"], false, false),
        (&["--scenario", "Users=users:2"], false, true),
        (&["--rps", "5", "--duration", "1s"], false, false),
    ] {
        for verb in ["run", "check"] {
            let ended = program.run(&[&[verb, "plan.jmx"], options].concat());
            let text = format!("{}{}", ended.out, ended.err);
            let found = (text.contains(threads), text.contains(ramp));
            assert_eq!(found, (complains_of_threads, complains_of_ramp), "{options:?}: {text}");
        }
    }
}

#[test]
fn a_duration_lets_users_go_on_and_ends_them() {
    let asked = ask(&["--duration", "1s", "--scenario", "Guests=off"]);
    assert_eq!(asked.ended.code, 0, "{:?}", asked.ended);
    assert!(asked.count("Buyers") > 10, "{}", asked.count("Buyers"));
    let length = asked.summary()["duration_ms"].as_i64();
    assert!(length.is_none_or(|ms| ms >= 1_000), "{length:?}");
}

#[test]
fn a_rate_starts_exactly_as_often_as_asked_for() {
    for workers in ["1", "3"] {
        let asked = ask(&["--rps", "100", "--duration", "2s", "--workers", workers]);
        assert_eq!(asked.ended.code, 0, "{:?}", asked.ended);
        // The total rate is divided in the ratio of the groups' users in the plan.
        assert_eq!(asked.count("Buyers"), 50, "{workers} workers");
        assert_eq!(asked.count("Guests"), 150, "{workers} workers");
        assert_eq!(asked.count("Before"), 2);
        let starts = &asked.summary()["starts"];
        assert_eq!((starts["due"].as_u64(), starts["missed"].as_u64()), (Some(200), Some(0)));
    }
}

#[test]
fn a_rate_rises_over_its_ramp_and_ends_with_its_number_of_starts() {
    let only = ["--scenario", "Guests=off"];
    let asked = ask(&[&only[..], &["--rps", "100", "--ramp", "1s", "--hold", "1s"]].concat());
    assert_eq!(asked.count("Buyers"), 150, "{:?}", asked.ended);
    let steps = ["--rps", "100", "--ramp", "1s", "--steps", "4", "--hold", "500ms"];
    let asked = ask(&[&only[..], &steps].concat());
    // The four steps last 250 ms each: 25/4 + 50/4 + 75/4 + 100/4 starts. The hold adds 50 starts.
    assert_eq!(asked.count("Buyers"), 63 + 50, "{:?}", asked.ended);
    let asked = ask(&[&only[..], &["--rps", "200", "--iterations", "33"]].concat());
    assert_eq!(asked.count("Buyers"), 33, "{:?}", asked.ended);
}

#[test]
fn starts_that_find_all_users_busy_are_counted_and_named() {
    // The kernel accepts the connections but no program reads them, so no response ever arrives.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let program = Program::new();
    let text = groups().replace("SetupThreadGroup", "ThreadGroup");
    program.write("groups.jmx", &text);
    let port = format!("-Jport={}", silent.local_addr().expect("an address").port());
    let options = ["--rps", "50", "--duration", "1s", "--max-users", "4"];
    let others = ["--scenario", "Guests=off", "--scenario", "Before=off"];
    let line = [&["run", "groups.jmx", &port], &options[..], &others].concat();
    let mut child = program.start(&line);
    let log = || std::fs::read_dir(program.path("runs")).ok()?.flatten().next();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let missed = || {
        let file = log()?.path().join("seconds.jsonl");
        let text = std::fs::read_to_string(file).ok()?;
        let of = |line: &str| {
            serde_json::from_str::<Value>(line).ok()?["counters"]["starts_missed"].as_u64()
        };
        Some(text.lines().filter_map(of).sum::<u64>())
    };
    while missed() != Some(46) {
        assert!(std::time::Instant::now() < end, "never: 46 missed, but {:?}", missed());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = rustix::process::Pid::from_child(&child);
    for _ in 0..2 {
        rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it lives");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    let _ = child.wait();
    let text =
        std::fs::read_to_string(program.run_folder().join("summary.txt")).expect("a summary");
    assert!(text.contains("46 of 50 starts were not made: all 4 users"), "{text}");
}

#[test]
fn check_shows_the_load_and_mistakes_are_sentences() {
    let program = Program::new();
    program.write("groups.jmx", &groups());
    let ended =
        program.run(&["check", "groups.jmx", "--users", "200", "--ramp", "10s", "--hold", "1m30s"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = "load: Guests: 150 users, ramp 10s, for 1m40s (plan: 3 users";
    assert!(ended.out.contains(said), "{}", ended.out);
    for (options, words) in [
        (&["--scenario", "Buyer=users:1"][..], "the plan has no thread group \"Buyer\""),
        (&["--rps", "5"], "a rate needs an end"),
        (&["--ramp", "10"], "has no unit"),
        (&["--steps", "3"], "set its length"),
        (&["--users", "1", "--rps", "1"], "cannot be used with"),
        (
            &["--scenario", "Buyers=off", "--scenario", "Guests=off", "--users", "1"],
            "all thread groups have loads of their own",
        ),
    ] {
        let ended = program.run(&[&["run", "groups.jmx"], options].concat());
        assert_eq!(ended.code, 2, "{options:?}: {ended:?}");
        assert!(ended.err.contains(words), "{options:?}: {}", ended.err);
    }
}

/// Thread groups of plug-ins and JMeter's open model: short name, class, and the properties that define their load.
const SHAPED: [(&str, &str, &str); 6] = [
    (
        "stepping",
        "kg.apc.jmeter.threads.SteppingThreadGroup",
        r#"<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">-1</intProp></elementProp><stringProp name="ThreadGroup.num_threads">4</stringProp><stringProp name="Threads initial delay">0</stringProp><stringProp name="Start users count">2</stringProp><stringProp name="Start users count burst">0</stringProp><stringProp name="Start users period">1</stringProp><stringProp name="Stop users count">4</stringProp><stringProp name="Stop users period">1</stringProp><stringProp name="flighttime">2</stringProp><stringProp name="rampUp">0</stringProp>"#,
    ),
    (
        "ultimate",
        "kg.apc.jmeter.threads.UltimateThreadGroup",
        r#"<collectionProp name="ultimatethreadgroupdata"><collectionProp name="r"><stringProp name="c">1</stringProp><stringProp name="c">0</stringProp><stringProp name="c">0</stringProp><stringProp name="c">2</stringProp><stringProp name="c">0</stringProp></collectionProp><collectionProp name="r"><stringProp name="c">3</stringProp><stringProp name="c">1</stringProp><stringProp name="c">1</stringProp><stringProp name="c">1</stringProp><stringProp name="c">0</stringProp></collectionProp></collectionProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">-1</intProp></elementProp>"#,
    ),
    (
        "concurrency",
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
        r#"<elementProp name="ThreadGroup.main_controller" elementType="com.blazemeter.jmeter.control.VirtualUserController"/><stringProp name="TargetLevel">3</stringProp><stringProp name="RampUp">1</stringProp><stringProp name="Steps"></stringProp><stringProp name="Hold">1</stringProp><stringProp name="LogFilename"></stringProp><stringProp name="Iterations"></stringProp><stringProp name="Unit">S</stringProp>"#,
    ),
    (
        "arrivals",
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
        r#"<elementProp name="ThreadGroup.main_controller" elementType="com.blazemeter.jmeter.control.VirtualUserController"/><stringProp name="TargetLevel">10</stringProp><stringProp name="RampUp"></stringProp><stringProp name="Steps"></stringProp><stringProp name="Hold">2</stringProp><stringProp name="LogFilename"></stringProp><stringProp name="Iterations"></stringProp><stringProp name="ConcurrencyLimit"></stringProp><stringProp name="Unit">S</stringProp>"#,
    ),
    (
        "free",
        "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup",
        r#"<elementProp name="ThreadGroup.main_controller" elementType="com.blazemeter.jmeter.control.VirtualUserController"/><collectionProp name="Schedule"><collectionProp name="r"><stringProp name="c">10</stringProp><stringProp name="c">10</stringProp><stringProp name="c">2</stringProp></collectionProp></collectionProp><stringProp name="LogFilename"></stringProp><stringProp name="Iterations"></stringProp><stringProp name="ConcurrencyLimit"></stringProp><stringProp name="Unit">S</stringProp>"#,
    ),
    (
        "open",
        "OpenModelThreadGroup",
        r#"<elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/><stringProp name="OpenModelThreadGroup.schedule">rate(10/sec) random_arrivals(2 s)</stringProp>"#,
    ),
];

/// Runs a plan whose only group is the group `name` of [`SHAPED`]. Each user sends at most ten requests per second.
fn ask_shaped(name: &str, options: &[&str]) -> Asked {
    let (_, class, body) =
        SHAPED.iter().find(|(known, ..)| *known == name).expect("a group of the table");
    let plan = GROUPS.lines().filter(|line| !line.starts_with("GROUP(")).collect::<Vec<_>>();
    let sampler = GROUP.split_once("<hashTree>").expect("a sampler").1.replace("NAME", "Group");
    let timer = r#"<hashTree><ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="Wait" enabled="true">
        <stringProp name="ConstantTimer.delay">100</stringProp></ConstantTimer><hashTree/></hashTree>"#;
    let sampler = sampler.replace("<hashTree/>", timer);
    let group = format!(
        r#"<{class} guiclass="{class}Gui" testclass="{class}" testname="Group" enabled="true">
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>{body}</{class}><hashTree>{sampler}"#
    );
    let plan =
        plan.join("\n").replace("</hashTree></hashTree>", &(group + "</hashTree></hashTree>"));
    let target = targets::start(targets::Config::new("mirror")).expect("a target");
    let program = Program::new();
    program.write("shaped.jmx", &plan);
    let port = format!("-Jport={}", target.addr().port());
    let ended = program.run(&[&["run", "shaped.jmx", &port], options].concat());
    let paths = target.log().into_iter().map(|request| request.target).collect();
    Asked { program, ended, paths }
}

#[test]
fn groups_of_plug_ins_take_a_rate() {
    std::thread::scope(|scope| {
        for (name, ..) in SHAPED {
            scope.spawn(move || {
                let rate = ["--rps", "40", "--ramp", "1s", "--steps", "2", "--duration", "2s"];
                let asked = ask_shaped(name, &rate);
                assert_eq!(asked.ended.code, 0, "{name}: {:?}", asked.ended);
                // The rate is 20/s for half a second, 40/s for half a second, and 40/s for another second.
                assert_eq!(asked.count("Group"), 10 + 20 + 40, "{name}");
                assert_eq!(asked.summary()["starts"]["due"], 70, "{name}");
                let rate = ["--scenario", "Group=rps:100,iterations:7"];
                assert_eq!(ask_shaped(name, &rate).count("Group"), 7, "{name}");
                let rate = ["--rps", "10"];
                let asked = ask_shaped(name, &rate);
                assert!((19..=31).contains(&asked.count("Group")), "the plan's length: {name}");
            });
        }
    });
}

#[test]
fn groups_of_plug_ins_take_users() {
    std::thread::scope(|scope| {
        for (name, ..) in SHAPED {
            scope.spawn(move || {
                let users = ["--users", "5", "--ramp", "500ms", "--steps", "2", "--hold", "1s"];
                let asked = ask_shaped(name, &users);
                assert_eq!(asked.ended.code, 0, "{name}: {:?}", asked.ended);
                assert_eq!(asked.users("Group"), [1, 2, 3, 4, 5], "{name}");
                assert!((10..=75).contains(&asked.count("Group")), "{name}");
                let users = ["--scenario", "Group=users:3,iterations:2"];
                let asked = ask_shaped(name, &users);
                assert_eq!(asked.count("Group"), 6, "{name}: {:?}", asked.ended);
                let alone = ask_shaped(name, &["--users", "2"]);
                assert_eq!(alone.users("Group"), [1, 2], "{name}: {:?}", alone.ended);
            });
        }
    });
}

#[test]
fn a_schedule_of_starts_is_not_turned_into_users_in_silence() {
    for (name, ..) in SHAPED {
        for options in [["--duration", "1s"], ["--ramp", "1s"], ["--iterations", "2"]] {
            let asked = ask_shaped(name, &options);
            let scheduled = ["arrivals", "free", "open"].contains(&name);
            assert_eq!(asked.ended.code, if scheduled { 2 } else { 0 }, "{:?}", asked.ended);
            if scheduled {
                let words = "thread group \"Group\": it has a schedule of its own";
                assert!(asked.ended.err.contains(words), "{name}: {:?}", asked.ended);
                assert!(asked.paths.is_empty(), "{name}");
            } else if options[0] == "--iterations" {
                let users = asked.users("Group").len();
                assert_eq!(asked.count("Group"), 2 * users, "{name}");
            }
        }
    }
}

/// Returns the phases in the run's record, with their times in ms since the start of the run.
fn phases(asked: &Asked) -> Vec<(i64, String)> {
    let record = record::Record::read(&asked.program.run_folder()).expect("a record");
    let start = record.frame.start_ms;
    let phase = |mark: record::Mark| match mark.change {
        record::Change::Phase(words) => Some((mark.at_ms - start, words)),
        _ => None,
    };
    record.marks.into_iter().filter_map(phase).collect()
}

fn words(asked: &Asked) -> Vec<String> {
    phases(asked).into_iter().map(|(_, words)| words).collect()
}

#[test]
fn ramps_steps_and_holds_are_marks_in_the_record() {
    let only = ["--scenario", "Buyers=off"];
    let of = |options: &[&str]| ask(&[&only[..], options].concat());
    let asked = of(&["--users", "6", "--ramp", "3s", "--steps", "3", "--hold", "1s"]);
    assert_eq!(asked.ended.code, 0, "{:?}", asked.ended);
    let expected = ["step 1 of 3: 2 users", "step 2 of 3: 4 users", "step 3 of 3: 6 users"];
    assert_eq!(words(&asked), expected);
    // Times of the steps count from the end of the setUp group.
    let at: Vec<i64> = phases(&asked).into_iter().map(|(at, _)| at).collect();
    assert!((at[1] - at[0], at[2] - at[1]) == (1000, 1000) && at[0] >= 0, "{at:?}");

    let asked = of(&["--users", "6", "--ramp", "2s", "--hold", "1s"]);
    assert_eq!(words(&asked), ["ramp to 6 users", "hold 6 users"]);
    let asked = of(&["--rps", "30", "--ramp", "2s", "--hold", "1s"]);
    assert_eq!(words(&asked), ["ramp to 30 starts/s", "hold 30 starts/s"]);
    // A constant load has no phases. With several groups, phases name their group.
    assert_eq!(words(&of(&["--users", "6", "--duration", "1s"])), [""; 0]);
    let asked = ask(&["--users", "8", "--ramp", "2s", "--hold", "1s"]);
    let expected = [
        "Buyers: ramp to 2 users",
        "Guests: ramp to 6 users",
        "Buyers: hold 2 users",
        "Guests: hold 6 users",
    ];
    assert_eq!(words(&asked), expected);
    let log = std::fs::read_to_string(asked.program.run_folder().join("throng.log"));
    assert!(log.expect("a log").contains("Guests: hold 6 users"));
}

#[test]
fn wrong_values_of_the_file_name_their_line() {
    for (text, line, words) in [
        ("[load]\nusers = 1\nramp = 30\n", 3, "has no unit"),
        ("[load.scenario.'A b']\nusers = 'x'\n", 2, "is not a whole number"),
        ("[thresholds]\n\nfail = ['p99 < 1s', 'p99 < 1']\n", 3, "has no unit"),
        ("[properties]\na = 1\nb = []\n", 3, "must be a string or a number"),
        ("[watch]\na = 'http://h'\nb = 'ftp://h'\n", 3, ""),
        ("\n[load]\nusers = 1\nrps = 2\n", 2, "set either users or rps"),
        ("[load.scenario]\nUsers = { users = 1 }\nGuest = 'off'\n", 3, "no thread group \"Guest\""),
        ("[load.scenario]\n\nUsers = { rps = 1 }\n", 3, "a rate needs an end"),
        ("\n[load]\nrps = 1\n", 2, "a rate needs an end"),
        ("[thresholds]\nfail = [\n'series.b.mean < 1']\n", 3, "the run has no series \"b\""),
    ] {
        let program = Program::new();
        program.write("throng.toml", text);
        let ended = program.run(&["run", "plan.jmx"]);
        assert_eq!(ended.code, 2, "{text}: {ended:?}");
        let place = format!("throng.toml: line {line}: ");
        assert!(ended.err.contains(&place) && ended.err.contains(words), "{text}: {}", ended.err);
    }
}
