//! The options of one curl command, read as curl reads them.
//!
//! Short options may be joined (`-sSLk`, `-XPOST`), long ones shortened; `--no-NAME` turns a flag off. `--name=value`
//! is read, too, which curl itself refuses. `--next` begins new settings.

use super::Reading;
use super::data::{self, Payload};
use super::form::{self, Field};
use super::options::{self, Data, Does, Known};
use crate::word;

/// Settings of the requests of one command, or of its part up to `--next`.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) urls: Vec<String>,
    pub(super) method: Option<String>,
    /// Header lines as given by `-H`.
    pub(super) headers: Vec<String>,
    /// Data options, in order.
    pub(super) data: Option<Payload>,
    pub(super) is_json: bool,
    pub(super) form: Vec<Field>,
    pub(super) upload: Option<String>,
    pub(super) get: bool,
    pub(super) head: bool,
    /// Parameters of `--url-query`, joined.
    pub(super) query: String,
    pub(super) user: Option<String>,
    pub(super) auth: Auth,
    pub(super) bearer: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) referer: Option<String>,
    /// Literal cookies of `-b`.
    pub(super) cookies: Vec<String>,
    pub(super) cookie_files: Vec<String>,
    /// True if cookies of responses are sent with later requests.
    pub(super) keeps_cookies: bool,
    pub(super) range: Option<String>,
    pub(super) compressed: bool,
    pub(super) location: bool,
    pub(super) proxy: Option<String>,
    pub(super) proxy_user: Option<String>,
    pub(super) insecure: bool,
    pub(super) resolve: Vec<String>,
    pub(super) connect_to: Vec<String>,
    pub(super) max_time: Option<String>,
    pub(super) connect_timeout: Option<String>,
    pub(super) interface: Option<String>,
    pub(super) glob_off: bool,
    pub(super) path_as_is: bool,
    pub(super) request_target: Option<String>,
    pub(super) default_scheme: Option<String>,
}

/// Kind of authentication.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Auth {
    #[default]
    Basic,
    Digest,
    Any,
    /// Kinds that no plan expresses.
    Unsupported,
}

/// Reads the words after `curl`.
pub(super) fn parse(words: &[String], reading: &mut Reading<'_>) -> Vec<Settings> {
    let mut all = vec![Settings::default()];
    let mut options = true;
    let mut words = words.iter();
    while let Some(text) = words.next() {
        let Some(settings) = all.last_mut() else { break };
        let is_option = options && text.starts_with('-') && text != "-";
        if !is_option {
            settings.urls.push(text.clone());
        } else if text == "--" {
            options = false;
        } else if let Some(name) = text.strip_prefix("--") {
            if long(name, &mut words, settings, reading) {
                all.push(Settings::default());
            }
        } else if letters(&text[1..], &mut words, settings, reading) {
            all.push(Settings::default());
        }
    }
    if all.len() > 1 {
        all.retain(|settings| !settings.urls.is_empty());
    }
    all
}

/// Reads a long option. Returns true for `--next`.
fn long<'a>(
    name: &str,
    words: &mut impl Iterator<Item = &'a String>,
    settings: &mut Settings,
    reading: &mut Reading<'_>,
) -> bool {
    let (name, given) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (name, None),
    };
    let (name, on) = match options::long(name) {
        Some(_) => (name, true),
        None => name.strip_prefix("no-").map_or((name, true), |name| (name, false)),
    };
    let shown = format!("--{}{name}", if on { "" } else { "no-" });
    let Some(known) = options::long(name).filter(|known| on || !known.takes) else {
        if name.starts_with("expand-") {
            words.next();
        }
        reading.findings.warn("curl-option", format!("{shown} is not known: it is left out"));
        return false;
    };
    if !on {
        turn_off(known.does, settings);
        return false;
    }
    if !known.takes {
        return switch(known, &shown, settings, reading);
    }
    match given.or_else(|| words.next().cloned()) {
        Some(value) => apply(known, &shown, value, settings, reading),
        None => missing_value(&shown, reading),
    }
    false
}

/// Reads joined short options. Returns true for `-:`.
fn letters<'a>(
    letters: &str,
    words: &mut impl Iterator<Item = &'a String>,
    settings: &mut Settings,
    reading: &mut Reading<'_>,
) -> bool {
    let mut next = false;
    for (at, letter) in letters.char_indices() {
        let shown = format!("-{letter}");
        let Some(known) = options::short(letter) else {
            let message = format!("{shown} is not known: it is left out");
            reading.findings.warn("curl-option", message);
            continue;
        };
        if !known.takes {
            next |= switch(known, &shown, settings, reading);
            continue;
        }
        let rest = &letters[at + letter.len_utf8()..];
        let value = if rest.is_empty() { words.next().cloned() } else { Some(rest.to_owned()) };
        match value {
            Some(value) => apply(known, &shown, value, settings, reading),
            None => missing_value(&shown, reading),
        }
        break;
    }
    next
}

fn missing_value(shown: &str, reading: &mut Reading<'_>) {
    reading.findings.error("curl-option", format!("{shown} needs a value"));
}

fn turn_off(does: Does, settings: &mut Settings) {
    match does {
        Does::Location => settings.location = false,
        Does::Compressed => settings.compressed = false,
        Does::Insecure => settings.insecure = false,
        Does::Get => settings.get = false,
        Does::Head => settings.head = false,
        Does::GlobOff => settings.glob_off = false,
        Does::PathAsIs => settings.path_as_is = false,
        _ => {}
    }
}

/// Applies an option without a value. Returns true for `--next`.
fn switch(known: &Known, shown: &str, settings: &mut Settings, reading: &mut Reading<'_>) -> bool {
    match known.does {
        Does::Get => settings.get = true,
        Does::Head => settings.head = true,
        Does::Basic => settings.auth = Auth::Basic,
        Does::Digest => settings.auth = Auth::Digest,
        Does::AnyAuth => settings.auth = Auth::Any,
        Does::Compressed => settings.compressed = true,
        Does::Location => settings.location = true,
        Does::Insecure => settings.insecure = true,
        Does::GlobOff => settings.glob_off = true,
        Does::PathAsIs => settings.path_as_is = true,
        Does::Next => return true,
        _ => {}
    }
    if matches!(known.long, "ntlm" | "ntlm-wb" | "negotiate") {
        settings.auth = Auth::Unsupported;
    }
    report(known, shown, reading);
    false
}

/// Reports the consequence of an option that is not imported.
fn report(known: &Known, shown: &str, reading: &mut Reading<'_>) {
    if let Does::Missing(consequence) = known.does {
        reading.findings.warn("curl-option", format!("{shown}: {consequence}"));
    }
}

/// Applies an option with a value.
fn apply(
    known: &Known,
    shown: &str,
    value: String,
    settings: &mut Settings,
    reading: &mut Reading<'_>,
) {
    match known.does {
        Does::Url => settings.urls.push(value),
        Does::Method => settings.method = Some(value),
        Does::Header => add_header(value, settings, reading),
        Does::Data(kind) => add_data(kind, shown, &value, settings, reading),
        Does::Form => settings.form.extend(form::parse(&value, reading)),
        Does::FormString => settings.form.extend(form::literal(&value, reading)),
        Does::Upload => settings.upload = Some(value),
        Does::UrlQuery => {
            if let Some(text) = data::query(&value, reading) {
                data::join(&mut settings.query, &text);
            }
        }
        Does::User => settings.user = Some(value),
        Does::Bearer => settings.bearer = Some(value),
        Does::Agent => settings.agent = Some(value),
        Does::Referer => settings.referer = Some(value),
        Does::Cookie => add_cookies(value, settings),
        Does::CookieJar => settings.keeps_cookies = true,
        Does::Range => settings.range = Some(value),
        Does::Proxy => settings.proxy = Some(value),
        Does::ProxyUser => settings.proxy_user = Some(value),
        Does::Resolve => settings.resolve.push(value),
        Does::ConnectTo => settings.connect_to.push(value),
        Does::MaxTime => settings.max_time = Some(value),
        Does::ConnectTimeout => settings.connect_timeout = Some(value),
        Does::Interface => settings.interface = Some(value),
        Does::RequestTarget => settings.request_target = Some(value),
        Does::ProtoDefault => settings.default_scheme = Some(value),
        _ => report(known, shown, reading),
    }
    if known.long == "aws-sigv4" {
        settings.auth = Auth::Unsupported;
    }
}

/// Adds header lines; `@FILE` has one in each line.
fn add_header(value: String, settings: &mut Settings, reading: &mut Reading<'_>) {
    match value.strip_prefix('@') {
        None => settings.headers.push(value),
        Some(file) => {
            let text = reading.read_text(file, "-H").unwrap_or_default();
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            settings.headers.extend(lines.map(str::to_owned));
        }
    }
}

fn add_data(
    kind: Data,
    shown: &str,
    value: &str,
    settings: &mut Settings,
    reading: &mut Reading<'_>,
) {
    settings.is_json |= kind == Data::Json;
    let Some(added) = data::read(kind, value, shown, reading) else { return };
    settings.data = match (settings.data.take(), added) {
        (None, added) => Some(added),
        (Some(before), added) => {
            let before = before.into_text(reading);
            let added = added.into_text(reading);
            let (Some(mut text), Some(added)) = (before, added) else { return };
            if kind == Data::Json {
                text.push_str(&added);
            } else {
                data::join(&mut text, &added);
            }
            Some(Payload::Text(text))
        }
    };
}

/// Adds cookies: a text with `=` is sent, any other value is the name of a file.
fn add_cookies(value: String, settings: &mut Settings) {
    let file = value.strip_prefix('@');
    if file.is_none() && (value.contains('=') || word::has_reference(&value)) {
        settings.cookies.push(value);
        return;
    }
    settings.keeps_cookies = true;
    let file = file.unwrap_or(&value);
    if !file.is_empty() {
        settings.cookie_files.push(file.to_owned());
    }
}
