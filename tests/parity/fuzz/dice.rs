//! Random numbers from a seed, the same on every machine: SplitMix64 (Steele, Lea and Flood, 2014).
//!
//! Each plan has its own seed, so that any plan of a run can be generated without the plans before it.

pub(crate) struct Dice(u64);

impl Dice {
    /// Creates the generator for plan `number` of a run with `seed`.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        // Mixes the seed, because neighbouring seeds would yield overlapping sequences.
        let seed = Self(seed).next();
        Self(Self(seed ^ number).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draws a number from 0 to `n` - 1; `n` is at least 1.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Returns true with a probability of `percent`.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Draws an item of a list; all items are equally likely.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Draws an item of a list with the given weights.
    pub(crate) fn weighted<'a, T>(&mut self, of: &'a [(usize, T)]) -> &'a T {
        let mut left = self.below(of.iter().map(|(weight, _)| weight).sum());
        for (weight, thing) in of {
            if left < *weight {
                return thing;
            }
            left -= weight;
        }
        unreachable!("the weights add up")
    }
}
