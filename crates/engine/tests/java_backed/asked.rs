//! Controllers, transactions and branches with jobs: tests which expressions are evaluated, and when.

use super::*;

#[test]
fn conditions_are_asked_with_fresh_texts_each_time() {
    let condition =
        |name: &str, text: &str| format!(r#"<stringProp name="{name}">{text}</stringProp>"#);
    let inner = controller(
        "IfController",
        &format!(
            r#"{}<boolProp name="IfController.evaluateAll">true</boolProp><boolProp name="IfController.useExpression">true</boolProp>"#,
            condition("IfController.condition", "${inner}")
        ),
        &format!("{}{}", sampler("a"), sampler("b")),
    );
    let body = controller(
        "WhileController",
        &condition("WhileController.condition", "${outer}"),
        &format!("{inner}{}", sampler("c")),
    );
    let mut plan = plan(1, 1, &body);
    plan.java_backed.texts.extend(["outer".into(), "inner".into()]);
    let outer = find(&plan, |kind| matches!(kind, ControllerKind::While(_)));
    plan.controllers[outer].evaluates = TextRange { first: 0, count: 1 };
    let inner = find(&plan, |kind| matches!(kind, ControllerKind::If { .. }));
    plan.controllers[inner].evaluates = TextRange { first: 1, count: 1 };
    let asked: Arc<Mutex<[u32; 2]>> = Arc::default();
    let counts = Arc::clone(&asked);
    let machine = Machine::new(move |told| {
        let at = told.ids[0] as usize;
        let mut counts = counts.lock().unwrap();
        counts[at] += 1;
        // The values of the expressions are put into variables that these plans read. The outer condition is
        // evaluated at the start and at the end of each pass, and ends the loop at the end of the second pass. The
        // inner condition is not evaluated in a pass after it was false.
        let holds = if at == 0 { counts[0] < 4 } else { counts[1] != 2 };
        let name = if at == 0 { "outer" } else { "inner" };
        Answer { texts: vec![String::new()], ..Answer::variable(name, &holds.to_string()) }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["a", "c", "a", "b", "c"], "{:?}", machine.seen());
    // Evaluated before a, before b (false), before a, before b, and after b.
    assert_eq!(*asked.lock().unwrap(), [4, 5]);
}

#[test]
fn elements_are_told_of_iterations_before_anything_else() {
    let mut plan = plan(1, 2, &sampler("${it}"));
    let config = host(&mut plan, Role::Config, Reads::empty());
    plan.java_backed.iterating.push(config);
    let machine = Machine::new(|told| {
        assert!(told.first);
        Answer::variable("it", &format!("i{}", told.iteration)).to(told)
    });
    let outcome = run(plan, &machine);
    // A third iteration begins. It detects the end of the loop only where JMeter does.
    assert_eq!(outcome.labels(), ["i1", "i2"]);
    assert!(machine.seen().iter().filter(|what| *what == "job 17 [0]").count() >= 2);
}

#[test]
fn the_sample_before_is_told_where_it_is_read() {
    let mut plan = plan(1, 1, &format!("{}{}", sampler("one"), sampler("two")));
    let before = host(&mut plan, Role::Before, Reads::RESULT);
    plan.java_backed.keeps_previous = true;
    for sampler in &mut plan.samplers {
        sampler.before.push(Before::Job(Job::Run(before)));
    }
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let heard = Arc::clone(&seen);
    let machine = Machine::new(move |told| {
        let found = told.result.as_ref().map(|result| result.0.clone());
        heard.lock().unwrap().push((told.sample, found));
        Answer::default().to(told)
    });
    run(plan, &machine);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].1, None);
    assert_eq!(seen[1].1.as_deref(), Some("one"));
    assert_ne!(seen[0].0, seen[1].0);
}

#[test]
fn listeners_hear_of_transactions_and_assertions_of_them_are_asked() {
    let body = controller(
        "TransactionController",
        r#"<boolProp name="TransactionController.parent">true</boolProp>"#,
        &sampler("part"),
    );
    let mut plan = plan(1, 2, &body);
    let listener = host(&mut plan, Role::Listener, Reads::RESULT);
    let check = host(&mut plan, Role::Assertion, Reads::RESULT);
    plan.listeners.push(Listener { name: "l".into(), kind: ListenerKind::JavaBacked(listener) });
    plan.samplers[0].listeners.push(ListenerId(0));
    let at = find(&plan, |kind| matches!(kind, ControllerKind::Transaction(_)));
    let ControllerKind::Transaction(transaction) = &mut plan.controllers[at].kind else {
        unreachable!()
    };
    transaction.listeners.push(ListenerId(0));
    transaction.checks.push(Assertion::java_backed(Job::Run(check)));
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let heard = Arc::clone(&seen);
    let machine = Machine::new(move |told| {
        heard.lock().unwrap().push((told.act, told.result.clone().unwrap()));
        let verdict = ("check".into(), true, false, Some("bad".into()));
        Answer { verdicts: vec![verdict], ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    let transactions: Vec<_> = outcome.rows.iter().filter(|row| row[0] != "part").collect();
    assert_eq!(transactions.len(), 2, "{:?}", outcome.rows);
    for row in transactions {
        assert_eq!((&*row[3], &*row[4]), ("false", "bad"));
    }
    // The sub-result is not reported: its listener receives the transaction's sample.
    for (_, (label, ..)) in seen.lock().unwrap().iter() {
        assert_eq!(label, "TransactionController");
    }
    let count = |act: u8| seen.lock().unwrap().iter().filter(|(one, _)| *one == act).count();
    assert_eq!([5, 6].map(count), [2, 2]);
}

#[test]
fn branches_have_jobs_of_their_own() {
    let parallel = controller(
        "com.blazemeter.jmeter.controller.ParallelSampler",
        "",
        &format!("{}{}", sampler("one"), sampler("two")),
    );
    let mut plan = plan(1, 1, &parallel);
    let before = host(&mut plan, Role::Before, Reads::empty());
    for sampler in &mut plan.samplers {
        if matches!(sampler.kind, SamplerKind::Debug(_)) {
            sampler.before.push(Before::Job(Job::Run(before)));
        }
    }
    // Neither job is answered before both jobs are submitted.
    let (arrived, arrivals) = channel();
    let (arrived, arrivals) = (Mutex::new(arrived), Mutex::new(arrivals));
    let machine = Machine::new(move |told| {
        arrived.lock().unwrap().send(()).unwrap();
        let both = arrivals.lock().unwrap();
        both.recv().unwrap();
        drop(both);
        Answer::variable(&told.label, "ran").to(told)
    });
    let outcome = run(plan, &machine);
    let mut labels = outcome.labels();
    labels.sort_unstable();
    assert!(labels.contains(&"one") && labels.contains(&"two"), "{labels:?}");
    assert_eq!(machine.seen().iter().filter(|what| *what == "bye").count(), 2);
}

#[test]
fn texts_of_the_plan_are_evaluated_before_the_run_in_their_order() {
    let variables = |name: &str| {
        format!(
            r#"<Arguments testclass="Arguments" testname="v" enabled="true"><collectionProp name="Arguments.arguments"><elementProp name="{name}" elementType="Argument">
<stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">value</stringProp></elementProp></collectionProp></Arguments><hashTree/>"#
        )
    };
    let mut plan = plan(1, 1, &sampler("s"));
    let of = |name: &str| {
        let mut other =
            self::plan(1, 1, &format!("{}{}", variables(name), sampler("${first}${second}")));
        other.variables.pop().unwrap()
    };
    // Each block is preceded by a separate expression.
    let blocks = [of("first"), of("second")];
    for block in blocks {
        let block = block.into_iter().map(|(_, text)| (plan.names.intern("first"), text));
        plan.variables.push(block.collect());
    }
    let range = |first| TextRange { first, count: 1 };
    plan.java_backed.texts.extend(["a".into(), "b".into(), "c".into()]);
    let before = plan.variables.len() - 2;
    plan.java_backed.variables = vec![TextRange::default(); before];
    plan.java_backed.variables.extend([range(0), range(1)]);
    plan.java_backed.at_start.push(plan::java_backed::TextId(2));
    let machine = Machine::new(|told| {
        assert_eq!((told.user, told.variables.contains_key("first")), (0, told.ids[0] > 0));
        let properties = vec![("p".into(), Some("q".into()))];
        Answer { texts: vec!["t".into()], properties, ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.log, Vec::new());
    let jobs = ["setup", "job 16 [0]", "job 16 [1]", "job 16 [2]", "setup", "start", "end"];
    assert_eq!(machine.seen(), jobs);
}
