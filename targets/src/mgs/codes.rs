//! The gateway's result codes, with the memo that the answer's header contains.

/// The refusal of a request: its result code, and a text that tells the client's developers the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) why: String,
}

/// Result codes and memos, in ascending order of the code.
pub(super) const CODES: [(u16, &str); 23] = [
    (OK, "OK"),
    (1001, "Access denied"),
    (LIMITED, "Rate limited"),
    (1005, "Not authorised"),
    (LOGGED_OUT, "Login is over"),
    (NO_OPERATION, "API is missing or closed"),
    (EMPTY, "Request data is empty"),
    (FORMAT, "Request data has a bad format"),
    (DECRYPTION, "Decryption failed"),
    (SLOW_BACKEND, "Backend timeout"),
    (BAD_BACKEND, "Backend failed"),
    (NO_BACKEND, "Host of the API group is unknown"),
    (5000, "Unknown error"),
    (6000, "Service is missing"),
    (6001, "Service failed"),
    (NO_KEY, "No key for the signature"),
    (NO_PARAMETERS, "Parameters of the signature are missing"),
    (BAD_SIGNATURE, "Signature is wrong"),
    (EXPIRED, "Time stamp is not valid"),
    (NO_TIME, "Time stamp is missing"),
    (NO_SIGNATURE, "Signature is missing"),
    (8002, "Preflight of another origin"),
    (9999, "Other"),
];

pub(super) const OK: u16 = 1000;
pub(super) const LIMITED: u16 = 1002;
pub(super) const LOGGED_OUT: u16 = 2000;
pub(super) const NO_OPERATION: u16 = 3000;
pub(super) const EMPTY: u16 = 3001;
pub(super) const FORMAT: u16 = 3002;
pub(super) const DECRYPTION: u16 = 3003;
pub(super) const SLOW_BACKEND: u16 = 4001;
pub(super) const BAD_BACKEND: u16 = 4002;
pub(super) const NO_BACKEND: u16 = 4003;
pub(super) const NO_KEY: u16 = 7000;
pub(super) const NO_PARAMETERS: u16 = 7001;
pub(super) const BAD_SIGNATURE: u16 = 7002;
pub(super) const EXPIRED: u16 = 7003;
pub(super) const NO_TIME: u16 = 7007;
pub(super) const NO_SIGNATURE: u16 = 7014;

pub(super) fn refuse(code: u16, why: impl Into<String>) -> Refusal {
    Refusal { code, why: why.into() }
}

/// Returns the position of a result code in [`CODES`]; the last position for an unknown code.
pub(super) fn position(code: u16) -> usize {
    CODES.iter().position(|(known, _)| *known == code).unwrap_or(CODES.len() - 1)
}

pub(super) fn memo(code: u16) -> &'static str {
    CODES[position(code)].1
}

/// Encodes text for a header: all bytes except letters, digits and a few marks become `%XX`.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_memos_fit_a_header() {
        assert!(CODES.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!((memo(7003), memo(12345)), ("Time stamp is not valid", "Other"));
        assert_eq!(encoded("验签 a-1\r\n"), "%E9%AA%8C%E7%AD%BE%20a-1%0D%0A");
    }
}
