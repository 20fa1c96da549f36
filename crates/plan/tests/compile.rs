//! Tests of compiling documents to plans: scopes, the tree of controllers, findings.

#![allow(clippy::format_collect, reason = "documents of tests are short")]

extern crate plan as subject;

mod world;

use plan::compile::{Compiled, Settings};
use plan::element::Timer;
use plan::plan::*;
use plan::support::Level;
use world::{compile_source, element, http_sampler, plan_of, source_of};

fn timer(name: &str, delay: &str) -> String {
    element("ConstantTimer", "ConstantTimerGui", name, &[("ConstantTimer.delay", delay)], "", "")
}

fn http(name: &str, inner: &str) -> String {
    http_sampler(&[("HTTPSampler.path", name)], "", inner)
}

fn user_parameters(name: &str, per_iteration: bool) -> String {
    let more = format!(
        r#"<collectionProp name="UserParameters.names"><stringProp name="1">{name}</stringProp></collectionProp>
<collectionProp name="UserParameters.thread_values"><collectionProp name="1"><stringProp name="1">v</stringProp></collectionProp></collectionProp>
<boolProp name="UserParameters.per_iteration">{per_iteration}</boolProp>"#
    );
    element("UserParameters", "UserParametersGui", name, &[], &more, "")
}

fn counter(name: &str) -> String {
    element("CounterConfig", "CounterConfigGui", name, &[("CounterConfig.name", name)], "", "")
}

fn plan(compiled: Compiled) -> Plan {
    assert_eq!(compiled.diags, []);
    compiled.plan.expect("a plan")
}

fn delays(sampler: &Sampler) -> Vec<&str> {
    fn delay(timer: &Timer) -> &str {
        match timer {
            Timer::Constant(text) => text.fixed().expect("fixed"),
            other => panic!("{other:?}"),
        }
    }
    sampler.timers.iter().map(delay).collect()
}

#[test]
fn timers_run_from_the_sampler_outwards_and_those_of_the_plan_last() {
    let body = timer("group", "2") + &http("a", &timer("own", "1"));
    let plan = plan(plan_of(&body, &timer("plan", "3")));
    assert_eq!(plan.file, "a.jmx");
    assert_eq!(delays(&plan.samplers[0]), ["1", "2", "3"]);
    assert_eq!(plan.groups[0].main, ControllerId(0));
    assert_eq!(plan.controllers[0].children, [Child::Sampler(SamplerId(0))]);
    assert_eq!(plan.groups[0].slots, plan.controllers[0].kind.slots(1));
}

#[test]
fn what_runs_before_goes_from_the_group_inwards() {
    let inner = http("a", &user_parameters("own", false));
    let body = element(
        "GenericController",
        "",
        "c",
        &[],
        "",
        &(user_parameters("controller", false) + &inner),
    );
    let body = user_parameters("group", false) + &body;
    let plan = plan(plan_of(&body, &user_parameters("plan", false)));
    let order: Vec<_> = plan.samplers[0]
        .before
        .iter()
        .map(|before| match before {
            Before::UserParameters(at) => *at,
            Before::Script(_) | Before::Job(_) => panic!("{before:?}"),
        })
        .collect();
    // Indexes in the table identify the elements: the group's elements were compiled first.
    let of_group = &plan.controllers[0].on_iteration;
    assert_eq!(of_group.len(), 2);
    assert_eq!(order.len(), 4);
    let group_then_plan: Vec<_> =
        order[..2].iter().rev().map(|at| OnIteration::UserParameters(*at)).collect();
    assert_eq!(*of_group, group_then_plan, "the last of the tree is told first");
    assert_eq!(
        plan.controllers[1].on_iteration,
        [OnIteration::UserParameters(order[3]), OnIteration::UserParameters(order[2])]
    );
}

#[test]
fn iterations_are_told_to_what_has_no_controller_between() {
    let inner =
        element("GenericController", "", "c", &[], "", &(counter("inner") + &http("a", "")));
    let body = counter("one") + &http("b", &counter("below")) + &inner + &counter("two");
    let plan = plan(plan_of(&body, &counter("plan")));
    let counters = |at: usize| -> Vec<u32> {
        let number = |event: &OnIteration| match event {
            OnIteration::Counter(at) => *at,
            other => panic!("{other:?}"),
        };
        plan.controllers[at].on_iteration.iter().map(number).collect()
    };
    // Counters are compiled in the order of the tree, inner controllers first, and are incremented in the opposite
    // order.
    assert_eq!(counters(0), [4, 3, 2, 1]);
    assert_eq!(counters(1), [0]);
}

#[test]
fn controllers_have_their_children_and_slots_of_their_own() {
    let condition = [("IfController.condition", "${x}")];
    let each = r#"<boolProp name="IfController.evaluateAll">true</boolProp><boolProp name="IfController.useExpression">true</boolProp>"#;
    let looped =
        element("LoopController", "", "l", &[("LoopController.loops", "-1")], "", &http("b", ""));
    let body = element(
        "IfController",
        "",
        "i",
        &condition,
        each,
        &(http("a", "") + &looped + &http("c", "")),
    );
    let plan = plan(plan_of(&body, ""));
    let [guard, inner] = [1, 2].map(ControllerId);
    let sampler = |n| Child::Sampler(SamplerId(n));
    assert_eq!(plan.controllers[0].children, [Child::Controller(guard)]);
    assert_eq!(plan.controllers[1].children, [sampler(0), Child::Controller(inner), sampler(2)]);
    assert_eq!(plan.controllers[2].children, [sampler(1)]);
    // An inner loop restarts with each iteration of its parent.
    assert_eq!(plan.controllers[1].on_iteration, [OnIteration::Controller(inner)]);
    assert!(matches!(
        plan.controllers[2].kind,
        ControllerKind::Loop { count: LoopCount::Forever, .. }
    ));
    assert_eq!(plan.controllers[2].parent, Some(guard));
    let slots: Vec<_> = plan.controllers.iter().map(|controller| controller.slot).collect();
    assert_eq!(slots, [0, 4, 7]);
    assert_eq!(plan.groups[0].slots, 11);
}

#[test]
fn disabled_elements_and_all_below_them_are_left_out() {
    let body = http("a", "").replace("enabled=\"true\"", "enabled=\"false\"") + &http("b", "");
    let compiled = plan_of(&body, "");
    assert_eq!(compiled.support.len(), 3, "{:?}", compiled.support);
    assert_eq!(plan(compiled).samplers.len(), 1);
}

#[test]
fn what_cannot_run_is_told_with_its_place_and_left_out() {
    let body = element("Strange", "", "Odd", &[], "", "")
        + &element("JDBCSampler", "TestBeanGUI", "Query", &[], "", &timer("t", "1"))
        + &element(
            "ResultCollector",
            "ViewResultsFullVisualizer",
            "Tree",
            &[("filename", "")],
            "",
            "",
        )
        + &element("JSR223PostProcessor", "TestBeanGUI", "Script", &[], "", "")
        + &http_sampler(&[("HTTPSampler.path", "/${__groovy([1])}")], "", "");
    let compiled = plan_of(&body, "");
    let found: Vec<_> = compiled
        .support
        .iter()
        .filter(|support| support.level != Level::Native)
        .map(|support| (support.level, support.class.as_str(), support.path.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (Level::Unsupported, "Strange", "Plan > Users > Odd"),
            (Level::Jvm, "JDBCSampler", "Plan > Users > Query"),
            (Level::Ignored, "ResultCollector", "Plan > Users > Tree"),
            (Level::Jvm, "JSR223PostProcessor", "Plan > Users > Script"),
            (Level::Jvm, "HTTPSamplerProxy", "Plan > Users > Request"),
        ]
    );
    let request = compiled.support.last().expect("the request");
    assert!(request.consequence.contains("__groovy"), "{}", request.consequence);
    assert!(compiled.support.iter().all(|support| support.line > 0));
    assert_eq!(compiled.plan.expect("a plan").samplers.len(), 1);
}

#[test]
fn what_single_settings_ask_for_is_refused_by_name() {
    let authorization = |mechanism: &str| {
        let entry = format!(
            r#"<collectionProp name="AuthManager.auth_list"><elementProp name="" elementType="Authorization"><stringProp name="Authorization.mechanism">{mechanism}</stringProp></elementProp></collectionProp>"#
        );
        element("AuthManager", "", "a", &[], &entry, "")
    };
    let datagram = |encoder: &str| {
        let class = "kg.apc.jmeter.samplers.UDPSampler";
        element(class, "", "u", &[("encodeclass", encoder)], "", "")
    };
    let from = |kind: &str| {
        let source = [("HTTPSampler.ipSource", "lo"), ("HTTPSampler.ipSourceType", kind)];
        element("HTTPSamplerProxy", "", "h", &source, "", "")
    };
    let address = [("SSESampler.url", "http://x/")];
    let events = element("com.jmeter.sse.SSESampler", "", "e", &address, "", "");
    for (body, level, word) in [
        (authorization("BASIC_DIGEST"), Level::Native, ""),
        (authorization("KERBEROS"), Level::Unsupported, "Kerberos"),
        (datagram("kg.apc.jmeter.samplers.HexStringUDPDecoder"), Level::Native, ""),
        (datagram("kg.apc.jmeter.samplers.DNSJavaDecoder"), Level::Jvm, "DNSJavaDecoder"),
        (events, Level::Native, ""),
        (from("3"), Level::Native, ""),
        (from("4"), Level::Unsupported, "ipSourceType"),
    ] {
        let compiled = plan_of(&body, "");
        let last = compiled.support.last().expect("the element");
        assert_eq!(last.level, level, "{last:?}");
        assert!(last.consequence.contains(word), "{last:?}");
    }
}

#[test]
fn scripts_in_conditions_need_a_jvm_only_where_they_do_more_than_compare() {
    let controller = |condition: &str| {
        element("IfController", "", "i", &[("IfController.condition", condition)], "", "")
    };
    for (condition, level) in [
        ("\"${x}\" == \"a\" && ${n} < 3", Level::Native),
        ("${JMeterThread.last_sample_ok}", Level::Native),
        ("vars.get(\"x\") == 1", Level::Jvm),
    ] {
        let compiled = plan_of(&controller(condition), "");
        assert_eq!(
            compiled.support.last().map(|support| support.level),
            Some(level),
            "{condition}"
        );
    }
}

#[test]
fn defaults_fill_what_is_missing_or_empty_nearest_first() {
    let defaults = |domain: &str, port: &str| {
        let props = [("HTTPSampler.domain", domain), ("HTTPSampler.port", port)];
        element("ConfigTestElement", "HttpDefaultsGui", "d", &props, "", "")
    };
    let sampler = http_sampler(
        &[("HTTPSampler.path", "/"), ("HTTPSampler.domain", ""), ("HTTPSampler.port", "")],
        "",
        &defaults("", "81"),
    );
    let compiled = plan_of(&(sampler + &defaults("group", "82")), &defaults("plan", "83"));
    let mut world = world::World::new(compiled);
    let mut request = plan::http::Request::default();
    world.render(0, &mut request).expect("a request");
    assert_eq!(request.url, "http://group:81/");
}

#[test]
fn the_outermost_cookie_manager_counts() {
    let manager = |name: &str, policy: &str| {
        element("CookieManager", "CookiePanel", name, &[("CookieManager.policy", policy)], "", "")
    };
    let body =
        http("a", &manager("own", "netscape")) + &http("b", "") + &manager("group", "default");
    let plan = plan(plan_of(&body, &manager("plan", "RFC2109")));
    let policies: Vec<_> = plan
        .samplers
        .iter()
        .map(|sampler| match &sampler.kind {
            SamplerKind::Http(http) => {
                &*plan.cookie_managers[http.cookies.expect("one") as usize].policy
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(policies, ["RFC2109", "RFC2109"]);
    assert_eq!(plan.cookie_managers.len(), 1);
}

#[test]
fn the_outermost_cache_manager_counts() {
    let manager = |name: &str, size: &str| {
        let props = [("useExpires", "true"), ("maxSize", size)];
        element("CacheManager", "CacheManagerGui", name, &props, "", "")
    };
    let body = http("a", &manager("own", "1")) + &manager("group", "2");
    let plan = plan(plan_of(&body, ""));
    let SamplerKind::Http(http) = &plan.samplers[0].kind else { panic!("HTTP") };
    let manager = &plan.cache_managers[http.cache.expect("one") as usize];
    assert_eq!((manager.most.fixed(), manager.use_expires), (Some("2"), true));
    assert_eq!(plan.cache_managers.len(), 1);
}

#[test]
fn listeners_count_if_they_write_a_file() {
    let saved = r#"<objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><time>true</time><xml>true</xml><responseData>true</responseData></value></objProp>"#;
    let listener = element(
        "ResultCollector",
        "SimpleDataWriter",
        "Rows",
        &[("filename", "${f}.jtl")],
        saved,
        "",
    );
    let plan = plan(plan_of(&(http("a", "") + &http("b", "") + &listener), ""));
    assert_eq!(plan.listeners.len(), 1);
    assert_eq!(plan.samplers[1].listeners, [ListenerId(0)]);
    let ListenerKind::File(file) = &plan.listeners[0].kind else { panic!("a file") };
    assert_eq!(file.options.as_ref().unwrap()[0], ("time".to_string(), "true".to_string()));
    assert!(plan.samplers[0].needs.contains(Needs::ROW | Needs::URL | Needs::TEXT));
}

#[test]
fn user_defined_variables_are_collected_from_the_whole_tree() {
    let variables = |pairs: &[(&str, &str)]| {
        let entry = |(name, value): &(&str, &str)| {
            format!(
                r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp>"#
            )
        };
        let entries: String = pairs.iter().map(entry).collect();
        let more =
            format!(r#"<collectionProp name="Arguments.arguments">{entries}</collectionProp>"#);
        element("Arguments", "ArgumentsPanel", "v", &[], &more, "")
    };
    let body = variables(&[("a", "1"), ("b", "${a}"), ("a", "2")])
        + &http("x", &variables(&[("c", "${a}-${b}")]));
    let world = world::World::new(plan_of(&body, &variables(&[("a", "late")])));
    // Variables of one element cannot refer to each other, and the first variable of a name is used. Later elements can
    // refer to variables of earlier elements.
    let values = ["a", "b", "c"].map(|name| world.get(name));
    assert_eq!(values, [Some("late"), Some("${a}"), Some("1-${a}")]);
}

#[test]
fn loops_count_in_a_variable_that_the_plan_reads() {
    let looped = element(
        "LoopController",
        "",
        "L",
        &[("LoopController.loops", "2")],
        "",
        &http("/${__jm__L__idx}", ""),
    );
    let plan = plan(plan_of(&looped, ""));
    assert_eq!(plan.controllers[1].index, plan.names.find("__jm__L__idx"));
    assert_eq!(plan.controllers[0].index, None);
}

#[test]
fn findings_come_all_at_once_with_their_place() {
    let body =
        element("LoopController", "", "L", &[("LoopController.loops", "many")], "", &http("a", ""))
            + &element("CounterConfig", "", "C", &[("CounterConfig.format", "0#")], "", "");
    let compiled = plan_of(&body, "");
    let codes: Vec<_> = compiled.diags.iter().map(|diag| diag.code).collect();
    assert_eq!(codes, ["bad-number", "bad-number-format"]);
    assert_eq!(compiled.diags[0].element.as_deref(), Some("Plan > Users > L"));
    assert!(compiled.diags.iter().all(|diag| diag.line > 0 && diag.help.is_some()));
}

#[test]
fn a_document_without_a_test_plan_is_no_plan() {
    let (doc, _) =
        jmx::parse("a.jmx", b"<jmeterTestPlan><hashTree/></jmeterTestPlan>".to_vec()).expect("XML");
    let compiled = plan::compile::compile(&doc, &Settings::default());
    assert!(compiled.plan.is_none());
    assert_eq!(compiled.diags[0].code, "no-test-plan");
}

#[test]
fn the_hash_depends_on_text_and_properties_alone() {
    let source = source_of(&http("a", ""), "");
    let mut settings = Settings::default();
    let hash = |source: &str, settings: &Settings| {
        compile_source(source, settings).plan.expect("a plan").hash
    };
    let first = hash(&source, &settings);
    assert_eq!(first, hash(&source, &settings));
    settings.properties.insert("users".into(), "5".into());
    assert_ne!(first, hash(&source, &settings));
    assert_ne!(first, hash(&source_of(&http("b", ""), ""), &Settings::default()));
}

/// Compiles elements of any class at any position, with any properties, which must not panic.
#[test]
fn nothing_panics_on_arbitrary_trees() {
    let mut random = plan::random::Random::new(11);
    let classes: Vec<_> = plan::support::table().iter().map(|class| class.name).collect();
    let values = [
        "",
        "-1",
        "7",
        "${x}",
        "${__groovy(1)}",
        "${",
        "true",
        "a,b",
        "ü€",
        "{\"a\":1}",
        "http://x/%zz",
    ];
    let names = [
        "LoopController.loops",
        "IfController.condition",
        "HTTPSampler.path",
        "HTTPSampler.method",
        "calcMode",
        "filename",
        "variableNames",
        "CounterConfig.format",
        "ActionProcessor.action",
        "classname",
        "RegexExtractor.regex",
        "Asserion.test_strings",
        "JSON_PATH",
        "JSONPostProcessor.jsonPathExprs",
    ];
    for _ in 0..300 {
        let mut tree = String::new();
        for _ in 0..=random.below(12) {
            let mut draw = |list: &[&'static str]| list[random.below(list.len() as u64) as usize];
            let class = draw(&classes);
            let props = [(draw(&names), draw(&values)), (draw(&names), draw(&values))];
            let more = r#"<collectionProp name="Arguments.arguments"><stringProp name="1">x</stringProp></collectionProp><objProp><name>saveConfig</name></objProp>"#;
            tree = if random.below(3) == 0 {
                element(class, "HttpDefaultsGui", "${n}", &props, more, &tree)
            } else {
                tree + &element(class, "", "n", &props, more, "")
            };
        }
        let source = source_of(&tree, &tree);
        let (doc, _) = jmx::parse("a.jmx", source.into_bytes()).expect("XML");
        let compiled = plan::compile::compile(&doc, &Settings::default());
        let mut world = world::World::new(compiled);
        for sampler in 0..world.plan.samplers.len() {
            if let SamplerKind::Http(_) = world.plan.samplers[sampler].kind {
                let _ = world.render(sampler, &mut plan::http::Request::default());
            }
        }
    }
}

#[test]
fn the_deepest_document_compiles_on_a_small_stack() {
    let open = r#"<GenericController guiclass="" testclass="GenericController" testname="c" enabled="true"/><hashTree>"#;
    // The Test Plan and its group take further levels.
    let depth = jmx::MAX_LEVELS - 3;
    let body = open.repeat(depth) + &http("a", "") + &"</hashTree>".repeat(depth);
    let source = source_of(&body, "");
    let work = move || {
        let (doc, _) = jmx::parse("a.jmx", source.into_bytes()).expect("XML");
        let compiled = plan::compile::compile(&doc, &Settings::default());
        assert!(compiled.diags.is_empty(), "{:?}", compiled.diags);
        let plan = compiled.plan.expect("a plan");
        assert_eq!((plan.controllers.len(), plan.samplers.len()), (depth + 1, 1));
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow");
}

#[test]
fn a_level_with_very_many_samplers_takes_no_longer_for_each() {
    // Each sampler searches only the elements that apply to it, not its siblings, so that 20 000 samplers compile
    // in linear time.
    let many: String = (0..20_000).map(|n| http(&n.to_string(), "")).collect();
    let plan = plan(plan_of(&(many + &timer("t", "1")), ""));
    assert_eq!(plan.samplers.len(), 20_000);
    assert!(plan.samplers.iter().all(|sampler| sampler.timers.len() == 1));
}

fn module(path: &[&str]) -> String {
    let names: String =
        path.iter().map(|name| format!(r#"<stringProp name="1">{name}</stringProp>"#)).collect();
    let list =
        format!(r#"<collectionProp name="ModuleController.node_path">{names}</collectionProp>"#);
    element("ModuleController", "", "m", &[], &list, "")
}

fn simple(name: &str, inner: &str) -> String {
    element("GenericController", "", name, &[], "", inner)
}

fn codes(compiled: &Compiled) -> Vec<&str> {
    compiled.diags.iter().map(|diag| diag.code).collect()
}

#[test]
fn modules_run_copies_of_their_target_with_elements_of_their_own() {
    let target = simple("t", &(counter("c") + &http("a", "")));
    let compiled = plan_of(&(module(&["", "Plan", "Users", "t"]) + &target), "");
    let paths: Vec<_> = compiled.support.iter().map(|support| support.path.as_str()).collect();
    assert!(paths.contains(&"Plan > Users > m > t > Request"), "{paths:?}");
    let plan = plan(compiled);
    assert_eq!((plan.samplers.len(), plan.counters.len()), (2, 2));
}

#[test]
fn modules_without_a_target_or_end_are_errors() {
    let gone = plan_of(&(http("a", "") + &module(&["", "Plan", "Users", "gone"])), "");
    assert_eq!(codes(&gone), ["module-target"]);
    let group = plan_of(&module(&["", "Plan", "Users"]), "");
    assert_eq!(codes(&group), ["module-target"]);
    let itself = plan_of(&simple("t", &module(&["", "Plan", "Users", "t"])), "");
    assert_eq!(codes(&itself), ["endless-module"]);
}

#[test]
fn included_elements_are_told_with_their_file() {
    let folder = std::env::temp_dir().join(format!("throng-include-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let include = |path: &str| {
        element("IncludeController", "", "i", &[("IncludeController.includepath", path)], "", "")
    };
    let write = |name: &str, body: &str| {
        let fragment = element("TestFragmentController", "", "f", &[], "", body);
        let text = format!("<jmeterTestPlan><hashTree>{fragment}</hashTree></jmeterTestPlan>");
        std::fs::write(folder.join(name), text).expect("a file");
    };
    write(
        "a.jmx",
        &(http("a", "") + "\n" + &element("Strange", "", "s", &[], "", "") + &include("b.jmx")),
    );
    write("b.jmx", &http("b", ""));
    write("itself.jmx", &include("itself.jmx"));
    let settings = Settings { folder: folder.clone(), ..Settings::default() };
    let compiled = compile_source(&source_of(&include("a.jmx"), ""), &settings);
    let file = folder.join("a.jmx").display().to_string();
    let strange = compiled.support.iter().find(|one| one.class == "Strange").expect("told of");
    assert_eq!((strange.file.as_ref(), strange.level), (Some(&file), Level::Unsupported));
    assert_eq!(strange.path, "Plan > Users > i > s");
    assert_eq!(compiled.included.len(), 2);
    assert_eq!(plan(compiled).samplers.len(), 2);
    let itself = compile_source(&source_of(&include("itself.jmx"), ""), &settings);
    assert_eq!(codes(&itself), ["endless-module"]);
    let gone = compile_source(&source_of(&include("gone.jmx"), ""), &settings);
    assert!(gone.support.iter().all(|one| one.level == Level::Native));
    let missing = gone.diags.iter().find(|diag| diag.code == "include-missing").expect("a finding");
    assert_eq!(missing.subject, Some(folder.join("gone.jmx").display().to_string()));
    let _ = std::fs::remove_dir_all(folder);
}
