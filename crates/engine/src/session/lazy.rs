//! Optional parts of exchanges and connections, which only some of them need.

/// An optional part of an exchange or connection: allocated at its first change. The slot of an exchange keeps it
/// for the next exchange.
#[derive(Debug)]
pub(crate) struct Lazy<T>(pub(super) Option<Box<T>>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A type with a value that means "unused".
pub(crate) trait Unused: Default + 'static {
    fn unused() -> &'static Self;
}

impl<T: Unused> std::ops::Deref for Lazy<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or_else(|| T::unused())
    }
}

impl<T: Unused> std::ops::DerefMut for Lazy<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl Unused for Vec<u8> {
    fn unused() -> &'static Self {
        static NONE: Vec<u8> = Vec::new();
        &NONE
    }
}
