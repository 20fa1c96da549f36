//! HTTP Request: its compiled form, and how a request is rendered.

use crate::env::Env;

/// A compiled HTTP Request with its defaults, headers and cookies manager merged in.
#[derive(Debug)]
pub struct Http {
    /// The cookie manager in scope.
    pub cookies: Option<u32>,
}

/// A rendered request. One per core, reused.
#[derive(Debug, Default)]
pub struct Request {
    /// TLS.
    pub secure: bool,
    /// Host to connect to.
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
    /// Where in `headers` the cookie line belongs.
    pub cookie_at: usize,
    /// Body.
    pub body: Vec<u8>,
    /// What JMeter shows as the body in its sampler data, where it differs.
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
    /// Local address to send from; empty is any.
    pub source: String,
}

/// A request that could not be made; becomes a failed sample.
#[derive(Debug)]
pub struct Unsendable {
    /// Response code as JMeter words it.
    pub code: String,
    /// Response message as JMeter words it.
    pub message: String,
}

impl Http {
    /// Renders the request.
    pub fn render(&self, _env: &mut Env<'_>, _out: &mut Request) -> Result<(), Unsendable> {
        Ok(())
    }

    /// Renders the request that follows a redirect to `url` (absolute).
    pub fn render_redirect(&self, _url: &str, _method: &str, _env: &mut Env<'_>, _out: &mut Request) -> Result<(), Unsendable> {
        Ok(())
    }

    /// Whether every rendering gives the same request.
    pub fn is_fixed(&self) -> bool {
        false
    }
}
