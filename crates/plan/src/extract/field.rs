//! The part of a result that an extractor searches.

use super::Problem;
use super::html;
use crate::plan::Needs;
use crate::result::SampleResult;

/// A part of a result that can be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The body as text.
    Body,
    /// The body as text, with HTML entities decoded.
    Unescaped,
    /// Response headers with the status line.
    Headers,
    /// Request headers.
    RequestHeaders,
    /// The URL.
    Url,
    /// The response code.
    Code,
    /// The response message.
    Message,
}

impl Field {
    /// Returns the field that a property names; unknown names mean the body, as in JMeter.
    pub fn parse(value: &str) -> Result<Self, Problem> {
        let is = |name: &str| value.eq_ignore_ascii_case(name);
        Ok(if is("URL") {
            Self::Url
        } else if is("true") {
            Self::Headers
        } else if is("request_headers") {
            Self::RequestHeaders
        } else if is("code") {
            Self::Code
        } else if is("message") {
            Self::Message
        } else if is("unescaped") {
            Self::Unescaped
        } else if is("as_document") {
            return Err(Problem {
                needs_jvm: true,
                message: "only Java (Apache Tika) can convert the body to a document".into(),
                help: "search the body itself".into(),
            });
        } else {
            Self::Body
        })
    }

    /// Returns the parts of a result that must be kept for this field.
    pub fn needs(self) -> Needs {
        match self {
            Self::Body | Self::Unescaped => Needs::TEXT,
            Self::Headers => Needs::HEADERS,
            Self::RequestHeaders => Needs::REQUEST_HEADERS,
            Self::Url => Needs::URL,
            Self::Code | Self::Message => Needs::empty(),
        }
    }

    /// Returns the field as a string. `buffer` is used if the string has to be built.
    pub fn of<'a>(self, result: &'a SampleResult, buffer: &'a mut String) -> &'a str {
        match self {
            Self::Body => &result.text,
            Self::Unescaped => {
                buffer.clear();
                html::unescape(&result.text, buffer);
                buffer
            }
            Self::Headers => &result.response_headers,
            Self::RequestHeaders => &result.request_headers,
            Self::Url => &result.url,
            Self::Code => &result.code,
            Self::Message => &result.message,
        }
    }
}
