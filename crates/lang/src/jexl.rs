//! JEXL 3 as `__jexl3` runs it, limited to what plans use: operators, comparisons, ternaries, method calls on strings,
//! variables and properties.
//!
//! A script is evaluated while it is parsed, without a syntax tree. A first pass only parses it to find syntax errors;
//! a second pass evaluates it. Values follow JEXL's strict arithmetic. If the arithmetic throws, the result is empty,
//! because JMeter's engine is silent. Whether a script is supported is checked when the plan is compiled
//! ([`is_known`]). Statements, assignments, arrays and Java classes are not supported.

mod method;
mod read;
mod value;

use crate::log::Level;
use crate::variables::Variables;
use read::{Reader, Step};
use value::Fault;

/// The outcome of a JEXL script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The script ended, with or without a value; without one, a part of it threw an exception that JMeter ignores.
    /// JMeter sets the variable to the value.
    Done,
    /// The script cannot be parsed, or uses a string as a number that is none. JMeter logs the exception and sets no
    /// variable.
    Failed,
}

/// The objects that a script can use: `vars`, `props`, `log` and `threadName`.
pub trait World: Variables {
    /// Writes a line of a script to the log.
    fn log(&mut self, level: Level, text: &str);
}

/// Returns true if the JEXL script is supported without Java.
pub fn is_known(source: &str) -> bool {
    Reader::new(source).script(&mut Step::Reading).is_ok()
}

/// Evaluates a JEXL script and appends its value.
pub fn run(source: &str, world: &mut dyn World, out: &mut String) -> Outcome {
    if Reader::new(source).script(&mut Step::Reading).is_err() {
        return Outcome::Failed;
    }
    let start = out.len();
    match Reader::new(source).script(&mut Step::Computing(world)) {
        Ok(value) => value.write(out),
        Err(Fault::Throws) => out.truncate(start),
        Err(Fault::Unreadable | Fault::NoNumber) => return Outcome::Failed,
    }
    Outcome::Done
}

#[cfg(test)]
mod tests;
