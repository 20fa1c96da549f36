//! Result files in practice: compressed, from pipes, damaged, with gaps; and files that are refused.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use record::{Flaw, ReadError, Record};
use stats::jtl::Columns;

const HEAD: &str = "timeStamp,elapsed,label,success\n";
const START: i64 = 1_700_000_000_000;

fn rows(n: i64) -> String {
    let row = |i: i64| format!("{},100,a,true\n", START + i * 100);
    HEAD.to_owned() + &(0..n).map(row).collect::<String>()
}

fn of(bytes: &[u8]) -> Record {
    Record::of_rows(bytes).expect("rows")
}

fn count(record: &Record) -> u64 {
    record.seconds.iter().map(|second| second.all.count).sum()
}

fn packed(text: &str) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(text.as_bytes()).expect("memory");
    out.finish().expect("memory")
}

#[test]
fn packed_files_are_read_and_damaged_ones_as_far_as_they_go() {
    let text = rows(2000);
    let bytes = packed(&text);
    let record = of(&bytes);
    assert_eq!((count(&record), record.flaws.len()), (2000, 0));
    let record = of(&bytes[..bytes.len() / 2]);
    assert!((1..2000).contains(&count(&record)), "{}", count(&record));
    assert!(record.flaws.contains(&Flaw::DamagedArchive), "{:?}", record.flaws);
}

#[test]
fn lines_may_end_with_carriage_returns_alone() {
    let record = of(rows(30).replace('\n', "\r").as_bytes());
    assert_eq!((count(&record), record.flaws.len()), (30, 0));
}

#[test]
fn a_file_without_the_column_success_has_unknown_errors() {
    let record = of(b"timeStamp,elapsed,responseCode\n1700000000000,5,500\n");
    assert!(!record.knows_errors());
    assert!(of(rows(2).as_bytes()).knows_errors());
}

#[test]
fn a_gap_of_a_month_costs_a_second_at_most_and_is_no_part_of_the_rate() {
    let later = |ms: i64| {
        let row = |i: i64| format!("{},100,a,true\n", START + ms + i * 100);
        rows(600) + &(0..600).map(row).collect::<String>()
    };
    for ms in [3_600_000, 30 * 86_400_000, 4000 * 86_400_000] {
        let record = of(later(ms).as_bytes());
        assert_eq!(count(&record), 1200);
        assert!(record.seconds.len() < 200, "{}", record.seconds.len());
        assert!((119_000..123_000).contains(&record.frame.length_ms), "{:?}", record.frame);
        let pause = record.flaws.iter().any(|flaw| matches!(flaw, Flaw::Pauses { pauses: 1, .. }));
        assert!(pause, "{:?}", record.flaws);
    }
    // A gap of half a minute belongs to the run, and so does any time in which a sample was in flight.
    let record = of(later(90_000).as_bytes());
    assert_eq!((record.flaws.len(), record.frame.length_ms), (0, 150_000));
    let held = later(3_600_000) + &format!("{},3600000,a,true\n", START + 50_000);
    let record = of(held.as_bytes());
    assert_eq!(record.flaws, []);
    assert!(record.seconds.len() < 300, "{}", record.seconds.len());
    // The last second is at least 100 ms long.
    assert_eq!(record.seconds.iter().map(|second| i64::from(second.ms)).sum::<i64>(), 3_660_100);
}

#[test]
fn rows_at_equal_distances_have_no_pauses() {
    let rows = (0..500).map(|i: i64| format!("{},5,a,true\n", START + i * 3_600_000));
    let record = of((HEAD.to_owned() + &rows.collect::<Vec<_>>().concat()).as_bytes());
    assert_eq!((count(&record), record.flaws.len()), (500, 0));
    assert_eq!(record.frame.length_ms / 3_600_000, 499);
    assert!(record.seconds.len() <= 1000, "{}", record.seconds.len());
}

#[test]
fn a_sample_that_never_started_costs_no_other_row() {
    let text = rows(100).replacen(HEAD, &format!("{HEAD}0,0,a,true\n"), 1);
    let record = of(text.as_bytes());
    assert_eq!(count(&record), 100);
    assert!(matches!(record.flaws[..], [Flaw::Rows { rows: 1, first_line: 2, .. }]));
    // Times that all begin at 0 are accepted.
    let record = of(format!("{HEAD}0,5,a,true\n1000,5,a,true\n").as_bytes());
    assert_eq!((count(&record), record.flaws.len()), (2, 0));
}

#[test]
fn negative_times_are_no_times_and_a_row_of_time_0_does_not_stand_for_them() {
    let text = |times: &[i64]| {
        let rows: Vec<String> = times.iter().map(|at| format!("{at},5,a,true\n")).collect();
        HEAD.to_owned() + &rows.concat()
    };
    let record = of(text(&[-2000, -1000, 0]).as_bytes());
    assert_eq!(count(&record), 0);
    assert!(matches!(record.flaws[..], [Flaw::Rows { rows: 3, first_line: 2, .. }]), "{record:?}");
    let record = of(text(&[-1000, 0, 1000]).as_bytes());
    assert_eq!(count(&record), 2);
    assert!(matches!(record.flaws[..], [Flaw::Rows { rows: 1, first_line: 2, .. }]));
}

#[test]
fn time_stamps_have_the_format_of_the_property() {
    let columns = |format: &'static str| {
        let set = move |key: &str| key.ends_with("timestamp_format").then(|| format.to_owned());
        Columns::from_properties(set).expect("columns")
    };
    let rows = (0..50).map(|i| format!("03.01.2026 04:05:{i:02},100,a,true\n"));
    let text = HEAD.to_owned() + &rows.collect::<Vec<_>>().concat();
    let record =
        Record::of_rows_with(text.as_bytes(), &columns("dd.MM.yyyy HH:mm:ss")).expect("rows");
    // One sample per second: the time stamps have no finer resolution.
    assert_eq!((count(&record), record.frame.length_ms), (50, 50_000));
    assert_eq!(count(&of(text.as_bytes())), 0);
}

#[test]
fn a_row_has_a_bound_and_the_error_names_its_line() {
    let long = rows(3) + &",".repeat(17 << 20);
    let error = Record::of_rows(long.as_bytes()).expect_err("a long row").to_string();
    assert!(error.starts_with("line 5: "), "{error}");
    // An open quote loses only its own row.
    let text = rows(3) + &format!("{START},100,\"a\n") + &rows(300_000);
    let record = of(text.as_bytes());
    assert_eq!(count(&record), 300_003);
    assert!(matches!(record.flaws[..], [Flaw::Rows { rows: 1, first_line: 5, .. }]));
}

#[test]
fn what_is_no_file_is_refused_by_name_and_a_pipe_is_read() {
    let refused = |path: &str| {
        let error = Record::open(Path::new(path), &Columns::default()).expect_err("refused");
        error.to_string()
    };
    assert!(refused("/dev/zero").contains("it is a device"), "{}", refused("/dev/zero"));
    let folder = std::env::temp_dir().join(format!("throng-pipe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    assert!(matches!(Record::open(&folder, &Columns::default()), Err(ReadError::NoRun(_))));
    let pipe = folder.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let to = pipe.clone();
    let writer = std::thread::spawn(move || std::fs::write(to, rows(1200)));
    let record = Record::open(&pipe, &Columns::default()).expect("rows");
    writer.join().expect("a thread").expect("written");
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(count(&record), 1200);
}

#[test]
fn time_stamps_in_microseconds_and_nanoseconds_are_read_as_such() {
    for zeros in ["", "000", "000000"] {
        let text = format!(
            "timeStamp,elapsed,label,success\n1700000000123{zeros},5,a,true\n1700000001123{zeros},5,a,true\n"
        );
        let record = Record::of_rows(text.as_bytes()).expect("rows");
        assert_eq!((record.frame.start_ms, record.frame.length_ms), (1_700_000_000_123, 1005));
    }
}

#[test]
fn an_empty_field_success_is_none_that_says_what_failed() {
    let text = "timeStamp,elapsed,label,success\n1700000000123,5,a,\n1700000001123,5,a,\n";
    let record = Record::of_rows(text.as_bytes()).expect("rows");
    assert!(!record.knows_errors());
    let errors =
        |record: &Record| record.seconds.iter().map(|second| second.all.errors).sum::<u64>();
    assert_eq!(errors(&record), 0);
    // A row that was cut at this field is a failure, as in JMeter. It does not affect the other rows.
    let cut = Record::of_rows(text.replacen(",\n", ",true\n", 1).as_bytes()).expect("rows");
    assert_eq!((cut.knows_errors(), errors(&cut)), (true, 1));
}

#[test]
fn tables_and_files_of_spreadsheets_are_refused_by_name() {
    let path = std::env::temp_dir().join(format!("throng-rows-{}", std::process::id()));
    let old = "<?xml version=\"1.0\"?>\n<testResults>\n<sampleResult label=\"a\" timeStamp=\"1700000000000\" time=\"88\" success=\"true\"/>\n</testResults>\n";
    for (text, words) in [
        (
            "Label,# Samples,Average,Min,Max\nHome,2,1,1,1\n",
            "a table of JMeter's Summary or Aggregate Report",
        ),
        (&*format!("{HEAD}1.7644E+12,88,a,true\n"), "a spreadsheet saved the file"),
        (
            &*format!("{}1,7644E+12;88;a;true\n", HEAD.replace(',', ";")),
            "a spreadsheet saved the file",
        ),
        (&*format!("{HEAD}29.11.2025,88,a,true\n"), "set its format with"),
        (old, "elements httpSample and sample"),
        (HEAD, "no sample had ended"),
        (&*format!("{HEAD}1700000000000,88,a,1\n"), "neither true nor false"),
    ] {
        std::fs::write(&path, text).expect("a file");
        let refused = Record::open(&path, &Columns::default()).expect_err(text).to_string();
        assert!(refused.contains(words), "{words}: {refused}");
    }
    std::fs::remove_file(&path).expect("removed");
}

#[test]
fn times_that_no_clock_shows_are_no_rows() {
    const MICRO: i64 = 1000;
    let with = |time: i64, elapsed: i64| rows(30) + &format!("{time},{elapsed},b,true\n") + "x";
    let odd = [
        (i64::MAX, 5),
        (i64::MIN, 5),
        (i64::MAX - 10, 5),
        (-1, 5),
        (START * MICRO * MICRO * 5, 5),
        (START, i64::MAX),
        (START, i64::from(i32::MAX)),
        (START, -5),
    ];
    for (time, elapsed) in odd {
        let record = of(with(time, elapsed).as_bytes());
        assert_eq!((count(&record), record.frame.length_ms), (30, 3000), "{time} {elapsed}");
        assert!(record.flaws.iter().any(|flaw| matches!(flaw, Flaw::Rows { rows: 1, .. })));
        // A file in which all rows have such an impossible time or duration has no valid row.
        let row = |at: i64| format!("{},{elapsed},b,true\n", time.saturating_sub(at));
        let all = HEAD.to_owned() + &(0..50).map(row).collect::<String>();
        if time.checked_add(elapsed).is_none_or(|end| !(0..9 * START).contains(&end)) {
            assert_eq!(count(&of(all.as_bytes())), 0, "{time} {elapsed}");
        }
    }
    // A clock that started at 0 with the test is valid.
    let row = |i: i64| format!("{},100,a,true\n", i * 100);
    let early = (0..30).map(row).collect::<String>();
    let record = of((HEAD.to_owned() + &early).as_bytes());
    assert_eq!((count(&record), record.frame.length_ms), (30, 3000));
}
