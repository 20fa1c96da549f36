//! Parses numbers as JMeter reads properties: an invalid value is 0, and blanks make a value invalid.

use lang::java::{parse_int, parse_long};

use crate::env::Env;
use crate::template::Template;

/// Numeric setting of a thread group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Number of users.
    Threads,
    /// Ramp-up time in seconds.
    RampUp,
    /// Iterations per user.
    Loops,
    /// Start delay in seconds.
    Delay,
    /// Duration in seconds.
    Duration,
}

impl Setting {
    /// Returns the name of the setting in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Threads => "number of threads",
            Self::RampUp => "ramp-up",
            Self::Loops => "loop count",
            Self::Delay => "startup delay",
            Self::Duration => "duration",
        }
    }

    /// Returns the message about a value that JMeter replaces by 0 because it is not a number. `None` for a number, and
    /// for an empty value of a setting other than the number of users or iterations.
    pub(crate) fn complaint(self, text: &str) -> Option<String> {
        let is_number = match self {
            Self::Threads | Self::RampUp | Self::Loops => parse_int(text).is_some(),
            Self::Delay | Self::Duration => parse_long(text).is_some(),
        };
        if is_number || (text.is_empty() && !matches!(self, Self::Threads | Self::Loops)) {
            return None;
        }
        let what = self.name();
        let (most, follows) = match self {
            Self::Threads => (Some(i32::MAX), "0 users"),
            Self::RampUp => (Some(i32::MAX), "all users start at once"),
            Self::Loops => (Some(i32::MAX), "its users run no iteration"),
            Self::Delay => (None, "users start without delay"),
            Self::Duration => (None, "no user starts"),
        };
        let given = if text.is_empty() {
            "is empty".to_owned()
        } else {
            format!("{text:?} is not a whole number")
        };
        let most = most.filter(|_| !text.is_empty()).map(|most| format!(" up to {most}"));
        Some(format!("the {what} {given}{}: {follows}, as in JMeter", most.unwrap_or_default()))
    }
}

/// A setting of a thread group that is not a number, so that JMeter uses 0 instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OddNumber {
    /// Index of the thread group in `Plan::groups`.
    pub group: usize,
    pub setting: Setting,
    /// Message with the path of the group.
    pub message: String,
}

impl OddNumber {
    /// Returns the problem of a setting's value. `group` and `path` are the index and the path of the thread group.
    /// Returns `None` for a valid value.
    pub fn of(setting: Setting, text: &str, group: usize, path: &str) -> Option<Self> {
        let words = setting.complaint(text)?;
        Some(Self { group, setting, message: format!("{path}: {words}") })
    }
}

impl Template {
    /// Returns the value as a 32-bit number; 0 if it is invalid.
    pub fn int(&self, env: &mut Env<'_>) -> i32 {
        self.parsed(env, parse_int).unwrap_or(0)
    }

    /// Returns the value as a 64-bit number; 0 if it is invalid.
    pub fn long(&self, env: &mut Env<'_>) -> i64 {
        self.parsed(env, parse_long).unwrap_or(0)
    }

    /// Returns the value as a floating-point number; 0 if it is invalid.
    pub fn double(&self, env: &mut Env<'_>) -> f64 {
        self.parsed(env, |text| text.trim().parse().ok()).unwrap_or(0.0)
    }

    /// Evaluates the template and passes its value to `read`, without allocating.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_told() {
        for bad in ["abc", "1e12", "1.5", "1000000000000", " 5"] {
            let words = Setting::Threads.complaint(bad).unwrap_or_else(|| panic!("{bad}"));
            assert!(
                words.contains(&format!("{bad:?} is not a whole number up to 2147483647")),
                "{words}"
            );
        }
        let empty = Setting::Threads.complaint("").expect("words");
        assert_eq!(empty, "the number of threads is empty: 0 users, as in JMeter");
        for (setting, good) in [
            (Setting::Threads, "0"),
            (Setting::RampUp, ""),
            (Setting::Delay, "99999999999"),
            (Setting::Loops, "-1"),
        ] {
            assert_eq!(setting.complaint(good), None, "{good}");
        }
    }
}
