//! A finding of the preflight: the limit, the need, and the change that closes the gap.

use serde::Serialize;

use super::place::Place;

/// Comparison of the limit with the need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    Fits,
    /// More than nine tenths would be used, or the need is a bound that the run may never reach.
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

/// A setting of the kernel, raised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    /// As `sysctl` names it.
    pub(crate) key: &'static str,
    pub(crate) from: String,
    pub(crate) to: String,
    /// Where it is changed.
    pub(crate) place: Place,
}

impl Change {
    pub(crate) fn new(key: &'static str, from: String, to: String) -> Self {
        Self { key, from, to, place: Place::default() }
    }

    /// Words that say how the change is made, here or on another machine.
    pub(crate) fn way(&self) -> String {
        self.place.way(self.key, &self.to, &self.command())
    }

    /// The command that makes the change.
    pub(crate) fn command(&self) -> String {
        sysctl(self.key, &self.to)
    }

    /// The command that undoes it.
    pub(crate) fn undo(&self) -> String {
        sysctl(self.key, &self.from)
    }

    /// Its file below /proc/sys.
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

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) what: &'static str,
    pub(crate) severity: Severity,
    pub(crate) now: String,
    pub(crate) needed: String,
    /// The consequence if it is too small, or the reason why it fits.
    pub(crate) why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<Change>,
    /// Advice where no setting helps.
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
