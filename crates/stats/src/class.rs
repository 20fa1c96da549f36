//! Counts and times of exchanges by class. A class is a group of exchanges: all exchanges with one server address, or
//! all exchanges with one value of a response header.
//!
//! The number of classes is limited by [`MAX_CLASSES`]; exchanges of further classes are not classified. Finding a
//! known class costs a hash and no allocation; counting in it costs neither.
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hist::{Bins, Tray};
use crate::sample::LabelId;

pub const MAX_CLASSES: usize = 200;

/// Maximum number of labels stored per class on a core.
const MAX_LABELS: usize = 32;

/// Identity of a class within one core's recorder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassId(u16);

impl ClassId {
    pub const NONE: Self = Self(0);
}

/// The metrics of the exchanges of one class in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassDelta {
    /// The header's name. If empty, the value is a server address.
    pub header: Arc<str>,
    pub value: Arc<str>,
    pub count: u64,
    pub errors: u64,
    /// Number of connections opened to the class's address.
    pub opened: u64,
    /// Elapsed times in µs.
    pub service: Bins,
    /// Labels whose first sample of this class on a core was in this interval.
    pub labels: Vec<Arc<str>>,
}

impl ClassDelta {
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.opened += other.opened;
        self.service.merge(&other.service);
        for label in &other.labels {
            if !self.labels.contains(label) {
                self.labels.push(Arc::clone(label));
            }
        }
    }
}

/// Merges the classes of two intervals. New classes reuse the memory in `spare`.
pub(crate) fn merge(into: &mut Vec<ClassDelta>, others: &[ClassDelta], spare: &mut Vec<Bins>) {
    for other in others {
        let same =
            |mine: &&mut ClassDelta| mine.header == other.header && mine.value == other.value;
        match into.iter_mut().find(same) {
            Some(mine) => mine.merge(other),
            None => {
                let mut service = spare.pop().unwrap_or_default();
                service.merge(&other.service);
                let (header, value) = (Arc::clone(&other.header), Arc::clone(&other.value));
                let ClassDelta { count, errors, opened, .. } = *other;
                let labels = other.labels.clone();
                into.push(ClassDelta { header, value, count, errors, opened, service, labels });
            }
        }
    }
}

/// The classes of a core.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    list: Vec<Counted>,
    index: HashMap<u64, u16>,
    hasher: RandomState,
}

#[derive(Debug)]
struct Counted {
    header: Arc<str>,
    value: Arc<str>,
    count: u64,
    errors: u64,
    opened: u64,
    /// True if the next interval lists the class even if its counts are 0.
    marked: bool,
    service: Tray,
    /// Labels of the samples in the class.
    labels: Vec<LabelId>,
    /// Number of labels that have been drained already.
    handed: usize,
}

impl Counted {
    /// Adds the label of a sample. Costs one comparison if the label equals the label added last, otherwise at most
    /// [`MAX_LABELS`] comparisons more.
    #[inline]
    fn meet(&mut self, label: LabelId) {
        if self.labels.last() != Some(&label) {
            self.meet_other(label);
        }
    }

    fn meet_other(&mut self, label: LabelId) {
        if self.labels.len() < MAX_LABELS && !self.labels.contains(&label) {
            self.labels.push(label);
        }
    }
}

impl Classes {
    pub(crate) fn intern(&mut self, header: &str, value: &str) -> ClassId {
        let hash = self.hasher.hash_one((header, value));
        if let Some(number) = self.index.get(&hash) {
            let class = &self.list[usize::from(*number) - 1];
            let same = &*class.header == header && &*class.value == value;
            return if same { ClassId(*number) } else { ClassId::NONE };
        }
        if self.list.len() >= MAX_CLASSES {
            return ClassId::NONE;
        }
        self.list.push(Counted {
            header: header.into(),
            value: value.into(),
            count: 0,
            errors: 0,
            opened: 0,
            marked: false,
            service: Tray::default(),
            labels: Vec::new(),
            handed: 0,
        });
        let number = self.list.len() as u16;
        self.index.insert(hash, number);
        ClassId(number)
    }

    pub(crate) fn value(&self, class: ClassId) -> &str {
        match usize::from(class.0).checked_sub(1) {
            Some(at) => &self.list[at].value,
            None => "",
        }
    }

    /// Marks a class that may be used, so that it appears in the next interval even without counts.
    pub(crate) fn mark(&mut self, class: ClassId) {
        if let Some(at) = usize::from(class.0).checked_sub(1) {
            self.list[at].marked = true;
        }
    }

    pub(crate) fn opened(&mut self, class: ClassId) {
        if let Some(at) = usize::from(class.0).checked_sub(1) {
            self.list[at].opened += 1;
        }
    }

    /// Counts an exchange. `label` is set if the exchange belongs to a sample.
    #[inline]
    pub(crate) fn count(
        &mut self,
        class: ClassId,
        micros: u64,
        failed: bool,
        label: Option<LabelId>,
    ) {
        if let Some(at) = usize::from(class.0).checked_sub(1) {
            let class = &mut self.list[at];
            if let Some(label) = label {
                class.meet(label);
            }
            class.count += 1;
            class.errors += u64::from(failed);
            class.service.record(micros);
        }
    }

    /// Appends the metrics of all classes to `into` and resets them. `name` returns the text of a label.
    pub(crate) fn drain_into(
        &mut self,
        into: &mut Vec<ClassDelta>,
        spare: &mut Vec<Bins>,
        name: impl Fn(LabelId) -> Arc<str>,
    ) {
        for class in
            self.list.iter_mut().filter(|class| class.count + class.opened > 0 || class.marked)
        {
            class.marked = false;
            let mut service = spare.pop().unwrap_or_default();
            class.service.drain(&mut service);
            into.push(ClassDelta {
                header: Arc::clone(&class.header),
                value: Arc::clone(&class.value),
                count: std::mem::take(&mut class.count),
                errors: std::mem::take(&mut class.errors),
                opened: std::mem::take(&mut class.opened),
                service,
                labels: class.labels[class.handed..].iter().map(|label| name(*label)).collect(),
            });
            class.handed = class.labels.len();
        }
    }
}
