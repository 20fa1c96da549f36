//! The rules about the generator, on a healthy run of one minute with one fault added. Each rule reports from its
//! threshold on and is silent below.
mod situations;

use answers::rules;
use record::frame::RECEIVE_BUFFER;
use record::{Change, Mark, Record, Second};
use situations::all::quiet;
use stats::close::Close;
use stats::hist::{Bins, layout};
use stats::machine::Machine;
use stats::{CloseCause, Counter};

/// A change to each second of the healthy run, and the rules that must report.
type Row = (&'static str, fn(&mut Second, usize), &'static [&'static str]);

fn check(table: &[Row]) {
    let quiet = quiet();
    for (name, change, expected) in table {
        let mut record = quiet.clone();
        record.seconds.iter_mut().enumerate().for_each(|(n, second)| change(second, n));
        assert_eq!(spoken(&record), *expected, "{name}");
    }
}

fn spoken(record: &Record) -> Vec<&'static str> {
    rules::verdict(record).findings.iter().map(|finding| finding.id).collect()
}

fn machine(second: &mut Second) -> &mut Machine {
    second.machine.as_mut().expect("a machine")
}

/// Sets the times of all requests to `takes` ms, of which `lag` ms pass in the generator.
fn lag(second: &mut Second, takes: u64, lag: u64) {
    let count = second.all.count.max(1);
    let bins = |ms: u64| Bins::try_from(vec![(layout::index_of(ms * 1000), count)]).unwrap();
    second.all.service = bins(takes);
    second.all.response = bins(takes);
    second.all.elapsed = count * takes * 1_000_000;
    second.all.phases.lag = 0;
    second.lag = bins(lag);
}

#[test]
fn lag_counts_if_it_spoils_the_response_time() {
    check(&[
        ("a good run", |_, _| {}, &[]),
        ("lag over 100 ms", |s, _| lag(s, 900, 101), &["generator_limit"]),
        ("as much beside very long answers", |s, _| lag(s, 9000, 101), &[]),
        ("lag that is a quarter", |s, _| lag(s, 41, 11), &["generator_limit"]),
        ("lag of most of very little", |s, _| lag(s, 9, 8), &[]),
        ("lag beside long answers", |s, _| lag(s, 2000, 90), &[]),
        ("a tenth of all time", |s, _| s.all.phases.lag = s.all.elapsed / 9, &["generator_limit"]),
        ("less than a tenth", |s, _| s.all.phases.lag = s.all.elapsed / 11, &[]),
    ]);
}

#[test]
fn processors_count_if_they_are_full_for_long() {
    check(&[
        (
            "full for a quarter",
            |s, n| s.generator.cpu_s = if n < 15 { 3.9 } else { 0.4 },
            &["generator_limit"],
        ),
        ("full for less", |s, n| s.generator.cpu_s = if n < 14 { 3.9 } else { 0.4 }, &[]),
        ("others fill the machine", |s, _| machine(s).cpu = 1.0, &[]),
        (
            "others fill the machine, and it hurts",
            |s, _| {
                machine(s).cpu = 1.0;
                lag(s, 41, 11);
            },
            &["machine_busy", "generator_limit"],
        ),
        (
            "a stall",
            |s, n| s.generator.stall = if n == 9 { 1_005_000_000 } else { 0 },
            &["generator_stalled"],
        ),
        ("a short stall", |s, _| s.generator.stall = 199_000_000, &[]),
    ]);
}

#[test]
fn reading_too_slowly_is_found() {
    check(&[
        (
            "reading stopped",
            |s, n| s.counters.add(Counter::ReadingStopped, u64::from(n == 3)),
            &["reading_stopped"],
        ),
        (
            "dropped",
            |s, n| s.counters.add(Counter::InboxDropped, u64::from(n == 3)),
            &["messages_dropped"],
        ),
        (
            "unread much",
            |s, n| {
                s.counters.add(Counter::UnreadProbed, u64::from(n == 3));
                s.counters.add(Counter::UnreadBytes, if n == 3 { 64 << 10 } else { 0 });
            },
            &["unread_growing"],
        ),
        (
            "unread more for four seconds",
            |s, n| {
                s.counters.add(Counter::UnreadProbed, 1);
                s.counters.add(Counter::UnreadBytes, if n < 4 { 5000 + n as u64 } else { 0 });
            },
            &[],
        ),
    ]);
}

/// The received bytes often fill a window of 2 048 bytes, but never a window of Linux's default size.
#[test]
fn windows_are_as_large_as_the_records_receive_buffer() {
    let mut record = quiet();
    for second in &mut record.seconds {
        second.counters.add(Counter::BytesIn, second.all.count * 2048);
        machine(second).zero_windows_offered = second.all.count / 10;
    }
    assert!(spoken(&record).is_empty());
    record.frame.settings.push((RECEIVE_BUFFER.to_owned(), "4096".to_owned()));
    let verdict = rules::verdict(&record);
    let found = verdict.findings.iter().find(|finding| finding.id == "zero_windows");
    let advice = &found.expect("the rule").advice.en;
    assert!(advice.contains("with a receive buffer of 4 096 bytes"), "{advice}");
}

#[test]
fn zero_windows_are_found_where_bytes_could_fill_them() {
    check(&[
        (
            "zero windows of connections held",
            |s, n| {
                s.counters.add(Counter::WsOpened, if n == 0 { 20_000 } else { 0 });
                machine(s).zero_windows_offered = if n == 3 { 21 } else { 0 };
            },
            &["zero_windows"],
        ),
        (
            "few zero windows",
            |s, n| {
                s.counters.add(Counter::WsOpened, if n == 0 { 20_000 } else { 0 });
                machine(s).zero_windows_offered = if n == 3 { 20 } else { 0 };
            },
            &[],
        ),
        (
            "zero windows of requests",
            |s, _| {
                s.counters.add(Counter::BytesIn, s.all.count << 20);
                machine(s).zero_windows_offered = s.all.count / 10;
            },
            &["zero_windows"],
        ),
        (
            "large bodies",
            |s, _| {
                s.counters.add(Counter::BytesIn, s.all.count << 20);
                machine(s).zero_windows_offered = s.all.count / 21;
            },
            &[],
        ),
        (
            "zero windows of other programs: too few bytes came to fill so many",
            |s, _| machine(s).zero_windows_offered = s.all.count / 2,
            &[],
        ),
    ]);
}

#[test]
fn a_machine_that_lacks_something_is_found() {
    check(&[
        ("pressure", |s, n| machine(s).memory_pressures = u64::from(n == 3), &["generator_memory"]),
        ("dropped", |s, n| machine(s).aborted_memory = u64::from(n == 3), &["generator_memory"]),
        ("memory", |s, _| machine(s).memory_available = 800 << 20, &["generator_memory"]),
        (
            "memory unknown",
            |s, _| (machine(s).memory_available, machine(s).memory_total) = (0, 0),
            &[],
        ),
        ("ports low", |s, _| s.generator.ports_left = Some(1400), &["ports"]),
        ("ports enough", |s, _| s.generator.ports_left = Some(1500), &[]),
        (
            "retransmits",
            |s, _| machine(s).retransmitted = machine(s).segments_out / 40,
            &["network_loss"],
        ),
        ("few retransmits", |s, _| machine(s).retransmitted = machine(s).segments_out / 60, &[]),
    ]);
}

#[test]
fn memory_of_sockets_that_the_run_cannot_have_filled_is_another_programs() {
    for (bytes, doubts) in [(10 << 10, false), (1 << 30, true)] {
        let mut record = quiet();
        for second in &mut record.seconds {
            second.counters.add(Counter::BytesIn, bytes);
            machine(second).memory_pressures = 1;
        }
        let verdict = rules::verdict(&record);
        let found = &verdict.findings[0];
        assert_eq!(
            (found.id, verdict.doubts_generator()),
            ("generator_memory", doubts),
            "{found:?}"
        );
        assert_eq!(found.words.en.contains("probably another program"), !doubts, "{found:?}");
    }
}

#[test]
fn starts_that_are_late_are_found() {
    let mut record = quiet();
    for second in &mut record.seconds {
        let count = second.all.count.max(1);
        second.all.response = Bins::try_from(vec![(layout::index_of(1_800_000), count)]).unwrap();
    }
    assert_eq!(spoken(&record), ["late_starts"]);
}

#[test]
fn rules_without_their_data_say_so() {
    let mut record = quiet();
    record.has = record::Has::default();
    record.seconds.iter_mut().for_each(|second| second.machine = None);
    let verdict = rules::verdict(&record);
    let lacking: Vec<&str> = verdict.unchecked.iter().map(|unchecked| unchecked.id).collect();
    for id in [
        "generator_limit",
        "generator_stalled",
        "stalls",
        "backend_uneven",
        "tls_cost",
        "network_loss",
    ] {
        assert!(lacking.contains(&id), "{id} is not in {lacking:?}");
    }
    assert_eq!(verdict.findings.len(), 0, "{:?}", verdict.findings);
    let all = verdict.silent.len() + verdict.unchecked.len();
    assert_eq!(all, rules::ALL.len());
}

#[test]
fn connections_lost_with_a_worker_are_the_websockets_that_are_known() {
    let mut record = quiet();
    let at_ms = record.seconds[30].at_ms;
    record.marks.insert(0, Mark { at_ms, change: Change::Lost("worker 2".into()) });
    let said = |record: &Record| rules::verdict(record).findings.remove(0).words.en;
    assert_eq!(said(&record), "Worker processes of the generator died (1 was noticed).");
    let idle_ms = Bins::try_from(vec![(layout::index_of(7), 30)]).unwrap();
    record.seconds[30].closes.push(Close { cause: CloseCause::WorkerLost, code: 0, idle_ms });
    let words = said(&record);
    assert!(words.ends_with("noticed), and 30 WebSocket connections with them."), "{words}");
}

#[test]
fn one_stop_is_no_limit_of_the_generator_in_a_short_run() {
    let stopped = |stops: &[usize]| {
        let mut record = quiet();
        record.seconds.truncate(10);
        for stop in stops {
            record.seconds[*stop].generator.stall = 2_000_000_000;
            for second in &mut record.seconds[*stop..*stop + 2] {
                lag(second, 900, 500);
            }
        }
        spoken(&record)
    };
    assert_eq!(stopped(&[4])[0], "generator_stalled");
    // A generator that pauses three times in ten seconds is at its limit.
    assert_eq!(stopped(&[2, 5, 8])[0], "generator_limit");
}
