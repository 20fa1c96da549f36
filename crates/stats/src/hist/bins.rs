//! A sorted, sparse list of (bin, count).
//!
//! Bins are strictly ascending and counts are above zero, so two lists are equal exactly if their counts are equal.
//! Merging two lists is linear; clearing keeps the memory. A list that is read from outside is rejected if it is not in
//! this form. [`Bins::shrink`] packs a list that is kept for long: a bin then usually takes 2 bytes instead of 16, and
//! a few more instructions to read. A list to which many lists are added queues additions; they are sorted in from time
//! to time, or by [`Bins::settle`].
use std::fmt;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::growing::{Growing, MANY, add_to, insert_new};
use super::{Adder, layout};

/// Ratio of the lengths of two lists above which the shorter list counts as short. The bins of a short list are queued
/// or added one by one, instead of merging both lists.
const FEW_OF: usize = 8;
/// Minimum length of a list that queues short additions. In shorter lists, additions are inserted immediately.
const LONG: usize = 8;
/// Maximum capacity that is reserved for an announced length, because the announced length may be wrong.
const ROOM: usize = 64;

/// Error message for an invalid list.
const ODD: &str = "the bins of a histogram are not in order";

#[derive(Clone, Default)]
pub struct Bins(Form);

#[derive(Clone)]
enum Form {
    List(Vec<(u32, u64)>),
    /// Numbers with 7 bits per byte, the lowest bits first. The first number is the number of bins. Each bin follows as
    /// its distance from the previous bin, doubled, plus one if its count follows. Without a count, the count is 1.
    Packed(Box<[u8]>),
    Growing(Growing),
}

impl Default for Form {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// Lists the bins, in whatever form they are stored.
impl fmt::Debug for Bins {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Bins {
    fn eq(&self, other: &Self) -> bool {
        let is_same = match (&self.0, &other.0) {
            (Form::Packed(mine), Form::Packed(theirs)) => mine == theirs,
            _ => false,
        };
        is_same || self.iter().eq(other.iter())
    }
}

impl Eq for Bins {}

impl Serialize for Bins {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl TryFrom<Vec<(u32, u64)>> for Bins {
    type Error = &'static str;

    fn try_from(list: Vec<(u32, u64)>) -> Result<Self, Self::Error> {
        let ascending = list.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !ascending || list.iter().any(|bin| bin.1 == 0) {
            return Err(ODD);
        }
        Ok(Self(Form::List(list)))
    }
}

impl<'de> Deserialize<'de> for Bins {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut bins = Self::default();
        Read(&mut bins).deserialize(from)?;
        Ok(bins)
    }
}

/// Deserializer that fills an existing list of bins and reuses the list's memory.
pub(crate) struct Read<'a>(pub(crate) &'a mut Bins);

impl<'de> DeserializeSeed<'de> for Read<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.0.clear();
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Read<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("bins with their counts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut bins: A) -> Result<(), A::Error> {
        let list = match &mut self.0.0 {
            Form::List(list) => list,
            Form::Growing(growing) => growing.list(),
            Form::Packed(_) => return Err(A::Error::custom(ODD)),
        };
        // The announced number of bins may be wrong.
        list.reserve(bins.size_hint().unwrap_or(0).min(ROOM));
        while let Some((bin, count)) = bins.next_element::<(u32, u64)>()? {
            if count == 0 || list.last().is_some_and(|last| last.0 >= bin) {
                return Err(A::Error::custom(ODD));
            }
            list.push((bin, count));
        }
        Ok(())
    }
}

impl Bins {
    /// Appends a bin. The new bin must lie above all bins of the list, and its count must not be zero.
    #[inline]
    pub(crate) fn push(&mut self, bin: u32, count: u64) {
        self.change(|list| {
            debug_assert!(count > 0 && list.last().is_none_or(|last| last.0 < bin));
            list.push((bin, count));
        });
    }

    /// Adds `count` to the count of a bin.
    pub fn add(&mut self, bin: u32, count: u64) {
        if count == 0 {
            return;
        }
        self.change(|list| add_to(list, bin, count));
    }

    /// Returns the number of bins.
    pub fn len(&self) -> usize {
        self.list().map_or_else(|| self.iter().len(), <[_]>::len)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, u64)> + '_ {
        match &self.0 {
            Form::List(list) => Iter::List(list.iter()),
            Form::Packed(bytes) => {
                let mut rest = &**bytes;
                let left = number(&mut rest) as usize;
                Iter::Packed { rest, left, before: 0 }
            }
            Form::Growing(growing) => match growing.settled() {
                Some(list) => Iter::List(list.iter()),
                None => Iter::Settled(std::mem::take(growing.clone().list()).into_iter()),
            },
        }
    }

    pub fn total(&self) -> u64 {
        self.iter().fold(0, |sum, bin| bin.1.saturating_add(sum))
    }

    /// Returns the value in µs that a share `quantile` (0 to 1) of all values does not exceed. Returns the same result
    /// as [`super::Hist::quantile`], without building a histogram.
    pub fn quantile(&self, quantile: f64) -> u64 {
        let rank = ((quantile.clamp(0.0, 1.0) * self.total() as f64).ceil() as u64).max(1);
        let mut seen = 0_u64;
        let bin = self.iter().find(|(_, n)| {
            seen = seen.saturating_add(*n);
            seen >= rank
        });
        bin.map_or(0, |(bin, _)| layout::highest_of(bin.min(layout::BINS - 1)))
    }

    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Form::List(list) => list.is_empty(),
            Form::Growing(growing) => growing.len() == 0,
            // An empty list is never packed.
            Form::Packed(_) => false,
        }
    }

    pub fn clear(&mut self) {
        match &mut self.0 {
            Form::List(list) => list.clear(),
            Form::Packed(_) => *self = Self::default(),
            Form::Growing(growing) => growing.clear(),
        }
    }

    /// Sorts queued additions into the list, so that later reads need no copy.
    pub fn settle(&mut self) {
        if let Form::Growing(growing) = &mut self.0 {
            growing.settle();
        }
    }

    /// Releases spare memory by packing the list. A later addition unpacks it.
    pub fn shrink(&mut self) {
        self.settle();
        let Some(list) = self.list() else { return };
        *self = Self::of_ascending(list.len(), list.iter().copied());
    }

    /// Packs `length` bins in ascending order with counts above zero.
    pub(super) fn of_ascending(length: usize, bins: impl Iterator<Item = (u32, u64)>) -> Self {
        if length == 0 {
            return Self::default();
        }
        let mut bytes = Vec::with_capacity(2 + 2 * length);
        push_number(&mut bytes, length as u64);
        let mut before = 0;
        for (bin, count) in bins {
            push_number(&mut bytes, u64::from(bin - before) << 1 | u64::from(count != 1));
            if count != 1 {
                push_number(&mut bytes, count);
            }
            before = bin;
        }
        Self(Form::Packed(bytes.into_boxed_slice()))
    }

    /// Returns the packed form, if the list has that form: numbers with 7 bits per byte, the lowest bits first. The
    /// first number is the number of bins. Each bin follows as its distance from the previous bin, doubled, plus one if
    /// its count follows. Without a count, the count is 1.
    pub fn packed(&self) -> Option<&[u8]> {
        match &self.0 {
            Form::Packed(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Reads a packed list from the front of `bytes` without unpacking it. Returns `None` if the bytes are not a valid
    /// list; they are consumed in that case too.
    pub fn take_packed(bytes: &mut &[u8]) -> Option<Self> {
        let taken = Self::pass_packed(bytes)?;
        let is_empty = number(&mut &*taken) == 0;
        Some(if is_empty { Self::default() } else { Self(Form::Packed(taken.into())) })
    }

    /// Skips a packed list and returns its bytes; `None` if they are not a valid list.
    pub fn pass_packed<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
        let whole = *bytes;
        let mut is_whole = true;
        let mut next = |bytes: &mut &[u8]| {
            let found = checked_number(bytes);
            is_whole &= found.is_some();
            found.unwrap_or_default()
        };
        let length = next(bytes);
        let (mut bin, mut is_ordered) = (0_u64, true);
        for at in 0..length {
            if bytes.is_empty() {
                is_whole = false;
                break;
            }
            let step = next(bytes);
            let count = if step & 1 == 1 { next(bytes) } else { 1 };
            is_ordered &= count > 0 && (at == 0 || step > 1);
            bin = bin.saturating_add(step >> 1);
        }
        if !is_whole || !is_ordered || bin >= u64::from(layout::BINS) {
            return None;
        }
        Some(&whole[..whole.len() - bytes.len()])
    }

    /// Adds a valid packed list to a sum and consumes its bytes.
    pub fn add_packed(bytes: &mut &[u8], sum: &mut Adder) {
        let mut rest = *bytes;
        let left = number(&mut rest) as usize;
        let mut bins = Iter::Packed { rest, left, before: 0 };
        sum.add_each(&mut bins);
        if let Iter::Packed { rest, .. } = bins {
            *bytes = rest;
        }
    }

    /// Merges another list. Allocates only if the list grows beyond its earlier capacity, and temporarily to sort
    /// queued additions.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        let theirs = other.len();
        match &mut self.0 {
            // The list is empty and has no capacity: a copy of a packed list stays packed.
            Form::List(list) if list.capacity() == 0 && other.packed().is_some() => {
                return self.clone_from(other);
            }
            // A list in the growing form will get many short additions again, even if it was cleared, so it keeps that
            // form.
            Form::Growing(growing) if theirs < growing.len().max(MANY) / FEW_OF => {
                return grow(growing, other);
            }
            Form::List(list) if list.len() >= LONG && theirs < list.len() / FEW_OF => {
                let mut growing = Growing::of(std::mem::take(list));
                grow(&mut growing, other);
                self.0 = Form::Growing(growing);
                return;
            }
            _ => {}
        }
        self.change(|list| {
            if theirs < list.len() / FEW_OF {
                other.iter().for_each(|(bin, count)| add_to(list, bin, count));
            } else {
                merge_lists(list, other);
            }
        });
    }

    /// Returns the list if it is unpacked and has no queued additions.
    #[inline]
    fn list(&self) -> Option<&[(u32, u64)]> {
        match &self.0 {
            Form::List(list) => Some(list),
            Form::Growing(growing) => growing.settled(),
            Form::Packed(_) => None,
        }
    }

    /// Changes the list. A list in another form is first converted to a plain list.
    #[inline]
    fn change(&mut self, with: impl FnOnce(&mut Vec<(u32, u64)>)) {
        match &mut self.0 {
            Form::List(list) => with(list),
            Form::Growing(growing) => with(growing.list()),
            Form::Packed(_) => {
                let mut list = self.iter().collect();
                with(&mut list);
                self.0 = Form::List(list);
            }
        }
    }
}

/// Queues the bins of `other` in a list of the growing form.
fn grow(growing: &mut Growing, other: &Bins) {
    match other.list() {
        Some(list) => growing.add(list.iter().copied()),
        None => growing.add(other.iter()),
    }
}

/// Merges the non-empty list `other` into a sorted list: first adds the counts of common bins, then inserts the other
/// bins from the end.
fn merge_lists(list: &mut Vec<(u32, u64)>, other: &Bins) {
    if list.is_empty() {
        return list.extend(other.iter());
    }
    let new = count_common(list, other.iter());
    match other.list() {
        Some(theirs) => insert_new(list, new, theirs.iter().copied()),
        None => insert_new(list, new, other.iter().collect::<Vec<_>>().into_iter()),
    }
}

/// Adds the counts of bins that the list already contains. Returns the number of the other bins.
fn count_common(list: &mut [(u32, u64)], theirs: impl Iterator<Item = (u32, u64)>) -> usize {
    let (mut at, mut new) = (0, 0);
    for (bin, count) in theirs {
        while list.get(at).is_some_and(|mine| mine.0 < bin) {
            at += 1;
        }
        match list.get_mut(at) {
            Some(mine) if mine.0 == bin => mine.1 = mine.1.saturating_add(count),
            _ => new += 1,
        }
    }
    new
}

/// Iterator over the bins of any form.
enum Iter<'a> {
    List(std::slice::Iter<'a, (u32, u64)>),
    Settled(std::vec::IntoIter<(u32, u64)>),
    Packed { rest: &'a [u8], left: usize, before: u32 },
}

impl Iterator for Iter<'_> {
    type Item = (u32, u64);

    #[inline]
    fn next(&mut self) -> Option<(u32, u64)> {
        match self {
            Self::List(list) => list.next().copied(),
            Self::Settled(list) => list.next(),
            Self::Packed { rest, left, before } => {
                *left = left.checked_sub(1)?;
                let step = number(rest);
                *before += (step >> 1) as u32;
                let count = if step & 1 == 1 { number(rest) } else { 1 };
                Some((*before, count))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match self {
            Self::List(list) => list.len(),
            Self::Settled(list) => list.len(),
            Self::Packed { left, .. } => *left,
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

fn push_number(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

/// Reads a number from the front of unchecked bytes; `None` if it does not end or is too long.
#[inline]
fn checked_number(rest: &mut &[u8]) -> Option<u64> {
    if let [byte @ ..0x80, after @ ..] = *rest {
        *rest = after;
        return Some(u64::from(*byte));
    }
    let mut n = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        n |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(n);
        }
    }
    None
}

/// Reads a number from the front of bytes that were checked before.
#[inline]
fn number(rest: &mut &[u8]) -> u64 {
    if let [byte @ ..0x80, after @ ..] = *rest {
        *rest = after;
        return u64::from(*byte);
    }
    let (mut n, mut shift) = (0, 0);
    while let Some((byte, after)) = rest.split_first() {
        *rest = after;
        n |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
        shift += 7;
    }
    n
}
