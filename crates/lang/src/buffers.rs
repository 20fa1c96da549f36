//! Reusable buffers of text: a warm evaluation allocates nothing.

/// Empty buffers that keep their capacity between uses.
#[derive(Debug, Default)]
pub struct Buffers {
    idle: Vec<String>,
}

impl Buffers {
    /// Lends an empty buffer; it comes back by [`Buffers::give`].
    #[inline]
    pub fn take(&mut self) -> String {
        self.idle.pop().unwrap_or_default()
    }

    /// Takes a buffer back for reuse.
    #[inline]
    pub fn give(&mut self, mut buffer: String) {
        buffer.clear();
        self.idle.push(buffer);
    }
}
