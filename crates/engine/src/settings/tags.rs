//! Tags in the requests of a test, by which servers, proxies and tracing systems can recognise them.

use std::fmt::Write as _;

use super::Properties;

/// The property that defines the added header lines, one `NAME=VALUE` per line.
const HEADERS: &str = "throng.tag";
/// The property that defines the members of W3C's header `baggage`: `KEY=VALUE`, separated by commas.
const BAGGAGE: &str = "throng.baggage";
/// The property that enables W3C's header `traceparent`: `true`, `sampled` or `false`.
const TRACE: &str = "throng.traceparent";

/// Headers that tags must not replace, because they belong to the protocol, the connection or the user's state, and
/// requests would break.
const NEVER: [&str; 11] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Additions to every request: header lines and traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    /// Header lines, each with its line end.
    pub(crate) lines: String,
    /// Lower-case names of header lines that replace the plan's lines.
    pub(crate) replaced: Vec<String>,
    /// `Some` if requests carry `traceparent`; true if it has the flag that asks servers to record the trace.
    pub(crate) trace: Option<bool>,
}

impl Tags {
    /// Parses the properties of tags. The error is a message for the user.
    pub(super) fn of(get: &Properties<'_>) -> Result<Self, String> {
        let mut tags = Self::default();
        for tag in get.text(HEADERS, "").lines().filter(|line| !line.trim().is_empty()) {
            let (name, value) = header(tag).map_err(|words| format!("{HEADERS}: {words}"))?;
            let _ = write!(tags.lines, "{name}: {value}\r\n");
            tags.replaced.push(name.to_ascii_lowercase());
        }
        let baggage = get.text(BAGGAGE, "");
        let members = baggage.split(',').map(str::trim).filter(|member| !member.is_empty());
        let members: Result<Vec<_>, _> = members.map(member).collect();
        let members = members.map_err(|words| format!("{BAGGAGE}: {words}"))?;
        if !members.is_empty() {
            let _ = write!(tags.lines, "baggage: {}\r\n", members.join(","));
        }
        tags.trace = match get.text(TRACE, "").trim().to_ascii_lowercase().as_str() {
            "" | "false" => None,
            "true" => Some(false),
            "sampled" => Some(true),
            other => return Err(format!("{TRACE} must be true, sampled or false, not {other}")),
        };
        Ok(tags)
    }
}

/// Checks a header for every request. The error is a message for the user.
pub fn check_tag(text: &str) -> Result<String, String> {
    header(text).map(|(name, value)| format!("{name}={value}"))
}

/// Checks a member of `baggage`. The error is a message for the user.
pub fn check_baggage(text: &str) -> Result<String, String> {
    member(text)
}

fn header(text: &str) -> Result<(&str, &str), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("{text:?}: expected NAME=VALUE"))?;
    let (name, value) = (name.trim(), value.trim());
    if !is_token(name) {
        return Err(format!("{name:?} is not a valid header name"));
    }
    let lower = name.to_ascii_lowercase();
    if NEVER.contains(&&*lower) {
        return Err(format!("the header {name} cannot be changed: requests need it"));
    }
    match &*lower {
        "baggage" => return Err("use --baggage KEY=VALUE for the header baggage".into()),
        "traceparent" => return Err("use --traceparent for the header traceparent".into()),
        _ => {}
    }
    if value.is_empty() {
        return Err(format!("{name} has no value"));
    }
    if value.chars().any(|one| !matches!(one, ' '..='~' | '\t')) {
        return Err(format!("the value of {name} must consist of visible ASCII characters"));
    }
    Ok((name, value))
}

/// Formats a member of `baggage`, and percent-encodes the characters that W3C does not allow in a value.
fn member(text: &str) -> Result<String, String> {
    let (key, value) =
        text.split_once('=').ok_or_else(|| format!("{text:?}: expected KEY=VALUE"))?;
    let (key, value) = (key.trim(), value.trim());
    if !is_token(key) {
        return Err(format!("{key:?} is not a valid key of W3C baggage"));
    }
    let mut member = format!("{key}=");
    for byte in value.bytes() {
        let stays = byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\');
        if stays {
            member.push(char::from(byte));
        } else {
            let _ = write!(member, "%{byte:02X}");
        }
    }
    Ok(member)
}

/// Returns true if the text is a token in HTTP's sense.
fn is_token(text: &str) -> bool {
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(properties: &[(&str, &str)]) -> Result<Tags, String> {
        let get = |key: &str| {
            properties.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned())
        };
        Tags::of(&Properties(&get))
    }

    #[test]
    fn headers_baggage_and_traces_are_read() {
        let read = tags(&[
            (HEADERS, "X-Load-Test=run 7\n X-Stage = a=b \n"),
            (BAGGAGE, "loadtest=true, who=Jörg;x"),
            (TRACE, "sampled"),
        ]);
        let read = read.expect("all is well");
        assert_eq!(
            read.lines,
            "X-Load-Test: run 7\r\nX-Stage: a=b\r\nbaggage: loadtest=true,who=J%C3%B6rg%3Bx\r\n"
        );
        assert_eq!(read.replaced, ["x-load-test", "x-stage"]);
        assert_eq!(read.trace, Some(true));
        assert_eq!(tags(&[]), Ok(Tags::default()));
        assert_eq!(tags(&[(TRACE, "true")]).expect("a word").trace, Some(false));
    }

    #[test]
    fn marks_that_would_break_requests_are_refused() {
        for (property, value, words) in [
            (HEADERS, "X-Load-Test", "expected NAME=VALUE"),
            (HEADERS, "X Load=1", "not a valid header name"),
            (HEADERS, "Host=a", "cannot be changed: requests need it"),
            (HEADERS, "content-LENGTH=1", "cannot be changed: requests need it"),
            (HEADERS, "X-Load-Test=", "has no value"),
            (HEADERS, "X-Load-Test=a\rB: c", "visible ASCII"),
            (HEADERS, "Baggage=a=b", "--baggage"),
            (HEADERS, "traceparent=00", "--traceparent"),
            (BAGGAGE, "a", "expected KEY=VALUE"),
            (BAGGAGE, "a b=1", "not a valid key of W3C baggage"),
            (TRACE, "yes", "must be true, sampled or false"),
        ] {
            let error = tags(&[(property, value)]).expect_err(value);
            assert!(error.starts_with(property) && error.contains(words), "{value}: {error}");
        }
    }
}
