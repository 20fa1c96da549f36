//! A list of bins to which many others are added: what comes waits behind the list, and is put in order from time to time.
//!
//! An addition fetches the end of what waits, not the list, which is in no processor's cache where there are thousands of
//! them.

/// So much waits at least before it is put in order: its end alone is looked at by each addition, the list by none.
pub(super) const MANY: usize = 512;

/// A list, and bins that are to be added to it, in any order: the bin above its count. Each addition would move half of a
/// long list otherwise.
#[derive(Clone, Default)]
pub(super) struct Growing {
    list: Vec<(u32, u64)>,
    more: Vec<u64>,
}

impl Growing {
    /// A list that is in order.
    pub(super) fn of(list: Vec<(u32, u64)>) -> Self {
        Self { list, more: Vec::new() }
    }

    /// The list, if nothing waits.
    pub(super) fn settled(&self) -> Option<&[(u32, u64)]> {
        self.more.is_empty().then_some(&self.list)
    }

    /// The list, when nothing waits.
    pub(super) fn list(&mut self) -> &mut Vec<(u32, u64)> {
        self.settle();
        &mut self.list
    }

    /// Empties it and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.more.clear();
    }

    /// Takes more bins.
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

    /// Adds what waits to the list.
    pub(super) fn settle(&mut self) {
        let Self { list, more } = self;
        if more.is_empty() {
            return;
        }
        sort(more);
        // What the list does not have stays, each bin once.
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

    /// Bins of the list, and of what waits.
    pub(super) fn len(&self) -> usize {
        self.list.len() + self.more.len()
    }
}

/// A bin above its count, if that is not too large.
#[inline]
fn packed(bin: u32, count: u64) -> Option<u64> {
    Some(u64::from(bin) << 32 | u64::from(u32::try_from(count).ok()?))
}

#[inline]
fn unpacked(packed: u64) -> (u32, u64) {
    ((packed >> 32) as u32, packed & u64::from(u32::MAX))
}

/// Puts packed bins in order: below 2^16, as most are, by their two bytes, which compares nothing.
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

/// Counts a bin of a sorted list `count` times more.
pub(super) fn add_to(list: &mut Vec<(u32, u64)>, bin: u32, count: u64) {
    match list.binary_search_by_key(&bin, |entry| entry.0) {
        Ok(at) => list[at].1 = list[at].1.saturating_add(count),
        Err(at) => list.insert(at, (bin, count)),
    }
}

/// Moves the bins of a list apart, so that the `new` ones of `theirs` which it does not have find their places.
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
