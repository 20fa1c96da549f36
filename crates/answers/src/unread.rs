//! Samples that are missing from the metrics because a part of the file could not be read, and their possible
//! effect.
//!
//! Lost samples are of unknown kind: all or none of them may have failed, and all may be the slowest. An incomplete
//! last row is no loss: the run was ended while it wrote the row.

use record::{Flaw, Record};
use stats::grouped::things;

use crate::verdict::Words;

/// Share of lost samples from which a run is not judged.
pub const MOST_UNREAD: f64 = 0.01;

/// Samples of one side of a comparison that could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unread {
    /// Lost rows; for a damaged record, the number of requests estimated for its missing time.
    pub lost: u64,
    /// Number of all samples, read and lost.
    pub all: u64,
    /// True if the file is a damaged archive, so that the number of lost samples is unknown.
    pub is_open: bool,
    /// True if the lost samples were counted as rows, not estimated.
    are_rows: bool,
}

impl Unread {
    /// Counts the lost samples of the given runs.
    pub fn of(records: &[Record]) -> Self {
        let mut unread = Self { are_rows: true, ..Self::default() };
        for record in records {
            unread.add(record);
        }
        unread
    }

    fn add(&mut self, record: &Record) {
        let read: u64 = record.seconds.iter().map(|second| second.all.count).sum();
        let mut lost = 0;
        for flaw in &record.flaws {
            match flaw {
                Flaw::Rows { rows, .. } => lost += rows,
                Flaw::DamagedArchive => self.is_open = true,
                Flaw::Damaged { missing_ms, .. } if *missing_ms > 0 => {
                    let rest = (record.frame.length_ms - missing_ms).max(1);
                    lost += (read as f64 * *missing_ms as f64 / rest as f64) as u64;
                    self.are_rows = false;
                }
                _ => {}
            }
        }
        self.lost += lost;
        self.all += read + lost;
    }

    /// Returns the share of lost samples among all samples.
    pub fn share(&self) -> f64 {
        self.lost as f64 / self.all.max(1) as f64
    }

    /// Describes the loss in a phrase.
    pub fn words(&self) -> Words {
        let Words { en, zh } = self.lost_words();
        if self.is_open {
            return Words { en, zh };
        }
        let they = if self.are_rows && self.lost == 1 { "it" } else { "they" };
        Words {
            en: format!("{en}, and {they} could change the answer"),
            zh: format!("{zh}，可能改变结论"),
        }
    }

    /// Describes the number of lost samples in a phrase.
    pub fn lost_words(&self) -> Words {
        if self.is_open {
            return Words {
                en: "the compressed file is damaged or ends early, and how many rows are lost is unknown".into(),
                zh: "压缩文件已损坏或不完整，丢失的行数未知".into(),
            };
        }
        let (lost, all) = (self.lost, self.all);
        let (en, zh) = if self.are_rows {
            let (rows, all) = (things(lost, "row"), stats::grouped::count(all));
            (
                format!("{rows} of {all} could not be read"),
                format!("{all} 行中有 {lost} 行无法读取"),
            )
        } else {
            (
                format!(
                    "about {} of {} lie in damaged parts of the record",
                    stats::grouped::count(lost),
                    things(all, "request")
                ),
                format!("{all} 个请求中约有 {lost} 个位于记录的损坏部分"),
            )
        };
        Words { en, zh }
    }
}

/// Returns the reason why a run is not judged when too much of its record is missing.
pub fn undecided(record: &Record) -> Option<Words> {
    let unread = Unread::of(std::slice::from_ref(record));
    (unread.is_open || unread.share() > MOST_UNREAD).then(|| unread.words())
}

#[cfg(test)]
mod tests {
    use record::Second;

    use super::*;

    fn with(flaws: Vec<Flaw>) -> Record {
        let mut second = Second { ms: 1000, ..Second::default() };
        second.all.count = 1000;
        let mut record = Record { seconds: vec![second], flaws, ..Record::default() };
        record.frame.length_ms = 2000;
        record
    }

    fn rows(rows: u64) -> Flaw {
        Flaw::Rows { rows, first_line: 2, why: None }
    }

    #[test]
    fn a_torn_end_and_few_rows_leave_a_run_judged() {
        for flaws in [vec![], vec![Flaw::TornEnd { bytes: 40 }], vec![rows(10)]] {
            assert_eq!(undecided(&with(flaws.clone())), None, "{flaws:?}");
        }
    }

    #[test]
    fn lost_rows_and_time_leave_a_run_undecided() {
        for (flaw, words) in [
            (rows(11), "11 rows of 1 011 could not be read, and they could change the answer"),
            (rows(1000), "1 000 rows of 2 000 could not be read, and they could change the answer"),
            (
                Flaw::DamagedArchive,
                "the compressed file is damaged or ends early, and how many rows are lost is unknown",
            ),
            (
                Flaw::Damaged { bytes: 9, places: 1, missing_ms: 1000 },
                "about 1 000 of 2 000 requests lie in damaged parts of the record, and they could change the answer",
            ),
        ] {
            assert_eq!(undecided(&with(vec![flaw])).map(|why| why.en).as_deref(), Some(words));
        }
    }
}
