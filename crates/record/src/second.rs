//! One second of a run, or of a long run an interval of many. Every part merges: over cores, processes, machines and
//! time.

use stats::close::Close;
use stats::hist::Bins;
use stats::machine::Machine;
use stats::snapshot::LabelDelta;
use stats::stalled::Stalled;
use stats::{Checks, Counters, Number};

use crate::Label;
use crate::coarse::Coarse;
use crate::labels::Labels;

/// Slots of a second, of 100 ms each.
pub use stats::snapshot::SLOTS;

pub use stats::Phases;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Second {
    /// Its end, epoch ms, and its length.
    pub at_ms: i64,
    pub ms: u32,
    /// Users active at its end; started in the run so far.
    pub users: u64,
    pub started: u64,
    /// Starts that a rate asked for in this second, and of those the ones that were not made.
    pub due: u64,
    pub missed: u64,
    /// Requests, without transactions.
    pub all: Part,
    pub labels: Labels,
    pub counters: Counters,
    /// Errors by number of the cause.
    pub causes: Vec<(u32, u64)>,
    /// Times of TCP connects that succeeded, µs.
    pub connect: Bins,
    /// Times of TLS handshakes, µs.
    pub tls: Bins,
    /// Waits for room in a pool, µs.
    pub room: Bins,
    /// Time of requests spent in this process, µs.
    pub lag: Bins,
    /// Connections of sessions that ended, by cause and code, with the silence before.
    pub closes: Vec<Close>,
    pub classes: Vec<(u32, Class)>,
    pub generator: Generator,
    /// The generator's machine as a whole.
    pub machine: Option<Machine>,
    /// Figures of hosts that were watched, by number of the series.
    pub watched: Vec<(u32, f64)>,
    /// Requests of these that were in flight, or were to start, while the generator stood still.
    pub stalled: Stalled,
    /// Extremes of the seconds of which this is the sum; `None`: it is one second, as it was measured.
    pub coarse: Option<Box<Coarse>>,
    /// Answers that assertions checked, by number of the label, ascending; labels without any are not there.
    pub checks: Vec<(u32, Checked)>,
    /// Numbers in answers, by place of the series ([`crate::Frame::series`]), ascending: those with a value.
    pub numbers: Vec<(u32, Number)>,
}

/// A set of samples.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub count: u64,
    pub errors: u64,
    /// Cut by the end of the run: in nothing else here.
    pub cut: u64,
    /// Bytes.
    pub sent: u64,
    pub received: u64,
    /// Sum and most of elapsed, ns.
    pub elapsed: u64,
    pub longest: u64,
    /// Elapsed of all, µs.
    pub service: Bins,
    /// From the intended start, µs. Empty where that is not known: [`response`](Self::response) then gives `service`.
    pub response: Bins,
    /// Elapsed of those that failed, µs.
    pub failed: Bins,
    pub phases: Phases,
    /// Samples by the slot of 100 ms in which they ended.
    pub slots: [u32; SLOTS],
}

/// Answers of a label that assertions checked. All of it adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Answers on which at least one assertion ran, and of them those for which one did not hold.
    pub checked: u64,
    pub unexpected: u64,
    /// Failed samples less those that failed by transport or status: those that failed by what was in their answers. Below 0
    /// where assertions ignore the status.
    pub by_content: i64,
}

impl Checked {
    /// The entry of samples of which so many failed.
    pub fn of(checks: &Checks, errors: u64) -> Self {
        let Checks { checked, unexpected, failed } = *checks;
        Self { checked, unexpected, by_content: errors.wrapping_sub(failed) as i64 }
    }

    /// The counts of samples of which so many failed.
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

/// Puts checks in the order of their labels; those of one label are one.
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

/// Exchanges of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    pub count: u64,
    pub errors: u64,
    /// Connections opened to it (addresses only).
    pub opened: u64,
    /// TCP segments that had to be sent again, and of those the ones that open connections (addresses only).
    pub retransmitted: u64,
    pub syn_retransmitted: u64,
    /// Elapsed, µs.
    pub service: Bins,
}

/// The generator in a second: all its processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Generator {
    /// Seconds of CPU.
    pub cpu_s: f64,
    /// Bytes resident.
    pub memory: u64,
    /// Threads that run users; worker processes, 0 where all is one process.
    pub threads: u32,
    pub workers: u32,
    /// Time that its threads were ready to run and were not let, seconds; and what the host took from the machine, share.
    pub run_queue_s: f64,
    pub stolen: f64,
    /// Processors that the CPU quota of its control groups allows, 0 without one; periods of the scheduler, and those of
    /// them in which the quota stopped it.
    pub quota: f64,
    pub quota_periods: u64,
    pub quota_stopped: u64,
    /// Longest time in which no core ran although it had to, ns: a stopped process, a frozen machine.
    pub stall: u64,
    /// Connects that were tried again.
    pub connect_retries: u64,
    /// Ports that can still be had for the run's destinations, and those in TIME_WAIT.
    pub ports_left: Option<u64>,
    pub time_wait: u64,
    /// Rows that wait for the writer, and time in which rows were being written, seconds.
    pub rows_waiting: u64,
    pub write_s: f64,
    /// The Java machine, where there is one: heap in use and at most, bytes; collections that stop its threads, and the
    /// time in them, seconds.
    pub heap: Option<(u64, u64)>,
    pub collections: u64,
    pub collection_s: f64,
}

impl Second {
    /// Gives back the memory that it can do without: one of many that are kept.
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

    /// The checked answers of a label, or of all requests.
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

/// Parts are equal whether or not one has response times of its own that are those of the service.
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
    /// The part that a recorder's label has measured.
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

    /// Adds another set. Commutative and associative; the empty set changes nothing.
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

    /// Adds all of another set but its histograms.
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

    /// Times from the intended start, µs; from the actual one where no other is known, or all are the same. A copy for each
    /// label and second would be a third of a record in memory.
    pub fn response(&self) -> &Bins {
        if self.response.is_empty() { &self.service } else { &self.response }
    }

    /// Gives back memory that nothing uses.
    pub(crate) fn shrink(&mut self) {
        self.service.shrink();
        self.response.shrink();
        self.failed.shrink();
    }

    /// The generator's part of the response time of these samples, and that time, both ns. Late starts and the overhead of a
    /// request are within its response time; that of a sample which was only noticed late, as one of Java, lies behind it.
    /// Where the overhead is larger than the response time, the time is the sum of both.
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
    /// Adds another set of exchanges of the same class.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.wrapping_add(other.count);
        self.errors = self.errors.wrapping_add(other.errors);
        self.opened = self.opened.wrapping_add(other.opened);
        self.retransmitted = self.retransmitted.wrapping_add(other.retransmitted);
        self.syn_retransmitted = self.syn_retransmitted.wrapping_add(other.syn_retransmitted);
        self.service.merge(&other.service);
    }
}
