//! Bounds and texts of bodies: settings.

use super::Properties;

/// Of a response no more is kept unless a property says so: 512 MiB.
const MAX_RESPONSE: usize = 512 << 20;
/// Of a file JMeter keeps no more unless its property says so.
const MAX_FILE: i64 = 10 << 20;

/// Bounds and texts of bodies.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    /// Bytes of an HTTP body that are kept (`httpsampler.max_bytes_to_store_per_request`; 0 there is no limit).
    pub(crate) max_body: usize,
    /// The same of a file; without the property 10 MiB.
    pub(crate) max_file: usize,
    /// Bytes of any response that are kept, and of a WebSocket frame or message that are taken
    /// (`throng.response.most_bytes`).
    pub(crate) max_response: usize,
    /// `sampleresult.default.encoding`.
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

    /// How many bytes of a body are kept, and how many as it comes: one that is compressed may be a little longer than
    /// what comes out of it. JMeter digests all of a body, whatever it would store.
    pub(crate) fn most_of_body(&self, digested: bool) -> (usize, usize) {
        let most = if digested { self.max_response } else { self.max_body };
        (most, most.saturating_add(most / 64).saturating_add(64 * 1024))
    }
}
