//! HTTP requests as read from a source, before they become samplers of a plan.
//!
//! Texts may contain references to variables ([`word`](crate::word)).

/// An HTTP request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Request {
    /// Line of the source, from 1; 0 for a command line.
    pub(crate) line: u32,
    pub(crate) method: String,
    pub(crate) address: Address,
    /// Names and values of header lines, in the order of sending.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    pub(crate) follow_redirects: bool,
    /// True if the connection is closed after the response.
    pub(crate) closes: bool,
    /// Limits of the connection and of the response, in milliseconds.
    pub(crate) connect_timeout_ms: Option<u64>,
    pub(crate) response_timeout_ms: Option<u64>,
    pub(crate) proxy: Option<Proxy>,
    /// Local address or network interface.
    pub(crate) source: Option<String>,
    /// User name and password for a server that asks for them; Basic credentials are a header instead.
    pub(crate) login: Option<Login>,
    /// Cookies to begin with; `None` if responses set no cookies for later requests.
    pub(crate) jar: Option<Vec<Cookie>>,
    /// Names of hosts with their addresses.
    pub(crate) hosts: Vec<(String, String)>,
}

/// Where a request goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Address {
    /// `http` or `https`.
    pub(crate) scheme: String,
    /// Name or address of the host; an IPv6 address is in brackets.
    pub(crate) host: String,
    /// Port, if it is not the default port of the scheme.
    pub(crate) port: Option<u16>,
    /// Path and query, as in a request line.
    pub(crate) target: String,
}

impl Address {
    /// Returns the path without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// Body of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Body {
    #[default]
    None,
    Text(String),
    /// Content of a file, read while the plan runs.
    File(String),
    /// Parts of a `multipart/form-data` body.
    Parts(Vec<Part>),
}

/// Part of a `multipart/form-data` body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) content: Content,
    /// Content type of a file.
    pub(crate) kind: String,
}

/// Content of a part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Text(String),
    /// Path of a file.
    File(String),
}

/// Proxy for a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
}

/// Credentials for an Authorization Manager.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
    /// True if the server may ask for a digest.
    pub(crate) digest: bool,
}

/// Cookie that a Cookie Manager begins with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cookie {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) domain: String,
    pub(crate) path: String,
    pub(crate) secure: bool,
}
