//! Exceptions of Java, as evaluations of expressions and scripts throw them.

use crate::work;

/// An exception as JMeter would throw it while evaluating: what a sampler reports as its failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// Java class of the exception.
    pub class: &'static str,
    /// Its message.
    pub message: String,
}

impl Thrown {
    /// The exception by which a function ends its user.
    pub const STOP_USER: &'static str = "org.apache.jorphan.util.JMeterStopThreadException";

    /// An exception on its way out of an evaluation.
    pub fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }

    /// Java's complaint about text that is not a number.
    pub fn not_a_number(text: &str) -> Self {
        Self::new("java.lang.NumberFormatException", format!("For input string: \"{text}\""))
    }

    /// The exception of an evaluation that [gave up](crate::work) before its text was whole.
    #[cold]
    pub fn too_much() -> Self {
        let why = work::gave_up().map_or_else(String::new, |why| why.to_string());
        Self::new("java.lang.OutOfMemoryError", why)
    }

    /// Whether Java's `catch (NumberFormatException …)` catches it.
    pub fn is_no_number(&self) -> bool {
        self.class == "java.lang.NumberFormatException"
    }

    /// Whether it is an error of Java's, which none of JMeter's `catch (Exception …)` catches.
    pub fn is_error(&self) -> bool {
        self.class.ends_with("Error")
    }

    /// Whether it asks that the user ends.
    pub fn stops_user(&self) -> bool {
        self.class == Self::STOP_USER
    }
}

/// As Java's `toString` has it.
impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.class)?;
        if self.message == "null" { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}
