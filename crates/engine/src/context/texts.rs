//! Evaluates templates for a user, and handles the exceptions that their functions throw.
//!
//! An evaluation leaves an exception in the core's buffers ([`plan::env::Scratch::thrown`]). The caller must handle or
//! clear it.

use plan::template::Template;

use crate::context::Context;
use crate::ids::UserId;

impl Context<'_> {
    /// Returns true if a function has thrown an exception that is not handled yet.
    pub(crate) fn has_thrown(&self) -> bool {
        self.texts.thrown.is_some()
    }

    /// Clears a pending exception: JMeter catches it, or JMeter would not evaluate the template that threw it.
    pub(crate) fn forget_thrown(&mut self) {
        self.texts.thrown = None;
    }

    /// Clears a pending `NumberFormatException`, which JMeter catches where it parses certain numbers.
    pub(crate) fn clear_number_error(&mut self) {
        self.texts.thrown.take_if(|thrown| thrown.is_no_number());
    }

    /// Evaluates a template to a number, as JMeter parses numeric properties: a value that is not a number, or has
    /// blanks around the number, is 0.
    pub(crate) fn java_number(&mut self, index: UserId, text: &Template) -> i64 {
        text.parsed(&mut self.env(index, ""), |text| text.parse().unwrap_or(0))
    }

    /// Evaluates a template to a number. A value that is not a number, or has blanks around the number, becomes
    /// `default`, as in JMeter.
    pub(crate) fn number(&mut self, index: UserId, text: &Template, default: i64) -> i64 {
        let mut value = self.texts.take();
        text.eval(&mut self.env(index, ""), &mut value);
        let number = value.parse().unwrap_or(default);
        self.texts.give(value);
        number
    }
}
