//! Fuzzes addresses: splitting an address loses nothing, and the target of a redirect contains no blanks.
//!
//! Input: a base address and a reference, one per line.

#![no_main]

use lang::url;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (base, reference) = text.split_once('\n').unwrap_or(("http://h:81/a/b?c#d", text));
    if let Ok(parts) = url::absolute(base) {
        assert!(!parts.host.is_empty() && parts.path().starts_with('/'));
        assert!(base.contains(parts.path_and_query) && base.starts_with(parts.scheme));
    }
    let mut led = String::new();
    if url::absolute(base).is_ok() && plan::http::location(base, reference, true, &mut led).is_ok()
    {
        assert!(!led[url::split(&led).path].contains(' '), "{led}");
    }
});
