//! The columns of a result file, and their formats.
//!
//! Defaults, property names and the precedence of a listener's own settings are those of SampleSaveConfiguration in
//! JMeter 5.6.3. Properties set the defaults. A listener's saved settings start with all columns off, and inherit only
//! delimiter and timestamp format.
use super::pattern::Pattern;

/// The assertion results that XML files contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assertions {
    None,
    First,
    All,
}

/// The format of the timestamp.
#[derive(Clone, Debug)]
pub enum TimestampFormat {
    /// Milliseconds since 1970.
    Millis,
    /// Text in local time.
    Text(Pattern),
    /// The column has a heading but no values. JMeter does this for a format that it does not understand, and for a
    /// listener with timestamps if the properties turn them off.
    Nothing,
}

/// The value of the property `jmeter.save.saveservice.default_delimiter` is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelimiterError(pub String);

impl std::fmt::Display for DelimiterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "delimiter {:?} of result files must be a tab or one printable ASCII character that is \
             not a letter, digit or quote",
            self.0
        )
    }
}

impl std::error::Error for DelimiterError {}

macro_rules! switches {
    ($($(#[$doc:meta])* $field:ident: $property:literal, $saved:literal, $default:literal;)*) => {
/// The columns of a result file.
        #[derive(Clone, Debug)]
        pub struct Columns {
            $($(#[$doc])* pub $field: bool,)*
            pub timestamp: bool,
            /// True for XML, false for CSV.
            pub xml: bool,
            pub delimiter: u8,
            pub timestamp_format: TimestampFormat,
            pub assertion_results: Assertions,
            /// A processing instruction for the second line of XML files, or empty.
            pub xml_pi: String,
        }

        impl Default for Columns {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    timestamp: true,
                    xml: false,
                    delimiter: b',',
                    timestamp_format: TimestampFormat::Millis,
                    assertion_results: Assertions::None,
                    xml_pi: String::new(),
                }
            }
        }

        impl Columns {
            /// Turns one setting on or off by its name in a listener's `saveConfig`. Returns false if the name is
            /// unknown.
            pub fn set(&mut self, saved_name: &str, on: bool) -> bool {
                match saved_name {
                    $($saved => self.$field = on,)*
                    "timestamp" => self.timestamp = on,
                    "xml" => self.xml = on,
                    _ => return false,
                }
                true
            }

            fn read_switches(&mut self, property: &impl Fn(&str) -> Option<String>) {
                $(if let Some(text) = property(concat!("jmeter.save.saveservice.", $property)) {
                    self.$field = text.eq_ignore_ascii_case("true");
                })*
            }

            fn all_off(&mut self) {
                $(self.$field = false;)*
                self.timestamp = false;
                self.xml = false;
            }

            /// Names of the properties that this type supports.
            pub const PROPERTIES: &'static [&'static str] = &[
                $(concat!("jmeter.save.saveservice.", $property),)*
                "jmeter.save.saveservice.timestamp_format",
                "jmeter.save.saveservice.output_format",
                "jmeter.save.saveservice.assertion_results",
                "jmeter.save.saveservice.default_delimiter",
                "jmeter.save.saveservice.xml_pi",
            ];
        }
    };
}

switches! {
    elapsed: "time", "time", true;
    label: "label", "label", true;
    code: "response_code", "code", true;
    message: "response_message", "message", true;
    thread_name: "thread_name", "threadName", true;
    data_type: "data_type", "dataType", true;
    success: "successful", "success", true;
    failure_message: "assertion_results_failure_message", "saveAssertionResultsFailureMessage", true;
    bytes: "bytes", "bytes", true;
    sent_bytes: "sent_bytes", "sentBytes", true;
    thread_counts: "thread_counts", "threadCounts", true;
    url: "url", "url", true;
    filename: "filename", "fileName", false;
    latency: "latency", "latency", true;
    encoding: "encoding", "encoding", false;
    sample_count: "sample_count", "sampleCount", false;
    hostname: "hostname", "hostname", false;
    idle: "idle_time", "idleTime", true;
    connect: "connect_time", "connectTime", true;
    /// True if a CSV file gets a heading line.
    field_names: "print_field_names", "fieldNames", true;
    subresults: "subresults", "subresults", true;
    /// True if XML files get the results of assertions. All settings from here on apply to XML files only.
    assertions: "assertions", "assertions", true;
    response_data: "response_data", "responseData", false;
    response_data_on_error: "response_data.on_error", "responseDataOnError", false;
    sampler_data: "samplerData", "samplerData", false;
    request_headers: "requestHeaders", "requestHeaders", false;
    response_headers: "responseHeaders", "responseHeaders", false;
}

impl Columns {
    /// Returns the columns that JMeter writes with these properties.
    pub fn from_properties(
        property: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, DelimiterError> {
        let mut columns = Self::default();
        columns.read_switches(&property);
        if let Some(text) = property("jmeter.save.saveservice.default_delimiter") {
            columns.delimiter = delimiter(&text)?;
        }
        if let Some(format) = property("jmeter.save.saveservice.timestamp_format") {
            columns.timestamp = !format.eq_ignore_ascii_case("none");
            columns.timestamp_format = if format.eq_ignore_ascii_case("ms") {
                TimestampFormat::Millis
            } else if columns.timestamp {
                Pattern::new(&format).map_or(TimestampFormat::Nothing, TimestampFormat::Text)
            } else {
                TimestampFormat::Nothing
            };
        }
        columns.xml = property("jmeter.save.saveservice.output_format").as_deref() == Some("xml");
        columns.xml_pi = property("jmeter.save.saveservice.xml_pi").unwrap_or_default();
        columns.assertion_results =
            match property("jmeter.save.saveservice.assertion_results").as_deref() {
                Some("first") => Assertions::First,
                Some("all") => Assertions::All,
                _ => Assertions::None,
            };
        Ok(columns)
    }

    /// Returns the columns of a listener with its own settings, passed as (name, value) of the children of its
    /// `saveConfig`. Columns without a setting are off. Unknown names are ignored.
    pub fn with_save_config<'a>(
        &self,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut columns = self.clone();
        columns.all_off();
        for (name, value) in settings {
            columns.set(name, value.trim().eq_ignore_ascii_case("true"));
        }
        columns
    }
}

fn delimiter(text: &str) -> Result<u8, DelimiterError> {
    match text.as_bytes() {
        b"\\t" | b"\t" => Ok(b'\t'),
        &[c @ b' '..=b'~'] if !c.is_ascii_alphanumeric() && c != b'"' => Ok(c),
        _ => Err(DelimiterError(text.to_owned())),
    }
}
