//! HTTP Request: its compiled form, and the rendering of requests, byte for byte as JMeter's HttpClient sends them.
//!
//! Rendering writes into reused buffers of the core. The engine renders a request without variable parts only once.
//! This module renders everything except the cookie line, because the cookies depend on the user.

mod body;
mod change;
mod compile;
mod destination;
mod file;
mod given;
mod header;
mod java_client;
mod link;
mod multipart;
pub(crate) mod redirect;
mod render;
mod resources;
mod sealed;
mod source;

use std::ops::Range;
use std::sync::Arc;

pub use change::Session;
pub(crate) use change::{Change, Changed, SessionId, fields, session};
pub(crate) use compile::{compile, headers, is_defaults, review};
pub use destination::{Destination, Target};
pub(crate) use file::{Contents, file_content};
pub use given::{ScriptedArgument, ScriptedFile, ScriptedRequest};
pub use header::lines as header_lines;
pub(crate) use link::Page;
pub use redirect::{client_location, is_uri, java_location, location, method_after_redirect};
pub use resources::Resources;
pub use source::{Source, SourceKind};

use crate::template::Template;
use crate::template::flag::Flag;

/// A compiled HTTP Request with its defaults, headers and cookie manager merged in.
#[derive(Debug)]
pub struct Http {
    /// Index of the cookie manager in scope.
    pub cookies: Option<u32>,
    /// True if the cookie manager has an unusable configuration, which fails each sample.
    pub(crate) cookie_handler_missing: bool,
    /// Index of the cache manager in scope.
    pub cache: Option<u32>,
    /// Index of the authorization manager in scope.
    pub auth: Option<u32>,
    /// Index of the DNS cache manager in scope.
    pub dns: Option<u32>,
    /// Index of the gateway for which the request is signed and encrypted
    /// ([`Plan::gateways`](crate::plan::Plan::gateways)).
    pub gateway: Option<u32>,
    method: Template,
    protocol: Template,
    domain: Template,
    port: Template,
    path: Template,
    encoding: Template,
    arguments: Vec<Argument>,
    /// True if the body consists of the arguments' values only, even if arguments have names.
    raw: Flag,
    /// Pre-processors in scope that change the request, in the order of the plan.
    changes: Arc<[Change]>,
    files: Vec<file::FileArgument>,
    /// True if the body is `multipart/form-data` even without files.
    multipart: Flag,
    /// True if a multipart body uses HttpClient's browser-compatible mode.
    compatible: Flag,
    headers: Vec<Header>,
    connect_timeout: Template,
    response_timeout: Template,
    follow_redirects: Flag,
    auto_redirects: Flag,
    keep_alive: Flag,
    source: source::Spread,
    /// Proxy that the plan sets for this request; `None` if the plan sets none.
    proxy: Option<Proxy>,
    /// True if the response data is replaced by the MD5 digest of the body ("Save response as MD5 hash").
    pub md5: bool,
    /// Settings for embedded resources of pages, if any are downloaded.
    pub resources: Option<Resources>,
    /// Set if a script has enabled (true) or disabled (false) the download of embedded resources.
    pub loads_pages: Option<bool>,
    /// `User-Agent` to send unless the plan sets one; empty if none is sent.
    user_agent: Box<str>,
    /// HTTP client implementation that sends the request.
    client: Client,
    /// True if a form without an explicit content type is sent with the content type of forms.
    form_by_default: bool,
    fixed: bool,
}

/// JMeter's HTTP client implementation for a request.
#[derive(Clone, Debug)]
struct Client {
    /// Name of the implementation in the plan.
    name: Template,
    /// Implementation that is used if the plan names none (`jmeter.httpsampler`).
    default: Box<str>,
    /// Default `User-Agent` of Java's own client.
    java: Box<str>,
}

/// Proxy that the plan sets for a request.
#[derive(Clone, Debug)]
struct Proxy {
    host: Template,
    port: Template,
    user: Template,
    password: Template,
}

/// Parameter of a request.
#[derive(Debug)]
struct Argument {
    name: Template,
    value: Template,
    /// Separator between name and value in a query.
    separator: Template,
    encode: Flag,
    /// Content type of the parameter's part in a `multipart/form-data` body.
    content_type: Template,
}

/// Header that the plan sets.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) name: Template,
    pub(crate) value: Template,
    /// True if the header comes from an outer Header Manager. The header is not sent if an earlier header has the same
    /// name.
    pub(crate) inherited: bool,
}

/// A rendered request. Each core has one and reuses it.
#[derive(Debug, Default)]
pub struct Request {
    /// True if the request uses TLS.
    pub secure: bool,
    /// True for a `file:` URL: the sample reads a file of this machine. The path of the file is in `target`.
    pub is_file: bool,
    /// Character encoding that the plan sets; only for requests that read a file of this machine.
    pub charset: String,
    /// Host to connect to, without brackets.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// HTTP method.
    pub method: String,
    /// Path and query as sent in the request line.
    pub target: String,
    /// Length of the path within `target`, without the query (for cookies).
    pub path_len: usize,
    /// URL as the result file shows it.
    pub url: String,
    /// Header lines in the order of sending, each ending in CR LF, without the cookie line and the final blank
    /// line.
    pub headers: Vec<u8>,
    /// HttpClient only: header lines that are sent differently from how the plan writes them. Each entry has the line
    /// as sent, and the line that JMeter shows.
    pub altered: Vec<(Box<[u8]>, Box<str>)>,
    /// End of the plan's header lines in `headers`. Conditional headers of the cache are inserted there.
    pub own_end: usize,
    /// True if the request is sent as by Java's own client.
    pub java: bool,
    /// Java's own client only: true if no cookies or other header lines of the user are added to the request, as after
    /// a redirect that turns a `POST` into a `GET`.
    pub stripped: bool,
    /// Java's own client only: end of the header lines in `headers` that JMeter sets. The client adds the lines after
    /// it, and JMeter does not show them.
    pub set_end: usize,
    /// Position of the cookie line in `headers`.
    pub cookie_at: usize,
    /// Range of the plan's own cookie line in `headers`, with its CR LF; empty if there is none. The user's cookies
    /// replace it.
    pub own_cookie: Range<usize>,
    /// Body of the request.
    pub body: Vec<u8>,
    /// The body as JMeter shows it in its sampler data.
    pub query_string: String,
    /// Connect timeout in milliseconds; 0 means no limit.
    pub connect_timeout_ms: u32,
    /// Response timeout in milliseconds; 0 means no limit.
    pub response_timeout_ms: u32,
    /// True if redirects are followed as sub-samples.
    pub follow_redirects: bool,
    /// True if redirects are followed within one sample.
    pub auto_redirects: bool,
    /// True if the connection may be reused after the response.
    pub keep_alive: bool,
    /// HttpClient only: the error in the `Connection` lines, which HttpClient reports only after the response;
    /// empty if none.
    pub connection_fault: String,
    /// HttpClient only: true if the request has a body and `Expect: 100-continue`. An interim response is then not
    /// counted.
    pub expects_continue: bool,
    /// Local address from which the request is sent.
    pub source: Source,
    /// Changes that pre-processors made to the request's parameters and target.
    changed: Changed,
    /// Proxy of the plan for this request; used if both name and port are set.
    pub proxy: RequestProxy,
    /// Position in `headers` for the default `User-Agent` line, which is sent if the plan has none.
    pub agent_at: usize,
    /// Reusable buffer for escaping the target.
    bytes: Vec<u8>,
}

/// Proxy for one request.
#[derive(Debug, Default)]
pub struct RequestProxy {
    /// Host name of the proxy.
    pub host: String,
    /// Port of the proxy.
    pub port: u16,
    /// User name for the proxy; empty for no authentication.
    pub user: String,
    /// Password for the proxy.
    pub password: String,
}

impl Request {
    /// Clears all fields for the next request and keeps the buffers.
    pub fn clear(&mut self) {
        for text in [
            &mut self.host,
            &mut self.method,
            &mut self.target,
            &mut self.url,
            &mut self.query_string,
            &mut self.source.name,
            &mut self.proxy.host,
            &mut self.proxy.user,
            &mut self.proxy.password,
            &mut self.charset,
            &mut self.connection_fault,
        ] {
            text.clear();
        }
        self.changed.clear();
        self.headers.clear();
        self.altered.clear();
        self.body.clear();
        (self.secure, self.is_file, self.port, self.path_len) = (false, false, 0, 0);
        (self.own_end, self.cookie_at, self.own_cookie) = (0, 0, 0..0);
        (self.java, self.stripped, self.set_end) = (false, false, 0);
        (self.agent_at, self.proxy.port) = (0, 0);
        (self.connect_timeout_ms, self.response_timeout_ms) = (0, 0);
        (self.follow_redirects, self.auto_redirects, self.keep_alive) = (false, false, false);
    }

    /// Replaces each header line in `shown` that was sent differently from the plan by the line that JMeter shows
    /// ([`Request::altered`]).
    pub fn show_as_written(&self, shown: &mut String) {
        for (sent, written) in &self.altered {
            let sent: String = sent.iter().map(|byte| char::from(*byte)).collect();
            let lines = shown.split_inclusive('\n').scan(0, |end, line| {
                *end += line.len();
                Some((*end - line.len(), line.trim_end_matches('\n')))
            });
            let found = { lines }.find(|(_, line)| *line == sent);
            if let Some((at, _)) = found {
                shown.replace_range(at..at + sent.len(), written);
            }
        }
    }

    /// Appends the value of the plan's own cookie line, if any.
    pub fn write_own_cookie(&self, out: &mut String) {
        let line = &self.headers[self.own_cookie.clone()];
        let value = line.splitn(2, |byte| *byte == b':').nth(1).unwrap_or_default();
        out.extend(value.trim_ascii().iter().map(|byte| *byte as char));
    }

    /// Appends JMeter's sampler data: method, URL, body and cookies. `cookies` is the value of the sent cookie line;
    /// empty without cookies.
    pub fn write_sampler_data(&self, cookies: &str, out: &mut String) {
        out.push_str(&self.method);
        out.push(' ');
        out.push_str(&self.url);
        out.push('\n');
        if !matches!(self.method.as_str(), "HEAD" | "OPTIONS" | "TRACE") {
            out.push('\n');
            out.push_str(&self.method);
            out.push_str(" data:\n");
            out.push_str(&self.query_string);
            out.push('\n');
        }
        if cookies.is_empty() {
            out.push_str("\n[no cookies]");
        } else {
            out.push_str("\nCookie Data:\n");
            out.push_str(cookies);
        }
        out.push('\n');
    }
}

/// Appends the sent header lines in JMeter's format: each ends in `\n`, without cookies.
pub fn show_lines(sent: &[u8], out: &mut String) {
    for line in sent.split(|byte| *byte == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return;
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or(line);
        if !name.eq_ignore_ascii_case(b"cookie") {
            // Header lines are encoded in Latin-1.
            out.extend(line.iter().map(|byte| char::from(*byte)));
            out.push('\n');
        }
    }
}

/// Appends the header lines that JMeter shows for a request of Java's own client: the lines that JMeter has set,
/// without cookies. The lines are in the order of a `java.util.HashMap` of the names; lines with the same name are in
/// reverse order.
pub fn show_set_lines(request: &Request, out: &mut String) {
    let set = &request.headers[..request.set_end];
    let mut names: Vec<(&[u8], Vec<&[u8]>)> = Vec::new();
    for line in set.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).rev() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let name = line.split(|byte| *byte == b':').next().unwrap_or(line);
        let hidden: [&[u8]; 3] = [b"cookie", b"authorization", b"proxy-authorization"];
        if hidden.iter().any(|hidden| name.eq_ignore_ascii_case(hidden)) {
            continue;
        }
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, lines)) => lines.push(line),
            None => names.push((name, vec![line])),
        }
    }
    // The hash table doubles when it is three quarters full.
    let size = (names.len() * 4).div_ceil(3).next_power_of_two().max(16) as u32;
    names.sort_by_key(|(name, _)| {
        let hash =
            name.iter().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add((*byte).into()));
        (hash ^ hash >> 16) & (size - 1)
    });
    for line in names.iter().flat_map(|(_, lines)| lines) {
        match std::str::from_utf8(line) {
            Ok(line) => out.push_str(line),
            Err(_) => out.extend(line.iter().map(|byte| char::from(*byte))),
        }
        out.push('\n');
    }
}

/// The error for a request that cannot be sent; it becomes a failed sample.
#[derive(Debug, PartialEq, Eq)]
pub struct Unsendable {
    /// Response code as JMeter writes it.
    pub code: String,
    /// Response message as JMeter writes it.
    pub message: String,
    /// True if not even the URL could be built, so that the result row has neither URL nor label.
    pub no_url: bool,
    /// True if JMeter could not create an HTTP client for the request, as with an unknown implementation, so that the
    /// result row has a label but no URL.
    pub no_client: bool,
}

impl Unsendable {
    /// Creates the error that JMeter reports for an exception of this class.
    pub fn new(class: &str, message: &str) -> Self {
        Self {
            code: format!("Non HTTP response code: {class}"),
            message: format!("Non HTTP response message: {message}"),
            no_url: false,
            no_client: false,
        }
    }
}

impl Http {
    /// Returns true if the plan may set the `User-Agent`.
    pub(crate) fn sets_user_agent(&self) -> bool {
        let mut names = self.headers.iter().map(|header| header.name.fixed());
        names.any(|name| name.is_none_or(|name| name.eq_ignore_ascii_case("user-agent")))
    }

    /// Returns true if only cookies are added to the request for a user, and the request is always sent (no cache,
    /// authorization or proxy).
    pub fn is_plain(&self) -> bool {
        self.cache.is_none() && self.auth.is_none() && self.proxy.is_none()
    }

    /// Returns the default `User-Agent`; empty if none is sent.
    pub fn user_agent(&self) -> &str {
        &self.user_agent
    }

    /// Sets the pre-processors in scope that modify the request.
    pub(crate) fn change(&mut self, changes: Vec<Change>) {
        self.fixed &= changes.is_empty();
        self.changes = changes.into();
    }

    /// True if every rendering results in the same request.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }
}
