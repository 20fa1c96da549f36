//! A histogram of microseconds in pages of 64 bins. Pages are allocated at their first use.
//!
//! Adding a snapshot's bins costs one addition per bin. Memory is 512 bytes per used page, a few tens of KB for a
//! typical spread of response times. A histogram with few bins is a sorted list, because a run may have ten thousand
//! labels with a few samples each.
use serde::{Deserialize, Serialize};

use super::{Bins, layout};

const PAGE: usize = 64;
/// Maximum number of bins that are kept as a list.
const FEW: usize = 64;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(u32, u64)>", into = "Vec<(u32, u64)>")]
pub struct Hist {
    /// All bins while there are no pages.
    few: Bins,
    pages: Vec<Option<Box<[u64; PAGE]>>>,
    total: u64,
}

impl From<Vec<(u32, u64)>> for Hist {
    fn from(bins: Vec<(u32, u64)>) -> Self {
        let mut hist = Self::default();
        bins.into_iter().filter(|(_, n)| *n > 0).for_each(|(bin, n)| hist.add_bin(bin, n));
        hist
    }
}

impl From<Hist> for Vec<(u32, u64)> {
    fn from(hist: Hist) -> Self {
        hist.iter().collect()
    }
}

impl Hist {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value in µs `n` times.
    pub fn record(&mut self, value: u64, n: u64) {
        self.add_bin(layout::index_of(value), n);
    }

    pub fn add(&mut self, bins: &Bins) {
        self.add_each(bins.iter());
    }

    /// Adds bins with their counts. For many bins, ascending order is faster.
    fn add_each(&mut self, mut bins: impl Iterator<Item = (u32, u64)>) {
        while self.pages.is_empty() {
            let Some((bin, n)) = bins.next() else { return };
            self.add_bin(bin, n);
        }
        // Consecutive bins usually lie in the same page, so the page is looked up only when it changes.
        let Some(mut next) = bins.next() else { return };
        loop {
            let number = next.0.min(layout::BINS - 1) as usize / PAGE;
            let (page, total) = self.page(number);
            loop {
                let bin = next.0.min(layout::BINS - 1) as usize;
                if bin / PAGE != number {
                    break;
                }
                page[bin % PAGE] = page[bin % PAGE].saturating_add(next.1);
                *total = total.saturating_add(next.1);
                let Some(more) = bins.next() else { return };
                next = more;
            }
        }
    }

    /// Subtracts bins that were added before.
    pub fn subtract(&mut self, bins: &Bins) {
        let few = std::mem::take(&mut self.few);
        few.iter().for_each(|(bin, n)| self.add_to_page(bin as usize, n));
        for (bin, n) in bins.iter() {
            let bin = bin.min(layout::BINS - 1) as usize;
            let (page, total) = self.page(bin / PAGE);
            let count = &mut page[bin % PAGE];
            let taken = n.min(*count);
            *count -= taken;
            *total -= taken;
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (bin, n) in other.iter() {
            self.add_bin(bin, n);
        }
    }

    /// Returns the number of recorded values.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the value in µs that a share `quantile` (0 to 1) of all values does not exceed, to three significant
    /// digits. Nearest rank as in HdrHistogram: the rank is the quantile times the count, rounded up.
    pub fn quantile(&self, quantile: f64) -> u64 {
        let rank = ((quantile.clamp(0.0, 1.0) * self.total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (bin, n) in self.few.iter() {
            seen = u64::saturating_add(seen, n);
            if seen >= rank {
                return layout::highest_of(bin);
            }
        }
        let pages = self.pages.iter().enumerate();
        for (number, page) in pages.filter_map(|(number, page)| Some((number, page.as_ref()?))) {
            let before = seen;
            seen = page.iter().fold(seen, |sum, n| sum.saturating_add(*n));
            if seen >= rank {
                let mut seen = before;
                let is_reached = |n: &u64| {
                    seen = seen.saturating_add(*n);
                    seen >= rank
                };
                let place = page.iter().position(is_reached).unwrap_or(PAGE - 1);
                return layout::highest_of((number * PAGE + place) as u32);
            }
        }
        0
    }

    /// Returns the values of several quantiles; see [`Self::quantile`].
    pub fn quantiles<const K: usize>(&self, quantiles: [f64; K]) -> [u64; K] {
        quantiles.map(|q| self.quantile(q))
    }

    pub fn mean(&self) -> f64 {
        if self.total == 0 {
            return 0.0;
        }
        let sum: f64 = self.iter().map(|(bin, n)| layout::middle_of(bin) as f64 * n as f64).sum();
        sum / self.total as f64
    }

    pub fn clear(&mut self) {
        for page in self.pages.iter_mut().flatten() {
            page.fill(0);
        }
        self.few.clear();
        self.total = 0;
    }

    /// Returns the bins that have counts in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let pages = self.pages.iter().enumerate().flat_map(|(p, page)| {
            page.iter().flat_map(move |page| {
                let first = p * PAGE;
                (first..).zip(page.iter()).filter(|b| *b.1 > 0).map(|(i, n)| (i as u32, *n))
            })
        });
        self.few.iter().chain(pages)
    }

    fn add_bin(&mut self, bin: u32, n: u64) {
        let bin = bin.min(layout::BINS - 1);
        self.total = self.total.saturating_add(n);
        if self.pages.is_empty() {
            self.few.add(bin, n);
            if self.few.len() > FEW {
                let few = std::mem::take(&mut self.few);
                few.iter().for_each(|(bin, n)| self.add_to_page(bin as usize, n));
            }
        } else {
            self.add_to_page(bin as usize, n);
        }
    }

    fn add_to_page(&mut self, bin: usize, n: u64) {
        let count = &mut self.page(bin / PAGE).0[bin % PAGE];
        *count = count.saturating_add(n);
    }

    /// Returns a page, and the field for the total number of values.
    fn page(&mut self, number: usize) -> (&mut [u64; PAGE], &mut u64) {
        if number >= self.pages.len() {
            self.pages.resize(number + 1, None);
        }
        let page = self.pages[number].get_or_insert_with(|| Box::new([0; PAGE]));
        (page, &mut self.total)
    }
}
