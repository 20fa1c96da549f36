//! Cache of the last parsed response head. Under load, most responses of a server begin with the same bytes, at least
//! within one second of its clock. Comparing the bytes costs a tenth of parsing them, and equal bytes have equal parsed
//! values.

use super::head::{Framing, Head};

/// The last parsed head with its parsed values. One memo serves any number of connections.
#[derive(Debug, Default)]
pub struct Memo {
    raw: Vec<u8>,
    facts: Option<Facts>,
}

#[derive(Clone, Copy, Debug)]
struct Facts {
    request_is_head: bool,
    framing: Framing,
    status: u16,
    version_minor: u8,
    keep_alive: bool,
    content_length: Option<u64>,
    chunked: bool,
    has_body: bool,
    keep_alive_timeout_s: Option<u32>,
    set_cookie: bool,
    reason: Place,
    content_encoding: Option<Place>,
    content_type: Option<Place>,
    location: Option<Place>,
}

/// Start and end of a value within the response head, in bytes.
type Place = (u32, u32);

impl Memo {
    /// Returns the cached response head if `input` begins with the same bytes.
    #[inline]
    pub(super) fn recall<'b>(
        &self,
        input: &'b [u8],
        request_is_head: bool,
    ) -> Option<(Head<'b>, Framing)> {
        let facts = self.facts.as_ref()?;
        if facts.request_is_head != request_is_head || !input.starts_with(&self.raw) {
            return None;
        }
        let at = |place: Place| &input[place.0 as usize..place.1 as usize];
        let head = Head {
            raw: &input[..self.raw.len()],
            status: facts.status,
            reason: at(facts.reason),
            version_minor: facts.version_minor,
            keep_alive: facts.keep_alive,
            content_length: facts.content_length,
            chunked: facts.chunked,
            has_body: facts.has_body,
            content_encoding: facts.content_encoding.map(at),
            content_type: facts.content_type.map(at),
            location: facts.location.map(at),
            keep_alive_timeout_s: facts.keep_alive_timeout_s,
            set_cookie: facts.set_cookie,
        };
        Some((head, facts.framing))
    }

    /// Caches a response head that was just parsed.
    pub(super) fn remember(&mut self, head: &Head<'_>, framing: Framing, request_is_head: bool) {
        let start = head.raw.as_ptr() as usize;
        // Values are slices of the response head, so pointer differences are positions within it.
        let place = |value: &[u8]| {
            let from = (value.as_ptr() as usize).wrapping_sub(start);
            (from as u32, (from + value.len()) as u32)
        };
        let inside = |value: &[u8]| place(value).1 as usize <= head.raw.len();
        if !inside(head.reason) {
            self.facts = None;
            return;
        }
        self.raw.clear();
        self.raw.extend_from_slice(head.raw);
        self.facts = Some(Facts {
            request_is_head,
            framing,
            status: head.status,
            version_minor: head.version_minor,
            keep_alive: head.keep_alive,
            content_length: head.content_length,
            chunked: head.chunked,
            has_body: head.has_body,
            keep_alive_timeout_s: head.keep_alive_timeout_s,
            set_cookie: head.set_cookie,
            reason: place(head.reason),
            content_encoding: head.content_encoding.map(place),
            content_type: head.content_type.map(place),
            location: head.location.map(place),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Decoder, Event, Limits};
    use super::Memo;

    fn facts(decoder: &mut Decoder, memo: &mut Memo, input: &[u8]) -> String {
        let mut found = String::new();
        let mut at = 0;
        loop {
            let (used, event) = decoder.next_with(&input[at..], memo).unwrap();
            at += used;
            found += &format!("{event:?} {used}\n");
            if matches!(event, Event::NeedMore | Event::End) {
                return found;
            }
        }
    }

    #[test]
    fn a_remembered_head_reads_as_a_parsed_one() {
        let heads: [&[u8]; 5] = [
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nSet-Cookie: a=b\r\n\r\nok",
            b"HTTP/1.1 302\r\nLocation: /x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n1\r\na\r\n0\r\n\r\n",
            b"HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=5\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        ];
        for is_head in [false, true] {
            let mut memo = Memo::default();
            for head in heads {
                let plain = facts(
                    &mut Decoder::new(is_head, Limits::default()),
                    &mut Memo::default(),
                    head,
                );
                for _ in 0..3 {
                    let mut decoder = Decoder::new(is_head, Limits::default());
                    assert_eq!(facts(&mut decoder, &mut memo, head), plain);
                }
            }
        }
    }

    #[test]
    fn the_kind_of_request_tells_heads_apart() {
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let mut memo = Memo::default();
        let get = facts(&mut Decoder::new(false, Limits::default()), &mut memo, response);
        let head = facts(&mut Decoder::new(true, Limits::default()), &mut memo, response);
        assert!(get.contains("Body") && !head.contains("Body"));
    }
}
