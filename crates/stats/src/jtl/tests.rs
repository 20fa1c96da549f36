//! The expected rows were printed by JMeter 5.6.3's own CSVSaveService for the same samples.
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::read::{ReadError, Table};
use super::stream::{Column, Fields, LONGEST_MS, Left, Why, each};
use super::*;

fn header(columns: &Columns, variables: &[&str]) -> String {
    let mut out = Vec::new();
    columns.header(variables, &mut out);
    String::from_utf8(out).unwrap()
}

fn line(columns: &Columns, row: &Row) -> String {
    let mut out = Vec::new();
    columns.row(row, &mut out);
    String::from_utf8(out).unwrap()
}

fn properties(set: &'static [(&'static str, &'static str)]) -> Columns {
    let get = |key: &str| {
        let name = key.strip_prefix("jmeter.save.saveservice.")?;
        set.iter().find(|p| p.0 == name).map(|p| p.1.to_owned())
    };
    Columns::from_properties(get).unwrap()
}

const SAMPLE: Row = Row {
    timestamp_ms: 1_700_000_000_123,
    elapsed_ms: 77,
    label: "a,b\"c\"\r\nd",
    code: "200",
    message: "it's; fine",
    thread_name: "Thread Group 1-1",
    data_type: "text",
    success: true,
    failure_message: Some("multi\nline"),
    bytes: 5,
    sent_bytes: 6,
    grp_threads: 2,
    all_threads: 3,
    url: Some("http://h/p?q=1,2"),
    filename: "f",
    latency_ms: 40,
    encoding: "utf-8",
    sample_count: 1,
    error_count: 0,
    hostname: "vm",
    idle_ms: 3,
    connect_ms: 7,
    variables: &[],
};

const ALL_ON: [(&str, &str); 21] = [
    ("timestamp", "true"),
    ("time", "true"),
    ("label", "true"),
    ("code", "true"),
    ("message", "true"),
    ("threadName", "true"),
    ("dataType", "true"),
    ("success", "true"),
    ("saveAssertionResultsFailureMessage", "true"),
    ("bytes", "true"),
    ("sentBytes", "true"),
    ("threadCounts", "true"),
    ("url", "true"),
    ("fileName", "true"),
    ("latency", "true"),
    ("encoding", "true"),
    ("sampleCount", "true"),
    ("hostname", "true"),
    ("idleTime", "true"),
    ("connectTime", "true"),
    ("assertionsResultsToSave", "0"),
];

#[test]
fn default_and_full_headings() {
    let columns = Columns::default();
    assert_eq!(
        header(&columns, &[]),
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
         failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
    );
    assert_eq!(
        header(&columns.with_save_config(ALL_ON), &["x", "y"]),
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
         failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Filename,Latency,Encoding,\
         SampleCount,ErrorCount,Hostname,IdleTime,Connect,\"x\",\"y\"\n"
    );
}

#[test]
fn rows_are_jmeters_byte_for_byte() {
    let columns = Columns::default();
    assert_eq!(
        line(&columns, &SAMPLE),
        "1700000000123,77,\"a,b\"\"c\"\"\r\nd\",200,it's; fine,Thread Group 1-1,text,true,\
         \"multi\nline\",5,6,2,3,\"http://h/p?q=1,2\",40,3,7\n"
    );
    let nothing = Row { timestamp_ms: 1_700_000_000_123, elapsed_ms: 77, ..Row::default() };
    assert_eq!(line(&columns, &nothing), "1700000000123,77,,,,,,false,,0,0,0,0,null,0,0,0\n");
    let all = properties(&[("default_delimiter", ";")]).with_save_config(ALL_ON);
    assert_eq!(
        line(&all, &SAMPLE),
        "1700000000123;77;\"a,b\"\"c\"\"\r\nd\";200;\"it's; fine\";Thread Group 1-1;text;true;\
         \"multi\nline\";5;6;2;3;http://h/p?q=1,2;f;40;utf-8;1;0;vm;3;7\n"
    );
}

#[test]
fn variables_stand_last_and_undefined_ones_are_null() {
    let columns = Columns::default();
    let row = Row { variables: &[Some("a,b"), None, Some("")], ..SAMPLE };
    assert!(line(&columns, &row).ends_with(",3,7,\"a,b\",null,\n"));
}

#[test]
fn properties_turn_columns_on_and_off() {
    let columns = properties(&[
        ("time", "FALSE"),
        ("thread_counts", "no"),
        ("sample_count", "TRUE"),
        ("hostname", "true"),
        ("url", "false"),
        ("assertion_results", "first"),
        ("output_format", "xml"),
        ("default_delimiter", "\\t"),
        ("timestamp_format", "none"),
    ]);
    assert_eq!(
        header(&columns, &["v"]),
        "label\tresponseCode\tresponseMessage\tthreadName\tdataType\tsuccess\tfailureMessage\t\
         bytes\tsentBytes\tLatency\tSampleCount\tErrorCount\tHostname\tIdleTime\tConnect\t\"v\"\n"
    );
    assert_eq!(columns.assertion_results, Assertions::First);
    assert!(columns.xml);
    // A listener that enables timestamps gets only the heading: the format is still taken from the properties.
    let listener = columns.with_save_config([("timestamp", "true"), ("label", "true")]);
    assert_eq!(header(&listener, &[]), "timeStamp\tlabel\n");
    assert_eq!(line(&listener, &Row { label: "x", ..SAMPLE }), "x\n");
}

#[test]
fn all_properties_are_known_by_name() {
    assert_eq!(Columns::PROPERTIES.len(), 32);
    assert!(Columns::PROPERTIES.contains(&"jmeter.save.saveservice.response_data.on_error"));
}

#[test]
fn delimiters_jmeter_refuses_are_refused() {
    for text in ["a", "7", "\"", "", "::", "\u{e9}", "\u{7}"] {
        let get = |key: &str| key.ends_with("default_delimiter").then(|| text.to_owned());
        let error = Columns::from_properties(get).unwrap_err();
        assert_eq!(error, DelimiterError(text.to_owned()));
    }
}

#[test]
fn time_stamps_by_pattern() {
    let expected = [
        ("yyyy/MM/dd HH:mm:ss.SSS", "UTC", 1_704_067_199_999, "2023/12/31 23:59:59.999"),
        (
            "yyyy/MM/dd HH:mm:ss.SSS",
            "America/New_York",
            1_709_251_200_000,
            "2024/02/29 19:00:00.000",
        ),
        ("yy-M-d h:m:s a", "UTC", 1_709_251_200_000, "24-3-1 12:0:0 AM"),
        (
            "EEE, d MMM yyyy HH:mm:ss Z",
            "Asia/Kolkata",
            1_700_000_000_123,
            "Wed, 15 Nov 2023 03:43:20 +0530",
        ),
        ("EEEE 'the' d''''. MMMM y", "UTC", 1_700_000_000_123, "Tuesday the 14''. November 2023"),
        ("D k K S XXX X z", "UTC", 1_709_251_200_000, "61 24 0 0 Z Z UTC"),
        ("D k K S XXX X z", "America/New_York", 1_700_000_000_123, "318 17 5 123 -05:00 -05 EST"),
        (
            "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            "Asia/Kolkata",
            1_704_067_199_999,
            "2024-01-01T05:29:59.999+05:30",
        ),
        ("w W F u G E L ZZ", "America/New_York", 1_700_000_000_123, "46 3 2 2 AD Tue 11 -05:00"),
        ("w W F u G E L ZZ", "America/New_York", 1_704_067_199_999, "1 6 5 7 AD Sun 12 -05:00"),
        ("w W F u G E L ZZ", "America/New_York", 1_709_251_200_000, "9 5 5 4 AD Thu 2 -05:00"),
        ("w W F u G E L ZZ", "Asia/Kolkata", 1_704_067_199_999, "1 1 1 1 AD Mon 1 +05:30"),
    ];
    for (pattern, zone, at, text) in expected {
        let zone = TimeZone::get(zone).unwrap();
        assert_eq!(Pattern::in_zone(pattern, zone).unwrap().format(at), text, "{pattern}");
    }
    assert!(Pattern::new("yyyy 'open").is_none());
    assert!(Pattern::new("yyyy jj").is_none());
}

#[test]
fn reads_what_jmeter_wrote_with_another_delimiter_and_variables() {
    let text = "timeStamp;elapsed;label;\"x\"\n5;6;\"a;\"\"b\"\"\nc\";v\n7;8;l;\n";
    let table = Table::read(text.as_bytes(), &Columns::default()).unwrap();
    assert_eq!(table.columns, ["timeStamp", "elapsed", "label", "x"]);
    assert_eq!(table.values("label").collect::<Vec<_>>(), ["a;\"b\"\nc", "l"]);
    assert_eq!(table.values("x").collect::<Vec<_>>(), ["v", ""]);
    assert_eq!(table.values("URL").count(), 0);
}

#[test]
fn without_heading_the_expected_columns_apply() {
    let text = line(&Columns::default(), &SAMPLE);
    let table = Table::read(text.as_bytes(), &Columns::default()).unwrap();
    assert_eq!(table.values("Connect").collect::<Vec<_>>(), ["7"]);
}

#[test]
fn columns_have_any_order_and_further_ones_stand_between() {
    let text = "elapsed,mine,timeStamp\n1,x,2\n";
    let table = Table::read(text.as_bytes(), &Columns::default()).unwrap();
    assert_eq!(table.columns, ["elapsed", "mine", "timeStamp"]);
    assert_eq!(table.rows, [["1", "x", "2"]]);
}

#[test]
fn a_cut_last_line_is_dropped_but_a_short_line_inside_is_an_error() {
    for cut in ["3,4", "3", "3,4,\"b\nc"] {
        let text = format!("timeStamp,elapsed,label\n1,2,a\n{cut}");
        let table = Table::read(text.as_bytes(), &Columns::default()).unwrap();
        assert_eq!(table.rows, [["1", "2", "a"]]);
    }
    let text = "timeStamp,elapsed,label\n1,2,a\n3,4,b";
    let table = Table::read(text.as_bytes(), &Columns::default()).unwrap();
    assert_eq!(table.rows, [["1", "2", "a"], ["3", "4", "b"]]);
    let text = "timeStamp,elapsed,label\n1,2\n3,4,b\n";
    let error = Table::read(text.as_bytes(), &Columns::default()).unwrap_err();
    assert!(matches!(error, ReadError::Shape(2, _)), "{error}");
}

#[test]
fn a_document_is_read_as_far_as_it_goes() {
    let columns = Columns { xml: true, ..Columns::default() };
    let mut text = Vec::new();
    columns.document_start(&mut text);
    for label in ["a <&> \"b\"\n", "c"] {
        let mut printer = Printer::new(&mut text);
        let row = Row { label, ..SAMPLE };
        columns.begin(&mut printer, &row, &Detail::default(), &[""; 0]);
        printer.start("responseData");
        printer.text("<sample lb=\"x\"/>\n");
        printer.end("responseData");
        printer.end("sample");
        printer.end_line();
    }
    let whole = text.len();
    text.extend_from_slice(b"<sample t=\"1\" lb=\"torn\"");
    for text in [&text[..], &[&text[..whole], END].concat()] {
        let table = Table::read(text, &Columns::default()).unwrap();
        assert_eq!(table.values("label").collect::<Vec<_>>(), ["a <&> \"b\"\n", "c"]);
        assert_eq!(table.values("Connect").collect::<Vec<_>>(), ["7"; 2]);
    }
}

/// Returns the labels of the readable rows as one string, and the counts of skipped rows.
fn labels(text: &str) -> (String, Left) {
    let mut labels = String::new();
    let read = |fields: &Fields<'_>| {
        let elapsed = fields.number(Column::Elapsed).filter(|ms| (0..LONGEST_MS).contains(ms));
        let is_read = fields.time_ms().is_some() && elapsed.is_some();
        labels.extend(fields.get(Column::Label).filter(|_| is_read));
        is_read
    };
    let left = each(text.as_bytes(), &Columns::default(), read).expect("a result file");
    (labels, left)
}

#[test]
fn rows_that_another_delimiter_divides_are_read_or_counted() {
    let head = "timeStamp,elapsed,label,Latency\n";
    let other = head.replace(',', ";");
    for (text, read, odd) in [
        (format!("{head}1,2,a,3\n1;2;b;3\n1;2;\"c;\";3\n1,2,d,3\n"), "abc;d", 0),
        (format!("{head}1,2,a,3\n{other}1;2;b;3\n"), "ab", 0),
        (format!("{head}1,2,a,3\nlabel;timeStamp;elapsed\nb;1;2\n"), "ab", 0),
        (format!("{head}1,2,a,3\n1;2;b\n1,2,c,3\n"), "ac", 1),
        (format!("{head}\"1;2;b;3\"\n1,2,c,3\n"), "c", 1),
        (format!("{head}\"1;2;b;3,,,\"\n1,2,c,3\n"), "c", 1),
        (format!("{head}x;y;z;v\n1,2,c,3\n"), "c", 1),
    ] {
        let (labels, left) = labels(&text);
        assert_eq!((&*labels, left.odd), (read, odd), "{text}: {left:?}");
    }
}

#[test]
fn rows_behind_a_document_are_counted() {
    let document = "<testResults>\n<sample t=\"1\" ts=\"1\" lb=\"a\"/>\n</testResults>\n";
    let (read, left) = labels(&format!("{document}\n1,2,b\n1,2,c"));
    assert_eq!((&*read, left.odd, left.first_line, left.why), ("a", 2, 5, Some(Why::Stray)));
    let (read, left) = labels(&document.repeat(2));
    assert_eq!((&*read, left.odd), ("aa", 0));
}

#[test]
fn the_reason_names_the_figure_that_cannot_be_read() {
    for (row, why) in [
        ("1,-2,a", Why::Negative),
        ("1,soon,a", Why::Elapsed),
        ("soon,1,a", Why::Value),
        ("9223372036854775800,1,a", Why::Beyond),
        ("1,9223372036854775807,a", Why::TooLong),
        ("1,2", Why::Fields(2, 3)),
        ("1,2147483648,a", Why::TooLong),
        ("1,1000000000000,a", Why::TooLong),
        ("1,99999999999999999999,a", Why::TooLong),
    ] {
        let (_, left) = labels(&format!("timeStamp,elapsed,label\n1,2,a\n{row}\n1,2,a\n"));
        assert_eq!((left.odd, left.first_line, left.why), (1, 3, Some(why)), "{row}");
    }
}

const HEADING: &str =
    "timeStamp,elapsed,label,responseCode,threadName,success,bytes,URL,Latency,IdleTime,Connect";

#[test]
fn rows_with_other_variables_than_the_heading_are_read() {
    let row = "1700000000000,12,a,200,T 1-1,true,10,http://h/,5,0,1";
    for (heading, rows, read) in [
        (HEADING.to_owned(), format!("{row}\n{row},x,y\n{row},1700000000000,\n"), "aaa"),
        (format!("{HEADING},\"x\",\"y\""), format!("{row},1,2\n{row}\n"), "aa"),
        // Files without a heading: the first row determines the number of variables.
        ("timeStamp,elapsed,success".to_owned(), "1,2,true\n1,2,true,v\n".to_owned(), ""),
    ] {
        let (labels, left) = labels(&format!("{heading}\n{rows}"));
        assert_eq!((&*labels, left.odd, left.torn), (read, 0, 0), "{rows}: {left:?}");
    }
}

#[test]
fn rows_that_are_torn_or_divided_otherwise_are_no_rows_with_variables() {
    let row = "1700000000000,12,a,200,T 1-1,true,10,http://h/,5,0,1";
    // A row that a kill cut off at any position, followed directly by the next row.
    for cut in "1700000000000,".len()..=row.len() {
        let (read, left) = labels(&format!("{HEADING}\n{row}\n{}{row}\n{row}\n", &row[..cut]));
        assert_eq!((&*read, left.odd), ("aa", 1), "{}", &row[..cut]);
    }
    // A row with strings and variables in its last columns, also cut off at any position.
    let row = "1700000000000,12,true,a,http://h/,1,2";
    for cut in "1700000000000,".len()..=row.len() {
        let text =
            format!("timeStamp,elapsed,success,label,URL,x,y\n{row}\n{}{row}\n", &row[..cut]);
        let (read, left) = labels(&text);
        assert_eq!((&*read, left.odd), ("a", 1), "{}", &row[..cut]);
    }
    let row = "1700000000000,12,a,200,T 1-1,true,10,http://h/,5,0,1";
    // Rows that must not be taken for a torn row: a delimiter in an unquoted label, and other errors.
    for odd in [
        "1700000000000,12,a,b,200,T 1-1,true,10,http://h/,5,0,1",
        "1700000000000,12,a,200,T 1-1,maybe,10,http://h/,5,0,1,x",
        "soon,12,a,200,T 1-1,true,10,http://h/,5,0,1,x",
        "1700000000000,,a,200,T 1-1,true,10,http://h/,5,0,1,x",
    ] {
        let (read, left) = labels(&format!("{HEADING}\n{row}\n{odd}\n"));
        assert_eq!((&*read, left.odd, left.torn), ("a", 1, 0), "{odd}");
    }
}

#[test]
fn rows_of_another_form_behind_a_torn_one_are_no_torn_end() {
    let row = "1700000000000,12,a,200,T 1-1,true,10,http://h/,5,0,1";
    let torn = "1700000000000,12,\"a";
    let (read, left) = labels(&format!("{HEADING}\n{row}\n{torn}\n"));
    assert_eq!((&*read, left.odd, left.torn > 0), ("a", 0, true), "{left:?}");
    let other = "1700000000000,12,a,b,200,T 1-1,true,10\n".repeat(3);
    let (read, left) = labels(&format!("{HEADING}\n{row}\n{torn}\n{other}"));
    assert_eq!((&*read, left.odd, left.torn), ("a", 4, 0), "{left:?}");
}

#[test]
fn zeroes_count_as_the_rows_that_they_replace() {
    let row = "1700000000000,12,a,200,T 1-1,true,10,http://h/,5,0,1\n";
    let text = |zeroes: usize| format!("{HEADING}\n{}{}{row}", row.repeat(90), "\0".repeat(zeroes));
    for (zeroes, odd) in [(1, 1), (30, 1), (10 * row.len(), 10), (100 * row.len(), 100)] {
        let (read, left) = labels(&text(zeroes));
        assert_eq!((read.len(), left.why), (90, Some(Why::Damaged)), "{zeroes}");
        assert!(left.odd.abs_diff(odd) <= odd / 20 + 1, "{zeroes}: {left:?}");
    }
}

#[test]
fn figures_of_perfmon_are_refused_by_name() {
    let heading = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success";
    for label in ["localhost CPU", "10.0.0.7 Disks I/O queue", "db Memory used"] {
        let (read, left) = labels(&format!("{heading}\n1,2,{label},,,,true\n"));
        assert_eq!((&*read, left.odd, left.why), ("", 1, Some(Why::PerfMon)), "{label}");
    }
    for row in
        ["1,2,a CPU,200,,,true", "1,2,a CPU,,,T 1-1,true", "1,2,CPU,,,,true", "1,2,a CPUs,,,,true"]
    {
        let (_, left) = labels(&format!("{heading}\n{row}\n"));
        assert_eq!(left.odd, 0, "{row}");
    }
}

#[test]
fn the_reason_says_what_the_format_of_the_time_stamps_is() {
    let why = |format: &'static str| {
        let columns = Columns::from_properties(|key| {
            (key == "jmeter.save.saveservice.timestamp_format").then(|| format.to_owned())
        });
        let text = "timeStamp,elapsed,label\nsoon,1,a\n";
        let read = |fields: &Fields<'_>| fields.time_ms().is_some();
        each(text.as_bytes(), &columns.unwrap(), read).unwrap().why
    };
    assert_eq!(why("ms"), Some(Why::Value));
    assert_eq!(why("yyyy-MM-dd"), Some(Why::OtherFormat));
    assert_eq!(why("yyyy-MM-dd b"), Some(Why::UnreadFormat));
}

#[test]
fn a_heading_that_is_unlike_appended_rows_is_told() {
    let file = std::env::temp_dir().join(format!("throng-heading-{}.jtl", std::process::id()));
    let told = |text: &str, variables: &[&str]| {
        std::fs::write(&file, text).unwrap();
        super::unlike_rows(&file, &Columns::default(), variables)
    };
    let mut heading = Vec::new();
    Columns::default().header(&["a"], &mut heading);
    let heading = String::from_utf8(heading).unwrap();
    assert_eq!(told(&heading, &["a"]), None);
    assert_eq!(told("", &["a"]), None);
    assert_eq!(told("1,2,a,200\n", &["a"]), None);
    let words = "the heading of the file has other columns: the rows of this run ";
    assert_eq!(told(&heading, &["a", "b"]), Some(format!("{words}also have b")));
    assert_eq!(told(&heading, &[]), Some(format!("{words}do not have a")));
    assert_eq!(told(&heading, &["b"]), Some(format!("{words}have b, but not a")));
    let other = told(&heading.replace(',', ";"), &["a"]);
    assert!(other.is_some_and(|words| words.contains("has the delimiter ';'")));
    std::fs::remove_file(&file).unwrap();
}

proptest! {
    #[test]
    fn arbitrary_text_survives_writing_and_reading(
        texts in prop::collection::vec("(?s)[a,;\"\r\n\t é]{0,12}|.{0,20}", 7),
        delimiter in prop::sample::select(vec![b',', b';', b'\t', b'|']),
    ) {
        let columns = Columns { delimiter, ..Columns::default() };
        let variables = [Some(texts[5].as_str()), Some(texts[6].as_str())];
        let row = Row {
            label: &texts[0],
            code: &texts[1],
            message: &texts[2],
            failure_message: Some(&texts[3]),
            url: Some(&texts[4]),
            variables: &variables,
            ..SAMPLE
        };
        let mut out = Vec::new();
        columns.header(&["v1", "v2"], &mut out);
        columns.row(&row, &mut out);
        columns.row(&Row { variables: &[None; 2], ..SAMPLE }, &mut out);
        let table = Table::read(&out[..], &Columns::default()).unwrap_or_else(|e| panic!("{e}"));
        prop_assert_eq!(table.rows.len(), 2);
        let names = ["label", "responseCode", "responseMessage", "failureMessage", "URL", "v1", "v2"];
        for (name, text) in names.iter().zip(&texts) {
            prop_assert_eq!(table.values(name).next(), Some(text.as_str()));
        }
    }
}

fn element(columns: &Columns, row: &Row, detail: &Detail) -> String {
    let mut out = Vec::new();
    let mut printer = Printer::new(&mut out);
    columns.begin(&mut printer, row, detail, &["v_1", "w$x y", "ok"]);
    columns.finish(&mut printer, row, detail);
    printer.end_line();
    String::from_utf8(out).unwrap()
}

/// The expected text is what JMeter 5.6.3 writes for the same samples (`tests/parity/cases/jtl_xml*`).
#[test]
fn elements_close_themselves_and_escape_as_xstream_does() {
    let columns = properties(&[
        ("time", "false"),
        ("latency", "false"),
        ("idle_time", "false"),
        ("connect_time", "false"),
        ("thread_counts", "false"),
        ("timestamp_format", "none"),
    ]);
    let row = Row {
        label: "a & \"b\" <c> 'd'\te\nf\r \u{1}\u{85}\u{fffe}\u{378} é 中 😀",
        url: None,
        variables: &[Some("1"), None, Some("<")],
        ..SAMPLE
    };
    assert_eq!(
        element(&columns, &row, &Detail::default()),
        "<sample s=\"true\" lb=\"a &amp; &quot;b&quot; &lt;c&gt; &apos;d&apos;&#x9;e&#xa;f&#xd; &#x1;&#x85;&#xfffe;&#x378; é 中 😀\" \
         rc=\"200\" rm=\"it&apos;s; fine\" tn=\"Thread Group 1-1\" dt=\"text\" by=\"5\" sby=\"6\" v__1=\"1\" w_-x_.0020y=\"\" ok=\"&lt;\"/>\n"
    );
}

#[test]
fn http_elements_hold_what_was_sent_and_received() {
    let mut columns = Columns::default().with_save_config([
        ("samplerData", "true"),
        ("responseData", "true"),
        ("requestHeaders", "true"),
        ("fileName", "true"),
        ("url", "true"),
        ("encoding", "true"),
    ]);
    let http =
        Http { cookies: "c", method: Some("GET"), query_string: "", redirect_location: None };
    let detail = Detail { http: Some(http), response: "a\tb\n]]>", ..Detail::default() };
    let text =
        |name: &str, text: &str| format!("  <{name} class=\"java.lang.String\">{text}</{name}>\n");
    let expected = [
        "<httpSample de=\"\" v__1=\"x\">\n".to_owned(),
        text("requestHeader", ""),
        text("responseData", "a\tb\n]]&gt;"),
        text("responseFile", "f"),
        text("cookies", "c"),
        text("method", "GET"),
        text("queryString", ""),
        "  <null/>\n</httpSample>\n".to_owned(),
    ];
    let row = Row { url: None, variables: &[Some("x")], ..SAMPLE };
    assert_eq!(element(&columns, &row, &detail), expected.concat());
    columns = Columns::default().with_save_config([("responseDataOnError", "true")]);
    let failed = Row { success: false, data_type: "bin", variables: &[], ..SAMPLE };
    let detail = Detail { sampler_data: Some("d"), ..detail };
    let detail = Detail { http: None, ..detail };
    assert_eq!(element(&columns, &Row { success: true, ..failed }, &detail), "<sample/>\n");
    let words = "Non-TEXT response data, cannot record: (bin)";
    let expected =
        format!("<sample>\n{}{}</sample>\n", text("responseData", words), text("samplerData", "d"));
    assert_eq!(element(&columns, &failed, &detail), expected);
}
