//! Kinds of values, as far as the text of a script tells: a set.
//!
//! Every expression has such a set before it ever runs. What an operation does must be known for each kind in it; otherwise the script is
//! not simple.

bitflags::bitflags! {
    /// Kinds of values.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub(super) struct Kinds: u16 {
        /// `null`.
        const NULL = 1;
        /// A truth value.
        const BOOL = 2;
        /// A 32-bit number.
        const INT = 4;
        /// A 64-bit number.
        const LONG = 8;
        /// A floating-point number.
        const DOUBLE = 16;
        /// A `String`.
        const TEXT = 32;
        /// A `GString` of Groovy, which is no `String` until it is asked to be one.
        const WOVEN = 64;
        /// A `java.util.UUID`.
        const UUID = 128;
        /// The value of a function that gives nothing.
        const VOID = 256;
        /// A variable that may not have been set yet.
        const UNSET = 512;

        /// Numbers.
        const NUMBER = 4 | 8 | 16;
        /// Whole numbers.
        const WHOLE = 4 | 8;
        /// Kinds that can be given where a `String` is asked for.
        const STRING = 32 | 64;
        /// A `String` or `null`.
        const NULLABLE = 32 | 1;
    }
}

impl Kinds {
    /// Whether all kinds here are among others.
    pub(super) fn within(self, others: Self) -> bool {
        others.contains(self)
    }

    /// The kinds without `null`.
    pub(super) fn real(self) -> Self {
        self.difference(Self::NULL)
    }
}
