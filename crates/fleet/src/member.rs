//! The coordinator's data about one worker.

use std::collections::BTreeMap;

use stats::Counters;
use stats::grouped::things;
use stats::process::Usage;

use crate::bus::Transport;
use crate::loss::{Loss, Missed};
use crate::message::Report;

/// The stage of a worker's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The worker has sent no message yet, or is compiling the plan.
    #[default]
    Starting,
    /// The worker waits for a batch of groups.
    Ready,
    /// The coordinator has asked the worker to confirm that it is reachable.
    Arming,
    /// The worker has confirmed, and waits for the order to start.
    Armed,
    /// Users of the batch run.
    Running,
    /// The worker has sent its last message.
    Done,
    /// The worker died or became unreachable.
    Lost,
}

#[derive(Debug, Default)]
pub(crate) struct Member {
    pub(crate) stage: Stage,
    pub(crate) pid: u32,
    pub(crate) cores: u32,
    /// Number of the last report received from the worker.
    pub(crate) seq: u64,
    pub(crate) usage: Usage,
    pub(crate) active: Vec<u32>,
    pub(crate) started: u32,
    pub(crate) finished: u32,
    /// Sum of the counters in all reports of the worker.
    pub(crate) counters: Counters,
    pub(crate) last_ms: i64,
    /// Number of samples in all reports of the worker.
    pub(crate) samples: u64,
    /// For each core of the worker: number of samples in its last report.
    pub(crate) last_samples: BTreeMap<u32, u64>,
    /// Number of users of each group that run in other workers, as last sent to this worker.
    pub(crate) sent_elsewhere: Vec<u32>,
    /// Number of changes to users or rates that the previous coordinator sent to other workers but not to this worker.
    pub(crate) missed_changes: u32,
}

impl Member {
    /// Applies a report. Returns false if the report is a duplicate, and the number of missing reports before it.
    pub(crate) fn apply(&mut self, report: &Report) -> (bool, u64) {
        if report.seq <= self.seq {
            return (false, 0);
        }
        let missing = report.seq - self.seq - 1;
        self.seq = report.seq;
        self.usage = report.usage;
        self.active.clone_from(&report.active);
        (self.started, self.finished) = (report.started, report.finished);
        self.counters.merge(&report.snapshot.counters);
        self.last_ms = report.snapshot.at_ms;
        let samples = report.samples();
        self.samples += samples;
        self.last_samples.insert(report.snapshot.core, samples);
        (true, missing)
    }

    /// Returns a loss if the worker's own total of samples, `samples`, differs from the number received.
    pub(crate) fn sample_mismatch(&self, worker: u32, samples: u64) -> Option<Loss> {
        (samples != self.samples).then(|| Loss {
            worker,
            agent: None,
            pid: self.pid,
            reason: format!(
                "it counted {}, but {} were received",
                things(samples, "sample"),
                self.samples
            ),
            users: 0,
            connections: 0,
            last_ms: self.last_ms,
            samples: Missed::Exactly(samples.abs_diff(self.samples)),
            at_most: None,
        })
    }

    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.stage, Stage::Done | Stage::Lost)
    }

    pub(crate) fn users(&self) -> u32 {
        self.active.iter().sum()
    }
}

/// Returns the number of reports that make up one second. Workers that have ended count too, because the last second,
/// which contains their reports, is still incomplete.
pub(crate) fn parts(members: &[Member], transport: Transport) -> u32 {
    let counts = members.iter().filter(|member| member.stage != Stage::Lost);
    counts.map(|member| transport.reports_each_second(member.cores)).sum()
}

/// Returns the last reported resource usage, summed over all workers. Memory pages of the program that workers share
/// count once.
pub(crate) fn usage(members: &[Member]) -> Usage {
    let mut sum = Usage::default();
    for member in members {
        let usage = member.usage;
        sum.user_s += usage.user_s;
        sum.system_s += usage.system_s;
        sum.run_queue_s += usage.run_queue_s;
        sum.throttling.add(&usage.throttling);
        sum.write_s += usage.write_s;
        if let Some(java) = &usage.java {
            sum.java.get_or_insert_default().add(java, member.is_alive());
        }
        if member.is_alive() {
            sum.rows_waiting += usage.rows_waiting;
            sum.rss += usage.rss.saturating_sub(usage.rss_file);
            sum.rss_file = sum.rss_file.max(usage.rss_file);
        }
        sum.rss_peak += usage.rss_peak.saturating_sub(usage.rss_file);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_a_report_of_each_thread_or_of_each_machine() {
        let member = |stage, cores| Member { stage, cores, ..Member::default() };
        let members = [
            member(Stage::Running, 4),
            member(Stage::Done, 2),
            member(Stage::Lost, 8),
            // The number of threads of a starting worker is not known yet.
            member(Stage::Starting, 0),
        ];
        assert_eq!(parts(&members, Transport::Local), 4 + 2 + 1);
        assert_eq!(parts(&members, Transport::MACHINES), 3);
    }

    #[test]
    fn a_report_that_comes_twice_counts_once() {
        let mut member = Member::default();
        let report = |seq| Report { seq, active: vec![2, 3], ..Report::default() };
        assert_eq!(member.apply(&report(1)), (true, 0));
        assert_eq!(member.apply(&report(1)), (false, 0));
        assert_eq!(member.apply(&report(4)), (true, 2));
        assert_eq!(member.apply(&report(3)), (false, 0));
        assert_eq!(member.users(), 5);
    }
}
