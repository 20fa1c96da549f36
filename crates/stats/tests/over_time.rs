//! Held connections over the seconds of a run: the metrics of a second, and their effect on the summary.
use stats::aggregate::Percentages;
use stats::flow::Flow;
use stats::machine::Machine;
use stats::process::Usage;
use stats::snapshot_file::Second;
use stats::summary::{Frame, Summary};
use stats::{CloseCause, Counter, Recorder, Sample, Snapshot, Span, Timeline, Totals};

const MS: u64 = 1_000_000;

/// Builds a run second by second, as a coordinator does.
struct Made {
    recorder: Recorder,
    totals: Totals,
    timeline: Timeline,
    at_ms: i64,
}

impl Made {
    fn new() -> Self {
        Self {
            recorder: Recorder::new(),
            totals: Totals::new(),
            timeline: Timeline::new(2, 4, 0),
            at_ms: 0,
        }
    }

    fn opened(&mut self, n: u64) {
        for counter in [Counter::WsStarted, Counter::WsOpened] {
            self.recorder.add(counter, n);
        }
        for _ in 0..n {
            self.recorder.span(Span::Connect, MS);
            self.recorder.span(Span::Upgrade, 2 * MS);
        }
    }

    fn closed(&mut self, n: u64, cause: CloseCause, code: u16, idle_ms: u64) {
        self.recorder.add(Counter::WsClosed, n);
        (0..n).for_each(|_| self.recorder.closed(cause, code, idle_ms));
    }

    /// Ends a second in which the machine has this state.
    fn second(&mut self, machine: Machine) -> Second {
        let mut snapshot = Snapshot::new();
        self.recorder.drain(&mut snapshot);
        self.at_ms += 1000;
        snapshot.at_ms = self.at_ms;
        self.totals.add(&snapshot);
        let second = Second {
            connections: Flow::new(&snapshot, &self.totals.counters),
            machine: Some(machine),
            ..Second::new(&snapshot, &Usage::default(), &Usage::default())
        };
        self.timeline.add(&second);
        second
    }

    fn summary(&self) -> Summary {
        let frame = Frame { start_ms: 0, end_ms: self.at_ms, usage: Usage::default() };
        Summary::new(&self.totals, &frame, &Percentages::default())
            .over_time(&self.totals, &self.timeline)
    }
}

#[test]
fn a_run_without_such_connections_has_no_such_block() {
    let mut run = Made::new();
    let second = run.second(Machine::default());
    assert_eq!(second.connections, None);
    let line = serde_json::to_value(&second).unwrap();
    assert!(line.get("connections").is_none() && line.get("machine").is_some());
    let summary = run.summary();
    assert!(summary.connections.is_none());
    assert!(!summary.text().contains("Connections over time"));
}

#[test]
fn a_second_says_what_is_opening_held_queued_and_closed() {
    let mut run = Made::new();
    run.opened(100);
    run.recorder.add(Counter::WsStarted, 7);
    run.recorder.add(Counter::InboxIn, 500);
    run.recorder.add(Counter::ReadingStopped, 3);
    run.second(Machine::default());
    run.recorder.add(Counter::WsFailed, 2);
    run.recorder.add(Counter::InboxOut, 200);
    run.recorder.add(Counter::ReadingResumed, 2);
    run.recorder.add(Counter::UnreadProbed, 4);
    run.recorder.add(Counter::UnreadBytes, 4000);
    run.closed(10, CloseCause::PeerFrame, 1001, 90);
    let flow = run.second(Machine::default()).connections.unwrap();
    assert_eq!((flow.opening, flow.held, flow.opened, flow.failed, flow.closed), (5, 90, 0, 2, 10));
    assert_eq!((flow.inbox_bytes, flow.reading_stopped, flow.not_read), (300, 0, 1));
    assert_eq!(flow.unread_each(), 1000);
    let close = &flow.closes[0];
    assert_eq!((close.cause, close.code, close.count), (CloseCause::PeerFrame, 1001, 10));
    assert_eq!(close.idle_p50_ms, 90);
    let json = serde_json::to_value(&flow).unwrap();
    assert_eq!(json["closes"][0]["cause"], "peer_frame");
}

#[test]
fn the_summary_says_who_cut_the_connections_in_one_line() {
    let mut run = Made::new();
    for _ in 0..20 {
        run.opened(1000);
        run.second(Machine::default());
    }
    run.recorder.add(Counter::MessagesIn, 40_000);
    run.recorder.add(Counter::MessageBytesIn, 4 << 20);
    run.recorder.add(Counter::HeartbeatsSent, 20_000);
    run.recorder.add(Counter::HeartbeatsAnswered, 19_990);
    run.recorder.add(Counter::HeartbeatsMissed, 10);
    run.recorder.span(Span::Message, 5 * MS);
    run.closed(19_990, CloseCause::PeerFin, 0, 180_020);
    run.closed(10, CloseCause::Stopped, 0, 7);
    run.second(Machine::default());
    let summary = run.summary();
    let text = summary.text();
    for part in [
        "held          20 000 at most, 0 in the last second; 20 000 of 20 000 openings succeeded, 0 failed",
        "opened        1 000/s while opening, 1 000/s over the best 10 s",
        "connect       p50 1.00  p90 1.00  p99 1.00  max 1.00 ms",
        "upgrade       p50 2.00",
        "messages      40 000 in (1 905/s, 4.0 MiB), 0 out (0.0/s, 0 bytes)",
        "latency       p50 5.00",
        "heartbeats    20 000 sent, 19 990 answered, 10 missed",
        "\n  19 990 cut by the peer's FIN after 180 s without data\n      idle timeout of 180 s",
        "\n  10 closed when the run was stopped; idle time before: p10 0.0 s",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let json: serde_json::Value = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["connections"]["closed"][0]["cause"], "peer_fin");
    assert!(
        (179_500..180_500)
            .contains(&json["connections"]["closed"][0]["idle_common_ms"].as_i64().unwrap())
    );
    assert_eq!(json["connections"]["held_peak"], 20_000);
}

#[test]
fn processors_count_as_full_by_the_length_of_the_second() {
    let mut timeline = Timeline::new(2, 8, 0);
    let second = |at_ms, cpu_s| Second { at_ms, cpu_s, ..Second::default() };
    timeline.add(&second(1000, 1.99));
    timeline.add(&second(3000, 1.99));
    // The last part of a second is too short to count.
    timeline.add(&second(3100, 1.0));
    assert_eq!((timeline.seconds, timeline.full_seconds), (2, 1));
    assert!((timeline.cpu_peak - 0.995).abs() < 1e-9);
}

#[test]
fn a_late_second_does_not_lengthen_the_next_one() {
    let mut timeline = Timeline::new(1, 1, 1_000);
    for at_ms in [2_000, 1_500, 3_000] {
        timeline.add(&Second { at_ms, rss: 1_000, ..Second::default() });
    }
    assert!((timeline.memory_byte_s - 2_000.0).abs() < 1e-9);
}

#[test]
fn late_seconds_do_not_raise_the_rate_of_the_best_ten_seconds() {
    let mut run = Made::new();
    let seconds = |run: &mut Made, count| {
        for _ in 0..count {
            run.opened(10);
            run.second(Machine::default());
        }
    };
    seconds(&mut run, 20);
    // A machine sends nine earlier seconds late.
    run.at_ms -= 15_000;
    seconds(&mut run, 9);
    run.at_ms += 6_000;
    seconds(&mut run, 1);
    assert!((run.timeline.opened_best - 10.0).abs() < 1e-9);
}

#[test]
fn the_best_ten_seconds_are_found_wherever_they_are() {
    let mut run = Made::new();
    for n in [0, 0, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 0, 1] {
        run.opened(n);
        run.second(Machine::default());
    }
    assert!((run.timeline.opened_best - 10.0).abs() < 1e-9);
    assert!((run.timeline.opened_mean() - 101.0 / 11.0).abs() < 1e-9);
}

#[test]
fn intervals_that_began_apart_are_lined_up_by_their_slots() {
    let apart = |slots: i64| {
        let mut recorder = Recorder::new();
        let label = recorder.intern("a");
        // One sample in the first slot, two in the second, four in the last.
        for (ms, n) in [(5, 1), (150, 2), (990, 4)] {
            (0..n).for_each(|_| {
                recorder.record(&Sample::new(label, ms));
            });
        }
        let (mut other, mut sum, mut next) = (Snapshot::new(), Snapshot::new(), Snapshot::new());
        recorder.drain(&mut other);
        let mut behind = Vec::new();
        sum.merge_later(&other, slots, &mut behind);
        next.add_behind(&mut behind);
        [sum, next].map(|snapshot| snapshot.labels.first().map_or([0; 10], |label| label.slots))
    };
    let none = [0; 10];
    assert_eq!(apart(0), [[1, 2, 0, 0, 0, 0, 0, 0, 0, 4], none]);
    assert_eq!(apart(3), [[0, 0, 0, 1, 2, 0, 0, 0, 0, 0], [0, 0, 4, 0, 0, 0, 0, 0, 0, 0]]);
    assert_eq!(apart(10), [none, [1, 2, 0, 0, 0, 0, 0, 0, 0, 4]]);
    assert_eq!(apart(i64::MAX), apart(10));
    assert_eq!(apart(-1), [[3, 0, 0, 0, 0, 0, 0, 0, 4, 0], none]);
    assert_eq!(apart(-3), [[3, 0, 0, 0, 0, 0, 4, 0, 0, 0], none]);
    for long in [-10, -25, i64::MIN] {
        assert_eq!(apart(long), [[7, 0, 0, 0, 0, 0, 0, 0, 0, 0], none]);
    }
}
