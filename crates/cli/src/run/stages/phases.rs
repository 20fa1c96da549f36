//! Records the start of each phase of the load as a mark of the run.

use std::collections::VecDeque;

use engine::Phase;

/// Phases of the load that have not started yet.
#[derive(Debug)]
pub(crate) struct Phases {
    left: VecDeque<Phase>,
    /// Start of the main groups in epoch milliseconds. `None` if they have not started.
    start_ms: Option<i64>,
    /// Number of users in setUp groups.
    before: u32,
    /// Delay in milliseconds from the start of the main groups to the start of their first user.
    first_ms: i64,
    /// Length of the main groups in milliseconds, for a run with setUp groups: the end of such a run is known only when
    /// the setUp groups have ended.
    length_ms: Option<i64>,
}

impl Phases {
    /// Creates the list of phases. `length_ms` is the length of the main groups, if it is known.
    pub(crate) fn new(phases: engine::Phases, length_ms: Option<i64>) -> Self {
        let engine::Phases { list, before, first_ms } = phases;
        let length_ms = length_ms.filter(|_| before > 0);
        Self { left: list.into(), start_ms: None, before, first_ms, length_ms }
    }

    /// Returns the planned end of the run in epoch milliseconds, once, after the setUp groups are done.
    pub(crate) fn end_ms(&mut self) -> Option<i64> {
        let start_ms = self.start_ms?;
        Some(start_ms + self.length_ms.take()?)
    }

    /// Returns the phases that have started since the last call, with their start in epoch milliseconds. `run_ms` is
    /// the start of the run, and `started` the number of users started so far.
    pub(crate) fn begun(&mut self, now_ms: i64, run_ms: i64, started: u32) -> Vec<(i64, String)> {
        if self.start_ms.is_none() && self.before == 0 {
            self.start_ms = Some(run_ms);
        } else if self.start_ms.is_none() && started > self.before {
            self.start_ms = Some(now_ms - self.first_ms);
        }
        let mut begun = Vec::new();
        let Some(start_ms) = self.start_ms else { return begun };
        while let Some(phase) = self.left.pop_front_if(|phase| start_ms + phase.at_ms <= now_ms) {
            begun.push((start_ms + phase.at_ms, phase.words));
        }
        begun
    }

    /// Removes all phases that have not started yet, because the load was changed.
    pub(crate) fn forget(&mut self) {
        self.left.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(before: u32) -> Phases {
        let phase = |at_ms, words: &str| Phase { at_ms, words: words.into() };
        let list = vec![phase(500, "ramp"), phase(2000, "hold")];
        Phases::new(engine::Phases { list, before, first_ms: 500 }, Some(60_000))
    }

    #[test]
    fn phases_begin_at_their_times() {
        let mut phases = phases(0);
        assert_eq!(phases.begun(10_400, 10_000, 0), []);
        assert_eq!(phases.begun(10_550, 10_000, 1), [(10_500, "ramp".to_owned())]);
        assert_eq!(phases.begun(12_030, 10_000, 9), [(12_000, "hold".to_owned())]);
        assert_eq!(phases.begun(99_000, 10_000, 9), []);
        assert_eq!(phases.end_ms(), None, "without set-up groups it was known before");
    }

    #[test]
    fn those_behind_set_up_groups_wait_for_their_first_user() {
        let mut phases = phases(2);
        assert_eq!((phases.begun(15_000, 10_000, 2), phases.end_ms()), (vec![], None));
        assert_eq!(phases.begun(20_000, 10_000, 3), [(20_000, "ramp".to_owned())]);
        assert_eq!((phases.end_ms(), phases.end_ms()), (Some(79_500), None), "it is told once");
        phases.forget();
        assert_eq!(phases.begun(99_000, 10_000, 9), []);
    }
}
