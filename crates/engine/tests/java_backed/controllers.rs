//! Tests of controllers that their Java class runs: the calls that a controller receives and makes, and the end of a
//! user after its controller has failed.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use plan::java_backed::{Reads, Role};
use plan::plan::{ControllerKind, Plan};

use super::machine::{Answer, Machine, Reply, Told};
use super::{controller, find, host, plan, run, run_with, sampler};

const NEXT: u32 = 0;
const INITIALIZE: u32 = 1;
const END_OF_LOOP: u32 = 2;
const NEXT_LOOP: u32 = 3;

/// Turns the plan's first Simple Controller into a Java-backed controller.
fn own(plan: &mut Plan) -> (u32, u32) {
    let element = host(plan, Role::Controller, Reads::empty());
    let at = find(plan, |kind| matches!(kind, ControllerKind::Simple));
    plan.controllers[at].kind = ControllerKind::JavaBacked(element);
    (at as u32, element.0)
}

fn says(told: &Told, kind: u8, rest: &[u8], number: Option<u32>) -> Reply {
    let mut said = vec![kind];
    said.extend(rest);
    said.extend(number.into_iter().flat_map(u32::to_le_bytes));
    Answer { said, ..Answer::default() }.to(told)
}

fn gives(told: &Told, sampler: u32) -> Reply {
    says(told, 1, &[], Some(sampler))
}

fn nothing(told: &Told) -> Reply {
    says(told, 0, &[0], None)
}

fn asks(told: &Told, what: u8, number: u32) -> Reply {
    says(told, 3, &[what], Some(number))
}

#[test]
fn what_a_controller_gives_is_run_and_what_it_is_told_comes_first() {
    let inside = controller("GenericController", "", &(sampler("a") + &sampler("b")));
    let mut plan = plan(1, 2, &(inside + &sampler("end")));
    own(&mut plan);
    let asked: Arc<Mutex<Vec<Vec<u32>>>> = Arc::default();
    let heard = Arc::clone(&asked);
    let machine = Machine::new(move |told| {
        let mut asked = heard.lock().unwrap();
        asked.push(told.ids.clone());
        match asked.len() {
            1 | 3 => gives(told, 1),
            2 => gives(told, 0),
            _ => nothing(told),
        }
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["b", "a", "b", "end", "end"], "{:?}", machine.seen());
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0], [0, 0, NEXT, 0, 0, 0, INITIALIZE, 0]);
    assert_eq!(asked[1..].len(), 4);
    assert!(asked[1..].iter().all(|words| *words == [0, 0, NEXT, 0, 0]));
}

#[test]
fn children_are_asked_in_the_middle_of_a_question() {
    let inner = controller(
        "LoopController",
        r#"<stringProp name="LoopController.loops">2</stringProp>"#,
        &sampler("in"),
    );
    let inside = controller("GenericController", "", &(inner + &sampler("out")));
    let mut plan = plan(1, 1, &inside);
    own(&mut plan);
    let child = find(&plan, |kind| matches!(kind, ControllerKind::Loop { once: false, .. }));
    let child = child as u32;
    let answers: Arc<Mutex<Vec<[u32; 2]>>> = Arc::default();
    let heard = Arc::clone(&answers);
    let machine = Machine::new(move |told| {
        if told.ids[2] == NEXT {
            return asks(told, 0, child);
        }
        let answer = [told.ids[3], told.ids[4]];
        heard.lock().unwrap().push(answer);
        match answer {
            [0, _] if heard.lock().unwrap().len() == 3 => gives(told, 1),
            [0, _] => nothing(told),
            [_, sampler] => gives(told, sampler),
        }
    });
    // The controller would ask its loop endlessly. So it is done when the loop has no sampler for the second time.
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels()[..3], ["in", "in", "out"], "{:?}", machine.seen());
    assert_eq!(answers.lock().unwrap()[..3], [[1, 0], [1, 0], [0, 0]]);
}

#[test]
fn leaving_tells_the_controllers_around() {
    let action = r#"<TestAction testclass="TestAction" testname="Flow" enabled="true"><intProp name="ActionProcessor.action">4</intProp>
<intProp name="ActionProcessor.target">0</intProp></TestAction><hashTree/>"#;
    for (breaks, told_of) in [(true, NEXT_LOOP), (false, END_OF_LOOP)] {
        let inside = controller("GenericController", "", &(sampler("a") + action));
        let mut plan = plan(1, 1, &(inside + &sampler("end")));
        own(&mut plan);
        let asked: Arc<Mutex<Vec<Vec<u32>>>> = Arc::default();
        let heard = Arc::clone(&asked);
        let machine = Machine::new(move |told| {
            let mut asked = heard.lock().unwrap();
            asked.push(told.ids.clone());
            match asked.len() {
                1 => gives(told, 1),
                2 => gives(told, 0),
                _ => nothing(told),
            }
        });
        machine.breaking.lock().unwrap().extend(breaks.then_some(0));
        let outcome = run(plan, &machine);
        let asked = asked.lock().unwrap();
        if breaks {
            assert_eq!(asked[1][5..], [0, told_of, 0]);
            assert_eq!(outcome.labels(), ["a", "end"]);
        } else {
            // The target is the next iteration of the enclosing loop. This is the group's main loop, which has no
            // further iteration.
            assert_eq!((asked.len(), outcome.labels().len()), (1, 0));
        }
    }
}

#[test]
fn a_user_whose_controller_fails_ends() {
    for broken in 0..4 {
        let inside = controller("GenericController", "", &sampler("a"));
        let mut plan = plan(1, 1, &(inside + &sampler("end")));
        own(&mut plan);
        let machine = Machine::new(move |told| match broken {
            0 => Err("on purpose".into()),
            // Invalid replies: a sampler that does not exist, a child of another controller, another kind of reply.
            1 => gives(told, 7),
            2 => asks(told, 0, 0),
            _ => Answer::default().to(told),
        });
        let outcome = run(plan, &machine);
        assert!(outcome.rows.is_empty(), "{broken}");
        assert!(
            outcome.log.iter().any(|line| line.to_string().contains("the user ends")),
            "{broken}"
        );
    }
}

#[test]
fn runs_end_while_controllers_are_asked() {
    for now in [true, false] {
        let inside = controller("GenericController", "", &sampler("a"));
        let mut plan = plan(2, -1, &(inside + &sampler("end")));
        own(&mut plan);
        let (begun, begins) = channel();
        let (go, wait) = channel::<()>();
        let (begun, wait) = (Mutex::new(begun), Mutex::new(wait));
        let machine = Machine::new(move |told| {
            begun.lock().unwrap().send(()).unwrap();
            let _ = wait.lock().unwrap().recv();
            gives(told, 0)
        });
        let mut go = Some(go);
        let outcome = run_with(plan, &machine, |run| {
            if begins.try_recv().is_err() {
                return;
            }
            if now {
                run.stop_now();
            } else {
                run.stop();
                go = None;
            }
        });
        drop(go);
        // If a user's controller has an open call, the user runs no further sampler.
        assert!(outcome.rows.is_empty(), "{:?}", outcome.rows);
        let seen = machine.seen();
        let told = seen.iter().filter(|what| *what == if now { "interrupt" } else { "bye" });
        assert_eq!(told.count(), 2, "{seen:?}");
    }
}
