//! HTTP Request: its compiled form, and how a request is rendered, byte for byte as JMeter's HttpClient sends it.
//!
//! Rendering writes into buffers of the core that are reused; a request of which nothing can vary is rendered once
//! by the engine. Everything but the cookie line is done here: which cookies apply is known to the user alone.

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
pub(crate) use change::{Change, Changed, Noted, fields, session};
pub(crate) use compile::{compile, headers, is_defaults, review};
pub use destination::{Destination, Target};
pub(crate) use file::{Contents, file_content};
pub use given::{Given, GivenArgument, GivenFile};
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
    /// The cookie manager in scope.
    pub cookies: Option<u32>,
    /// That cookie manager cannot work, and lets each sample fail.
    pub(crate) cookie_handler_missing: bool,
    /// The cache manager in scope.
    pub cache: Option<u32>,
    /// The authorization manager in scope.
    pub auth: Option<u32>,
    /// The DNS cache manager in scope.
    pub dns: Option<u32>,
    /// The gateway that it is signed and encrypted for ([`Plan::gateways`](crate::plan::Plan::gateways)).
    pub gateway: Option<u32>,
    method: Template,
    protocol: Template,
    domain: Template,
    port: Template,
    path: Template,
    encoding: Template,
    arguments: Vec<Argument>,
    /// The arguments' values make up the body, whatever their names.
    raw: Flag,
    /// Changes by pre-processors, in their order.
    changes: Arc<[Change]>,
    files: Vec<file::FileArgument>,
    /// The body is `multipart/form-data` even without files.
    multipart: Flag,
    /// … in the mode that is meant to be what browsers send.
    compatible: Flag,
    headers: Vec<Header>,
    connect_timeout: Template,
    response_timeout: Template,
    follow_redirects: Flag,
    auto_redirects: Flag,
    keep_alive: Flag,
    source: source::Spread,
    /// Of the plan's own, if it may have one.
    proxy: Option<Proxy>,
    /// Only the MD5 of the body is kept as response data.
    pub md5: bool,
    /// Resources that are loaded with a page, if any.
    pub resources: Option<Resources>,
    /// Whether that is loaded, where a script has said so.
    pub loads_pages: Option<bool>,
    /// Sent unless the plan sets one; empty if none is sent.
    user_agent: Box<str>,
    /// Which client sends it.
    client: Client,
    /// A form without content type is sent as one.
    form_by_default: bool,
    fixed: bool,
}

/// Which of JMeter's clients sends requests.
#[derive(Clone, Debug)]
struct Client {
    /// As the plan names it.
    name: Template,
    /// The one where that is blank (`jmeter.httpsampler`).
    default: Box<str>,
    /// The `User-Agent` of Java's own client.
    java: Box<str>,
}

/// A proxy as the plan names it.
#[derive(Clone, Debug)]
struct Proxy {
    host: Template,
    port: Template,
    user: Template,
    password: Template,
}

/// A parameter of a request.
#[derive(Debug)]
struct Argument {
    name: Template,
    value: Template,
    /// The separator of name and value in a query.
    separator: Template,
    encode: Flag,
    /// Of its part in a `multipart/form-data`.
    content_type: Template,
}

/// A header that the plan sets.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) name: Template,
    pub(crate) value: Template,
    /// Not sent where one of the headers before has the same name: it comes from a manager further out.
    pub(crate) inherited: bool,
}

/// A rendered request. One per core, reused.
#[derive(Debug, Default)]
pub struct Request {
    /// TLS.
    pub secure: bool,
    /// It is for a file of this machine, whose path is the target.
    pub is_file: bool,
    /// The encoding that the plan gives a file.
    pub charset: String,
    /// Host to connect to, without brackets.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// Method.
    pub method: String,
    /// Path and query as sent in the request line.
    pub target: String,
    /// Path alone (for cookies).
    pub path_len: usize,
    /// URL as the result file shows it.
    pub url: String,
    /// Header lines in the order in which they are sent, each ended by CR LF, without the cookie line and the final blank line.
    pub headers: Vec<u8>,
    /// By HttpClient: lines that do not go out as the plan writes them, as they are sent and as JMeter shows them.
    pub altered: Vec<(Box<[u8]>, Box<str>)>,
    /// Where in `headers` the lines end that the plan sets; conditions belong there.
    pub own_end: usize,
    /// As by Java's own client.
    pub java: bool,
    /// By Java's own client: nothing is added by the user.
    pub stripped: bool,
    /// By Java's own client: where in `headers` the lines end that JMeter knows of.
    pub set_end: usize,
    /// Where in `headers` the cookie line belongs.
    pub cookie_at: usize,
    /// The plan's own cookie line in `headers`, with its CR LF; empty if there is none. The users' cookies take its place.
    pub own_cookie: Range<usize>,
    /// Body.
    pub body: Vec<u8>,
    /// The body as JMeter shows it in its sampler data.
    pub query_string: String,
    /// Milliseconds; 0 is none.
    pub connect_timeout_ms: u32,
    /// Milliseconds; 0 is none.
    pub response_timeout_ms: u32,
    /// Redirects become sub-samples.
    pub follow_redirects: bool,
    /// Redirects are followed inside one sample.
    pub auto_redirects: bool,
    /// The connection may be used again.
    pub keep_alive: bool,
    /// By HttpClient: what is wrong with its `Connection` lines, which it finds out when there is an answer; else empty.
    pub connection_fault: String,
    /// By HttpClient: it has a body and `Expect: 100-continue`, so that what comes before the answer proper is not counted.
    pub expects_continue: bool,
    /// Where to send from.
    pub source: Source,
    /// Parameters that pre-processors changed.
    changed: Changed,
    /// The plan's proxy for this request; used if it has a name and a port.
    pub proxy: Via,
    /// Where in `headers` the `User-Agent` stands that is sent where the plan has none.
    pub agent_at: usize,
    /// Room for escaping.
    bytes: Vec<u8>,
}

/// A proxy for one request.
#[derive(Debug, Default)]
pub struct Via {
    /// Its name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The user that asks; empty if nobody in particular.
    pub user: String,
    /// The password for it.
    pub password: String,
}

impl Request {
    /// Empties everything for the next request, keeping the buffers.
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

    /// Puts lines that do not go out as the plan writes them into shown header lines as the plan writes them.
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

    /// Appends the value of the plan's own cookie line, if there is one.
    pub fn write_own_cookie(&self, out: &mut String) {
        let line = &self.headers[self.own_cookie.clone()];
        let value = line.splitn(2, |byte| *byte == b':').nth(1).unwrap_or_default();
        out.extend(value.trim_ascii().iter().map(|byte| *byte as char));
    }

    /// Appends what JMeter calls sampler data. `cookies` is the value of the cookie line, empty if none was sent.
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

/// Appends the header lines of a request as they are sent, in JMeter's form: ended by `\n`, without cookies.
pub fn show_lines(sent: &[u8], out: &mut String) {
    for line in sent.split(|byte| *byte == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return;
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or(line);
        if !name.eq_ignore_ascii_case(b"cookie") {
            // Header lines are sent as Latin-1.
            out.extend(line.iter().map(|byte| char::from(*byte)));
            out.push('\n');
        }
    }
}

/// Appends the header lines of a request by Java's own client that JMeter shows: those that were set, without cookies, in the order of a
/// `java.util.HashMap` of their names; lines of one name from the last to the first.
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
    // The table doubles once it is three quarters full.
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

/// A request that could not be made; becomes a failed sample.
#[derive(Debug, PartialEq, Eq)]
pub struct Unsendable {
    /// Response code as JMeter words it.
    pub code: String,
    /// Response message as JMeter words it.
    pub message: String,
    /// The URL could not even be put together: the row shows no URL, and no label but an empty one.
    pub no_url: bool,
    /// Nobody was there to send it: the row shows no URL, but its label.
    pub no_client: bool,
}

impl Unsendable {
    /// A failure that JMeter reports as an exception of that class.
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
    /// Whether the plan may set the `User-Agent`.
    pub(crate) fn sets_user_agent(&self) -> bool {
        let mut names = self.headers.iter().map(|header| header.name.fixed());
        names.any(|name| name.is_none_or(|name| name.eq_ignore_ascii_case("user-agent")))
    }

    /// Whether a user adds more than cookies to its requests, or may not send them at all.
    pub fn is_plain(&self) -> bool {
        self.cache.is_none() && self.auth.is_none() && self.proxy.is_none()
    }

    /// The `User-Agent` where the plan has none; empty if nothing is sent.
    pub fn user_agent(&self) -> &str {
        &self.user_agent
    }

    /// Adds what pre-processors in scope change.
    pub(crate) fn change(&mut self, changes: Vec<Change>) {
        self.fixed &= changes.is_empty();
        self.changes = changes.into();
    }

    /// Whether every rendering gives the same request.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }
}
