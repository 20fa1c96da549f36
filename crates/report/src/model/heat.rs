//! The heat map: numbers of samples by instant and by class of time. The times are of the kind that criteria judge.

use answers::criterion::Times;
use answers::verdict::Words;
use record::Record;
use serde::Serialize;
use stats::hist::{Hist, layout};

use super::distribution::{class, edge};
use super::instants::Instant;
use super::words;
use crate::captions::time;

/// Largest number of classes of time. If there are more, classes are joined in pairs.
const MOST: usize = 48;

#[derive(Debug, Serialize)]
pub struct Heat {
    pub edges_us: Vec<f64>,
    /// Number of samples in each class of time, for each instant.
    pub counts: Vec<Vec<u64>>,
    pub caption: Words,
}

/// Builds the heat map; `None` without samples.
pub(super) fn heat(record: &Record, instants: &[Instant]) -> Option<Heat> {
    let mut all = Hist::new();
    let times = Times::judged(record);
    record.seconds.iter().for_each(|second| all.add(times.of(&second.all)));
    let classes = |hist: &Hist| -> Vec<(i32, u64)> {
        hist.iter().map(|(bin, n)| (class(layout::middle_of(bin)), n)).collect()
    };
    let found = classes(&all);
    let (low, high) = (found.first()?.0, found.last()?.0);
    let size = ((high - low + 1) as usize).div_ceil(MOST).max(1) as i32;
    let rows = ((high - low) / size + 1) as usize;
    let counts = instants.iter().map(|instant| {
        let mut row = vec![0; rows];
        for second in &record.seconds[instant.seconds.clone()] {
            for (bin, n) in times.of(&second.all).iter() {
                row[((class(layout::middle_of(bin)) - low) / size) as usize] += n;
            }
        }
        row
    });
    let of = times.word();
    let [half, most] = [0.5, 0.99].map(|p| time(all.quantile(p) as f64));
    Some(Heat {
        edges_us: (0..=rows as i32).map(|row| edge(low + row * size)).collect(),
        counts: counts.collect(),
        caption: words(
            format!(
                "Each cell is a class of {} times in one interval: the darker, the more samples. Half of all samples took at most {half}, 99 % at most {most}.",
                of.en
            ),
            format!(
                "每格为一个时间段内的一类{}时间，颜色越深样本越多。一半样本不超过 {half}，99 % 不超过 {most}。",
                of.zh
            ),
        ),
    })
}
