//! Fuzzes XML documents and XPath expressions: every expression yields a result or an error message.
//!
//! Input: a byte that selects the options, the expression up to a line end, then the document.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let query = String::from_utf8_lossy(&rest[..end]);
    let document = rest.get(end + 1..).unwrap_or(b"");
    let (namespaces, fragment, tolerant) = (choice & 1 != 0, choice & 2 != 0, choice & 4 != 0);
    let found = lang::xpath::extract(document, &query, namespaces, fragment, tolerant);
    // The text of a fragment can be parsed as XML.
    if let (Ok(found), true, false) = (found, fragment, tolerant) {
        for text in found.into_iter().flatten().filter(|text| text.starts_with('<')) {
            let _ = lang::xpath::extract(text.as_bytes(), "/*", namespaces, true, false);
        }
    }
});
