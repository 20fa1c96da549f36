//! Tests the part of plans that only Java can run: its elements, their order and expressions, and the parts of
//! results kept for them.

#![allow(clippy::format_collect, reason = "documents of tests are short")]

extern crate plan as subject;

mod world;

use plan::assertion::Assertion;
use plan::compile::{Compiled, Settings};
use plan::element::Timer;
use plan::extract::Extractor;
use plan::java_backed::{Element, JavaBacked, Job, Reads, Role, TextId, TextRange};
use plan::plan::*;
use plan::support::Level;
use world::{compile_source, element, http_sampler, plan_of, source_of};

/// Returns settings with which even simple scripts run in Java, because the tests check how scripts are passed to Java.
fn java_backing() -> Settings {
    let properties = [("throng.scripts.native".to_owned(), "false".to_owned())].into();
    Settings { java_backing: true, properties, ..Settings::default() }
}

#[test]
fn a_plug_in_that_can_be_left_out_runs_where_java_has_it() {
    let class = "kg.apc.jmeter.reporters.FlexibleFileWriter";
    let source = source_of(&http("/", &element(class, "x", "Figures", &[], "", "")), "");
    for (java_backing, has, level) in
        [(true, class, Level::Jvm), (true, "", Level::Ignored), (false, class, Level::Ignored)]
    {
        let properties = [(plan::compile::PLUGINS.to_owned(), has.to_owned())].into();
        let settings = Settings { java_backing, properties, ..Settings::default() };
        let compiled = compile_source(&source, &settings);
        let found = compiled.support.iter().find(|element| element.class == class);
        let found = found.expect("it is listed");
        assert_eq!(found.level, level, "{java_backing} {has}");
        let of_java = compiled.plan.expect("a plan").java_backed.elements.len();
        assert_eq!(of_java > 0, level == Level::Jvm);
        let is_said = found.consequence.starts_with("needs its plug-in to write");
        assert_eq!(is_said, level == Level::Ignored, "{}", found.consequence);
    }
}

fn java_backed(body: &str, beside: &str) -> Plan {
    compiled(body, beside).plan.expect("a plan")
}

fn compiled(body: &str, beside: &str) -> Compiled {
    compile_source(&source_of(body, beside), &java_backing())
}

/// Returns an element with a Groovy script.
fn groovy(class: &str, name: &str, script: &str) -> String {
    let props = [("scriptLanguage", "groovy"), ("script", script), ("filename", "")];
    element(class, "TestBeanGUI", name, &props, "", "")
}

fn bean_shell(class: &str, name: &str, script: &str) -> String {
    element(class, "TestBeanGUI", name, &[("script", script)], "", "")
}

fn http(path: &str, inner: &str) -> String {
    http_sampler(&[("HTTPSampler.path", path)], "", inner)
}

fn regex(name: &str, refname: &str) -> String {
    let props = [
        ("RegexExtractor.refname", refname),
        ("RegexExtractor.regex", "a(.)"),
        ("RegexExtractor.template", "$1$"),
    ];
    element("RegexExtractor", "RegexExtractorGui", name, &props, "", "")
}

fn user_parameters(value: &str) -> String {
    let more = format!(
        r#"<collectionProp name="UserParameters.names"><stringProp name="1">p</stringProp></collectionProp>
<collectionProp name="UserParameters.thread_values"><collectionProp name="1"><stringProp name="1">{value}</stringProp></collectionProp></collectionProp>"#
    );
    element("UserParameters", "UserParametersGui", "Parameters", &[], &more, "")
}

fn one(plan: &Plan, job: Job) -> &Element {
    match job {
        Job::Run(id) => &plan.java_backed.elements[id.0 as usize],
        Job::Evaluate(range) => panic!("{range:?}"),
    }
}

/// Returns the jobs of a list in order: names of elements, and expressions; `-` is a native element.
fn told(plan: &Plan, jobs: impl Iterator<Item = Option<Job>>) -> Vec<String> {
    jobs.map(|job| match job {
        None => "-".to_string(),
        Some(Job::Run(id)) => plan.java_backed.elements[id.0 as usize].name.clone(),
        Some(Job::Evaluate(range)) => texts(plan, range).concat(),
    })
    .collect()
}

fn texts(plan: &Plan, range: TextRange) -> Vec<String> {
    let (first, count) = (range.first as usize, range.count as usize);
    plan.java_backed.texts[first..first + count].iter().map(ToString::to_string).collect()
}

fn before(plan: &Plan, sampler: usize) -> Vec<String> {
    told(
        plan,
        plan.samplers[sampler].before.iter().map(|one| match one {
            Before::Job(job) => Some(*job),
            Before::UserParameters(_) | Before::Script(_) => None,
        }),
    )
}

fn after(plan: &Plan, sampler: usize) -> Vec<String> {
    told(
        plan,
        plan.samplers[sampler].after.iter().map(|one| match one {
            Extractor::Job(job) => Some(*job),
            _ => None,
        }),
    )
}

#[test]
fn a_queue_that_java_waits_at_is_filled_in_java() {
    let kind = |name: &str| format!("kg.apc.jmeter.modifiers.{name}");
    let props = [("FifoName", "q"), ("Value", "v"), ("Variable", "x"), ("Timeout", "1")];
    let put = element(&kind("FifoPutPostProcessor"), "", "Put", &props, "", "");
    let pop = element(&kind("FifoPopPreProcessor"), "", "Pop", &props, "", "");
    assert_eq!(after(&java_backed(&http("a", &put), ""), 0), ["-"]);
    let plan = java_backed(&(http("a", &put) + &http("b", &pop)), "");
    assert_eq!((after(&plan, 0), before(&plan, 1)), (vec!["Put".into()], vec!["Pop".into()]));
}

#[test]
fn nothing_is_java_backed_unless_allowed() {
    let body = http("a", &groovy("JSR223PostProcessor", "Post", "vars.put('${__groovy(1+1)}','')"));
    let compiled = plan_of(&body, "");
    let plan = compiled.plan.expect("a plan");
    assert!(plan.java_backed.is_empty() && plan.samplers[0].after.is_empty());
    assert!(compiled.support.iter().any(|one| one.level == Level::Jvm));
}

#[test]
fn a_plan_without_scripts_needs_no_java() {
    let plan = java_backed(&http("a", &regex("Regex", "x")), "");
    assert!(plan.java_backed.is_empty(), "{:?}", plan.java_backed);
}

#[test]
fn java_backed_elements_stand_among_native_ones_in_jmeters_order() {
    let body = groovy("JSR223PostProcessor", "Outer", "1")
        + &groovy("JSR223Timer", "Far", "1")
        + &http(
            "a",
            &(regex("First", "x")
                + &bean_shell("BeanShellPostProcessor", "Middle", "1")
                + &regex("Last", "y")
                + &user_parameters("v")
                + &bean_shell("BeanShellPreProcessor", "Pre", "1")
                + &bean_shell("BeanShellTimer", "Near", "1")
                + &bean_shell("BSFListener", "Listener", "1")
                + &groovy("JSR223Assertion", "Check", "1")),
        );
    let plan = java_backed(&body, &groovy("JSR223PreProcessor", "Plan's", "1"));
    assert_eq!(before(&plan, 0), ["Plan's", "-", "Pre"]);
    assert_eq!(after(&plan, 0), ["Outer", "-", "Middle", "-"]);
    let sampler = &plan.samplers[0];
    let timers = sampler.timers.iter().map(|timer| match timer {
        Timer::Job(job) => Some(*job),
        _ => None,
    });
    assert_eq!(told(&plan, timers), ["Near", "Far"]);
    assert_eq!(told(&plan, sampler.checks.iter().map(Assertion::job)), ["Check"]);
    let listener = &plan.listeners[sampler.listeners[0].0 as usize];
    assert!(matches!(listener.kind, ListenerKind::JavaBacked(id)
        if plan.java_backed.elements[id.0 as usize].role == Role::Listener));
}

#[test]
fn an_element_in_the_scope_of_many_samplers_is_java_backed_once() {
    let body =
        http("a", "") + &http("b", "") + &groovy("JSR223PostProcessor", "Post", "vars.get('x')");
    let plan = java_backed(&body, "");
    assert_eq!(plan.java_backed.elements.len(), 1);
    assert_eq!((after(&plan, 0), after(&plan, 1)), (vec!["Post".into()], vec!["Post".into()]));
}

#[test]
fn elements_are_handed_over_as_the_file_has_them() {
    let script = "<JSR223Sampler guiclass=\"TestBeanGUI\" testclass=\"JSR223Sampler\" testname=\"S &amp; T\">\r\n  <!-- why -->\n  \
        <stringProp name=\"script\"><![CDATA[a < b]]>&#xd;é</stringProp>\n</JSR223Sampler  >";
    let plan = java_backed(&format!("{script}<hashTree>{}</hashTree>", regex("Regex", "x")), "");
    let SamplerKind::JavaBacked(id) = plan.samplers[0].kind else { panic!("{:?}", plan.samplers) };
    let element = &plan.java_backed.elements[id.0 as usize];
    assert_eq!(&*element.xml, script);
    assert_eq!((element.class.as_str(), element.name.as_str()), ("JSR223Sampler", "S & T"));
    assert_eq!(element.path, "Plan > Users > S & T");
    let empty = r#"<com.example.EmptySampler testname="E"/>"#;
    let plan = java_backed(&format!("{empty}<hashTree/>"), "");
    assert_eq!(&*plan.java_backed.elements[0].xml, empty);
    assert_eq!(plan.java_backed.owners[0].configs, []);
}

#[test]
fn samplers_are_owners_with_the_configuration_in_their_scope() {
    let config = |class: &str, name: &str| element(class, "Gui", name, &[], "", "");
    let body = config("ConfigTestElement", "Outer")
        + &config("com.example.PoolConfig", "Pool")
        + &element(
            "JDBCSampler",
            "TestBeanGUI",
            "Query",
            &[],
            "",
            &(config("ConfigTestElement", "Inner") + &config("Arguments", "Variables")),
        )
        + &groovy("JSR223Sampler", "Script", "1");
    let plan = java_backed(&body, &config("JDBCDataSource", "Data source"));
    let JavaBacked { owners, elements, iterating, .. } = &plan.java_backed;
    let names = |owner: usize| -> Vec<&str> {
        let configs = owners[owner].configs.iter();
        configs.map(|id| elements[id.0 as usize].name.as_str()).collect()
    };
    assert_eq!(names(0), ["Inner", "Outer", "Pool", "Data source"]);
    assert_eq!(names(1), [""; 0]);
    let told: Vec<_> = iterating.iter().map(|id| elements[id.0 as usize].name.as_str()).collect();
    assert_eq!(told, ["Pool", "Data source"]);
    let of = |group| {
        iterating.iter().filter(|id| plan.java_backed.concerns(**id, GroupId(group))).count()
    };
    assert_eq!((of(0), of(1)), (2, 1));
    assert_eq!(elements[owners[0].element.0 as usize].role, Role::Sampler);
}

#[test]
fn a_native_sampler_is_known_to_java_where_a_script_looks_at_it() {
    let header = element("HeaderManager", "HeaderPanel", "Headers", &[], "", "");
    let script = "sampler.addArgument('a', vars.get('b'))";
    let with = http("a", &(groovy("JSR223PreProcessor", "Pre", script) + &header));
    let plan = java_backed(&(with + &http("b", &groovy("JSR223PreProcessor", "None", "1"))), "");
    let [owner] = &plan.java_backed.owners[..] else { panic!("{:?}", plan.java_backed.owners) };
    assert_eq!(owner.sampler, SamplerId(0));
    let element = |id: plan::java_backed::JavaBackedId| &plan.java_backed.elements[id.0 as usize];
    assert_eq!(element(owner.element).class, "HTTPSamplerProxy");
    assert_eq!(element(owner.configs[0]).class, "HeaderManager");
    assert!(matches!(plan.samplers[0].kind, SamplerKind::Http(_)));
    let called = java_backed(&http("${__groovy(sampler.name)}", ""), "");
    assert_eq!(called.java_backed.owners.len(), 1);
}

#[test]
fn what_scripts_read_is_kept_and_nothing_else() {
    let of = |script: &str| {
        let plan = java_backed(&http("a", &groovy("JSR223PostProcessor", "Post", script)), "");
        let needs = plan.samplers[0].needs;
        (
            one(&plan, Job::Run(plan::java_backed::JavaBackedId(0))).reads,
            needs,
            plan.java_backed.keeps_previous,
        )
    };
    let bare = of("vars.put('a', 'b')");
    assert_eq!((bare.0, bare.2), (Reads::empty(), false));
    assert!(!bare.1.intersects(Needs::BODY | Needs::TEXT | Needs::HEADERS));
    let body = of("prev.getResponseDataAsString()");
    assert_eq!((body.0, body.2), (Reads::RESULT | Reads::BODY | Reads::PREVIOUS, false));
    // The size of the result includes the headers, so they are needed too.
    assert!(body.1.contains(Needs::BODY | Needs::HEADERS));
    assert!(!body.1.contains(Needs::REQUEST_HEADERS));
    let listener =
        java_backed(&http("a", &groovy("JSR223Listener", "L", "prev.responseHeaders")), "");
    let needs = listener.samplers[0].needs;
    assert!(needs.contains(Needs::HEADERS) && !needs.intersects(Needs::BODY | Needs::PAGE));
}

#[test]
fn what_is_read_before_samplers_is_kept_of_all_of_them() {
    let pre = groovy("JSR223PreProcessor", "Pre", "vars.put('a', prev?.responseDataAsString)");
    let plan = java_backed(&(http("a", "") + &http("b", &pre)), "");
    assert!(plan.java_backed.keeps_previous);
    assert!(plan.samplers.iter().all(|sampler| sampler.needs.contains(Needs::BODY)));
    let plan = java_backed(&http("${__groovy(prev.getResponseCode())}", ""), "");
    assert!(plan.java_backed.keeps_previous && !plan.samplers[0].needs.contains(Needs::BODY));
}

#[test]
fn a_call_is_one_text_with_all_that_is_in_it() {
    let call = "${__groovy(vars.get('${__BeanShell(x)}') + ${__Random(1,2)},${name})}";
    let plan = java_backed(&http(&format!("a{call}b${{__jexl3(${{__groovy(2)}} > 1,)}}"), ""), "");
    let range = plan.samplers[0].evaluates;
    assert_eq!(texts(&plan, range), [call, "${__groovy(2)}"]);
    assert_eq!(plan.java_backed.texts.len(), 2);
    assert_eq!(plan.java_backed.at_start, []);
}

#[test]
fn functions_of_plug_ins_are_left_to_java() {
    let plan = java_backed(&http("${__mine(a,${x})}/${__x__(c)}", ""), "");
    let all = ["${__mine(a,${x})}", "${__x__(c)}"];
    assert_eq!(texts(&plan, plan.samplers[0].evaluates), all);
    // These are variable names, not function calls.
    let all = "${__mine(a,${x})}/${__other(b}/${__thing}";
    assert_eq!(texts(&java_backed(&http(all, ""), ""), TextRange { first: 0, count: 1 }), [all]);
}

#[test]
fn texts_are_evaluated_where_they_stand() {
    let constant = |delay: &str| {
        let props = [("ConstantTimer.delay", delay)];
        element("ConstantTimer", "ConstantTimerGui", "Timer", &props, "", "")
    };
    let inner = constant("${__groovy(1)}")
        + &constant("5")
        + &regex("Regex", "${__groovy(2)}")
        + &user_parameters("${__groovy(3)}");
    let wrong = element(
        "LoopController",
        "LoopControlPanel",
        "Loop ${__groovy(5)}",
        &[("LoopController.loops", "${__groovy(4)}")],
        "",
        &http("${__groovy(6)}", &inner),
    );
    let plan = java_backed(&wrong, "");
    let sampler = &plan.samplers[0];
    assert_eq!(texts(&plan, sampler.evaluates), ["${__groovy(6)}"]);
    assert_eq!(before(&plan, 0), ["${__groovy(3)}", "-"]);
    assert_eq!(after(&plan, 0), ["${__groovy(2)}", "-"]);
    let timers = sampler.timers.iter().map(|timer| match timer {
        Timer::Job(job) => Some(*job),
        _ => None,
    });
    assert_eq!(told(&plan, timers), ["${__groovy(1)}", "-", "-"]);
    let looped = plan.controllers.iter().map(|one| texts(&plan, one.evaluates));
    let looped: Vec<_> = looped.filter(|texts| !texts.is_empty()).collect();
    assert_eq!(looped, [["${__groovy(4)}", "${__groovy(5)}"]]);
    assert_eq!(plan.java_backed.at_start, []);
}

#[test]
fn each_sampler_in_scope_evaluates_the_texts() {
    let body = user_parameters("${__groovy(1)}") + &http("a", "") + &http("b", "");
    let plan = java_backed(&body, "");
    for sampler in 0..2 {
        assert_eq!(before(&plan, sampler), ["${__groovy(1)}", "-"]);
    }
}

#[test]
fn texts_of_variables_and_of_what_starts_with_the_run_are_told_apart() {
    let variables = |value: &str| {
        let more = format!(
            r#"<collectionProp name="Arguments.arguments"><elementProp name="v" elementType="Argument"><stringProp name="Argument.name">v</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp></collectionProp>"#
        );
        element("Arguments", "ArgumentsPanel", "Variables", &[], &more, "")
    };
    let counter = [("CounterConfig.start", "${__groovy(3)}")];
    let counter = element("CounterConfig", "CounterConfigGui", "Counter", &counter, "", "");
    let body = variables("${__groovy(1)}") + &variables("plain") + &counter + &http("a", "");
    let plan = java_backed(&body, &variables("${__groovy(2)}"));
    assert_eq!(plan.variables.len(), plan.java_backed.variables.len());
    let of_blocks: Vec<_> =
        plan.java_backed.variables.iter().map(|range| texts(&plan, *range)).collect();
    assert_eq!(of_blocks, [vec!["${__groovy(1)}"], vec![], vec!["${__groovy(2)}"]]);
    assert_eq!(plan.java_backed.at_start, [TextId(2)]);
    assert_eq!(&*plan.java_backed.texts[2], "${__groovy(3)}");
}

#[test]
fn what_java_said_is_read_by_texts() {
    let props =
        [("HTTPSampler.domain", "host"), ("HTTPSampler.path", "/p${__groovy(1)}${__groovy(2)}")];
    let plan = compiled(&http_sampler(&props, "", ""), "");
    let mut world = world::World::new(plan);
    let mut early = plan::java_backed::Values::default();
    early.set(TextId(0), "early".into());
    early.set(TextId(1), "start".into());
    std::sync::Arc::get_mut(&mut world.run).expect("one owner").set_java(early);
    world.notes.java_mut().set(TextId(0), "own".into());
    let mut request = plan::http::Request::default();
    world.render(0, &mut request).expect("a request");
    assert!(format!("{request:?}").contains("pownstart"), "{request:?}");
}

#[test]
fn conditions_in_java_script_become_calls() {
    let condition = |source: &str| {
        let props = [("IfController.condition", source)];
        element("IfController", "IfControllerPanel", "If", &props, "", &http("a", ""))
    };
    let plan = java_backed(&condition("'${x}'.match(/a,b/) != null"), "");
    let texts: Vec<_> =
        plan.controllers.iter().flat_map(|one| texts(&plan, one.evaluates)).collect();
    assert_eq!(texts, ["\u{1}If\u{1}'${x}'.match(/a,b/) != null"]);
    let native = java_backed(&condition("${x} < 3"), "");
    assert!(native.java_backed.is_empty());
}

#[test]
fn native_elements_that_ask_for_java_are_java_backed_by_their_class() {
    let document = element(
        "RegexExtractor",
        "RegexExtractorGui",
        "Document",
        &[
            ("RegexExtractor.useHeaders", "as_document"),
            ("RegexExtractor.refname", "${__groovy(1)}"),
        ],
        "",
        "",
    );
    let html = element("HTMLAssertion", "HTMLAssertionGui", "Html", &[], "", "");
    let java = [("classname", "com.example.Client")];
    let java = element("JavaSampler", "JavaTestSamplerGui", "Java", &java, "", "");
    let plan = java_backed(&(http("a", &(document + &html)) + &java), "");
    assert_eq!(after(&plan, 0), ["Document"]);
    assert_eq!(told(&plan, plan.samplers[0].checks.iter().map(Assertion::job)), ["Html"]);
    assert!(matches!(plan.samplers[1].kind, SamplerKind::JavaBacked(_)));
    assert!(plan.java_backed.texts.is_empty(), "{:?}", plan.java_backed.texts);
}

#[test]
fn requests_that_ask_for_kerberos_run_in_java() {
    let manager = |mechanism: &str| {
        let more = format!(
            r#"<collectionProp name="AuthManager.auth_list"><elementProp name="" elementType="Authorization"><stringProp name="Authorization.url">http://h</stringProp><stringProp name="Authorization.mechanism">{mechanism}</stringProp></elementProp></collectionProp>"#
        );
        element("AuthManager", "AuthPanel", "Credentials", &[], &more, "")
    };
    let cookies = element("CookieManager", "CookiePanel", "Cookies", &[], "", "");
    let plan = java_backed(&(http("a", &manager("KERBEROS")) + &http("b", "") + &cookies), "");
    assert!(matches!(plan.samplers[0].kind, SamplerKind::JavaBacked(_)));
    assert!(matches!(plan.samplers[1].kind, SamplerKind::Http(_)));
    let [owner] = &plan.java_backed.owners[..] else { panic!("{:?}", plan.java_backed.owners) };
    assert_eq!((owner.configs.len(), plan.java_backed.iterating.len()), (2, 2));
    assert!(java_backed(&http("a", &manager("DIGEST")), "").java_backed.is_empty());
}

#[test]
fn the_report_says_what_runs_in_java() {
    let mine = element("com.example.MySampler", "com.example.MyGui", "Mine", &[], "", "");
    let control = element("com.example.MyController", "", "Control", &[], "", &http("b", ""));
    let jdbc = element("JDBCSampler", "TestBeanGUI", "Query", &[], "", "");
    let body = mine + &control + &jdbc + &http("${__groovy(1)}", "");
    let support = compiled(&body, "").support;
    let of = |name: &str| support.iter().find(|one| one.name == name).expect("told");
    assert_eq!(of("Query").level, Level::Jvm);
    let query = "runs in Java: org.apache.jmeter.protocol.jdbc.sampler.JDBCSampler";
    assert_eq!(of("Query").consequence, query);
    assert!(of("Mine").consequence.contains("com.example.MySampler"), "{:?}", of("Mine"));
    assert_eq!(of("Control").level, Level::Jvm);
    assert!(of("Control").consequence.contains("com.example.MyController"));
    let texts: Vec<_> = support.iter().filter(|one| one.class == "HTTPSamplerProxy").collect();
    assert_eq!(texts.last().expect("a request").level, Level::Jvm);
}

#[test]
fn controllers_of_their_own_classes_hold_what_stands_in_them() {
    let control = |inside: &str| element("com.example.Every", "", "Control", &[], "", inside);
    let counter = element("CounterConfig", "CounterConfigGui", "Counter", &[], "", "");
    let plan = java_backed(&control(&(counter + &http("a", "") + &control(&http("b", "")))), "");
    let kinds = plan.controllers.iter().map(|one| match one.kind {
        ControllerKind::JavaBacked(id) => Some(plan.java_backed.elements[id.0 as usize].role),
        _ => None,
    });
    assert_eq!(kinds.collect::<Vec<_>>(), [None, Some(Role::Controller), Some(Role::Controller)]);
    let outer = &plan.controllers[1];
    assert_eq!(outer.children, [Child::Sampler(SamplerId(0)), Child::Controller(ControllerId(2))]);
    // The element's class may listen to iterations, as the counter does.
    assert_eq!(outer.on_iteration.len(), 2);
    assert_eq!(plan.controllers[2].on_iteration.len(), 0);
    assert!(plan.java_backed.keeps_previous, "it may look at the sample before");
    let settings = Settings::default();
    let refused = compile_source(&source_of(&control(&http("a", "")), ""), &settings);
    let told = refused.support.iter().find(|one| one.name == "Control").expect("told");
    assert_eq!(told.level, Level::Unsupported);
}

#[test]
fn in_a_parallel_controller_none_runs_by_its_own_class() {
    let control = element("com.example.Every", "", "Control", &[], "", &http("a", ""));
    let class = "com.blazemeter.jmeter.controller.ParallelSampler";
    let body = element(class, "", "Branches", &[], "", &(control + &http("b", "")));
    let compiled = compiled(&body, "");
    let told = compiled.support.iter().find(|one| one.name == "Control").expect("told");
    assert_eq!(told.level, Level::Unsupported);
    assert!(told.consequence.contains("Parallel Controller"), "{}", told.consequence);
    assert!(compiled.plan.expect("a plan").java_backed.is_empty());
}

#[test]
fn unknown_classes_are_guessed_by_name_window_package_and_place() {
    use plan::support::{Holds, Kind, guess};
    assert_eq!(guess("a.b.KafkaProducerSampler", "", Holds::Nothing), Kind::Sampler);
    assert_eq!(guess("a.b.Kafka", "a.b.KafkaSamplerGui", Holds::Nothing), Kind::Sampler);
    assert_eq!(guess("a.timers.Wait", "", Holds::Nothing), Kind::Timer);
    assert_eq!(guess("a.b.Thing", "", Holds::Nothing), Kind::Config);
    assert_eq!(guess("a.b.Thing", "", Holds::Others), Kind::Sampler);
    assert_eq!(guess("a.b.Thing", "", Holds::Samplers), Kind::Controller);
    assert_eq!(guess("a.b.SomeController", "", Holds::Others), Kind::Controller);
    assert_eq!(guess("a.sampler.RedisDataSet", "", Holds::Nothing), Kind::Config);
}

#[test]
fn texts_that_read_what_their_scripts_may_have_set_are_javas_as_a_whole() {
    let mixed = "/${a}/${__groovy(vars.put('a'\\, 'b'))}/${__P(port)}/${a}";
    for (path, texts) in [
        (mixed, vec![mixed]),
        ("/${__groovy(1)}/${__P(port)}", vec!["${__groovy(1)}"]),
        // A function with side effects must not be evaluated twice.
        ("/${__groovy(1)}/${a}/${__counter(TRUE)}", vec!["${__groovy(1)}"]),
        ("/${a}", vec![]),
    ] {
        let plan = java_backed(&http(path, ""), "");
        assert_eq!(self::texts(&plan, plan.samplers[0].evaluates), texts, "{path}");
        assert_eq!(plan.java_backed.texts.len(), texts.len());
    }
}

#[test]
fn samplers_that_share_headers_with_scripted_ones_are_known_to_java() {
    let headers = || element("HeaderManager", "HeaderPanel", "Headers", &[], "", "");
    let changes = "sampler.getHeaderManager().add(null)";
    let script = |text: &str| groovy("JSR223PreProcessor", "S", text);
    let body = |text: &str| http("a", &script(text)) + &http("b", "") + &headers();
    let asking = |plan: &Plan| -> Vec<_> {
        let owners = plan.java_backed.owners.iter();
        owners.map(|owner| (owner.sampler.0, owner.asks_for_headers)).collect()
    };
    assert_eq!(asking(&java_backed(&body(changes), "")), [(0, false), (1, true)]);
    assert_eq!(asking(&java_backed(&body("sampler.setPath('x')"), "")), [(0, false)]);
    // Each sampler has its own Header Manager.
    let own = http("a", &(script(changes) + &headers())) + &http("b", &headers());
    assert_eq!(asking(&java_backed(&own, "")), [(0, false)]);
    // A script that reads the sampler after it has run.
    let behind =
        http("a", &groovy("JSR223PostProcessor", "S", changes)) + &http("b", "") + &headers();
    assert_eq!(asking(&java_backed(&behind, "")), [(0, true), (1, true)]);
}

#[test]
fn pages_are_read_where_scripts_may_ask_for_what_is_in_them() {
    let script = |text: &str| groovy("JSR223PreProcessor", "S", text);
    let reads = |text: &str| {
        let plan = java_backed(&http("a", &script(text)), "");
        plan.samplers[0].needs.contains(Needs::PAGE)
    };
    assert!(reads("sampler.setImageParser(true)"));
    assert!(!reads("sampler.setPath('a')"));
}

#[test]
fn java_is_told_whether_names_of_variables_are_made_during_the_run() {
    let script = || groovy("JSR223Sampler", "S", "1");
    let debug = element("DebugSampler", "TestBeanGUI", "D", &[], "", "");
    assert!(java_backed(&(script() + &debug), "").java_backed.reads_any_name);
    assert!(java_backed(&(script() + &http("${__V(a)}", "")), "").java_backed.reads_any_name);
    assert!(!java_backed(&(script() + &http("${a}", "")), "").java_backed.reads_any_name);
}

#[test]
fn scripts_that_read_properties_go_to_java_with_those_that_make_objects_of_them() {
    let reads = || groovy("JSR223Sampler", "Reads", "vars.put('t', '' + props.get('total'))");
    let writes = |text: &str| groovy("JSR223Sampler", "Writes", text);
    let settings = Settings { java_backing: true, ..Settings::default() };
    let in_java = |body: &str| -> Vec<String> {
        let plan = compile_source(&source_of(body, ""), &settings).plan.expect("a plan");
        plan.java_backed.elements.iter().map(|one| one.name.clone()).collect()
    };
    assert_eq!(in_java(&(reads() + &writes("props.put('total', 'text')"))), [""; 0]);
    assert_eq!(in_java(&(reads() + &writes("props.put('total', [1])"))), ["Reads", "Writes"]);
    assert_eq!(in_java(&(reads() + &writes("vars.putObject('total', [1])"))), ["Writes"]);
}
