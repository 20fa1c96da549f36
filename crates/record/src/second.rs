//! One second of a run, or one interval of many seconds in a long run. Every part can be merged across cores,
//! processes, machines and time.

use stats::close::Close;
use stats::hist::Bins;
use stats::machine::Machine;
use stats::snapshot::LabelDelta;
use stats::stalled::Stalled;
use stats::{Checks, Counters, Number, Transactions};

use crate::Label;
use crate::coarse::Coarse;
use crate::labels::Labels;

/// Number of slots in a second; a slot is 100 ms.
pub use stats::snapshot::SLOTS;

pub use stats::Phases;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Second {
    /// End of the second, epoch ms.
    pub at_ms: i64,
    /// Length of the second, ms.
    pub ms: u32,
    /// Number of users that are active at the end of the second.
    pub users: u64,
    /// Number of users started since the start of the run.
    pub started: u64,
    /// Number of starts that a rate demanded in this second.
    pub due: u64,
    /// Number of demanded starts that did not happen in this second.
    pub missed: u64,
    /// All requests of the second, without transactions.
    pub all: Part,
    pub labels: Labels,
    pub counters: Counters,
    /// Errors of the second: pairs of cause number and number of errors.
    pub causes: Vec<(u32, u64)>,
    /// Durations of successful TCP connects, µs.
    pub connect: Bins,
    /// Durations of TLS handshakes, µs.
    pub tls: Bins,
    /// Times that requests waited for a free connection of a pool, µs.
    pub room: Bins,
    /// Times that requests spent in the generator process, µs.
    pub lag: Bins,
    /// Session connections that ended, by cause and close code, with the idle time before the end.
    pub closes: Vec<Close>,
    pub classes: Vec<(u32, Class)>,
    pub generator: Generator,
    /// Metrics of the whole machine that the generator runs on.
    pub machine: Option<Machine>,
    /// Metrics of watched hosts: pairs of series number and value.
    pub watched: Vec<(u32, f64)>,
    /// Requests that were in flight, or meant to start, while the generator was stalled.
    pub stalled: Stalled,
    /// Extremes of the single seconds that were joined into this interval; `None` for a single measured second.
    pub coarse: Option<Box<Coarse>>,
    /// Pairs of label number and results of assertions, in ascending order. Labels without checked responses are
    /// absent.
    pub checks: Vec<(u32, Checked)>,
    /// Count, sum and extremes of the values extracted from responses, by index of the data series
    /// ([`crate::Frame::series`]), in ascending order. Series without a value are absent.
    pub numbers: Vec<(u32, Number)>,
}

/// The metrics of a set of samples.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub count: u64,
    pub errors: u64,
    /// Number of samples cut by the end of the run. No other metric of this struct counts them.
    pub cut: u64,
    /// Number of bytes sent.
    pub sent: u64,
    /// Number of bytes received.
    pub received: u64,
    /// Sum of the service times, ns.
    pub elapsed: u64,
    /// Largest service time, ns.
    pub longest: u64,
    /// Service times (JMeter's `elapsed`) of all samples, µs.
    pub service: Bins,
    /// Response times from the intended start, µs. Empty if they are unknown: [`response`](Self::response) then returns
    /// `service`.
    pub response: Bins,
    /// Service times of the failed samples, µs.
    pub failed: Bins,
    pub phases: Phases,
    /// Number of samples by the slot of 100 ms in which they ended.
    pub slots: [u32; SLOTS],
}

/// Results of assertions on the responses of one label. All fields can be summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Number of responses on which at least one assertion ran.
    pub checked: u64,
    /// Number of responses with an assertion that did not hold.
    pub unexpected: u64,
    /// Number of failed samples minus the samples that failed by transport or status: the failures due to the content
    /// of responses. Negative if assertions ignore the status. Of a transaction: the failures without a failed request
    /// inside.
    pub by_content: i64,
}

impl Checked {
    /// Builds the results of assertions from the counts of a set of samples, of which `errors` failed.
    pub fn of(checks: &Checks, errors: u64) -> Self {
        let Checks { checked, unexpected, failed } = *checks;
        Self { checked, unexpected, by_content: errors.wrapping_sub(failed) as i64 }
    }

    /// Returns the counts of a set of samples, of which `errors` failed: the inverse of [`Self::of`].
    pub fn checks(&self, errors: u64) -> Checks {
        let Self { checked, unexpected, by_content } = *self;
        let failed = i64::try_from(errors).unwrap_or(i64::MAX).saturating_sub(by_content);
        Checks { checked, unexpected, failed: failed.max(0) as u64 }
    }

    pub fn merge(&mut self, other: &Self) {
        self.checked = self.checked.saturating_add(other.checked);
        self.unexpected = self.unexpected.saturating_add(other.unexpected);
        self.by_content = self.by_content.saturating_add(other.by_content);
    }
}

/// Sorts the results of assertions by label number and merges entries of the same label.
pub(crate) fn settle(checks: &mut Vec<(u32, Checked)>) {
    checks.sort_by_key(|one| one.0);
    checks.dedup_by(|next, one| {
        let same = one.0 == next.0;
        if same {
            one.1.merge(&next.1);
        }
        same
    });
}

/// Metrics of the exchanges of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    pub count: u64,
    pub errors: u64,
    /// Number of connections opened to the address; only for classes that are addresses.
    pub opened: u64,
    /// Number of retransmitted TCP segments; only for classes that are addresses.
    pub retransmitted: u64,
    /// Number of SYN segments among the retransmitted TCP segments; only for classes that are addresses.
    pub syn_retransmitted: u64,
    /// Service times of the exchanges, µs.
    pub service: Bins,
}

/// Metrics of the generator in one second, summed over all its processes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Generator {
    /// CPU time used by the generator, seconds.
    pub cpu_s: f64,
    /// Resident memory of the generator, bytes.
    pub memory: u64,
    /// Number of threads that run users.
    pub threads: u32,
    /// Number of worker processes; 0 for a run in one process.
    pub workers: u32,
    /// Time for which threads of the generator were runnable but did not run, seconds.
    pub run_queue_s: f64,
    /// Fraction of CPU time that the host withheld from the generator's machine.
    pub stolen: f64,
    /// Number of processors that the CPU quota of the control groups allows; 0 without a quota.
    pub quota: f64,
    /// Number of scheduler periods of the quota.
    pub quota_periods: u64,
    /// Number of scheduler periods in which the quota throttled the generator.
    pub quota_stopped: u64,
    /// Longest time in which no core ran although work was due, ns: a stopped process or a frozen machine.
    pub stall: u64,
    /// Number of connection attempts that were retries.
    pub connect_retries: u64,
    /// Number of local ports still available for the run's destinations.
    pub ports_left: Option<u64>,
    /// Number of sockets in TIME_WAIT.
    pub time_wait: u64,
    /// Number of result rows that wait for the writer thread.
    pub rows_waiting: u64,
    /// Time spent writing result rows, seconds.
    pub write_s: f64,
    /// Used and maximum size of the JVM's heap, bytes; `None` without a JVM.
    pub heap: Option<(u64, u64)>,
    /// Number of garbage collections that stopped the threads of the JVM.
    pub collections: u64,
    /// Total time of the garbage collections that stopped the threads of the JVM, seconds.
    pub collection_s: f64,
}

impl Second {
    /// Frees unused memory of a second, because a reader keeps many seconds.
    pub(crate) fn shrink(&mut self) {
        self.all.shrink();
        self.labels.pack();
        for bins in [&mut self.connect, &mut self.tls, &mut self.room, &mut self.lag] {
            bins.shrink();
        }
        self.closes.iter_mut().for_each(|close| close.idle_ms.shrink());
        self.classes.iter_mut().for_each(|class| class.1.service.shrink());
        self.stalled.response.shrink();
        self.causes.shrink_to_fit();
        self.classes.shrink_to_fit();
        self.closes.shrink_to_fit();
        self.watched.shrink_to_fit();
        self.checks.shrink_to_fit();
    }

    /// Returns the results of assertions for a label, or for all requests if `label` is `None`.
    pub fn checks_of(&self, label: Option<u32>, labels: &[Label]) -> Checks {
        let is_request = |number: u32| {
            labels.get(number as usize).is_none_or(|label: &Label| !label.transaction)
        };
        let is_meant = |number: u32| label.map_or_else(|| is_request(number), |one| one == number);
        let mut sum = Checked::default();
        self.checks.iter().filter(|one| is_meant(one.0)).for_each(|one| sum.merge(&one.1));
        let errors = match label {
            None => self.all.errors,
            Some(number) => self.labels.get(number).map_or(0, |part| part.errors),
        };
        sum.checks(errors)
    }
}

impl Second {
    /// Returns the counts of all transactions of the second. Records of older versions have no failures by the
    /// transactions' own assertions.
    pub fn transactions(&self, labels: &[Label]) -> Transactions {
        let mut sum = Transactions::default();
        let is_one =
            |number: u32| labels.get(number as usize).is_some_and(|label| label.transaction);
        for (number, count, errors) in self.labels.counts().filter(|one| is_one(one.0)) {
            let at = self.checks.binary_search_by_key(&number, |one| one.0);
            let checked = at.map_or_else(|_| Checked::default(), |at| self.checks[at].1);
            sum.merge(&Transactions::with(count, errors, checked.checks(errors)));
        }
        sum
    }
}

/// Parts are compared field by field. Response times that are not stored are taken from the service times.
impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |part: &Self| {
            let Self { count, errors, cut, sent, received, elapsed, longest, .. } = *part;
            [count, errors, cut, sent, received, elapsed, longest]
        };
        numbers(self) == numbers(other)
            && self.service == other.service
            && self.response() == other.response()
            && self.failed == other.failed
            && self.phases == other.phases
            && self.slots == other.slots
    }
}

impl Eq for Part {}

impl Part {
    /// Builds a part from the metrics of one label of a recorder.
    pub fn of(delta: &LabelDelta) -> Self {
        let tally = &delta.tally;
        Self {
            count: tally.count,
            errors: tally.errors,
            cut: tally.cut,
            sent: tally.sent,
            received: tally.received,
            elapsed: tally.sum_elapsed,
            longest: tally.max_elapsed,
            service: delta.service.clone(),
            response: delta.response.clone(),
            failed: delta.failed.clone(),
            phases: tally.phases,
            slots: delta.slots,
        }
    }

    /// Adds another set of samples. The operation is commutative and associative; the empty set is neutral.
    pub fn merge(&mut self, other: &Self) {
        self.add_numbers(other);
        if !self.response.is_empty() || !other.response.is_empty() {
            if self.response.is_empty() {
                self.response = self.service.clone();
            }
            self.response.merge(other.response());
        }
        self.service.merge(&other.service);
        self.failed.merge(&other.failed);
    }

    /// Adds all metrics of another set except its histograms.
    pub(crate) fn add_numbers(&mut self, other: &Self) {
        self.count = self.count.wrapping_add(other.count);
        self.errors = self.errors.wrapping_add(other.errors);
        self.cut = self.cut.wrapping_add(other.cut);
        self.sent = self.sent.wrapping_add(other.sent);
        self.received = self.received.wrapping_add(other.received);
        self.elapsed = self.elapsed.wrapping_add(other.elapsed);
        self.longest = self.longest.max(other.longest);
        self.phases.add(&other.phases);
        for (mine, theirs) in self.slots.iter_mut().zip(other.slots) {
            *mine = mine.wrapping_add(theirs);
        }
    }

    /// Returns the response times from the intended start, µs. Returns the service times if the response times are
    /// unknown or equal to them. A copy for each label and second would be a third of the memory of a record.
    pub fn response(&self) -> &Bins {
        if self.response.is_empty() { &self.service } else { &self.response }
    }

    /// Frees unused memory of the histograms.
    pub(crate) fn shrink(&mut self) {
        self.service.shrink();
        self.response.shrink();
        self.failed.shrink();
    }

    /// Returns the generator's share of the response time of these samples, and that response time, both in ns. Late
    /// starts and the overhead of a request are within its response time. The overhead of a sample whose end was only
    /// noticed late, such as a Java sample, comes after its response time. If the overhead exceeds the response time,
    /// the returned time is the sum of both.
    pub fn overhead(&self) -> (u64, u64) {
        let lag = self.phases.lag;
        let response = self.elapsed.saturating_add(self.phases.late);
        (lag, if lag > response { response.saturating_add(lag) } else { response })
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.cut == 0
    }
}

impl Class {
    /// Adds the metrics of another set of exchanges of the same class.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.wrapping_add(other.count);
        self.errors = self.errors.wrapping_add(other.errors);
        self.opened = self.opened.wrapping_add(other.opened);
        self.retransmitted = self.retransmitted.wrapping_add(other.retransmitted);
        self.syn_retransmitted = self.syn_retransmitted.wrapping_add(other.syn_retransmitted);
        self.service.merge(&other.service);
    }
}
