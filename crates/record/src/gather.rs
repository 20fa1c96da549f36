//! Conversion of a run's snapshots to [`Second`]s, in which labels, causes and classes are indexes.
//!
//! A run may have any number of labels; a record has at most [`MOST_LABELS`]. If there are more, labels that differ
//! only in numbers and ids are folded into one, also in earlier seconds. Labels that still do not fit count under one
//! common name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use stats::cause::cut;
use stats::recorder::OTHER_LABELS;
use stats::{Outcome, Snapshot, Span};

use crate::fold::pattern;
use crate::mask;
use crate::second::{Checked, Part, Second, settle};
use crate::{CauseName, Label};

/// Largest number of labels in a record.
pub const MOST_LABELS: usize = 500;
/// Largest number of causes of errors in a record.
const MOST_CAUSES: usize = 300;
/// Largest number of label names whose label numbers are stored. A further name is looked up by its pattern each
/// time.
const MOST_NAMES: usize = 50_000;

/// Assigns numbers to labels and causes.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) labels: Vec<Label>,
    pub(crate) causes: Vec<CauseName>,
    /// Numbers of labels by name, for requests (index 0) and transactions (index 1). A folded label keeps its original
    /// number here.
    numbers: [HashMap<Arc<str>, u32>; 2],
    /// Pairs of numbers: of a folded label, and of the label under which it is counted.
    pub(crate) folded: Vec<(u32, u32)>,
    /// The number under which each label is counted, by label number.
    into: Vec<u32>,
    /// Number of labels that are counted separately, not under another label.
    own: usize,
    cause_numbers: HashMap<(Outcome, Arc<str>, Arc<str>), u32>,
    /// Numbers of labels whose definition has changed since it was last written. New labels are not in this list.
    pub(crate) grown: Vec<u32>,
}

impl Names {
    /// Returns the number of the label `name`, and assigns one if the label is new. Does the same as [`Self::label`]
    /// for a `&str`.
    pub(crate) fn number(&mut self, name: &str, transaction: bool) -> u32 {
        let known = self.known(name, transaction);
        known.unwrap_or_else(|| self.label(&name.into(), transaction))
    }

    fn known(&self, name: &str, transaction: bool) -> Option<u32> {
        let number = *self.numbers[usize::from(transaction)].get(name)?;
        Some(self.into[number as usize])
    }

    fn is_full(&self) -> bool {
        self.numbers.iter().map(HashMap::len).sum::<usize>() >= MOST_NAMES
    }

    /// Returns the number of a label, and assigns one if the label is new.
    pub(crate) fn label(&mut self, name: &Arc<str>, transaction: bool) -> u32 {
        if let Some(number) = self.known(name, transaction) {
            return number;
        }
        // Labels of embedded resources are their URLs.
        if let Cow::Owned(masked) = mask::urls(name)
            && *masked != **name
        {
            let number = self.label(&masked.into(), transaction);
            if !self.is_full() {
                self.numbers[usize::from(transaction)].insert(Arc::clone(name), number);
            }
            return number;
        }
        if self.own >= MOST_LABELS {
            self.fold();
        }
        if self.own < MOST_LABELS {
            return self.add(name, transaction);
        }
        // No group of labels that differ only in numbers is left to fold, or this label belongs to a folded group.
        let pattern = pattern(name);
        let other: Arc<str> = OTHER_LABELS.into();
        let known = self.known(&pattern, transaction).or_else(|| self.known(&other, transaction));
        let number = known.unwrap_or_else(|| self.add(&other, transaction));
        self.join(name, transaction, number);
        number
    }

    /// Adds a new label and returns its number. If labels of the same pattern are folded already, returns the number
    /// of their common label.
    fn add(&mut self, name: &Arc<str>, transaction: bool) -> u32 {
        let group = pattern(name);
        if *group != **name
            && let Some(number) = self.known(&group, transaction)
            && self.labels[number as usize].folded > 0
        {
            self.join(name, transaction, number);
            return number;
        }
        let number = self.labels.len() as u32;
        self.labels.push(Label { name: Arc::clone(name), transaction, folded: 0 });
        self.numbers[usize::from(transaction)].insert(Arc::clone(name), number);
        self.into.push(number);
        self.own += 1;
        number
    }

    /// Counts a further label name under an existing label.
    fn join(&mut self, name: &Arc<str>, transaction: bool, number: u32) {
        if self.is_full() {
            return;
        }
        self.numbers[usize::from(transaction)].insert(Arc::clone(name), number);
        let label = &mut self.labels[number as usize];
        label.folded = label.folded.saturating_add(1);
        if !self.grown.contains(&number) {
            self.grown.push(number);
        }
    }

    /// Folds labels that differ only in numbers and ids, the largest groups first, until there is room for new labels.
    fn fold(&mut self) {
        let mut groups: HashMap<(String, bool), Vec<u32>> = HashMap::new();
        for (number, label) in (0u32..).zip(&self.labels) {
            if self.into[number as usize] == number && label.folded == 0 {
                groups.entry((pattern(&label.name), label.transaction)).or_default().push(number);
            }
        }
        let mut groups: Vec<_> = groups.into_iter().filter(|group| group.1.len() > 1).collect();
        groups.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
        for ((name, transaction), members) in groups {
            if self.own <= MOST_LABELS / 2 {
                break;
            }
            let name: Arc<str> = name.into();
            let to = match self.known(&name, transaction) {
                Some(number) => number,
                None => {
                    let number = self.labels.len() as u32;
                    let label = Label { name: Arc::clone(&name), transaction, folded: 0 };
                    self.labels.push(label);
                    self.numbers[usize::from(transaction)].insert(name, number);
                    self.into.push(number);
                    self.own += 1;
                    number
                }
            };
            for member in members.into_iter().filter(|member| *member != to) {
                self.into[member as usize] = to;
                self.folded.push((member, to));
                self.labels[to as usize].folded += 1;
                self.own -= 1;
            }
            self.grown.push(to);
        }
    }

    fn cause(&mut self, cause: &stats::cause::Cause) -> u32 {
        let key = (cause.outcome, Arc::clone(&cause.code), Arc::clone(&cause.message));
        if let Some(number) = self.cause_numbers.get(&key) {
            return *number;
        }
        let (outcome, code, message) = if self.causes.len() < MOST_CAUSES {
            key
        } else {
            let key = (Outcome::Other, stats::cause::OTHER.into(), "".into());
            if let Some(number) = self.cause_numbers.get(&key) {
                return *number;
            }
            key
        };
        let number = self.causes.len() as u32;
        let first_label = Arc::clone(&cause.first_label);
        let name = CauseName {
            outcome,
            code: Arc::clone(&code),
            message: mask::urls(&message).into(),
            first_label: mask::urls(&first_label).into(),
        };
        self.causes.push(name);
        self.cause_numbers.insert((outcome, code, message), number);
        number
    }

    /// Returns the number of a cause of errors. `label` is the number of the label that a new cause stores as its
    /// first.
    pub(crate) fn cause_of(
        &mut self,
        outcome: Outcome,
        code: &str,
        message: &str,
        label: u32,
    ) -> u32 {
        let first_label = Arc::clone(&self.labels[label as usize].name);
        let (count, first_ms) = (1, 0);
        let (code, message) = (cut(code).into(), cut(message).into());
        self.cause(&stats::cause::Cause { outcome, code, message, count, first_label, first_ms })
    }

    /// Returns the number of a cause of errors that has been counted before; `None` if it has no separate number.
    pub(crate) fn known_cause(&self, outcome: Outcome, code: &str, message: &str) -> Option<u32> {
        let key = (outcome, code.into(), message.into());
        self.cause_numbers.get(&key).copied()
    }

    /// Converts a snapshot to a second of the record.
    pub(crate) fn second(&mut self, snapshot: &Snapshot) -> Second {
        let mut second = Second {
            at_ms: snapshot.at_ms,
            counters: snapshot.counters,
            connect: {
                let mut connect = snapshot.spans.get(Span::Tcp).clone();
                connect.merge(snapshot.spans.get(Span::Connect));
                connect
            },
            tls: snapshot.spans.get(Span::Tls).clone(),
            room: snapshot.spans.get(Span::Room).clone(),
            closes: snapshot.closes.clone(),
            stalled: snapshot.stalled.clone(),
            numbers: (0..)
                .zip(&snapshot.numbers)
                .filter(|(_, number)| !number.is_empty())
                .map(|(at, number)| (at, *number))
                .collect(),
            ..Second::default()
        };
        let mut parts: Vec<(u32, Part)> =
            Vec::with_capacity(snapshot.labels.len().min(MOST_LABELS));
        let numbers: Vec<u32> = snapshot
            .labels
            .iter()
            .map(|label| self.label(&label.name, label.transaction))
            .collect();
        // A label may have been folded after it got its number.
        let mut deltas: Vec<(u32, usize)> =
            numbers.iter().map(|number| self.into[*number as usize]).zip(0..).collect();
        deltas.sort_unstable();
        for (number, at) in deltas {
            let delta = &snapshot.labels[at];
            let part = Part::of(delta);
            if !delta.transaction {
                second.all.merge(&part);
                second.lag.merge(&delta.lag);
            }
            let checks = Checked::of(&delta.tally.checks, part.errors);
            if checks != Checked::default() {
                second.checks.push((number, checks));
            }
            match parts.last_mut() {
                Some(last) if last.0 == number => last.1.merge(&part),
                _ => parts.push((number, part)),
            }
        }
        second.labels = parts.into();
        settle(&mut second.checks);
        for cause in &snapshot.causes {
            second.causes.push((self.cause(cause), cause.count));
        }
        second.causes.sort_unstable();
        second.causes.dedup_by(|b, a| {
            let same = a.0 == b.0;
            a.1 += if same { b.1 } else { 0 };
            same
        });
        second
    }

    /// Returns the warning about folded labels; `None` if no label is folded.
    pub(crate) fn words(&self) -> Option<String> {
        let folded: u64 = self.labels.iter().map(|label| u64::from(label.folded)).sum();
        let biggest = self.labels.iter().max_by_key(|label| label.folded)?;
        (folded > 0).then(|| {
            format!(
                "the record has room for {MOST_LABELS} labels: labels that differ in numbers or ids only are counted as one there, as {:?}; the aggregate report keeps them apart",
                biggest.name
            )
        })
    }
}
