use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::bus::{Transport, WorkerEvent};

/// Two workers with scripted events, and the orders sent to them.
#[derive(Debug)]
struct Scripted {
    news: VecDeque<(u32, WorkerEvent)>,
    orders: Sender<(u32, ToWorker)>,
}

impl Bus for Scripted {
    fn workers(&self) -> u32 {
        2
    }

    fn transport(&self) -> Transport {
        Transport::Local
    }

    fn send(&mut self, worker: u32, message: &ToWorker) {
        let _ = self.orders.send((worker, message.clone()));
    }

    fn next(&mut self, _: Duration) -> Option<(u32, WorkerEvent)> {
        self.news.pop_front()
    }

    fn kill(&mut self, _: u32) {}
}

/// Returns a plan with a setUp group and a main group.
fn plan() -> Plan {
    let group = |class: &str| {
        format!(
            r#"<{class} testclass="{class}" testname="{class}"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"/><stringProp name="ThreadGroup.num_threads">2</stringProp></{class}><hashTree/>"#
        )
    };
    let text = format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testclass="TestPlan" testname="P"/><hashTree>{}{}</hashTree></hashTree></jmeterTestPlan>"#,
        group("SetupThreadGroup"),
        group("ThreadGroup")
    );
    let (document, _) = jmx::parse("plan.jmx", text.into_bytes()).expect("XML");
    let compiled = plan::compile::compile(&document, &plan::compile::Settings::default());
    compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diags))
}

/// Takes over a run whose workers send these events. Returns the coordinator, and the orders that it sends.
fn taken(news: impl IntoIterator<Item = (u32, WorkerEvent)>) -> (Fleet, Receiver<(u32, ToWorker)>) {
    let (plan, (orders, given)) = (plan(), channel());
    let bus = Scripted { news: news.into_iter().collect(), orders };
    let job = Job {
        name: String::new(),
        text: Vec::new(),
        properties: Vec::new(),
        folder: "".into(),
        evaluated: engine::Evaluated::default(),
        results: Vec::new(),
        cores: 1,
        seed: 0,
        stop_on_loss: false,
    };
    let share = Share {
        name: String::new(),
        plan: Vec::new(),
        hash: plan.hash,
        properties: Vec::new(),
        folder: "".into(),
        evaluated: engine::Evaluated::default(),
        results: Vec::new(),
        index: 0,
        count: 2,
        cores: 1,
        seed: 0,
        zero: wall_ns(),
        host: None,
        allowed: None,
    };
    let mut fleet = Fleet::resume(Box::new(bus), &plan, job, share).expect("the same plan");
    while !matches!(fleet.next_event(Duration::ZERO), Event::Idle | Event::Finished) {}
    (fleet, given)
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn found(worker: u32, stand: RunState) -> (u32, WorkerEvent) {
    (worker, WorkerEvent::TakenOver { pid: 7, stand: Box::new(stand), lost: Vec::new() })
}

/// Returns the state of a worker in the first batch, which was sent with the property `x`.
fn first(owes: bool, properties: &[(&str, &str)]) -> RunState {
    let mut stand = RunState { begun: true, cores: Some(1), ..RunState::default() };
    let sent = pairs(&[("x", "1")]);
    stand.record_order(&ToWorker::Start { groups: vec![0], at: 5, properties: sent });
    RunState { owes, properties: pairs(properties), ..stand }
}

/// The content of a start order: number of the worker, indices of groups, and properties.
type Started = (u32, Vec<u32>, Vec<(String, String)>);

/// Returns the start orders among all orders sent.
fn starts(given: &Receiver<(u32, ToWorker)>) -> Vec<Started> {
    let start = |(worker, order)| match order {
        ToWorker::Start { groups, properties, .. } => Some((worker, groups, properties)),
        _ => None,
    };
    given.try_iter().filter_map(start).collect()
}

#[test]
fn a_worker_that_is_done_before_another_one_has_said_where_it_stands_is_done() {
    let done = FromWorker::BatchDone { properties: pairs(&[("x", "2")]), changes: 0 };
    let (_, given) = taken([
        found(0, first(true, &[])),
        (0, WorkerEvent::Message(done)),
        // The value that this worker received does not replace the newer one.
        found(1, first(false, &[("x", "1"), ("y", "3")])),
    ]);
    let properties = pairs(&[("x", "2"), ("y", "3")]);
    assert_eq!(starts(&given), [(0, vec![1], properties.clone()), (1, vec![1], properties)]);
}

#[test]
fn a_worker_that_is_ready_before_another_one_has_said_where_it_stands_starts() {
    let begun = RunState { begun: true, ..RunState::default() };
    let ready = RunState { cores: Some(1), ..begun.clone() };
    let said = (0, WorkerEvent::Message(FromWorker::Ready { cores: 1 }));
    let (_, given) = taken([found(0, begun), said, found(1, ready)]);
    assert_eq!(starts(&given), [(0, vec![0], Vec::new()), (1, vec![0], Vec::new())]);
}

#[test]
fn a_worker_that_has_missed_a_start_gets_it_with_the_properties_of_then() {
    let ready = RunState { begun: true, cores: Some(1), ..RunState::default() };
    let (_, given) = taken([found(0, first(false, &[("z", "9")])), found(1, ready)]);
    assert_eq!(starts(&given), [(1, vec![0], pairs(&[("x", "1")]))]);
}

#[test]
fn a_stop_before_the_stands_are_known_lets_users_finish() {
    let asked = (0, WorkerEvent::Message(FromWorker::StopAsked { now: false }));
    let early = found(0, first(true, &[]));
    let (fleet, given) = taken([early, asked, found(1, first(true, &[]))]);
    let orders: Vec<_> = given.try_iter().collect();
    assert!(fleet.was_stopped() && fleet.stopped_by_plan());
    let stops = orders.iter().filter(|(_, order)| matches!(order, ToWorker::Stop { now: false }));
    assert_eq!(stops.count(), 2, "{orders:?}");
    assert!(!orders.iter().any(|(_, order)| matches!(order, ToWorker::End)), "{orders:?}");
}

/// Lets the time limit for workers to end expire. Returns the reported losses.
fn overdue(fleet: &mut Fleet) -> Vec<String> {
    assert!(matches!(fleet.next_event(Duration::ZERO), Event::Idle), "they have time");
    let (at, _) = fleet.lost_at.as_mut().expect("an end is expected");
    *at = Instant::now();
    let mut lost = Vec::new();
    loop {
        match fleet.next_event(Duration::ZERO) {
            Event::Lost(loss) => lost.push(loss.reason),
            Event::Finished | Event::Idle => return lost,
            _ => {}
        }
    }
}

#[test]
fn workers_that_do_not_end_when_told_to_are_lost() {
    let (mut fleet, _given) = taken([found(0, first(true, &[])), found(1, first(true, &[]))]);
    fleet.stop_now();
    let lost = overdue(&mut fleet);
    assert_eq!(lost, ["it did not end within 30 s after the order to stop at once"; 2]);
    assert_eq!(fleet.workers(), 0);
}

#[test]
fn workers_that_do_not_end_after_their_users_are_lost() {
    let (mut fleet, given) = taken([found(0, first(true, &[])), found(1, first(true, &[]))]);
    fleet.end();
    assert!(given.try_iter().any(|(_, order)| matches!(order, ToWorker::End)));
    let lost = overdue(&mut fleet);
    assert_eq!(lost, ["it did not end within 30 s after the order to end"; 2]);
    assert_eq!(fleet.workers(), 0);
}
