//! One line of a CSV result file.
//!
//! Order of columns, quoting and the literal `null` are those of JMeter's CSVSaveService. A field is quoted only if it
//! contains the delimiter, a quote, CR or LF; inner quotes are doubled. Only the growth of the buffer allocates.
use super::columns::{Columns, TimestampFormat};

/// All fields that a row can have. `Columns` determines which of them are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    pub timestamp_ms: i64,
    pub elapsed_ms: u64,
    pub label: &'a str,
    pub code: &'a str,
    pub message: &'a str,
    pub thread_name: &'a str,
    /// Kind of the response: `text`, `bin` or empty.
    pub data_type: &'a str,
    pub success: bool,
    /// Message of the first failed assertion.
    pub failure_message: Option<&'a str>,
    pub bytes: u64,
    pub sent_bytes: u64,
    pub grp_threads: u32,
    pub all_threads: u32,
    /// URL of the sample. `None` is written as `null`.
    pub url: Option<&'a str>,
    pub filename: &'a str,
    pub latency_ms: u64,
    pub encoding: &'a str,
    pub sample_count: u32,
    pub error_count: u32,
    pub hostname: &'a str,
    pub idle_ms: i64,
    pub connect_ms: u64,
    /// Values of `sample_variables`; an undefined variable is written as `null`.
    pub variables: &'a [Option<&'a str>],
}

impl Columns {
    /// Writes the heading line with its line end. `variables` are the names of `sample_variables`.
    pub fn header(&self, variables: &[&str], out: &mut Vec<u8>) {
        let start = out.len();
        let columns = [
            (self.timestamp, "timeStamp"),
            (self.elapsed, "elapsed"),
            (self.label, "label"),
            (self.code, "responseCode"),
            (self.message, "responseMessage"),
            (self.thread_name, "threadName"),
            (self.data_type, "dataType"),
            (self.success, "success"),
            (self.failure_message, "failureMessage"),
            (self.bytes, "bytes"),
            (self.sent_bytes, "sentBytes"),
            (self.thread_counts, "grpThreads"),
            (self.thread_counts, "allThreads"),
            (self.url, "URL"),
            (self.filename, "Filename"),
            (self.latency, "Latency"),
            (self.encoding, "Encoding"),
            (self.sample_count, "SampleCount"),
            (self.sample_count, "ErrorCount"),
            (self.hostname, "Hostname"),
            (self.idle, "IdleTime"),
            (self.connect, "Connect"),
        ];
        for (_, name) in columns.iter().filter(|column| column.0) {
            out.extend_from_slice(name.as_bytes());
            out.push(self.delimiter);
        }
        for name in variables {
            out.push(b'"');
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&[b'"', self.delimiter]);
        }
        if out.len() > start {
            out.pop();
        }
        out.push(b'\n');
    }

    /// Writes one row with its line end.
    pub fn row(&self, row: &Row, out: &mut Vec<u8>) {
        let mut line = Line { start: out.len(), delimiter: self.delimiter, out };
        self.push_outcome(row, &mut line);
        self.push_measurements(row, &mut line);
        for value in row.variables {
            line.text(value.unwrap_or("null"));
        }
        line.end();
    }

    /// Writes the fields from timestamp to failure message.
    #[inline]
    fn push_outcome(&self, row: &Row, line: &mut Line<'_>) {
        if self.timestamp {
            match &self.timestamp_format {
                TimestampFormat::Millis => line.number(row.timestamp_ms),
                TimestampFormat::Text(pattern) => {
                    line.text(&pattern.format(row.timestamp_ms));
                }
                TimestampFormat::Nothing => {}
            }
        }
        if self.elapsed {
            line.number(row.elapsed_ms);
        }
        if self.label {
            line.text(row.label);
        }
        if self.code {
            line.text(row.code);
        }
        if self.message {
            line.text(row.message);
        }
        if self.thread_name {
            line.text(row.thread_name);
        }
        if self.data_type {
            line.text(row.data_type);
        }
        if self.success {
            line.plain(if row.success { "true" } else { "false" });
        }
        if self.failure_message {
            line.text(row.failure_message.unwrap_or_default());
        }
    }

    /// Writes the columns from `bytes` to `Connect`.
    #[inline]
    fn push_measurements(&self, row: &Row, line: &mut Line<'_>) {
        if self.bytes {
            line.number(row.bytes);
        }
        if self.sent_bytes {
            line.number(row.sent_bytes);
        }
        if self.thread_counts {
            line.number(row.grp_threads);
            line.number(row.all_threads);
        }
        if self.url {
            line.text(row.url.unwrap_or("null"));
        }
        if self.filename {
            line.text(row.filename);
        }
        if self.latency {
            line.number(row.latency_ms);
        }
        if self.encoding {
            line.text(row.encoding);
        }
        if self.sample_count {
            line.number(row.sample_count);
            line.number(row.error_count);
        }
        if self.hostname {
            line.text(row.hostname);
        }
        if self.idle {
            line.number(row.idle_ms);
        }
        if self.connect {
            line.number(row.connect_ms);
        }
    }
}

/// Writer of one line. Every field is followed by the delimiter; the last delimiter is replaced by the line end.
struct Line<'o> {
    start: usize,
    delimiter: u8,
    out: &'o mut Vec<u8>,
}

impl Line<'_> {
    #[inline]
    fn plain(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(self.delimiter);
    }

    #[inline]
    fn number(&mut self, n: impl itoa::Integer) {
        let mut buffer = itoa::Buffer::new();
        self.plain(buffer.format(n));
    }

    #[inline]
    fn text(&mut self, text: &str) {
        let delimiter = self.delimiter;
        let is = |b: u8, what: u8| u8::from(b == what);
        let special = |b| is(b, delimiter) | is(b, b'"') | is(b, b'\r') | is(b, b'\n');
        // No branch per byte, so that the compiler can process sixteen bytes at a time.
        if text.bytes().fold(0, |any, b| any | special(b)) != 0 {
            self.quoted(text);
        } else {
            self.plain(text);
        }
    }

    #[cold]
    fn quoted(&mut self, text: &str) {
        self.out.push(b'"');
        for b in text.bytes() {
            if b == b'"' {
                self.out.push(b'"');
            }
            self.out.push(b);
        }
        self.out.extend_from_slice(&[b'"', self.delimiter]);
    }

    fn end(self) {
        if self.out.len() > self.start {
            self.out.pop();
        }
        self.out.push(b'\n');
    }
}
