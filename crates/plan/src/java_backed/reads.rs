//! Reads of a script: parts of results and samplers, judged by the names in its text.
//!
//! Nothing is run: each name that a script is given is looked for, with the method called on it. What is not understood (the result
//! handed on, code made at run time, a script in a file) counts as reading everything, so that a script never misses anything; what is
//! never named is not carried to Java. Costs one pass over the text.

use super::{Reads, Role};
use crate::plan::Needs;

/// The reads of an element or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Values that are carried to Java for it.
    pub(crate) reads: Reads,
    /// Parts of the result that have to be kept for it.
    pub(crate) needs: Needs,
}

impl Default for Seen {
    fn default() -> Self {
        Self { reads: Reads::empty(), needs: Needs::empty() }
    }
}

/// All that can be read of a result.
const WHOLE: Needs = Needs::HEADERS
    .union(Needs::BODY)
    .union(Needs::REQUEST_HEADERS)
    .union(Needs::SAMPLER_DATA)
    .union(Needs::URL)
    .union(Needs::SUBS);

impl Seen {
    /// Everything: of code that is not known.
    pub(crate) fn all() -> Self {
        Self { reads: Reads::all(), needs: WHOLE }
    }

    /// The result with all that belongs to it.
    pub(crate) fn whole_result() -> Self {
        Self { reads: Reads::RESULT | Reads::BODY, needs: WHOLE }
    }

    /// The result without its body, headers and the like.
    pub(crate) fn result() -> Self {
        Self { reads: Reads::RESULT, needs: Needs::empty() }
    }

    fn add(&mut self, other: Self) {
        self.reads |= other.reads;
        self.needs |= other.needs;
    }
}

/// The reads of a script. `shell`: it is one of BeanShell or BSF, which name parts of results by themselves.
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

/// The reads of one name, with what follows it.
fn of_word(word: &str, rest: &str, before: &str, role: Option<Role>, shell: bool) -> Seen {
    let sampling = role == Some(Role::Sampler);
    match word {
        "prev" => of_previous(rest),
        "sampleResult" => of_result(rest),
        // A sampler fills a result of its own, of which the one before is no part.
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

/// The reads of a name that BeanShell and BSF assertions are given.
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

/// The reads of a context, given what follows it.
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

/// The reads of the sample before.
fn of_previous(rest: &str) -> Seen {
    let mut seen = of_result(rest);
    seen.reads |= Reads::PREVIOUS;
    seen
}

/// The reads of a result, given what follows it.
fn of_result(rest: &str) -> Seen {
    let Some((name, _)) = method(rest) else { return Seen::whole_result() };
    let mut seen = Seen::result();
    match name {
        "getResponseData" | "responseData" | "getResponseDataAsString" | "responseDataAsString" => {
            seen.reads |= Reads::BODY;
            seen.needs |= Needs::BODY;
        }
        // What is set counts in the bytes of the result, beside the headers that came.
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

/// Whether a method of a result tells or sets something that every result has.
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

/// The name behind a dot, and what follows it with its empty parentheses.
fn method(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'))?.trim_start();
    let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let behind = rest.trim_start().strip_prefix('(').map(str::trim_start);
    let behind = behind.and_then(|rest| rest.strip_prefix(')'));
    (!name.is_empty()).then(|| (name, behind.unwrap_or(rest)))
}

/// Whether a name stands for a class: a variable of it is declared, or an object made.
fn is_type(before: &str, rest: &str) -> bool {
    let declares = rest.starts_with([' ', '\t']) && rest.trim_start().starts_with(is_letter);
    let word = before.trim_end();
    declares && !rest.trim_start().starts_with("in ") || word.ends_with("new")
}

/// Whether a value may become code: a reference stands outside of quotes.
fn holds_code(script: &str) -> bool {
    let (mut quote, mut before) = (None, ' ');
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if letter == open && before != '\\' => quote = None,
            // What is left open on a line was no quote, but an apostrophe in a comment.
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

/// The names in a text, each with its end.
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
