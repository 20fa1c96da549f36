//! Requests of HTTP/1, as far as a line knows them: facts that decide which parts of an answer are kept, and those parts. Hot.
//!
//! A response that nobody reads is counted and dropped; what is read is kept in a stash, given back to the core's pool
//! afterwards.

use std::ops::Range;

use mgs::SessionKey;
use stats::{ClassId, Draw};
use wire::http1::Head;

use crate::net::transport::keep_part;
use crate::time::timing::TraceId;

/// Length of an MD5 in hexadecimal digits.
const DIGEST: u64 = 32;

/// A request and its answer.
#[derive(Debug)]
pub(crate) struct HttpCall {
    pub(crate) facts: HttpExchange,
    pub(crate) stash: Option<Box<Stash>>,
}

/// Facts of a request that decide what becomes of its answer, and facts of that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpExchange {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) status: u16,
    /// The number by which chance chooses the sample.
    pub(crate) draw: Draw,
    /// The value of the header that exchanges are told apart by.
    pub(crate) header: ClassId,
    /// The gateway's result code, if it is one of failure; else 0.
    pub(crate) result_code: i32,
    /// Seconds for which the server says that it keeps the connection; 0 if it does not say.
    pub(crate) keep_alive_s: u16,
    /// The number of times that it was sent again after its connection turned out dead.
    pub(crate) retries: u8,
    pub(crate) keep_alive: bool,
    pub(crate) has_body: bool,
    /// Answers before the answer proper (`100 Continue`) do not count as received.
    pub(crate) interim_uncounted: bool,
    pub(crate) is_head: bool,
    /// As by Java's own client.
    pub(crate) java: bool,
    /// The request asks for the connection to be kept.
    pub(crate) want_keep_alive: bool,
    /// Somebody reads the head, the body.
    pub(crate) keep_head: bool,
    pub(crate) keep_body: bool,
    /// The body is kept if it may be a page, for its links.
    pub(crate) parse: bool,
    /// Only the digest of the body is read.
    pub(crate) digest: bool,
    /// Redirects become sub-samples; are followed silently.
    pub(crate) follow: bool,
    pub(crate) auto_follow: bool,
    /// Cookies of the answer are stored.
    pub(crate) cookies: bool,
    /// The answer may go to the user's cache.
    pub(crate) caches: bool,
    /// An answer that asks for credentials is answered.
    pub(crate) challenges: bool,
    /// A request of the same sample went before.
    pub(crate) again: bool,
    /// It is a proxy that was asked, for a tunnel.
    pub(crate) tunnels: bool,
    /// The request is one that never changes: what is shown of it is put beside the answer, if there is something.
    pub(crate) fixed: bool,
}

impl HttpCall {
    /// The trace of the sample; a request that never changes has none.
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

    /// The next request of the same sample, yet to be sent.
    pub(crate) fn again(&self) -> Self {
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

    /// Takes the head of the answer. True: it is read, and is to be kept.
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
        // JMeter's own form of a status line without a reason has a blank more. The size of the body is what is left of all bytes: of one
        // byte nothing is left, and JMeter then takes the length of the body instead.
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
        // Whoever looks at the result or not: a cause of errors has the server's words.
        let failed = !(200..400).contains(&head.status)
            // A redirect to nowhere is a failure, too, whether it would be followed or not.
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

    /// JMeter counts what Java's own client gives it, which is without the frames of chunks.
    pub(super) fn counts_content(&self) -> bool {
        self.java && !self.tunnels
    }

    /// The bytes by which a piece of the body adds to the sample's size. With "Save response as MD5 hash", JMeter's Java
    /// implementation takes the length of the digest as the size of an error page's body.
    pub(super) fn counted(&self, bytes: u64, is_first: bool) -> u64 {
        if self.counts_content() && self.digest && self.status >= 400 {
            u64::from(is_first) * DIGEST
        } else {
            bytes
        }
    }
}

/// Whether an answer of this status may go to a user's cache.
pub(crate) fn is_cacheable(status: u16) -> bool {
    matches!(status, 200..=299 | 304)
}

/// Whether a type of content may be one that is read for links: no picture, sound or video.
fn may_be_page(content_type: &[u8]) -> bool {
    const OTHERS: [&[u8]; 4] = [b"image/", b"audio/", b"video/", b"font/"];
    let is = |kind: &&[u8]| {
        content_type.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind))
    };
    content_type.len() >= 13 && content_type[..13].eq_ignore_ascii_case(b"image/svg+xml")
        || !OTHERS.iter().any(is)
}

/// The parts of a request and its response that are kept for those who read them.
#[derive(Debug, Default)]
pub(crate) struct Stash {
    /// Head of the response as on the wire.
    pub(crate) head: Vec<u8>,
    /// Where in it the content type and the content encoding stand.
    pub(crate) content_type: Option<Range<usize>>,
    pub(crate) content_encoding: Option<Range<usize>>,
    /// It sets cookies.
    pub(crate) set_cookie: bool,
    /// Body of the response as on the wire, framing removed.
    pub(crate) body: Vec<u8>,
    /// URL of the request.
    pub(crate) url: String,
    /// Method of the request.
    pub(crate) method: String,
    /// Header lines of the request, as JMeter shows them.
    pub(crate) request_headers: String,
    /// Request line, body and cookies, as JMeter shows them.
    pub(crate) sampler_data: String,
    /// Cookies and body alone.
    pub(crate) cookies: String,
    pub(crate) query_string: String,
    /// The fault that HttpClient finds in the request when there is an answer; else empty.
    pub(crate) connection_fault: String,
    /// The trace of the request's sample.
    pub(crate) trace: TraceId,
    /// The key that the answer may be encrypted with.
    pub(crate) encrypted: Option<Encrypted>,
}

/// The key of an answer of a mobile gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encrypted {
    pub(crate) key: SessionKey,
    /// An answer that is not encrypted fails.
    pub(crate) always: bool,
}

impl Stash {
    /// Keeps a response's head.
    pub(crate) fn keep_head(&mut self, head: &wire::http1::Head<'_>) {
        self.head.clear();
        self.head.extend_from_slice(head.raw);
        let start = head.raw.as_ptr() as usize;
        // Values are slices of the head: their distance from its start is their place in it.
        let place = |value: &[u8]| {
            let from = value.as_ptr() as usize - start;
            from..from + value.len()
        };
        self.content_type = head.content_type.map(place);
        self.content_encoding = head.content_encoding.map(place);
        self.set_cookie = head.set_cookie;
    }

    /// Keeps a part of a body, as far as all that is kept is at most `most` bytes. So is the buffer.
    pub(crate) fn keep_body(&mut self, part: &[u8], most: usize) {
        keep_part(&mut self.body, part, most);
    }

    /// Forgets the answer, but not the request.
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

/// Stashes that no exchange has, for the next ones.
#[derive(Debug, Default)]
#[allow(clippy::vec_box)] // They move between here and the connections by their pointer.
pub(crate) struct Stashes {
    free: Vec<Box<Stash>>,
    /// Bytes of a body that are kept at most: where it is read, and where only its digest is.
    pub(super) most_of_body: [usize; 2],
}

impl Stashes {
    pub(crate) fn new(most_of_body: [usize; 2]) -> Self {
        Self { free: Vec::new(), most_of_body }
    }

    /// An empty stash.
    pub(crate) fn take(&mut self) -> Box<Stash> {
        let mut stash = self.free.pop().unwrap_or_default();
        stash.clear();
        stash
    }

    pub(crate) fn give(&mut self, stash: Box<Stash>) {
        self.free.push(stash);
    }
}
