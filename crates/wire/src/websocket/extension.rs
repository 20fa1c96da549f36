//! The parameters of `permessage-deflate` (RFC 7692, section 7.1), parsed from and written into header values.
//!
//! No other extension is supported. Values may be quoted. The answer of a server is parsed leniently. The offers of a
//! client are parsed by the RFC, which says that a server skips an offer that it cannot meet.

/// Parameters of `permessage-deflate`, agreed on or offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deflate {
    /// True if the server drops its compression context after each message.
    pub server_no_context_takeover: bool,
    /// True if the client drops its compression context after each message.
    pub client_no_context_takeover: bool,
    /// Base-2 logarithm of the server's window in bytes, 8 to 15.
    pub server_max_window_bits: u8,
    /// Base-2 logarithm of the client's window in bytes, 8 to 15.
    pub client_max_window_bits: u8,
}

impl Default for Deflate {
    fn default() -> Self {
        Self {
            server_no_context_takeover: false,
            client_no_context_takeover: false,
            server_max_window_bits: 15,
            client_max_window_bits: 15,
        }
    }
}

const NAME: &str = "permessage-deflate";
const SERVER_TAKEOVER: &str = "server_no_context_takeover";
const CLIENT_TAKEOVER: &str = "client_no_context_takeover";
const SERVER_BITS: &str = "server_max_window_bits";
const CLIENT_BITS: &str = "client_max_window_bits";

impl Deflate {
    /// Parses a server's answer: the first `permessage-deflate` in a `Sec-WebSocket-Extensions` value. Parameters that
    /// cannot be parsed count as absent.
    pub fn answered(value: &[u8]) -> Option<Self> {
        elements(value).map(|element| Self::read(element).0).next()
    }

    /// Parses a client's offers in a `Sec-WebSocket-Extensions` value; returns the first offer that a server can meet:
    /// an offer without unknown, repeated or invalid parameters.
    pub fn offered(value: &[u8]) -> Option<Self> {
        elements(value).map(Self::read).find(|(_, valid)| *valid).map(|(offer, _)| offer)
    }

    /// Parses the parameters of one `permessage-deflate` element. The returned boolean is true if all parameters are
    /// known, valid and unique.
    fn read(element: &[u8]) -> (Self, bool) {
        let mut found = Self::default();
        let mut valid = true;
        let mut seen = 0u8;
        for parameter in element.split(|&b| b == b';').skip(1) {
            let equals = parameter.iter().position(|&b| b == b'=');
            let name = parameter[..equals.unwrap_or(parameter.len())].trim_ascii();
            let value = equals.map(|at| unquoted(parameter[at + 1..].trim_ascii()));
            let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
            let bit = if is(SERVER_TAKEOVER) {
                found.server_no_context_takeover = true;
                valid &= value.is_none();
                1
            } else if is(CLIENT_TAKEOVER) {
                found.client_no_context_takeover = true;
                valid &= value.is_none();
                2
            } else if is(SERVER_BITS) {
                match value.and_then(bits) {
                    Some(bits) => found.server_max_window_bits = bits,
                    None => valid = false,
                }
                4
            } else if is(CLIENT_BITS) {
                // Without a value, the client only says that it accepts a window size from the server.
                match value.map(bits) {
                    Some(Some(bits)) => found.client_max_window_bits = bits,
                    Some(None) => valid = false,
                    None => {}
                }
                8
            } else {
                valid = false;
                0
            };
            valid &= seen & bit == 0;
            seen |= bit;
        }
        (found, valid)
    }

    /// Appends the compression parameters as a header value.
    pub fn push(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(NAME.as_bytes());
        for (name, set) in [
            (SERVER_TAKEOVER, self.server_no_context_takeover),
            (CLIENT_TAKEOVER, self.client_no_context_takeover),
        ] {
            if set {
                out.extend_from_slice(b"; ");
                out.extend_from_slice(name.as_bytes());
            }
        }
        for (name, bits) in
            [(SERVER_BITS, self.server_max_window_bits), (CLIENT_BITS, self.client_max_window_bits)]
        {
            if bits < 15 {
                out.extend_from_slice(format!("; {name}={bits}").as_bytes());
            }
        }
    }
}

/// Iterates over the `permessage-deflate` elements in a list of extensions.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').filter(|element| {
        let name = element.split(|&b| b == b';').next().unwrap_or_default();
        name.trim_ascii().eq_ignore_ascii_case(NAME.as_bytes())
    })
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value)
}

/// Parses the number of window bits: 8 to 15, without leading zeros.
fn bits(value: &[u8]) -> Option<u8> {
    match value {
        [digit @ b'8'..=b'9'] => Some(digit - b'0'),
        [b'1', digit @ b'0'..=b'5'] => Some(10 + digit - b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_offers() {
        let plain = Deflate::default();
        let all = Deflate {
            server_no_context_takeover: true,
            client_no_context_takeover: true,
            server_max_window_bits: 10,
            client_max_window_bits: 8,
        };
        // Columns of the test table: header value, parsed answer, parsed offer.
        let table: [(&str, Option<Deflate>, Option<Deflate>); 11] = [
            ("", None, None),
            ("x-webkit-deflate-frame", None, None),
            ("permessage-deflate", Some(plain), Some(plain)),
            (" PerMessage-Deflate ", Some(plain), Some(plain)),
            ("permessage-deflate; client_max_window_bits", Some(plain), Some(plain)),
            (
                "permessage-deflate;server_no_context_takeover;client_no_context_takeover; \
                 server_max_window_bits=10; client_max_window_bits=\"8\"",
                Some(all),
                Some(all),
            ),
            ("foo, permessage-deflate", Some(plain), Some(plain)),
            ("permessage-deflate; server_max_window_bits=16", Some(plain), None),
            ("permessage-deflate; server_max_window_bits=09", Some(plain), None),
            ("permessage-deflate; nonsense, permessage-deflate", Some(plain), Some(plain)),
            (
                "permessage-deflate; client_max_window_bits; client_max_window_bits",
                Some(plain),
                None,
            ),
        ];
        for (value, answered, offered) in table {
            assert_eq!(Deflate::answered(value.as_bytes()), answered, "{value}");
            assert_eq!(Deflate::offered(value.as_bytes()), offered, "{value}");
        }
        let mut out = Vec::new();
        all.push(&mut out);
        assert_eq!(Deflate::offered(&out), Some(all));
    }
}
