//! Which share of a run's users is in this process, and what follows for what users share.
//!
//! A run may be spread over several processes that do not talk to each other about every sample. What all users
//! count up together is dealt out like cards instead: of the numbers 0, 1, 2, … the process with index i of n takes
//! i, n + i, 2n + i, … Since users are dealt out in the same way, the first line of a data file goes to the first
//! user, the second to the second, as in one process; no number is used twice, and none is left out as long as all
//! processes count equally fast.

/// A share of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 0.
    pub index: u32,
    /// Of how many, at least 1.
    pub count: u32,
}

impl Default for Shard {
    /// All of the run.
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl Shard {
    /// The number that is the `nth` one of this share, both from 0.
    pub fn nth(self, nth: u64) -> u64 {
        nth.wrapping_mul(u64::from(self.count)).wrapping_add(u64::from(self.index))
    }

    /// The shares in which so many users are to be found: with fewer users than processes, those without any must
    /// not be dealt anything.
    #[must_use]
    pub fn among(self, users: u32) -> Self {
        Self { count: self.count.min(users).max(1), ..self }
    }

    /// How many of `users`, dealt out one by one, are in this share.
    pub fn users(self, users: u32) -> u32 {
        users / self.count + u32::from(self.index < users % self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_every_number_once() {
        let mut all: Vec<u64> = (0..3)
            .flat_map(|index| (0..4).map(move |nth| Shard { index, count: 3 }.nth(nth)))
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..12).collect::<Vec<_>>());
        let users: Vec<u32> = (0..3).map(|index| Shard { index, count: 3 }.users(11)).collect();
        assert_eq!(users, [4, 4, 3]);
    }

    #[test]
    fn nothing_is_dealt_to_processes_without_users() {
        let shard = Shard { index: 0, count: 8 };
        assert_eq!(shard.among(1).nth(5), 5);
        assert_eq!(shard.among(3).nth(5), 15);
        assert_eq!(shard.among(0).nth(5), 5);
    }
}
