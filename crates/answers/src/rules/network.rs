//! Rules about the network: lost segments, and lines used to capacity.

use record::{Class, Part, Record, Second};
use stats::grouped::{bytes, count, percent};

use super::figures::{classes, mean, span, steady, sum, variation};
use super::light::missing_light_load;
use super::say::{found, lacks, words};
use super::timeouts;
use crate::verdict::{About, Confidence, Said, Words};

/// Smallest share of retransmitted segments for a finding.
const RETRANSMITS: f64 = 0.02;
/// Smallest number of retransmitted segments for a finding.
const RETRANSMITS_LEAST: u64 = 100;
/// Payload of a TCP segment in bytes.
const SEGMENT: u64 = 1448;
/// Smallest share of the machine's segments that the run must have sent, for the machine's counts to be used in place
/// of separate counts of the run.
const OWN_LEAST: f64 = 0.25;
/// Largest coefficient of variation, between blocks of seconds, of the bytes per second of a line used to capacity.
const FLAT: f64 = 0.05;
/// Length in seconds of a block of the run whose bytes per second are compared with those of other blocks. A period
/// shorter than [`SECONDS`] is divided into four blocks instead.
const BLOCK: usize = 10;
/// Smallest number of bytes per second of a line used to capacity.
const BYTES_LEAST: f64 = 1e6;
/// Smallest share of the response time spent in receiving, or in sending, at which a line counts as used to capacity.
const MOVING: f64 = 0.5;
/// Smallest number of seconds under the same load, for a finding.
const SECONDS: usize = 30;
/// Usual line speeds in Mbit/s.
const LINES: [f64; 8] = [10.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2500.0, 10_000.0];
/// Range of the payload rate of a saturated line, as a share of the line's speed.
const PAYLOAD: (f64, f64) = (0.88, 1.0);

/// Returns a lower bound of the segments that the run itself sent: one per request and per 1 448 bytes, and one
/// acknowledgement for two received segments.
fn own_segments(record: &Record) -> u64 {
    let seconds = &record.seconds;
    let (count, sent) = (sum(seconds, |s| s.all.count), sum(seconds, |s| s.all.sent));
    let received = sum(seconds, |s| s.all.received);
    count.max(sent / SEGMENT) + (received / SEGMENT).max(count) / 2
}

/// Returns the number of retransmitted segments, the number of all segments, and true if all of them belong to the run.
fn sent_again(record: &Record) -> (u64, u64, bool) {
    let machines = || record.seconds.iter().filter_map(|s| s.machine.as_ref());
    // An address that does not answer, or a full accept queue, causes retransmitted SYNs. These were not lost on
    // the network.
    let data = |all: u64, syn: u64| all.saturating_sub(syn);
    let again: u64 = machines().map(|m| data(m.retransmitted, m.syn_retransmitted)).sum();
    let out: u64 = machines().map(|m| m.segments_out).sum();
    let of_class = |class: &Class| data(class.retransmitted, class.syn_retransmitted);
    let own: u64 = classes(&record.seconds).iter().map(|class| of_class(&class.sum)).sum();
    let (counted, least) = (record.has.connections && own > 0, own_segments(record));
    if counted { (own, least.max(out.min(3 * least)), true) } else { (again, out, false) }
}

pub(super) fn network_loss(record: &Record) -> Said {
    let machines = || record.seconds.iter().filter_map(|s| s.machine.as_ref());
    if machines().next().is_none() {
        return lacks!(run: figures_of_generator_machine);
    }
    let (again, out, is_own) = sent_again(record);
    let share = again as f64 / (out + again).max(1) as f64;
    // Connects that a full accept queue refused were not lost on the network.
    let is_lossy = again >= RETRANSMITS_LEAST && share >= RETRANSMITS;
    // The kernel counts the segments of all programs. Without counts per destination, they are used if most belong to
    // the run.
    let is_of_run = is_own || own_segments(record) as f64 >= OWN_LEAST * out as f64;
    if !is_lossy || !is_of_run || timeouts::accept_queue(record).is_found() {
        return Said::Nothing;
    }
    let worst = classes(&record.seconds).into_iter().max_by_key(|class| class.sum.retransmitted);
    // Only some connections are sampled, so the share refers to the sampled ones.
    let seen: u64 = classes(&record.seconds).iter().map(|class| class.sum.retransmitted).sum();
    let to =
        worst.filter(|class| class.sum.retransmitted > seen / 2).and_then(|class| {
            match record.classes.get(class.name as usize) {
                Some(record::ClassName::Address(address)) => Some(address.to_string()),
                _ => None,
            }
        });
    let way = to.map_or_else(Default::default, |to| words!(most_sent_again_to(to)));
    let (n, of, part) = (count(again), count(out + again), percent(share));
    let whose = if is_own { words!(connections_of_own_run) } else { words!(generator_machine) };
    found(
        "network_loss",
        About::Run,
        Confidence::Arithmetic,
        words!(network_loss_found(n, of, whose, part, way)),
    )
    .with("retransmitted", share, "share", span(&record.seconds))
    .advise(words!(network_loss_advice))
    .explaining(&["bimodal"])
    .said()
}

/// Transfer in one direction that takes most of the response time.
pub(super) struct Moving {
    /// Rate of the transfer in bytes per second.
    pub rate: f64,
    /// Share of the response time that the transfer in this direction takes.
    pub share: f64,
    /// The direction: "receiving" or "sending".
    pub verb: Words,
}

/// Returns the direction in which most of the response time is spent, if its rate is constant and at least `least`
/// bytes per second.
pub(super) fn moving(seconds: &[Second], least: f64) -> Option<Moving> {
    let elapsed = sum(seconds, |s| s.all.elapsed).max(1) as f64;
    type Bytes = fn(&Part) -> u64;
    let block = if seconds.len() < SECONDS { (seconds.len() / 4).max(1) } else { BLOCK };
    let directions: [(Words, u64, Bytes); 2] = [
        (words!(bandwidth_receiving), sum(seconds, |s| s.all.phases.receive), |p| p.received),
        (words!(bandwidth_sending), sum(seconds, |s| s.all.phases.send), |p| p.sent),
    ];
    directions.into_iter().find_map(|(verb, time, of)| {
        let blocks: Vec<f64> = seconds
            .chunks_exact(block)
            .map(|block| sum(block, |s| of(&s.all)) as f64 / super::figures::length_s(block))
            .collect();
        let (rate, share) = (mean(&blocks), time as f64 / elapsed);
        let is_flat = share >= MOVING && rate >= least && variation(&blocks) <= FLAT;
        is_flat.then_some(Moving { rate, share, verb })
    })
}

pub(super) fn bandwidth(record: &Record) -> Said {
    if !record.has.phases {
        return lacks!(run: phases_of_requests);
    }
    let seconds = steady(record);
    if seconds.len() < SECONDS {
        return lacks!(thirty_seconds_of_same_load);
    }
    let Some(Moving { rate, share, verb }) = moving(seconds, BYTES_LEAST) else {
        return Said::Nothing;
    };
    let megabits = rate * 8.0 / 1e6;
    let line = LINES.into_iter().find(|line| {
        let part = megabits / line;
        part >= PAYLOAD.0 && part <= PAYLOAD.1
    });
    // Under a load that never changes, a target that sends slowly looks the same.
    if line.is_none()
        && let Some(lacks) = missing_light_load(record)
    {
        return Said::lacks_load(lacks);
    }
    let full = line.map(|line| words!(full_line(line))).unwrap_or_default();
    let (each, part) = (bytes(rate as u64), percent(share));
    // Bodies that are sent slowly on purpose have a constant rate as well.
    let (confidence, words) = if line.is_some() {
        let words = words!(bandwidth_line_is_full(each, line = full, part, verb));
        (Confidence::Statistical, words)
    } else {
        let words = words!(bandwidth_flat_rate(each, part, verb));
        (Confidence::Hint, words)
    };
    found("bandwidth", About::Target, confidence, words)
        .with("bytes_per_s", rate, "bytes/s", span(seconds))
        .with("moving_share", share, "share", span(seconds))
        .advise(words!(bandwidth_advice))
        .explaining(&["concurrency_limit", "plateau"])
        .said()
}
