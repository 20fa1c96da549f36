//! JEXL 3 as `__jexl3` runs it, for what plans write: operators, comparisons, ternaries, calls of methods of texts, variables
//! and properties.
//!
//! A script is computed while it is read, without a tree: first it is read to its end without computing anything, which
//! tells what cannot be read, then once more. Values follow JEXL's strict arithmetic; what throws there comes to nothing,
//! as JMeter's engine is silent. Whether a script is within what is known here is found out when the plan is
//! compiled ([`is_known`]); statements, assignments, arrays and classes of Java are not.

mod method;
mod read;
mod value;

use crate::log::Level;
use crate::variables::Variables;
use read::{Reader, Step};
use value::Fault;

/// How a script came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has a value, or none because something in it threw: JMeter sets its variable to it.
    Done,
    /// It cannot be read, or takes a text for a number that is none: JMeter logs it and sets nothing.
    Failed,
}

/// The surroundings of a script: `vars`, `props`, `log` and `threadName`.
pub trait World: Variables {
    /// Writes a line into the log.
    fn log(&mut self, level: Level, text: &str);
}

/// Whether a script can be computed here.
pub fn is_known(source: &str) -> bool {
    Reader::new(source).script(&mut Step::Reading).is_ok()
}

/// Appends the value of a script.
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
