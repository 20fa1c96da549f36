//! Takes the samples of one core.
//!
//! Owned by its core: no locks. A label has a tally and four page tables; counts live in pages of
//! 32 from one pool, all given back at each drain, so memory follows what one interval touches and
//! recording allocates nothing once pool and label are warm. A record touches about eight cache
//! lines; a drain costs the touched pages, not the range of the histograms.
use std::collections::HashMap;
use std::sync::Arc;

use crate::cause::Causes;
use crate::close::{CloseCause, Closes};
use crate::counter::{Counter, Counters};
use crate::hist::{Tray, layout};
use crate::sample::{LabelId, Outcome, Sample, millis};
use crate::snapshot::{LabelDelta, Snapshot};
use crate::span::Span;
use crate::tally::Tally;

/// Limit of distinct labels; others are counted under [`OTHER_LABELS`].
pub const MAX_LABELS: usize = 10_000;
pub const OTHER_LABELS: &str = "(other labels)";

const PAGE: usize = 32;
/// Whole milliseconds below this have a bin in a page; larger ones go to a list.
const DENSE_MS: u32 = 16_384;
const MS_SLOTS: usize = DENSE_MS as usize / PAGE;
const US_SLOTS: usize = (layout::BINS as usize).div_ceil(PAGE);
const SLOTS: usize = MS_SLOTS + 3 * US_SLOTS;
/// First slot of each histogram in a label's table: ms, service, response, lag.
const FIRST: [usize; 4] = [0, MS_SLOTS, MS_SLOTS + US_SLOTS, MS_SLOTS + 2 * US_SLOTS];
/// Pages set aside from the start.
const WARM_PAGES: usize = 512;

pub struct Recorder {
    /// Two per name: requests at 2n, transactions at 2n + 1.
    labels: Vec<Label>,
    names: HashMap<Arc<str>, u32>,
    /// Page 0 is never counted in: slot value 0 means "no page".
    pages: Vec<[u32; PAGE]>,
    /// For each page, where it belongs.
    links: Vec<Link>,
    touched: Vec<u32>,
    /// Slot and page of one label while it is drained.
    order: Vec<(u32, u32)>,
    counters: Counters,
    causes: Causes,
    spans: [Tray; Span::COUNT],
    closes: Closes,
    seq: u64,
}

struct Label {
    name: Arc<str>,
    touched: bool,
    tally: Tally,
    /// First of the chain of its pages; 0 when it has none.
    head: u32,
    /// Slot to page; empty until the first sample.
    table: Box<[u32]>,
    /// Milliseconds too large for a page, with their counts.
    large: Vec<(u32, u32)>,
}

/// A page in use since the last drain: its place in the label's table, and the next of the label.
#[derive(Clone, Copy)]
struct Link {
    slot: u32,
    next: u32,
}

impl Recorder {
    pub fn new() -> Self {
        let mut pages = Vec::with_capacity(WARM_PAGES);
        pages.push([0; PAGE]);
        let mut links = Vec::with_capacity(WARM_PAGES);
        links.push(Link { slot: 0, next: 0 });
        Self {
            labels: Vec::new(),
            names: HashMap::new(),
            pages,
            links,
            touched: Vec::new(),
            order: Vec::with_capacity(WARM_PAGES),
            counters: Counters::default(),
            causes: Causes::default(),
            spans: Default::default(),
            closes: Closes::default(),
            seq: 0,
        }
    }

    /// The number of a label, the same for the same text; bounded by [`MAX_LABELS`].
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

    /// The text of a label of this recorder.
    pub fn name(&self, label: LabelId) -> &str {
        &self.labels[label.0 as usize * 2].name
    }

    /// Adds a sample. A sample cut by the end of the run is counted apart and in nothing else.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        let at = sample.label.0 * 2 + u32::from(sample.transaction);
        let label = &mut self.labels[at as usize];
        if !label.touched {
            label.warm();
            self.touched.push(at);
        }
        let elapsed_ms = sample.elapsed_ms();
        let n = sample.count;
        let value_ms = if n > 1 { elapsed_ms / u64::from(n) } else { elapsed_ms };
        label.tally.add(sample, elapsed_ms, value_ms);
        if sample.outcome == Outcome::CutByEnd {
            self.counters.add(Counter::CutByEnd, u64::from(n));
            return;
        }
        let ms = u32::try_from(value_ms).unwrap_or(u32::MAX);
        if ms < DENSE_MS {
            self.bump(at, FIRST[0], ms, n);
        } else {
            label.large.push((ms, n));
        }
        let each = if n > 1 { sample.elapsed / u64::from(n) } else { sample.elapsed };
        self.bump(at, FIRST[1], layout::index_of(each / 1000), n);
        let response = each.saturating_add(sample.wait) / 1000;
        self.bump(at, FIRST[2], layout::index_of(response), n);
        self.bump(at, FIRST[3], layout::index_of(sample.lag / 1000), n);
    }

    /// Counts a failed sample under its cause. The sample itself goes to [`Self::record`]. A sample cut by the end of the
    /// run is no error.
    #[cold]
    pub fn error(&mut self, sample: &Sample, code: &str, message: &str) {
        if sample.outcome == Outcome::CutByEnd {
            return;
        }
        let name = &self.labels[sample.label.0 as usize * 2].name;
        self.causes.add(sample.outcome, code, message, name, sample.start_ms);
    }

    #[inline]
    pub fn add(&mut self, counter: Counter, n: u64) {
        self.counters.add(counter, n);
    }

    /// Adds a time in nanoseconds to a span.
    #[inline]
    pub fn span(&mut self, span: Span, nanos: u64) {
        self.spans[span as usize].record(nanos / 1000);
    }

    /// A connection has ended, or its opening has failed: called once for each that was begun.
    /// `code` is the close status, or an upgrade's HTTP status; 0 where there is none. `idle_ms` is
    /// how long no byte had gone either way. The counters (`WsClosed`, `WsFailed`) are the caller's.
    pub fn closed(&mut self, cause: CloseCause, code: u16, idle_ms: u64) {
        self.closes.add(cause, code, idle_ms);
    }

    /// Everything since the last drain, moved into `into`, which is emptied first. `at_ms` and
    /// `core` are left to the caller.
    pub fn drain(&mut self, into: &mut Snapshot) {
        into.clear();
        self.seq += 1;
        into.seq = self.seq;
        into.counters = self.counters;
        self.counters.clear();
        self.causes.drain_into(&mut into.causes);
        for span in Span::ALL {
            self.spans[span as usize].drain(into.spans.get_mut(span));
        }
        self.closes.drain_into(&mut into.closes, &mut into.spare_bins);
        self.touched.sort_unstable();
        for at in self.touched.drain(..) {
            let label = &mut self.labels[at as usize];
            label.touched = false;
            let delta = into.push(&label.name, at % 2 == 1);
            delta.tally = std::mem::take(&mut label.tally);
            let mut page = std::mem::take(&mut label.head);
            while page != 0 {
                let link = self.links[page as usize];
                self.order.push((link.slot, page));
                page = link.next;
            }
            self.order.sort_unstable();
            for (slot, page) in self.order.drain(..) {
                label.table[slot as usize] = 0;
                move_page(slot as usize, &self.pages[page as usize], delta);
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
        // All pages are free again; the capacity stays.
        self.pages.truncate(1);
        self.links.truncate(1);
    }

    #[inline]
    fn bump(&mut self, at: u32, first: usize, bin: u32, n: u32) {
        let slot = first + bin as usize / PAGE;
        let mut page = self.labels[at as usize].table[slot];
        if page == 0 {
            page = self.take_page(at, slot);
        }
        self.pages[page as usize][bin as usize % PAGE] += n;
    }

    #[cold]
    fn take_page(&mut self, label: u32, slot: usize) -> u32 {
        let page = self.pages.len() as u32;
        let label = &mut self.labels[label as usize];
        self.pages.push([0; PAGE]);
        self.links.push(Link { slot: slot as u32, next: label.head });
        label.head = page;
        label.table[slot] = page;
        page
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Label {
    fn new(name: Arc<str>) -> Self {
        Self {
            name,
            touched: false,
            tally: Tally::EMPTY,
            head: 0,
            table: Box::default(),
            large: Vec::new(),
        }
    }

    #[cold]
    fn warm(&mut self) {
        self.touched = true;
        if self.table.is_empty() {
            self.table = vec![0; SLOTS].into();
        }
    }
}

fn move_page(slot: usize, page: &[u32; PAGE], delta: &mut LabelDelta) {
    let which = FIRST.iter().rposition(|&first| slot >= first).expect("the first slot is 0");
    let bins = match which {
        0 => &mut delta.ms,
        1 => &mut delta.service,
        2 => &mut delta.response,
        _ => &mut delta.lag,
    };
    let first = ((slot - FIRST[which]) * PAGE) as u32;
    for (bin, n) in (first..).zip(page.iter()) {
        if *n > 0 {
            bins.push(bin, u64::from(*n));
        }
    }
}

const _: () = assert!(millis(499_999) == 0 && millis(500_000) == 1);
