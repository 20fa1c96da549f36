//! Requests as sent by Java's own HTTP client: JMeter's implementation `Java`.
//!
//! This client differs from HttpClient in the URLs that it accepts, in the order of header lines, in bodies (only
//! `POST` and `PUT` have one), and in the header lines that it adds. Header lines of the sampler replace lines of
//! the plan with the same name.

use lang::charset::Charset;
use lang::url;

use super::body::Body;
use super::change::Changed;
use super::multipart::escape_name;
use super::{Http, Request, Unsendable, file, header};
use crate::env::Env;

/// Boundary between the parts of a multipart body; constant in this client.
const BOUNDARY: &str = "---------------------------7d159c1302d0y0";
const METHODS: [&str; 7] = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];
const ACCEPT: &str = "text/html, image/gif, image/jpeg, */*; q=0.2";
const PROTOCOL: &str = "java.net.ProtocolException";

/// Returns the error that Java's own client reports for a URL before any other check.
fn address_fault(url: &str, host: &str) -> Option<&'static str> {
    if url.contains('\n') {
        return Some("Illegal character in URL");
    }
    let inner = host.strip_prefix('[')?.strip_suffix(']')?;
    let address = inner.split('%').next().unwrap_or_default();
    let known = address.parse::<std::net::Ipv6Addr>().is_ok();
    (!known).then_some("Unrecognized IPv6 address format")
}

impl Http {
    /// Writes the request except for its URL.
    pub(super) fn write_java(
        &self,
        env: &mut Env<'_>,
        out: &mut Request,
        parts: &url::Parts,
    ) -> Result<(), Unsendable> {
        if let Some(fault) = address_fault(&out.url, &out.url[parts.host.clone()]) {
            return Err(Unsendable::new("java.net.MalformedURLException", fault));
        }
        if !METHODS.contains(&out.method.as_str()) {
            let message = format!("Invalid HTTP method: {}", out.method);
            return Err(Unsendable::new(PROTOCOL, &message));
        }
        let nameless = |failure| Unsendable { no_url: true, ..failure };
        self.write_plans_headers(env, out).map_err(nameless)?;
        super::render::thrown(env).map_err(nameless)?;
        // An exception at this point ends JMeter's sampler before the result has a name.
        let asked = self.ask_for_cookies(out, parts);
        asked.map_err(nameless)?;
        out.own_end = out.headers.len();
        out.cookie_at = if out.own_cookie.is_empty() { out.own_end } else { out.own_cookie.start };
        let method = std::mem::take(&mut out.method);
        let posts = method == "POST";
        let written = if posts || method == "PUT" {
            let body = self.body_of(env, &method, true, out.changed.adds());
            self.write_java_body(env, out, body, posts)
        } else {
            Ok(())
        };
        out.method = method;
        out.set_end = out.headers.len();
        written?;
        Self::write_java_target(out, parts)?;
        add(out, "User-Agent", &self.client.java);
        let named = host_line(out, parts);
        add(out, "Host", &named);
        add(out, "Accept", ACCEPT);
        // Lines for a proxy are inserted at this position.
        out.agent_at = out.headers.len();
        if posts {
            add(out, "Content-type", "application/x-www-form-urlencoded");
        }
        Ok(())
    }

    /// Renders the request that the client itself sends after a redirect that turns a `POST` into a `GET`. The request
    /// lacks the headers that the sampler has set.
    pub fn render_stripped(
        &self,
        url: &str,
        env: &mut Env<'_>,
        out: &mut Request,
    ) -> Result<(), Unsendable> {
        self.render_redirect(url, "GET", env, out)?;
        let parts = url::split(&out.url);
        let host = host_line(out, &parts);
        out.stripped = true;
        out.headers.clear();
        (out.own_end, out.set_end, out.cookie_at, out.own_cookie) = (0, 0, 0, 0..0);
        header::push(&mut out.headers, "User-Agent", &self.client.java);
        header::push(&mut out.headers, "Host", &host);
        header::push(&mut out.headers, "Accept", ACCEPT);
        header::push(&mut out.headers, "Connection", "keep-alive");
        Ok(())
    }

    /// Writes the `Connection` line and then the header lines of the plan.
    fn write_plans_headers(&self, env: &mut Env<'_>, out: &mut Request) -> Result<(), Unsendable> {
        out.keep_alive = self.keep_alive.get(env);
        let kept = if out.keep_alive { "keep-alive" } else { "close" };
        header::push(&mut out.headers, "Connection", kept);
        let own = out.headers.len();
        let (mut name, mut value) = (env.core.take(), env.core.take());
        for header in &self.headers {
            name.clear();
            header.name.eval(env, &mut name);
            if header.inherited && header::has(&out.headers[own..], &name) {
                continue;
            }
            value.clear();
            header.value.eval(env, &mut value);
            illegal(&name, &value)?;
            let from = out.headers.len();
            push(&mut out.headers, &name, &value);
            if name.eq_ignore_ascii_case("Cookie") && out.own_cookie.is_empty() {
                out.own_cookie = from..out.headers.len();
            }
        }
        env.core.give(value);
        env.core.give(name);
        Ok(())
    }

    fn write_java_body(
        &self,
        env: &mut Env<'_>,
        out: &mut Request,
        body: Option<Body>,
        posts: bool,
    ) -> Result<(), Unsendable> {
        let mut missing = Ok(());
        match body {
            Some(Body::Multipart) if posts => {
                let charset = self.java_charset(env)?;
                return self.write_parts(env, charset, out);
            }
            Some(Body::Multipart) => {
                let message =
                    "cannot write to a URLConnection if doOutput=false - call setDoOutput(true)";
                return Err(Unsendable::new(PROTOCOL, message));
            }
            Some(body @ (Body::File | Body::Raw)) => {
                self.write_java_type(env, body, out, posts)?;
                if body == Body::File {
                    out.query_string.push_str(file::NOT_SHOWN);
                    if let Some(file) = self.files.first() {
                        missing = append(file, env, &mut out.body);
                    }
                } else {
                    let charset = self.java_charset(env)?;
                    self.write_raw(env, charset, out);
                    charset.encode(&out.query_string, &mut out.body);
                }
            }
            Some(Body::Form | Body::Repeated) if posts => {
                self.write_java_type(env, Body::Form, out, posts)?;
                let charset = self.java_charset(env)?;
                let mut query = env.core.take();
                self.write_query(env, false, out, &mut query);
                out.query_string.push_str(query.strip_prefix('?').unwrap_or(&query));
                env.core.give(query);
                charset.encode(&out.query_string, &mut out.body);
            }
            Some(Body::Form | Body::Repeated) | None => return Ok(()),
        }
        set_length(out);
        missing
    }

    /// Returns the character set that the plan names. If it is unknown, returns the failure that Java reports.
    fn java_charset(&self, env: &mut Env<'_>) -> Result<Charset, Unsendable> {
        self.encoding.parsed(env, |name| {
            let name = if name.is_empty() { "UTF-8" } else { name };
            let unknown = || Unsendable::new("java.io.UnsupportedEncodingException", name);
            Charset::named(name).ok_or_else(unknown)
        })
    }

    /// Writes the content type of the request's file, unless the plan sets one. A `PUT` has no default content
    /// type.
    fn write_java_type(
        &self,
        env: &mut Env<'_>,
        body: Body,
        out: &mut Request,
        posts: bool,
    ) -> Result<(), Unsendable> {
        if header::Present::of(&out.headers).content_type_value {
            return Ok(());
        }
        let mut mime = env.core.take();
        if let Some(file) =
            self.files.first().filter(|_| !matches!(body, Body::Form | Body::Repeated))
        {
            file.mime.eval(env, &mut mime);
        }
        if mime.is_empty() && posts && self.form_by_default {
            mime.push_str("application/x-www-form-urlencoded");
        }
        let legal = illegal("Content-Type", &mime);
        if !mime.is_empty() {
            set(out, "Content-Type", &mime);
        }
        env.core.give(mime);
        legal.map_err(|failure| Unsendable { no_url: true, ..failure })
    }

    fn write_parts(
        &self,
        env: &mut Env<'_>,
        charset: Charset,
        out: &mut Request,
    ) -> Result<(), Unsendable> {
        let mut shown = String::new();
        let changed = std::mem::take(&mut out.changed);
        self.write_text_parts(env, &changed, &mut shown);
        out.changed = changed;
        charset.encode(&shown, &mut out.body);
        let mut missing = Ok(());
        for file in &self.files {
            let mut head = String::new();
            write_file_head(file, env, charset, &mut head);
            charset.encode(&head, &mut out.body);
            missing = missing.and(append(file, env, &mut out.body));
            out.body.extend_from_slice(b"\r\n");
            shown.push_str(&head);
            shown.push_str(file::NOT_SHOWN);
            shown.push_str("\r\n");
        }
        let end = format!("--{BOUNDARY}--\r\n");
        out.body.extend_from_slice(end.as_bytes());
        shown.push_str(&end);
        if missing.is_ok() {
            out.query_string.push_str(&shown);
        }
        set(out, "Content-Type", &format!("multipart/form-data; boundary={BOUNDARY}"));
        set_length(out);
        missing
    }

    /// Writes the multipart parts of the parameters.
    fn write_text_parts(&self, env: &mut Env<'_>, changed: &Changed, out: &mut String) {
        let compatible = self.compatible.get(env);
        let mut spelled = env.core.take();
        self.encoding.eval(env, &mut spelled);
        if spelled.is_empty() {
            spelled.push_str("UTF-8");
        }
        let (mut name, mut value) = (env.core.take(), env.core.take());
        for parameter in self.parameters(changed) {
            if !parameter.has_name(env, &mut name) {
                continue;
            }
            value.clear();
            parameter.value(&name, env, &mut value);
            out.push_str(&format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\""));
            escape(&name, out);
            out.push_str("\"\r\n");
            if !compatible {
                out.push_str(&format!("Content-Type: text/plain; charset={spelled}\r\n"));
                out.push_str("Content-Transfer-Encoding: 8bit\r\n");
            }
            out.push_str(&format!("\r\n{value}\r\n"));
        }
        env.core.give(spelled);
        env.core.give(value);
        env.core.give(name);
    }

    /// Writes host, port and request target. The target is sent as it is in the URL.
    fn write_java_target(out: &mut Request, parts: &url::Parts) -> Result<(), Unsendable> {
        let Request { url, host, target, .. } = out;
        out.secure = &url[parts.protocol.clone()] == "https";
        let name = &url[parts.host.clone()];
        if name.is_empty() {
            return Err(Unsendable::new("java.io.IOException", "Failed to select a proxy"));
        }
        host.push_str(name.trim_start_matches('[').trim_end_matches(']'));
        out.port = match parts.port {
            Some(port) => u16::try_from(port).map_err(|_| {
                let message = format!("port out of range:{port}");
                let refused = Unsendable::new("java.lang.IllegalArgumentException", &message);
                // The connection throws an exception that JMeter does not catch, and the result has no name yet.
                Unsendable { no_url: true, ..refused }
            })?,
            None if out.secure => 443,
            None => 80,
        };
        let path = &url[parts.path.clone()];
        if !path.starts_with('/') {
            target.push('/');
        }
        target.push_str(path);
        out.path_len = target.len();
        if let Some(query) = parts.query.clone() {
            target.push('?');
            target.push_str(&url[query]);
        }
        Ok(())
    }
}

/// Writes the header lines of a file's part.
fn write_file_head(
    file: &file::FileArgument,
    env: &mut Env<'_>,
    charset: Charset,
    out: &mut String,
) {
    let (mut text, mut path) = (env.core.take(), env.core.take());
    out.push_str(&format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\""));
    file.name.eval(env, &mut text);
    escape(&text, out);
    out.push_str("\"; filename=\"");
    file.path.eval(env, &mut path);
    let last = path.rsplit('/').find(|piece| !piece.is_empty()).unwrap_or("");
    escape_name(last, charset, out);
    text.clear();
    file.mime.eval(env, &mut text);
    out.push_str(&format!(
        "\"\r\nContent-Type: {text}\r\nContent-Transfer-Encoding: binary\r\n\r\n"
    ));
    env.core.give(path);
    env.core.give(text);
}

/// Returns the value of the `Host` line as Java's own client writes it: without the default port.
fn host_line(out: &Request, parts: &url::Parts) -> String {
    let host = &out.url[parts.host.clone()];
    let usual = if out.secure { 443 } else { 80 };
    match parts.port.filter(|port| *port != usual) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Appends a line in UTF-8. Line breaks become blanks.
fn push(headers: &mut Vec<u8>, name: &str, value: &str) {
    let from = headers.len();
    headers.extend_from_slice(name.as_bytes());
    headers.extend_from_slice(b": ");
    headers.extend_from_slice(value.as_bytes());
    for byte in &mut headers[from..] {
        if matches!(byte, b'\r' | b'\n') {
            *byte = b' ';
        }
    }
    headers.extend_from_slice(b"\r\n");
}

/// Appends a header line unless a line with this name is present.
fn add(out: &mut Request, name: &str, value: &str) {
    if !header::has(&out.headers, name) {
        header::push(&mut out.headers, name, value);
    }
}

/// Rejects a header with an embedded line end. Java's own client allows a line end only if a blank follows.
fn illegal(name: &str, value: &str) -> Result<(), Unsendable> {
    let (what, text) = if name.contains(['\n', ':']) {
        ("field", name)
    } else if value.match_indices('\n').any(|(at, _)| !value[at + 1..].starts_with([' ', '\t'])) {
        ("value", value)
    } else {
        return Ok(());
    };
    let message = format!("Illegal character(s) in message header {what}: {text}");
    Err(Unsendable::new("java.lang.IllegalArgumentException", &message))
}

/// Replaces the value of the last header line with this name, or appends a line.
fn set(out: &mut Request, name: &str, value: &str) {
    let mut at = None;
    let mut from = 0;
    for line in out.headers.split_inclusive(|byte| *byte == b'\n') {
        if header::has(line, name) {
            at = Some(from..from + line.len());
        }
        from += line.len();
    }
    let Some(at) = at else { return header::push(&mut out.headers, name, value) };
    let mut line = Vec::new();
    // The name stays as it is in the plan.
    let written = String::from_utf8_lossy(&out.headers[at.start..at.start + name.len()]);
    header::push(&mut line, &written, value);
    let grown = line.len() as isize - at.len() as isize;
    if at.start < out.own_end {
        out.own_end = out.own_end.saturating_add_signed(grown);
    }
    if at.start < out.cookie_at {
        out.cookie_at = out.cookie_at.saturating_add_signed(grown);
        let cookie = &mut out.own_cookie;
        if cookie.start < cookie.end {
            *cookie =
                cookie.start.saturating_add_signed(grown)..cookie.end.saturating_add_signed(grown);
        }
    }
    out.headers.splice(at, line);
}

fn set_length(out: &mut Request) {
    let length = out.body.len();
    set(out, "Content-Length", itoa::Buffer::new().format(length));
}

/// Appends the content of a file to `out`. The error for a missing file has the message of Java's own client.
fn append(
    file: &file::FileArgument,
    env: &mut Env<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Unsendable> {
    let mut path = env.core.take();
    file.path.eval(env, &mut path);
    let content = file::content(&path, env);
    let appended = match content {
        Ok(content) => {
            out.extend_from_slice(&content);
            Ok(())
        }
        Err(_) => Err(Unsendable::new("java.nio.file.NoSuchFileException", &path)),
    };
    env.core.give(path);
    appended
}

/// Escapes quotes and line ends as in URLs (percent-encoded).
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("%22"),
            '\n' => out.push_str("%0A"),
            '\r' => out.push_str("%0D"),
            c => out.push(c),
        }
    }
}
