//! What functions remember for one user. Empty, it costs a few words.

/// The memory of one user; dropped when the user ends.
#[derive(Debug, Default)]
pub struct Memory {
    counters: Vec<(u32, i32)>,
}

impl Memory {
    /// Steps the counter of a call and returns its new value.
    pub(super) fn count(&mut self, site: u32) -> i32 {
        if let Some((_, count)) = self.counters.iter_mut().find(|(of, _)| *of == site) {
            *count = count.wrapping_add(1);
            return *count;
        }
        self.counters.push((site, 1));
        1
    }
}
