//! Parallel Controllers and Sample Timeouts: branches, scopes, and events of iterations.

extern crate plan as subject;

mod world;

use plan::plan::*;
use world::{element, http_sampler, plan_of};

const CLASS: &str = "com.blazemeter.jmeter.controller.ParallelSampler";

fn http(name: &str, inner: &str) -> String {
    http_sampler(&[("HTTPSampler.path", name)], "", inner)
}

fn timer(delay: &str) -> String {
    element("ConstantTimer", "ConstantTimerGui", "t", &[("ConstantTimer.delay", delay)], "", "")
}

fn limit(ms: &str) -> String {
    let limit = [("InterruptTimer.timeout", ms)];
    element("SampleTimeout", "SampleTimeoutGui", "limit", &limit, "", "")
}

fn parallel(properties: &[(&str, &str)], inner: &str) -> String {
    element(
        CLASS,
        "com.blazemeter.jmeter.controller.ParallelControllerGui",
        "p",
        properties,
        "",
        inner,
    )
}

fn plan(body: &str, shared: &str) -> Plan {
    let compiled = plan_of(body, shared);
    assert_eq!(compiled.diags, []);
    compiled.plan.expect("a plan")
}

fn the_parallel(plan: &Plan) -> (&Sampler, &Parallel) {
    let found = plan.samplers.iter().find_map(|sampler| match &sampler.kind {
        SamplerKind::Parallel(parallel) => Some((sampler, &**parallel)),
        _ => None,
    });
    found.expect("a Parallel Controller")
}

/// Returns the time limits of a sampler, sorted.
fn limits<'p>(plan: &'p Plan, sampler: &Sampler) -> Vec<&'p str> {
    let mut found: Vec<_> =
        sampler.timeouts.iter().filter_map(|at| plan.timeouts[*at as usize].fixed()).collect();
    found.sort_unstable();
    found
}

#[test]
fn each_child_is_a_branch_and_the_whole_is_a_sampler() {
    let inner = http("a", "") + &element("GenericController", "", "c", &[], "", &http("b", ""));
    let body = parallel(&[("PARENT_SAMPLE", "true")], &(timer("5") + &inner)) + &http("z", "");
    let plan = plan(&body, "");
    let (sampler, parallel) = the_parallel(&plan);
    assert!(parallel.parent);
    assert!(parallel.most.is_none());
    // A timer inside the controller also applies to the controller itself.
    assert_eq!(sampler.timers.len(), 1);
    assert_eq!(sampler.controller, ControllerId(0));
    let branches: Vec<_> =
        parallel.branches.iter().map(|id| &plan.controllers[id.0 as usize]).collect();
    assert_eq!(branches.len(), 2);
    assert!(branches.iter().all(|branch| matches!(branch.kind, ControllerKind::Branch)));
    assert!(branches.iter().all(|branch| branch.parent == Some(ControllerId(0))));
    assert!(matches!(branches[0].children[..], [Child::Sampler(_)]));
    assert!(matches!(branches[1].children[..], [Child::Controller(_)]));
    // The group itself has two children, but all four samplers belong to it.
    assert_eq!(plan.controllers[0].children.len(), 2);
    assert_eq!(plan.samplers_of(&plan.groups[0]).len(), 4);
}

#[test]
fn only_a_limit_that_is_switched_on_counts() {
    let limits = [
        (&[("MAX_THREAD_NUMBER", "2")][..], None),
        (&[("LIMIT_MAX_THREAD_NUMBER", "true"), ("MAX_THREAD_NUMBER", "2")], Some("2")),
        (&[("LIMIT_MAX_THREAD_NUMBER", "true")], Some("6")),
    ];
    for (properties, expected) in limits {
        let plan = plan(&parallel(properties, &http("a", "")), "");
        let most = the_parallel(&plan).1.most.as_ref();
        assert_eq!(most.and_then(|most| most.fixed()), expected);
    }
}

#[test]
fn iterations_are_not_heard_of_right_inside() {
    let counter =
        |name| element("CounterConfig", "", name, &[("CounterConfig.name", name)], "", "");
    let inside =
        element("GenericController", "", "c", &[], "", &(counter("heard") + &http("b", "")));
    let plan = plan(&parallel(&[], &(counter("unheard") + &http("a", "") + &inside)), "");
    let heard: Vec<_> = plan.controllers.iter().flat_map(|one| &one.on_iteration).collect();
    assert_eq!(heard, [&OnIteration::Counter(0)]);
    assert_eq!(plan.counters.len(), 1);
}

#[test]
fn a_sample_timeout_is_for_all_of_its_thread() {
    let body = http("a", &limit("1"))
        + &parallel(&[], &(http("b", &limit("2")) + &http("c", "")))
        + &element("DebugSampler", "", "d", &[], "", "");
    let plan = plan(&body, &limit("3"));
    let of = |n: usize| limits(&plan, &plan.samplers[n]);
    let all = plan.samplers.len();
    assert_eq!(all, 5);
    assert_eq!(of(0), ["1", "2", "3"]);
    // Branches are separate threads.
    assert_eq!(of(1), ["2"]);
    assert!(of(2).is_empty());
    assert_eq!(limits(&plan, the_parallel(&plan).0), ["1", "2", "3"]);
    // A sampler that cannot be interrupted has no time limit.
    assert!(of(4).is_empty());
    assert_eq!(plan.timeouts.len(), 3);
}
