//! Sets of kinds of values, as far as the text of a script determines them.
//!
//! Every expression has a set of kinds at compile time. An operation must be supported for each kind in the set;
//! otherwise the script is not simple.

bitflags::bitflags! {
    /// A set of kinds of values.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub(super) struct Kinds: u16 {
        /// The value `null`.
        const NULL = 1;
        /// A boolean value.
        const BOOL = 2;
        /// A whole number of 32 bits: Java's `int`.
        const INT = 4;
        /// A whole number of 64 bits: Java's `long`.
        const LONG = 8;
        /// A floating-point number: Java's `double`.
        const DOUBLE = 16;
        /// A string of Java's class `String`.
        const TEXT = 32;
        /// A `GString` of Groovy, which is not a `String` until it is converted.
        const GSTRING = 64;
        /// A `java.util.UUID` object.
        const UUID = 128;
        /// The result of a method that returns nothing.
        const VOID = 256;
        /// A variable that may not have been set yet.
        const UNSET = 512;

        /// A number of any kind.
        const NUMBER = 4 | 8 | 16;
        /// A whole number of 32 or 64 bits.
        const WHOLE = 4 | 8;
        /// Kinds that are accepted where a `String` is required.
        const STRING = 32 | 64;
        /// A `String` or `null`; neither a number nor a `GString`.
        const NULLABLE = 32 | 1;
    }
}

impl Kinds {
    /// Returns true if all kinds of this set are in the other set.
    pub(super) fn within(self, others: Self) -> bool {
        others.contains(self)
    }

    /// Returns the set of kinds without `null`.
    pub(super) fn real(self) -> Self {
        self.difference(Self::NULL)
    }
}
