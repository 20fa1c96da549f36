//! Inserts a gateway's header lines and an encrypted body into a rendered request.

use std::ops::Range;

use super::{Request, header};

impl Request {
    /// Returns the value of the plan's first header line with this name.
    pub fn own_header(&self, name: &str) -> Option<&[u8]> {
        header::lines(&self.headers[..self.own_end])
            .find_map(|line| header::value_of(line, name.as_bytes()))
    }

    /// Inserts header lines after the plan's lines, replacing lines of the plan with the same names. Replaces the
    /// body if one is given. `room` is a buffer for the lines.
    pub fn seal<'a>(
        &mut self,
        lines: impl Iterator<Item = (&'a str, &'a str)> + Clone,
        body: Option<&[u8]>,
        room: &mut Vec<u8>,
    ) {
        room.clear();
        let mut places = HeaderPositions::of(self);
        let (mut at, end) = (0, self.own_end);
        for line in header::lines(&self.headers[..end]) {
            let replaced =
                lines.clone().any(|(name, _)| header::value_of(line, name.as_bytes()).is_some());
            places.note(at, room.len(), self);
            if !replaced {
                room.extend_from_slice(line);
            }
            at += line.len();
        }
        for (name, value) in lines {
            header::push(room, name, value);
        }
        for line in header::lines(&self.headers[end..]) {
            places.note(at, room.len(), self);
            match body {
                Some(body) if header::value_of(line, b"Content-Length").is_some() => {
                    header::push_length(room, body.len());
                }
                _ => room.extend_from_slice(line),
            }
            at += line.len();
        }
        places.note(at, room.len(), self);
        std::mem::swap(&mut self.headers, room);
        places.write(self);
        if let Some(body) = body {
            self.body.clear();
            self.body.extend_from_slice(body);
        }
    }
}

/// The fields of a request that are positions in its header lines; they move when lines are inserted.
struct HeaderPositions {
    own_end: usize,
    set_end: usize,
    cookie_at: usize,
    agent_at: usize,
    cookie: Range<usize>,
}

impl HeaderPositions {
    fn of(request: &Request) -> Self {
        Self {
            own_end: request.own_end,
            set_end: request.set_end,
            cookie_at: request.cookie_at,
            agent_at: request.agent_at,
            cookie: request.own_cookie.clone(),
        }
    }

    /// Updates the positions for a line that moved from `from` to `to`.
    fn note(&mut self, from: usize, to: usize, request: &Request) {
        let pairs = [
            (request.own_end, &mut self.own_end),
            (request.set_end, &mut self.set_end),
            (request.cookie_at, &mut self.cookie_at),
            (request.agent_at, &mut self.agent_at),
            (request.own_cookie.start, &mut self.cookie.start),
            (request.own_cookie.end, &mut self.cookie.end),
        ];
        for (place, moved) in pairs {
            if place == from {
                *moved = to;
            }
        }
    }

    fn write(self, request: &mut Request) {
        request.own_end = self.own_end;
        request.set_end = self.set_end;
        request.cookie_at = self.cookie_at;
        request.agent_at = self.agent_at;
        request.own_cookie = self.cookie;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(plan: &str, rest: &str) -> Request {
        let mut request = Request::default();
        request.headers.extend_from_slice(plan.as_bytes());
        request.own_end = plan.len();
        if let Some(at) = plan.find("Cookie:") {
            let end = at + plan[at..].find('\n').unwrap_or(0) + 1;
            request.own_cookie = at..end;
            request.cookie_at = at;
        } else {
            request.cookie_at = plan.len();
        }
        request.headers.extend_from_slice(rest.as_bytes());
        request.agent_at =
            request.headers.len() - rest.len() + rest.find("User-Agent").unwrap_or(0);
        request.body.extend_from_slice(b"plain");
        request
    }

    #[test]
    fn lines_stand_behind_the_plans_and_replace_them() {
        let plan = "Connection: keep-alive\r\nts: old\r\nCookie: a=b\r\nOperation-Type: x.y\r\n";
        let mut request = request(plan, "Content-Length: 5\r\nHost: h\r\nUser-Agent: u\r\n");
        assert_eq!(request.own_header("operation-type"), Some(&b"x.y"[..]));
        let lines = [("Ts", "abc"), ("Sign", "1f")];
        request.seal(lines.into_iter(), Some(b"0123456789"), &mut Vec::new());
        let headers = String::from_utf8(request.headers.clone()).expect("ASCII");
        let own = "Connection: keep-alive\r\nCookie: a=b\r\nOperation-Type: x.y\r\nTs: abc\r\nSign: 1f\r\n";
        assert_eq!(headers, format!("{own}Content-Length: 10\r\nHost: h\r\nUser-Agent: u\r\n"));
        assert_eq!(request.own_end, own.len());
        assert_eq!(&headers[request.own_cookie.clone()], "Cookie: a=b\r\n");
        assert_eq!(request.cookie_at, request.own_cookie.start);
        assert!(headers[request.agent_at..].starts_with("User-Agent"));
        assert_eq!(request.body, b"0123456789");
    }

    #[test]
    fn a_request_without_other_body_keeps_its_own() {
        let mut request = request("A: b\r\n", "Content-Length: 5\r\nHost: h\r\nUser-Agent: u\r\n");
        request.seal([("Ts", "abc")].into_iter(), None, &mut Vec::new());
        let headers = String::from_utf8(request.headers.clone()).expect("ASCII");
        assert_eq!(headers, "A: b\r\nTs: abc\r\nContent-Length: 5\r\nHost: h\r\nUser-Agent: u\r\n");
        assert_eq!(request.cookie_at, request.own_end);
        assert_eq!(request.body, b"plain");
    }
}
