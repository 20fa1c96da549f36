//! State that lasts longer than one job: headers that scripts have changed, and actions of elements when users start.

use std::sync::{Arc, Mutex};

use plan::java_backed::{Job, Reads, Role};
use plan::plan::{Before, GroupId, SamplerId};

use super::machine::{Answer, Machine, request};
use super::{host, plan, run, sampler, serve};

#[test]
fn samplers_are_named_by_scripts_and_ask_for_headers_once_they_were_changed() {
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let port = serve(Arc::clone(&requests));
    let get = |name: &str| {
        format!(
            r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="{name}" enabled="true"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">/{name}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>"#
        )
    };
    let mut plan = plan(1, 2, &(get("first") + &get("second")));
    let before = host(&mut plan, Role::Before, Reads::SAMPLER);
    let element = host(&mut plan, Role::Config, Reads::empty());
    for (at, asks_for_headers) in [(1, true), (0, false)] {
        plan.java_backed.owners.push(plan::java_backed::Owner {
            sampler: SamplerId(at),
            element,
            configs: Vec::new(),
            asks_for_headers,
        });
    }
    // The headers of the second sampler are requested only after a script has changed the first sampler.
    let script = Before::Job(Job::Run(before));
    plan.samplers[0].before.push(script);
    let machine = Machine::new(move |told| {
        let changes = told.iteration == 2;
        let name = (told.sampler == Some(0)).then_some("renamed");
        let request = changes.then(|| request(port, "/script", "", ("X-Own", "1"), name));
        Answer { request, ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["first", "second", "renamed", "second"]);
    assert_eq!(machine.seen()[2..5], ["job 1 [0]", "job 1 [0]", "job 1 []"]);
    let requests = requests.lock().unwrap();
    let lines = requests.iter().map(|request| request.lines().next().unwrap());
    let paths: Vec<_> = lines.map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(paths, ["/first", "/second", "/script", "/script"]);
}

#[test]
fn elements_hear_of_the_start_of_each_user_before_its_first_iteration() {
    let mut plan = plan(2, 2, &sampler("s"));
    let config = host(&mut plan, Role::Config, Reads::empty());
    let here = host(&mut plan, Role::Config, Reads::empty());
    let elsewhere = host(&mut plan, Role::Config, Reads::empty());
    plan.java_backed.iterating.push(config);
    plan.java_backed.of_groups.extend([(here, GroupId(0)), (elsewhere, GroupId(7))]);
    let machine = Machine::new(|told| Answer::default().to(told));
    machine.hearing.lock().unwrap().extend([here.0, elsewhere.0, 99]);
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["s"; 4]);
    let seen = machine.seen();
    assert_eq!(seen.iter().filter(|one| **one == "job 18 [1]").count(), 2, "{seen:?}");
    assert_eq!(seen.iter().filter(|one| **one == "job 17 [0]").count(), 4, "{seen:?}");
    let first = seen.iter().position(|one| one.starts_with("job 17"));
    assert!(seen.iter().position(|one| one.starts_with("job 18")) < first, "{seen:?}");
}
