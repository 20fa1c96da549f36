//! Close frames (RFC 6455, sections 5.5.1 and 7.4): a valid status code and a UTF-8 reason.

use super::message::Violation;
use super::{Opcode, push_frame};

/// Maximum length of a close reason in bytes: a control frame has at most 125, and two are the code.
pub const LONGEST_REASON: usize = 123;

/// True if an endpoint may send this close code. 1004 is undefined; 1005, 1006 and 1015 are never on the wire. Below
/// 3000 only registered codes are valid; 3000 to 4999 may be used freely.
pub const fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// Parses code and reason of a close frame; both may be absent.
pub fn read(payload: &[u8]) -> Result<(Option<u16>, &str), Violation> {
    match payload {
        [] => Ok((None, "")),
        [_] => Err(Violation::CloseLength),
        [high, low, reason @ ..] => {
            let code = u16::from_be_bytes([*high, *low]);
            if !may_be_sent(code) {
                return Err(Violation::CloseCode(code));
            }
            let reason = std::str::from_utf8(reason).map_err(|_| Violation::CloseReason)?;
            Ok((Some(code), reason))
        }
    }
}

/// Appends a close frame; a reason that is too long is cut at a character boundary.
pub fn push(out: &mut Vec<u8>, code: u16, reason: &str, mask: Option<[u8; 4]>) {
    let mut end = reason.len().min(LONGEST_REASON);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let mut payload = [0; 2 + LONGEST_REASON];
    payload[..2].copy_from_slice(&code.to_be_bytes());
    payload[2..2 + end].copy_from_slice(&reason.as_bytes()[..end]);
    push_frame(out, Opcode::CLOSE, &payload[..2 + end], mask);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::websocket::head;

    #[test]
    fn codes_that_may_be_sent() {
        let may: Vec<u16> = (0..=u16::MAX).filter(|&code| may_be_sent(code)).collect();
        let expected = (1000..=1003).chain(1007..=1014).chain(3000..=4999);
        assert!(may.into_iter().eq(expected));
    }

    #[test]
    fn what_is_written_is_read() {
        for (reason, read_back) in [
            (String::new(), String::new()),
            ("bye".to_owned(), "bye".to_owned()),
            ("x".repeat(200), "x".repeat(123)),
            ("é".repeat(70), "é".repeat(61)),
        ] {
            let mut out = Vec::new();
            push(&mut out, 4008, &reason, None);
            let head = head(&out).unwrap().unwrap();
            assert!(head.length <= 125 && head.opcode == Opcode::CLOSE);
            assert_eq!(read(&out[head.size..]), Ok((Some(4008), &read_back[..])));
        }
    }
}
