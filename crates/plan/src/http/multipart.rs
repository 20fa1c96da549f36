//! Bodies of `multipart/form-data`, written part by part as HttpClient's builder writes them.
//!
//! In the builder's strict mode, every part has three header lines, in UTF-8. In its browser-compatible mode,
//! parameters have only `Content-Disposition`, and files also their type, both in the request's character set. The
//! boundary is random, with 30 to 40 characters. A request without variable parts keeps its boundary on a core.

use lang::charset::Charset;

use super::change::Parameter;
use super::file::{self, FileArgument};
use super::{Http, Request, Unsendable, header};
use crate::env::Env;

const BOUNDARY: &[u8; 64] = b"-_1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A multipart body that is being written.
struct Form {
    charset: Charset,
    /// Character set of names in header lines.
    names: Charset,
    compatible: bool,
    boundary: [u8; 40],
    length: usize,
}

impl Form {
    fn boundary(&self) -> &str {
        std::str::from_utf8(&self.boundary[..self.length]).unwrap_or("")
    }

    /// Writes the boundary that begins a part or ends the body. The body is also copied to the sampler data,
    /// without the contents of files.
    fn delimit(&self, out: &mut Request) {
        let from = out.body.len();
        out.body.extend_from_slice(b"--");
        self.charset.encode(self.boundary(), &mut out.body);
        out.bytes.extend_from_slice(&out.body[from..]);
    }

    fn line(&self, name: &str, value: &str, out: &mut Request) {
        let from = out.body.len();
        self.names.encode(name, &mut out.body);
        out.body.extend_from_slice(b": ");
        self.names.encode(value, &mut out.body);
        out.body.extend_from_slice(b"\r\n");
        out.bytes.extend_from_slice(&out.body[from..]);
    }
}

fn push(out: &mut Request, bytes: &[u8]) {
    out.body.extend_from_slice(bytes);
    out.bytes.extend_from_slice(bytes);
}

impl Http {
    /// Writes the body and its header lines. An error of an unreadable file is returned only at the end, because
    /// JMeter detects it while sending the body.
    pub(super) fn write_multipart(
        &self,
        env: &mut Env<'_>,
        charset: Charset,
        out: &mut Request,
    ) -> Result<Option<Unsendable>, Unsendable> {
        let compatible = self.compatible.get(env);
        let mut form = Form {
            charset,
            names: if compatible { charset } else { Charset::Utf8 },
            compatible,
            boundary: [0; 40],
            length: 30 + env.core.random.below(11) as usize,
        };
        for place in &mut form.boundary {
            *place = BOUNDARY[env.core.random.below(64) as usize];
        }
        out.bytes.clear();
        let changed = std::mem::take(&mut out.changed);
        let written = self.parameters(&changed).try_for_each(|one| parameter(one, &form, env, out));
        out.changed = changed;
        written?;
        let mut missing = None;
        for file in &self.files {
            let unreadable = part_of(file, &form, env, out)?;
            missing = missing.or(unreadable);
        }
        form.delimit(out);
        push(out, b"--\r\n");
        if charset == Charset::Utf8 {
            out.query_string.push_str(&String::from_utf8_lossy(&out.bytes));
        } else {
            out.query_string.push_str(&charset.decode(&out.bytes));
        }
        header::push_length(&mut out.headers, out.body.len());
        out.headers.extend_from_slice(b"Content-Type: multipart/form-data; boundary=");
        out.headers.extend_from_slice(form.boundary().as_bytes());
        out.headers.extend_from_slice(b"; charset=");
        out.headers.extend_from_slice(charset.name().as_bytes());
        out.headers.extend_from_slice(b"\r\n");
        Ok(missing)
    }
}

fn parameter(
    parameter: Parameter<'_>,
    form: &Form,
    env: &mut Env<'_>,
    out: &mut Request,
) -> Result<(), Unsendable> {
    let (mut name, mut text) = (env.core.take(), env.core.take());
    let mut result = Ok(());
    if parameter.has_name(env, &mut name) {
        parameter.content_type(env, &mut text);
        let mut kind = env.core.take();
        let charset = content_type_with(&text, form.charset, &mut kind);
        text.clear();
        parameter.value(&name, env, &mut text);
        match charset {
            Ok(charset) => {
                form.delimit(out);
                push(out, b"\r\n");
                disposition(&name, None, form, env, out);
                if !form.compatible {
                    form.line("Content-Type", &kind, out);
                    form.line("Content-Transfer-Encoding", "8bit", out);
                }
                push(out, b"\r\n");
                let from = out.body.len();
                charset.encode(&text, &mut out.body);
                out.bytes.extend_from_slice(&out.body[from..]);
                push(out, b"\r\n");
            }
            Err(failure) => result = Err(failure),
        }
        env.core.give(kind);
    }
    env.core.give(text);
    env.core.give(name);
    result
}

fn part_of(
    file: &FileArgument,
    form: &Form,
    env: &mut Env<'_>,
    out: &mut Request,
) -> Result<Option<Unsendable>, Unsendable> {
    let (mut name, mut path, mut kind) = (env.core.take(), env.core.take(), env.core.take());
    file.path.eval(env, &mut path);
    file.mime.eval(env, &mut kind);
    let mut shown = env.core.take();
    parsed(&kind, &mut shown)?;
    file.name.eval(env, &mut name);
    if name.trim().is_empty() {
        return Err(Unsendable::new("java.lang.IllegalStateException", "Name is blank"));
    }
    form.delimit(out);
    push(out, b"\r\n");
    let mut file_name = env.core.take();
    let last = path.rsplit('/').find(|piece| !piece.is_empty()).unwrap_or("");
    escape_name(last, form.names, &mut file_name);
    disposition(&name, Some(&file_name), form, env, out);
    form.line("Content-Type", &shown, out);
    if !form.compatible {
        form.line("Content-Transfer-Encoding", "binary", out);
    }
    push(out, b"\r\n");
    out.bytes.extend_from_slice(file::NOT_SHOWN.as_bytes());
    let result = file::content(&path, env).map(|content| out.body.extend_from_slice(&content));
    push(out, b"\r\n");
    for buffer in [file_name, shown, kind, path, name] {
        env.core.give(buffer);
    }
    Ok(result.err())
}

fn disposition(
    name: &str,
    file_name: Option<&str>,
    form: &Form,
    env: &mut Env<'_>,
    out: &mut Request,
) {
    let mut value = env.core.take();
    value.push_str("form-data; name=\"");
    quote(name, &mut value);
    value.push('"');
    if let Some(file_name) = file_name {
        value.push_str("; filename=\"");
        quote(file_name, &mut value);
        value.push('"');
    }
    form.line("Content-Disposition", &value, out);
    env.core.give(value);
}

fn quote(text: &str, out: &mut String) {
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '\r') {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Appends a file name. Characters outside of the character set become numeric references (without semicolon);
/// quotes and line ends are escaped as in URLs.
pub(super) fn escape_name(name: &str, charset: Charset, out: &mut String) {
    use std::fmt::Write;
    for c in name.chars() {
        match c {
            '"' => out.push_str("%22"),
            '\n' => out.push_str("%0A"),
            '\r' => out.push_str("%0D"),
            c if charset.holds(c) => out.push(c),
            c => {
                let _ = write!(out, "&#{}", u32::from(c));
            }
        }
    }
}

/// Writes the content type of a parameter, and returns the character set for its value.
fn content_type_with(
    source: &str,
    charset: Charset,
    out: &mut String,
) -> Result<Charset, Unsendable> {
    let illegal = |message| Err(Unsendable::new("java.lang.IllegalArgumentException", message));
    if source.contains(';') {
        return Ok(parsed(source, out)?.unwrap_or(Charset::Ascii));
    }
    if source.trim().is_empty() {
        return illegal("MIME type may not be blank");
    }
    if source.contains(['"', ',']) {
        return illegal("MIME type may not contain reserved characters");
    }
    out.extend(source.chars().flat_map(char::to_lowercase));
    out.push_str("; charset=");
    out.push_str(charset.name());
    Ok(charset)
}

/// Writes a content type in the form in which HttpClient parses it. Returns its character set if it has one.
fn parsed(source: &str, out: &mut String) -> Result<Option<Charset>, Unsendable> {
    let mut parts = pieces(source);
    let name = parts.next().unwrap_or("").trim();
    if name.is_empty() && pieces(source).count() < 2 {
        let message = format!("Invalid content type: {source}");
        return Err(Unsendable::new("org.apache.http.ParseException", &message));
    }
    // Blanks and line breaks between words become one blank.
    for (nth, word) in name.split('=').next().unwrap_or(name).split_ascii_whitespace().enumerate() {
        out.push_str(if nth > 0 { " " } else { "" });
        out.push_str(word);
    }
    let mut charset = None;
    for part in parts {
        let (key, value) = match part.split_once('=') {
            Some((key, value)) => (key.trim(), Some(unquoted(value.trim()))),
            None => (part.trim(), None),
        };
        if key.is_empty() {
            continue;
        }
        out.push_str("; ");
        out.push_str(key);
        let Some(value) = value else { continue };
        out.push('=');
        let separator = value.contains(|c| " ;,:@()<>\\\"/[]?={}\t".contains(c));
        if separator {
            out.push('"');
            quote_value(value, out);
            out.push('"');
        } else {
            out.push_str(value);
        }
        if key.eq_ignore_ascii_case("charset") && !value.trim().is_empty() && charset.is_none() {
            charset = Some(Charset::named(value).ok_or_else(|| {
                Unsendable::new("java.nio.charset.UnsupportedCharsetException", value)
            })?);
        }
    }
    Ok(charset)
}

fn quote_value(value: &str, out: &mut String) {
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// Splits a content type at semicolons outside quotes, up to a comma.
fn pieces(source: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let end = source.find(|c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    });
    let mut quoted = false;
    source[..end.unwrap_or(source.len())].split(move |c| {
        quoted ^= c == '"';
        c == ';' && !quoted
    })
}
