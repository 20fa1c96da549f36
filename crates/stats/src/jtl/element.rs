//! One element of an XML result file: a sample with its assertions and sub-results.
//!
//! Names and order of attributes and children are those of JMeter's SampleResultConverter and HTTPResultConverter. The
//! caller walks the tree of results: [`Columns::begin`], then assertions and sub-results, then [`Columns::finish`].
use super::columns::Columns;
use super::row::Row;
use super::xml::Printer;

/// The last line of an XML result file.
pub const END: &[u8] = b"\n</testResults>\n";

/// Content of an XML element that a CSV row does not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detail<'a> {
    /// Fields of an HTTP sample, which has its own kind of element; `None` for other samples.
    pub http: Option<Http<'a>>,
    /// The encoding that the result itself specifies.
    pub own_encoding: &'a str,
    pub response_headers: &'a str,
    pub request_headers: &'a str,
    /// The response body as text.
    pub response: &'a str,
    /// Sampler data; written only for samples that are not HTTP.
    pub sampler_data: Option<&'a str>,
}

/// Fields of HTTP samples only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Http<'a> {
    pub cookies: &'a str,
    /// HTTP method of the request; `None` if the sample failed before its method was known.
    pub method: Option<&'a str>,
    pub query_string: &'a str,
    pub redirect_location: Option<&'a str>,
}

/// The result of one assertion.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    pub name: &'a str,
    pub failure: bool,
    pub error: bool,
    pub message: Option<&'a str>,
}

impl Detail<'_> {
    fn tag(&self) -> &'static str {
        if self.http.is_some() { "httpSample" } else { "sample" }
    }
}

impl Columns {
    /// Writes the beginning of a new XML result file.
    pub fn document_start(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        if !self.xml_pi.is_empty() {
            out.extend_from_slice(self.xml_pi.as_bytes());
            out.push(b'\n');
        }
        out.extend_from_slice(b"<testResults version=\"1.2\">\n");
    }

    /// Starts the element of a result. `variables` are the names of the row's variables.
    pub fn begin(
        &self,
        printer: &mut Printer<'_>,
        row: &Row<'_>,
        detail: &Detail<'_>,
        variables: &[impl AsRef<str>],
    ) {
        printer.start(detail.tag());
        let numbers = [
            (self.elapsed, "t", row.elapsed_ms as i64),
            (self.idle, "it", row.idle_ms),
            (self.latency, "lt", row.latency_ms as i64),
            (self.connect, "ct", row.connect_ms as i64),
        ];
        for (_, name, value) in numbers.iter().filter(|number| number.0) {
            printer.number(name, *value);
        }
        if self.timestamp {
            printer.number("ts", row.timestamp_ms);
        }
        let texts = [
            (self.success, "s", if row.success { "true" } else { "false" }),
            (self.label, "lb", row.label),
            (self.code, "rc", row.code),
            (self.message, "rm", row.message),
            (self.thread_name, "tn", row.thread_name),
            (self.data_type, "dt", row.data_type),
            (self.encoding, "de", detail.own_encoding),
        ];
        for (_, name, value) in texts.iter().filter(|text| text.0) {
            printer.attribute(name, value);
        }
        let numbers = [
            (self.bytes, "by", row.bytes),
            (self.sent_bytes, "sby", row.sent_bytes),
            (self.sample_count, "sc", u64::from(row.sample_count)),
            (self.sample_count, "ec", u64::from(row.error_count)),
            (self.thread_counts, "ng", u64::from(row.grp_threads)),
            (self.thread_counts, "na", u64::from(row.all_threads)),
        ];
        for (_, name, value) in numbers.iter().filter(|number| number.0) {
            printer.number(name, *value);
        }
        if self.hostname {
            printer.attribute("hn", row.hostname);
        }
        for (name, value) in variables.iter().zip(row.variables) {
            printer.attribute(name.as_ref(), value.unwrap_or_default());
        }
    }

    /// Writes the result of an assertion.
    pub fn finding(&self, printer: &mut Printer<'_>, finding: &Finding<'_>) {
        let truth = |is: bool| if is { "true" } else { "false" };
        printer.start("assertionResult");
        let children = [
            ("name", Some(finding.name)),
            ("failure", Some(truth(finding.failure))),
            ("error", Some(truth(finding.error))),
            ("failureMessage", finding.message),
        ];
        for (name, text) in children {
            let Some(text) = text else { continue };
            printer.start(name);
            printer.text(text);
            printer.end(name);
        }
        printer.end("assertionResult");
    }

    /// Writes the children that follow assertions and sub-results, and ends the element.
    pub fn finish(&self, printer: &mut Printer<'_>, row: &Row<'_>, detail: &Detail<'_>) {
        if self.response_headers {
            string(printer, "responseHeader", detail.response_headers);
        }
        if self.request_headers {
            string(printer, "requestHeader", detail.request_headers);
        }
        let all = self.response_data_on_error && !row.success;
        if self.response_data || all {
            if row.data_type == "text" {
                string(printer, "responseData", detail.response);
            } else {
                let kind = row.data_type;
                let words = format!("Non-TEXT response data, cannot record: ({kind})");
                string(printer, "responseData", &words);
            }
        }
        if self.filename {
            string(printer, "responseFile", row.filename);
        }
        if self.sampler_data || all {
            let children = match &detail.http {
                Some(http) => [
                    ("cookies", Some(http.cookies)),
                    ("method", http.method),
                    ("queryString", Some(http.query_string)),
                    ("redirectLocation", http.redirect_location),
                ],
                None => [("samplerData", detail.sampler_data), ("", None), ("", None), ("", None)],
            };
            for (name, text) in children {
                if let Some(text) = text {
                    string(printer, name, text);
                }
            }
        }
        if self.url {
            match row.url {
                Some(url) => {
                    printer.start("java.net.URL");
                    printer.text(url);
                    printer.end("java.net.URL");
                }
                None if detail.http.is_some() => {
                    printer.start("null");
                    printer.end("null");
                }
                None => {}
            }
        }
        printer.end(detail.tag());
    }
}

fn string(printer: &mut Printer<'_>, name: &str, text: &str) {
    printer.start(name);
    printer.attribute("class", "java.lang.String");
    printer.text(text);
    printer.end(name);
}
