//! Tests of elements in a run: counters, random numbers, data files, timers, and samplers that need no network.

#![allow(clippy::format_collect, reason = "documents of tests are short")]

extern crate plan as subject;

mod world;

use std::path::PathBuf;

use plan::element::{FetchCommand, RedisCall};
use plan::event::{Stop, before, iterate};
use plan::plan::{GroupId, OnIteration};
use plan::state::Memory;
use world::{World, element, http_sampler, plan_of};

/// Returns a world whose group has the given elements.
fn world(body: &str) -> World {
    World::new(plan_of(body, ""))
}

fn next(world: &mut World) -> Result<(), Stop> {
    let events: Vec<OnIteration> = world.plan.controllers[0].on_iteration.clone();
    world.with(|plan, env| events.iter().try_for_each(|event| iterate(*event, plan, env)))
}

fn values(world: &mut World, name: &str, count: usize) -> Vec<String> {
    let mut found = Vec::new();
    for _ in 0..count {
        next(world).expect("no stop");
        found.push(world.get(name).unwrap_or("(none)").to_string());
    }
    found
}

/// Switches to another user of the same run.
fn other_user(world: &mut World, user: u32) {
    world.user = user;
    world.vars.reset();
    world.notes = Memory::default();
}

fn counter(props: &[(&str, &str)], per_user: bool) -> String {
    let more = format!(r#"<boolProp name="CounterConfig.per_user">{per_user}</boolProp>"#);
    let mut all = vec![("CounterConfig.name", "n")];
    all.extend_from_slice(props);
    element("CounterConfig", "CounterConfigGui", "Counter", &all, &more, "")
}

#[test]
fn a_counter_starts_anew_behind_its_end() {
    let props =
        [("CounterConfig.start", "1"), ("CounterConfig.end", "3"), ("CounterConfig.incr", "1")];
    let mut shared = world(&counter(&props, false));
    assert_eq!(values(&mut shared, "n", 4), ["1", "2", "3", "1"]);
    other_user(&mut shared, 1);
    assert_eq!(values(&mut shared, "n", 1), ["2"], "users share it");
    let mut own = world(&counter(&props, true));
    assert_eq!(values(&mut own, "n", 4), ["1", "2", "3", "1"]);
    other_user(&mut own, 1);
    assert_eq!(values(&mut own, "n", 1), ["1"], "each user has its own");
}

#[test]
fn a_counter_shows_its_number_by_a_pattern() {
    let props = [
        ("CounterConfig.start", "8"),
        ("CounterConfig.incr", "2"),
        ("CounterConfig.format", "id_000"),
    ];
    assert_eq!(values(&mut world(&counter(&props, false)), "n", 2), ["id_008", "id_010"]);
}

#[test]
fn a_counter_of_a_user_may_start_anew_each_iteration() {
    let more = r#"<boolProp name="CounterConfig.per_user">true</boolProp><boolProp name="CounterConfig.reset_on_tg_iteration">true</boolProp>"#;
    let props =
        [("CounterConfig.name", "n"), ("CounterConfig.start", "5"), ("CounterConfig.incr", "1")];
    let mut world = world(&element("CounterConfig", "", "c", &props, more, ""));
    assert_eq!(values(&mut world, "n", 2), ["5", "6"]);
    world.iteration = 2;
    assert_eq!(values(&mut world, "n", 2), ["5", "6"]);
}

#[test]
fn random_variables_with_a_seed_are_those_of_java() {
    let random = |seed: &str, per_user: bool| {
        let more = format!(r#"<boolProp name="perThread">{per_user}</boolProp>"#);
        let props = [
            ("variableName", "r"),
            ("minimumValue", "10"),
            ("maximumValue", "109"),
            ("randomSeed", seed),
            ("outputFormat", ""),
        ];
        element("RandomVariableConfig", "TestBeanGUI", "r", &props, &more, "")
    };
    let mut shared = world(&random("42", false));
    // new Random(42).nextInt(100) returns 30, 63, 48, 84.
    assert_eq!(values(&mut shared, "r", 3), ["40", "73", "58"]);
    other_user(&mut shared, 1);
    assert_eq!(values(&mut shared, "r", 1), ["94"]);
    let mut own = world(&random("42", true));
    assert_eq!(values(&mut own, "r", 2), ["40", "73"]);
    other_user(&mut own, 1);
    assert_eq!(values(&mut own, "r", 1), ["40"]);
    for drawn in values(&mut world(&random("", false)), "r", 50) {
        assert!((10..=109).contains(&drawn.parse::<i64>().expect("a number")));
    }
}

#[test]
fn users_take_turns_with_user_parameters() {
    let column = |values: &str| format!(r#"<collectionProp name="1">{values}</collectionProp>"#);
    let text = |value: &str| format!(r#"<stringProp name="1">{value}</stringProp>"#);
    let columns = column(&(text("a") + &text("${who}"))) + &column(&text("b"));
    let more = format!(
        r#"<collectionProp name="UserParameters.names">{}{}</collectionProp><collectionProp name="UserParameters.thread_values">{columns}</collectionProp><boolProp name="UserParameters.per_iteration">false</boolProp>"#,
        text("one"),
        text("two")
    );
    let body = element("UserParameters", "UserParametersGui", "u", &[], &more, "")
        + &http_sampler(&[], "", "");
    let mut world = world(&body);
    let run = |world: &mut World| {
        let events = world.plan.samplers[0].before.clone();
        world.with(|plan, env| events.iter().for_each(|event| before(*event, plan, env)));
        (world.get("one").map(str::to_string), world.get("two").map(str::to_string))
    };
    assert_eq!(next(&mut world), Ok(()));
    assert_eq!(world.get("one"), None, "only samplers set them");
    assert_eq!(run(&mut world), (Some("a".into()), Some("${who}".into())));
    other_user(&mut world, 1);
    assert_eq!(run(&mut world), (Some("b".into()), None));
    other_user(&mut world, 2);
    assert_eq!(run(&mut world).0, Some("a".into()));
}

/// A temporary folder in the build folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, file: &str, content: &[u8]) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("elements-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join(file), content).expect("a file");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn csv(props: &[(&str, &str)], flags: &str) -> String {
    let mut all = vec![("filename", "data.csv"), ("delimiter", ",")];
    all.retain(|(name, _)| props.iter().all(|(other, _)| other != name));
    all.extend_from_slice(props);
    let flags: String = flags
        .split_whitespace()
        .map(|flag| format!(r#"<boolProp name="{flag}">true</boolProp>"#))
        .collect();
    element("CSVDataSet", "TestBeanGUI", "CSV", &all, &flags, "")
}

fn csv_world(name: &str, content: &[u8], props: &[(&str, &str)], flags: &str) -> (World, Folder) {
    let folder = Folder::with(name, "data.csv", content);
    let body = csv(props, flags).replace(
        r#"<boolProp name="norecycle">true</boolProp>"#,
        r#"<boolProp name="recycle">false</boolProp>"#,
    );
    (World::in_folder(plan_of(&body, ""), &folder.0), folder)
}

#[test]
fn data_files_recycle_unless_told_not_to() {
    let (mut world, _folder) = csv_world("recycle", b"1,a\n2,b\n", &[("variableNames", "n,s")], "");
    assert_eq!(values(&mut world, "n", 3), ["1", "2", "1"]);
    assert_eq!(world.get("s"), Some("a"));
    other_user(&mut world, 1);
    assert_eq!(values(&mut world, "n", 1), ["2"], "users share the place");
    let (mut world, _folder) = csv_world("eof", b"1\n2", &[("variableNames", "n")], "norecycle");
    assert_eq!(values(&mut world, "n", 4), ["1", "2", "<EOF>", "<EOF>"]);
    let (mut world, _folder) =
        csv_world("stop", b"1\n", &[("variableNames", "n")], "norecycle stopThread");
    assert_eq!(next(&mut world), Ok(()));
    match next(&mut world) {
        Err(Stop::User(reason)) => assert!(reason.contains("End of file:data.csv"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_may_come_from_the_first_line() {
    let content = "\u{feff}id, name\r\n1,ü\r\n2,x\r\n".as_bytes();
    let (mut world, _folder) = csv_world("header", content, &[("variableNames", "")], "");
    assert_eq!(values(&mut world, "id", 3), ["1", "2", "1"]);
    assert_eq!(world.get("name"), Some("ü"));
    let (mut world, _folder) =
        csv_world("ignore", b"h\n1\n2\n", &[("variableNames", "n")], "ignoreFirstLine");
    assert_eq!(values(&mut world, "n", 3), ["1", "2", "1"]);
}

#[test]
fn values_are_split_as_jmeter_splits_them() {
    let (mut world, _folder) =
        csv_world("split", b"a||c\n\nx|y\n", &[("variableNames", "p,q,r"), ("delimiter", "|")], "");
    assert_eq!(values(&mut world, "q", 1), [""]);
    // A blank line ends the file. Then all variables get the end value.
    assert_eq!(values(&mut world, "p", 1), ["<EOF>"]);
    // Variables that have no value in the line keep their old value.
    assert_eq!(values(&mut world, "r", 1), ["<EOF>"]);
    assert_eq!(world.get("q"), Some("y"));
    let (mut world, _folder) =
        csv_world("tab", b"a\tb\n", &[("variableNames", "p,q"), ("delimiter", "\\t")], "");
    assert_eq!(values(&mut world, "q", 1), ["b"]);
    let (mut world, _folder) = csv_world(
        "quoted",
        b"\"a,1\",\"x\ny\"\nplain,\"say \"\"hi\"\"\"\nbad\"quote,z\n",
        &[("variableNames", "p,q")],
        "quotedData",
    );
    assert_eq!(values(&mut world, "p", 1), ["a,1"]);
    assert_eq!(world.get("q"), Some("x\ny"));
    assert_eq!(values(&mut world, "q", 1), ["say \"hi\""]);
    assert_eq!(values(&mut world, "q", 1), ["<EOF>"], "a line that cannot be read is as the end");
}

#[test]
fn files_are_read_in_their_encoding() {
    let latin = [("variableNames", "n"), ("fileEncoding", "ISO-8859-1")];
    let (mut world, _folder) = csv_world("latin", b"\xfc\x80\n", &latin, "");
    assert_eq!(values(&mut world, "n", 1), ["ü\u{80}"]);
    let wide: Vec<u8> = "日\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (mut world, _folder) =
        csv_world("wide", &wide, &[("variableNames", "n"), ("fileEncoding", "UTF-16LE")], "");
    assert_eq!(values(&mut world, "n", 1), ["日"]);
}

#[test]
fn the_sharing_mode_tells_who_shares_a_place() {
    let read = |mode: &str| {
        let (mut world, _folder) = csv_world(
            &format!("share{}", mode.len()),
            b"1\n2\n3\n",
            &[("variableNames", "n"), ("shareMode", mode)],
            "",
        );
        let mut found = values(&mut world, "n", 1);
        for (user, group) in [(1, 0), (0, 1)] {
            other_user(&mut world, user);
            world.notes = Memory::of_group(GroupId(group));
            found.extend(values(&mut world, "n", 1));
        }
        found
    };
    assert_eq!(read("shareMode.all"), ["1", "2", "3"]);
    assert_eq!(read("shareMode.group"), ["1", "2", "1"]);
    assert_eq!(read("shareMode.thread"), ["1", "1", "1"]);
    assert_eq!(read("word"), ["1", "2", "3"]);
}

#[test]
fn a_missing_file_ends_the_user_who_needs_it() {
    let mut world = world(&csv(&[("filename", "nowhere/none.csv"), ("variableNames", "n")], ""));
    match next(&mut world) {
        Err(Stop::User(reason)) => {
            assert!(reason.contains("File none.csv must exist and be readable"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

fn delay(world: &mut World) -> u64 {
    world.with(|plan, env| plan.samplers[0].timers[0].delay(env))
}

fn timed(class: &str, props: &[(&str, &str)], more: &str) -> World {
    world(&http_sampler(&[], "", &element(class, "", "t", props, more, "")))
}

#[test]
fn timers_wait_what_they_are_told() {
    let constant =
        |ms: &str| delay(&mut timed("ConstantTimer", &[("ConstantTimer.delay", ms)], ""));
    assert_eq!(["300", "-5", "x", ""].map(constant), [300_000_000, 0, 0, 0]);
    let random = [("ConstantTimer.delay", "100"), ("RandomTimer.range", "50.5")];
    let mut uniform = timed("UniformRandomTimer", &random, "");
    let drawn: Vec<_> = (0..200).map(|_| delay(&mut uniform)).collect();
    assert!(drawn.iter().all(|ns| (100_000_000..151_000_000).contains(ns) && ns % 1_000_000 == 0));
    assert!(drawn.iter().any(|ns| *ns > 140_000_000));
    let mut gaussian = timed("GaussianRandomTimer", &random, "");
    let sum: u64 = (0..2000).map(|_| delay(&mut gaussian) / 1_000_000).sum();
    assert!((95..105).contains(&(sum / 2000)), "{sum}");
}

#[test]
fn throughput_is_kept_by_each_user_or_by_all() {
    let timer = |mode: &str| {
        let more = format!(
            r#"<intProp name="calcMode">{mode}</intProp><doubleProp><name>throughput</name><value>120.0</value></doubleProp>"#
        );
        timed("ConstantThroughputTimer", &[], &more)
    };
    let mut own = timer("0");
    // The first sample does not wait. Each further sample waits until half a second after the previous sample was due.
    assert_eq!(
        [delay(&mut own), delay(&mut own), delay(&mut own)],
        [0, 500_000_000, 1_000_000_000]
    );
    own.now_ms += 10_000;
    assert_eq!([delay(&mut own), delay(&mut own)], [0, 500_000_000]);
    let mut all = timer("1");
    (0..3).for_each(|_| all.run.user_started(GroupId(0)));
    assert_eq!([delay(&mut all), delay(&mut all)], [0, 1_500_000_000]);
    all.run.user_ended(GroupId(0));
    all.now_ms += 10_000;
    assert_eq!([delay(&mut all), delay(&mut all)], [0, 1_000_000_000]);
    for mode in ["3", "4"] {
        let mut shared = timer(mode);
        let mut found = vec![delay(&mut shared)];
        other_user(&mut shared, 1);
        found.extend([delay(&mut shared), delay(&mut shared)]);
        assert_eq!(found, [0, 500_000_000, 1_000_000_000], "users take turns in mode {mode}");
    }
}

#[test]
fn throughput_is_rounded_as_jmeter_rounds_it_where_that_is_asked_for() {
    let timer = |mode: u8, rounded: bool| {
        let more = format!(
            r#"<intProp name="calcMode">{mode}</intProp><doubleProp><name>throughput</name><value>40000.0</value></doubleProp>"#
        );
        let element = element("ConstantThroughputTimer", "", "t", &[], &more, "");
        let properties =
            [("throng.throughput_timer.rounded".to_owned(), rounded.to_string())].into();
        let settings = plan::compile::Settings { properties, ..Default::default() };
        let source = world::source_of(&http_sampler(&[], "", &element), "");
        let mut world = World::new(world::compile_source(&source, &settings));
        world.run.user_started(GroupId(0));
        [delay(&mut world), delay(&mut world), delay(&mut world)]
    };
    for mode in 0..5 {
        assert_eq!(timer(mode, false), [0, 1_500_000, 3_000_000], "mode {mode}");
    }
    for mode in 0..3 {
        assert_eq!(timer(mode, true), [0, 2_000_000, 4_000_000], "mode {mode}");
    }
    // In the shared modes, the wait (2 ms, then 4 ms) is counted from the user's last scheduled time: now, and in 2
    // ms.
    for mode in 3..5 {
        assert_eq!(timer(mode, true), [0, 2_000_000, 6_000_000], "mode {mode}");
    }
}

#[test]
fn a_poisson_timer_draws_around_its_mean() {
    let props = [("ConstantTimer.delay", "100"), ("RandomTimer.range", "49.6")];
    let mut timer = timed("PoissonRandomTimer", &props, "");
    let drawn: Vec<u64> = (0..4000).map(|_| delay(&mut timer) / 1_000_000).collect();
    let sum: u64 = drawn.iter().sum();
    assert!((149..=151).contains(&(sum / 4000)), "{sum}");
    assert!(drawn.iter().any(|ms| *ms < 140) && drawn.iter().any(|ms| *ms > 160));
}

fn java(class: &str, arguments: &[(&str, &str)]) -> String {
    let entries: String = arguments
        .iter()
        .map(|(name, value)| {
            format!(r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp>"#)
        })
        .collect();
    let more = format!(
        r#"<elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{entries}</collectionProp></elementProp>"#
    );
    let class = format!("org.apache.jmeter.protocol.java.test.{class}");
    element("JavaSampler", "JavaTestSamplerGui", "Java", &[("classname", &class)], &more, "")
}

#[test]
fn java_requests_answer_what_they_are_told() {
    let arguments = [
        ("Sleep_Time", "100"),
        ("Sleep_Mask", "0xFF"),
        ("Label", "L"),
        ("ResponseCode", "201"),
        ("ResponseMessage", "Made"),
        ("Status", "KO"),
        ("SamplerData", "in"),
        ("ResultData", "out"),
    ];
    let mut world = world(&java("JavaTest", &arguments));
    world.now_ms = 1_000;
    let (result, sleep) = world.sample(0);
    assert_eq!(sleep, (100 + 1_000 % 255) * 1_000_000);
    assert_eq!((&*result.label, &*result.code, &*result.message), ("L", "201", "Made"));
    assert_eq!((result.success, &*result.sampler_data, &*result.text), (false, "in", "out"));
    assert_eq!((result.sent, result.bytes, result.data_type), (2, 3, "text"));
    let mut world = self::world(&java("SleepTest", &[("SleepTime", "7"), ("SleepMask", "0")]));
    let (result, sleep) = world.sample(0);
    assert_eq!(sleep, 7_000_000);
    assert_eq!(
        (&*result.sampler_data, &*result.code, result.success),
        ("Sleep Test: time = 7", "", true)
    );
}

#[test]
fn dummy_samplers_wait_or_claim_their_time() {
    let dummy = |waits: bool| {
        let more = format!(
            r#"<boolProp name="WAITING">{waits}</boolProp><boolProp name="SUCCESFULL">true</boolProp>"#
        );
        let props = [
            ("RESPONSE_CODE", "200"),
            ("RESPONSE_MESSAGE", "OK"),
            ("RESPONSE_DATA", "ü"),
            ("REQUEST_DATA", "q"),
            ("RESPONSE_TIME", "30"),
            ("LATENCY", "20"),
            ("CONNECT", "10"),
            ("URL", "http://x/y"),
        ];
        element("kg.apc.jmeter.samplers.DummySampler", "", "Dummy", &props, &more, "")
    };
    let (result, sleep) = world(&dummy(true)).sample(0);
    assert_eq!((sleep, result.elapsed), (30_000_000, 0));
    assert_eq!((result.latency, result.connect, result.bytes), (20_000_000, 10_000_000, 2));
    assert_eq!((&*result.url, &*result.code, &*result.text), ("http://x/y", "200", "ü"));
    let (result, sleep) = world(&dummy(false)).sample(0);
    assert_eq!((sleep, result.elapsed), (0, 30_000_000));
}

#[test]
fn debug_samplers_list_variables_in_jmeters_order() {
    let more = r#"<boolProp name="displayJMeterVariables">true</boolProp>"#;
    let mut world = world(&element("DebugSampler", "TestBeanGUI", "Debug", &[], more, ""));
    for (name, value) in [("b10", "x"), ("b9", "y"), ("JMeterThread.last_sample_ok", "true")] {
        world.with(|plan, env| env.vars.set_named(&plan.names, name, value));
    }
    let (result, _) = world.sample(0);
    let names: Vec<_> =
        result.text.lines().map(|line| line.split('=').next().unwrap_or("")).collect();
    assert_eq!(
        names,
        [
            "JMeterVariables:",
            "JMeterThread.last_sample_ok",
            "JMeterThread.pack",
            "START.HMS",
            "START.MS",
            "START.YMD",
            "TESTSTART.MS",
            "__jmv_SAME_USER",
            "b9",
            "b10",
            "",
        ]
    );
    assert!(result.text.starts_with("JMeterVariables:\nJMeterThread.last_sample_ok=true\n"));
    assert_eq!(
        (&*result.code, &*result.message, &*result.sampler_data),
        ("200", "OK", "JMeterVariables\n")
    );
}

fn redis(props: &[(&str, &str)]) -> World {
    let class = "kg.apc.jmeter.config.redis.RedisDataSet";
    world(&element(class, "TestBeanGUI", "Values", props, "", ""))
}

fn redis_call(world: &mut World) -> RedisCall {
    let mut call = RedisCall::default();
    world.with(|plan, env| plan.redis[0].call(&mut call, env));
    call
}

#[test]
fn a_redis_data_set_that_says_nothing_has_the_plug_ins_defaults() {
    let mut world = redis(&[("redisKey", "k"), ("port", ""), ("password", " ")]);
    assert_eq!(world.plan.controllers[0].on_iteration, [OnIteration::Redis(0)]);
    let call = redis_call(&mut world);
    assert_eq!((&*call.host, call.port, call.secure), ("localhost", 6379, false));
    assert_eq!((&*call.password, call.database, call.timeout_ms), ("", 0, 2000));
    assert_eq!((&*call.key, call.take), ("k", FetchCommand::Rotate));
    assert_eq!((call.most, call.wait_ms), (8, Some(0)));
}

#[test]
fn properties_of_a_redis_data_set_decide_on_command_and_pool() {
    let take = |kind, recycle, legacy| {
        let props = [
            ("redisDataType", kind),
            ("recycleDataOnUse", recycle),
            ("plugins.redis.legacy", legacy),
        ];
        redis_call(&mut redis(&props)).take
    };
    assert_eq!(take("0", "true", "false"), FetchCommand::Rotate);
    assert_eq!(take("0", "true", "true"), FetchCommand::RepushList);
    assert_eq!(take("0", "false", "true"), FetchCommand::PopList);
    assert_eq!(take("1", "true", "false"), FetchCommand::Draw);
    assert_eq!(take("1", "true", "true"), FetchCommand::ReaddSet);
    assert_eq!(take("1", "false", "false"), FetchCommand::PopSet);
    let pool = |most, wait, blocks| {
        let props = [("maxActive", most), ("maxWait", wait), ("blockWhenExhausted", blocks)];
        let call = redis_call(&mut redis(&props));
        (call.most, call.wait_ms)
    };
    assert_eq!(pool("20", "30000", "true"), (20, Some(30_000)));
    assert_eq!(pool("20", "30000", "false"), (20, Some(0)), "it does not wait");
    assert_eq!(pool("-1", "-1", "true"), (0, None), "without bounds");
}

#[test]
fn a_value_of_redis_fills_as_many_variables_as_both_have() {
    let mut world = redis(&[("variableNames", "a,,b,c"), ("delimiter", ";")]);
    let fill = |world: &mut World, value: &str| {
        world.with(|plan, env| plan.redis[0].fill(value, env));
        ["a", "b", "c"].map(|name| world.get(name).unwrap_or("(none)").to_owned())
    };
    assert_eq!(fill(&mut world, "1;2;3;4"), ["1", "2", "3"]);
    assert_eq!(fill(&mut world, "5;"), ["5", "", "3"], "what is not named stays");
    assert_eq!(fill(&mut world, ""), ["5", "", "3"]);
    let mut world = redis(&[("variableNames", "${names}"), ("delimiter", ",")]);
    world.vars.set_named(&world.plan.names, "names", "b,a");
    assert_eq!(fill(&mut world, "1,2"), ["2", "1", "(none)"]);
}
