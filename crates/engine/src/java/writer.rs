//! Writes messages: numbers in little-endian order; strings and lists with their length in front.
//!
//! A writer appends to a borrowed buffer, so that buffers are reused. A length of more than 32 bits cannot occur,
//! because variables and kept bodies are never that large.

/// Appends values to a message.
#[derive(Debug)]
pub(crate) struct Writer<'a>(pub(crate) &'a mut Vec<u8>);

/// A list in a message, whose length is written once it is known.
#[derive(Debug)]
pub(crate) struct List {
    at: usize,
    pub(crate) count: u32,
}

impl Writer<'_> {
    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn flag(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    pub(crate) fn signed_int(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn int(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn long(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn signed(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.int(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.0.extend_from_slice(&bytes[..bytes.len().min(u32::MAX as usize)]);
    }

    /// Writes an optional string to the message.
    pub(crate) fn maybe(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// Begins a list. The caller counts its entries in the returned [`List`].
    pub(crate) fn begin(&mut self) -> List {
        let at = self.0.len();
        self.int(0);
        List { at, count: 0 }
    }

    /// Ends a list: writes the number of its entries in front of them.
    pub(crate) fn end(&mut self, list: List) {
        self.0[list.at..list.at + 4].copy_from_slice(&list.count.to_le_bytes());
    }

    /// Writes a list of values to the message.
    pub(crate) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        let mut list = self.begin();
        for item in items {
            list.count += 1;
            write(self, item);
        }
        self.end(list);
    }

    /// Writes a list of numbers to the message.
    pub(crate) fn ids(&mut self, ids: impl Iterator<Item = u32>) {
        let mut list = self.begin();
        for id in ids {
            list.count += 1;
            self.int(id);
        }
        self.end(list);
    }
}
