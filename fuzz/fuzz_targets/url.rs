//! Addresses: what resolves is an address again, and splitting loses nothing.
//!
//! Input: a base and a reference, each on a line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::url;

fuzz_target!(|text: &str| {
    let (base, reference) = text.split_once('\n').unwrap_or(("http://h:81/a/b?c#d", text));
    if let Ok(parts) = url::split(base) {
        assert!(!parts.host.is_empty() && parts.path().starts_with('/'));
        assert!(base.contains(parts.path_and_query) && base.starts_with(parts.scheme));
    }
    if let Ok(resolved) = url::resolve(base, reference) {
        let parts = url::split(&resolved).expect("what resolves is an address");
        assert!(!parts.path_and_query.contains(' '), "{resolved}");
    }
});
