//! The end of a run, of a user or of a sample while jobs are in flight.

use super::*;

#[test]
fn a_run_that_ends_at_once_does_not_wait_for_scripts() {
    for role in [Role::Before, Role::Sampler, Role::After] {
        let mut plan = plan(2, -1, &sampler("s"));
        let id = host(&mut plan, role, Reads::empty());
        let sampler = &mut plan.samplers[0];
        match role {
            Role::Before => sampler.before.push(Before::Job(Job::Run(id))),
            Role::Sampler => sampler.kind = SamplerKind::JavaBacked(id),
            _ => sampler.after.push(Extractor::Job(Job::Run(id))),
        }
        let (begun, begins) = channel();
        // The script loops until the test has observed the end of the run. For the engine, it loops endlessly.
        let (over, wait) = channel::<()>();
        let (begun, wait) = (Mutex::new(begun), Mutex::new(wait));
        let machine = Machine::new(move |told| {
            begun.lock().unwrap().send(()).unwrap();
            let _ = wait.lock().unwrap().recv();
            Answer::default().to(told)
        });
        let mut stopped = false;
        let outcome = run_with(plan, &machine, |run| {
            if !stopped && begins.try_recv().is_ok() {
                run.stop_now();
                stopped = true;
            }
        });
        drop(over);
        let cut = if role == Role::Before { 0 } else { 2 };
        assert_eq!(outcome.cut, cut, "{role:?}");
        let seen = machine.seen();
        assert_eq!(seen.iter().filter(|what| *what == "interrupt").count(), 2, "{role:?} {seen:?}");
        assert!(seen.contains(&"end".to_string()));
    }
}

#[test]
fn a_graceful_stop_waits_for_jobs() {
    let mut plan = plan(1, -1, &sampler("s"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    let after = host(&mut plan, Role::After, Reads::empty());
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    plan.samplers[0].after.push(Extractor::Job(Job::Run(after)));
    let (begun, begins) = channel();
    let (go, wait) = channel::<()>();
    let (begun, wait) = (Mutex::new(begun), Mutex::new(wait));
    let machine = Machine::new(move |told| {
        if told.act == 4 {
            begun.lock().unwrap().send(()).unwrap();
            let _ = wait.lock().unwrap().recv();
        }
        Answer::default().to(told)
    });
    let mut go = Some(go);
    let outcome = run_with(plan, &machine, |run| {
        if begins.try_recv().is_ok() {
            run.stop();
            go = None;
        }
    });
    assert_eq!((outcome.labels(), outcome.cut), (vec!["s"], 0));
    assert_eq!(machine.seen().last().map(String::as_str), Some("end"));
    assert!(machine.seen().contains(&"bye".to_string()));
}

#[test]
fn a_sample_timeout_interrupts_samplers_in_java() {
    let mut plan = plan(
        1,
        1,
        &format!(
            r#"<SampleTimeout testclass="SampleTimeout" testname="limit" enabled="true"><stringProp name="InterruptTimer.timeout">1</stringProp></SampleTimeout><hashTree/>{}"#,
            sampler("s")
        ),
    );
    let id = host(&mut plan, Role::Sampler, Reads::empty());
    plan.samplers[0].kind = SamplerKind::JavaBacked(id);
    plan.samplers[0].timeouts = (0..plan.timeouts.len() as u32).collect();
    let (interrupted, wait) = channel();
    let wait = Mutex::new(wait);
    let machine = Machine::starting(started(&[]), Some(interrupted), move |told| {
        let user = wait.lock().unwrap().recv().expect("it is interrupted");
        assert_eq!(user, told.user);
        Answer { result: Some(result("s", "interrupted", false, 1)), ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.rows[0][1], "interrupted");
}

#[test]
fn a_reply_for_a_user_that_is_gone_changes_properties_alone() {
    let mut plan = plan(2, 1, &sampler("s"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    let (begun, begins) = channel();
    let begun = Mutex::new(begun);
    let (interrupted, wait) = channel();
    let wait = Mutex::new(wait);
    let machine = Machine::starting(started(&[]), Some(interrupted), move |told| {
        begun.lock().unwrap().send(()).unwrap();
        let _ = wait.lock().unwrap().recv();
        Answer { ask: 5, log: vec!["late".into()], ..Answer::variable("v", "x") }.to(told)
    });
    let mut stopped = false;
    let outcome = run_with(plan, &machine, |run| {
        if !stopped && begins.try_recv().is_ok() {
            run.stop_now();
            stopped = true;
        }
    });
    assert_eq!((outcome.rows.len(), outcome.cut), (0, 0));
}
