//! The labels of a second, each with the metrics of its samples.
//!
//! While a second is measured, its labels are a list. A record that was read has all seconds of a run, and labels take
//! most of its memory. In such a record, labels are packed as in the file: number, length and bytes of each label.
//! Packed labels take at most a tenth of the memory. In exchange, times are whole microseconds, and the metrics of a
//! label are decoded on each access, except for its numbers of samples and errors.

use std::borrow::Cow;

use crate::file::bytes::{In, Out};
use crate::file::parts;
use crate::second::Part;

/// The labels with samples, in ascending order of their numbers.
#[derive(Clone, Debug)]
pub struct Labels(Form);

#[derive(Clone, Debug)]
enum Form {
    List(Vec<(u32, Part)>),
    Packed(Box<[u8]>),
}

impl Default for Labels {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<(u32, Part)>> for Labels {
    fn from(list: Vec<(u32, Part)>) -> Self {
        Self(Form::List(list))
    }
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a> IntoIterator for &'a Labels {
    type Item = (u32, Cow<'a, Part>);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Labels {
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Form::List(list) => list.is_empty(),
            Form::Packed(bytes) => bytes.is_empty(),
        }
    }

    pub fn len(&self) -> usize {
        self.numbers().count()
    }

    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Form::List(list) => Each::List(list.iter()),
            Form::Packed(bytes) => Each::Packed(Entries(In::new(bytes))),
        })
    }

    /// Returns the metrics of a label; `None` if the label has no samples in this second.
    pub fn get(&self, number: u32) -> Option<Cow<'_, Part>> {
        match &self.0 {
            Form::List(list) => {
                let at = list.binary_search_by_key(&number, |label| label.0).ok()?;
                Some(Cow::Borrowed(&list[at].1))
            }
            Form::Packed(bytes) => {
                // Packed labels are in ascending order.
                let found = Entries(In::new(bytes)).find(|entry| entry.0 >= number);
                let (_, mut body) = found.filter(|entry| entry.0 == number)?;
                Some(Cow::Owned(parts::read_part(&mut body)))
            }
        }
    }

    /// Returns the numbers of samples and errors by label.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        let (list, packed) = self.forms();
        let of_list = list.iter().map(|(number, part)| (*number, part.count, part.errors));
        let of_packed = packed.map(|(number, mut body)| {
            let (count, errors) = parts::read_counts(&mut body);
            (number, count, errors)
        });
        of_list.chain(of_packed)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let (list, packed) = self.forms();
        list.iter().map(|label| label.0).chain(packed.map(|entry| entry.0))
    }

    /// Returns the labels as a list and as packed bytes. One of the two is empty.
    fn forms(&self) -> (&[(u32, Part)], Entries<'_>) {
        match &self.0 {
            Form::List(list) => (list, Entries(In::new(&[]))),
            Form::Packed(bytes) => (&[], Entries(In::new(bytes))),
        }
    }

    /// Adds a label with a number higher than all others.
    pub fn push(&mut self, number: u32, part: Part) {
        let mut list = std::mem::take(self).into_list();
        list.push((number, part));
        *self = list.into();
    }

    pub fn into_list(self) -> Vec<(u32, Part)> {
        match self.0 {
            Form::List(list) => list,
            packed @ Form::Packed(_) => {
                let packed = Self(packed);
                packed.iter().map(|(number, part)| (number, part.into_owned())).collect()
            }
        }
    }

    /// Packs the labels if they are a list.
    pub(crate) fn pack(&mut self) {
        let Form::List(list) = &self.0 else { return };
        let mut packing = Packing::default();
        for (number, part) in list {
            packing.push(*number, part);
        }
        *self = packing.labels();
    }

    /// Returns the bytes of packed labels by label number. Returns nothing for a list.
    pub(crate) fn packed(&self) -> impl Iterator<Item = (u32, In<'_>)> {
        self.forms().1
    }
}

/// A buffer in which labels are packed in ascending order of their numbers.
#[derive(Default)]
pub(crate) struct Packing {
    out: Out,
    part: Out,
}

impl Packing {
    pub(crate) fn push(&mut self, number: u32, part: &Part) {
        let mut bytes = std::mem::take(&mut self.part);
        parts::write_part(part, usize::MAX, &mut bytes);
        self.push_bytes(number, &bytes.0);
        bytes.0.clear();
        self.part = bytes;
    }

    /// Packs a label that is encoded already.
    pub(crate) fn push_bytes(&mut self, number: u32, part: &[u8]) {
        self.out.number(u64::from(number));
        self.out.number(part.len() as u64);
        self.out.0.extend_from_slice(part);
    }

    pub(crate) fn labels(self) -> Labels {
        Labels(Form::Packed(self.out.0.into_boxed_slice()))
    }
}

/// Iterator over label numbers and their metrics.
#[derive(Clone, Debug)]
pub struct Iter<'a>(Each<'a>);

#[derive(Clone, Debug)]
enum Each<'a> {
    List(std::slice::Iter<'a, (u32, Part)>),
    Packed(Entries<'a>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (u32, Cow<'a, Part>);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Each::List(list) => list.next().map(|(number, part)| (*number, Cow::Borrowed(part))),
            Each::Packed(entries) => {
                let (number, mut body) = entries.next()?;
                Some((number, Cow::Owned(parts::read_part(&mut body))))
            }
        }
    }
}

/// Iterator over the numbers of packed labels and the bytes of their metrics.
#[derive(Clone, Debug)]
struct Entries<'a>(In<'a>);

impl<'a> Iterator for Entries<'a> {
    type Item = (u32, In<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let (number, length) = (self.0.small(), self.0.number());
        Some((number, In::new(self.0.some(length))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(count: u64) -> Part {
        let mut part =
            Part { count, errors: count / 3, elapsed: count * 1_234_567, ..Part::default() };
        (0..count).for_each(|n| part.service.add(5000 + n as u32 * 7, 1));
        part.phases.wait = count * 5000;
        part.slots[3] = count as u32;
        part
    }

    #[test]
    fn packed_labels_are_the_same_labels() {
        let list: Labels =
            [(0_u32, 3), (5, 40), (300, 1)].map(|(n, count)| (n, part(count))).to_vec().into();
        let mut packed = list.clone();
        packed.pack();
        assert_eq!(packed, list);
        assert!(matches!(packed.0, Form::Packed(_)));
        assert_eq!((packed.len(), packed.is_empty()), (3, false));
        for labels in [&list, &packed] {
            assert_eq!(labels.get(5).as_deref(), Some(&part(40)));
            assert_eq!(labels.get(6), None);
            let counts: Vec<_> = labels.counts().collect();
            assert_eq!(counts, [(0, 3, 1), (5, 40, 13), (300, 1, 0)]);
        }
        packed.push(301, part(2));
        assert_eq!(packed.numbers().collect::<Vec<_>>(), [0, 5, 300, 301]);
        let mut nothing = Labels::default();
        nothing.pack();
        assert!(nothing.is_empty() && nothing == Labels::default());
    }
}
