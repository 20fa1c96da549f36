//! Random numbers from a seed, the same on every machine: SplitMix64 (Steele, Lea and Flood, 2014).
//!
//! Each plan has a seed of its own, so that any plan of a run can be made again without those before it.

pub(crate) struct Dice(u64);

impl Dice {
    /// The dice for plan `number` of a run with `seed`.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        // Neighbours shall have nothing in common: one that began a step further would go on as the other does.
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

    /// A number from 0 to `n` - 1; `n` is at least 1.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True in `percent` of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these, each as often as the others.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// One of these by weight.
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
