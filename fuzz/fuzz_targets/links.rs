//! Fuzzes links in pages and style sheets: each link can be parsed as an address, and HTML yields no duplicates.
//!
//! Input: a byte that selects parser and browser, then the page.

#![no_main]

use lang::links::{self, Parser};
use lang::url;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, page)) = data.split_first() else { return };
    let page = String::from_utf8_lossy(page);
    let parser = [Parser::Html, Parser::Css, Parser::LenientCss][usize::from(choice % 3)];
    let user_agent = ["Mozilla/5.0", "MSIE 7.0", ""][usize::from(choice / 3 % 3)];
    let mut found = Vec::new();
    if links::find(parser, &page, "http://h.test:81/a/b?c", user_agent, &mut found).is_err() {
        return;
    }
    for link in &found {
        let parts = url::split(link);
        assert!(!parts.protocol.is_empty(), "{link}");
        let mut loaded = link.clone();
        links::escape(&mut loaded);
        if links::normalize(&mut loaded) {
            let once = loaded.clone();
            assert!(links::normalize(&mut loaded));
            assert_eq!(loaded, once, "what is normal stays as it is");
        }
    }
    if parser == Parser::Html {
        let count = found.len();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), count);
    }
});
