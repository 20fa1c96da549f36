//! A small fast random generator (xoshiro256++ seeded by splitmix64), one per core: no lock, no system call.

/// Pseudo-random number generator.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
    spare: Option<f64>,
}

impl Random {
    /// Creates a generator whose sequence is determined by `seed`.
    pub fn new(seed: u64) -> Self {
        let mut x = seed;
        let mut next = || {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Self { state: [next(), next(), next(), next()], spare: None }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a number in `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Lemire's multiply-shift: the bias is below 2^-64 * bound, which no load test can detect.
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a Poisson-distributed number with mean `lambda`, drawn as in JMeter: up to a mean of 30 by
    /// multiplication (Knuth), above by rejection from a logistic distribution (Atkinson's method PA).
    pub fn poisson(&mut self, lambda: f64) -> f64 {
        if lambda <= 30.0 {
            let (least, mut product, mut n) = ((-lambda).exp(), self.unit(), 0.0);
            while product > least {
                product *= self.unit();
                n += 1.0;
            }
            return n;
        }
        let beta = std::f64::consts::PI / (3.0 * lambda).sqrt();
        let alpha = beta * lambda;
        let k = (0.767 - 3.36 / lambda).ln() - lambda - beta.ln();
        loop {
            // The number is in (0, 1], because the logarithm below needs a positive argument.
            let u = 1.0 - self.unit();
            let x = (alpha - ((1.0 - u) / u).ln()) / beta;
            let n = (x + 0.5).floor();
            if n < 0.0 || !n.is_finite() {
                continue;
            }
            let y = alpha - beta * x;
            let chance = y + ((1.0 - self.unit()) / (1.0 + y.exp()).powi(2)).ln();
            if chance <= k + n * lambda.ln() - ln_factorial(n) {
                return n;
            }
        }
    }

    /// Returns a normally distributed number with mean 0 and standard deviation 1 (Marsaglia's polar method).
    pub fn gaussian(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let scale = (-2.0 * s.ln() / s).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }
}

/// Returns the natural logarithm of n!, by Stirling's series.
fn ln_factorial(n: f64) -> f64 {
    let x = n + 1.0;
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_range_and_spread() {
        let mut random = Random::new(7);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(seen.iter().all(|n| *n > 800), "{seen:?}");
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..20_000 {
            let g = random.gaussian();
            sum += g;
            squares += g * g;
        }
        assert!((sum / 20_000.0_f64).abs() < 0.05 && (squares / 20_000.0_f64 - 1.0).abs() < 0.05);
    }

    #[test]
    fn poisson_numbers_have_their_mean_for_variance() {
        let mut random = Random::new(11);
        for lambda in [0.0, 0.5, 4.0, 30.0, 31.0, 300.0, 5_000.0] {
            let drawn: Vec<f64> = (0..20_000).map(|_| random.poisson(lambda)).collect();
            let mean = drawn.iter().sum::<f64>() / 20_000.0;
            let variance = drawn.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 20_000.0;
            assert!((mean - lambda).abs() <= 0.05 * lambda.sqrt(), "{lambda}: {mean}");
            assert!((variance - lambda).abs() <= 0.06 * lambda, "{lambda}: {variance}");
            assert!(drawn.iter().all(|n| *n >= 0.0 && n.fract() == 0.0));
        }
        assert_eq!(random.poisson(-3.0), 0.0);
        let exact: f64 = (2..=20).map(|k| f64::from(k).ln()).sum();
        assert!((ln_factorial(20.0) - exact).abs() < 1e-9);
        assert!(ln_factorial(0.0).abs() < 1e-3);
    }
}
