//! Determines the moment of the first failure of some kind in a run.
//!
//! The seconds of a record need not start with the seconds of the run: a failure in the first half of a recorded
//! second may belong to the previous second of the run. The record keeps the first samples of each cause with their
//! times; the end of such a sample is the exact moment.

use record::{Kept, Record};

/// Largest error in ms of a kept sample's end, because its start and length are rounded to milliseconds.
const ROUNDING_MS: i64 = 2;

/// Returns the end of the first kept sample for which `is` is true, in a second of the record, epoch ms. Without such a
/// sample, returns the second of the run that overlaps most with the record's second.
pub(super) fn first_end(record: &Record, at: usize, is: impl Fn(&Kept) -> bool) -> i64 {
    first(record, at, is).map_or_else(|| second_of(record, at), end)
}

/// Returns the start of the first kept sample for which `is` is true, in a second of the record, epoch ms. From that
/// moment on, the target did not fulfil the request of the sample.
pub(super) fn first_start(record: &Record, at: usize, is: impl Fn(&Kept) -> bool) -> i64 {
    first(record, at, is).map_or_else(|| second_of(record, at), |kept| kept.start_ms)
}

fn end(kept: &Kept) -> i64 {
    kept.start_ms + (kept.elapsed / 1_000_000) as i64
}

fn first(record: &Record, at: usize, is: impl Fn(&Kept) -> bool) -> Option<&Kept> {
    let second = record.seconds.get(at)?;
    let begin_ms = second.at_ms - i64::from(second.ms);
    let within = begin_ms - ROUNDING_MS..=second.at_ms + ROUNDING_MS;
    record
        .kept
        .iter()
        .filter(|kept| is(kept) && within.contains(&end(kept)))
        .min_by_key(|kept| end(kept))
}

fn second_of(record: &Record, at: usize) -> i64 {
    let start_ms = record.frame.start_ms;
    let Some(second) = record.seconds.get(at) else { return start_ms };
    let begin_ms = second.at_ms - i64::from(second.ms);
    start_ms + (begin_ms - start_ms + 500).div_euclid(1000) * 1000
}

#[cfg(test)]
mod tests {
    use record::Second;

    use super::*;

    const HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads\n";

    /// Returns a record of ten seconds with a sample every 50 ms, each 20 ms long; samples that end at `from_ms` or
    /// later fail.
    fn failing(start_ms: i64, from_ms: i64) -> Record {
        let row = |at: i64| {
            let is_good = at + 20 < from_ms;
            let code = if is_good { 200 } else { 503 };
            format!("{},20,a,{code},m,{is_good},5\n", start_ms + at)
        };
        let rows: String = (0..200).map(|n| row(n * 50)).collect();
        Record::of_rows((HEAD.to_owned() + &rows).as_bytes()).expect("rows")
    }

    #[test]
    fn errors_are_told_with_the_second_in_which_the_first_ended() {
        for shift in [0, 1, 228, 500, 999] {
            for (from_ms, clock) in
                [(5_001, "0:05"), (5_960, "0:05"), (6_020, "0:06"), (8_000, "0:08")]
            {
                let mut record = failing(1_700_000_000_000 + shift, from_ms);
                let said = |record: &Record| {
                    let found = crate::rules::verdict(record).findings;
                    found.iter().map(|one| one.words.en.clone()).collect::<Vec<_>>().join(" ")
                };
                let words = said(&record);
                assert!(words.contains(&format!("(since {clock},")), "{shift} {from_ms}: {words}");
                // The run starts some milliseconds before its first sample, so its seconds do not coincide with
                // those of the record.
                record.frame.start_ms -= 8;
                let words = said(&record);
                assert!(words.contains(&format!("(since {clock},")), "{shift} {from_ms}: {words}");
            }
        }
    }

    #[test]
    fn without_a_kept_sample_most_of_the_second_decides() {
        let mut record = Record::default();
        record.frame.start_ms = 10_000;
        for (at_ms, second) in [(18_980, 8_000), (18_700, 8_000), (18_300, 7_000), (19_000, 8_000)]
        {
            record.seconds = vec![Second { at_ms, ms: 1000, ..Second::default() }];
            assert_eq!(first_end(&record, 0, |_| true) - 10_000, second, "{at_ms}");
        }
    }
}
