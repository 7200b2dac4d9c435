//! Numbers that are drawn: the same from the same seed, and nothing but arithmetic.

/// SplitMix64 (Steele, Lea, Flood 2014): eight bytes, so that every program can carry its own.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Another sequence from the same seed. What one part draws doesn't change what another gets.
    pub fn stream(seed: u64, number: u64) -> Self {
        let mut first = Self(seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
        Self(first.bits())
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Above 0, at most 1: safe for a logarithm.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    pub fn happens(&mut self, share: f64) -> bool {
        self.unit() <= share
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// How many times in a row something goes on happening, `mean` times on average.
    pub fn geometric(&mut self, mean: f64) -> u32 {
        let goes_on = mean / (1.0 + mean);
        (self.unit().ln() / goes_on.ln()) as u32
    }
}

/// The body of durations: most are near the median, a few far above.
#[derive(Clone, Copy, Debug)]
pub struct Lognormal {
    pub median: f64,
    pub sigma: f64,
}

impl Lognormal {
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.median * (self.sigma * random.normal()).exp()
    }
}

/// The tail of durations: each time as long, `2^shape` times as rare.
#[derive(Clone, Copy, Debug)]
pub struct Pareto {
    pub least: f64,
    pub shape: f64,
}

impl Pareto {
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.least * random.unit().powf(-1.0 / self.shape)
    }
}

/// Popularity: rank `k`, from 0, is drawn in proportion to `1 / (shift + k)^exponent`. With a shift of 1, it's Zipf's
/// law; a larger one flattens its top. Drawn exactly, by rejection inversion (Hörmann, Derflinger 1996), without a
/// table.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    shift: f64,
    exponent: f64,
    ranks: f64,
    area_of_all: f64,
    area_of_first: f64,
    sure: f64,
}

impl Zipf {
    pub fn new(ranks: usize, exponent: f64, shift: f64) -> Self {
        let mut zipf =
            Self { shift, exponent, ranks: ranks as f64, area_of_all: 0.0, area_of_first: 0.0, sure: 0.0 };
        zipf.area_of_first = zipf.area(0.5) - zipf.weight(0.0);
        zipf.area_of_all = zipf.area(zipf.ranks - 0.5);
        zipf.sure = 1.0 - zipf.at_area(zipf.area(1.5) - zipf.weight(1.0));
        zipf
    }

    pub fn draw(&self, random: &mut Random) -> usize {
        loop {
            let area = self.area_of_all + random.unit() * (self.area_of_first - self.area_of_all);
            let exact = self.at_area(area);
            let rank = (exact + 0.5).floor().clamp(0.0, self.ranks - 1.0);
            if rank - exact <= self.sure || area >= self.area(rank + 0.5) - self.weight(rank) {
                return rank as usize;
            }
        }
    }

    fn weight(&self, rank: f64) -> f64 {
        (self.shift + rank).powf(-self.exponent)
    }

    /// The integral of the weights up to here.
    fn area(&self, at: f64) -> f64 {
        match self.is_harmonic() {
            true => (self.shift + at).ln(),
            false => (self.shift + at).powf(1.0 - self.exponent) / (1.0 - self.exponent),
        }
    }

    fn at_area(&self, area: f64) -> f64 {
        match self.is_harmonic() {
            true => area.exp() - self.shift,
            false => ((1.0 - self.exponent) * area).powf(1.0 / (1.0 - self.exponent)) - self.shift,
        }
    }

    fn is_harmonic(&self) -> bool {
        (self.exponent - 1.0).abs() < 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWN: usize = 200_000;

    /// Mean, and the share of values above `limit`.
    fn drawn(limit: f64, mut draw: impl FnMut(&mut Random) -> f64) -> (f64, f64) {
        let mut random = Random::new(7);
        let values: Vec<f64> = (0..DRAWN).map(|_| draw(&mut random)).collect();
        let above = values.iter().filter(|value| **value > limit).count();
        (values.iter().sum::<f64>() / DRAWN as f64, above as f64 / DRAWN as f64)
    }

    fn check(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() <= tolerance, "{found}, and not {expected}");
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_gives_others() {
        let numbers = |mut random: Random| [random.bits(), random.bits(), random.bits()];
        // The first numbers of the published algorithm for seed 1234567.
        let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers(Random::new(1_234_567)), published);
        assert_eq!(numbers(Random::stream(5, 1)), numbers(Random::stream(5, 1)));
        assert_ne!(numbers(Random::stream(5, 1)), numbers(Random::stream(5, 2)));
        assert_ne!(numbers(Random::stream(5, 1)), numbers(Random::stream(6, 1)));
    }

    #[test]
    fn units_and_choices_are_even() {
        let (mean, above) = drawn(0.9, Random::unit);
        check(mean, 0.5, 0.01);
        check(above, 0.1, 0.02);
        let (mean, above) = drawn(8.5, |random| random.below(10) as f64);
        check(mean, 4.5, 0.01);
        check(above, 0.1, 0.02);
    }

    #[test]
    fn exponential_times_have_their_mean_and_tail() {
        let (mean, above) = drawn(15.0, |random| random.exponential(5.0));
        check(mean, 5.0, 0.01);
        check(above, (-3.0f64).exp(), 0.03);
    }

    #[test]
    fn geometric_counts_have_their_mean_and_tail() {
        let (mean, above) = drawn(9.5, |random| f64::from(random.geometric(3.0)));
        check(mean, 3.0, 0.01);
        check(above, 0.75f64.powi(10), 0.03);
    }

    #[test]
    fn a_lognormal_has_its_mean_and_tail() {
        let body = Lognormal { median: 20.0, sigma: 1.0 };
        let (mean, above) = drawn(20.0 * 2.0f64.exp(), |random| body.draw(random));
        check(mean, 20.0 * 0.5f64.exp(), 0.02);
        check(above, 0.02275, 0.05);
    }

    #[test]
    fn a_pareto_tail_is_as_heavy_as_its_shape() {
        let tail = Pareto { least: 4.0, shape: 3.0 };
        let (mean, above) = drawn(8.0, |random| tail.draw(random));
        check(mean, 6.0, 0.02);
        check(above, 0.125, 0.02);
        assert!(drawn(4.0 - 1e-9, |random| tail.draw(random)).1 == 1.0);
    }

    #[test]
    fn zipf_draws_each_rank_as_often_as_it_should() {
        for (exponent, shift) in [(1.0, 1.0), (1.0, 50.0), (0.7, 1.0), (1.5, 3.0)] {
            let ranks = 1_000;
            let zipf = Zipf::new(ranks, exponent, shift);
            let mut random = Random::new(3);
            let mut counts = vec![0usize; ranks];
            (0..DRAWN).for_each(|_| counts[zipf.draw(&mut random)] += 1);
            let weight = |rank: usize| (shift + rank as f64).powf(-exponent);
            let all: f64 = (0..ranks).map(weight).sum();
            for part in [0..1, 1..10, 10..100, 100..1_000] {
                let expected: f64 = part.clone().map(weight).sum::<f64>() / all;
                let found: usize = counts[part].iter().sum();
                check(found as f64 / DRAWN as f64, expected, 0.06);
            }
        }
    }
}
