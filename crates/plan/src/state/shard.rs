//! Which share of a run's users is in this process, and what follows for what users share.
//!
//! A run may be spread over several processes that do not talk to each other about every sample. What all users
//! count up together is dealt out instead, like cards to the users: number k is for user k mod users, and so for the
//! process that user is in. The first line of a data file goes to the first user, the second to the second, as in one
//! process; no number is used twice, and none is left out as long as all users come round equally fast.

/// A share of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 0.
    pub index: u32,
    /// Of how many, at least 1. User n of each group is in share n mod count.
    pub count: u32,
}

/// A share's part of the numbers 0, 1, 2, … that so many users count up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deal {
    shard: Shard,
    users: u64,
    /// Of them in this share; at least one, though one without users never asks.
    own: u64,
}

impl Default for Shard {
    /// All of the run.
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl Shard {
    /// How many of `users` are in this share.
    pub fn users(self, users: u32) -> u32 {
        users / self.count + u32::from(self.index < users % self.count)
    }

    /// How many of `arrivals` are in this share.
    pub fn users_of(self, arrivals: u64) -> u64 {
        let (index, count) = (u64::from(self.index), u64::from(self.count));
        arrivals / count + u64::from(index < arrivals % count)
    }

    /// Deals numbers out among so many users.
    pub fn deal(self, users: u32) -> Deal {
        Deal {
            shard: self,
            users: u64::from(users.max(1)),
            own: u64::from(self.users(users).max(1)),
        }
    }
}

impl Default for Deal {
    /// Every number.
    fn default() -> Self {
        Shard::default().deal(1)
    }
}

impl Deal {
    /// The number that is the `nth` one of this share, both from 0.
    pub fn nth(self, nth: u64) -> u64 {
        if self.is_all() {
            return nth;
        }
        let (round, place) = (nth / self.own, nth % self.own);
        let (index, count) = (u64::from(self.shard.index), u64::from(self.shard.count));
        round.wrapping_mul(self.users).wrapping_add(place * count + index)
    }

    /// How many numbers of other shares lie between this share's number before the `nth`, and that one.
    pub fn gap(self, nth: u64) -> u64 {
        match nth.checked_sub(1) {
            None => self.nth(0),
            Some(before) => self.nth(nth).wrapping_sub(self.nth(before)).wrapping_sub(1),
        }
    }

    /// How many times as far apart this share's numbers are as all numbers, on average.
    pub fn spacing(self) -> f64 {
        self.users as f64 / self.own as f64
    }

    /// How many numbers come before the first of this share.
    pub fn first(self) -> f64 {
        f64::from(self.shard.index)
    }

    /// Whether nothing goes to other shares.
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
        // Users 1 and 4 of five are here.
        let numbers: Vec<u64> = (0..5).map(|nth| deal.nth(nth)).collect();
        assert_eq!(numbers, [1, 4, 6, 9, 11]);
        let gaps: Vec<u64> = (0..5).map(|nth| deal.gap(nth)).collect();
        assert_eq!(gaps, [1, 2, 1, 2, 1]);
        assert_eq!(Deal::default().gap(7), 0);
    }
}
