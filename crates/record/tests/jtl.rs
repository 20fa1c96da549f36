//! Records from result files contain exactly the data of the rows.

#[path = "../../../tests/bars.rs"]
mod bars;

use std::io::{BufReader, Read};

use record::frame::Ending;
use record::kept::Why;
use record::{Flaw, Has, Record};
use stats::{Outcome, Phase};

const HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";

fn of(text: &str) -> Record {
    Record::of_rows(BufReader::with_capacity(64, text.as_bytes())).expect("rows")
}

const ROWS: &str = "1700000000100,200,Login,200,OK,g 1-1,text,true,,300,100,3,3,http://a/?password=x,150,0,50\n\
    1700000000400,900,\"Search, all\",500,Internal,g 1-2,text,false,,10,100,3,4,http://a/s,900,0,0\n\
    1700000000100,1200,Whole,200,\"Number of samples in transaction : 2, number of failing samples : 1\",g 1-1,,false,,310,200,3,4,null,0,0,0\n\
    1700000003000,5,Login,200,OK,g 1-1,text,false,Test failed: text expected,300,100,3,2,http://a/,5,0,0\n\
    1700000003001,6,Login,Non HTTP response code: java.net.SocketTimeoutException,Non HTTP response message: Read timed out,g 1-1,text,false,,0,0,3,2,http://a/,0,0,0\n";

#[test]
fn rows_count_in_the_second_of_their_end() {
    let record = of(&format!("{HEAD}{ROWS}"));
    assert_eq!(record.flaws, []);
    assert_eq!((record.frame.start_ms, record.frame.length_ms), (1_700_000_000_100, 2907));
    assert_eq!(record.frame.ending, Ending::Unknown);
    assert_eq!(record.has, Has { slots: true, users: true, kept: true, ..Has::default() });
    let labels: Vec<_> = record.labels.iter().map(|l| (&*l.name, l.transaction)).collect();
    assert_eq!(labels, [("Login", false), ("Search, all", false), ("Whole", true)]);
    // Seconds are counted from the first start; the last second ends with the last sample.
    let ends: Vec<_> = record.seconds.iter().map(|s| (s.at_ms % 10_000, s.ms)).collect();
    assert_eq!(ends, [(1100, 1000), (2100, 1000), (3007, 907)]);
    let counts: Vec<_> = record.seconds.iter().map(|s| (s.all.count, s.all.errors)).collect();
    assert_eq!(counts, [(1, 0), (1, 1), (2, 2)]);
    assert_eq!(record.seconds.iter().map(|s| s.users).collect::<Vec<_>>(), [3, 4, 2]);
    let login = record.seconds[0].labels.get(0).expect("samples");
    assert_eq!((login.elapsed, login.sent, login.received), (200_000_000, 100, 300));
    let p = &login.phases;
    assert_eq!((p.connect, p.wait, p.receive), (50_000_000, 100_000_000, 50_000_000));
    assert_eq!((login.slots[2], login.service.total()), (1, 1));
    assert_eq!(login.response(), &login.service);
    let outcomes: Vec<_> = record.causes.iter().map(|cause| cause.outcome).collect();
    let timeout = Outcome::Timeout(Phase::Response);
    assert_eq!(outcomes, [Outcome::Status, Outcome::Assertion, timeout]);
    assert_eq!(record.seconds[2].causes, [(1, 1), (2, 1)]);
    let errors = record.kept.iter().filter(|kept| kept.why == Why::Error).count();
    assert_eq!(errors, 3);
    assert!(record.kept.iter().all(|kept| !kept.request.contains("password=x")), "masked");
}

#[test]
fn users_of_several_servers_are_summed() {
    use std::fmt::Write as _;
    // Each server counts its own users. The second one has no row in every other second, and ends earlier.
    let mut text = String::from("timeStamp,elapsed,label,success,threadName,allThreads\n");
    for second in 0..10_i64 {
        let at = 1_700_000_000_000 + second * 1000;
        writeln!(text, "{},50,a,true,10.0.0.1:1099-Users 1-1,{}", at + 100, second + 1)
            .expect("text");
        if second % 2 == 0 {
            writeln!(text, "{},50,a,true,10.0.0.2:1099-Users 1-1,20", at + 200).expect("text");
        }
    }
    let record = of(&text);
    let users: Vec<_> = record.seconds.iter().map(|second| second.users).collect();
    assert_eq!(users, [21, 22, 23, 24, 25, 26, 27, 28, 29, 10]);
    assert!(record.marks.is_empty(), "one group: {:?}", record.marks);
    // Two groups of one process count the same users.
    let text =
        text.replace(":1099-Users 1", ":1099-Users 2").replace("10.0.0.2:1099-Users 2", "Rest 1");
    let users: Vec<_> = of(&text).seconds.iter().map(|second| second.users).collect();
    assert_eq!(users, [20, 2, 20, 4, 20, 6, 20, 8, 20, 10]);
}

#[test]
fn seconds_without_a_row_before_the_first_are_there() {
    // The first sample to end takes four seconds, and another sample began before it.
    let text = "timeStamp,elapsed,label,success,allThreads\n\
        1700000000300,4000,a,true,2\n1700000000250,4200,a,true,2\n1700000004300,100,a,true,2\n";
    let record = of(text);
    let seconds: Vec<_> = record.seconds.iter().map(|s| (s.ms, s.all.count, s.users)).collect();
    assert_eq!(seconds, [(1050, 0, 2), (1000, 0, 2), (1000, 0, 2), (1000, 0, 2), (150, 3, 2)]);
    assert_eq!(record.frame.length_ms, 4200);
}

#[test]
fn time_stamps_in_seconds_are_read_as_such() {
    let rows = |stamp: fn(i64) -> String| -> String {
        let row = |n: i64| format!("{},100,a,true\n", stamp(n * 100));
        (0..100).map(row).collect()
    };
    let head = "timeStamp,elapsed,label,success\n";
    let of = |rows: String| of(&(head.to_owned() + &rows));
    let whole = of(rows(|ms| (1_700_000_000 + ms / 1000).to_string()));
    assert_eq!((whole.frame.start_ms, whole.frame.length_ms), (1_700_000_000_000, 10_000));
    assert_eq!(whole.flaws, [Flaw::InSeconds]);
    let parts = of(rows(|ms| format!("{}.{}", 1_700_000_000 + ms / 1000, ms % 1000 / 100)));
    assert_eq!((parts.frame.start_ms, parts.frame.length_ms), (1_700_000_000_000, 10_000));
    assert_eq!(parts.flaws, [Flaw::InSeconds]);
}

#[test]
fn a_file_that_is_cut_anywhere_gives_its_whole_rows() {
    let text = format!("{HEAD}{ROWS}");
    let ends: Vec<usize> = text.match_indices('\n').map(|at| at.0 + 1).collect();
    for cut in HEAD.len()..=text.len() {
        let record = of(&text[..cut]);
        let begin = ends.iter().rev().find(|end| **end <= cut).copied().unwrap_or(0);
        let end = ends.iter().find(|end| **end > cut).copied().unwrap_or(text.len());
        // A last row with all its fields needs no line end.
        let last = text[begin..end].rfind(',').map_or(usize::MAX, |comma| begin + comma + 1);
        let has_last = cut >= last && !text[begin..cut].is_empty();
        let whole = ends.iter().filter(|end| **end <= cut).count() - 1 + usize::from(has_last);
        let rows = record.seconds.iter().flat_map(|s| s.labels.counts()).map(|l| l.1).sum::<u64>();
        assert_eq!(rows, whole as u64, "{cut}");
        let torn = !ends.contains(&cut) && !has_last;
        let told = record.flaws.iter().any(|flaw| matches!(flaw, Flaw::TornEnd { .. }));
        assert_eq!(told, torn, "{cut}: {:?}", record.flaws);
    }
}

#[test]
fn rows_that_are_none_are_counted() {
    let text =
        format!("{HEAD}a,b\n{ROWS}soon,200,Login,200,OK,g,text,true,,1,1,1,1,u,1,1,1\n9{ROWS}");
    let record = of(&text);
    // The added digit 9 moves the first row of the last part thousands of years ahead.
    let why = Some(record::RowFault::Fields(2, 17));
    assert_eq!(record.flaws, [Flaw::Rows { rows: 3, first_line: 2, why }]);
    assert_eq!(record.seconds.iter().map(|s| s.all.count).sum::<u64>(), 7);
}

#[test]
fn xml_is_read_as_csv_is() {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n\
        <httpSample t=\"200\" it=\"0\" lt=\"150\" ct=\"50\" ts=\"1700000000100\" s=\"true\" lb=\"A &amp; B\" rc=\"200\" rm=\"OK\" tn=\"g\" by=\"3\" sby=\"1\" ng=\"1\" na=\"2\">\n  <httpSample t=\"100\" ts=\"1\" s=\"false\" lb=\"inside\"/>\n  <java.net.URL>http://a/</java.net.URL>\n</httpSample>\n\
        <sample t=\"5\" ts=\"1700000001100\" s=\"false\" lb=\"C\" rc=\"500\" rm=\"no\"/>\n\
        <httpSample t=\"5\" ts=\"1700000001100\" s=\"false\" lb=\"C\">\n  <assertionResult>\n";
    let record = of(text);
    let names: Vec<_> = record.labels.iter().map(|label| &*label.name).collect();
    assert_eq!(names, ["A & B", "C"]);
    assert_eq!(record.seconds.iter().map(|s| s.all.count).sum::<u64>(), 2);
    assert!(matches!(record.flaws[..], [Flaw::TornEnd { bytes: 60.. }]), "{:?}", record.flaws);
    let first = record.seconds[0].labels.get(0).expect("samples");
    assert_eq!(first.phases.wait, 100_000_000);
}

#[test]
fn times_may_be_written_out_and_columns_may_be_few() {
    let text = "timeStamp,elapsed,label,success\n2024/05/06 07:08:09.123,10,a,true\n2024/05/06 07:08:10.123,10,a,false\n";
    let record = of(text);
    assert_eq!(record.seconds.len(), 2);
    assert_eq!(record.seconds[1].all.errors, 1);
    assert_eq!(record.frame.length_ms, 1010);
    assert!(!record.has.users);
}

#[test]
fn rows_may_come_in_any_order() {
    let row = |n: u64| {
        // One row per label, then rows of all labels over five minutes, some of them failed.
        let ms = 1_700_000_000_000 + if n < 4 { 0 } else { n * 20 };
        let (code, users) = (if n.is_multiple_of(7) { 500 } else { 200 }, 1 + n % 50);
        format!(
            "{ms},{},page {},{code},,g 1-1,text,{},,300,100,3,{users},,1,0,0\n",
            n % 90,
            n % 4,
            code == 200
        )
    };
    let read = |order: &[u64]| {
        let rows: String = order.iter().map(|n| row(*n)).collect();
        of(&format!("{HEAD}{rows}"))
    };
    let all: Vec<u64> = (0..15_000).collect();
    let in_order = read(&all);
    assert!(in_order.seconds.len() >= 300, "{}", in_order.seconds.len());
    let mut backwards = all.clone();
    backwards[8..].reverse();
    let mut twice = all.clone();
    twice[8..].sort_by_key(|n| (n % 3, *n));
    let mut mixed = all;
    mixed[8..].sort_by_key(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20);
    for order in [backwards, twice, mixed] {
        let other = read(&order);
        assert_eq!((&other.labels, &other.causes), (&in_order.labels, &in_order.causes));
        for (second, other) in in_order.seconds.iter().zip(&other.seconds) {
            // If several rows end in the same millisecond, it is undefined which row's number of users counts.
            let other = record::Second { users: second.users, ..other.clone() };
            assert_eq!(*second, other);
        }
        assert_eq!(other.seconds.len(), in_order.seconds.len());
    }
}

/// A reader of this many rows, which it builds as they are read.
struct Endless {
    left: u64,
    row: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.row.len() {
            if self.left == 0 {
                return Ok(0);
            }
            self.left -= 1;
            let (ms, label) = (1_700_000_000_000 + self.left % 60_000, self.left % 20_000);
            let row = format!(
                "{ms},{},/item/{label},200,OK,g 1-1,text,true,,300,100,3,3,http://a/,150,0,50\n",
                self.left % 700
            );
            (self.row, self.at) = (row.into_bytes(), 0);
        }
        let n = into.len().min(self.row.len() - self.at);
        into[..n].copy_from_slice(&self.row[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[test]
fn memory_follows_seconds_and_not_rows() {
    let peak = || stats::process::Usage::now().rss_peak;
    let read = |rows: u64| {
        let row = HEAD.as_bytes().to_vec();
        let record = Record::of_rows(BufReader::new(Endless { left: rows, row, at: 0 }));
        let record = record.expect("rows");
        assert_eq!(record.seconds.iter().map(|s| s.all.count).sum::<u64>(), rows);
        assert_eq!(record.labels.iter().map(|l| l.folded).sum::<u32>(), 20_000);
    };
    read(20_000);
    let before = peak();
    read(200_000);
    let grown = peak().saturating_sub(before);
    bars::bar("200 000 rows of 20 000 labels, more than 20 000", grown >> 20, 60, "MiB");
}

#[test]
fn the_time_of_a_file_ends_with_its_last_row() {
    // 40 samples per second for 10 s; the last one ends in the eleventh second.
    let rows = (0..401).map(|i| {
        format!("{},150,a,200,OK,t,text,true,,1,1,1,1,u,1,0,1\n", 1_700_000_000_000i64 + i * 25)
    });
    let record = of(&format!("{HEAD}{}", rows.collect::<String>()));
    let last = record.seconds.last().expect("seconds");
    assert_eq!((last.at_ms, last.ms), (1_700_000_010_150, 150));
    let length: u32 = record.seconds.iter().map(|second| second.ms).sum();
    assert_eq!(length, 10_150);
    // A row that ends exactly with a second gives that second a length above 0.
    let record = of(&format!("{HEAD}1700000000000,2000,a,200,OK,t,text,true,,1,1,1,1,u,1,0,1\n"));
    assert_eq!(record.seconds.last().map(|last| last.ms), Some(100));
}

const TRANSACTION: &str = "Number of samples in transaction : 2, number of failing samples : ";

fn counted(record: &Record) -> (u64, u64) {
    let sum = |of: fn(&record::Second) -> u64| record.seconds.iter().map(of).sum();
    (sum(|second| second.all.count), sum(|second| second.all.errors))
}

#[test]
fn samples_inside_of_a_transaction_in_xml_are_its_requests() {
    let sample = |at: u32, inside: &str| {
        format!(
            "<sample t=\"90\" it=\"0\" ts=\"17000000{at:05}\" s=\"false\" lb=\"Buy\" rc=\"500\" rm=\"{TRANSACTION}1\" tn=\"g 1-1\" ng=\"1\" na=\"1\">\n{inside}</sample>\n"
        )
    };
    let request = |at: u32, ok: bool| {
        format!(
            "  <httpSample t=\"40\" ts=\"17000000{at:05}\" s=\"{ok}\" lb=\"pay\" rc=\"500\" rm=\"X\" tn=\"g 1-1\" ng=\"1\" na=\"1\">\n    <httpSample t=\"20\" ts=\"17000000{at:05}\" s=\"true\" lb=\"pay-0\" tn=\"g 1-1\"/>\n  </httpSample>\n"
        )
    };
    let once = sample(100, &(request(100, true) + &request(145, false)));
    let nested = sample(300, &format!("  {}", sample(300, &request(310, true))));
    let head = "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n";
    let record = of(&format!("{head}{once}{nested}</testResults>\n"));
    assert_eq!((counted(&record), &*record.flaws), ((3, 1), &[][..]));
    let labels: Vec<_> = record.labels.iter().map(|l| (&*l.name, l.transaction)).collect();
    assert_eq!(labels, [("pay", false), ("Buy", true)]);
    let buys: u64 = record
        .seconds
        .iter()
        .flat_map(|second| second.labels.counts())
        .filter(|(label, ..)| *label == 1)
        .map(|(_, count, _)| count)
        .sum();
    assert_eq!(buys, 3);
    // A torn transaction loses nothing except itself.
    let cut = once.rfind("</sample>").expect("an end");
    let record = of(&format!("{head}{nested}{}", &once[..cut]));
    assert_eq!(counted(&record), (3, 1));
    assert!(matches!(record.flaws[..], [Flaw::TornEnd { .. }]), "{:?}", record.flaws);
    let record = of(&format!("{head}{}{nested}</testResults>\n", &once[..cut]));
    assert_eq!(counted(&record), (3, 1));
    assert!(matches!(record.flaws[..], [Flaw::Rows { rows: 1, .. }]), "{:?}", record.flaws);
    // Without rows for their requests, the transactions are the requests.
    let record = of(&format!("{head}{}{}</testResults>\n", sample(100, ""), sample(300, "")));
    assert_eq!(
        (counted(&record), &*record.flaws),
        ((2, 2), &[Flaw::Transactions { labels: 1 }][..])
    );
    assert_eq!(record.causes[record.seconds[0].causes[0].0 as usize].outcome, Outcome::Status);
}

#[test]
fn transactions_that_failed_by_their_own_assertions_are_counted() {
    let row = |at: u32, ms: u32, label: &str, message: &str, ok: bool, why: &str| {
        format!(
            "17000000{at:05},{ms},{label},200,\"{message}\",g 1-1,,{ok},{why},10,10,1,1,,0,0,0\n"
        )
    };
    let once = |at: u32, request: bool, whole: bool, why: &str| {
        let message = format!("{TRANSACTION}{}", u32::from(!request));
        row(at + 10, 20, "in", "OK", request, "") + &row(at, 50, "Whole", &message, whole, why)
    };
    let why = "The operation lasted too long";
    // A transaction that succeeded, three that failed by their own assertions, one of them without the message, and two
    // with a failed request, one of which also failed by its own assertion.
    let rows = [
        once(100, true, true, ""),
        once(200, true, false, why),
        once(300, true, false, why),
        once(400, true, false, ""),
        once(500, false, false, ""),
        once(600, false, false, why),
    ];
    let record = of(&format!("{HEAD}{}", rows.concat()));
    assert_eq!((counted(&record), &*record.flaws), ((6, 2), &[][..]));
    let second = &record.seconds[0];
    let found = second.transactions(&record.labels);
    assert_eq!((found.count, found.own_failures), (6, 3));
    let label = record.labels.iter().position(|label| label.transaction).expect("a transaction");
    let part = second.labels.get(label as u32).expect("transactions");
    assert_eq!((part.count, part.errors), (6, 5));
}

#[test]
fn transactions_whose_requests_are_not_in_the_file_are_requests() {
    let row = |at: u32, ms: u32, label: &str, message: &str, ok: bool| {
        format!("17000000{at:05},{ms},{label},200,\"{message}\",g 1-1,,{ok},,10,10,1,1,,0,0,0\n")
    };
    let (good, bad) = (format!("{TRANSACTION}0"), format!("{TRANSACTION}1"));
    let bare = row(100, 50, "Buy", &good, true) + &row(200, 50, "Buy", &bad, false);
    let record = of(&format!("{HEAD}{bare}"));
    assert_eq!(counted(&record), (2, 1));
    assert_eq!(record.flaws, [Flaw::Transactions { labels: 1 }]);
    assert!(!record.labels[0].transaction);
    assert_eq!(record.seconds[0].causes, [(0, 1)]);
    // The file also has requests outside of transactions, and a transaction with rows of its requests.
    let rest = row(300, 10, "plain", "OK", true)
        + &row(320, 20, "in", "OK", true)
        + &row(320, 30, "Whole", &bad, false);
    let record = of(&format!("{HEAD}{bare}{rest}"));
    assert_eq!(
        (counted(&record), &*record.flaws),
        ((4, 1), &[Flaw::Transactions { labels: 1 }][..])
    );
    // The rows of all requests are there, before or after the row of their transaction.
    let above = row(100, 50, "Buy", &bad, false) + &row(110, 40, "pay", "OK", false);
    let below = row(200, 40, "pay", "OK", true) + &row(200, 50, "Buy", &good, true);
    let record = of(&format!("{HEAD}{above}{below}"));
    assert_eq!((counted(&record), &*record.flaws), ((2, 1), &[][..]));
    let causes: u64 = record.seconds.iter().flat_map(|s| &s.causes).map(|(_, n)| n).sum();
    assert_eq!(causes, 1, "the request's alone");
}

#[test]
fn rows_of_redirects_are_counted_with_their_request() {
    let row = |at: u32, ms: u32, label: &str| {
        format!("17000000{at:05},{ms},{label},200,OK,g 1-1,text,true,,10,10,1,1,http://a/,0,0,0\n")
    };
    let redirect = row(100, 40, "go") + &row(100, 10, "go-0") + &row(110, 30, "go-1");
    let record = of(&format!("{HEAD}{redirect}{}", row(150, 9, "plain")));
    let labels: Vec<_> = record.labels.iter().map(|l| &*l.name).collect();
    assert_eq!((labels, counted(&record)), (vec!["go", "plain"], (2, 0)));
    // Samplers of the plan with such names follow each other in time, so that they are requests.
    let own = row(100, 40, "go") + &row(140, 10, "go-0") + &row(150, 30, "go-1");
    assert_eq!(counted(&of(&format!("{HEAD}{own}"))), (3, 0));
}

#[test]
fn a_success_that_is_neither_true_nor_false_is_no_row() {
    let rows = |said: [&str; 2]| {
        let row =
            |said: &&str| format!("1700000000100,9,a,200,OK,g 1-1,text,{said},,1,1,1,1,,9,0,0\n");
        format!("{HEAD}{}", said.iter().map(row).collect::<String>())
    };
    for odd in ["0", "1", "Y", "yes", "ok"] {
        let record = of(&rows(["TRUE", odd]));
        let why = Some(record::RowFault::Success);
        assert_eq!(record.flaws, [Flaw::Rows { rows: 1, first_line: 3, why }], "{odd}");
        let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("success.jtl");
        std::fs::write(&file, rows([odd, odd])).expect("a file");
        let error = Record::open(&file, &stats::jtl::Columns::default()).expect_err("no row");
        let said = error.to_string();
        assert!(
            said.contains("no row says true or false in the column success; line 2: "),
            "{said}"
        );
    }
}

/// Returns the counts of checked responses, of those with a failed assertion, and of requests that failed by transport
/// or status.
fn checks(record: &Record) -> [u64; 3] {
    let mut sum = stats::Checks::default();
    for second in &record.seconds {
        sum.merge(&second.checks_of(None, &record.labels));
    }
    [sum.checked, sum.unexpected, sum.failed]
}

#[test]
fn csv_says_which_answers_were_not_as_expected_and_not_how_many_were_checked() {
    // Of the samples of Login, one fails by its assertion and one by a timeout. Search fails by its status.
    assert_eq!(checks(&of(&format!("{HEAD}{ROWS}"))), [0, 1, 2]);
}

#[test]
fn xml_says_which_answers_were_checked() {
    let assertion = |failure: bool, error: bool, message: &str| {
        format!(
            "<assertionResult><name>a</name><failure>{failure}</failure><error>{error}</error>{message}</assertionResult>"
        )
    };
    let sample = |ok: bool, code: &str, inside: &str| {
        format!(
            "<httpSample t=\"5\" ts=\"1700000000100\" s=\"{ok}\" lb=\"a\" rc=\"{code}\" rm=\"x\">{inside}</httpSample>\n"
        )
    };
    let holds = assertion(false, false, "");
    let fails = assertion(true, false, "<failureMessage>no</failureMessage>");
    let text = [
        sample(true, "200", &holds),
        sample(false, "200", &format!("{holds}{fails}")),
        // A failed assertion without a message, as JSON assertions report it.
        sample(false, "200", &assertion(false, true, "")),
        sample(false, "500", &holds),
        sample(false, "Non HTTP response code: java.net.ConnectException", &fails),
        sample(true, "200", ""),
        // The assertion of an embedded resource does not count for the sample.
        sample(true, "200", &sample(true, "200", &holds)),
    ];
    let text = format!(
        "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n{}</testResults>",
        text.concat()
    );
    assert_eq!(checks(&of(&text)), [4, 2, 2]);
}
