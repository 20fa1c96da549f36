//! State that functions keep per user: counters and rows of files. An empty state takes a few words of memory.

use super::csv_read::Attached;

/// State of functions for one user, dropped when the user ends.
#[derive(Debug, Default)]
pub struct Memory {
    counters: Vec<(u32, i32)>,
    tables: Vec<Attached>,
}

impl Memory {
    /// Increments the user's counter of a `__counter` call, and returns the new value.
    pub(super) fn count(&mut self, site: u32) -> i32 {
        if let Some((_, count)) = self.counters.iter_mut().find(|(of, _)| *of == site) {
            *count = count.wrapping_add(1);
            return *count;
        }
        self.counters.push((site, 1));
        1
    }

    /// Returns the file that the user has opened under an alias.
    pub(super) fn attached(&mut self, alias: &str) -> Option<&mut Attached> {
        self.tables.iter_mut().find(|attached| attached.is(alias))
    }

    pub(super) fn attach(&mut self, attached: Attached) {
        self.tables.push(attached);
    }
}
