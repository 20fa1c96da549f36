//! Cache of certificate chains that were verified recently.
//!
//! A server sends the same chain in each handshake, and a generator does thousands of handshakes per second. The result
//! of a verification is therefore reused for a minute. The proof that the server has the key is not cached: each
//! handshake checks it. Each thread has its own cache, so that no thread waits for another. Chains are compared byte by
//! byte.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use rustls::pki_types::{CertificateDer, UnixTime};

/// Lifetime of a verified certificate chain in the cache, in seconds.
const GOOD_FOR: u64 = 60;
/// Maximum number of certificate chains in a thread's cache.
const MOST: usize = 64;

/// Number of a set of verification rules. The cache stores results per set, because the same chain may fail other
/// rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules(u64);

#[derive(Debug)]
struct VerifiedChain {
    rules: Rules,
    name: String,
    chain: Vec<CertificateDer<'static>>,
    until: u64,
}

thread_local! {
    static GOOD: RefCell<Vec<VerifiedChain>> = const { RefCell::new(Vec::new()) };
}

impl Rules {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns success if this chain was verified by these rules for this name less than a minute ago. Otherwise calls
    /// `check`, and caches its success.
    pub(super) fn hold<E>(
        self,
        name: &str,
        chain: &[&CertificateDer<'_>],
        now: UnixTime,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let now = now.as_secs();
        let is_good = GOOD.with_borrow(|all| {
            all.iter().any(|good| {
                good.rules == self
                    && now < good.until
                    && now + GOOD_FOR >= good.until
                    && good.name == name
                    && good.chain.len() == chain.len()
                    && good.chain.iter().zip(chain).all(|(one, other)| one == *other)
            })
        });
        if is_good {
            return Ok(());
        }
        check()?;
        let chain = chain.iter().map(|one| (*one).clone().into_owned()).collect();
        let good =
            VerifiedChain { rules: self, name: name.to_owned(), chain, until: now + GOOD_FOR };
        GOOD.with_borrow_mut(|all| {
            all.retain(|old| now < old.until && !(old.rules == self && old.name == name));
            if all.len() >= MOST {
                all.remove(0);
            }
            all.push(good);
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn asked(rules: Rules, name: &str, chain: &[&[u8]], now: u64, answer: Result<(), ()>) -> bool {
        let chain: Vec<CertificateDer<'_>> = chain.iter().map(|der| (*der).into()).collect();
        let chain: Vec<&CertificateDer<'_>> = chain.iter().collect();
        let mut asked = false;
        let now = UnixTime::since_unix_epoch(Duration::from_secs(now));
        let held = rules.hold(name, &chain, now, || {
            asked = true;
            answer
        });
        assert_eq!(held, if asked { answer } else { Ok(()) });
        asked
    }

    #[test]
    fn what_was_found_good_is_not_asked_again_for_a_minute() {
        let rules = Rules::new();
        assert!(asked(rules, "a", &[b"leaf", b"root"], 100, Ok(())));
        assert!(!asked(rules, "a", &[b"leaf", b"root"], 159, Err(())));
        assert!(asked(rules, "a", &[b"leaf", b"root"], 160, Ok(())));
        assert!(asked(rules, "a", &[b"leaf", b"root"], 99, Ok(())), "a clock that was set back");
    }

    #[test]
    fn anything_else_is_asked() {
        let rules = Rules::new();
        assert!(asked(rules, "a", &[b"leaf"], 100, Ok(())));
        assert!(asked(rules, "b", &[b"leaf"], 100, Err(())));
        assert!(asked(rules, "a", &[b"leaf", b"more"], 100, Err(())));
        assert!(asked(rules, "a", &[b"fake"], 100, Err(())));
        assert!(asked(rules, "a", &[b"fake"], 100, Err(())), "what is bad is not remembered");
        assert!(asked(Rules::new(), "a", &[b"leaf"], 100, Err(())));
        assert!(!asked(rules, "a", &[b"leaf"], 100, Err(())));
    }

    #[test]
    fn a_thread_remembers_only_so_many() {
        let rules = Rules::new();
        for name in 0..200 {
            assert!(asked(rules, &name.to_string(), &[b"leaf"], 100, Ok(())));
        }
        assert!(GOOD.with_borrow(Vec::len) <= MOST);
        assert!(!asked(rules, "199", &[b"leaf"], 100, Err(())));
    }
}
