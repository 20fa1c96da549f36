//! Counts the samples of one core.
//!
//! A recorder is owned by its core, so it needs no locks. A label without samples in an interval is only a name and a
//! number. A label with samples in the interval has a `Place`: a tally and six histograms. The histograms' bins are in
//! pages of 32, which are found through chunks of 32 page numbers. Places, chunks and pages come from pools and are
//! returned by each drain. So memory depends on the samples of one interval and not on the number of labels, and
//! recording does not allocate once the pools are filled. A drain costs the used pages, not the range of the
//! histograms.
use std::collections::HashMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::cause::Causes;
use crate::class::{ClassId, Classes};
use crate::close::{CloseCause, Closes};
use crate::counter::{Counter, Counters};
use crate::hist::{Tray, layout};
use crate::kept::{Draw, Keeper, Reasons, Texts};
use crate::number::Number;
use crate::sample::{LabelId, Outcome, Sample, millis};
use crate::snapshot::{self, LabelDelta, Snapshot};
use crate::span::Span;
use crate::stalled::Counted;
use crate::tally::Tally;

/// Maximum number of distinct labels; samples of further labels are counted under [`OTHER_LABELS`].
pub const MAX_LABELS: usize = 10_000;
/// Label of the samples whose own label exceeds [`MAX_LABELS`].
pub const OTHER_LABELS: &str = "(other labels)";

/// Number of bins in a page.
const PAGE: usize = 32;
/// Elapsed time in ms below which each whole millisecond has a bin in a page; longer times are stored in a list.
const DENSE_MS: u32 = 16_384;
const MS_SLOTS: usize = DENSE_MS as usize / PAGE;
const US_SLOTS: usize = (layout::BINS as usize).div_ceil(PAGE);
const SLOTS: usize = MS_SLOTS + 5 * US_SLOTS;
/// First slot of each histogram of a label: milliseconds, service time, response time, lag, time of failed samples,
/// time of unanswered samples. A slot stands for a page.
const FIRST: [usize; 6] = [
    0,
    MS_SLOTS,
    MS_SLOTS + US_SLOTS,
    MS_SLOTS + 2 * US_SLOTS,
    MS_SLOTS + 3 * US_SLOTS,
    MS_SLOTS + 4 * US_SLOTS,
];
const MINUTE_MS: i64 = 60_000;
/// Number of slots per chunk.
const CHUNK: usize = 32;
/// Number of chunks per label.
const CHUNKS: usize = SLOTS.div_ceil(CHUNK);
/// Number of pages allocated at the start.
const WARM_PAGES: usize = 512;

pub struct Recorder {
    /// Two entries per label name n: requests at 2n, transactions at 2n + 1.
    labels: Vec<Label>,
    /// Number of each label by its name.
    names: HashMap<Arc<str>, u32>,
    /// Places for labels with samples since the last drain. Only the first `used` places are in use; the other places
    /// are empty.
    places: Vec<Place>,
    used: usize,
    pages: Pages,
    /// Scratch list for draining: labels with samples, and the numbers of their places.
    touched: Vec<(u32, u32)>,
    /// Scratch list for draining: slots and pages of one label.
    order: Vec<(u32, u32)>,
    counters: Counters,
    causes: Causes,
    spans: [Tray; Span::COUNT],
    closes: Closes,
    classes: Classes,
    /// Scratch buffer for an address as text.
    text: String,
    keeper: Keeper,
    /// End of the current minute, epoch ms: in each minute, the slowest sample of each label is stored as evidence.
    minute_ends: i64,
    stalled: Counted,
    /// Sums of numbers that the plan extracts from responses, indexed by the number of the series.
    numbers: Vec<Number>,
    seq: u64,
    /// Start of the interval, epoch ms; 0 if it was not set.
    began_ms: i64,
}

struct Label {
    name: Arc<str>,
    /// Number of the label's entry in `places`, plus one; 0 without an entry.
    place: u32,
    /// Elapsed time in nanoseconds of the label's slowest sample in this minute that was stored.
    slowest: u64,
}

/// Measurements of one label since the last drain.
struct Place {
    label: u32,
    tally: Tally,
    slots: [u32; snapshot::SLOTS],
    /// First page in the linked list of this label's pages; 0 for an empty list.
    head: u32,
    /// Indices into `Pages::chunks` for the label's slots; 0 for a chunk without pages.
    chunks: [u32; CHUNKS],
    /// Elapsed times of at least [`DENSE_MS`] milliseconds, each with its count.
    large: Vec<(u32, u32)>,
}

/// Pages of histogram bins, shared by all labels.
struct Pages {
    /// Page number of each slot, in chunks of slots; 0 for a slot without a page. Chunk 0 is empty.
    chunks: Vec<[u32; CHUNK]>,
    /// Bins of each page. Page 0 is never used, because 0 means "no page".
    counts: Vec<[u32; PAGE]>,
    /// Slot of each page, and the label's next page.
    links: Vec<Link>,
}

/// A page in use since the last drain: its slot, and the next page of the same label.
#[derive(Clone, Copy)]
struct Link {
    slot: u32,
    next: u32,
}

impl Recorder {
    pub fn new() -> Self {
        Self {
            labels: Vec::new(),
            names: HashMap::new(),
            places: Vec::new(),
            used: 0,
            pages: Pages::new(),
            touched: Vec::new(),
            order: Vec::with_capacity(WARM_PAGES),
            counters: Counters::default(),
            causes: Causes::default(),
            spans: Default::default(),
            closes: Closes::default(),
            classes: Classes::default(),
            text: String::new(),
            keeper: Keeper::default(),
            minute_ends: 0,
            stalled: Counted::default(),
            numbers: Vec::new(),
            seq: 0,
            began_ms: 0,
        }
    }

    /// Starts an interval at `at_ms`, epoch ms. Samples are assigned to tenths of the interval from this time on.
    pub fn begin(&mut self, at_ms: i64) {
        self.began_ms = at_ms;
        if at_ms < self.minute_ends - MINUTE_MS {
            // The system clock was set back.
            self.begin_minute(at_ms);
        }
    }

    /// Starts a minute: the search for the slowest sample of each label restarts.
    #[cold]
    fn begin_minute(&mut self, at_ms: i64) {
        self.minute_ends = (at_ms.div_euclid(MINUTE_MS) + 1) * MINUTE_MS;
        self.labels.iter_mut().for_each(|label| label.slowest = 0);
    }

    /// Returns the number of a label. The number of labels is limited by [`MAX_LABELS`].
    pub fn intern(&mut self, label: &str) -> LabelId {
        if let Some(&id) = self.names.get(label) {
            return LabelId(id);
        }
        if self.names.len() >= MAX_LABELS && label != OTHER_LABELS {
            return self.intern(OTHER_LABELS);
        }
        let id = self.names.len() as u32;
        let name: Arc<str> = label.into();
        self.names.insert(Arc::clone(&name), id);
        self.labels.push(Label::new(Arc::clone(&name)));
        self.labels.push(Label::new(name));
        LabelId(id)
    }

    /// Returns the text of a label of this recorder.
    pub fn name(&self, label: LabelId) -> &str {
        &self.labels[label.0 as usize * 2].name
    }

    /// Returns the class under which exchanges with this value of a response header are counted. With an empty header
    /// name, `value` is an address of a server.
    pub fn class(&mut self, header: &str, value: &str) -> ClassId {
        self.classes.intern(header, value)
    }

    /// Returns the class under which exchanges with the server at this address are counted.
    pub fn class_of(&mut self, address: SocketAddr) -> ClassId {
        self.text.clear();
        let _ = write!(self.text, "{address}");
        self.classes.intern("", &self.text)
    }

    /// Makes the next interval list the class of a server's address, even if no request is sent to the address.
    pub fn tell_address(&mut self, address: SocketAddr) {
        let class = self.class_of(address);
        self.classes.mark(class);
    }

    /// Counts an exchange that is not a sample, in the class of its connection. `nanos` is its duration.
    pub fn exchanged(&mut self, class: ClassId, nanos: u64, failed: bool) {
        self.classes.count(class, nanos / 1000, failed, None);
    }

    /// Counts an opened connection in its class.
    pub fn opened(&mut self, class: ClassId) {
        self.classes.opened(class);
    }

    /// Draws the random number of a sample that begins, for the random choice of samples to store as evidence.
    #[inline]
    pub fn draw(&mut self) -> Draw {
        self.keeper.draw()
    }

    /// Stores a sample with excerpts of its texts, for the reasons that [`Self::record`] and [`Self::error`] returned.
    #[cold]
    pub fn keep(&mut self, reasons: Reasons, sample: &Sample, texts: &Texts<'_>) {
        let label = &self.labels[sample.label.0 as usize * 2].name;
        let address = self.classes.value(sample.classes[0]);
        self.keeper.keep(reasons, sample, label, address, texts);
    }

    /// Counts a sample in the statistics of the core. A sample cut by the end of the run is counted separately and in
    /// no other metric. Returns the reasons why the sample should be stored by [`Self::keep`].
    #[inline]
    pub fn record(&mut self, sample: &Sample) -> Reasons {
        let at = sample.label.0 * 2 + u32::from(sample.transaction);
        let place = match self.labels[at as usize].place {
            0 => self.take_place(at),
            place => place as usize - 1,
        };
        let elapsed_ms = sample.elapsed_ms();
        let n = sample.count;
        let value_ms = if n > 1 { elapsed_ms / u64::from(n) } else { elapsed_ms };
        let end_ms = sample.end_ms();
        let label = &mut self.places[place];
        label.tally.add(sample, elapsed_ms, value_ms, end_ms);
        if sample.outcome == Outcome::CutByEnd {
            self.counters.add(Counter::CutByEnd, u64::from(n));
            self.pages.count(label, FIRST[5], layout::index_of(sample.elapsed / 1000), n);
            return Reasons::default();
        }
        let slot = (end_ms - self.began_ms).max(0) as u64 / 100;
        let slot = slot.min(snapshot::SLOTS as u64 - 1) as usize;
        label.slots[slot] = label.slots[slot].wrapping_add(n);
        let ms = u32::try_from(value_ms).unwrap_or(u32::MAX);
        if ms < DENSE_MS {
            self.pages.count(label, FIRST[0], ms, n);
        } else {
            label.large.push((ms, n));
        }
        let each = if n > 1 { sample.elapsed / u64::from(n) } else { sample.elapsed };
        let bin = layout::index_of(each / 1000);
        let response = each.saturating_add(sample.wait) / 1000;
        self.pages.count(label, FIRST[1], bin, n);
        self.pages.count(label, FIRST[2], layout::index_of(response), n);
        self.pages.count(label, FIRST[3], layout::index_of(sample.lag / 1000), n);
        if sample.errors > 0 {
            self.pages.count(label, FIRST[4], bin, sample.errors);
        }
        let of_label = (!sample.transaction).then_some(sample.label);
        for class in sample.classes {
            self.classes.count(class, each / 1000, sample.errors > 0, of_label);
        }
        if sample.transaction {
            return Reasons::default();
        }
        if end_ms >= self.minute_ends {
            self.begin_minute(end_ms);
        }
        let label = &mut self.labels[at as usize];
        self.keeper.choose(sample.draw, sample.elapsed, &mut label.slowest, &label.name)
    }

    /// Counts a failed sample under its cause. The sample itself is passed to [`Self::record`]. A sample cut by the end
    /// of the run is no error. Returns true if the sample should be stored by [`Self::keep`].
    #[cold]
    pub fn error(&mut self, sample: &Sample, code: &str, message: &str) -> bool {
        if sample.outcome == Outcome::CutByEnd {
            return false;
        }
        let name = &self.labels[sample.label.0 as usize * 2].name;
        self.causes.add(sample.outcome, code, message, name, sample.start_ms);
        self.keeper.wants(sample.outcome, code, message)
    }

    /// Counts a sample that a stall made longer. The sample itself is passed to [`Self::record`].
    #[cold]
    pub fn stalled(&mut self, sample: &Sample) {
        self.stalled.add(sample);
    }

    /// Adds a value to series number `at`; `None` stands for a value that is not a number.
    pub fn number(&mut self, at: usize, value: Option<f64>) {
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, Number::default());
        }
        self.numbers[at].add(value);
    }

    #[inline]
    pub fn add(&mut self, counter: Counter, n: u64) {
        self.counters.add(counter, n);
    }

    /// Adds a duration in nanoseconds to the histogram of a span.
    #[inline]
    pub fn span(&mut self, span: Span, nanos: u64) {
        self.spans[span as usize].record(nanos / 1000);
    }

    /// Counts a connection that ended or whose opening failed: called once for each opening. `code` is the close code,
    /// or the HTTP status of an upgrade; 0 for none. `idle_ms` is the time since the last byte in either direction. The
    /// caller updates the counters (`WsClosed`, `WsFailed`).
    pub fn closed(&mut self, cause: CloseCause, code: u16, idle_ms: u64) {
        self.closes.add(cause, code, idle_ms);
    }

    /// Moves everything since the last drain into `into`, which is emptied first. The caller sets `at_ms` and `core`.
    pub fn drain(&mut self, into: &mut Snapshot) {
        into.clear();
        self.seq += 1;
        (into.seq, into.began_ms) = (self.seq, self.began_ms);
        into.counters = self.counters;
        self.counters.clear();
        self.causes.drain_into(&mut into.causes);
        for span in Span::ALL {
            self.spans[span as usize].drain(into.spans.get_mut(span));
        }
        self.closes.drain_into(&mut into.closes, &mut into.spare_bins);
        let labels = &self.labels;
        let name = |label: LabelId| Arc::clone(&labels[label.0 as usize * 2].name);
        self.classes.drain_into(&mut into.classes, &mut into.spare_bins, name);
        self.keeper.drain_into(&mut into.kept);
        self.stalled.drain_into(&mut into.stalled);
        into.numbers.extend_from_slice(&self.numbers);
        self.numbers.fill(Number::default());
        let places = (0u32..).zip(&self.places[..self.used]);
        self.touched.extend(places.map(|(place, label)| (label.label, place)));
        self.touched.sort_unstable();
        for (at, place) in self.touched.drain(..) {
            let (name, label) = (&mut self.labels[at as usize], &mut self.places[place as usize]);
            name.place = 0;
            let delta = into.push(&name.name, at % 2 == 1);
            delta.tally = std::mem::take(&mut label.tally);
            delta.slots = std::mem::take(&mut label.slots);
            let mut page = std::mem::take(&mut label.head);
            while page != 0 {
                let link = self.pages.links[page as usize];
                self.order.push((link.slot, page));
                page = link.next;
            }
            self.order.sort_unstable();
            for (slot, page) in self.order.drain(..) {
                label.chunks[slot as usize / CHUNK] = 0;
                move_page(slot as usize, &self.pages.counts[page as usize], delta);
            }
            label.large.sort_unstable();
            for same in label.large.chunk_by(|a, b| a.0 == b.0) {
                let n: u64 = same.iter().map(|l| u64::from(l.1)).sum();
                if n > 0 {
                    delta.ms.push(same[0].0, n);
                }
            }
            label.large.clear();
        }
        self.used = 0;
        self.pages.free_all();
    }

    /// Assigns a free place to a label with its first sample since the last drain; returns the place's index.
    #[cold]
    fn take_place(&mut self, label: u32) -> usize {
        let place = self.used;
        if place == self.places.len() {
            self.places.push(Place::empty());
        }
        self.places[place].label = label;
        self.used += 1;
        self.labels[label as usize].place = self.used as u32;
        place
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Pages {
    fn new() -> Self {
        let mut counts = Vec::with_capacity(WARM_PAGES);
        counts.push([0; PAGE]);
        let mut links = Vec::with_capacity(WARM_PAGES);
        links.push(Link { slot: 0, next: 0 });
        Self { chunks: vec![[0; CHUNK]], counts, links }
    }

    #[inline]
    fn count(&mut self, label: &mut Place, first: usize, bin: u32, n: u32) {
        let slot = first + bin as usize / PAGE;
        let chunk = label.chunks[slot / CHUNK];
        let mut page = self.chunks[chunk as usize][slot % CHUNK];
        if page == 0 {
            page = self.take(label, slot);
        }
        let count = &mut self.counts[page as usize][bin as usize % PAGE];
        *count = count.wrapping_add(n);
    }

    #[cold]
    fn take(&mut self, label: &mut Place, slot: usize) -> u32 {
        let page = self.counts.len() as u32;
        let chunk = &mut label.chunks[slot / CHUNK];
        if *chunk == 0 {
            *chunk = self.chunks.len() as u32;
            self.chunks.push([0; CHUNK]);
        }
        self.chunks[*chunk as usize][slot % CHUNK] = page;
        self.counts.push([0; PAGE]);
        self.links.push(Link { slot: slot as u32, next: label.head });
        label.head = page;
        page
    }

    /// Releases all chunks and pages for the next interval, and keeps their memory.
    fn free_all(&mut self) {
        self.chunks.truncate(1);
        self.counts.truncate(1);
        self.links.truncate(1);
    }
}

impl Label {
    fn new(name: Arc<str>) -> Self {
        Self { name, place: 0, slowest: 0 }
    }
}

impl Place {
    fn empty() -> Self {
        Self {
            label: 0,
            tally: Tally::EMPTY,
            slots: [0; snapshot::SLOTS],
            head: 0,
            chunks: [0; CHUNKS],
            large: Vec::new(),
        }
    }
}

fn move_page(slot: usize, page: &[u32; PAGE], delta: &mut LabelDelta) {
    let which = FIRST.iter().rposition(|&first| slot >= first).expect("the first slot is 0");
    let bins = match which {
        0 => &mut delta.ms,
        1 => &mut delta.service,
        2 => &mut delta.response,
        3 => &mut delta.lag,
        4 => &mut delta.failed,
        _ => &mut delta.unanswered,
    };
    let first = ((slot - FIRST[which]) * PAGE) as u32;
    for (bin, n) in (first..).zip(page.iter()) {
        if *n > 0 {
            bins.push(bin, u64::from(*n));
        }
    }
}

const _: () = assert!(millis(499_999) == 0 && millis(500_000) == 1);
