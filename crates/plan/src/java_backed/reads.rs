//! Finds the parts of results and samplers that a script reads, from the names in its source.
//!
//! No script is run: the search is for the names of objects that scripts receive, and for the methods called on
//! them. Anything unclear (the result passed on, code built at run time, a script in a file) counts as reading
//! everything, so that a script always gets what it reads. Objects that are not named are not transferred to Java.
//! Cost: one pass over the source.

use super::{Reads, Role};
use crate::plan::Needs;

/// Parts of results and samplers that an element or expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Objects that are transferred to Java.
    pub(crate) reads: Reads,
    /// Parts of the result that must be kept.
    pub(crate) needs: Needs,
}

impl Default for Seen {
    fn default() -> Self {
        Self { reads: Reads::empty(), needs: Needs::empty() }
    }
}

/// All parts of a result.
const WHOLE: Needs = Needs::HEADERS
    .union(Needs::BODY)
    .union(Needs::REQUEST_HEADERS)
    .union(Needs::SAMPLER_DATA)
    .union(Needs::URL)
    .union(Needs::SUBS);

impl Seen {
    /// Returns all objects and all parts of a result, for code that cannot be examined.
    pub(crate) fn all() -> Self {
        Self { reads: Reads::all(), needs: WHOLE }
    }

    /// Returns the result with all its parts, and no other object.
    pub(crate) fn whole_result() -> Self {
        Self { reads: Reads::RESULT | Reads::BODY, needs: WHOLE }
    }

    /// Returns the set that contains the result, without body, headers and similar parts.
    pub(crate) fn result() -> Self {
        Self { reads: Reads::RESULT, needs: Needs::empty() }
    }

    fn add(&mut self, other: Self) {
        self.reads |= other.reads;
        self.needs |= other.needs;
    }
}

/// Returns the parts that a script reads. `shell` is true for BeanShell and BSF, which have variables for parts of
/// results.
pub(crate) fn of_script(script: &str, role: Option<Role>, shell: bool) -> Seen {
    if holds_code(script) {
        return Seen::all();
    }
    let mut seen = Seen::default();
    let words = Words { text: script, at: 0 };
    for (word, end) in words {
        if follows_dot(script, end - word.len()) {
            if word.contains("ookieManager") {
                seen.reads |= Reads::COOKIES | Reads::SAMPLER;
            }
            continue;
        }
        seen.add(of_word(word, &script[end..], &script[..end - word.len()], role, shell));
    }
    seen
}

/// Returns the parts that a script reads through the object `word`. `rest` is the source after this name.
fn of_word(word: &str, rest: &str, before: &str, role: Option<Role>, shell: bool) -> Seen {
    let sampling = role == Some(Role::Sampler);
    match word {
        "prev" => of_previous(rest),
        "sampleResult" => of_result(rest),
        // A sampler's script fills a new result, which is not the previous result.
        "SampleResult" if sampling || is_type(before, rest) => Seen::default(),
        "SampleResult" => of_result(rest),
        "sampleEvent" => match method(rest) {
            Some(("getResult" | "result", rest)) => of_result(rest),
            Some(_) => Seen::result(),
            None => Seen::whole_result(),
        },
        "ctx" => of_context(rest),
        "JMeterContextService" => match method(rest) {
            Some(("getContext" | "context", rest)) => of_context(rest),
            _ => Seen::default(),
        },
        "sampler" | "Sampler" if !is_type(before, rest) => match method(rest) {
            Some((name, _)) if !name.contains("ookie") => {
                Seen { reads: Reads::SAMPLER, ..Seen::default() }
            }
            _ => Seen { reads: Reads::SAMPLER | Reads::COOKIES, ..Seen::default() },
        },
        "data" if shell && role == Some(Role::After) => {
            Seen { reads: Reads::RESULT | Reads::BODY, needs: Needs::BODY }
        }
        _ if shell && role == Some(Role::Assertion) => of_assertion_word(word),
        "binding" | "getBinding" | "GroovyShell" => Seen::all(),
        "evaluate" | "eval" | "source" | "load" if rest.trim_start().starts_with('(') => {
            Seen::all()
        }
        _ => Seen::default(),
    }
}

/// Returns the parts that are read through a variable of BeanShell and BSF assertions.
fn of_assertion_word(word: &str) -> Seen {
    let needs = match word {
        "Response" => return Seen::whole_result(),
        "ResponseData" => return Seen { reads: Reads::RESULT | Reads::BODY, needs: Needs::BODY },
        "ResponseHeaders" => Needs::HEADERS,
        "RequestHeaders" => Needs::REQUEST_HEADERS,
        "SamplerData" => Needs::SAMPLER_DATA,
        "ResponseCode" | "ResponseMessage" | "SampleLabel" | "Successful" => Needs::empty(),
        _ => return Seen::default(),
    };
    Seen { reads: Reads::RESULT, needs }
}

/// Returns the parts that are read through the thread context. `rest` is the source after its name.
fn of_context(rest: &str) -> Seen {
    let Some((name, rest)) = method(rest) else { return Seen::all() };
    match name {
        "getPreviousResult" | "previousResult" => of_previous(rest),
        "getCurrentSampler" | "currentSampler" | "getPreviousSampler" | "previousSampler" => {
            Seen { reads: Reads::SAMPLER | Reads::COOKIES, ..Seen::default() }
        }
        _ => Seen::default(),
    }
}

/// Returns the parts that a script reads through the result of the previous sample. `rest` is the source after its
/// name.
fn of_previous(rest: &str) -> Seen {
    let mut seen = of_result(rest);
    seen.reads |= Reads::PREVIOUS;
    seen
}

/// Returns the parts that are read through a result. `rest` is the source after its name.
fn of_result(rest: &str) -> Seen {
    let Some((name, _)) = method(rest) else { return Seen::whole_result() };
    let mut seen = Seen::result();
    match name {
        "getResponseData" | "responseData" | "getResponseDataAsString" | "responseDataAsString" => {
            seen.reads |= Reads::BODY;
            seen.needs |= Needs::BODY;
        }
        // The size of the response includes the headers, so changing it requires the received headers.
        "getResponseHeaders" | "responseHeaders" | "setResponseData" | "setBodySize"
        | "setHeadersSize" => seen.needs |= Needs::HEADERS,
        "getRequestHeaders" | "requestHeaders" => seen.needs |= Needs::REQUEST_HEADERS,
        "getSamplerData" | "samplerData" | "getQueryString" | "queryString" => {
            seen.needs |= Needs::SAMPLER_DATA;
        }
        "getCookies" | "cookies" => seen.needs |= Needs::SAMPLER_DATA | Needs::REQUEST_HEADERS,
        "getURL" | "URL" | "getUrlAsString" | "urlAsString" => seen.needs |= Needs::URL,
        name if is_small(name) => {}
        _ => return Seen::whole_result(),
    }
    seen
}

/// Returns true if a method of a result reads or sets a field that is always transferred.
fn is_small(name: &str) -> bool {
    const SMALL: &[&str] = &[
        "ResponseCode",
        "ResponseMessage",
        "ResponseCodeOK",
        "Time",
        "TimeStamp",
        "Timestamp",
        "Latency",
        "ConnectTime",
        "IdleTime",
        "StartTime",
        "EndTime",
        "SampleLabel",
        "SampleCount",
        "ErrorCount",
        "Bytes",
        "BytesAsLong",
        "BodySize",
        "BodySizeAsLong",
        "HeadersSize",
        "SentBytes",
        "ContentType",
        "MediaType",
        "DataType",
        "ThreadName",
        "GroupThreads",
        "AllThreads",
        "AssertionResults",
        "FirstAssertionFailureMessage",
        "ResultFileName",
        "DataEncodingNoDefault",
        "DataEncodingWithDefault",
        "HTTPMethod",
        "RedirectLocation",
        "TestLogicalAction",
    ];
    let plain = ["addAssertionResult", "sampleStart", "sampleEnd", "successful"];
    let property = |name: &str| {
        let mut letters = name.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        let name: String = first.into_iter().chain(letters).collect();
        SMALL.contains(&name.as_str())
    };
    plain.contains(&name)
        || name.starts_with("set")
        || name.starts_with("is")
        || property(name.strip_prefix("get").unwrap_or(name))
}

/// Returns the member name after a dot, and the source after the name and its empty parentheses.
fn method(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'))?.trim_start();
    let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let behind = rest.trim_start().strip_prefix('(').map(str::trim_start);
    let behind = behind.and_then(|rest| rest.strip_prefix(')'));
    (!name.is_empty()).then(|| (name, behind.unwrap_or(rest)))
}

/// Returns true if the name is used as a class: to declare a variable or to create an object.
fn is_type(before: &str, rest: &str) -> bool {
    let declares = rest.starts_with([' ', '\t']) && rest.trim_start().starts_with(is_letter);
    let word = before.trim_end();
    declares && !rest.trim_start().starts_with("in ") || word.ends_with("new")
}

/// Returns true if a reference `${…}` in the script is outside of quotes, so that a variable's value may become code.
fn holds_code(script: &str) -> bool {
    let (mut quote, mut before) = (None, ' ');
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if letter == open && before != '\\' => quote = None,
            // A quote that is not closed on its line is an apostrophe in a comment.
            (Some(_), '\n') => quote = None,
            (None, '$') if letters.peek() == Some(&'{') => return true,
            _ => {}
        }
        before = if before == '\\' { ' ' } else { letter };
    }
    false
}

fn follows_dot(text: &str, at: usize) -> bool {
    text[..at].trim_end().ends_with('.')
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Iterator over the names in an expression, with the end of each.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Words<'t> {
    type Item = (&'t str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.find(is_letter)?;
        let rest = &self.text[start..];
        let end = start + rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        self.at = end;
        Some((&self.text[start..end], end))
    }
}

#[cfg(test)]
mod tests;
