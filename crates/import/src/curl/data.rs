//! Data of requests: `-d` and its relatives.

use super::Reading;
use super::options::Data;
use crate::word;

/// Data of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Payload {
    Text(String),
    /// A whole file, which is read while the plan runs.
    File(String),
}

impl Payload {
    /// Returns the data as text; reads the file if it is one.
    pub(super) fn into_text(self, reading: &mut Reading<'_>) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::File(file) => reading.read_text(&file, "--data-binary"),
        }
    }
}

/// Appends data after `&`.
pub(super) fn join(text: &mut String, added: &str) {
    if !text.is_empty() {
        text.push('&');
    }
    text.push_str(added);
}

/// Returns the data of one option.
pub(super) fn read(
    kind: Data,
    value: &str,
    shown: &str,
    reading: &mut Reading<'_>,
) -> Option<Payload> {
    if kind == Data::Urlencode {
        return encoded(value, reading).map(Payload::Text);
    }
    let Some(file) = value.strip_prefix('@').filter(|_| kind != Data::Raw) else {
        return Some(Payload::Text(value.to_owned()));
    };
    if kind == Data::Ascii {
        let mut text = reading.read_text(file, shown)?;
        text.retain(|c| !matches!(c, '\r' | '\n' | '\0'));
        return Some(Payload::Text(text));
    }
    match reading.file_name(file) {
        Some(file) => Some(Payload::File(file)),
        None => reading.read_text(file, shown).map(Payload::Text),
    }
}

/// Returns the text of `--url-query`: as `--data-urlencode`, but unchanged after `+`.
pub(super) fn query(value: &str, reading: &mut Reading<'_>) -> Option<String> {
    match value.strip_prefix('+') {
        Some(text) => Some(text.to_owned()),
        None => encoded(value, reading),
    }
}

/// Returns the text of `--data-urlencode`: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`.
fn encoded(value: &str, reading: &mut Reading<'_>) -> Option<String> {
    let split = value.find('=').or_else(|| value.find('@'));
    let Some(at) = split else { return Some(form_encoded(value, reading)) };
    let (name, content) = (&value[..at], &value[at + 1..]);
    let read;
    let content = if value[at..].starts_with('@') {
        read = reading.read_text(content, "--data-urlencode")?;
        &read
    } else {
        content
    };
    let content = form_encoded(content, reading);
    Some(if name.is_empty() { content } else { format!("{name}={content}") })
}

/// Encodes a text as curl does: all bytes but letters, digits and `-._~`; a space becomes `+`.
fn form_encoded(text: &str, reading: &mut Reading<'_>) -> String {
    if word::has_reference(text) {
        reading.findings.note(
            "shell-variable",
            "--data-urlencode: the value of a variable is sent as it is, so give the variable an encoded value",
        );
    }
    word::map(text, |text, out| {
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    out.push(byte as char);
                }
                b' ' => out.push('+'),
                _ => out.push_str(&format!("%{byte:02X}")),
            }
        }
    })
}
