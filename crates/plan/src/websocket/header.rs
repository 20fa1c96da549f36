//! The user's headers in the order in which the plug-in sends them: the iteration order of a Java `HashMap`.
//!
//! The plug-in puts names and values into a map and sends them in its iteration order. If a name occurs twice (in
//! the same case), the last value is used; the cookie manager's line is inserted last. The order is that of the
//! hash table: its size doubles when it is three quarters full, and entries of one slot keep their order of
//! insertion. With a cookie manager, the order always assumes a cookie line; it differs from Java's only if 12, 24,
//! … headers and no cookie are sent.

use std::ops::Range;

use super::{Call, DeflateOffer, WebSocket};
use crate::env::Env;

/// Header names that the plug-in sets itself.
const OWN: [&str; 5] =
    ["Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version"];

/// An entry of the Java map, so one header. `name` and `value` are ranges in one buffer.
struct Entry {
    name: Range<usize>,
    value: Range<usize>,
    slot: u32,
}

impl WebSocket {
    /// Writes the plan's headers to `call`. Returns an error if a header has a line break, which the plug-in rejects.
    pub(super) fn write_headers(&self, env: &mut Env<'_>, call: &mut Call) -> Result<(), ()> {
        if self.headers.is_empty() && self.cookies.is_none() {
            return Ok(());
        }
        let mut text = env.core.take();
        let mut entries: Vec<Entry> = Vec::with_capacity(self.headers.len() + 1);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for header in &self.headers {
            let start = text.len();
            header.name.eval(env, &mut text);
            let name = start..text.len();
            if header.inherited
                && merged
                    .iter()
                    .any(|known| text[known.clone()].eq_ignore_ascii_case(&text[name.clone()]))
            {
                continue;
            }
            merged.push(name.clone());
            header.value.eval(env, &mut text);
            if text[name.clone()].trim_matches(|c: char| c <= ' ').is_empty() {
                continue;
            }
            let value = name.end..text.len();
            match entries.iter_mut().find(|entry| text[entry.name.clone()] == text[name.clone()]) {
                Some(entry) => entry.value = value,
                None => {
                    let slot = spread(&text[name.clone()]);
                    entries.push(Entry { name, value, slot });
                }
            }
        }
        let cookie = entries.iter().position(|entry| &text[entry.name.clone()] == "Cookie");
        let added = self.cookies.is_some() && cookie.is_none();
        if added {
            let slot = spread("Cookie");
            entries.push(Entry { name: 0..0, value: 0..0, slot });
        }
        let mask = table_size(entries.len()) - 1;
        entries.sort_by_key(|entry| entry.slot & mask);
        let outcome = write(&entries, &text, added, call);
        env.core.give(text);
        outcome
    }
}

/// Writes the headers to `call` in the order of `entries`. If `added` is true, the entry with an empty name marks the
/// position of the cookie manager's line.
fn write(entries: &[Entry], text: &str, added: bool, call: &mut Call) -> Result<(), ()> {
    let mut refused = false;
    for entry in entries {
        let (name, value) = (&text[entry.name.clone()], &text[entry.value.clone()]);
        let (sent, shown) = (call.headers.len(), call.request_headers.len());
        if entry.name.is_empty() {
            call.cookie_at = sent..sent;
            call.cookie_shown_at = shown..shown;
            continue;
        }
        if name.contains("Sec-WebSocket-Extensions") && value.contains("permessage-deflate") {
            let server_no_context_takeover = value.contains("server_no_context_takeover");
            call.deflate = Some(DeflateOffer { server_no_context_takeover });
        }
        if !OWN.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            refused |= [name, value].iter().any(|text| text.contains(['\r', '\n']));
            for piece in [name, ": ", value, "\r\n"] {
                call.headers.extend_from_slice(piece.as_bytes());
            }
        }
        for piece in [name, ": ", value, "\n"] {
            call.request_headers.push_str(piece);
        }
        if !added && name == "Cookie" {
            call.cookie_at = sent..call.headers.len();
            call.cookie_shown_at = shown..call.request_headers.len();
        }
    }
    if call.request_headers.ends_with('\n') {
        call.request_headers.pop();
        let end = call.request_headers.len();
        let at = &mut call.cookie_shown_at;
        *at = at.start.min(end)..at.end.min(end);
    }
    if refused { Err(()) } else { Ok(()) }
}

/// Returns Java's hash code of a string, with its bits spread as in `HashMap`.
fn spread(text: &str) -> u32 {
    let hash = text
        .encode_utf16()
        .fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    hash ^ (hash >> 16)
}

/// Returns the number of slots of a `HashMap` after inserting this number of entries.
fn table_size(entries: usize) -> u32 {
    let mut size = 16u32;
    while entries > size as usize / 4 * 3 {
        size *= 2;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::{spread, table_size};

    /// The expected order was recorded from Java 17: the names were inserted into a new `HashMap` in this order,
    /// which was then iterated.
    #[test]
    fn the_order_is_that_of_javas_table() {
        let order = |names: &[&'static str]| {
            let mask = table_size(names.len()) - 1;
            let mut sorted = names.to_vec();
            sorted.sort_by_key(|name| spread(name) & mask);
            sorted
        };
        assert_eq!(
            order(&["Origin", "User-Agent", "Authorization", "X-B", "X-A", "Cookie"]),
            recorded("small")
        );
        let many =
            ["H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H10", "H11", "H12", "Cookie"];
        assert_eq!(order(&many[..12]), recorded("twelve"));
        assert_eq!(order(&many), recorded("thirteen"));
    }

    fn recorded(name: &str) -> Vec<&'static str> {
        const RECORDED: &str = "\
small Origin Authorization Cookie User-Agent X-B X-A
twelve H8 H9 H10 H12 H1 H11 H2 H3 H4 H5 H6 H7
thirteen Cookie H10 H12 H1 H11 H2 H3 H4 H5 H6 H7 H8 H9";
        let line = RECORDED.lines().find(|line| line.starts_with(name)).expect("a recorded order");
        line.split(' ').skip(1).collect()
    }
}
