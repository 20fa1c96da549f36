//! Tags of requests: fixed header lines that every request carries, and the trace id of each sample. Hot if
//! enabled.
//!
//! The tags directly follow the request line, so that excerpts of long heads contain them. A trace id has the form
//! of W3C Trace Context: 16 bytes for the sample, of which the first half is the same for the whole core, and 8
//! bytes for each of its requests.

use std::hash::{BuildHasher, RandomState};
use std::io::Write as _;

use memchr::memmem;

use crate::settings::tags::Tags as Settings;
use crate::time::timing::TraceId;

/// The blank line that ends a request's head.
const END: &[u8] = b"\r\n\r\n";
/// Name of the header with the trace id.
const TRACEPARENT: &[u8] = b"traceparent";

/// State for the tags of a core's requests.
#[derive(Debug)]
pub(crate) struct Tags {
    /// The fixed header lines, each with its line end.
    lines: Vec<u8>,
    /// Names of the header lines that the tags replace.
    replaced: Vec<String>,
    /// Source of trace ids. `None` if traces are off.
    traces: Option<Traces>,
    /// The tags of the current request.
    added: Vec<u8>,
}

/// Source of trace ids.
#[derive(Debug)]
struct Traces {
    /// True if requests ask servers to record the traces.
    sampled: bool,
    /// The first 8 bytes of all trace ids of this core.
    high: u64,
    /// Seed of the last 8 bytes of trace ids, and of the ids of requests.
    seed: u64,
    /// Number of the last trace.
    begun: u32,
    /// Number of request ids issued so far.
    requests: u64,
}

impl Tags {
    pub(crate) fn new(settings: &Settings) -> Self {
        // The ids of two runs must differ even if the plan's own random numbers repeat.
        let random = RandomState::new();
        let traces = settings.trace.map(|sampled| Traces {
            sampled,
            high: random.hash_one(1) | 1,
            seed: random.hash_one(2),
            begun: 0,
            requests: 0,
        });
        Self {
            lines: settings.lines.clone().into_bytes(),
            replaced: settings.replaced.clone(),
            traces,
            added: Vec::new(),
        }
    }

    /// Returns true if each request carries a unique id, so that no two requests have the same bytes.
    #[inline]
    pub(crate) fn vary(&self) -> bool {
        self.traces.is_some()
    }

    /// Returns the trace number of a new sample; `TraceId::NONE` if traces are off.
    #[inline]
    pub(crate) fn begin(&mut self) -> TraceId {
        let Some(traces) = &mut self.traces else { return TraceId::NONE };
        traces.begun = traces.begun.wrapping_add(1).max(1);
        TraceId(traces.begun)
    }

    /// Returns the full 16-byte id of a trace; 0 if there is none.
    pub(crate) fn number(&self, trace: TraceId) -> u128 {
        match &self.traces {
            Some(traces) if trace != TraceId::NONE => {
                u128::from(traces.high) << 64 | u128::from(traces.low(trace))
            }
            _ => 0,
        }
    }

    /// Inserts the tags into a request's head. A tag replaces a header line of the same name. If the plan itself
    /// sets `traceparent`, that line stays and the request gets no trace id.
    #[inline]
    pub(crate) fn put(&mut self, trace: TraceId, request: &mut Vec<u8>) -> TraceId {
        if self.lines.is_empty() && self.traces.is_none() {
            return TraceId::NONE;
        }
        self.put_lines(trace, request)
    }

    fn put_lines(&mut self, trace: TraceId, request: &mut Vec<u8>) -> TraceId {
        let Some(first) = memchr::memchr(b'\n', request) else { return TraceId::NONE };
        let (begin, mut end) =
            (first + 1, memmem::find(request, END).map_or(request.len(), |end| end + 2));
        let mut own = false;
        let mut at = begin;
        while at < end {
            let next = memchr::memchr(b'\n', &request[at..end]).map_or(end, |line| at + line + 1);
            let line = &request[at..next];
            let name = &line[..memchr::memchr(b':', line).unwrap_or(0)];
            own |= name.eq_ignore_ascii_case(TRACEPARENT);
            if self.replaced.iter().any(|tag| name.eq_ignore_ascii_case(tag.as_bytes())) {
                request.drain(at..next);
                end -= next - at;
            } else {
                at = next;
            }
        }
        self.added.clear();
        self.added.extend_from_slice(&self.lines);
        let trace = if own { TraceId::NONE } else { trace };
        let number = self.number(trace);
        if let Some(traces) = self.traces.as_mut().filter(|_| number != 0) {
            let (request, sampled) = (traces.request(), u8::from(traces.sampled));
            let _ = write!(
                self.added,
                "traceparent: 00-{number:032x}-{request:016x}-{sampled:02x}\r\n"
            );
        }
        request.splice(begin..begin, self.added.iter().copied());
        trace
    }
}

impl Traces {
    /// Returns the last 8 bytes of a trace id.
    fn low(&self, trace: TraceId) -> u64 {
        mixed(self.seed.wrapping_add(u64::from(trace.0)))
    }

    /// Returns a new id for a request.
    fn request(&mut self) -> u64 {
        self.requests += 1;
        // Zero means "no id".
        mixed(self.seed.rotate_left(32) ^ self.requests).max(1)
    }
}

/// Maps each number to a pseudo-random number, without collisions: the last step of splitmix64.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(lines: &str, replaced: &[&str], trace: Option<bool>) -> Tags {
        let replaced = replaced.iter().map(ToString::to_string).collect();
        Tags::new(&Settings { lines: lines.into(), replaced, trace })
    }

    fn put(tags: &mut Tags, trace: TraceId, request: &str) -> (TraceId, String) {
        let mut request = request.as_bytes().to_vec();
        let trace = tags.put(trace, &mut request);
        (trace, String::from_utf8(request).expect("ASCII"))
    }

    #[test]
    fn lines_stand_behind_the_request_line_and_replace_the_plans() {
        let mut tags = tags("X-A: 1\r\nbaggage: b=2\r\n", &["x-a"], None);
        let request =
            "POST / HTTP/1.1\r\nx-a: plan\r\nX-AB: 3\r\nX-A: again\r\n\r\nX-A: body\r\n\r\n";
        assert_eq!(
            put(&mut tags, TraceId::NONE, request).1,
            "POST / HTTP/1.1\r\nX-A: 1\r\nbaggage: b=2\r\nX-AB: 3\r\n\r\nX-A: body\r\n\r\n"
        );
        assert!(!tags.vary());
        assert_eq!(tags.begin(), TraceId::NONE);
    }

    #[test]
    fn without_marks_a_request_stays_as_it_is() {
        let request = "GET / HTTP/1.1\r\ntraceparent: x\r\n\r\n";
        assert_eq!(put(&mut tags("", &[], None), TraceId::NONE, request).1, request);
    }

    #[test]
    fn requests_of_a_sample_share_its_trace_and_have_numbers_of_their_own() {
        let mut tags = tags("", &[], Some(true));
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let (one, other) = (tags.begin(), tags.begin());
        let mut sent = |trace| {
            let (trace, text) = put(&mut tags, trace, request);
            let value = text.lines().nth(1).expect("a line").to_owned();
            let number = format!("{:032x}", tags.number(trace));
            let parts: Vec<_> = value.split(['-', ' ']).map(str::to_owned).collect();
            assert_eq!((&*parts[0], &*parts[1], &*parts[4]), ("traceparent:", "00", "01"));
            assert_eq!((&parts[2], parts[3].len()), (&number, 16));
            (parts[2].clone(), parts[3].clone())
        };
        let (first, again, second) = (sent(one), sent(one), sent(other));
        assert_eq!(first.0, again.0);
        assert_ne!(first.1, again.1);
        assert_ne!(first.0, second.0);
        assert_eq!(first.0[..16], second.0[..16]);
    }

    #[test]
    fn a_plan_with_traces_of_its_own_keeps_them() {
        let mut tags = tags("", &[], Some(false));
        let trace = tags.begin();
        let request = "GET / HTTP/1.1\r\nTraceParent: mine\r\n\r\n";
        assert_eq!(put(&mut tags, trace, request), (TraceId::NONE, request.to_owned()));
    }
}
