//! Parts that only some exchanges and lines need.

/// A part of an exchange or of a line that only some need: made at its first change; an exchange keeps it for the next in the same place.
#[derive(Debug)]
pub(crate) struct Lazy<T>(pub(super) Option<Box<T>>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A type that has a value which stands for nothing.
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
