//! A list of bins to which many lists are added: additions are queued, and sorted into the list from time to time.
//!
//! An addition touches only the end of the queue. The list itself is usually not in a processor cache if there are
//! thousands of lists.

/// Minimum number of queued bins before they are sorted into the list.
pub(super) const MANY: usize = 512;

/// A list, and the queue of bins to add, in any order. A queued bin is packed into 64 bits: the bin above its count.
/// Without a queue, each addition would move half of a long list on average.
#[derive(Clone, Default)]
pub(super) struct Growing {
    list: Vec<(u32, u64)>,
    more: Vec<u64>,
}

impl Growing {
    /// Wraps a sorted list.
    pub(super) fn of(list: Vec<(u32, u64)>) -> Self {
        Self { list, more: Vec::new() }
    }

    /// Returns the list if no bins are queued.
    pub(super) fn settled(&self) -> Option<&[(u32, u64)]> {
        self.more.is_empty().then_some(&self.list)
    }

    /// Sorts queued bins in and returns the list.
    pub(super) fn list(&mut self) -> &mut Vec<(u32, u64)> {
        self.settle();
        &mut self.list
    }

    /// Empties list and queue but keeps their memory.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.more.clear();
    }

    /// Queues bins.
    pub(super) fn add(&mut self, bins: impl Iterator<Item = (u32, u64)>) {
        bins.for_each(|bin| self.push(bin));
        if self.more.len() >= self.list.len().max(MANY) {
            self.settle();
        }
    }

    #[inline]
    fn push(&mut self, (bin, count): (u32, u64)) {
        match packed(bin, count) {
            Some(packed) => self.more.push(packed),
            None => add_to(&mut self.list, bin, count),
        }
    }

    /// Sorts the queued bins into the list.
    pub(super) fn settle(&mut self) {
        let Self { list, more } = self;
        if more.is_empty() {
            return;
        }
        sort(more);
        // Bins that the list does not contain stay in `more`, each bin once.
        let (mut at, mut new) = (0, 0_usize);
        for next in 0..more.len() {
            let (bin, count) = unpacked(more[next]);
            while list.get(at).is_some_and(|mine| mine.0 < bin) {
                at += 1;
            }
            let last = new.checked_sub(1).map(|last| unpacked(more[last]));
            match (list.get_mut(at), last) {
                (Some(mine), _) if mine.0 == bin => mine.1 = mine.1.saturating_add(count),
                (_, Some(last)) if last.0 == bin => match packed(bin, last.1 + count) {
                    Some(packed) => more[new - 1] = packed,
                    None => {
                        new -= 1;
                        list.insert(at, (bin, last.1 + count));
                    }
                },
                _ => {
                    more[new] = more[next];
                    new += 1;
                }
            }
        }
        insert_new(list, new, more[..new].iter().map(|bin| unpacked(*bin)));
        more.clear();
    }

    /// Returns the number of bins in the list plus the number of queued bins.
    pub(super) fn len(&self) -> usize {
        self.list.len() + self.more.len()
    }
}

/// Packs a bin above its count; `None` if the count exceeds 32 bits.
#[inline]
fn packed(bin: u32, count: u64) -> Option<u64> {
    Some(u64::from(bin) << 32 | u64::from(u32::try_from(count).ok()?))
}

#[inline]
fn unpacked(packed: u64) -> (u32, u64) {
    ((packed >> 32) as u32, packed & u64::from(u32::MAX))
}

/// Sorts packed bins. Bins below 2^16, the usual case, are sorted by radix with two byte passes and without
/// comparisons.
pub(super) fn sort(bins: &mut [u64]) {
    const FROM: usize = 64;
    let most = bins.iter().fold(0, |most, bin| most | bin >> 32);
    if bins.len() < FROM || most > 0xffff {
        return bins.sort_unstable();
    }
    let byte = |bin: u64, which: usize| (bin >> (32 + 8 * which)) as usize & 0xff;
    let mut places = [[0_u32; 256]; 2];
    for bin in &*bins {
        places[0][byte(*bin, 0)] += 1;
        places[1][byte(*bin, 1)] += 1;
    }
    for places in &mut places {
        let mut before = 0;
        for place in places {
            before += std::mem::replace(place, before);
        }
    }
    let mut by_low = vec![0; bins.len()];
    let mut deal = |which: usize, from: &[u64], to: &mut [u64]| {
        for bin in from {
            let place = &mut places[which][byte(*bin, which)];
            to[*place as usize] = *bin;
            *place += 1;
        }
    };
    deal(0, bins, &mut by_low);
    deal(1, &by_low, bins);
}

/// Adds `count` to a bin of a sorted list.
pub(super) fn add_to(list: &mut Vec<(u32, u64)>, bin: u32, count: u64) {
    match list.binary_search_by_key(&bin, |entry| entry.0) {
        Ok(at) => list[at].1 = list[at].1.saturating_add(count),
        Err(at) => list.insert(at, (bin, count)),
    }
}

/// Inserts the bins of `theirs` that the sorted list does not contain; `new` is the number of these bins. Works from
/// the end, so each bin moves at most once.
pub(super) fn insert_new(
    list: &mut Vec<(u32, u64)>,
    mut new: usize,
    theirs: impl DoubleEndedIterator<Item = (u32, u64)>,
) {
    if new == 0 {
        return;
    }
    let mut from = list.len();
    list.resize(from + new, (0, 0));
    for their in theirs.rev() {
        while from > 0 && list[from - 1].0 > their.0 {
            from -= 1;
            list[from + new] = list[from];
        }
        if from > 0 && list[from - 1].0 == their.0 {
            continue;
        }
        new -= 1;
        list[from + new] = their;
        if new == 0 {
            return;
        }
    }
}
