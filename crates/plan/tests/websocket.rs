//! Tests WebSocket samplers from the plan's XML to calls: cases without a parity test, and elements that only
//! Throng has.

extern crate plan as subject;

mod world;

use plan::plan::SamplerKind;
use plan::support::Level;
use plan::websocket::{Act, Call, HoldMatch, HoldSettings, Refusal, WebSocket};
use world::{World, element, plan_of};

const OPEN: &str = "eu.luminis.jmeter.wssampler.OpenWebSocketSampler";
const READ: &str = "eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler";
const WRITE: &str = "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler";
const TEXTS: &str = "eu.luminis.jmeter.wssampler.TextFrameFilter";

fn config(name: &str, props: &[(&str, &str)]) -> String {
    element("ConfigTestElement", "SimpleConfigGui", name, props, "", "")
}

fn open(props: &[(&str, &str)], inner: &str) -> String {
    element(OPEN, "Gui", "open", props, "", inner)
}

fn pause(ms: &str, inner: &str) -> String {
    let action = r#"<intProp name="ActionProcessor.action">1</intProp>"#;
    let props = [("ActionProcessor.duration", ms)];
    element("TestAction", "TestActionGui", "listen", &props, action, inner)
}

fn socket(world: &World, sampler: usize) -> &WebSocket {
    match &world.plan.samplers[sampler].kind {
        SamplerKind::WebSocket(socket) => socket,
        other => panic!("{other:?}"),
    }
}

fn render(world: &mut World, sampler: usize) -> Result<Call, Refusal> {
    let mut call = Call::default();
    world.with(|plan, env| match &plan.samplers[sampler].kind {
        SamplerKind::WebSocket(socket) => socket.render(env, &mut call),
        other => panic!("{other:?}"),
    })?;
    Ok(call)
}

#[test]
fn an_address_is_taken_apart_as_java_does() {
    let url = |server: &str, path: &str| {
        let props = [("server", server), ("port", "81"), ("path", path)];
        let call = render(&mut World::new(plan_of(&open(&props, ""), "")), 0)?;
        Ok::<_, Refusal>((call.host, call.authority, call.target, call.path_len, call.url))
    };
    let same = |host: &str, authority: &str, target: &str, path_len: usize| {
        let url = format!("ws://{authority}{target}");
        Ok((host.to_string(), authority.to_string(), target.to_string(), path_len, url))
    };
    assert_eq!(url("a.example", "chat?x=1#y"), same("a.example", "a.example:81", "/chat?x=1", 5));
    assert_eq!(url("::1", "/"), same("::1", "[::1]:81", "/", 1));
    assert_eq!(url("[::1]", ""), same("::1", "[::1]:81", "/", 1));
    assert_eq!(url("", "/"), same("127.0.0.1", ":81", "/", 1));
    assert_eq!(url("h", "?q"), same("h", "h:81", "/?q", 1));
    assert_eq!(url("h", "/a?b?c"), same("h", "h:81", "/a?b?c", 4));
    let refusal = url("a/b", "/").expect_err("no host");
    assert!(refusal.started && refusal.message.contains("MalformedURLException"), "{refusal:?}");
}

#[test]
fn what_cannot_vary_is_known_to_be_fixed() {
    let props = [("server", "h"), ("requestData", "x")];
    let write = |props: &[(&str, &str)], more: &str| {
        let body = element(WRITE, "Gui", "write", props, more, "");
        socket(&World::new(plan_of(&body, "")), 0).is_fixed()
    };
    assert!(write(&props, ""));
    assert!(!write(&[("server", "h"), ("requestData", "${x}")], ""));
    let from_file = r#"<boolProp name="loadDataFromFile">true</boolProp>"#;
    assert!(!write(&props, from_file), "a file is read for each sample");
}

#[test]
fn defaults_of_a_simple_config_element_fill_gaps() {
    let defaults = config(
        "Defaults",
        &[("server", "outer"), ("port", "9000"), ("path", "/p"), ("readTimeout", "7")],
    );
    let nearer = config("Nearer", &[("server", "inner")]);
    let body = open(&[("server", ""), ("readTimeout", "5")], &nearer);
    let mut world = World::new(plan_of(&body, &defaults));
    let call = render(&mut world, 0).expect("a call");
    assert_eq!((call.url.as_str(), call.read_timeout_ms), ("ws://inner:9000/p", 5));
    assert_eq!(call.connect_timeout_ms, 20_000, "the plug-in's own default");
}

#[test]
fn filters_are_chained_from_the_nearest_outwards_and_equal_ones_once() {
    let filter = |name: &str| element(TEXTS, "Gui", name, &[("comparisonType", "IsPlain")], "", "");
    let inner = format!("{}{}{}", filter("own"), filter("shared"), filter("own"));
    let read = element(READ, "Gui", "read", &[], "", &inner);
    let mut world = World::new(plan_of(&format!("{read}{}", filter("group")), &filter("shared")));
    let filters = socket(&world, 0).filters.clone();
    let names: Vec<String> = filters
        .iter()
        .map(|id| {
            let mut name = String::new();
            world.with(|plan, env| plan.frame_filters[id.0 as usize].name(env, &mut name));
            name
        })
        .collect();
    assert_eq!(names, ["own", "shared", "group"]);
}

#[test]
fn a_heartbeat_applies_by_scope_to_what_opens() {
    let near = config(
        "near",
        &[
            ("throng.websocket.heartbeat.interval_ms", "${ms}"),
            ("throng.websocket.heartbeat.payload", "{\"type\":\"beat\"}"),
            ("throng.websocket.heartbeat.missed", "2"),
            ("throng.websocket.heartbeat.reply_to_ping", "false"),
        ],
    );
    let far = config("far", &[("throng.websocket.heartbeat.jitter_ms", "100")]);
    let close = element("eu.luminis.jmeter.wssampler.CloseWebSocketSampler", "G", "c", &[], "", "");
    let body =
        format!("{}{}{close}", open(&[("server", "h")], &near), open(&[("server", "h")], ""));
    let mut world = World::new(plan_of(&body, &far));
    assert!(socket(&world, 2).heartbeat.is_none());
    let ids = [0, 1].map(|at| socket(&world, at).heartbeat.expect("a heartbeat").0 as usize);
    let name = world.plan.names.find("ms").expect("a mentioned variable");
    world.vars.set(name, "30000");
    let [near, far] = ids.map(|at| {
        world.with(|plan, env| plan.heartbeats[at].settings(env)).expect("sound settings")
    });
    assert_eq!((near.interval_ms, near.missed, near.reply_to_ping), (30_000, 2, false));
    assert_eq!(near.payload.as_deref(), Some(&b"{\"type\":\"beat\"}"[..]));
    assert_eq!((far.interval_ms, far.jitter_ms, far.payload), (60_000, 100, None));
    world.vars.set(name, "soon");
    let complaint = world.with(|plan, env| plan.heartbeats[ids[0]].settings(env));
    assert!(complaint.expect_err("no number").contains("interval_ms"));
}

/// Passes messages to a hold sampler with these settings. Returns the settings and the findings about the messages.
fn check(props: &[(&str, &str)], messages: &[&[u8]]) -> (HoldSettings, Vec<HoldMatch>) {
    let props: Vec<_> = props
        .iter()
        .map(|(name, value)| (format!("throng.websocket.hold.{name}"), *value))
        .collect();
    let props: Vec<_> = props.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let mut world = World::new(plan_of(&pause("1500", &config("hold", &props)), ""));
    world.with(|plan, env| {
        let SamplerKind::WebSocket(socket) = &plan.samplers[0].kind else { panic!("no hold") };
        let Act::Hold(hold) = &socket.act else { panic!("no hold") };
        let settings = hold.settings(env).expect("sound settings");
        (settings, messages.iter().map(|message| hold.check(message, &settings, env)).collect())
    })
}

#[test]
fn a_hold_counts_what_matches_and_reads_its_time() {
    let (settings, heard) = check(
        &[
            ("match", "chat"),
            ("time", r#""sent":([\d.]+)"#),
            ("least_messages", "3"),
            ("until_messages", " 7 "),
        ],
        &[br#"{"t":"chat","sent":1700000000123.5}"#, b"chat", b"other \"sent\":5", b"chat \xff"],
    );
    assert_eq!(
        (settings.duration_ms, settings.least_messages, settings.until_messages),
        (1500, 3, 7)
    );
    let some = |sent_ns| HoldMatch { counts: true, sent_ns };
    let none = HoldMatch::default();
    assert_eq!(heard, [some(Some(1_700_000_000_123_500_000)), some(None), none, none]);
    let (_, heard) = check(&[("time", r"(\d+)"), ("time_unit", "us")], &[b"at 12", b"none"]);
    assert_eq!(heard, [some(Some(12_000)), some(None)]);
    let (_, heard) = check(&[("least_messages", "1")], &[b"\xff"]);
    assert_eq!(heard, [some(None)], "without patterns everything counts");
}

#[test]
fn a_pause_without_settings_stays_one_and_check_says_what_the_others_are() {
    let hold = config("settings", &[("throng.websocket.hold.least_messages", "1")]);
    let stray =
        config("stray", &[("throng.websocket.hold.match", "x"), ("throng.websocket.odd", "")]);
    let compiled = plan_of(&format!("{}{}{stray}", pause("1", ""), pause("1", &hold)), "");
    let plan = compiled.plan.as_ref().expect("a plan");
    assert!(matches!(plan.samplers[0].kind, SamplerKind::Action(_)));
    assert!(matches!(plan.samplers[1].kind, SamplerKind::WebSocket(_)));
    let said = |name: &str| {
        let found = compiled.support.iter().filter(|one| one.name == name);
        found.map(|one| (one.level, one.consequence.clone())).collect::<Vec<_>>()
    };
    assert_eq!(said("listen")[0], (Level::Native, String::new()));
    assert!(said("listen")[1].1.contains("holds the user's WebSocket connection"));
    assert!(said("settings")[0].1.contains("holds a WebSocket connection"));
    let codes: Vec<_> = compiled.diags.iter().map(|diag| diag.code).collect();
    assert_eq!(codes, ["no-hold", "unknown-property"]);
}
