//! The variables and properties that scripts read and change, whatever their language.
//!
//! One user is behind them. A language adds what else its scripts see of the world.

/// `vars` and `props` of a script, and the name of its thread.
pub trait Variables {
    /// The value of a variable.
    fn variable(&self, name: &str) -> Option<&str>;
    /// Sets a variable.
    fn set_variable(&mut self, name: &str, value: &str);
    /// Removes a variable.
    fn remove_variable(&mut self, name: &str);
    /// The value of a property.
    fn property(&mut self, name: &str) -> Option<&str>;
    /// Sets a property; the answer is its value before.
    fn set_property(&mut self, name: &str, value: &str) -> Option<String>;
    /// Appends the name of the user's thread.
    fn thread_name(&self, out: &mut String);
}
