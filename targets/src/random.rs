//! Random numbers: a seeded generator for repeatable targets, and the system's secure generator for `fitness`.
//!
//! The seeded generator is SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).

#[derive(Debug, Clone)]
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Draws a random number, uniform in [0, 1), with 53 bits.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a standard normal number by the Box-Muller method.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Draws a number below `bound` (at least 1) from the system's secure generator. Because the remainder of a division is
/// used, the distribution deviates from uniform by less than 2⁻³².
pub(crate) fn secure_below(bound: u32) -> u32 {
    // If the system has no random numbers, zero keeps the target serving.
    let number = getrandom::u64().unwrap_or_default();
    (number % u64::from(bound)) as u32
}
