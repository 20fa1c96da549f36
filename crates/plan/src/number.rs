//! Texts read as numbers, as JMeter reads properties: what cannot be read is 0, blanks included.

use crate::env::Env;
use crate::text::Text;

/// A 32-bit number as Java's `Integer.parseInt` reads it; `None` if the text is none.
pub fn int(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// A 64-bit number as Java's `Long.parseLong` reads it; `None` if the text is none.
pub fn long(text: &str) -> Option<i64> {
    text.parse().ok()
}

impl Text {
    /// The value as a 32-bit number; 0 if it is none.
    pub fn int(&self, env: &mut Env<'_>) -> i32 {
        self.parsed(env, int).unwrap_or(0)
    }

    /// The value as a 64-bit number; 0 if it is none.
    pub fn long(&self, env: &mut Env<'_>) -> i64 {
        self.parsed(env, long).unwrap_or(0)
    }

    /// The value as a floating-point number; 0 if it is none.
    pub fn double(&self, env: &mut Env<'_>) -> f64 {
        self.parsed(env, |text| text.trim().parse().ok()).unwrap_or(0.0)
    }

    /// Hands the value to `read` without allocating.
    pub fn parsed<T>(&self, env: &mut Env<'_>, read: impl FnOnce(&str) -> T) -> T {
        if let Some(text) = self.fixed() {
            return read(text);
        }
        let mut value = env.core.take();
        self.eval(env, &mut value);
        let result = read(&value);
        env.core.give(value);
        result
    }
}
