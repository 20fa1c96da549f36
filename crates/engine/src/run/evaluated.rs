//! A plan once its texts have been evaluated for a run; processes of one run send this to each other.

use plan::element::{KeySelection, Span};
use plan::env::Env;
use plan::template::Template;
use serde::{Deserialize, Serialize};

use crate::reports::line::Line;
use crate::run::error::StartError;
use crate::run::paces::Paces;

/// Values that are known once the plan's texts have been evaluated for the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Evaluated {
    pub(super) groups: Vec<Numbers>,
    /// Rates of the groups' timers.
    pub(super) paces: Vec<Paces>,
    /// Starting values of variables, by slot.
    pub(super) variables: Vec<(u32, String)>,
    /// Values for the whole run of texts that Java has evaluated, by their numbers.
    pub(super) java: Vec<(u32, String)>,
    /// Texts for the plan's listeners: a file name, digits of a number, or values of parameters.
    pub(super) listeners: Vec<Vec<String>>,
    /// Texts for the plan's PerfMon collectors.
    pub(super) monitors: Vec<Vec<String>>,
    /// First and last key of the key store, and the variable that chooses one; or why not.
    pub(super) keys: (i64, i64, String),
    pub(super) keys_refused: Option<String>,
    /// Properties that evaluating has set.
    pub(crate) properties: Vec<(String, String)>,
    /// Complaints for the user.
    pub(super) complaints: Vec<Line>,
}

/// Numbers of a group; times in nanoseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Numbers {
    pub(super) name: String,
    pub(super) users: u32,
    pub(super) step: i64,
    pub(super) delay: i64,
    pub(super) duration: Option<i64>,
    /// Of users with moments of their own, milliseconds.
    pub(super) spans: Option<Vec<Span>>,
    /// Bounds of arrivals, if the spans are such: users, arrivals, and the end.
    pub(super) arrivals: Option<(u32, u64, i64)>,
    /// Most users at once.
    pub(super) at_once: u32,
    /// Users that end before the group does are replaced.
    pub(super) replaces: bool,
    /// The load was given beside the plan.
    pub(super) given: bool,
    /// Arrivals come at this rate, not at the spans.
    pub(super) rate: Option<Vec<plan::load::Phase>>,
    /// The rate of arrivals by the spans.
    pub(super) course: Option<Vec<plan::load::Phase>>,
    /// Iterations of each user, in place of the plan's: -1 is without end.
    pub(super) loops: Option<i32>,
    /// The plan's iterations of each user are without end, as far as no sample has a hand in their number.
    pub(super) endless: bool,
}

impl Evaluated {
    /// Number of users that the groups ask for at once, all together.
    pub fn users(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.at_once)).sum()
    }

    /// Number of users that each group of the plan asks for at once.
    pub fn at_once_by_group(&self) -> impl Iterator<Item = u64> + '_ {
        self.groups.iter().map(|group| u64::from(group.at_once))
    }

    /// Number of users of each group of the plan.
    pub fn users_by_group(&self) -> impl Iterator<Item = u32> + '_ {
        self.groups.iter().map(|group| group.users)
    }

    /// The keys that the plan selects.
    pub(crate) fn keys(&self) -> Result<KeySelection, StartError> {
        if let Some(problem) = &self.keys_refused {
            return Err(StartError::Setting(problem.clone()));
        }
        let (first, last, variable) = self.keys.clone();
        Ok(KeySelection { first, last, variable })
    }

    /// Complaints that the user should be told; nobody else tells them then.
    pub fn take_complaints(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.complaints)
    }
}

/// A text's value, for the whole run.
pub(super) fn value(text: &Template, env: &mut Env<'_>) -> String {
    let mut value = String::new();
    text.eval(env, &mut value);
    value
}
