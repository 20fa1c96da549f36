//! Java exceptions thrown by expressions and scripts.

use crate::work;

/// An exception that JMeter would throw during an evaluation; a sampler reports it as its failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// Java class of the exception.
    pub class: &'static str,
    /// Message of the exception.
    pub message: String,
}

impl Thrown {
    /// Java class of the exception by which a function ends its user.
    pub const STOP_USER: &'static str = "org.apache.jorphan.util.JMeterStopThreadException";

    /// Creates a Java exception from its class and its message.
    pub fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }

    /// Creates Java's exception for text that is not a number.
    pub fn not_a_number(text: &str) -> Self {
        Self::new("java.lang.NumberFormatException", format!("For input string: \"{text}\""))
    }

    /// Creates an `OutOfMemoryError` for an evaluation that [gave up](crate::work) before its text was complete.
    #[cold]
    pub fn too_much() -> Self {
        let why = work::gave_up().map_or_else(String::new, |why| why.to_string());
        Self::new("java.lang.OutOfMemoryError", why)
    }

    /// Returns true if Java's `catch (NumberFormatException …)` catches the exception.
    pub fn is_no_number(&self) -> bool {
        self.class == "java.lang.NumberFormatException"
    }

    /// Returns true for a Java `Error`, which JMeter's `catch (Exception …)` does not catch.
    pub fn is_error(&self) -> bool {
        self.class.ends_with("Error")
    }

    /// Returns true if the exception asks to end the user.
    pub fn stops_user(&self) -> bool {
        self.class == Self::STOP_USER
    }
}

/// Formats a Java exception like its `toString`.
impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.class)?;
        if self.message == "null" { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}
