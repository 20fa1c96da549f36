//! Recognizes files that are not result files by their first bytes.

/// Binary formats by their first bytes.
const MAGIC: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "a zip archive, for example a spreadsheet (.xlsx)"),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed with zstd: decompress it first, for example `zstdcat FILE | throng report -`",
    ),
    (
        b"\xfd7zXZ\0",
        "compressed with xz: decompress it first, for example `xzcat FILE | throng report -`",
    ),
    (
        b"BZh",
        "compressed with bzip2: decompress it first, for example `bzcat FILE | throng report -`",
    ),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"%PDF", "a PDF"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
];

/// Text formats by their beginnings.
const TEXTS: &[(&str, &str)] = &[
    ("{", "JSON, for example from k6"),
    ("[", "JSON, for example from k6"),
    ("<!doctype html", "an HTML page"),
    ("<html", "an HTML page"),
    (
        "label,# ",
        "a table of JMeter's Summary or Aggregate Report, not samples: save samples with `-l FILE` or in a listener",
    ),
    ("metric_name,timestamp,metric_value", "a CSV file from k6"),
    ("type,name,request count", "Locust statistics"),
    ("timestamp,user count,type,name", "a Locust history"),
    ("run\t", "a Gatling log"),
    ("this is apachebench", "the output of ab"),
    ("summary:", "the output of oha or hey"),
];

/// Returns the kind of a file that is not text; `None` if it may be text.
pub(super) fn packed(head: &[u8]) -> Option<&'static str> {
    let known = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|known| known.1);
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    known.or_else(|| line.contains(&0).then_some("binary data"))
}

/// Returns the kind of a string that is not a result file; `None` if it may be a result file.
pub(super) fn text(head: &[u8]) -> Option<&'static str> {
    let begin = head.trim_ascii_start();
    let begins = |text: &str| {
        begin.get(..text.len()).is_some_and(|b| b.eq_ignore_ascii_case(text.as_bytes()))
    };
    let wrk = || begin.starts_with(b"Running ") && memchr::memmem::find(begin, b"test @").is_some();
    let known = TEXTS.iter().find(|(text, _)| begins(text)).map(|known| known.1);
    known.or_else(|| wrk().then_some("the output of wrk"))
}

/// Returns the kind of an XML document by its root element.
pub(super) fn document(root: &[u8]) -> String {
    match root {
        b"jmeterTestPlan" => "a JMeter test plan: run it with `throng run`".into(),
        b"testsuite" | b"testsuites" => "a JUnit report".into(),
        root => {
            format!("an XML document with the root element <{}>", String::from_utf8_lossy(root))
        }
    }
}
