//! Reusable text buffers, so that a repeated evaluation allocates nothing.

/// Unused strings that keep their capacity, so that later texts need no allocation.
#[derive(Debug, Default)]
pub struct Buffers {
    idle: Vec<String>,
}

impl Buffers {
    /// Returns an empty buffer, which the caller gives back with [`Buffers::give`] after use.
    #[inline]
    pub fn take(&mut self) -> String {
        self.idle.pop().unwrap_or_default()
    }

    /// Takes back a buffer that was obtained with [`Buffers::take`].
    #[inline]
    pub fn give(&mut self, mut buffer: String) {
        buffer.clear();
        self.idle.push(buffer);
    }
}
