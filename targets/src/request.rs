//! An HTTP/1 request as a view into a buffer that is never changed.
//!
//! The parser is lenient, because the mirror must show whatever a client sent. It interprets only the framing (end of
//! head, content length, chunks). Parsing allocates only for a chunked body. Cost: one scan for the end of the head,
//! one over the header lines.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// Maximum length of a request head in bytes; requests with a longer head are refused.
const LONGEST_HEAD: usize = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a [u8],
    pub(crate) target: &'a [u8],
    pub(crate) version: &'a [u8],
    /// The header lines without the request line and without the empty line.
    pub(crate) head: &'a [u8],
    pub(crate) body: Cow<'a, [u8]>,
    /// Number of the connection, from 1 in the order of accepting.
    pub(crate) connection: u64,
    /// Number of the request on its connection, from 1.
    pub(crate) order: u64,
    pub(crate) tls: bool,
}

/// The result of parsing the start of an input buffer.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// The buffer begins with a complete request, whose length is the second value.
    Whole(Request<'a>, usize),
    /// More bytes are needed. `expects` is true if the head is complete and the client waits for `100 Continue`.
    Part { expects: bool },
    /// The bytes in the buffer are not HTTP/1.
    Bad,
}

impl<'a> Request<'a> {
    pub(crate) fn find(buffer: &'a [u8]) -> Found<'a> {
        // Servers should skip empty lines before a request (RFC 9112, 2.2).
        let skipped = buffer.iter().take_while(|&&byte| byte == b'\r' || byte == b'\n').count();
        let rest = &buffer[skipped..];
        let Some(end) = memmem::find(rest, b"\r\n\r\n") else {
            return if rest.len() > LONGEST_HEAD {
                Found::Bad
            } else {
                Found::Part { expects: false }
            };
        };
        let whole_head = &rest[..end + 2];
        let Some(line_end) = memmem::find(whole_head, b"\r\n") else { return Found::Bad };
        let line = &whole_head[..line_end];
        let (Some(first), Some(last)) = (memchr(b' ', line), memchr::memrchr(b' ', line)) else {
            return Found::Bad;
        };
        if first == last || !line[last + 1..].starts_with(b"HTTP/1.") {
            return Found::Bad;
        }
        let mut request = Request {
            method: &line[..first],
            target: &line[first + 1..last],
            version: &line[last + 1..],
            head: &whole_head[line_end + 2..],
            body: Cow::Borrowed(&[]),
            connection: 0,
            order: 0,
            tls: false,
        };
        let after = &rest[end + 4..];
        let length = match request.body_in(after) {
            Framed::Whole(body, length) => {
                request.body = body;
                length
            }
            Framed::Part => {
                let expects = request
                    .header("Expect")
                    .is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"));
                return Found::Part { expects };
            }
            Framed::Bad => return Found::Bad,
        };
        Found::Whole(request, skipped + end + 4 + length)
    }

    /// Iterates over the header lines in order, without their line ends.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        Lines(self.head)
    }

    /// Returns the first value of the named header, without surrounding blanks.
    pub(crate) fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.lines().find_map(|line| {
            let value = line.get(name.len()..)?.strip_prefix(b":")?;
            line[..name.len()].eq_ignore_ascii_case(name.as_bytes()).then(|| value.trim_ascii())
        })
    }

    /// Returns the request target without its query.
    pub(crate) fn path(&self) -> &'a [u8] {
        &self.target[..memchr(b'?', self.target).unwrap_or(self.target.len())]
    }

    pub(crate) fn query(&self) -> &'a [u8] {
        memchr(b'?', self.target).map_or(&[], |mark| &self.target[mark + 1..])
    }

    /// True if the client wants the connection to stay open after this request.
    pub(crate) fn keeps_alive(&self) -> bool {
        match self.header("Connection") {
            Some(value) if value.eq_ignore_ascii_case(b"close") => false,
            Some(value) if value.eq_ignore_ascii_case(b"keep-alive") => true,
            _ => self.version != b"HTTP/1.0",
        }
    }

    fn body_in(&self, after: &'a [u8]) -> Framed<'a> {
        if self
            .header("Transfer-Encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case(b"chunked"))
        {
            return chunks(after);
        }
        let Some(value) = self.header("Content-Length") else {
            return Framed::Whole(Cow::Borrowed(&[]), 0);
        };
        match std::str::from_utf8(value).ok().and_then(|text| text.parse::<usize>().ok()) {
            Some(length) if length <= after.len() => {
                Framed::Whole(Cow::Borrowed(&after[..length]), length)
            }
            Some(_) => Framed::Part,
            None => Framed::Bad,
        }
    }
}

enum Framed<'a> {
    Whole(Cow<'a, [u8]>, usize),
    Part,
    Bad,
}

fn chunks(after: &[u8]) -> Framed<'_> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let Some(end) = memmem::find(&after[at..], b"\r\n") else { return Framed::Part };
        let line = &after[at..at + end];
        let digits = line.split(|&byte| byte == b';').next().unwrap_or(line).trim_ascii();
        let size =
            std::str::from_utf8(digits).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let Some(size) = size.filter(|&size| size <= 1 << 40) else { return Framed::Bad };
        at += end + 2;
        if size == 0 {
            // Skips the trailer lines of a chunked body up to an empty line.
            loop {
                let Some(end) = memmem::find(&after[at..], b"\r\n") else { return Framed::Part };
                at += end + 2;
                if end == 0 {
                    return Framed::Whole(Cow::Owned(body), at);
                }
            }
        }
        let Some(chunk) = after.get(at..at + size) else { return Framed::Part };
        body.extend_from_slice(chunk);
        match after.get(at + size..at + size + 2) {
            Some(b"\r\n") => at += size + 2,
            Some(_) => return Framed::Bad,
            None => return Framed::Part,
        }
    }
}

struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = memmem::find(self.0, b"\r\n")?;
        let (line, rest) = self.0.split_at(end);
        self.0 = &rest[2..];
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> (Request<'_>, usize) {
        match Request::find(bytes) {
            Found::Whole(request, length) => (request, length),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_ends_where_its_body_ends() {
        let (request, length) =
            whole(b"POST /a?b=c HTTP/1.1\r\nA: 1\r\ncontent-length: 3\r\n\r\nxyzGET");
        assert_eq!(
            (request.method, request.path(), request.query()),
            (&b"POST"[..], &b"/a"[..], &b"b=c"[..])
        );
        assert_eq!((&*request.body, length), (&b"xyz"[..], 52));
        assert_eq!(request.lines().collect::<Vec<_>>(), [&b"A: 1"[..], b"content-length: 3"]);
    }

    #[test]
    fn chunks_are_joined_and_trailers_skipped() {
        let (request, length) = whole(
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nT: 1\r\n\r\n",
        );
        assert_eq!((&*request.body, length), (&b"abcd"[..], 76));
    }

    #[test]
    fn parts_and_rubbish_are_told_apart() {
        assert!(matches!(Request::find(b"GET / HT"), Found::Part { expects: false }));
        let waiting = b"PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
        assert!(matches!(Request::find(waiting), Found::Part { expects: true }));
        assert!(matches!(Request::find(b"hello\r\n\r\n"), Found::Bad));
        assert!(matches!(
            Request::find(b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"),
            Found::Bad
        ));
        let chunked = b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
        assert!(matches!(Request::find(chunked), Found::Bad));
    }
}
