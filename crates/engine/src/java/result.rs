//! Results in messages: writes a result for Java, and reads it back with Java's changes.
//!
//! Times are whole milliseconds in messages and nanoseconds in the engine. A time that Java did not change keeps its
//! nanoseconds. A body is sent to Java only if an element reads it, and sent back only if it has changed.

use plan::result::{Request, SampleResult, Thread};

use super::message::{Assertion, ResultAction, ResultFlags, ResultHead};
use super::reader::{Malformed, Reader};
use super::writer::Writer;

/// Maximum nesting depth of sub-results in messages. Sub-results that are nested more deeply are not sent.
const DEPTH: u32 = 16;
const MS: u64 = 1_000_000;

/// Facts about a result's sampler and user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    pub(crate) thread: &'a str,
    /// Number of active users of the group and of the whole test.
    pub(crate) active: (u32, u32),
    /// True if the message contains the body.
    pub(crate) body: bool,
}

/// Writes a result to a message.
pub(crate) fn write(result: &SampleResult, about: &About<'_>, depth: u32, out: &mut Writer<'_>) {
    let with_body = about.body && !(result.body.is_empty() && result.text.is_empty());
    let (thread, active) = result.thread_of(about.thread, about.active);
    let (headers_size, body_size) = sizes(result);
    let idle_ms = result.idle / MS as i64;
    ResultHead {
        flags: flags(result, with_body),
        action: action(result.request),
        label: &result.label,
        code: &result.code,
        message: &result.message,
        url: &result.url,
        request_headers: &result.request_headers,
        sampler_data: &result.sampler_data,
        method: &result.method,
        cookies: &result.cookies,
        query: &result.query_string,
        redirect: &result.redirect_location,
        response_headers: &result.response_headers,
        content_type: &result.content_type,
        encoding: &result.encoding,
        file: &result.file_name,
        thread,
        start_ms: result.start_ms,
        end_ms: result.start_ms + (result.elapsed / MS) as i64 + idle_ms,
        elapsed_ms: result.elapsed / MS,
        latency_ms: result.latency / MS,
        connect_ms: result.connect / MS,
        idle_ms: idle_ms as u64,
        bytes: result.bytes,
        headers_size,
        body_size,
        sent: result.sent,
        count: result.count,
        errors: if result.count > 1 { result.errors } else { u32::from(!result.success) },
        group_active: active.0,
        all_active: active.1,
    }
    .write(out);
    if with_body {
        out.bytes(content(result));
    }
    let mut list = out.begin();
    for entry in result.assertions() {
        list.count += 1;
        let message = entry.has_message.then_some(&*entry.message);
        let (failure, error) = (entry.failure, entry.error);
        Assertion { name: &entry.name, failure, error, message }.write(out);
    }
    out.end(list);
    let mut list = out.begin();
    for sub in result.subs().iter().filter(|_| depth < DEPTH) {
        list.count += 1;
        write(sub, about, depth + 1, out);
    }
    out.end(list);
}

fn flags(result: &SampleResult, with_body: bool) -> u32 {
    let mut flags = match result.request {
        Request::StopUser => ResultFlags::STOP_USER,
        Request::StopTest => ResultFlags::STOP_TEST,
        Request::StopTestNow => ResultFlags::STOP_TEST_NOW,
        _ => 0,
    };
    for (flag, is) in [
        (ResultFlags::SUCCESS, result.success),
        (ResultFlags::IGNORED, result.ignore),
        (ResultFlags::HTTP, result.http),
        (ResultFlags::TEXT, result.data_type == "text"),
        (ResultFlags::BINARY, result.data_type == "bin"),
        (ResultFlags::BODY, with_body),
    ] {
        if is {
            flags |= flag;
        }
    }
    flags
}

fn action(request: Request) -> ResultAction {
    match request {
        Request::NextIteration => ResultAction::NextOfThread,
        Request::NextLoopIteration => ResultAction::NextOfLoop,
        Request::BreakLoop => ResultAction::BreakLoop,
        _ => ResultAction::GoOn,
    }
}

/// Returns the bytes of a result's body.
fn content(result: &SampleResult) -> &[u8] {
    if result.body.is_empty() { result.text.as_bytes() } else { &result.body }
}

/// Splits the number of received bytes into headers and body. JMeter adds the two up.
fn sizes(result: &SampleResult) -> (u64, u64) {
    let headers = match result.headers_size {
        // The size of the response headers was not measured.
        0 if result.http => result.bytes.saturating_sub(content(result).len() as u64),
        known => known.min(result.bytes),
    };
    (headers, result.bytes - headers)
}

impl Assertion<'_> {
    /// Adds this assertion's verdict to a result.
    pub(crate) fn add_to(&self, result: &mut SampleResult) {
        let entry = result.add_assertion(self.name);
        if let Some(message) = self.message {
            entry.say(message);
        }
        (entry.failure, entry.error) = (self.failure, self.error);
    }
}

/// A result as Java has returned it.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    head: ResultHead<'a>,
    body: Option<&'a [u8]>,
    verdicts: Vec<Assertion<'a>>,
    subs: Vec<Found<'a>>,
}

impl<'a> Found<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>, depth: u32) -> Result<Self, Malformed> {
        if depth > DEPTH {
            return Err(Malformed("results are nested too deeply"));
        }
        let mut head = ResultHead::read(reader)?;
        for ms in
            [&mut head.elapsed_ms, &mut head.latency_ms, &mut head.connect_ms, &mut head.idle_ms]
        {
            // A time that is negative in Java, or that overflows in nanoseconds, becomes 0.
            if *ms > u64::MAX / MS / 4 {
                *ms = 0;
            }
        }
        for size in [&mut head.bytes, &mut head.headers_size, &mut head.body_size, &mut head.sent] {
            if *size > i64::MAX as u64 {
                *size = 0;
            }
        }
        let has_body = head.flags & ResultFlags::BODY != 0;
        let body = if has_body { Some(reader.bytes()?) } else { None };
        let verdicts = reader.list(Assertion::read)?;
        let subs = reader.list(|reader| Self::read(reader, depth + 1))?;
        Ok(Self { head, body, verdicts, subs })
    }

    /// Returns start and end in milliseconds since 1970, and the elapsed time in nanoseconds.
    pub(crate) fn span(&self) -> (i64, i64, u64) {
        (self.head.start_ms, self.head.end_ms, self.head.elapsed_ms * MS)
    }

    /// Copies Java's changes into a result. Values that Java has not changed are kept.
    pub(crate) fn put_into(&self, result: &mut SampleResult, default_encoding: &str) {
        self.put_texts(result);
        self.put_verdict(result);
        self.put_figures(result);
        if let Some(body) = self.body {
            self.put_body(result, body, default_encoding);
        }
        result.assertion_count = 0;
        for verdict in &self.verdicts {
            verdict.add_to(result);
        }
        result.sub_count = result.sub_count.min(self.subs.len());
        for (at, found) in self.subs.iter().enumerate() {
            if at == result.sub_count {
                result.add_sub();
            }
            found.put_into(&mut result.subs[at], default_encoding);
        }
    }

    fn put_texts(&self, result: &mut SampleResult) {
        let head = &self.head;
        for (to, from) in [
            (&mut result.label, head.label),
            (&mut result.code, head.code),
            (&mut result.message, head.message),
            (&mut result.url, head.url),
            (&mut result.request_headers, head.request_headers),
            (&mut result.sampler_data, head.sampler_data),
            (&mut result.method, head.method),
            (&mut result.cookies, head.cookies),
            (&mut result.query_string, head.query),
            (&mut result.redirect_location, head.redirect),
            (&mut result.response_headers, head.response_headers),
            (&mut result.content_type, head.content_type),
            (&mut result.encoding, head.encoding),
            (&mut result.file_name, head.file),
        ] {
            to.clear();
            // Most strings are empty, and copying nothing is slow: the pointer of an empty string is dangling, and a
            // masked read through it costs a processor much time.
            if !from.is_empty() {
                to.push_str(from);
            }
        }
        result.has_location |= !result.redirect_location.is_empty();
    }

    /// Copies the verdict, the type of data and the requests to the user into the result.
    fn put_verdict(&self, result: &mut SampleResult) {
        let head = &self.head;
        let is = |flag| head.flags & flag != 0;
        result.success = is(ResultFlags::SUCCESS);
        result.ignore = is(ResultFlags::IGNORED);
        result.http = is(ResultFlags::HTTP);
        result.data_type = match (is(ResultFlags::TEXT), is(ResultFlags::BINARY)) {
            (true, _) => "text",
            (_, true) => "bin",
            _ => "",
        };
        result.request = self.request();
        let active = (head.group_active, head.all_active);
        result.thread = Some(Box::new(Thread { name: head.thread.to_owned(), active }));
    }

    /// Copies times, sizes and counts into the result.
    fn put_figures(&self, result: &mut SampleResult) {
        let head = &self.head;
        result.start_ms = head.start_ms;
        for (to, ms) in [
            (&mut result.elapsed, head.elapsed_ms),
            (&mut result.latency, head.latency_ms),
            (&mut result.connect, head.connect_ms),
        ] {
            if *to / MS != ms {
                *to = ms * MS;
            }
        }
        let idle_ms = head.idle_ms as i64;
        if result.idle / MS as i64 != idle_ms {
            result.idle = idle_ms.saturating_mul(MS as i64);
        }
        if head.headers_size != sizes(result).0 {
            result.headers_size = head.headers_size;
        }
        (result.bytes, result.sent) = (head.bytes, head.sent);
        (result.count, result.errors) = (head.count, head.errors);
    }

    fn put_body(&self, result: &mut SampleResult, body: &[u8], default_encoding: &str) {
        result.body.clear();
        result.body.extend_from_slice(body);
        let encoding = self.head.encoding;
        let charset = if encoding.is_empty() { default_encoding } else { encoding };
        result.text.clear();
        if result.data_type != "bin" {
            lang::charset::decode_into(Some(charset), body, &mut result.text);
        }
    }

    fn request(&self) -> Request {
        let stop = [
            (ResultFlags::STOP_TEST_NOW, Request::StopTestNow),
            (ResultFlags::STOP_TEST, Request::StopTest),
            (ResultFlags::STOP_USER, Request::StopUser),
        ];
        if let Some((_, asked)) = stop.iter().find(|(flag, _)| self.head.flags & flag != 0) {
            return *asked;
        }
        match self.head.action {
            ResultAction::NextOfThread => Request::NextIteration,
            ResultAction::NextOfLoop => Request::NextLoopIteration,
            ResultAction::BreakLoop => Request::BreakLoop,
            ResultAction::GoOn => Request::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> SampleResult {
        let mut result = SampleResult::default();
        result.clear();
        result.label.push_str("get");
        result.code.push_str("200");
        result.url.push_str("http://a/");
        result.text.push_str("grüße");
        result.body.extend_from_slice("grüße".as_bytes());
        (result.encoding, result.data_type) = ("UTF-8".into(), "text");
        (result.start_ms, result.elapsed, result.latency) = (1_000, 12_345_678, 9_999_999);
        (result.bytes, result.sent, result.headers_size) = (70, 20, 60);
        result.add_assertion("a").fail("no");
        result.add_sub().label.push_str("sub");
        result
    }

    fn told(result: &SampleResult, body: bool) -> Vec<u8> {
        let mut message = Vec::new();
        let about = About { thread: "g 1-1", active: (1, 2), body };
        write(result, &about, 0, &mut Writer(&mut message));
        message
    }

    #[test]
    fn a_result_comes_back_as_it_went() {
        let result = sample();
        for body in [false, true] {
            let message = told(&result, body);
            let mut reader = Reader::new(&message);
            let found = Found::read(&mut reader, 0).expect("well formed");
            reader.end().expect("all read");
            let mut again = sample();
            found.put_into(&mut again, "ISO-8859-1");
            for told in [&mut again.thread, &mut again.subs[0].thread] {
                let thread = Thread { name: "g 1-1".into(), active: (1, 2) };
                assert_eq!(told.take().as_deref(), Some(&thread));
            }
            assert_eq!(format!("{again:?}"), format!("{result:?}"));
        }
    }

    #[test]
    fn what_java_changes_shows() {
        let mut changed = sample();
        changed.success = false;
        changed.body.clear();
        changed.text = "new".into();
        changed.elapsed = 13_000_000;
        changed.request = Request::StopTest;
        changed.sub_count = 0;
        changed.assertion_count = 0;
        let message = told(&changed, true);
        let found = Found::read(&mut Reader::new(&message), 0).expect("well formed");
        let mut result = sample();
        found.put_into(&mut result, "UTF-8");
        assert_eq!((result.success, &*result.text, result.elapsed), (false, "new", 13_000_000));
        assert_eq!((result.request, result.sub_count), (Request::StopTest, 0));
        assert!(result.assertions().is_empty());
    }

    #[test]
    fn a_chain_of_results_without_end_is_refused() {
        let mut result = sample();
        for _ in 0..20 {
            let mut around = SampleResult::default();
            around.clear();
            around.subs.push(result);
            around.sub_count = 1;
            result = around;
        }
        let mut message = told(&result, false);
        assert!(
            Found::read(&mut Reader::new(&message), 0).is_ok(),
            "it is cut where it is written"
        );
        assert!(Found::read(&mut Reader::new(&message), 1).is_err());
        message.truncate(message.len() - 1);
        assert!(Found::read(&mut Reader::new(&message), 0).is_err());
    }
}
