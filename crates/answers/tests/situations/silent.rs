//! Ordinary tests that resemble a fault but have another explanation. The rule that could be misled must be silent,
//! or report that explanation.

use answers::random::Random;
use record::frame::SHARED_NAMES;
use record::{Class, ClassName, Ending, Label, Mark, Record, Second};
use stats::{Counter, Outcome, Phase};

use super::all::{Situation, of, quiet};
use super::{Answer, MS, Request, S, START, Users, about, bad, good, run, users};

/// Moves the requests of the selected seconds to a second label, whose class has its own address.
fn second_label(record: &mut Record, is_second: impl Fn(usize) -> bool) {
    record.labels.push(Label { name: "other".into(), transaction: false, folded: 0 });
    record.classes = ["10.0.0.1:80", "10.0.0.1:81"].map(|at| ClassName::Address(at.into())).into();
    record.served = vec![(0, 0), (1, 1)];
    for (n, second) in record.seconds.iter_mut().enumerate() {
        let place = u32::from(is_second(n));
        let class = Class {
            count: second.all.count,
            service: second.all.service.clone(),
            ..Class::default()
        };
        second.classes = vec![(place, class)];
        second.labels = vec![(place, second.all.clone())].into();
    }
}

/// Returns a run in which the service takes four times as long from second `at` on.
fn slower_from(seconds: u64, at: u64) -> Record {
    run(&users(20).ramp(5).pause(80).seconds(seconds), move |request, random| {
        good(about(if request.at > at * S { 80 * MS } else { 20 * MS }, random))
    })
}

/// Returns a run with two services of a plan, one of them slow by nature: each has its own label, or both share a name.
fn two_services(shared: bool) -> Record {
    let mut record = run(&users(20).ramp(5).pause(80), |request, random| {
        let is_slow = request.user.is_multiple_of(2);
        let class = Some(("service", if is_slow { "81" } else { "80" }));
        Answer { class, ..good(about(if is_slow { 60 * MS } else { 20 * MS }, random)) }
    });
    record.labels.push(Label { name: "other".into(), transaction: false, folded: 0 });
    for class in &mut record.classes {
        let ClassName::Header { value, .. } = class else { continue };
        *class = ClassName::Address(format!("10.0.0.1:{value}").into());
    }
    record.served = vec![(0, 0), (1, 1)];
    if shared {
        record.frame.settings.push((SHARED_NAMES.into(), "request\nother".into()));
        record.served = vec![(0, 0), (0, 1), (1, 0), (1, 1)];
    }
    record
}

/// Returns a run of two groups one after the other, with equally many users.
fn in_series(labels: bool) -> Record {
    let mut record = slower_from(120, 60);
    if labels {
        second_label(&mut record, |n| n >= 60);
    } else {
        for (n, second) in record.seconds.iter_mut().enumerate() {
            second.started = if n < 60 { 20 } else { 40 };
        }
    }
    record
}

/// Returns two runs in one file, five minutes apart; the second run used a different version of the service.
fn appended(with_empty_seconds: bool) -> Record {
    let mut record = slower_from(100, 50);
    let late = record.seconds.split_off(50);
    if with_empty_seconds {
        for n in 0..300 {
            let at_ms = START + 51_000 + n * 1000;
            record.seconds.push(Second { at_ms, ms: 1000, users: 20, ..Second::default() });
        }
    }
    record.seconds.extend(late.into_iter().map(|mut second| {
        second.at_ms += 300_000;
        second
    }));
    record.marks.clear();
    record.frame.load.length_ms = None;
    record
}

/// Returns a run whose target is killed after `at` seconds, and may come back `back` seconds later.
fn killed(at: u64, back: Option<u64>) -> Record {
    run(&users(20).ramp(2).pause(80).seconds(40), move |request, random| {
        let is_back = back.is_some_and(|back| request.at > (at + back) * S);
        if request.at > at * S && !is_back {
            bad(300, Outcome::Refused, "Non HTTP response code", "Connection refused")
        } else {
            good(about(20 * MS, random))
        }
    })
}

/// Returns a run whose target is killed twice and restarted each time.
fn killed_twice() -> Record {
    run(&users(20).ramp(2).pause(80).seconds(40), |request, random| {
        if [10, 24].iter().any(|at| (at * S..(at + 5) * S).contains(&request.at)) {
            bad(300, Outcome::Refused, "Non HTTP response code", "Connection refused")
        } else {
            good(about(20 * MS, random))
        }
    })
}

/// Returns a run of users without pauses at an address where nothing listens: the refused connects saturate the
/// generator's processors.
fn refused_without_pauses() -> Record {
    let mut record = run(&users(5).pause(5).seconds(20), |_, _| {
        bad(300, Outcome::Refused, "Non HTTP response code", "Connection refused")
    });
    for second in &mut record.seconds {
        second.generator.cpu_s = 2.0;
        (second.generator.quota_periods, second.generator.quota_stopped) = (10, 9);
        second.machine.as_mut().expect("a machine").cpu = 1.0;
        second.all.phases.lag = second.all.elapsed / 2;
    }
    record
}

/// Returns a run in which a connect is refused now and then, including one of a rare label.
fn refused_now_and_then() -> Record {
    let mut record = run(&users(20).ramp(2).pause(80).seconds(40), |request, random| {
        let is_time = [10, 25].iter().any(|at| (at * S..(at + 3) * S).contains(&request.at));
        if is_time && random.uniform() < 0.04 {
            bad(300, Outcome::Refused, "Non HTTP response code", "Connection refused")
        } else {
            good(about(20 * MS, random))
        }
    });
    let mut rare = record.labels[0].clone();
    rare.name = "rare".into();
    record.labels.push(rare);
    let number = record.labels.len() as u32 - 1;
    for (at, second) in record.seconds.iter_mut().enumerate() {
        let failed = u64::from([11, 26].contains(&at));
        let part = record::Part { count: 1, errors: failed, ..record::Part::default() };
        second.labels.push(number, part);
    }
    record
}

/// Returns a run in which half of all requests fail from the first second on.
fn half_fails(seconds: u64) -> Record {
    let mut record =
        run(&users(20).pause(80).seconds(seconds), |_: &Request, random: &mut Random| {
            if random.uniform() < 0.5 {
                bad(20 * MS, Outcome::Status, "500", "Internal Server Error")
            } else {
                good(about(20 * MS, random))
            }
        });
    record.marks.clear();
    record
}

/// Returns a run whose last step fails: errors occur in the last second only, and nobody stopped the run.
fn last_step() -> Record {
    let mut record = run(&users(20).pause(80).seconds(40), |request, random| {
        if request.at > 39 * S {
            bad(20 * MS, Outcome::Closed, "Non HTTP response code", "failed to respond")
        } else {
            good(about(20 * MS, random))
        }
    });
    record.marks.clear();
    record.frame.ending = Ending::Completed;
    record
}

/// Returns a run whose plan closes each connection.
fn plan_closes() -> Record {
    let mut record = run(&users(20).ramp(5).pause(80), |_, random| Answer {
        closes: true,
        ..good(about(20 * MS, random))
    });
    for second in &mut record.seconds {
        second.counters.add(Counter::ConnClosedByPlan, second.all.count);
    }
    record
}

/// Returns a run of users that arrive, send one or two requests and leave: each needs a connection.
fn short_users() -> Record {
    let mut record = run(&users(20).ramp(5).pause(80), |_, random| Answer {
        closes: true,
        ..good(about(20 * MS, random))
    });
    let mut started = 0;
    for second in &mut record.seconds {
        started += second.all.count;
        second.started = started;
    }
    record
}

/// Returns a run with retransmitted SYNs to an address where nothing answers; connects then go to another address.
fn dead_address() -> Record {
    let mut record = run(&users(20).ramp(5).pause(80), |_, random| Answer {
        closes: true,
        connect: if random.uniform() < 0.5 { 3_010 * MS } else { 200 },
        ..good(about(20 * MS, random))
    });
    record.classes = ["[fd00::1]:80", "10.0.0.2:80"].map(|at| ClassName::Address(at.into())).into();
    record.served = vec![(1, 0)];
    for second in &mut record.seconds {
        let count = second.all.count;
        let dead = Class { retransmitted: count, syn_retransmitted: count, ..Class::default() };
        second.classes = vec![(0, dead), (1, Class { count, opened: count, ..Class::default() })];
    }
    record
}

/// Returns a run on a machine that retransmits segments of other programs; the run's own segments are few.
fn others_lose() -> Record {
    let mut record = quiet();
    for second in &mut record.seconds {
        let machine = second.machine.as_mut().expect("a machine");
        (machine.segments_out, machine.retransmitted) = (90_000, 9_000);
    }
    record
}

/// Returns a run in which other programs make the machine retransmit more segments than it sends; the run's own are
/// few.
fn others_lose_most() -> Record {
    let mut record = quiet();
    for second in &mut record.seconds {
        let machine = second.machine.as_mut().expect("a machine");
        (machine.segments_out, machine.retransmitted) = (4_000, 6_040);
    }
    record
}

/// Returns a run with a page that always takes two seconds and fails its assertion.
fn slow_and_wrong() -> Record {
    run(&users(20).ramp(5).pause(80), |request, random| {
        if request.user.is_multiple_of(4) {
            bad(
                about(2000 * MS, random).clamp(1990 * MS, 2010 * MS),
                Outcome::Assertion,
                "200",
                "Test failed",
            )
        } else {
            good(about(20 * MS, random))
        }
    })
}

/// Returns a run whose host stops answering.
fn vanished() -> Record {
    run(&users(20).ramp(2).pause(80).seconds(60), |request, random| {
        if request.at > 30 * S {
            bad(
                2 * S,
                Outcome::Timeout(Phase::Connect),
                "Non HTTP response code",
                "connect timed out",
            )
        } else {
            good(about(20 * MS, random))
        }
    })
}

/// Returns a run on a machine that is busy with other programs, one of which is the target; samples wait in the
/// generator.
fn busy_beside() -> Record {
    let mut record = quiet();
    for second in &mut record.seconds {
        second.machine.as_mut().expect("a machine").cpu = 1.0;
        second.all.phases.lag = second.all.elapsed / 2;
        second.all.phases.late = 0;
    }
    record
}

/// Returns a run of users that arrive one by one at a service without a limit, where one in a hundred responses takes 5
/// s.
fn few_are_long(seed: u64) -> Record {
    let mut load = users(20).ramp(20).pause(200);
    load.seed = seed;
    run(&load, |_, random| {
        let is_long = random.uniform() < 0.01;
        good(if is_long { about(5 * S, random) } else { about(80 * MS, random) })
    })
}

/// Returns a run at a planned rate on a service without a limit, which takes three times as long from second `at` on.
fn slower_under_a_rate(at: u64) -> Record {
    let load = Users { rate: Some(20.0), ..users(60).seconds(60) };
    let mut record = run(&load, move |request, random| {
        good(about(if request.at < at * S { 100 * MS } else { 300 * MS }, random))
    });
    for second in &mut record.seconds {
        second.due = 20;
    }
    record
}

/// Returns a run in which a third of the requests fails from second `at` on, under constant load.
fn fails_from(at: u64) -> Record {
    run(&users(20).pause(100).seconds(120), move |request, random| {
        if request.at > at * S && random.uniform() < 0.33 {
            bad(5 * MS, Outcome::Status, "500", "Internal Server Error")
        } else {
            good(about(if request.at > at * S { 160 * MS } else { 80 * MS }, random))
        }
    })
}

/// Returns a run whose target answers fast and with a few bytes from second `at` on.
fn loses_its_sessions(at: u64) -> Record {
    run(&users(10).pause(50).seconds(30), move |request, random| {
        if request.at < at * S {
            Answer { bytes: 3000, ..good(about(50 * MS, random)) }
        } else {
            Answer { bytes: 200, ..good(about(7 * MS, random)) }
        }
    })
}

pub fn all() -> Vec<Situation> {
    let mut stopped = last_step();
    stopped.frame.ending = Ending::Interrupted;
    let change = record::Change::Stop { at_once: true };
    stopped.marks = vec![Mark { at_ms: START + 39_000, change }];
    vec![
        of("one long answer in a hundred, in a ramp", "", &[], few_are_long(1)),
        of("the same, of other chances", "", &[], few_are_long(2)),
        of("the same, of third chances", "", &[], few_are_long(3)),
        of("a rate, and slower answers", "step_change", &[], slower_under_a_rate(30)),
        of("a third fails from 0:40 on", "errors_named", &["step_change"], fails_from(40)),
        of("all sessions are lost after 8 s", "slow_phase", &[], loses_its_sessions(8)),
        of("two services, one slower by its nature", "bimodal", &[], two_services(false)),
        of("the same, of samplers with one name", "", &[], two_services(true)),
        of("two groups in series, of several labels", "", &[], in_series(true)),
        of("two groups in series, of one label", "", &[], in_series(false)),
        of("two runs in one file", "", &[], appended(false)),
        of("the same, with the seconds between", "", &[], appended(true)),
        of("the target is killed", "target_down", &["errors_named"], killed(15, None)),
        of("the target is started anew", "target_down", &["errors_named"], killed(15, Some(5))),
        of("the target is killed twice", "target_down", &["errors_named"], killed_twice()),
        of(
            "connects refused now and then",
            "errors_named",
            &["reset_under_load"],
            refused_now_and_then(),
        ),
        of(
            "nothing listens, and users do not pause",
            "target_down",
            &["errors_named", "plan_fault"],
            refused_without_pauses(),
        ),
        of("a host that vanishes", "target_down", &["errors_named", "fixed_timeout"], vanished()),
        of("half of all fail, 3 s", "errors_named", &["too_few_samples"], half_fails(3)),
        of("half of all fail, 40 s", "errors_named", &[], half_fails(40)),
        of("the last step fails", "errors_named", &[], last_step()),
        of("connections that a stop broke", "cut_by_end", &["errors_named"], stopped),
        of("the plan closes connections", "connection_churn", &[], plan_closes()),
        of("users that ask once", "", &[], short_users()),
        of(
            "one address of a name is dead",
            "connection_churn",
            &["too_few_samples"],
            dead_address(),
        ),
        of("other programs lose segments", "", &[], others_lose()),
        of("they send more again than the machine sends", "", &[], others_lose_most()),
        of("a slow page that an assertion refuses", "errors_named", &["bimodal"], slow_and_wrong()),
        of("other programs fill the machine", "machine_busy", &["generator_limit"], busy_beside()),
    ]
}
