//! Evaluation of a plan's expressions under a [work limit](lang::work). A log message reports evaluations that exceed
//! the limit.

use std::cell::RefCell;
use std::collections::HashMap;

use lang::work::{self, GaveUp};

use crate::env::Env;
use crate::function::Level;

thread_local! {
    static SAID: RefCell<HashMap<String, u64>> = RefCell::default();
}

/// Runs an evaluation under the work limit of this thread. An evaluation that exceeds the limit is logged with its kind
/// and its sampler.
pub(crate) fn watched<R>(
    what: &str,
    env: &mut Env<'_>,
    evaluation: impl FnOnce(&mut Env<'_>) -> R,
) -> (R, Option<GaveUp>) {
    let (result, gave_up) = work::bounded(|| evaluation(env));
    if let Some(why) = gave_up.filter(|why| *why != GaveUp::Stopped) {
        report(what, why, env);
    }
    (result, gave_up)
}

/// Logs that an evaluation exceeded its work limit. Evaluations of the same kind and sampler (or of the same group,
/// outside of samplers) are counted per thread, and only the 1st, 10th, 100th and so on are logged.
#[cold]
fn report(what: &str, why: GaveUp, env: &Env<'_>) {
    let of = match env.who.sampler {
        "" => format!("{what} of group {}", env.who.group),
        sampler => format!("{what} of {sampler}"),
    };
    if let Some(times) = count_if_due(&of) {
        let times = if times > 1 { format!(", {times} times so far") } else { String::new() };
        env.shared.log(Level::Warn, format!("{of}: {why}{times}"));
    }
}

/// Counts a call for `what` on this thread; returns the count if it is 1, 10, 100, …, otherwise `None`.
fn count_if_due(what: &str) -> Option<u64> {
    SAID.with_borrow_mut(|said| {
        // Names that are built from data must not fill the memory.
        if said.len() >= 1000 {
            said.clear();
        }
        let times = said.entry(what.to_owned()).or_default();
        *times += 1;
        let mut power = 1;
        while power < *times {
            power *= 10;
        }
        (power == *times).then_some(*times)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_often_is_said_seldom() {
        let said: Vec<u64> = (0..1000).filter_map(|_| count_if_due("a")).collect();
        assert_eq!(said, [1, 10, 100, 1000]);
    }
}
