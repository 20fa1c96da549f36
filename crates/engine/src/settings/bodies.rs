//! Settings of bodies: size limits and character encoding.

use super::Properties;

/// Default size limit in bytes for the kept part of a response: 512 MiB.
const MAX_RESPONSE: usize = 512 << 20;
/// JMeter's default size limit in bytes for the kept part of a file: 10 MiB.
const MAX_FILE: i64 = 10 << 20;

/// Settings of bodies: size limits of the kept parts, and the default encoding.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    /// Maximum number of kept bytes of an HTTP body (`httpsampler.max_bytes_to_store_per_request`; 0 is unlimited).
    pub(crate) max_body: usize,
    /// Maximum number of kept bytes of a file (`httpsampler.max_bytes_to_store_per_request`); 10 MiB by default.
    pub(crate) max_file: usize,
    /// Maximum number of kept bytes of any response, and maximum size of a WebSocket frame or message
    /// (`throng.response.most_bytes`).
    pub(crate) max_response: usize,
    /// Encoding of responses that declare no encoding (`sampleresult.default.encoding`).
    pub(crate) default_encoding: String,
}

impl Bodies {
    pub(super) fn of(get: &Properties<'_>) -> Self {
        let max_response = match get.number("throng.response.most_bytes", 0) {
            n if n <= 0 => MAX_RESPONSE,
            n => n as usize,
        };
        let max_body = match get.number("httpsampler.max_bytes_to_store_per_request", 0) {
            n if n <= 0 => max_response,
            n => (n as usize).min(max_response),
        };
        let max_file = get.number("httpsampler.max_bytes_to_store_per_request", MAX_FILE);
        let max_file = usize::try_from(max_file).unwrap_or(0).min(max_response);
        Self {
            max_body,
            max_file,
            max_response,
            default_encoding: get.text("sampleresult.default.encoding", "UTF-8"),
        }
    }

    /// Returns the maximum number of kept bytes of a body, decoded and as received. A compressed body may be
    /// slightly longer than its decoded content. For a digest, JMeter reads the whole body, regardless of the
    /// storage limit.
    pub(crate) fn most_of_body(&self, digested: bool) -> (usize, usize) {
        let most = if digested { self.max_response } else { self.max_body };
        (most, most.saturating_add(most / 64).saturating_add(64 * 1024))
    }
}
