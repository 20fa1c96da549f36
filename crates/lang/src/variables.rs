//! Access to variables and properties for scripts in any language.
//!
//! A value of the trait belongs to one user. Each language extends the trait by further objects of its scripts.

/// The objects `vars` and `props` of a script, and the name of its thread.
pub trait Variables {
    /// Returns the value of a variable.
    fn variable(&self, name: &str) -> Option<&str>;
    /// Sets a variable.
    fn set_variable(&mut self, name: &str, value: &str);
    /// Removes a variable.
    fn remove_variable(&mut self, name: &str);
    /// Returns the value of a property.
    fn property(&mut self, name: &str) -> Option<&str>;
    /// Sets a property and returns its previous value.
    fn set_property(&mut self, name: &str, value: &str) -> Option<String>;
    /// Appends the name of the user's thread to `out`.
    fn thread_name(&self, out: &mut String);
}
