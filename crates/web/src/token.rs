//! The two access tokens of a server: one permits reading, the other permits reading and changes.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};

/// Length of a token in bytes: 128 bits.
const BYTES: usize = 16;

/// The rights that a client has by its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// The client sent no token or a wrong one.
    Nothing,
    Read,
    Change,
}

/// The tokens: random, and different for each server. They are never logged.
pub(crate) struct Tokens {
    read: String,
    change: String,
}

impl Tokens {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { read: random()?, change: random()? })
    }

    /// Returns the rights of a client that sent the token `given`.
    pub(crate) fn right(&self, given: &str) -> Right {
        // Both tokens are always compared, so that the response time does not reveal which one matches.
        let (read, change) = (same(&self.read, given), same(&self.change, given));
        if change {
            Right::Change
        } else if read {
            Right::Read
        } else {
            Right::Nothing
        }
    }

    pub(crate) fn of(&self, right: Right) -> &str {
        match right {
            Right::Change => &self.change,
            _ => &self.read,
        }
    }
}

/// Returns 32 random hexadecimal digits from `/dev/urandom`.
pub fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// Compares two strings in constant time. Only their lengths may affect the time; the length of a token is no
/// secret.
fn same(token: &str, given: &str) -> bool {
    if token.len() != given.len() {
        return false;
    }
    let differing =
        token.bytes().zip(given.bytes()).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
    black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_its_right_and_nothing_else_does() {
        let tokens = Tokens::new().expect("randomness");
        let (read, change) = (tokens.of(Right::Read), tokens.of(Right::Change));
        assert_eq!((read.len(), change.len()), (32, 32));
        assert_ne!(read, change);
        assert_eq!(tokens.right(read), Right::Read);
        assert_eq!(tokens.right(change), Right::Change);
        let wrong = format!("{}x", &read[..31]);
        for given in
            ["", "x", &read[..31], &wrong, &read.to_uppercase().replace(char::is_numeric, "g")]
        {
            assert_eq!(tokens.right(given), Right::Nothing, "{given}");
        }
    }
}
