//! Reusable text buffers, so that a repeated evaluation allocates nothing.

/// Empty text buffers that keep their capacity between uses.
#[derive(Debug, Default)]
pub struct Buffers {
    idle: Vec<String>,
}

impl Buffers {
    /// Takes an empty buffer, to be returned with [`Buffers::give`].
    #[inline]
    pub fn take(&mut self) -> String {
        self.idle.pop().unwrap_or_default()
    }

    /// Returns a string buffer, so that it can be reused.
    #[inline]
    pub fn give(&mut self, mut buffer: String) {
        buffer.clear();
        self.idle.push(buffer);
    }
}
