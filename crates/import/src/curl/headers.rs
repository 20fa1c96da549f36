//! Header lines in the order in which curl sends them.
//!
//! `Host` is left to the run unless the command sets another one, so that the plan's host can be changed in one place.
//! `Connection` and `Content-Length` are always the run's own.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::Reading;
use super::settings::{Auth, Settings};
use crate::request::{Address, Body, Login, Request};
use crate::word;

/// `User-Agent` of imported commands without `-A`. Servers that treat curl differently answer as they answer curl.
pub(crate) const AGENT: &str = "curl/8.5.0";
/// Content codings that curl asks for with `--compressed`, as far as a run decodes them.
const CODINGS: &str = "deflate, gzip, br";
/// Content type of data without another one.
const FORM: &str = "application/x-www-form-urlencoded";

/// Header lines of `-H`, read as curl reads them.
struct Custom {
    /// Lines to send.
    lines: Vec<(String, String)>,
    /// Names of lines that are not sent.
    removed: Vec<String>,
}

impl Custom {
    fn read(given: &[String], is_json: bool, reading: &mut Reading<'_>) -> Self {
        let mut custom = Self { lines: Vec::new(), removed: Vec::new() };
        for line in given {
            if let Some((name, value)) = line.split_once(':').filter(|(name, _)| !name.is_empty()) {
                let value = value.trim_start_matches([' ', '\t']);
                if value.is_empty() {
                    custom.removed.push(name.to_owned());
                } else {
                    custom.lines.push((name.to_owned(), value.to_owned()));
                }
            } else if let Some(name) = line.trim_end().strip_suffix(';') {
                custom.lines.push((name.to_owned(), String::new()));
            } else {
                let message = format!("-H {}: a header is NAME: VALUE", word::shown(line));
                reading.findings.warn("curl-header", message);
            }
        }
        if is_json {
            for name in ["Content-Type", "Accept"] {
                if !custom.has(name) {
                    custom.lines.push((name.to_owned(), "application/json".to_owned()));
                }
            }
        }
        custom
    }

    /// True if the command sends or removes a header itself, so that curl adds none of this name.
    fn has(&self, name: &str) -> bool {
        self.get(name).is_some() || self.removes(name)
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.lines.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn removes(&self, name: &str) -> bool {
        self.removed.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Sets the header lines of a request, and what a plan expresses by other means: credentials, `Connection: close`.
pub(super) fn set(
    request: &mut Request,
    settings: &Settings,
    user: Option<&str>,
    reading: &mut Reading<'_>,
) {
    let custom = Custom::read(&settings.headers, settings.is_json, reading);
    let mut lines = Vec::new();
    let mut push = |name: &str, value: String| lines.push((name.to_owned(), value));
    if let Some(host) = custom.get("Host").filter(|host| !is_own(host, &request.address)) {
        if request.address.port.is_some() && !host.contains(':') {
            let message = "-H Host: the run appends the port of the URL, as JMeter does";
            reading.findings.note("curl-header", message);
        }
        push("Host", host.to_owned());
    }
    // With a second kind, curl waits for the server to choose one.
    if let Some(token) = settings.bearer.as_ref().filter(|_| settings.auth == Auth::Basic) {
        if !custom.has("Authorization") {
            push("Authorization", format!("Bearer {token}"));
        }
    } else if let Some(user) = user.filter(|_| !custom.has("Authorization"))
        && let Some(value) = authorization(user, settings.auth, request, reading)
    {
        push("Authorization", value);
    }
    if let Some(range) = settings.range.as_ref().filter(|_| !custom.has("Range")) {
        let open = if range.contains('-') { "" } else { "-" };
        push("Range", format!("bytes={range}{open}"));
    }
    let agent = settings.agent.as_deref().unwrap_or(AGENT);
    if !custom.has("User-Agent") && !agent.is_empty() {
        push("User-Agent", agent.to_owned());
    }
    if !custom.has("Accept") {
        push("Accept", "*/*".to_owned());
    }
    if settings.compressed && !custom.has("Accept-Encoding") {
        push("Accept-Encoding", CODINGS.to_owned());
    }
    if let Some(referer) = referer(settings, reading).filter(|_| !custom.has("Referer")) {
        push("Referer", referer);
    }
    if !settings.cookies.is_empty() && !custom.has("Cookie") {
        push("Cookie", settings.cookies.join(";"));
    }
    let typed = custom.has("Content-Type");
    for (name, value) in &custom.lines {
        if keeps(name, value, request, reading) {
            push(name, value.clone());
        }
    }
    if settings.data.is_some() && !typed {
        push("Content-Type", FORM.to_owned());
    }
    request.headers = lines;
    report_removed(&custom, settings, request, reading);
}

/// True if the value is the `Host` that the run sends anyway.
fn is_own(host: &str, address: &Address) -> bool {
    match address.port {
        Some(port) => host.eq_ignore_ascii_case(&format!("{}:{port}", address.host)),
        None => host.eq_ignore_ascii_case(&address.host),
    }
}

/// Returns the value of `Authorization`, or sets the request's login if the server must ask first.
fn authorization(
    user: &str,
    auth: Auth,
    request: &mut Request,
    reading: &mut Reading<'_>,
) -> Option<String> {
    let (name, password) = match user.split_once(':') {
        Some(parts) => parts,
        None => {
            let message = "-u: there is no password; curl asks for it, the plan sends an empty one";
            reading.findings.warn("curl-password", message);
            (user, "")
        }
    };
    let login =
        |digest| Some(Login { user: name.to_owned(), password: password.to_owned(), digest });
    match auth {
        Auth::Unsupported => {}
        Auth::Digest | Auth::Any => request.login = login(true),
        // The encoded form of a variable is known only while the plan runs.
        Auth::Basic if word::has_reference(user) => request.login = login(false),
        Auth::Basic => {
            return Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{name}:{password}"))));
        }
    }
    None
}

fn referer(settings: &Settings, reading: &mut Reading<'_>) -> Option<String> {
    let given = settings.referer.as_deref()?;
    let (value, auto) = match given.split_once(";auto") {
        Some((value, _)) => (value, true),
        None => (given, false),
    };
    if auto {
        let message = "-e ;auto: requests after a redirect have no Referer of their own";
        reading.findings.warn("curl-option", message);
    }
    (!value.is_empty()).then(|| value.to_owned())
}

/// Decides whether a header line of the command is sent as it is. Others are expressed differently, or reported.
fn keeps(name: &str, value: &str, request: &mut Request, reading: &mut Reading<'_>) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let mut leave_out = |why: &str| {
        reading.findings.warn("curl-header", format!("-H {name}: {why}"));
        false
    };
    match () {
        () if is("Host") => false,
        () if is("Connection") && value.eq_ignore_ascii_case("keep-alive") => false,
        () if is("Connection") && value.eq_ignore_ascii_case("close") => {
            request.closes = true;
            false
        }
        () if is("Content-Length") => leave_out("the run sends the length of the body"),
        () if is("Transfer-Encoding") => {
            leave_out("the body is sent with its length, not in chunks")
        }
        () if is("Content-Type") && matches!(request.body, Body::Parts(_)) => {
            leave_out("the run chooses the content type and the boundary of a form")
        }
        () => true,
    }
}

/// Reports headers that the command removes and that a run sends anyway.
fn report_removed(
    custom: &Custom,
    settings: &Settings,
    request: &Request,
    reading: &mut Reading<'_>,
) {
    let no_agent = settings.agent.as_deref() == Some("") && custom.get("User-Agent").is_none();
    if custom.removes("User-Agent") || no_agent {
        let message = "User-Agent cannot be removed: the run sends that of JMeter's HTTP client";
        reading.findings.warn("curl-header", message);
    }
    if custom.removes("Host") {
        reading.findings.warn("curl-header", "-H Host: cannot be removed: the run sends it");
    }
    let typed = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Content-Type"));
    if matches!(request.body, Body::Text(_)) && !typed {
        let message = "curl sends no Content-Type, the run sends text/plain; charset=UTF-8";
        reading.findings.warn("curl-header", message);
    }
}
