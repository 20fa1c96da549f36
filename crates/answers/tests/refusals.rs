//! Rates of passed requests during refusals, outages of which some are short, and the cost of opening connections.
mod situations;

use answers::rules;
use record::Record;
use situations::{Answer, MS, Request, S, bad, good, run, users};
use stats::{Counter, Outcome};

fn said(record: &Record, id: &str) -> String {
    let found = rules::verdict(record).findings.into_iter().find(|finding| finding.id == id);
    found.map(|finding| finding.words.en).unwrap_or_default()
}

/// Returns the sentence about a service that answers some requests of its users with 429.
fn limited(mut refuses: impl FnMut(&Request) -> bool) -> String {
    let record = run(&users(10).pause(30).seconds(12), |request, _| {
        if refuses(request) {
            bad(MS, Outcome::Status, "429", "Too Many Requests")
        } else {
            good(20 * MS)
        }
    });
    said(&record, "rate_limit")
}

#[test]
fn the_rate_let_through_is_that_of_the_time_with_refusals() {
    // Refusals for half a second at the beginning, and refusals of all requests from some second on.
    for words in [limited(|request| request.at < S / 2), limited(|request| request.at > 10 * S)] {
        assert!(words.ends_with("got 429: Too Many Requests."), "{words}");
    }
    // The rate of passed requests changes during the refusals.
    let words = limited(|request| request.number % if request.at > 6 * S { 10 } else { 2 } != 0);
    assert!(words.ends_with("got 429: Too Many Requests."), "{words}");
    let mut allowed = 0;
    let words = limited(|request| {
        let is_over = allowed >= request.at / (20 * MS);
        allowed += u64::from(!is_over);
        is_over
    });
    assert!(words.ends_with("; about 50/s were let through meanwhile."), "{words}");
    let words = limited(|request| request.at > 4 * S);
    assert!(words.ends_with("; none was let through meanwhile."), "{words}");
}

/// Returns the sentence about three labels: half of `a` is refused in some seconds, a tenth of `b` fails if
/// `errors`, `c` succeeds.
fn three_labels(errors: bool, refuses: impl Fn(u64) -> bool) -> [String; 2] {
    let head = "timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads\n";
    let row = |n: u64| {
        let (at, turn) = (n * 10, n / 3);
        let (label, code) = match n % 3 {
            0 if turn % 2 == 0 && refuses(at / 1000) => ("a", 429),
            1 if errors && turn % 10 == 0 => ("b", 500),
            other => (["a", "b", "c"][other as usize], 200),
        };
        format!("{},20,{label},{code},m,{},10\n", 1_700_000_000_000 + at, code == 200)
    };
    let rows: String = (0..6000).map(row).collect();
    let record = Record::of_rows((head.to_owned() + &rows).as_bytes()).expect("rows");
    let found = rules::verdict(&record).findings;
    let found = found.into_iter().find(|finding| finding.id == "rate_limit");
    found.map(|finding| [finding.words.en, finding.words.zh]).unwrap_or_default()
}

#[test]
fn the_rate_let_through_is_that_of_the_labels_that_are_refused() {
    let [en, zh] = three_labels(false, |_| true);
    assert!(en.ends_with("; about 17/s of \"a\" were let through meanwhile."), "{en}");
    assert!(zh.ends_with("；其间“a”的请求放行约 17/s。"), "{zh}");
    // Requests also fail for other causes, or the periods of refusals are short.
    for [en, _] in [three_labels(true, |_| true), three_labels(false, |second| second % 10 < 3)] {
        assert!(en.ends_with("got 429: m."), "{en}");
    }
}

/// Returns the sentence about a target that refuses connections in these periods, given in ms.
fn away(times: &[(u64, u64)]) -> String {
    let record = run(&users(10).pause(50).seconds(16), |request, _| {
        if times.iter().any(|(from, to)| (from * MS..to * MS).contains(&request.at)) {
            bad(300, Outcome::Refused, "Non HTTP response code", "Connection refused")
        } else {
            good(20 * MS)
        }
    });
    said(&record, "target_down")
}

#[test]
fn short_outages_beside_longer_ones_are_told() {
    let words = away(&[(3000, 4500), (7500, 9000)]);
    assert!(words.contains("2 times, at 0:03 and 0:07"), "{words}");
    assert!(words.contains("until about 0:09: 5"), "{words}");
    assert!(!words.contains("at other times"), "{words}");
    // An outage at the end of the run, and one whose last second is ambiguous.
    let words = away(&[(3000, 6000), (15_000, 16_000)]);
    assert!(words.contains("at 0:03 and 0:15, the last time until the end"), "{words}");
    let words = away(&[(3000, 6000), (15_000, 15_500)]);
    assert!(words.contains("again at about 0:06") && words.contains("other times"), "{words}");
    // A few refusals do not form an outage, but they are counted.
    let words = away(&[(3000, 3040), (7000, 10_000)]);
    assert!(words.contains("at 0:07") && words.ends_with(" more at other times."), "{words}");
}

/// Returns a run in which each iteration is a new user.
fn new_users(connect: u64) -> Record {
    let mut record = run(&users(10).pause(50).seconds(20), |_, _| Answer {
        connect,
        closes: true,
        ..good(20 * MS)
    });
    for second in &mut record.seconds {
        let closed = second.counters.get(Counter::ConnClosedByPeer);
        second.counters = stats::Counters::default();
        second.counters.add(Counter::ConnOpened, closed);
        second.counters.add(Counter::ConnClosedByUs, closed);
        second.counters.add(Counter::ConnClosedForNewUser, closed);
    }
    record
}

#[test]
fn new_users_are_a_finding_where_they_cost_something() {
    assert_eq!(said(&new_users(100), "connection_churn"), "");
    let words = said(&new_users(5 * MS), "connection_churn");
    assert!(words.starts_with("The plan makes every iteration a new user"), "{words}");
}
