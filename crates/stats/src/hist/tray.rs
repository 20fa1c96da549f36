//! A histogram that is filled during an interval and then drained into bins.
//!
//! Counts live in pages of 32 bins, which are allocated at their first use and released by the drain. So memory depends
//! on the values of one interval. After the largest number of pages has been in use once, recording and draining
//! allocate nothing.
use super::{Bins, layout};

const PAGE: usize = 32;
const SLOTS: usize = (layout::BINS as usize).div_ceil(PAGE);

#[derive(Clone, Debug, Default)]
pub(crate) struct Tray {
    /// Number, plus one, of the page of each slot of 32 bins; 0 for a slot without a page. Empty before the first
    /// value.
    table: Box<[u16]>,
    pages: Vec<[u32; PAGE]>,
    /// The slot of each page.
    slots: Vec<u16>,
    /// Pages sorted by slot, used while draining.
    order: Vec<(u16, u16)>,
}

impl Tray {
    /// Counts a value. The owner of the tray defines the unit.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        let bin = layout::index_of(value) as usize;
        if self.table.is_empty() {
            self.table = vec![0; SLOTS].into();
        }
        let mut page = self.table[bin / PAGE];
        if page == 0 {
            self.pages.push([0; PAGE]);
            self.slots.push((bin / PAGE) as u16);
            page = self.pages.len() as u16;
            self.table[bin / PAGE] = page;
        }
        self.pages[page as usize - 1][bin % PAGE] += 1;
    }

    /// Appends all counts to `into`, which must be empty, and resets the tray.
    pub(crate) fn drain(&mut self, into: &mut Bins) {
        self.order.extend((0u16..).zip(&self.slots).map(|(page, slot)| (*slot, page)));
        self.order.sort_unstable();
        for (slot, page) in self.order.drain(..) {
            self.table[slot as usize] = 0;
            let first = u32::from(slot) * PAGE as u32;
            for (bin, n) in (first..).zip(self.pages[page as usize]) {
                if n > 0 {
                    into.push(bin, u64::from(n));
                }
            }
        }
        self.pages.clear();
        self.slots.clear();
    }
}

const _: () = assert!(SLOTS < u16::MAX as usize);
