//! Listeners in Java: tests the transactions that they receive, and their changes to results, which appear in the
//! rows of later listeners.
//!
//! The tests run with the JVM for tests, which answers as each test defines.

use super::*;

#[test]
fn of_a_transaction_the_sample_before_is_that_of_its_last_sampler() {
    let body = controller("TransactionController", "", &(sampler("one") + &sampler("two")));
    let mut plan = plan(1, 1, &(body + &sampler("last")));
    let listener = host(&mut plan, Role::Listener, Reads::RESULT | Reads::PREVIOUS);
    plan.java_backed.previous_of_transactions = true;
    plan.java_backed.previous_sampler = true;
    plan.listeners.push(Listener { name: "l".into(), kind: ListenerKind::JavaBacked(listener) });
    for sampler in &mut plan.samplers {
        sampler.listeners.push(ListenerId(0));
    }
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let heard = Arc::clone(&seen);
    let machine = Machine::new(move |told| {
        let label = told.result.as_ref().map(|result| result.0.clone()).unwrap();
        heard.lock().unwrap().push((label, told.before.clone(), told.sampler_before));
        Answer::default().to(told)
    });
    run(plan, &machine);
    let seen = seen.lock().unwrap();
    let seen: Vec<_> = seen.iter().map(|(a, b, c)| (&**a, b.as_deref(), *c)).collect();
    let transaction = ("TransactionController", Some("two"), Some(0));
    assert_eq!(
        seen,
        [("one", None, None), ("two", None, Some(0)), transaction, ("last", None, Some(1))]
    );
}

#[test]
fn listeners_act_at_their_places_and_those_of_transactions_before_the_user_ends() {
    let body = controller("TransactionController", "", &sampler("part"));
    let mut plan = plan(1, 1, &body);
    let listener = host(&mut plan, Role::Listener, Reads::RESULT);
    plan.listeners.push(Listener { name: "l".into(), kind: ListenerKind::JavaBacked(listener) });
    plan.samplers[0].listeners.push(ListenerId(0));
    let machine = Machine::new(|told| {
        let (label, code, _) = told.result.clone().unwrap();
        let result = Some(result(&format!("{label} heard"), &code, true, 1));
        Answer { result, ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    // The file of the command line is the last to receive a sample.
    assert_eq!(outcome.labels(), ["part heard", "TransactionController heard"]);
}
