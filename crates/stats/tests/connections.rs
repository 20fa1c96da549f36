//! Tests spans, closed connections and their counters, from the recorder through snapshots to totals.
use allocation_counter::measure;
use proptest::prelude::*;
use stats::close::{MAX_CLOSES, OTHER_CODES};
use stats::{CloseCause, Counter, LabelId, Recorder, Sample, Snapshot, Span, Totals};

fn drained(recorder: &mut Recorder) -> Snapshot {
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    snapshot
}

/// One call to the recorder.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Span(Span, u64),
    Closed(CloseCause, u16, u64),
    Counted(Counter, u64),
}

fn snapshot_of(happenings: &[Happening]) -> Snapshot {
    let mut recorder = Recorder::new();
    for happening in happenings {
        match *happening {
            Happening::Span(span, nanos) => recorder.span(span, nanos),
            Happening::Closed(cause, code, idle_ms) => recorder.closed(cause, code, idle_ms),
            Happening::Counted(counter, n) => recorder.add(counter, n),
        }
    }
    drained(&mut recorder)
}

/// Returns the content of a snapshot in an order that does not depend on the order of merging.
fn canonical(snapshot: &Snapshot) -> String {
    let mut closes = snapshot.closes.clone();
    closes.sort_by_key(|close| (close.cause, close.code));
    format!("{:?} {:?} {closes:?}", snapshot.counters, snapshot.spans)
}

fn happening() -> impl Strategy<Value = Happening> {
    let span = (0..Span::COUNT, 0u64..100_000_000_000);
    let closed = (0..CloseCause::ALL.len(), 0u16..4, 0u64..1_000_000);
    let counted = (0..Counter::ALL.len(), 1u64..1000);
    prop_oneof![
        span.prop_map(|(at, nanos)| Happening::Span(Span::ALL[at], nanos)),
        closed.prop_map(|(at, code, ms)| Happening::Closed(CloseCause::ALL[at], code, ms)),
        counted.prop_map(|(at, n)| Happening::Counted(Counter::ALL[at], n)),
    ]
}

fn some() -> impl Strategy<Value = Vec<Happening>> {
    prop::collection::vec(happening(), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merging_is_associative_commutative_and_counting_together(a in some(), b in some(), c in some()) {
        let [x, y, z] = [&a, &b, &c].map(|list| snapshot_of(list));
        let mut left = x.clone();
        left.merge(&y);
        left.merge(&z);
        let mut tail = z;
        tail.merge(&y);
        let mut right = x;
        right.merge(&tail);
        let together = snapshot_of(&[a, b, c].concat());
        prop_assert_eq!(canonical(&left), canonical(&together));
        prop_assert_eq!(canonical(&right), canonical(&together));
    }

    #[test]
    fn a_snapshot_survives_a_compact_format_and_a_named_one(a in some()) {
        let mut snapshot = snapshot_of(&a);
        (snapshot.at_ms, snapshot.core, snapshot.seq) = (-5, 3, 7);
        let bytes = postcard::to_stdvec(&snapshot).unwrap();
        let read: Snapshot = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(format!("{read:?}"), format!("{snapshot:?}"));
        let text = serde_json::to_string(&snapshot).unwrap();
        let read: Snapshot = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(format!("{read:?}"), format!("{snapshot:?}"));
    }

    #[test]
    fn a_damaged_snapshot_is_an_error_or_another_snapshot(a in some(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = postcard::to_stdvec(&snapshot_of(&a)).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(read) = postcard::from_bytes::<Snapshot>(&bytes) {
            let mut totals = Totals::new();
            totals.add(&read);
            totals.add(&read);
        }
    }
}

#[test]
fn labels_and_causes_survive_too() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("Käse");
    let sample = Sample { elapsed: 5_000_000, errors: 1, ..Sample::new(label, 10) };
    recorder.record(&sample);
    recorder.error(&sample, "500", "broken");
    let snapshot = drained(&mut recorder);
    let bytes = postcard::to_stdvec(&snapshot).unwrap();
    let read: Snapshot = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(read.labels, snapshot.labels);
    assert_eq!(read.causes, snapshot.causes);
    assert!(bytes.len() < 200, "{} bytes", bytes.len());
}

#[test]
fn counters_pass_over_names_they_do_not_know() {
    let read: stats::Counters = serde_json::from_str(r#"{"ws_opened":3,"of_tomorrow":9}"#).unwrap();
    assert_eq!(read.get(Counter::WsOpened), 3);
}

#[test]
fn bins_out_of_order_are_refused() {
    assert!(serde_json::from_str::<stats::hist::Bins>("[[1,1],[1,1]]").is_err());
    assert!(serde_json::from_str::<stats::hist::Bins>("[[1,0]]").is_err());
    assert_eq!(serde_json::from_str::<stats::hist::Bins>("[[1,2],[5,1]]").unwrap().total(), 3);
}

#[test]
fn closes_are_counted_by_cause_and_code_with_their_idle_age() {
    let mut recorder = Recorder::new();
    for n in 0..1000u64 {
        recorder.closed(CloseCause::PeerFin, 0, 180_000 + n % 10);
    }
    recorder.closed(CloseCause::PeerFrame, 1001, 5);
    recorder.closed(CloseCause::PeerFrame, 1006, 6);
    let mut totals = Totals::new();
    totals.add(&drained(&mut recorder));
    recorder.closed(CloseCause::PeerFin, 0, 180_000);
    totals.add(&drained(&mut recorder));
    let of = |cause, code| {
        let found = totals.closed().iter().find(|c| (c.cause, c.code) == (cause, code));
        found.map_or(0, |closed| closed.idle_ms.total())
    };
    assert_eq!(of(CloseCause::PeerFin, 0), 1001);
    assert_eq!(of(CloseCause::PeerFrame, 1001), 1);
    assert_eq!(of(CloseCause::PeerFrame, 1006), 1);
    assert_eq!(totals.closed().len(), 3);
    let fin = &totals.closed()[0].idle_ms;
    assert!((179_900..=180_200).contains(&fin.quantile(0.5)), "{}", fin.quantile(0.5));
}

#[test]
fn a_peer_that_invents_codes_does_not_fill_memory() {
    let mut recorder = Recorder::new();
    let mut totals = Totals::new();
    for code in 0..5000u16 {
        recorder.closed(CloseCause::PeerFrame, code, 1);
    }
    totals.add(&drained(&mut recorder));
    for code in 5000..9000u16 {
        recorder.closed(CloseCause::PeerFrame, code, 1);
    }
    totals.add(&drained(&mut recorder));
    assert_eq!(totals.closed().len(), MAX_CLOSES + 1);
    let all: u64 = totals.closed().iter().map(|closed| closed.idle_ms.total()).sum();
    assert_eq!(all, 9000);
    let others = totals.closed().iter().find(|closed| closed.code == OTHER_CODES).unwrap();
    assert_eq!(others.idle_ms.total(), 9000 - MAX_CLOSES as u64);
}

#[test]
fn spans_are_microseconds_and_apart() {
    let mut recorder = Recorder::new();
    recorder.span(Span::Connect, 1_500_000);
    recorder.span(Span::Upgrade, 3_000_999);
    let snapshot = drained(&mut recorder);
    assert_eq!(snapshot.spans.get(Span::Connect).iter().collect::<Vec<_>>(), [(1500, 1)]);
    let mut totals = Totals::new();
    totals.add(&snapshot);
    totals.add(&drained(&mut recorder));
    assert_eq!(totals.span(Span::Upgrade).total(), 1);
    assert!((2999..=3002).contains(&totals.span(Span::Upgrade).quantile(1.0)));
    assert_eq!(totals.span(Span::Message).total(), 0);
}

#[test]
fn a_warm_recorder_allocates_nothing() {
    let mut recorder = Recorder::new();
    let label: LabelId = recorder.intern("hold");
    let mut snapshot = Snapshot::new();
    let second = |recorder: &mut Recorder, snapshot: &mut Snapshot| {
        for n in 0..20_000u64 {
            recorder.span(Span::Message, n * 977_000);
            recorder.span(Span::Heartbeat, n * 31_000);
            recorder.closed(CloseCause::ALL[n as usize % 14], (n % 3) as u16, n * 7);
            recorder.add(Counter::MessagesIn, 1);
            recorder
                .record(&Sample { elapsed: n * 1_000_000 % 900_000_000, ..Sample::new(label, 0) });
        }
        recorder.drain(snapshot);
    };
    second(&mut recorder, &mut snapshot);
    second(&mut recorder, &mut snapshot);
    let counted = measure(|| second(&mut recorder, &mut snapshot));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert_eq!(snapshot.closes.len(), 42);
}
