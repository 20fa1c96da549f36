//! This process's share of a run's users, and its share of the numbers and lines that users have in common.
//!
//! The processes of a run do not communicate for each sample. Instead, the numbers of a sequence that all users share
//! are divided in advance: number k belongs to user k mod users, and so to the process of this user. The first line of
//! a data file goes to the first user and the second line to the second user, as in one process. No number is used
//! twice, and none is left out as long as all users iterate equally fast.

/// A process's share of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Index of this share, from 0.
    pub index: u32,
    /// Number of shares, at least 1. User n of each group is in share n mod count.
    pub count: u32,
}

/// The part of the sequence 0, 1, 2, … that belongs to this share, if the numbers are assigned to `users` users in
/// turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deal {
    shard: Shard,
    users: u64,
    /// Number of users in this share; at least 1, although a share without users never takes a number.
    own: u64,
}

impl Default for Shard {
    /// Returns the share that contains all users of the run.
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl Shard {
    /// Returns how many of `users` users are in this share.
    pub fn users(self, users: u32) -> u32 {
        users / self.count + u32::from(self.index < users % self.count)
    }

    /// Returns how many of `arrivals` arrivals are in this share.
    pub fn users_of(self, arrivals: u64) -> u64 {
        let (index, count) = (u64::from(self.index), u64::from(self.count));
        arrivals / count + u64::from(index < arrivals % count)
    }

    /// Divides a sequence of numbers among `users` users.
    pub fn deal(self, users: u32) -> Deal {
        Deal {
            shard: self,
            users: u64::from(users.max(1)),
            own: u64::from(self.users(users).max(1)),
        }
    }
}

impl Default for Deal {
    /// Returns the division in which one process gets every number.
    fn default() -> Self {
        Shard::default().deal(1)
    }
}

impl Deal {
    /// Returns number `nth`, counted from 0, of this share.
    pub fn nth(self, nth: u64) -> u64 {
        if self.is_all() {
            return nth;
        }
        let (round, place) = (nth / self.own, nth % self.own);
        let (index, count) = (u64::from(self.shard.index), u64::from(self.shard.count));
        round.wrapping_mul(self.users).wrapping_add(place * count + index)
    }

    /// Returns how many numbers of other shares lie between this share's numbers `nth - 1` and `nth`.
    pub fn gap(self, nth: u64) -> u64 {
        match nth.checked_sub(1) {
            None => self.nth(0),
            Some(before) => self.nth(nth).wrapping_sub(self.nth(before)).wrapping_sub(1),
        }
    }

    /// Returns the average distance between consecutive numbers of this share; 1 if it has all numbers.
    pub fn spacing(self) -> f64 {
        self.users as f64 / self.own as f64
    }

    /// Returns how many numbers precede the first number of this share.
    pub fn first(self) -> f64 {
        f64::from(self.shard.index)
    }

    /// Returns true if this is the only share.
    pub fn is_all(self) -> bool {
        self.shard.count == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_every_number_once_and_each_user_one_a_round() {
        for (count, users) in [(3, 7), (3, 3), (2, 1), (8, 3), (1, 5)] {
            let mut all = Vec::new();
            for index in 0..count {
                let shard = Shard { index, count };
                let own = u64::from(shard.users(users));
                all.extend((0..own * 4).map(|nth| shard.deal(users).nth(nth)));
            }
            all.sort_unstable();
            assert_eq!(all, (0..u64::from(users) * 4).collect::<Vec<_>>(), "{count} {users}");
        }
    }

    #[test]
    fn gaps_are_what_the_others_take() {
        let deal = Shard { index: 1, count: 3 }.deal(5);
        // Users 1 and 4 of five are in this share.
        let numbers: Vec<u64> = (0..5).map(|nth| deal.nth(nth)).collect();
        assert_eq!(numbers, [1, 4, 6, 9, 11]);
        let gaps: Vec<u64> = (0..5).map(|nth| deal.gap(nth)).collect();
        assert_eq!(gaps, [1, 2, 1, 2, 1]);
        assert_eq!(Deal::default().gap(7), 0);
    }
}
