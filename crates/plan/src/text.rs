//! Text of a plan with `${…}` in it, compiled once and evaluated by users.

use crate::env::Env;
use crate::vars::Names;

/// Compiled text.
#[derive(Clone, Debug)]
pub enum Text {
    /// Has nothing to evaluate.
    Fixed(Box<str>),
}

impl Default for Text {
    fn default() -> Self {
        Self::Fixed("".into())
    }
}

/// Where [`Text::compile`] leaves what it learns about the text.
#[derive(Debug, Default)]
pub struct TextCompiler {
    /// Variable names found.
    pub names: Names,
    /// Functions that need a JVM or do not exist, as (function, reason).
    pub problems: Vec<(String, String)>,
}

impl Text {
    /// Compiles `source`; never fails (JMeter takes what it cannot read literally).
    pub fn compile(source: &str, _compiler: &mut TextCompiler) -> Self {
        Self::Fixed(source.into())
    }

    /// Appends the value to `out`.
    pub fn eval(&self, _env: &mut Env<'_>, out: &mut String) {
        match self {
            Self::Fixed(text) => out.push_str(text),
        }
    }

    /// The text, if there is nothing to evaluate in it.
    pub fn fixed(&self) -> Option<&str> {
        match self {
            Self::Fixed(text) => Some(text),
        }
    }
}
