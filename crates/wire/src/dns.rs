//! DNS messages for address lookups: queries for A records, and their responses.
//!
//! A response is parsed as a whole and not trusted: lengths are checked, and compression pointers may only point
//! backwards. Names are kept in wire format, in lower case.

use std::fmt;
use std::net::Ipv4Addr;

/// Length of the DNS header in bytes.
const HEADER: usize = 12;
/// Maximum length of a DNS name in wire format, in bytes.
const LONGEST: usize = 255;
const A: u16 = 1;
const CNAME: u16 = 5;
const IN: u16 = 1;

/// A DNS name in wire format, in lower case, with the terminating zero byte.
#[derive(Clone, PartialEq, Eq)]
pub struct Name(Vec<u8>);

/// Content of a DNS response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The IPv4 addresses of the name, without duplicates, in the order of the response.
    Addresses(Vec<Ipv4Addr>),
    /// The DNS name is an alias (CNAME) of another name.
    Alias(Name),
    /// The DNS name does not exist or has no address, or the server failed.
    Nothing,
    /// The DNS response is truncated: the query must be resent over TCP.
    Truncated,
    /// The DNS response belongs to another query.
    NotOurs,
}

/// Error: the message is not valid DNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a DNS message")
    }
}

impl std::error::Error for Malformed {}

impl Name {
    /// Returns the root of all DNS names.
    pub fn root() -> Self {
        Self(vec![0])
    }

    /// Encodes a DNS name with or without its final dot; `None` if it is not a valid name.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.strip_suffix('.').unwrap_or(text);
        let mut wire = Vec::with_capacity(text.len() + 2);
        for label in text.split('.').filter(|_| !text.is_empty()) {
            if label.is_empty() || label.len() > 63 || !label.is_ascii() {
                return None;
            }
            wire.push(label.len() as u8);
            wire.extend(label.bytes().map(|byte| byte.to_ascii_lowercase()));
        }
        wire.push(0);
        (wire.len() <= LONGEST).then_some(Self(wire))
    }

    /// Appends `other` as the parent of this DNS name; `None` if the result is too long.
    pub fn below(&self, other: &Self) -> Option<Self> {
        let mut wire = self.0[..self.0.len() - 1].to_vec();
        wire.extend_from_slice(&other.0);
        (wire.len() <= LONGEST).then_some(Self(wire))
    }

    /// Returns the number of labels of the DNS name.
    pub fn labels(&self) -> usize {
        let (mut at, mut count) = (0, 0);
        while let Some(length) = self.0.get(at).filter(|length| **length > 0) {
            at += usize::from(*length) + 1;
            count += 1;
        }
        count
    }
}

impl fmt::Display for Name {
    /// Writes the DNS name in text form with the final dot.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = &self.0[..];
        if self.0.len() == 1 {
            return f.write_str(".");
        }
        while let Some((length, after)) = rest.split_first().filter(|(length, _)| **length > 0) {
            let (label, after) = after.split_at(usize::from(*length).min(after.len()));
            write!(f, "{}.", label.escape_ascii())?;
            rest = after;
        }
        Ok(())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Appends a recursive DNS query for the addresses of a name.
pub fn ask(id: u16, name: &Name, out: &mut Vec<u8>) {
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(&[1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    out.extend_from_slice(&name.0);
    out.extend_from_slice(&A.to_be_bytes());
    out.extend_from_slice(&IN.to_be_bytes());
}

/// Parses a message that may be the response to the query `id` for `name`. `whole` is true for a message over TCP, in
/// which the truncation flag is ignored.
pub fn read(id: u16, name: &Name, message: &[u8], whole: bool) -> Result<Answer, Malformed> {
    let mut reader = Reader { message, at: 0 };
    let (own, flags) = (reader.number()?, reader.number()?);
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = reader.number()?;
    }
    if own != id {
        return Ok(Answer::NotOurs);
    }
    let truncated = flags & 0x0200 != 0;
    let records = reader.records(counts, name);
    if truncated && !whole {
        return Ok(Answer::Truncated);
    }
    let (asked, found) = match records {
        Ok(records) => records,
        // If a truncated DNS message cannot be parsed, the response has no answer.
        Err(Malformed) if truncated => return Ok(Answer::Nothing),
        Err(Malformed) => return Err(Malformed),
    };
    // Only the DNS response codes 0 (no error) and 3 (no such name) count as answers.
    if !asked || !matches!(flags & 15, 0 | 3) {
        return Ok(Answer::Nothing);
    }
    Ok(found)
}

struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// Parses all records of a response; returns whether its question is about `name`, and the answer found for `name`.
    fn records(&mut self, counts: [u16; 4], name: &Name) -> Result<(bool, Answer), Malformed> {
        let mut asked = false;
        for _ in 0..counts[0] {
            let of = self.name()?;
            let kind = (self.number()?, self.number()?);
            asked |= of == *name && kind == (A, IN);
        }
        let mut found = Answer::Nothing;
        for n in 0..counts[1..].iter().map(|count| u32::from(*count)).sum() {
            let owner = self.name()?;
            let (kind, class) = (self.number()?, self.number()?);
            // The time to live of a DNS record is ignored.
            self.take(4)?;
            let length = usize::from(self.number()?);
            let end = self.at + length;
            if end > self.message.len() {
                return Err(Malformed);
            }
            let ours = n < u32::from(counts[1]) && class == IN && owner == *name;
            match kind {
                A => {
                    let bytes: [u8; 4] =
                        self.message[self.at..end].try_into().map_err(|_| Malformed)?;
                    found = match found {
                        Answer::Nothing if ours => Answer::Addresses(vec![bytes.into()]),
                        Answer::Addresses(mut all) if ours => {
                            if !all.contains(&bytes.into()) {
                                all.push(bytes.into());
                            }
                            Answer::Addresses(all)
                        }
                        found => found,
                    };
                }
                CNAME => {
                    let target = self.name()?;
                    if self.at != end {
                        return Err(Malformed);
                    }
                    if ours && found == Answer::Nothing {
                        found = Answer::Alias(target);
                    }
                }
                _ => {}
            }
            self.at = end;
        }
        Ok((asked, found))
    }

    fn take(&mut self, length: usize) -> Result<&[u8], Malformed> {
        let bytes = self.message.get(self.at..self.at + length).ok_or(Malformed)?;
        self.at += length;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u16, Malformed> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn name(&mut self) -> Result<Name, Malformed> {
        let mut wire = Vec::new();
        let mut at = self.at;
        let mut end = None;
        loop {
            let length = usize::from(*self.message.get(at).ok_or(Malformed)?);
            match length {
                0 => {
                    wire.push(0);
                    self.at = end.unwrap_or(at + 1);
                    return if wire.len() <= LONGEST { Ok(Name(wire)) } else { Err(Malformed) };
                }
                1..64 => {
                    let label = self.message.get(at..=at + length).ok_or(Malformed)?;
                    wire.extend(label.iter().map(u8::to_ascii_lowercase));
                    if wire.len() > LONGEST {
                        return Err(Malformed);
                    }
                    at += length + 1;
                }
                192.. => {
                    let low = usize::from(*self.message.get(at + 1).ok_or(Malformed)?);
                    let to = (length & 63) << 8 | low;
                    end = end.or(Some(at + 2));
                    // A compression pointer may only point backwards, which excludes endless loops.
                    if to >= at || to < HEADER {
                        return Err(Malformed);
                    }
                    at = to;
                }
                _ => return Err(Malformed),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).expect("a name")
    }

    /// Builds a DNS response to `ask(7, www.test)`.
    fn answer(flags: u16, records: &[(&[u8], u16, &[u8])]) -> Vec<u8> {
        let mut message = Vec::new();
        ask(7, &name("www.test"), &mut message);
        message[2..4].copy_from_slice(&flags.to_be_bytes());
        message[6..8].copy_from_slice(&(records.len() as u16).to_be_bytes());
        for (owner, kind, data) in records {
            message.extend_from_slice(owner);
            message.extend_from_slice(&kind.to_be_bytes());
            message.extend_from_slice(&[0, 1, 0, 0, 0, 60]);
            message.extend_from_slice(&(data.len() as u16).to_be_bytes());
            message.extend_from_slice(data);
        }
        message
    }

    const WWW: &[u8] = &[192, 12];

    #[test]
    fn names() {
        assert_eq!(name("Www.Test").to_string(), "www.test.");
        assert_eq!(name("www.test."), name("WWW.TEST"));
        assert_eq!((name("www.test").labels(), name(".").labels()), (2, 0));
        assert_eq!(name("www").below(&name("a.test")), Some(name("www.a.test")));
        for wrong in ["a..b", ".a", "ä.test"] {
            assert_eq!(Name::new(wrong), None, "{wrong}");
        }
        assert_eq!(Name::new(&"a".repeat(64)), None);
        assert_eq!(Name::new(&"abcdefg.".repeat(33)), None);
    }

    #[test]
    fn a_question() {
        let mut out = Vec::new();
        ask(0x1234, &name("a.bc"), &mut out);
        assert_eq!(out, b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x02bc\0\0\x01\0\x01");
    }

    #[test]
    fn addresses_come_once_and_in_order() {
        let message = answer(
            0x8180,
            &[(WWW, 1, &[9, 9, 9, 9]), (WWW, 1, &[1, 2, 3, 4]), (WWW, 1, &[9, 9, 9, 9])],
        );
        let addresses = [[9, 9, 9, 9], [1, 2, 3, 4]].map(Ipv4Addr::from).to_vec();
        assert_eq!(read(7, &name("www.test"), &message, false), Ok(Answer::Addresses(addresses)));
        assert_eq!(read(8, &name("www.test"), &message, false), Ok(Answer::NotOurs));
        assert_eq!(read(7, &name("ftp.test"), &message, false), Ok(Answer::Nothing));
    }

    #[test]
    fn an_alias_is_followed_by_another_question() {
        let target = b"\x01x\xc0\x10";
        let message = answer(0x8180, &[(WWW, 5, target), (b"\x01x\xc0\x10", 1, &[1, 2, 3, 4])]);
        let found = read(7, &name("www.test"), &message, false);
        assert_eq!(found, Ok(Answer::Alias(name("x.test"))));
    }

    #[test]
    fn what_says_nothing() {
        for flags in [0x8182, 0x8183, 0x8185] {
            let found = read(7, &name("www.test"), &answer(flags, &[]), false);
            assert_eq!(found, Ok(Answer::Nothing), "{flags:x}");
        }
        let refused = answer(0x8185, &[(WWW, 1, &[1, 2, 3, 4])]);
        assert_eq!(read(7, &name("www.test"), &refused, false), Ok(Answer::Nothing));
    }

    #[test]
    fn what_is_cut_short_is_asked_for_by_tcp() {
        let mut message = answer(0x8380, &[(WWW, 1, &[1, 2, 3, 4])]);
        message.truncate(message.len() - 3);
        assert_eq!(read(7, &name("www.test"), &message, false), Ok(Answer::Truncated));
        assert_eq!(read(7, &name("www.test"), &message, true), Ok(Answer::Nothing));
    }

    #[test]
    fn what_is_no_message() {
        let whole = answer(0x8180, &[(WWW, 1, &[1, 2, 3, 4])]);
        for end in (0..whole.len()).filter(|end| *end != whole.len()) {
            assert_eq!(read(7, &name("www.test"), &whole[..end], false), Err(Malformed), "{end}");
        }
        for wrong in [
            answer(0x8180, &[(WWW, 1, &[1, 2, 3])]),
            answer(0x8180, &[(WWW, 5, b"\x01x\0\0")]),
            // Compression pointers that point to themselves or forwards.
            answer(0x8180, &[(&[192, 26], 1, &[1, 2, 3, 4])]),
            answer(0x8180, &[(&[192, 40], 1, &[1, 2, 3, 4])]),
            answer(0x8180, &[(&[64, 1], 1, &[1, 2, 3, 4])]),
        ] {
            assert_eq!(read(7, &name("www.test"), &wrong, false), Err(Malformed));
        }
    }
}
