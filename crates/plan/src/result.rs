//! The result of one sample as post-processors, assertions and listeners see it.
//!
//! One per core, reused: buffers are cleared, not freed. The engine fills it when a sample ends; extractors read it,
//! assertions may turn it into a failure, and the row writers print it. Text of the body is decoded by the engine,
//! and only if [`Needs::TEXT`](crate::plan::Needs) says that somebody reads it.

/// A finished sample.
#[derive(Debug, Default)]
pub struct SampleResult {
    /// Evaluated label.
    pub label: String,
    /// Response code: `200`, or `Non HTTP response code: …`.
    pub code: String,
    /// Response message.
    pub message: String,
    /// Whether the sample counts as passed; assertions may change it.
    pub success: bool,
    /// Results of the assertions that ran, in order.
    pub assertions: Vec<AssertionResult>,
    /// How many entries of `assertions` are in use (the rest are kept for reuse).
    pub assertion_count: usize,
    /// URL as the result file shows it; empty means none.
    pub url: String,
    /// Request headers as sent, one per line with `\n`.
    pub request_headers: String,
    /// JMeter's sampler data: request line and body of an HTTP request.
    pub sampler_data: String,
    /// It is told even where it is empty.
    pub tells_sampler_data: bool,
    /// It is an HTTP request.
    pub http: bool,
    /// Its method; empty where it failed before it had one. This and what follows is there where sampler data is needed.
    pub method: String,
    /// Its cookies.
    pub cookies: String,
    /// The body as JMeter shows it.
    pub query_string: String,
    /// Where its answer points to, which may be an empty text.
    pub redirect_location: String,
    /// Its answer is a redirect that has a `Location`.
    pub has_location: bool,
    /// File that the body was saved in; empty if it was not.
    pub file_name: String,
    /// Response headers including the status line, lines separated by `\n`.
    pub response_headers: String,
    /// Body after content decoding. Empty unless needed.
    pub body: Vec<u8>,
    /// Body as text. Empty unless needed.
    pub text: String,
    /// Content type header, empty if none.
    pub content_type: String,
    /// `text`, `bin` or empty.
    pub data_type: &'static str,
    /// Name of the character encoding, empty if none.
    pub encoding: String,
    /// Start, milliseconds since 1970.
    pub start_ms: i64,
    /// Times in nanoseconds.
    pub elapsed: u64,
    /// Time to the first byte of the body (JMeter's definition), nanoseconds.
    pub latency: u64,
    /// Time to the established connection, nanoseconds; 0 if reused.
    pub connect: u64,
    /// Time of the sample that was spent idle, nanoseconds; below zero where its parts claim to have taken longer than they did.
    pub idle: i64,
    /// Bytes received: headers and body as on the wire.
    pub bytes: u64,
    /// The part of `bytes` that were response headers, as JMeter counts it; 0 unless headers are needed.
    pub headers_size: u64,
    /// Bytes sent.
    pub sent: u64,
    /// Samples in this result (transactions count their children elsewhere).
    pub count: u32,
    /// Failed samples in this result.
    pub errors: u32,
    /// The sample is not reported (for example a Flow Control Action).
    pub ignore: bool,
    /// The request of an assertion or a processor to the run.
    pub request: Request,
    /// Of a sub-result: it is what its parent was before it had parts.
    pub raw: bool,
    /// JMeter counts no users here: it is part of a part of a sample (nor does it say whose it is if it is `raw`), or it was broken off with what it is part of.
    pub deep: bool,
    /// Its thread, where that is not said by its user: as Java left it.
    pub thread: Option<Box<Thread>>,
    /// Sub-results in order (redirect hops, embedded resources).
    pub subs: Vec<SampleResult>,
    /// How many entries of `subs` are in use.
    pub sub_count: usize,
}

/// The thread of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// JMeter's name of the user's thread; empty if that is not known.
    pub name: String,
    /// Active users of the group, and of all.
    pub active: (u32, u32),
}

/// A request of a sample's processing to its user or to the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// Go on.
    #[default]
    Nothing,
    /// Leave the loop around the sampler.
    BreakLoop,
    /// Start the next iteration of the loop around the sampler.
    NextLoopIteration,
    /// Start the group's next iteration.
    NextIteration,
    /// End this user.
    StopUser,
    /// End the run after the samples in flight.
    StopTest,
    /// End the run at once.
    StopTestNow,
}

/// The finding of one assertion.
#[derive(Debug, Default)]
pub struct AssertionResult {
    /// Name of the assertion.
    pub name: String,
    /// The assertion does not hold.
    pub failure: bool,
    /// The assertion could not be carried out.
    pub error: bool,
    /// Failure message.
    pub message: String,
    /// Whether there is a message at all: JSON assertions that hold give an empty one, which result files show.
    pub has_message: bool,
}

impl AssertionResult {
    /// The assertion does not hold.
    pub fn fail(&mut self, message: &str) {
        (self.failure, self.error) = (true, false);
        self.say(message);
    }

    /// The assertion could not be carried out.
    pub fn go_wrong(&mut self, message: &str) {
        (self.failure, self.error) = (false, true);
        self.say(message);
    }

    /// An exception came out of the assertion, which JMeter then calls by another name.
    pub fn throw(&mut self, exception: &str) {
        self.name.clear();
        self.name.push_str("Assertion failed! See log file.");
        self.go_wrong(exception);
    }

    /// Sets the message.
    pub fn say(&mut self, message: &str) {
        self.has_message = true;
        self.message.clear();
        self.message.push_str(message);
    }
}

impl SampleResult {
    /// Empties everything for the next sample, keeping the buffers.
    pub fn clear(&mut self) {
        for text in [
            &mut self.label,
            &mut self.code,
            &mut self.message,
            &mut self.url,
            &mut self.request_headers,
            &mut self.sampler_data,
            &mut self.response_headers,
            &mut self.text,
            &mut self.content_type,
            &mut self.encoding,
            &mut self.method,
            &mut self.cookies,
            &mut self.query_string,
            &mut self.redirect_location,
            &mut self.file_name,
        ] {
            text.clear();
        }
        (self.http, self.tells_sampler_data, self.has_location) = (false, false, false);
        self.body.clear();
        self.success = true;
        self.data_type = "";
        (self.start_ms, self.elapsed, self.latency, self.connect, self.idle) = (0, 0, 0, 0, 0);
        (self.bytes, self.sent, self.count, self.errors) = (0, 0, 1, 0);
        self.headers_size = 0;
        (self.assertion_count, self.sub_count) = (0, 0);
        (self.ignore, self.raw, self.deep) = (false, false, false);
        self.thread = None;
        self.request = Request::Nothing;
    }

    /// Results of the assertions that ran.
    pub fn assertions(&self) -> &[AssertionResult] {
        &self.assertions[..self.assertion_count]
    }

    /// Whether all assertions of this result and of its parts hold; `None`: none ran.
    pub fn is_as_expected(&self) -> Option<bool> {
        let own = self.assertions().iter().map(|found| !(found.failure || found.error));
        own.chain(self.subs().iter().filter_map(Self::is_as_expected)).reduce(|a, b| a && b)
    }

    /// A cleared entry for the result of one more assertion.
    pub fn add_assertion(&mut self, name: &str) -> &mut AssertionResult {
        if self.assertions.len() == self.assertion_count {
            self.assertions.push(AssertionResult::default());
        }
        let entry = &mut self.assertions[self.assertion_count];
        self.assertion_count += 1;
        entry.name.clear();
        entry.name.push_str(name);
        entry.message.clear();
        (entry.failure, entry.error, entry.has_message) = (false, false, false);
        entry
    }

    /// Puts the entry added last back after it was taken out.
    pub fn put_assertion(&mut self, entry: AssertionResult) {
        if let Some(last) = self.assertion_count.checked_sub(1) {
            self.assertions[last] = entry;
        }
    }

    /// Elapsed time in whole milliseconds.
    pub fn elapsed_ms(&self) -> i64 {
        (self.elapsed / 1_000_000) as i64
    }

    /// Sub-results in use.
    pub fn subs(&self) -> &[SampleResult] {
        &self.subs[..self.sub_count]
    }

    /// A cleared entry for one more sub-result.
    pub fn add_sub(&mut self) -> &mut SampleResult {
        if self.subs.len() == self.sub_count {
            self.subs.push(SampleResult::default());
        }
        let entry = &mut self.subs[self.sub_count];
        self.sub_count += 1;
        entry.clear();
        entry
    }

    /// The first message that an assertion gave, as result files show it.
    pub fn failure_message(&self) -> Option<&str> {
        self.assertions().iter().find(|entry| entry.has_message).map(|entry| &*entry.message)
    }

    /// Copies what a sub-result shows into an empty one.
    pub fn show_in(&self, to: &mut Self) {
        to.code.push_str(&self.code);
        to.message.push_str(&self.message);
        to.url.push_str(&self.url);
        to.content_type.push_str(&self.content_type);
        to.encoding.push_str(&self.encoding);
        to.request_headers.push_str(&self.request_headers);
        to.response_headers.push_str(&self.response_headers);
        to.sampler_data.push_str(&self.sampler_data);
        to.method.push_str(&self.method);
        to.cookies.push_str(&self.cookies);
        to.query_string.push_str(&self.query_string);
        to.redirect_location.push_str(&self.redirect_location);
        (to.http, to.has_location) = (self.http, self.has_location);
        to.body.extend_from_slice(&self.body);
        to.text.push_str(&self.text);
        to.data_type = self.data_type;
        to.success = self.success;
        to.start_ms = self.start_ms;
        (to.elapsed, to.latency, to.connect, to.idle) =
            (self.elapsed, self.latency, self.connect, self.idle);
        (to.bytes, to.sent, to.headers_size) = (self.bytes, self.sent, self.headers_size);
    }

    /// Copies itself into an empty one, with what assertions found and with its parts.
    pub fn duplicate_into(&self, to: &mut Self) {
        self.show_in(to);
        to.label.push_str(&self.label);
        (to.raw, to.deep) = (self.raw, self.deep);
        to.thread.clone_from(&self.thread);
        for found in self.assertions() {
            let entry = to.add_assertion(&found.name);
            entry.message.push_str(&found.message);
            (entry.failure, entry.error) = (found.failure, found.error);
            entry.has_message = found.has_message;
        }
        for part in self.subs() {
            part.duplicate_into(to.add_sub());
        }
    }

    /// The thread's name that it has, and how many users of its group, and of all, were active; of its user both are given.
    pub fn thread_of<'a>(&'a self, name: &'a str, active: (u32, u32)) -> (&'a str, (u32, u32)) {
        match &self.thread {
            Some(thread) => (&thread.name, thread.active),
            None if self.deep => (if self.raw { "" } else { name }, (0, 0)),
            None => (name, active),
        }
    }
}
