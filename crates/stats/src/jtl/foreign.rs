//! Recognizes files that are not result files by their first bytes.

/// Binary formats by their first bytes.
const MAGIC: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "a zip archive, as spreadsheets (.xlsx) are"),
    (
        b"\x28\xb5\x2f\xfd",
        "packed with zstd: unpack it first, as in `zstdcat FILE | throng report -`",
    ),
    (b"\xfd7zXZ\0", "packed with xz: unpack it first, as in `xzcat FILE | throng report -`"),
    (b"BZh", "packed with bzip2: unpack it first, as in `bzcat FILE | throng report -`"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"%PDF", "a PDF"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a database of SQLite"),
    (b"PAR1", "a Parquet file"),
];

/// Text formats by their beginnings.
const TEXTS: &[(&str, &str)] = &[
    ("{", "JSON, as k6 and others write it"),
    ("[", "JSON, as k6 and others write it"),
    ("<!doctype html", "an HTML page"),
    ("<html", "an HTML page"),
    (
        "label,# ",
        "a table of JMeter's Summary or Aggregate Report, not samples: save these with `-l FILE`, or in a listener",
    ),
    ("metric_name,timestamp,metric_value", "a CSV file of k6"),
    ("type,name,request count", "the statistics of Locust"),
    ("timestamp,user count,type,name", "the history of Locust"),
    ("run\t", "a log of Gatling"),
    ("this is apachebench", "the output of ab"),
    ("summary:", "the output of oha or hey"),
];

/// Returns the kind of a file that is not text; `None` if it may be text.
pub(super) fn packed(head: &[u8]) -> Option<&'static str> {
    let known = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|known| known.1);
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    known.or_else(|| line.contains(&0).then_some("binary data"))
}

/// Returns the kind of a text that is not a result file; `None` if it may be a result file.
pub(super) fn text(head: &[u8]) -> Option<&'static str> {
    let begin = head.trim_ascii_start();
    let begins = |text: &str| {
        begin.get(..text.len()).is_some_and(|b| b.eq_ignore_ascii_case(text.as_bytes()))
    };
    let wrk = || begin.starts_with(b"Running ") && memchr::memmem::find(begin, b"test @").is_some();
    let known = TEXTS.iter().find(|(text, _)| begins(text)).map(|known| known.1);
    known.or_else(|| wrk().then_some("the output of wrk"))
}

/// Returns the kind of an XML document for its root element.
pub(super) fn document(root: &[u8]) -> String {
    match root {
        b"jmeterTestPlan" => "a test plan of JMeter: `throng run` runs it".into(),
        b"testsuite" | b"testsuites" => "a report of tests in JUnit's form".into(),
        root => format!("an XML document of <{}>", String::from_utf8_lossy(root)),
    }
}
