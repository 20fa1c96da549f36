//! Writing the record of a running test: snapshots become the bytes of the file, one frame per second.
//!
//! Each frame is complete in itself: after a kill everything up to the last second can be read. Names are written in
//! the frame that uses them first. After a frame that could not be written, all names are written once more.

use std::collections::HashMap;
use std::sync::Arc;

use stats::class::ClassDelta;
use stats::kept::{Example, OF_A_CAUSE, Why};
use stats::machine::Machine;
use stats::{Outcome, Snapshot};

use crate::file::bytes::Out;
use crate::file::columns::Columns;
use crate::file::entries::{self, Kind};
use crate::file::{MAGIC, parts, push_frame};
use crate::frame::{Ending, Frame, Mark};
use crate::gather::Names;
use crate::kept::Kept;
use crate::second::{Class, Generator, Second};
use crate::shelf::Shelf;
use crate::{CauseName, ClassName, Fact, Label, Series, mask};

/// Largest number of classes in a record. Further classes are dropped.
const MOST_CLASSES: usize = 500;
/// Largest number of series in a record. Further series are dropped.
const MOST_SERIES: usize = 2000;

/// A record that is being written.
#[derive(Debug, Default)]
pub struct Recording {
    names: Names,
    classes: Vec<ClassName>,
    series: Vec<Series>,
    facts: Vec<Fact>,
    class_numbers: HashMap<ClassName, u32>,
    /// Pairs of class number and label number, in the order in which labels first had samples in classes.
    served: Vec<(u32, u32)>,
    series_numbers: HashMap<(Arc<str>, Arc<str>), u32>,
    /// Number of entries of each list that have been written.
    written: Written,
    /// End of the previous second, epoch ms.
    before_ms: i64,
    start_ms: i64,
    frame: Frame,
    /// The second that was added last.
    last: Second,
    /// Encoded entries that were added since the last frame.
    open: Out,
    /// True if the beginning of the file has been written.
    begun: bool,
    told: bool,
    /// Number of failed samples seen of each cause. Only the first few are kept.
    kept_of: HashMap<(Outcome, String, String), u32>,
    shelf: Shelf,
}

fn class_of(delta: &ClassDelta) -> (ClassName, Class) {
    let value = Arc::clone(&delta.value);
    let name = match &*delta.header {
        "" => ClassName::Address(value),
        _ => ClassName::Header { name: Arc::clone(&delta.header), value },
    };
    let (count, errors, opened) = (delta.count, delta.errors, delta.opened);
    let service = delta.service.clone();
    (name, Class { count, errors, opened, service, ..Class::default() })
}

#[derive(Clone, Copy, Debug, Default)]
struct Written {
    labels: usize,
    causes: usize,
    classes: usize,
    series: usize,
    folded: usize,
    served: usize,
    /// True if the facts of watched hosts have been written.
    facts: bool,
    /// True if the facts of the run have been written.
    frame: bool,
}

/// The metrics of a second other than those of its samples.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Number of users that are active at the end of the second.
    pub users: u64,
    /// Number of users started since the start of the run.
    pub started: u64,
    /// Number of starts that a rate demanded in the second.
    pub due: u64,
    /// Number of demanded starts that did not happen in the second.
    pub missed: u64,
    pub generator: Generator,
    pub machine: Option<Machine>,
    /// Metrics of exchanges by class.
    pub classes: Vec<(ClassName, Class)>,
    /// Metrics of watched hosts.
    pub watched: Vec<(Series, f64)>,
}

impl Recording {
    pub fn new(frame: Frame) -> Self {
        let start_ms = frame.start_ms;
        Self { before_ms: start_ms, start_ms, frame, ..Self::default() }
    }

    /// Sets the facts of the run as known so far. They may change while the run is being started.
    pub fn set_frame(&mut self, frame: Frame) {
        (self.frame, self.written.frame) = (frame, false);
    }

    /// Sets the requested length in ms, if it becomes known only during the run.
    pub fn set_length(&mut self, length_ms: i64) {
        (self.frame.load.length_ms, self.written.frame) = (Some(length_ms), false);
    }

    /// Stores the fact that requests go to this machine, unless it is already stored.
    pub fn set_target_is_here(&mut self) {
        if !self.frame.target_is_here {
            (self.frame.target_is_here, self.written.frame) = (true, false);
        }
    }

    /// Adds a second: the metrics of samples from `snapshot`, all other metrics from `around`.
    pub fn second(&mut self, snapshot: &Snapshot, around: Around) {
        let mut second = self.names.second(snapshot);
        let ms = (second.at_ms - self.before_ms).clamp(0, i64::from(u32::MAX));
        (second.ms, self.before_ms) = (ms as u32, second.at_ms.max(self.before_ms));
        (second.users, second.started) = (around.users, around.started);
        (second.due, second.missed) = (around.due, around.missed);
        (second.generator, second.machine) = (around.generator, around.machine);
        for delta in &snapshot.classes {
            let (name, class) = class_of(delta);
            if let Some(number) = self.class(name) {
                second.classes.push((number, class));
                self.serve(number, &delta.labels);
            }
        }
        for (name, class) in around.classes {
            if let Some(number) = self.class(name) {
                second.classes.push((number, class));
            }
        }
        second.classes.sort_by_key(|class| class.0);
        second.classes.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1.merge(&b.1);
            }
            same
        });
        for (series, value) in around.watched {
            if let Some(number) = self.series(series) {
                second.watched.push((number, value));
            }
        }
        self.write_names();
        entries::push(&mut self.open, Kind::Second, |out| parts::write_second(&second, out));
        snapshot.kept.iter().for_each(|example| self.add_example(example));
        self.write_waiting(second.at_ms);
        self.last = second;
    }

    /// Returns the second that was added last; an empty second before the first.
    pub fn last(&self) -> &Second {
        &self.last
    }

    /// Returns the facts of the run.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the labels. Label numbers in seconds are indices into this list.
    pub fn labels(&self) -> &[Label] {
        &self.names.labels
    }

    pub fn causes(&self) -> &[CauseName] {
        &self.names.causes
    }

    pub fn classes(&self) -> &[ClassName] {
        &self.classes
    }

    pub fn series_names(&self) -> &[Series] {
        &self.series
    }

    /// Returns the effective settings of watched hosts.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Adds an effective setting of a watched host. The setting is written with the next second.
    pub fn fact(&mut self, fact: Fact) {
        self.written.facts &= !fact.put(&mut self.facts);
    }

    /// Adds an event of the run.
    pub fn mark(&mut self, mark: &Mark) {
        entries::push(&mut self.open, Kind::Mark, |out| entries::write_mark(mark, out));
    }

    /// Adds the end of the run, and writes the samples that still wait. `at_ms`: time of the end, ms since 1970;
    /// `ran_ms`: time during which users ran.
    pub fn end(&mut self, at_ms: i64, ran_ms: i64, ending: &Ending) {
        self.write_waiting(i64::MAX);
        let length_ms = at_ms - self.start_ms;
        entries::push(&mut self.open, Kind::Ending, |out| {
            entries::write_ending(length_ms, ran_ms, ending, out);
        });
    }

    /// Returns the bytes of all additions since the last call, for appending to the file. Empty without additions.
    pub fn take(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.open.0.is_empty() {
            return bytes;
        }
        if !self.begun {
            bytes.extend_from_slice(MAGIC);
        }
        self.begun = true;
        let mut all = Out::default();
        if !self.written.frame {
            entries::push(&mut all, Kind::Columns, |out| Columns::known().write(out));
            entries::push(&mut all, Kind::Frame, |out| entries::write_frame(&self.frame, out));
            self.written.frame = true;
        }
        all.0.append(&mut self.open.0);
        push_frame(&mut bytes, &all.0);
        bytes
    }

    /// Handles the failure to write the bytes that [`Self::take`] returned last: all names are written once more.
    /// `nothing` is true if the file is still empty.
    pub fn lost(&mut self, nothing: bool) {
        self.written = Written::default();
        self.begun &= !nothing;
    }

    /// Returns the warning about folded labels, once.
    pub fn warning(&mut self) -> Option<String> {
        if self.told {
            return None;
        }
        let words = self.names.words();
        self.told = words.is_some();
        words
    }

    /// Returns true if exchanges with this address have been counted.
    pub fn knows(&self, address: &str) -> bool {
        self.class_numbers.contains_key(&ClassName::Address(address.into()))
    }

    fn class(&mut self, name: ClassName) -> Option<u32> {
        if let Some(number) = self.class_numbers.get(&name) {
            return Some(*number);
        }
        let number = self.classes.len() as u32;
        (self.classes.len() < MOST_CLASSES).then(|| {
            self.classes.push(name.clone());
            self.class_numbers.insert(name, number);
            number
        })
    }

    /// Adds pairs of a class and a label, for the labels with a first sample of this class on a core.
    fn serve(&mut self, class: u32, labels: &[Arc<str>]) {
        for label in labels {
            let pair = (class, self.names.label(label, false));
            if !self.served.contains(&pair) {
                self.served.push(pair);
            }
        }
    }

    fn series(&mut self, series: Series) -> Option<u32> {
        let key = (Arc::clone(&series.host), Arc::clone(&series.metric));
        if let Some(number) = self.series_numbers.get(&key) {
            return Some(*number);
        }
        let number = self.series.len() as u32;
        (self.series.len() < MOST_SERIES).then(|| {
            self.series.push(series);
            self.series_numbers.insert(key, number);
            number
        })
    }

    /// Writes the names that are new or have changed.
    fn write_names(&mut self) {
        let Self { names, written, open, .. } = self;
        let new = (0u32..).zip(&names.labels).skip(written.labels);
        let grown = std::mem::take(&mut names.grown);
        let grown = grown.iter().map(|number| (*number, &names.labels[*number as usize]));
        for (number, label) in new.chain(grown) {
            entries::push(open, Kind::Label, |out| entries::write_label(number, label, out));
        }
        for (from, to) in &names.folded[written.folded..] {
            entries::push(open, Kind::Folded, |out| {
                out.number(u64::from(*from));
                out.number(u64::from(*to));
            });
        }
        for (number, cause) in (0u32..).zip(&names.causes).skip(written.causes) {
            entries::push(open, Kind::Cause, |out| entries::write_cause(number, cause, out));
        }
        for (number, class) in (0u32..).zip(&self.classes).skip(written.classes) {
            entries::push(open, Kind::Class, |out| entries::write_class(number, class, out));
        }
        for (number, series) in (0u32..).zip(&self.series).skip(written.series) {
            entries::push(open, Kind::Series, |out| entries::write_series(number, series, out));
        }
        for fact in self.facts.iter().filter(|_| !written.facts) {
            entries::push(open, Kind::Fact, |out| entries::write_fact(fact, out));
        }
        for pair in &self.served[written.served..] {
            entries::push(open, Kind::Served, |out| {
                out.number(u64::from(pair.0));
                out.number(u64::from(pair.1));
            });
        }
        *written = Written {
            served: self.served.len(),
            labels: names.labels.len(),
            causes: names.causes.len(),
            classes: self.classes.len(),
            series: self.series.len(),
            folded: names.folded.len(),
            facts: true,
            ..*written
        };
    }

    /// Adds a sample that a core has kept, unless enough samples of its kind are stored.
    fn add_example(&mut self, example: &Example) {
        if example.why == Why::Error {
            let key = (example.outcome, example.code.clone(), example.message.clone());
            let before = self.kept_of.entry(key).or_default();
            *before += 1;
            if *before > OF_A_CAUSE {
                return;
            }
        }
        if self.shelf.admits(example) {
            let bytes = self.write_example(example);
            self.shelf.took(example.why, bytes);
        }
    }

    /// Writes the slow samples that have waited for the end of their minute, as far as space permits.
    fn write_waiting(&mut self, now_ms: i64) {
        let (waited, mut room) = self.shelf.ended(now_ms);
        for example in &waited {
            let bytes = self.write_example(example);
            if !self.shelf.wrote(example, bytes, &mut room) {
                break;
            }
        }
    }

    /// Writes a kept sample with secrets masked. Returns its length in bytes before compression.
    fn write_example(&mut self, example: &Example) -> usize {
        let shared = |text: &str| Arc::<str>::from(text);
        let kept = Kept {
            why: example.why,
            label: 0,
            cause: None,
            outcome: example.outcome,
            start_ms: example.start_ms,
            elapsed: example.elapsed,
            phases: example.phases,
            code: shared(&example.code),
            message: mask::urls(&example.message).into(),
            address: shared(&example.address),
            reused: example.reused,
            sent: example.sent,
            received: example.received,
            trace: example.trace,
            request: mask::text(&example.request).into(),
            response: mask::text(&example.response).into(),
        };
        let before = self.open.0.len();
        self.push_kept(kept, &example.label, example.rank);
        self.open.0.len() - before
    }

    /// Adds a sample that is kept as evidence, and assigns numbers to its label and cause.
    pub fn keep(&mut self, kept: Kept, label: &Arc<str>) {
        self.push_kept(kept, label, 0);
    }

    fn push_kept(&mut self, mut kept: Kept, label: &Arc<str>, rank: u64) {
        kept.label = self.names.label(label, false);
        kept.cause = match kept.outcome {
            Outcome::Ok => None,
            outcome => self.names.known_cause(outcome, &kept.code, &kept.message),
        };
        self.write_names();
        entries::push(&mut self.open, Kind::Kept, |out| {
            entries::write_kept(&kept, rank, out);
        });
    }
}
