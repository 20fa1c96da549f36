//! A finding of the preflight: the limit, the need, and the change that raises the limit.

use serde::Serialize;

use super::place::Place;

/// Result of comparing a limit with a need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    Fits,
    /// The need exceeds nine tenths of the limit, or the need is an upper bound that the run may never reach.
    Tight,
    TooSmall,
}

impl Severity {
    pub(crate) fn of(needed: u64, there: u64) -> Self {
        if needed > there {
            Self::TooSmall
        } else if u128::from(needed) * 10 > u128::from(there) * 9 {
            Self::Tight
        } else {
            Self::Fits
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Tight => "tight",
            Self::TooSmall => "too small",
        }
    }
}

/// A change that raises a kernel setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    /// Name of the setting for `sysctl`.
    pub(crate) key: &'static str,
    /// Current value.
    pub(crate) from: String,
    /// Value after the change.
    pub(crate) to: String,
    /// Place where the setting is changed.
    pub(crate) place: Place,
}

impl Change {
    pub(crate) fn new(key: &'static str, from: String, to: String) -> Self {
        Self { key, from, to, place: Place::default() }
    }

    /// Describes how the change is made, on this machine or on another.
    pub(crate) fn way(&self) -> String {
        self.place.way(self.key, &self.to, &self.command())
    }

    /// Returns the command that makes the change.
    pub(crate) fn command(&self) -> String {
        sysctl(self.key, &self.to)
    }

    /// Returns the command that reverts the change.
    pub(crate) fn undo(&self) -> String {
        sysctl(self.key, &self.from)
    }

    /// Returns the setting's file name relative to /proc/sys.
    pub(crate) fn file(&self) -> String {
        self.key.replace('.', "/")
    }
}

fn sysctl(key: &str, value: &str) -> String {
    if value.contains(' ') {
        format!("sysctl -w {key}=\"{value}\"")
    } else {
        format!("sysctl -w {key}={value}")
    }
}

/// Result of checking one limit of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) what: &'static str,
    pub(crate) severity: Severity,
    pub(crate) now: String,
    pub(crate) needed: String,
    /// Consequence of a limit that is too small, or the reason why the limit is sufficient.
    pub(crate) why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<Change>,
    /// Advice for a limit that no setting can raise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
}

impl Finding {
    pub(crate) fn text(&self) -> String {
        let mut out = format!(
            "  {:9} {}: {}, needed {}\n",
            self.severity.word(),
            self.what,
            self.now,
            self.needed
        );
        if self.severity > Severity::Fits || self.change.is_none() && self.advice.is_none() {
            out.push_str(&format!("            {}\n", self.why));
        }
        if self.severity > Severity::Fits {
            for line in self.change.iter().map(Change::way).chain(self.advice.clone()) {
                out.push_str(&format!("            -> {line}\n"));
            }
        }
        out
    }
}
