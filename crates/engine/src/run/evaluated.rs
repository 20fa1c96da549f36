//! The values of a plan's expressions, evaluated for a run. The processes of a run exchange them.

use plan::element::{KeySelection, Span};
use plan::env::Env;
use plan::number::OddNumber;
use plan::template::Template;
use serde::{Deserialize, Serialize};

use crate::reports::line::Line;
use crate::run::error::StartError;
use crate::run::paces::Paces;

/// Values that are known once the plan's expressions have been evaluated for the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Evaluated {
    pub(super) groups: Vec<Numbers>,
    /// Rates of each group's timers.
    pub(super) paces: Vec<Paces>,
    /// Initial values of variables, by slot.
    pub(super) variables: Vec<(u32, String)>,
    /// Values that Java has evaluated for the whole run, by the number of the expression.
    pub(super) java: Vec<(u32, String)>,
    /// Values of each listener's expressions: a file name, digits of a number, or names and values of parameters.
    pub(super) listeners: Vec<Vec<String>>,
    /// Values of each PerfMon collector's expressions.
    pub(super) monitors: Vec<Vec<String>>,
    /// First and last key of the key store, and the variable that selects one; or (`keys_refused`) the reason why they
    /// are invalid.
    pub(super) keys: (i64, i64, String),
    pub(super) keys_refused: Option<String>,
    /// Properties that functions have set during evaluation.
    pub(crate) properties: Vec<(String, String)>,
    /// Messages about invalid values.
    pub(super) complaints: Vec<Line>,
    /// Settings of thread groups that are not numbers. The process that evaluates the plan reports them.
    #[serde(skip)]
    pub(super) odd_numbers: Vec<OddNumber>,
}

/// Load of a group. Times are in nanoseconds unless another unit is given.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Numbers {
    pub(super) name: String,
    pub(super) users: u32,
    pub(super) step: i64,
    pub(super) delay: i64,
    pub(super) duration: Option<i64>,
    /// Start and end of each user in milliseconds, if users have individual times.
    pub(super) spans: Option<Vec<Span>>,
    /// Maximum number of users, number of arrivals, and end in milliseconds, if each span is an arrival instead of a
    /// user.
    pub(super) arrivals: Option<(u32, u64, i64)>,
    /// Maximum number of concurrent users.
    pub(super) at_once: u32,
    /// True if a user that ends before the group ends is replaced.
    pub(super) replaces: bool,
    /// True if the load was set outside the plan.
    pub(super) given: bool,
    /// Rate of arrivals, used instead of `spans`.
    pub(super) rate: Option<Vec<plan::load::Phase>>,
    /// Rate over time of the arrivals that `spans` lists.
    pub(super) course: Option<Vec<plan::load::Phase>>,
    /// Iterations per user that replace the plan's number; -1 is infinite.
    pub(super) loops: Option<i32>,
    /// True if the plan's number of iterations per user is infinite. Samples can still end the users.
    pub(super) endless: bool,
}

impl Evaluated {
    /// Returns the planned number of concurrent users of all groups.
    pub fn users(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.at_once)).sum()
    }

    /// Returns the planned number of concurrent users of each group.
    pub fn at_once_by_group(&self) -> impl Iterator<Item = u64> + '_ {
        self.groups.iter().map(|group| u64::from(group.at_once))
    }

    /// Returns the number of users of each group of the plan.
    pub fn users_by_group(&self) -> impl Iterator<Item = u32> + '_ {
        self.groups.iter().map(|group| group.users)
    }

    /// Returns the selection of keys in the key store.
    pub(crate) fn keys(&self) -> Result<KeySelection, StartError> {
        if let Some(problem) = &self.keys_refused {
            return Err(StartError::Setting(problem.clone()));
        }
        let (first, last, variable) = self.keys.clone();
        Ok(KeySelection { first, last, variable })
    }

    /// Returns the name of each group of the plan.
    pub fn names_by_group(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.name.as_str())
    }

    /// Takes out the settings that are not numbers, so that the run does not report them.
    pub fn take_odd_numbers(&mut self) -> Vec<OddNumber> {
        std::mem::take(&mut self.odd_numbers)
    }

    /// Takes out the other messages for the user, so that the run does not report them.
    pub fn take_complaints(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.complaints)
    }
}

/// Evaluates an expression for the whole run.
pub(super) fn value(text: &Template, env: &mut Env<'_>) -> String {
    let mut value = String::new();
    text.eval(env, &mut value);
    value
}
