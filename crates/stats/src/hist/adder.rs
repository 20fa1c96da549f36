//! Sums many lists of bins.
//!
//! Merging a list into a sorted sum costs the length of the sum. Here each bin costs one addition, however long the sum
//! is. The counts are in one array of 220 KB, which is emptied by `take` and reused. A bitmap marks the bins with
//! counts, so that reading a short sum costs little.
use super::{Bins, layout};

const BINS: usize = layout::BINS as usize;
const WORD: usize = u64::BITS as usize;

#[derive(Clone, Debug, Default)]
pub struct Adder {
    /// The count of each bin. The list is empty until the first bin is added.
    counts: Vec<u64>,
    /// One bit per bin, set if the bin has counts.
    touched: Vec<u64>,
}

impl Adder {
    /// Adds the bins of a list.
    pub fn add(&mut self, bins: &Bins) {
        self.add_each(bins.iter());
    }

    /// Adds bins with their counts, in any order.
    #[inline]
    pub(super) fn add_each(&mut self, bins: impl Iterator<Item = (u32, u64)>) {
        if self.counts.is_empty() {
            self.counts.resize(BINS, 0);
            self.touched.resize(BINS.div_ceil(WORD), 0);
        }
        for (bin, n) in bins {
            let bin = (bin as usize).min(BINS - 1);
            self.counts[bin] = self.counts[bin].saturating_add(n);
            self.touched[bin / WORD] |= 1 << (bin % WORD);
        }
    }

    /// Adds the counts of another adder.
    pub fn add_sum(&mut self, other: &Self) {
        let words = other.touched.iter().enumerate().filter(|(_, word)| **word > 0);
        let bins = words.flat_map(|(at, _)| at * WORD..((at + 1) * WORD).min(BINS));
        let counts = bins.map(|bin| (bin as u32, other.counts[bin])).filter(|bin| bin.1 > 0);
        self.add_each(counts);
    }

    pub fn is_empty(&self) -> bool {
        self.touched.iter().all(|word| *word == 0)
    }

    /// Returns the sum as a packed list and empties the adder.
    pub fn take(&mut self) -> Bins {
        let length: u32 = self.touched.iter().map(|word| word.count_ones()).sum();
        let counts = &mut self.counts;
        let words = self.touched.iter_mut().enumerate();
        let bins = words.flat_map(|(at, word)| {
            let mut word = std::mem::take(word);
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                // Clears the lowest set bit.
                (word > 0).then(|| word &= word - 1)?;
                Some(at * WORD + bit)
            })
        });
        Bins::of_ascending(
            length as usize,
            bins.map(|bin| (bin as u32, std::mem::take(&mut counts[bin]))),
        )
    }
}
