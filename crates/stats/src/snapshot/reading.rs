//! Deserializes a snapshot into an existing one. Lists keep their memory, and labels keep their names if these are
//! equal, as with machines that run the same plan.
//!
//! Supports formats without field names, such as postcard: fields are read in order.

use std::fmt;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};

use super::{LabelDelta, Snapshot};
use crate::hist::Read;

/// Reads a snapshot in postcard format into `into` and replaces its content. The function is compiled in this crate to
/// get this crate's optimization level.
pub fn read(bytes: &[u8], into: &mut Snapshot) -> Result<(), postcard::Error> {
    Into(into).deserialize(&mut postcard::Deserializer::from_bytes(bytes))
}

/// Deserializer that fills an existing snapshot.
struct Into<'a>(&'a mut Snapshot);

/// Field names of a snapshot in the order of serialization.
const FIELDS: &[&str] = &[
    "at_ms", "began_ms", "core", "seq", "labels", "counters", "causes", "spans", "closes",
    "classes", "kept", "stalled", "numbers",
];
/// Field names of a label's entry in the order of serialization.
const LABEL: &[&str] = &[
    "name",
    "transaction",
    "tally",
    "ms",
    "service",
    "response",
    "lag",
    "failed",
    "unanswered",
    "slots",
];

/// Deserializes the next field of a sequence.
fn field<'de, A: SeqAccess<'de>, T: serde::Deserialize<'de>>(
    fields: &mut A,
) -> Result<T, A::Error> {
    fields.next_element()?.ok_or_else(|| A::Error::custom("the snapshot is truncated"))
}

fn seeded<'de, A: SeqAccess<'de>, S: DeserializeSeed<'de>>(
    fields: &mut A,
    seed: S,
) -> Result<S::Value, A::Error> {
    let read = fields.next_element_seed(seed)?;
    read.ok_or_else(|| A::Error::custom("the snapshot is truncated"))
}

impl<'de> DeserializeSeed<'de> for Into<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.0.places.clear();
        from.deserialize_struct("Snapshot", FIELDS, self)
    }
}

impl<'de> Visitor<'de> for Into<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a snapshot")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let into = self.0;
        into.at_ms = field(&mut fields)?;
        into.began_ms = field(&mut fields)?;
        into.core = field(&mut fields)?;
        into.seq = field(&mut fields)?;
        seeded(&mut fields, Labels(&mut into.labels, &mut into.spare))?;
        into.counters = field(&mut fields)?;
        into.causes = field(&mut fields)?;
        into.spans = field(&mut fields)?;
        into.closes = field(&mut fields)?;
        into.classes = field(&mut fields)?;
        into.kept = field(&mut fields)?;
        into.stalled = field(&mut fields)?;
        into.numbers = field(&mut fields)?;
        Ok(())
    }
}

/// Deserializer for the list of labels: the entries to fill, and spare entries whose memory can be reused.
struct Labels<'a>(&'a mut Vec<LabelDelta>, &'a mut Vec<LabelDelta>);

impl<'de> DeserializeSeed<'de> for Labels<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Labels<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("labels")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        let Labels(labels, spare) = self;
        let mut at = 0;
        loop {
            if at == labels.len() {
                let empty = || LabelDelta::empty(&Arc::from(""), false);
                labels.push(spare.pop().unwrap_or_else(empty));
            }
            match all.next_element_seed(Label(&mut labels[at])) {
                Ok(Some(())) => at += 1,
                Ok(None) => break,
                Err(error) => {
                    labels.truncate(at);
                    return Err(error);
                }
            }
        }
        spare.extend(labels.drain(at..));
        Ok(())
    }
}

struct Label<'a>(&'a mut LabelDelta);

impl<'de> DeserializeSeed<'de> for Label<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_struct("LabelDelta", LABEL, self)
    }
}

impl<'de> Visitor<'de> for Label<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a label")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let label = self.0;
        seeded(&mut fields, Name(&mut label.name))?;
        label.transaction = field(&mut fields)?;
        label.tally = field(&mut fields)?;
        for bins in label.bins() {
            seeded(&mut fields, Read(bins))?;
        }
        label.slots = field(&mut fields)?;
        Ok(())
    }
}

struct Name<'a>(&'a mut Arc<str>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        if **self.0 != *name {
            *self.0 = Arc::from(name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Recorder, Sample};

    /// Returns a snapshot with these labels, each with its number of samples.
    fn second(labels: &[(&str, u64)]) -> Snapshot {
        let mut recorder = Recorder::new();
        for (name, samples) in labels {
            let label = recorder.intern(name);
            for n in 0..*samples {
                recorder.record(&Sample { elapsed: n * 7_000_000, ..Sample::new(label, 1_000) });
            }
        }
        recorder.add(Counter::ConnOpened, labels.len() as u64);
        let mut snapshot = Snapshot::new();
        recorder.drain(&mut snapshot);
        (snapshot.at_ms, snapshot.core) = (labels.len() as i64, 3);
        snapshot
    }

    #[test]
    fn a_used_snapshot_becomes_what_is_read() {
        let mut into = Snapshot::new();
        for labels in [
            &[("a", 3), ("b", 200)][..],
            &[("b", 1)],
            &[],
            &[("a", 3), ("c", 9), ("d", 1), ("e", 5)],
            &[("a", 90), ("c", 1)],
        ] {
            let bytes = postcard::to_stdvec(&second(labels)).expect("bytes");
            assert!(read(&bytes, &mut into).is_ok());
            let fresh: Snapshot = postcard::from_bytes(&bytes).expect("a snapshot");
            assert_eq!(into.labels, fresh.labels);
            assert_eq!(postcard::to_stdvec(&into).expect("bytes"), bytes, "all fields");
            // The reused snapshot must merge like any other.
            let (mut merged, mut twice) = (fresh.clone(), into.clone());
            merged.merge(&into);
            twice.merge(&fresh);
            assert_eq!(merged.labels, twice.labels);
        }
    }

    #[test]
    fn a_snapshot_that_is_cut_is_refused() {
        let bytes = postcard::to_stdvec(&second(&[("a", 30), ("b", 2)])).expect("bytes");
        for end in 0..bytes.len() {
            let read = read(&bytes[..end], &mut second(&[("x", 3)]));
            assert!(read.is_err(), "{end} of {}", bytes.len());
        }
    }

    #[test]
    fn names_and_lists_are_used_again() {
        let bytes = postcard::to_stdvec(&second(&[("a", 30)])).expect("bytes");
        let mut into = Snapshot::new();
        assert!(read(&bytes, &mut into).is_ok());
        let name = Arc::clone(&into.labels[0].name);
        assert!(read(&bytes, &mut into).is_ok());
        assert!(Arc::ptr_eq(&name, &into.labels[0].name));
    }
}
