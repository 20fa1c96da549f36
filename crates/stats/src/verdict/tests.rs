use super::*;

/// A minute of a good run with 20 000 connections: some lag, some load, an odd retransmission.
fn healthy() -> Evidence<'static> {
    let mut counters = Counters::default();
    counters.add(Counter::WsOpened, 20_000);
    counters.add(Counter::MessagesIn, 1_000_000);
    let timeline = Timeline {
        processors: 2.0,
        seconds: 60,
        full_seconds: 2,
        cpu_peak: 0.97,
        machine_full_seconds: 2,
        held_peak: 20_000,
        unread_peak: 6000,
        unread_grew: 2,
        segments_out: 3_000_000,
        retransmitted: 900,
        zero_windows_offered: 4,
        load_peak: 3.0,
        memory_total: 16 << 30,
        memory_least: 8 << 30,
        ports: Some(64_000),
        ports_least: Some(40_000),
        ..Timeline::default()
    };
    Evidence {
        requests: 50_000,
        service_p99: 12.0,
        response_p99: 14.0,
        lag_p99: 3.0,
        counters,
        timeline,
        ..Evidence::default()
    }
}

fn kinds(change: impl FnOnce(&mut Evidence<'static>)) -> Vec<Kind> {
    let mut evidence = healthy();
    change(&mut evidence);
    findings(&evidence).into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_healthy_run_has_no_finding() {
    assert_eq!(kinds(|_| {}), []);
    assert_eq!(findings(&Evidence::default()), []);
    assert_eq!(text(&[]), "");
}

/// The change to the healthy run, and its findings.
type Row = (&'static str, fn(&mut Evidence<'static>), &'static [Kind]);

fn check(table: &[Row]) {
    for (name, change, expected) in table {
        assert_eq!(kinds(*change), *expected, "{name}");
    }
}

#[test]
fn each_trouble_of_the_generator_is_found_by_its_own_rule() {
    check(&[
        (
            "lag over 100 ms",
            |e| (e.response_p99, e.service_p99, e.lag_p99) = (9e3, 9e3, 101.0),
            &[Kind::Lag],
        ),
        (
            "lag that is a quarter",
            |e| (e.response_p99, e.service_p99, e.lag_p99) = (41.0, 41.0, 11.0),
            &[Kind::Lag],
        ),
        (
            "lag of most of very little",
            |e| (e.response_p99, e.service_p99, e.lag_p99) = (9.0, 9.0, 8.9),
            &[],
        ),
        (
            "lag beside long answers",
            |e| (e.response_p99, e.service_p99, e.lag_p99) = (2e3, 2e3, 90.0),
            &[],
        ),
        ("lag of few samples", |e| (e.requests, e.lag_p99) = (99, 5000.0), &[]),
        ("late starts", |e| e.response_p99 = 1800.0, &[Kind::LateStarts]),
        (
            "a stall",
            |e| (e.timeline.stalls, e.timeline.stall_longest_ms) = (1, 1005),
            &[Kind::Stalled],
        ),
        ("late by little", |e| e.response_p99 = 100.0, &[]),
        ("processors full", |e| e.timeline.full_seconds = 15, &[Kind::ProcessorsFull]),
        ("processors full for a while", |e| e.timeline.full_seconds = 14, &[]),
        (
            "processors full in a short run",
            |e| (e.timeline.full_seconds, e.timeline.seconds) = (2, 2),
            &[],
        ),
        ("others fill the machine", |e| e.timeline.machine_full_seconds = 30, &[]),
        (
            "others fill the machine, and it hurts",
            |e| (e.timeline.machine_full_seconds, e.lag_p99) = (30, 11.0),
            &[Kind::MachineFull, Kind::Lag],
        ),
    ]);
}

#[test]
fn each_trouble_of_connections_is_found_by_its_own_rule() {
    check(&[
        (
            "reading stopped",
            |e| e.counters.add(Counter::ReadingStopped, 1),
            &[Kind::ReadingStopped],
        ),
        ("dropped", |e| e.counters.add(Counter::InboxDropped, 1), &[Kind::MessagesDropped]),
        ("unread much", |e| e.timeline.unread_peak = 64 << 10, &[Kind::UnreadGrowing]),
        ("unread more and more", |e| e.timeline.unread_grew = 5, &[Kind::UnreadGrowing]),
        ("zero windows", |e| e.timeline.zero_windows_offered = 21, &[Kind::ZeroWindows]),
        ("few zero windows", |e| e.timeline.zero_windows_offered = 20, &[]),
        (
            "zero windows of HTTP",
            |e| (e.timeline.held_peak, e.timeline.zero_windows_offered) = (0, 2501),
            &[Kind::ZeroWindows],
        ),
        (
            "large bodies",
            |e| (e.timeline.held_peak, e.timeline.zero_windows_offered) = (0, 2500),
            &[],
        ),
        ("retransmits", |e| e.timeline.retransmitted = 60_000, &[Kind::Retransmits]),
        (
            "few retransmits",
            |e| (e.timeline.segments_out, e.timeline.retransmitted) = (100, 99),
            &[],
        ),
    ]);
}

#[test]
fn each_want_of_the_machine_is_found_by_its_own_rule() {
    check(&[
        ("pressure", |e| e.timeline.memory_pressures = 1, &[Kind::TcpMemory]),
        ("dropped for memory", |e| e.timeline.aborted_memory = 1, &[Kind::TcpMemory]),
        ("memory", |e| e.timeline.memory_least = 800 << 20, &[Kind::Memory]),
        ("memory unknown", |e| (e.timeline.memory_least, e.timeline.memory_total) = (0, 0), &[]),
        ("ports low", |e| e.timeline.ports_least = Some(3000), &[Kind::PortsLow]),
        (
            "ports gone",
            |e| (e.ports_exhausted, e.timeline.ports_least) = (1, Some(0)),
            &[Kind::PortsExhausted],
        ),
        ("descriptors gone", |e| e.files_exhausted = 1, &[Kind::FilesExhausted]),
        ("workers lost", |e| e.lost = 19_500, &[Kind::WorkersLost]),
    ]);
}

#[test]
fn the_text_says_what_by_which_numbers_and_what_to_do() {
    let mut evidence = healthy();
    evidence.timeline.zero_windows_offered = 51_234;
    evidence.timeline.full_seconds = 60;
    let text = text(&findings(&evidence));
    assert!(text.starts_with("THE GENERATOR DID NOT KEEP UP"), "{text}");
    assert!(text.contains("more than 95 % of 2 processors in 60 of 60 seconds"), "{text}");
    assert!(text.contains("51 234 TCP windows went to zero"), "{text}");
    assert_eq!(text.matches("\n    -> ").count(), 2, "{text}");
}
