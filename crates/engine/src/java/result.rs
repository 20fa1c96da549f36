//! Results in messages: how one is told to Java, and how what Java made of it is taken back.
//!
//! Times are whole milliseconds there and nanoseconds here: one that comes back as it went keeps what it was beyond the millisecond. A body
//! goes over only where somebody reads it, and comes back only where it is another one.

use plan::result::{Request, SampleResult, Thread};

use super::reader::{Malformed, Reader};
use super::writer::Writer;

/// Sub-results deeper than this are not carried.
const DEPTH: u32 = 16;
const MS: u64 = 1_000_000;

const SUCCESS: u32 = 1;
const IGNORE: u32 = 1 << 1;
const HTTP: u32 = 1 << 2;
const STOP_USER: u32 = 1 << 3;
const STOP_TEST: u32 = 1 << 4;
const STOP_NOW: u32 = 1 << 5;
const TEXT: u32 = 1 << 6;
const BINARY: u32 = 1 << 7;
const BODY: u32 = 1 << 8;

/// Whose result it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    pub(crate) thread: &'a str,
    /// Active users of the group, and of all.
    pub(crate) active: (u32, u32),
    /// The body is told.
    pub(crate) body: bool,
}

/// Writes a result.
pub(crate) fn write(result: &SampleResult, about: &About<'_>, depth: u32, out: &mut Writer<'_>) {
    let with_body = about.body && !(result.body.is_empty() && result.text.is_empty());
    let (stop, action) = match result.request {
        Request::Nothing => (0, 0),
        Request::NextIteration => (0, 1),
        Request::NextLoopIteration => (0, 2),
        Request::BreakLoop => (0, 3),
        Request::StopUser => (STOP_USER, 0),
        Request::StopTest => (STOP_TEST, 0),
        Request::StopTestNow => (STOP_NOW, 0),
    };
    let mut flags = stop;
    for (flag, is) in [
        (SUCCESS, result.success),
        (IGNORE, result.ignore),
        (HTTP, result.http),
        (TEXT, result.data_type == "text"),
        (BINARY, result.data_type == "bin"),
        (BODY, with_body),
    ] {
        if is {
            flags |= flag;
        }
    }
    let (thread, active) = result.thread_of(about.thread, about.active);
    out.int(flags);
    out.byte(action);
    for text in [
        &*result.label,
        &result.code,
        &result.message,
        &result.url,
        &result.request_headers,
        &result.sampler_data,
        &result.method,
        &result.cookies,
        &result.query_string,
        &result.redirect_location,
        &result.response_headers,
        &result.content_type,
        &result.encoding,
        &result.file_name,
        thread,
    ] {
        out.text(text);
    }
    out.signed(result.start_ms);
    let idle_ms = result.idle / MS as i64;
    out.signed(result.start_ms + (result.elapsed / MS) as i64 + idle_ms);
    for time in [result.elapsed, result.latency, result.connect] {
        out.long(time / MS);
    }
    out.long(idle_ms as u64);
    let (headers, size) = sizes(result);
    for number in [result.bytes, headers, size, result.sent] {
        out.long(number);
    }
    let errors = if result.count > 1 { result.errors } else { u32::from(!result.success) };
    for number in [result.count, errors, active.0, active.1] {
        out.int(number);
    }
    if with_body {
        out.bytes(content(result));
    }
    let mut list = out.begin();
    for entry in result.assertions() {
        list.count += 1;
        out.text(&entry.name);
        out.flag(entry.failure);
        out.flag(entry.error);
        out.maybe(entry.has_message.then_some(&*entry.message));
    }
    out.end(list);
    let mut list = out.begin();
    for sub in result.subs().iter().filter(|_| depth < DEPTH) {
        list.count += 1;
        write(sub, about, depth + 1, out);
    }
    out.end(list);
}

/// The body's bytes.
fn content(result: &SampleResult) -> &[u8] {
    if result.body.is_empty() { result.text.as_bytes() } else { &result.body }
}

/// How the bytes received are told: those of headers, and the rest. JMeter adds the two up.
fn sizes(result: &SampleResult) -> (u64, u64) {
    let headers = match result.headers_size {
        // They were not counted.
        0 if result.http => result.bytes.saturating_sub(content(result).len() as u64),
        known => known.min(result.bytes),
    };
    (headers, result.bytes - headers)
}

/// What an assertion found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict<'a> {
    pub(crate) name: &'a str,
    pub(crate) failure: bool,
    pub(crate) error: bool,
    pub(crate) message: Option<&'a str>,
}

impl<'a> Verdict<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (name, failure, error) = (reader.text()?, reader.flag()?, reader.flag()?);
        Ok(Self { name, failure, error, message: reader.maybe(Reader::text)? })
    }

    /// Adds it to a result.
    pub(crate) fn add_to(&self, result: &mut SampleResult) {
        let entry = result.add_assertion(self.name);
        if let Some(message) = self.message {
            entry.say(message);
        }
        (entry.failure, entry.error) = (self.failure, self.error);
    }
}

/// A result as Java has it.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    flags: u32,
    action: u8,
    texts: [&'a str; 15],
    start_ms: i64,
    end_ms: i64,
    /// Elapsed, latency, connect, idle; milliseconds.
    times: [u64; 4],
    /// All bytes, those of headers, of the body, and sent.
    sizes: [u64; 4],
    count: u32,
    errors: u32,
    active: (u32, u32),
    body: Option<&'a [u8]>,
    verdicts: Vec<Verdict<'a>>,
    subs: Vec<Found<'a>>,
}

impl<'a> Found<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>, depth: u32) -> Result<Self, Malformed> {
        if depth > DEPTH {
            return Err(Malformed("results are nested too deeply"));
        }
        let flags = reader.int()?;
        let action = reader.byte()?;
        if action > 3 {
            return Err(Malformed("there is no such action"));
        }
        let mut texts = [""; 15];
        for text in &mut texts {
            *text = reader.text()?;
        }
        let (start_ms, end_ms) = (reader.signed()?, reader.signed()?);
        let mut times = [0; 4];
        for time in &mut times {
            // What Java leaves below zero, or beyond what nanoseconds can say, is no time.
            let ms = reader.long()?;
            *time = if ms > u64::MAX / MS / 4 { 0 } else { ms };
        }
        let mut sizes = [0; 4];
        for size in &mut sizes {
            let bytes = reader.long()?;
            *size = if bytes > i64::MAX as u64 { 0 } else { bytes };
        }
        let (count, errors) = (reader.int()?, reader.int()?);
        let active = (reader.int()?, reader.int()?);
        let body = if flags & BODY != 0 { Some(reader.bytes()?) } else { None };
        let verdicts = reader.list(Verdict::read)?;
        let subs = reader.list(|reader| Self::read(reader, depth + 1))?;
        Ok(Self {
            flags,
            action,
            texts,
            start_ms,
            end_ms,
            times,
            sizes,
            count,
            errors,
            active,
            body,
            verdicts,
            subs,
        })
    }

    /// Start, end, milliseconds since 1970, and the elapsed time.
    pub(crate) fn span(&self) -> (i64, i64, u64) {
        (self.start_ms, self.end_ms, self.times[0] * MS)
    }

    /// Makes a result what Java says it is; what Java did not touch stays as it is here.
    pub(crate) fn put_into(&self, result: &mut SampleResult, default_encoding: &str) {
        let is = |flag| self.flags & flag != 0;
        let [
            label,
            code,
            message,
            url,
            request_headers,
            sampler_data,
            method,
            cookies,
            query_string,
            redirect_location,
            response_headers,
            content_type,
            encoding,
            file_name,
            thread,
        ] = self.texts;
        for (to, from) in [
            (&mut result.label, label),
            (&mut result.code, code),
            (&mut result.message, message),
            (&mut result.url, url),
            (&mut result.request_headers, request_headers),
            (&mut result.sampler_data, sampler_data),
            (&mut result.method, method),
            (&mut result.cookies, cookies),
            (&mut result.query_string, query_string),
            (&mut result.redirect_location, redirect_location),
            (&mut result.response_headers, response_headers),
            (&mut result.content_type, content_type),
            (&mut result.encoding, encoding),
            (&mut result.file_name, file_name),
        ] {
            to.clear();
            // Most are empty. To compare or copy nothing is slow: the first address of an empty text is none, and processors take their time over a masked read of that.
            if !from.is_empty() {
                to.push_str(from);
            }
        }
        (result.success, result.ignore, result.http) = (is(SUCCESS), is(IGNORE), is(HTTP));
        result.data_type = match (is(TEXT), is(BINARY)) {
            (true, _) => "text",
            (_, true) => "bin",
            _ => "",
        };
        result.request = self.request();
        result.start_ms = self.start_ms;
        for (to, ms) in [
            (&mut result.elapsed, self.times[0]),
            (&mut result.latency, self.times[1]),
            (&mut result.connect, self.times[2]),
        ] {
            if *to / MS != ms {
                *to = ms * MS;
            }
        }
        let idle_ms = self.times[3] as i64;
        if result.idle / MS as i64 != idle_ms {
            result.idle = idle_ms.saturating_mul(MS as i64);
        }
        let [bytes, headers, _, sent] = self.sizes;
        if headers != sizes(result).0 {
            result.headers_size = headers;
        }
        (result.bytes, result.sent) = (bytes, sent);
        result.thread = Some(Box::new(Thread { name: thread.to_owned(), active: self.active }));
        (result.count, result.errors) = (self.count, self.errors);
        if let Some(body) = self.body {
            result.body.clear();
            result.body.extend_from_slice(body);
            let charset = if encoding.is_empty() { default_encoding } else { encoding };
            result.text.clear();
            if result.data_type != "bin" {
                wire::charset::decode_into(Some(charset), body, &mut result.text);
            }
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

    fn request(&self) -> Request {
        let stop = [
            (STOP_NOW, Request::StopTestNow),
            (STOP_TEST, Request::StopTest),
            (STOP_USER, Request::StopUser),
        ];
        if let Some((_, asked)) = stop.iter().find(|(flag, _)| self.flags & flag != 0) {
            return *asked;
        }
        match self.action {
            1 => Request::NextIteration,
            2 => Request::NextLoopIteration,
            3 => Request::BreakLoop,
            _ => Request::Nothing,
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
