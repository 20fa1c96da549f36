//! Fuzzes JSONPath on documents: no panic, and the part of a document that a path can reach yields the same result as
//! the whole.
//!
//! Input: the path up to a line end, then the document.

#![no_main]

use lang::jsonpath::{JsonPath, Projection, Value, read, read_for};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let Some((source, document)) = text.split_once('\n') else { return };
    let Ok(path) = JsonPath::new(source) else { return };
    let Ok(whole) = read(document) else { return };
    let mut projection = Projection::default();
    path.project(&mut projection);
    let part = read_for(document, &projection).expect("it was read whole");
    // Results are compared as text, because NaN is not equal to itself.
    let found = |of: &Value<'_>| format!("{:?} {:?}", path.value(of).ok(), path.list(of).ok());
    assert_eq!(found(&part), found(&whole));
});
