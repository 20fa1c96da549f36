//! Documents in, plans out: scopes, controllers as jumps, findings.

use plan::compile::{Compiled, Settings, compile};
use plan::element::Timer;
use plan::plan::*;

/// A plan with `body` as the content of its one thread group, and `beside` on the level of the group.
fn plan_of(body: &str, beside: &str) -> Compiled {
    let source = format!(
        r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Plan" enabled="true"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree>{body}</hashTree>
{beside}</hashTree></hashTree></jmeterTestPlan>"#
    );
    let (doc, diags) = jmx::parse("folder/a.jmx", source.into_bytes()).expect("a plan");
    assert_eq!(diags, [], "the document of the test is sound");
    compile(&doc, &Settings::default())
}

fn timer(name: &str, delay: &str) -> String {
    format!(
        r#"<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="{name}" enabled="true">
<stringProp name="ConstantTimer.delay">{delay}</stringProp></ConstantTimer><hashTree/>"#
    )
}

fn http(name: &str, inner: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}" enabled="true">
<stringProp name="HTTPSampler.path">/{name}</stringProp></HTTPSamplerProxy><hashTree>{inner}</hashTree>"#
    )
}

#[test]
fn timers_run_from_the_sampler_outwards_and_those_of_the_plan_last() {
    let body = timer("group", "2") + &http("a", &timer("own", "1"));
    let compiled = plan_of(&body, &timer("plan", "3"));
    assert_eq!(compiled.diags, []);
    let plan = compiled.plan.expect("a plan");
    assert_eq!(plan.file, "a.jmx");
    let delays: Vec<_> = plan.samplers[0]
        .timers
        .iter()
        .map(|timer| match timer {
            Timer::Constant(text) => text.fixed().expect("fixed").to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(delays, ["1", "2", "3"]);
    let main = ControllerId(0);
    assert_eq!(plan.ops, [Op::Enter(main), Op::Sample(SamplerId(0)), Op::Next(main), Op::End]);
    assert_eq!((plan.controllers[0].body, plan.controllers[0].after), (Pc(1), Pc(3)));
    assert_eq!(plan.groups[0].slots, 2);
}
