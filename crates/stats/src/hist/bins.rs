//! A sorted, sparse list of (bin, count).
//!
//! Bins are strictly ascending and counts above zero, so equality is equality of the counts.
//! Merging two lists is linear; clearing keeps the memory. A list that was read from elsewhere is
//! refused if it breaks this.
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u32, u64)>")]
pub struct Bins(Vec<(u32, u64)>);

impl TryFrom<Vec<(u32, u64)>> for Bins {
    type Error = &'static str;

    fn try_from(list: Vec<(u32, u64)>) -> Result<Self, Self::Error> {
        let ascending = list.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !ascending || list.iter().any(|bin| bin.1 == 0) {
            return Err("the bins of a histogram are not in order");
        }
        Ok(Self(list))
    }
}

impl Bins {
    /// Appends a bin; it must lie above all others, and its count must not be zero.
    #[inline]
    pub(crate) fn push(&mut self, bin: u32, count: u64) {
        debug_assert!(count > 0 && self.0.last().is_none_or(|last| last.0 < bin));
        self.0.push((bin, count));
    }

    /// Counts a value's bin `count` times more, wherever it lies.
    pub fn add(&mut self, bin: u32, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.binary_search_by_key(&bin, |entry| entry.0) {
            Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(count),
            Err(at) => self.0.insert(at, (bin, count)),
        }
    }

    /// Number of bins.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, u64)> + '_ {
        self.0.iter().copied()
    }

    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, bin| bin.1.saturating_add(sum))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn merge(&mut self, other: &Self) {
        if other.0.is_empty() {
            return;
        }
        let mine = std::mem::take(&mut self.0);
        self.0.reserve(mine.len() + other.0.len());
        let (mut a, mut b) = (mine.into_iter().peekable(), other.0.iter().copied().peekable());
        while let (Some(&(i, n)), Some(&(j, m))) = (a.peek(), b.peek()) {
            match i.cmp(&j) {
                std::cmp::Ordering::Less => self.0.extend(a.next()),
                std::cmp::Ordering::Greater => self.0.extend(b.next()),
                std::cmp::Ordering::Equal => {
                    self.0.push((i, n.saturating_add(m)));
                    a.next();
                    b.next();
                }
            }
        }
        self.0.extend(a);
        self.0.extend(b);
    }
}
