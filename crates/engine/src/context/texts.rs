//! Texts that are evaluated for a user, and the exceptions that functions in them throw.
//!
//! Evaluating leaves an exception in the core's buffers ([`plan::env::Scratch::thrown`]); whoever has evaluated looks at it, or passes over it.

use plan::template::Template;

use crate::context::Context;
use crate::ids::UserId;

impl Context<'_> {
    /// Whether a function has thrown since somebody looked.
    pub(crate) fn has_thrown(&self) -> bool {
        self.texts.thrown.is_some()
    }

    /// Passes over an exception that JMeter catches, or that comes where JMeter evaluates nothing.
    pub(crate) fn forget_thrown(&mut self) {
        self.texts.thrown = None;
    }

    /// Passes over a `NumberFormatException`, which JMeter catches where it reads some numbers.
    pub(crate) fn forgive_number(&mut self) {
        self.texts.thrown.take_if(|thrown| thrown.is_no_number());
    }

    /// A number as JMeter's properties have it: blanks are none.
    pub(crate) fn java_number(&mut self, index: UserId, text: &Template) -> i64 {
        text.parsed(&mut self.env(index, ""), |text| text.parse().unwrap_or(0))
    }

    /// Evaluates a text that should be a number, as JMeter reads it: with a blank around it, it is none.
    pub(crate) fn number(&mut self, index: UserId, text: &Template, default: i64) -> i64 {
        let mut value = self.texts.take();
        text.eval(&mut self.env(index, ""), &mut value);
        let number = value.parse().unwrap_or(default);
        self.texts.give(value);
        number
    }
}
