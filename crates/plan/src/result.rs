//! The result of one sample, as post-processors, assertions and listeners read it.
//!
//! A core reuses the results of earlier samples: buffers are cleared, not freed. The engine fills a result when a
//! sample ends. Extractors read it, assertions may turn it into a failure, and row writers print it. The engine
//! decodes the body to a string only if [`Needs::TEXT`](crate::plan::Needs) is set.

/// A finished sample.
#[derive(Debug, Default)]
pub struct SampleResult {
    /// Evaluated label of the sample.
    pub label: String,
    /// Response code: `200`, or `Non HTTP response code: …`.
    pub code: String,
    /// Response message.
    pub message: String,
    /// True if the sample is successful; assertions may change this.
    pub success: bool,
    /// Results of the assertions that ran, in order.
    pub assertions: Vec<AssertionResult>,
    /// Number of entries of `assertions` in use (the rest are kept for reuse).
    pub assertion_count: usize,
    /// URL as the result file shows it; empty if none.
    pub url: String,
    /// Request headers as sent, one per line with `\n`.
    pub request_headers: String,
    /// JMeter's sampler data: request line and body of an HTTP request.
    pub sampler_data: String,
    /// True if result files contain the sampler data even if it is empty.
    pub tells_sampler_data: bool,
    /// True for an HTTP request.
    pub http: bool,
    /// HTTP method; empty if the request failed before its method was known. Like `cookies`, `query_string`,
    /// `redirect_location` and `has_location`, set only if sampler data is needed.
    pub method: String,
    /// Cookies that the request sent.
    pub cookies: String,
    /// Request body in the form that JMeter shows.
    pub query_string: String,
    /// Redirect target of the response, possibly empty.
    pub redirect_location: String,
    /// True if the response is a redirect with a `Location` header.
    pub has_location: bool,
    /// File in which the body was saved; empty if it was not saved.
    pub file_name: String,
    /// Status line and response headers, lines separated by `\n`.
    pub response_headers: String,
    /// Response body after content decoding; empty unless needed.
    pub body: Vec<u8>,
    /// Response body as text; empty unless needed.
    pub text: String,
    /// `Content-Type` header; empty if none.
    pub content_type: String,
    /// Data type of the response: `text`, `bin` or empty.
    pub data_type: &'static str,
    /// Name of the character encoding; empty if none.
    pub encoding: String,
    /// Start time in milliseconds since 1970.
    pub start_ms: i64,
    /// Service time in nanoseconds.
    pub elapsed: u64,
    /// Time to the first byte of the body (JMeter's definition), in nanoseconds.
    pub latency: u64,
    /// Time to establish the connection, in nanoseconds; 0 for a reused connection.
    pub connect: u64,
    /// Idle time within the sample, in nanoseconds; negative if the sub-results report more time than has actually
    /// passed.
    pub idle: i64,
    /// Bytes received: headers and body as transferred.
    pub bytes: u64,
    /// Size of the response headers within `bytes`, as JMeter counts it; 0 unless headers are needed.
    pub headers_size: u64,
    /// Bytes sent.
    pub sent: u64,
    /// Number of samples in this result, normally 1. Samples inside a transaction count in their own results.
    pub count: u32,
    /// Number of failed samples in this result.
    pub errors: u32,
    /// True if the sample is not reported, as for a Flow Control Action.
    pub ignore: bool,
    /// Loop control or stop that an assertion or processor requested.
    pub request: Request,
    /// True for a sub-result with the parent's own response, copied before the parent got sub-results.
    pub raw: bool,
    /// True if JMeter reports 0 active users for this result: it is a sub-result of a sub-result (and if it is
    /// `raw`, its thread name is also empty), or it was interrupted together with its parent.
    pub deep: bool,
    /// Thread name and active users as Java set them; `None` if the user's values apply.
    pub thread: Option<Box<Thread>>,
    /// Sub-results in order (redirect hops, embedded resources).
    pub subs: Vec<SampleResult>,
    /// Number of entries of `subs` in use.
    pub sub_count: usize,
}

/// Thread name and numbers of active users of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// JMeter's name of the user's thread; empty if unknown.
    pub name: String,
    /// Number of active users in the group, and in all groups.
    pub active: (u32, u32),
}

/// Loop control or stop that the processing of a sample requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// Continues: nothing is requested.
    #[default]
    Nothing,
    /// Leaves the loop around the sampler.
    BreakLoop,
    /// Starts the next iteration of the loop around the sampler.
    NextLoopIteration,
    /// Starts the group's next iteration.
    NextIteration,
    /// Ends the user of the sample.
    StopUser,
    /// Ends the run after the samples in flight are complete.
    StopTest,
    /// Ends the run immediately.
    StopTestNow,
}

/// Result of one assertion.
#[derive(Debug, Default)]
pub struct AssertionResult {
    /// Name of the assertion.
    pub name: String,
    /// True if the assertion failed.
    pub failure: bool,
    /// True if the assertion could not be evaluated.
    pub error: bool,
    /// Failure message of the assertion.
    pub message: String,
    /// True if a message is set. JSON assertions that pass set an empty message, which result files contain.
    pub has_message: bool,
}

impl AssertionResult {
    /// Marks the assertion as failed.
    pub fn fail(&mut self, message: &str) {
        (self.failure, self.error) = (true, false);
        self.say(message);
    }

    /// Marks the assertion as not evaluated because of an error.
    pub fn fail_with_error(&mut self, message: &str) {
        (self.failure, self.error) = (false, true);
        self.say(message);
    }

    /// Marks the assertion as not evaluated because of an exception, and replaces the name of the assertion as JMeter
    /// does.
    pub fn throw(&mut self, exception: &str) {
        self.name.clear();
        self.name.push_str("Assertion failed! See log file.");
        self.fail_with_error(exception);
    }

    /// Sets the message of the assertion.
    pub fn say(&mut self, message: &str) {
        self.has_message = true;
        self.message.clear();
        self.message.push_str(message);
    }
}

impl SampleResult {
    /// Clears all fields for the next sample and keeps the buffers.
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

    /// Returns the results of the assertions that ran.
    pub fn assertions(&self) -> &[AssertionResult] {
        &self.assertions[..self.assertion_count]
    }

    /// True if all assertions of this result and its sub-results passed; `None` if no assertion ran.
    pub fn is_as_expected(&self) -> Option<bool> {
        let own = self.assertions().iter().map(|found| !(found.failure || found.error));
        own.chain(self.subs().iter().filter_map(Self::is_as_expected)).reduce(|a, b| a && b)
    }

    /// Appends an empty assertion result for the assertion `name`, and returns it.
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

    /// Puts the last added assertion result back into the list, after the caller has taken it out.
    pub fn put_assertion(&mut self, entry: AssertionResult) {
        if let Some(last) = self.assertion_count.checked_sub(1) {
            self.assertions[last] = entry;
        }
    }

    /// Returns the elapsed time in whole milliseconds.
    pub fn elapsed_ms(&self) -> i64 {
        (self.elapsed / 1_000_000) as i64
    }

    /// Returns the sub-results in use.
    pub fn subs(&self) -> &[SampleResult] {
        &self.subs[..self.sub_count]
    }

    /// Appends an empty sub-result, and returns it.
    pub fn add_sub(&mut self) -> &mut SampleResult {
        if self.subs.len() == self.sub_count {
            self.subs.push(SampleResult::default());
        }
        let entry = &mut self.subs[self.sub_count];
        self.sub_count += 1;
        entry.clear();
        entry
    }

    /// Returns the message of the first assertion that has a message, as result files show it.
    pub fn failure_message(&self) -> Option<&str> {
        self.assertions().iter().find(|entry| entry.has_message).map(|entry| &*entry.message)
    }

    /// Copies the fields about request, response and times into an empty result, without label, assertion results and
    /// sub-results.
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

    /// Copies this result, with assertion results and sub-results, into an empty result.
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

    /// Returns the thread name of this result, and the numbers of active users in its group and in all groups. `name`
    /// and `active` are the values of the result's user, which apply unless Java set others.
    pub fn thread_of<'a>(&'a self, name: &'a str, active: (u32, u32)) -> (&'a str, (u32, u32)) {
        match &self.thread {
            Some(thread) => (&thread.name, thread.active),
            None if self.deep => (if self.raw { "" } else { name }, (0, 0)),
            None => (name, active),
        }
    }
}
