//! Templates that are evaluated for a user, and the exceptions that their functions throw.
//!
//! An evaluation leaves an exception in the core's buffers ([`plan::env::Scratch::thrown`]). The caller must handle or
//! clear it.

use plan::template::Template;

use crate::context::Context;
use crate::ids::UserId;

impl Context<'_> {
    /// Returns true if a function has thrown an exception that was not handled yet.
    pub(crate) fn has_thrown(&self) -> bool {
        self.texts.thrown.is_some()
    }

    /// Clears an exception that JMeter catches, or that comes from a template which JMeter would not evaluate.
    pub(crate) fn forget_thrown(&mut self) {
        self.texts.thrown = None;
    }

    /// Clears a `NumberFormatException`, which JMeter catches for some numbers.
    pub(crate) fn clear_number_error(&mut self) {
        self.texts.thrown.take_if(|thrown| thrown.is_no_number());
    }

    /// Evaluates a number as JMeter's properties parse it: text with blanks around the number is 0.
    pub(crate) fn java_number(&mut self, index: UserId, text: &Template) -> i64 {
        text.parsed(&mut self.env(index, ""), |text| text.parse().unwrap_or(0))
    }

    /// Evaluates a number as JMeter parses it. Text that is no number, or has blanks around it, gives `default`.
    pub(crate) fn number(&mut self, index: UserId, text: &Template, default: i64) -> i64 {
        let mut value = self.texts.take();
        text.eval(&mut self.env(index, ""), &mut value);
        let number = value.parse().unwrap_or(default);
        self.texts.give(value);
        number
    }
}
