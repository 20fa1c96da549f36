//! Fields of forms: `-F NAME=CONTENT`, with files and types.

use super::Reading;
use crate::request::{Content, Part};
use crate::word;

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) content: Content,
    /// Content type, if the command gives one.
    pub(super) kind: Option<String>,
}

impl Field {
    /// Returns the part of a multipart body, with the content type that curl sends for a file.
    pub(super) fn part(self) -> Part {
        let kind = match (&self.content, self.kind) {
            (_, Some(kind)) => kind,
            (Content::File(file), None) => type_of(file).to_owned(),
            (Content::Text(_), None) => String::new(),
        };
        Part { name: self.name, content: self.content, kind }
    }
}

/// Returns curl's content type for the ending of a file name.
fn type_of(file: &str) -> &'static str {
    const TYPES: &[(&str, &str)] = &[
        (".gif", "image/gif"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ];
    let lower = file.to_ascii_lowercase();
    let found = TYPES.iter().find(|(ending, _)| lower.ends_with(ending));
    found.map_or("application/octet-stream", |(_, kind)| kind)
}

/// Reads `NAME=TEXT` of `--form-string`.
pub(super) fn literal(value: &str, reading: &mut Reading<'_>) -> Option<Field> {
    let (name, text) = divided(value, reading)?;
    Some(Field { name: name.to_owned(), content: Content::Text(text.to_owned()), kind: None })
}

fn divided<'a>(value: &'a str, reading: &mut Reading<'_>) -> Option<(&'a str, &'a str)> {
    let found = value.split_once('=');
    if found.is_none() {
        let message = format!("-F {}: a field is NAME=CONTENT", word::shown(value));
        reading.findings.error("curl-form", message);
    }
    found
}

/// Reads the fields of one `-F`. `@` names files of which each is a part, `<` a file whose text is the content.
pub(super) fn parse(value: &str, reading: &mut Reading<'_>) -> Vec<Field> {
    let Some((name, content)) = divided(value, reading) else { return Vec::new() };
    if content.starts_with('(') || (content == ")" && name.is_empty()) {
        let message = format!("-F {name}: parts within a part are not supported");
        reading.findings.error("curl-form", message);
        return Vec::new();
    }
    if let Some(files) = content.strip_prefix('@') {
        return of_files(name, files, reading);
    }
    let is_file = content.starts_with('<');
    let (text, rest) = piece(content.strip_prefix('<').unwrap_or(content), !is_file);
    let kind = attributes(rest, reading).kind;
    let text = if is_file { reading.read_text(&text, "-F").unwrap_or_default() } else { text };
    vec![Field { name: name.to_owned(), content: Content::Text(text), kind }]
}

/// Returns a field for each of the files, which are separated by commas.
fn of_files(name: &str, files: &str, reading: &mut Reading<'_>) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut rest = files;
    loop {
        let (file, behind) = piece(rest, false);
        let Attributes { kind, file_name, rest: after } = attributes(behind, reading);
        let shown = word::shown(&file);
        match reading.file_name(&file) {
            Some(file) => {
                let last = file.rsplit('/').next().unwrap_or(&file);
                if let Some(other) = file_name.filter(|other| other != last) {
                    let message = format!(
                        "-F {name}: the file name {other} is not sent: JMeter sends the name of the file, {last}"
                    );
                    reading.findings.warn("curl-form", message);
                }
                let content = Content::File(file);
                fields.push(Field { name: name.to_owned(), content, kind });
            }
            None => {
                let message =
                    format!("-F {name}: the file is {shown}, which is not kept: name a file");
                reading.findings.error("curl-form", message);
            }
        }
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => return fields,
        }
    }
}

/// Attributes after the content of a field.
#[derive(Default)]
struct Attributes<'a> {
    kind: Option<String>,
    file_name: Option<String>,
    rest: &'a str,
}

/// Reads `;type=…;filename=…` up to the next file.
fn attributes<'a>(text: &'a str, reading: &mut Reading<'_>) -> Attributes<'a> {
    let mut found = Attributes { rest: text, ..Attributes::default() };
    while let Some(rest) = found.rest.strip_prefix(';') {
        let rest = rest.trim_start();
        if let Some(value) = rest.strip_prefix("type=") {
            // Parameters of a type, such as a charset, belong to it.
            let (mut kind, mut after) = piece(value, false);
            while let Some(parameter) = after.strip_prefix(';') {
                let name = parameter.trim_start();
                let own = ["filename=", "headers=", "encoder=", "type="];
                if own.iter().any(|own| name.starts_with(own)) {
                    break;
                }
                let (text, behind) = piece(parameter, false);
                kind.push(';');
                kind.push_str(&text);
                after = behind;
            }
            (found.kind, found.rest) = (Some(kind.trim().to_owned()), after);
            continue;
        }
        let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
        let (value, after) = piece(value, false);
        found.rest = after;
        match name {
            "filename" => found.file_name = Some(value),
            _ => {
                let message = format!("-F: {} of a part is left out", word::shown(name));
                reading.findings.warn("curl-form", message);
            }
        }
    }
    found
}

/// Reads a text up to `;`, and up to `,` unless the text is a literal content. A quoted text may contain both.
fn piece(text: &str, is_content: bool) -> (String, &str) {
    let text = text.trim_ascii_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let mut out = String::new();
        let mut chars = quoted.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    // Only an end of the text or a separator ends a quoted text.
                    let rest = quoted[at + 1..].trim_start();
                    if rest.is_empty() || rest.starts_with([';', ',']) {
                        return (out, rest);
                    }
                    break;
                }
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => out.push(c),
                    Some((_, c)) => out.extend(['\\', c]),
                    None => out.push('\\'),
                },
                _ => out.push(c),
            }
        }
    }
    let ends = |c| c == ';' || (c == ',' && !is_content);
    let end = text.find(ends).unwrap_or(text.len());
    (text[..end].trim_ascii_end().to_owned(), &text[end..])
}
