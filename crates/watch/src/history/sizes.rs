//! Quantiles of sizes: a histogram of quarter octaves with a half-life.

use serde::{Deserialize, Serialize};

const HALF_LIFE_DAYS: f64 = 14.0;
/// A quarter octave up to 2^40.
const BUCKET_MAX: u8 = 161;
/// Sizes, and days with any, that make a past.
const SIZES_MIN: f64 = 60.0;
const DAYS_MIN: u32 = 3;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Sizes {
    buckets: Vec<(u8, f64)>,
    day: u32,
    days: u32,
}

impl Sizes {
    pub fn learn(&mut self, day: u32, size: u64) {
        if day > self.day {
            let left = 0.5_f64.powf(f64::from(day - self.day) / HALF_LIFE_DAYS);
            self.buckets.retain_mut(|(_, weight)| {
                *weight *= left;
                *weight > 0.01
            });
            self.days = self.days.saturating_add(1);
            self.day = day;
        }
        let bucket = bucket(size);
        match self.buckets.binary_search_by_key(&bucket, |(at, _)| *at) {
            Ok(found) => self.buckets[found].1 += 1.0,
            Err(place) => self.buckets.insert(place, (bucket, 1.0)),
        }
    }

    /// `None` before there is a past.
    pub fn median(&self) -> Option<u64> {
        let total: f64 = self.buckets.iter().map(|(_, weight)| weight).sum();
        if total < SIZES_MIN || self.days < DAYS_MIN {
            return None;
        }
        let mut below = 0.0;
        let middle = self.buckets.iter().find(|(_, weight)| {
            below += weight;
            below >= total / 2.0
        });
        middle.map(|(bucket, _)| size_of(*bucket))
    }

    /// What came from outside may be anything.
    pub fn trim(&mut self) {
        self.buckets.retain(|(bucket, weight)| *bucket <= BUCKET_MAX && weight.is_finite());
        self.buckets.sort_by_key(|(bucket, _)| *bucket);
        self.buckets.dedup_by_key(|(bucket, _)| *bucket);
    }
}

fn bucket(size: u64) -> u8 {
    if size == 0 {
        return 0;
    }
    let quarters = ((size as f64).log2() * 4.0).clamp(0.0, f64::from(BUCKET_MAX - 1));
    quarters as u8 + 1
}

fn size_of(bucket: u8) -> u64 {
    if bucket == 0 { 0 } else { 2.0_f64.powf((f64::from(bucket) - 0.5) / 4.0) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_right_to_a_quarter_octave_and_stays_where_most_are() {
        let mut sizes = Sizes::default();
        for i in 0..300 {
            sizes.learn(20_000 + i / 60, if i % 10 == 0 { 1 << 39 } else { 5000 });
        }
        let median = sizes.median().expect("a past");
        assert!((4200..=5900).contains(&median), "{median}");
        assert!(sizes.buckets.len() == 2);
    }

    #[test]
    fn one_day_is_no_past() {
        let mut sizes = Sizes::default();
        (0..1000).for_each(|_| sizes.learn(20_000, 100));
        assert_eq!(sizes.median(), None);
    }
}
