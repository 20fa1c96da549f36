//! HTTP/1 requests on a connection: decides which parts of a response are kept, and stores them. Hot.
//!
//! A response that no element reads is counted and dropped. Parts that an element reads are kept in a stash, which
//! is later returned to the core's pool.

use std::ops::Range;

use mgs::SessionKey;
use plan::plan::SamplerId;
use stats::{ClassId, Draw};
use wire::http1::Head;

use crate::ids::UserId;
use crate::net::transport::keep_part;
use crate::time::timing::{Timing, TraceId};

/// Length of an MD5 digest in hexadecimal digits.
const DIGEST: u64 = 32;

/// An HTTP request and its response: facts about both, and their kept parts.
#[derive(Debug)]
pub(crate) struct HttpCall {
    pub(crate) facts: HttpExchange,
    pub(crate) stash: Option<Box<Stash>>,
}

/// Facts of a request that decide how its response is handled, and facts of that response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpExchange {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) status: u16,
    /// A random number that decides whether the sample's details are kept.
    pub(crate) draw: Draw,
    /// Class under which the statistics count the response: the class of the value of the configured response header.
    pub(crate) header: ClassId,
    /// The gateway's result code if it reports a failure, otherwise 0.
    pub(crate) result_code: i32,
    /// Time in seconds for which the server keeps the connection open; 0 if the server does not state it.
    pub(crate) keep_alive_s: u16,
    /// Number of times that the request was resent after its connection turned out to be closed.
    pub(crate) retries: u8,
    pub(crate) keep_alive: bool,
    pub(crate) has_body: bool,
    /// True if interim responses (`100 Continue`) do not count as received bytes.
    pub(crate) interim_uncounted: bool,
    pub(crate) is_head: bool,
    /// True if the request imitates Java's own client (`HttpURLConnection`).
    pub(crate) java: bool,
    /// True if the request asks for a persistent connection.
    pub(crate) want_keep_alive: bool,
    /// True if the response's head is needed; `keep_body`: true if its body is needed.
    pub(crate) keep_head: bool,
    pub(crate) keep_body: bool,
    /// True if the body is kept for its links, in case it is an HTML page.
    pub(crate) parse: bool,
    /// True if only the digest of the body is read.
    pub(crate) digest: bool,
    /// True if redirects become sub-results, or (`auto_follow`) are followed without sub-results.
    pub(crate) follow: bool,
    pub(crate) auto_follow: bool,
    /// True if cookies of the response are stored.
    pub(crate) cookies: bool,
    /// True if the response may be stored in the user's cache.
    pub(crate) caches: bool,
    /// True if an authentication challenge in the response is answered.
    pub(crate) challenges: bool,
    /// True if the sample has already sent another request.
    pub(crate) again: bool,
    /// True if this is a `CONNECT` request to a proxy.
    pub(crate) tunnels: bool,
    /// True if the request is constant. The request's strings are added to the stash only if the response has a stash.
    pub(crate) fixed: bool,
}

impl HttpCall {
    /// Returns the trace id of the sample; a constant request has none.
    #[inline]
    pub(crate) fn trace(&self) -> TraceId {
        self.stash.as_ref().map_or(TraceId::NONE, |stash| stash.trace)
    }
}

impl HttpExchange {
    pub(crate) const NONE: Self = Self {
        sent: 0,
        received: 0,
        status: 0,
        draw: Draw::NONE,
        header: ClassId::NONE,
        result_code: 0,
        keep_alive_s: 0,
        retries: 0,
        keep_alive: false,
        has_body: false,
        interim_uncounted: false,
        is_head: false,
        java: false,
        want_keep_alive: true,
        keep_head: false,
        keep_body: false,
        parse: false,
        digest: false,
        follow: false,
        auto_follow: false,
        cookies: false,
        caches: false,
        challenges: false,
        again: false,
        tunnels: false,
        fixed: false,
    };

    /// Returns the facts for the next request of the same sample: without the facts of this request's response.
    pub(crate) fn for_next_request(&self) -> Self {
        Self {
            sent: 0,
            received: 0,
            status: 0,
            result_code: 0,
            keep_alive_s: 0,
            retries: 0,
            keep_alive: false,
            has_body: false,
            interim_uncounted: false,
            java: false,
            again: true,
            ..*self
        }
    }

    /// Stores the facts of the response's head. Returns true if the head must be kept.
    #[inline]
    pub(super) fn take_head(&mut self, head: &Head<'_>) -> bool {
        self.status = head.status;
        self.keep_alive = head.keep_alive;
        let kept_for = head.keep_alive_timeout_s.unwrap_or(0);
        self.keep_alive_s = u16::try_from(kept_for).unwrap_or(u16::MAX);
        self.has_body = head.has_body;
        if self.interim_uncounted {
            self.received = head.raw.len() as u64;
        }
        // In JMeter's own form, a status line without a reason has one more blank. JMeter computes the size of the body
        // as the rest of all bytes. For a body of one byte the rest is 0, and JMeter then uses the length of the body
        // instead.
        let bare = head.reason.is_empty() && head.content_length == Some(1) && head.has_body;
        let status_line = || head.raw.split(|byte| matches!(byte, b'\r' | b'\n')).next();
        if bare && !self.counts_content() && status_line().is_some_and(|line| !line.ends_with(b" "))
        {
            self.received += 1;
        }
        self.keep_body |= self.parse && head.content_type.is_some_and(may_be_page);
        let redirects = (self.follow || self.auto_follow) && (300..400).contains(&head.status)
            || !self.java && matches!(head.status, 301..=303 | 307 | 308);
        let asked = self.challenges && matches!(head.status, 401 | 407);
        let noted = self.caches && is_cacheable(head.status);
        let cookies = self.cookies && head.set_cookie;
        // The statistics of error causes show the server's reason phrase, even if no element reads the result.
        let failed = !(200..400).contains(&head.status)
            // A redirect without `Location` is a failure too, whether or not redirects are followed.
            || head.location.is_none() && matches!(head.status, 301..=303 | 307 | 308);
        self.keep_head
            || self.keep_body
            || redirects
            || cookies
            || noted
            || asked
            || failed
            || self.tunnels
    }

    /// Returns true if only the content counts as received bytes, without the framing of chunks: JMeter counts the
    /// bytes that Java's own client returns.
    pub(super) fn counts_content(&self) -> bool {
        self.java && !self.tunnels
    }

    /// Returns the number of bytes that a piece of the body adds to the sample's size. With "Save response as MD5
    /// hash", JMeter's Java implementation uses the length of the digest as the size of an error page's body.
    pub(super) fn counted(&self, bytes: u64, is_first: bool) -> u64 {
        if self.counts_content() && self.digest && self.status >= 400 {
            u64::from(is_first) * DIGEST
        } else {
            bytes
        }
    }
}

/// Returns true if a response with this status may be stored in a user's cache.
pub(crate) fn is_cacheable(status: u16) -> bool {
    matches!(status, 200..=299 | 304)
}

/// Returns true if content of this type may be searched for links: it is not an image, sound, video or font.
fn may_be_page(content_type: &[u8]) -> bool {
    const OTHERS: [&[u8]; 4] = [b"image/", b"audio/", b"video/", b"font/"];
    let is = |kind: &&[u8]| {
        content_type.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind))
    };
    content_type.len() >= 13 && content_type[..13].eq_ignore_ascii_case(b"image/svg+xml")
        || !OTHERS.iter().any(is)
}

/// A complete response of which parts were kept.
pub(crate) struct KeptResponse<'e> {
    pub(crate) user: UserId,
    pub(crate) sampler: SamplerId,
    pub(crate) exchange: &'e HttpExchange,
    pub(crate) timing: Timing,
    pub(crate) stash: Box<Stash>,
}

/// The kept parts of a request and its response.
#[derive(Debug, Default)]
pub(crate) struct Stash {
    /// Head of the response as on the wire.
    pub(crate) head: Vec<u8>,
    /// Byte ranges of the content type and the content encoding in the head.
    pub(crate) content_type: Option<Range<usize>>,
    pub(crate) content_encoding: Option<Range<usize>>,
    /// True if the response sets cookies.
    pub(crate) set_cookie: bool,
    /// Body of the response as on the wire, without framing.
    pub(crate) body: Vec<u8>,
    /// URL of the request.
    pub(crate) url: String,
    /// Method of the request.
    pub(crate) method: String,
    /// Header lines of the request, as JMeter shows them.
    pub(crate) request_headers: String,
    /// Request line, body and cookies, as JMeter shows them.
    pub(crate) sampler_data: String,
    /// Cookies of the request, and its body (`query_string`).
    pub(crate) cookies: String,
    pub(crate) query_string: String,
    /// An error that HttpClient finds in the request when a response arrives; otherwise empty.
    pub(crate) connection_fault: String,
    /// The trace of the request's sample.
    pub(crate) trace: TraceId,
    /// The key for decrypting the response.
    pub(crate) encrypted: Option<Encrypted>,
}

/// The key for a response of a mobile gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encrypted {
    pub(crate) key: SessionKey,
    /// True if a response that is not encrypted fails the sample.
    pub(crate) always: bool,
}

impl Stash {
    /// Stores the head of a response.
    pub(crate) fn keep_head(&mut self, head: &wire::http1::Head<'_>) {
        self.head.clear();
        self.head.extend_from_slice(head.raw);
        let start = head.raw.as_ptr() as usize;
        // Values are slices of the head, so their offset is their distance from its start.
        let place = |value: &[u8]| {
            let from = value.as_ptr() as usize - start;
            from..from + value.len()
        };
        self.content_type = head.content_type.map(place);
        self.content_encoding = head.content_encoding.map(place);
        self.set_cookie = head.set_cookie;
    }

    /// Stores a part of a body, up to a total of `most` bytes. The buffer never grows beyond `most` either.
    pub(crate) fn keep_body(&mut self, part: &[u8], most: usize) {
        keep_part(&mut self.body, part, most);
    }

    /// Clears the response, but not the request.
    pub(crate) fn clear_answer(&mut self) {
        self.content_type = None;
        self.content_encoding = None;
        self.set_cookie = false;
        self.head.clear();
        self.body.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.clear_answer();
        self.url.clear();
        self.method.clear();
        self.request_headers.clear();
        self.sampler_data.clear();
        self.cookies.clear();
        self.query_string.clear();
        self.connection_fault.clear();
        self.trace = TraceId::NONE;
        self.encrypted = None;
    }
}

/// Spare stashes of a core.
#[derive(Debug, Default)]
#[allow(clippy::vec_box)] // Boxes are passed on without copying their content.
pub(crate) struct Stashes {
    free: Vec<Box<Stash>>,
    /// Maximum number of kept body bytes: if the body itself is needed, and if only its digest is needed.
    pub(super) most_of_body: [usize; 2],
}

impl Stashes {
    pub(crate) fn new(most_of_body: [usize; 2]) -> Self {
        Self { free: Vec::new(), most_of_body }
    }

    /// Returns an empty stash.
    pub(crate) fn take(&mut self) -> Box<Stash> {
        let mut stash = self.free.pop().unwrap_or_default();
        stash.clear();
        stash
    }

    pub(crate) fn give(&mut self, stash: Box<Stash>) {
        self.free.push(stash);
    }
}
