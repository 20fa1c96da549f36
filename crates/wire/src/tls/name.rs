//! Server names that are not valid in TLS.
//!
//! Java omits the server name (SNI) if `SNIHostName` rejects it, and still connects. This module does the same for
//! names such as `a_b.example`, `-a.example` and `a..example`. Sessions of such a server are cached under a substitute
//! name that matches no certificate.

use rustls::pki_types::ServerName;

use super::Error;

/// True if Java sends this server name (SNI): labels of letters, digits and hyphens, a dot inside, and no hyphen at
/// either end of a label.
pub(super) fn is_sent(name: &str) -> bool {
    let part = |part: &str| {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty()
            && part.bytes().all(legal)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    name.contains('.') && name.split('.').all(part)
}

/// Returns a valid substitute for an invalid server name: the same for equal names, another for any other name.
pub(super) fn stand_in(name: &str) -> Result<ServerName<'static>, Error> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { 'x' };
    let readable: String = name.chars().take(40).map(legal).collect();
    let name = format!("{readable}x.{hash:016x}.invalid");
    ServerName::try_from(name).map_err(|_| Error::BadName)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks names that `SNIHostName` of Java 17 accepts or rejects, except names that end with a number and non-ASCII
    /// names.
    #[test]
    fn names_that_java_sends() {
        for name in ["A.Example", "xn--a.b", "a--b.c", "ab--c.d", "1.example", "a.0x1"] {
            assert!(is_sent(name), "{name}");
        }
        let dots = ["a..example", ".a.b", "x.", "a.b.c.", "localhost", "."];
        let letters = ["a_b.example", "a b.c", "*.x", "a~.b"];
        let hyphens = ["-a.example", "a-.example", "a.-b", "-.x", "a.b-"];
        for name in dots.iter().chain(&letters).chain(&hyphens) {
            assert!(!is_sent(name), "{name}");
        }
    }

    #[test]
    fn each_stands_for_one() {
        let long = "-".repeat(300);
        let names =
            ["1", "srv.1", "-a.example", "a..example", "a. .example", "", "\u{fc}.x", &long];
        let all: std::collections::HashSet<_> =
            names.iter().map(|name| stand_in(name).expect("a name")).collect();
        assert_eq!(all.len(), names.len());
    }
}
