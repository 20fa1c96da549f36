//! Requests from the settings of a curl command.

use super::data::{self, Payload};
use super::form::Field;
use super::settings::Settings;
use super::url::{self, Parsed, Rules};
use super::{Reading, cookies, glob, headers};
use crate::request::{Body, Content, Part, Proxy, Request};
use crate::word;

/// Methods for which a run sends no body, except for a body of text or a file with GET.
const WITHOUT_BODY: &[&str] = &["HEAD", "OPTIONS", "TRACE"];

/// Returns the requests of a command: one for each URL.
pub(super) fn requests(mut settings: Settings, reading: &mut Reading<'_>) -> Vec<Request> {
    if settings.urls.is_empty() {
        reading.findings.error("curl-url", "the command has no URL");
        return Vec::new();
    }
    if let Some(why) = contradiction(&settings) {
        reading.findings.error("curl-method", why);
        return Vec::new();
    }
    if settings.insecure {
        let message = "-k: certificates are not checked, as in JMeter, with or without this option";
        reading.findings.note("curl-option", message);
    }
    let jar = jar(&settings, reading);
    let mut template = Request {
        method: method(&settings),
        follow_redirects: settings.location,
        connect_timeout_ms: seconds(
            settings.connect_timeout.as_ref(),
            "--connect-timeout",
            reading,
        ),
        response_timeout_ms: seconds(settings.max_time.as_ref(), "--max-time", reading),
        proxy: proxy(&settings, reading),
        source: settings.interface.as_deref().map(interface),
        jar,
        ..Request::default()
    };
    template.body = body(&mut settings, &mut template, reading);
    let size = size(&template, &settings);
    let mut requests = Vec::new();
    for text in std::mem::take(&mut settings.urls) {
        for text in addresses(&text, &settings, reading) {
            let Some(left) = reading.left.checked_sub(size + text.len()) else {
                let message = "the requests of all commands together are too large";
                reading.findings.error("curl-size", message);
                return requests;
            };
            reading.left = left;
            requests.extend(request(&template, &text, &settings, reading));
        }
    }
    requests
}

/// Returns the size of a request without its address, in bytes.
fn size(template: &Request, settings: &Settings) -> usize {
    let body = match &template.body {
        Body::None => 0,
        Body::Text(text) | Body::File(text) => text.len(),
        Body::Parts(parts) => {
            let size = |part: &Part| match &part.content {
                Content::Text(text) | Content::File(text) => part.name.len() + text.len(),
            };
            parts.iter().map(size).sum()
        }
    };
    let headers: usize = settings.headers.iter().chain(&settings.cookies).map(String::len).sum();
    let credentials = settings.user.as_ref().map_or(0, String::len);
    body + headers + credentials + settings.query.len()
}

/// Returns the reason why curl refuses a command with these settings.
fn contradiction(settings: &Settings) -> Option<&'static str> {
    let data = settings.data.is_some() && !settings.get;
    let forms = !settings.form.is_empty();
    if settings.head && (data || forms || settings.upload.is_some()) {
        return Some(
            "-I together with data: curl refuses two methods; -X HEAD sends HEAD with a body",
        );
    }
    if forms && (settings.data.is_some() || settings.upload.is_some()) {
        return Some("-F together with -d or -T: curl refuses two kinds of body");
    }
    if data && settings.upload.is_some() {
        return Some("-d together with -T: curl refuses two kinds of body");
    }
    None
}

fn method(settings: &Settings) -> String {
    if let Some(method) = &settings.method {
        return method.clone();
    }
    let method = match () {
        () if settings.head => "HEAD",
        () if settings.get => "GET",
        () if settings.upload.is_some() => "PUT",
        () if settings.data.is_some() || !settings.form.is_empty() => "POST",
        () => "GET",
    };
    method.to_owned()
}

/// Returns the body of the requests. With `-G`, the data become a part of the query.
fn body(settings: &mut Settings, template: &mut Request, reading: &mut Reading<'_>) -> Body {
    if settings.get {
        if let Some(data) = settings.data.take().and_then(|data| data.into_text(reading)) {
            settings.query = data;
        }
        settings.is_json = false;
        return Body::None;
    }
    if !settings.form.is_empty() {
        return form(settings, reading);
    }
    let body = match (&settings.data, &settings.upload) {
        (Some(Payload::Text(text)), _) => Body::Text(text.clone()),
        (Some(Payload::File(file)), _) => Body::File(file.clone()),
        (None, Some(file)) => match reading.file_name(file) {
            Some(file) => Body::File(file),
            None => reading.read_text("-", "-T").map_or(Body::None, Body::Text),
        },
        (None, None) => Body::None,
    };
    if settings.upload.as_deref() == Some("-") {
        let message = "-T -: the body is sent with its length, not in chunks";
        reading.findings.note("curl-body", message);
    }
    report_body(&body, &template.method, reading);
    body
}

/// Reports bodies that a run sends differently.
fn report_body(body: &Body, method: &str, reading: &mut Reading<'_>) {
    let without = WITHOUT_BODY.contains(&method);
    if *body != Body::None && without {
        let message = format!("{method} is sent without its body, as in JMeter");
        reading.findings.warn("curl-body", message);
    } else if *body == Body::None && !without && method != "GET" {
        let message = format!(
            "{method} without data: the run adds Content-Length: 0 and Content-Type: application/x-www-form-urlencoded, as JMeter does"
        );
        reading.findings.note("curl-body", message);
    }
}

/// Returns the parts of a form, or its text if only that expresses the content types of its fields.
fn form(settings: &mut Settings, reading: &mut Reading<'_>) -> Body {
    let fields = settings.form.clone();
    let is_file = |field: &Field| matches!(field.content, Content::File(_));
    let typed = |field: &Field| field.kind.is_some() && !is_file(field);
    if fields.iter().any(typed) {
        if !fields.iter().any(is_file) {
            return form_as_text(&fields, settings);
        }
        reading.findings.note(
            "curl-form",
            "-F with types of text fields: all parts get Content-Type and Content-Transfer-Encoding",
        );
    }
    if !fields.is_sorted_by_key(is_file) {
        let message = "-F: files are sent after the other fields, as in JMeter";
        reading.findings.note("curl-form", message);
    }
    Body::Parts(fields.into_iter().map(Field::part).collect())
}

/// Returns a form without files as curl writes it, and sets its content type.
fn form_as_text(fields: &[Field], settings: &mut Settings) -> Body {
    let mut boundary = format!("------------------------{:016x}", 0);
    let mut number = 0u64;
    let holds = |field: &Field, boundary: &str| match &field.content {
        Content::Text(text) => text.contains(boundary),
        Content::File(_) => false,
    };
    while fields.iter().any(|field| holds(field, &boundary)) {
        number += 1;
        boundary = format!("------------------------{number:016x}");
    }
    let mut text = String::new();
    for field in fields {
        let name = word::map(&field.name, |text, out| {
            out.push_str(&text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A"));
        });
        text.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n"
        ));
        if let Some(kind) = &field.kind {
            text.push_str(&format!("Content-Type: {kind}\r\n"));
        }
        text.push_str("\r\n");
        if let Content::Text(content) = &field.content {
            text.push_str(content);
        }
        text.push_str("\r\n");
    }
    text.push_str(&format!("--{boundary}--\r\n"));
    let custom = |line: &String| line.to_ascii_lowercase().starts_with("content-type:");
    settings.headers.retain(|line| !custom(line));
    settings.headers.push(format!("Content-Type: multipart/form-data; boundary={boundary}"));
    Body::Text(text)
}

/// Returns the addresses that a URL with patterns stands for.
fn addresses(text: &str, settings: &Settings, reading: &mut Reading<'_>) -> Vec<String> {
    if settings.glob_off {
        return vec![text.to_owned()];
    }
    match glob::expand(text) {
        Ok(all) => all,
        Err(why) => {
            reading.findings.error("curl-glob", why);
            Vec::new()
        }
    }
}

fn request(
    template: &Request,
    text: &str,
    settings: &Settings,
    reading: &mut Reading<'_>,
) -> Option<Request> {
    let scheme = settings.default_scheme.as_deref().unwrap_or_default();
    let rules = Rules { scheme, path_as_is: settings.path_as_is };
    let text = with_query(&with_file_name(text, settings), &settings.query);
    let Parsed { mut address, user } = url::parse(&text, rules, reading.findings)?;
    match settings.request_target.as_deref() {
        Some(target) if target.starts_with('/') => target.clone_into(&mut address.target),
        Some(target) => {
            let message = format!("--request-target {target}: only a path is possible");
            reading.findings.warn("curl-option", message);
        }
        None => {}
    }
    let mut request = Request { address, ..template.clone() };
    add_hosts(&mut request, settings, reading);
    let user = settings.user.as_deref().or(user.as_deref());
    headers::set(&mut request, settings, user, reading);
    Some(request)
}

/// Appends a query to an address, before its fragment. curl writes escape sequences in lower case.
fn with_query(text: &str, query: &str) -> String {
    if query.is_empty() {
        return text.to_owned();
    }
    let text = text.split('#').next().unwrap_or_default();
    let mut query_lower = String::with_capacity(query.len());
    let mut rest = query;
    while let Some((before, after)) = rest.split_once('%') {
        query_lower.push_str(before);
        query_lower.push('%');
        let digits = after.get(..2).filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()));
        query_lower.push_str(&digits.unwrap_or_default().to_ascii_lowercase());
        rest = &after[digits.map_or(0, str::len)..];
    }
    query_lower.push_str(rest);
    match text.split_once('?') {
        None => format!("{text}?{query_lower}"),
        Some((_, before)) => {
            let mut joined = before.to_owned();
            if joined.ends_with('&') {
                joined.pop();
            }
            data::join(&mut joined, &query_lower);
            format!("{}?{joined}", text.split('?').next().unwrap_or_default())
        }
    }
}

/// Appends the name of an uploaded file to an address that ends with a slash.
fn with_file_name(text: &str, settings: &Settings) -> String {
    let Some(file) = settings.upload.as_ref().filter(|file| *file != "-" && *file != ".") else {
        return text.to_owned();
    };
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    let authority = plain.split_once("://").map_or(plain, |(_, rest)| rest);
    let has_name = !plain.ends_with('/') && authority.contains('/');
    if has_name || plain.len() != text.len() {
        return text.to_owned();
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    let name = word::map(name, |text, out| {
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    out.push(byte as char);
                }
                _ => out.push_str(&format!("%{byte:02X}")),
            }
        }
    });
    let slash = if plain.ends_with('/') { "" } else { "/" };
    format!("{text}{slash}{name}")
}

/// Returns the cookies to begin with, if responses may set cookies.
fn jar(settings: &Settings, reading: &mut Reading<'_>) -> Option<Vec<crate::request::Cookie>> {
    let files = settings.cookie_files.iter();
    let cookies = files.flat_map(|file| cookies::read(file, reading)).collect();
    // With redirects, even literal cookies are sent together with those that responses set.
    settings.keeps_cookies.then_some(cookies)
}

/// Returns a time in milliseconds.
fn seconds(text: Option<&String>, option: &str, reading: &mut Reading<'_>) -> Option<u64> {
    let text = text?;
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && (0.0..=2_000_000.0).contains(&seconds) => {
            // 0 means no limit, in curl as in a plan.
            Some((seconds * 1000.0).ceil() as u64).filter(|ms| *ms > 0)
        }
        _ => {
            let message = format!("{option} {}: not a number of seconds", word::shown(text));
            reading.findings.error("curl-option", message);
            None
        }
    }
}

/// Returns an interface or address without curl's prefix.
fn interface(text: &str) -> String {
    let name = ["if!", "host!"].iter().find_map(|prefix| text.strip_prefix(prefix));
    name.unwrap_or(text).to_owned()
}

/// Returns the proxy of a command: `[http://][USER:PASSWORD@]HOST[:PORT]`.
fn proxy(settings: &Settings, reading: &mut Reading<'_>) -> Option<Proxy> {
    let given = settings.proxy.as_deref().filter(|text| !text.is_empty())?;
    let mut fail = |why: &str| {
        let message = format!("-x {}: {why}", masked(given));
        reading.findings.error("curl-proxy", message);
        None
    };
    let rest = match given.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
        Some((scheme, _)) => {
            return fail(&format!("only HTTP proxies are supported, not {scheme}"));
        }
        None => given,
    };
    let rest = rest.trim_end_matches('/');
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, rest),
    };
    let user = settings.proxy_user.as_deref().or(user).unwrap_or_default();
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (place, "1080"),
    };
    match port.parse() {
        Ok(port) if !host.is_empty() => Some(Proxy {
            host: host.to_owned(),
            port,
            user: user.to_owned(),
            password: password.to_owned(),
        }),
        _ => fail("a proxy is HOST:PORT"),
    }
}

/// Returns an address without the credentials in it.
fn masked(text: &str) -> String {
    let shown = word::shown(text);
    match shown.rsplit_once('@') {
        Some((_, place)) => format!("…@{place}"),
        None => shown,
    }
}

/// Adds the addresses of `--resolve` and `--connect-to`.
fn add_hosts(request: &mut Request, settings: &Settings, reading: &mut Reading<'_>) {
    for text in &settings.resolve {
        let entry = text.strip_prefix('+').unwrap_or(text);
        let mut fields = entry.splitn(3, ':');
        match (fields.next(), fields.next(), fields.next()) {
            (Some(host), Some(_), Some(addresses)) if host != "*" && !host.is_empty() => {
                let addresses = addresses.replace(['[', ']'], "");
                request.hosts.push((host.to_owned(), addresses));
            }
            (Some(host), Some(_), None) if host.starts_with('-') => {}
            _ => {
                let message = format!("--resolve {text}: only HOST:PORT:ADDRESS is imported");
                reading.findings.warn("curl-option", message);
            }
        }
    }
    for text in &settings.connect_to {
        connect_to(text, request, reading);
    }
}

/// Adds the address of `--connect-to HOST1:PORT1:HOST2:PORT2`, if it changes the address only.
fn connect_to(text: &str, request: &mut Request, reading: &mut Reading<'_>) {
    let own_port = request.address.port.unwrap_or(match request.address.scheme.as_str() {
        "https" => 443,
        _ => 80,
    });
    let fields: Vec<&str> = text.split(':').collect();
    let message = match fields[..] {
        [from, _, _, _] if !from.is_empty() && from != request.address.host => return,
        [_, port, _, _] if !port.is_empty() && port != own_port.to_string() => return,
        [_, _, to, port] if port.is_empty() || port == own_port.to_string() => {
            if !to.is_empty() {
                request.hosts.push((request.address.host.clone(), to.to_owned()));
            }
            return;
        }
        [_, _, _, port] => {
            format!("--connect-to {text}: the plan connects to port {own_port}, not to {port}")
        }
        _ => format!("--connect-to {text}: only HOST1:PORT1:HOST2:PORT2 is imported"),
    };
    reading.findings.warn("curl-option", message);
}
