//! Catalogues of the texts of the rules, one folder of files for each language.
//!
//! All languages have the same texts, with the same values: rules build a text in all languages at once
//! (`words!`), and a missing text or value is a compile error.

use std::fmt::Display;

use crate::verdict::{Language, Words};

/// Declares texts: `name = "text";`, or `name(value, other) = "text with {value}";`. A text without values is a
/// function; a text with values is a type with a field for each value. A text may leave values out.
macro_rules! texts {
    ($($name:ident $(($($value:ident),+))? = $text:literal;)*) => {
        $(texts!(@ $name $(($($value),+))? = $text);)*
    };
    (@ $name:ident = $text:literal) => {
        pub(crate) const fn $name() -> &'static str {
            $text
        }
    };
    (@ $name:ident($($value:ident),+) = $text:literal) => {
        pub(crate) struct $name<'v> {
            $(pub(crate) $value: &'v dyn std::fmt::Display),+
        }

        impl $name<'_> {
            pub(crate) fn text(&self) -> String {
                let Self { $($value),+ } = self;
                let _ = ($($value,)+);
                format!($text)
            }
        }
    };
}

/// English texts.
pub(crate) mod en {
    mod errors;
    mod generator;
    mod hosts;
    mod limits;
    mod needs;
    mod network;
    mod run;
    pub(crate) mod subjects;
    mod times;

    pub(crate) use self::{
        errors::*, generator::*, hosts::*, limits::*, needs::*, network::*, run::*, times::*,
    };
}

/// Chinese texts.
pub(crate) mod zh {
    mod errors;
    mod generator;
    mod hosts;
    mod limits;
    mod needs;
    mod network;
    mod run;
    pub(crate) mod subjects;
    mod times;

    pub(crate) use self::{
        errors::*, generator::*, hosts::*, limits::*, needs::*, network::*, run::*, times::*,
    };
}

/// Value of a text: a number or a string, which is the same in all languages, or [`Words`].
pub(crate) trait Value {
    /// Returns the value for texts in a language.
    fn in_language(&self, language: Language) -> &dyn Display;
}

impl<T: Display> Value for T {
    fn in_language(&self, _: Language) -> &dyn Display {
        self
    }
}

impl Value for Words {
    fn in_language(&self, language: Language) -> &dyn Display {
        match language {
            Language::English => &self.en,
            Language::Chinese => &self.zh,
        }
    }
}
