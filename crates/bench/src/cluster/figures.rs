//! What a run is told by: waits as histograms, counts, and how full everything was.

use super::timeline::{Micros, SECOND};

/// Each power of two is cut into this many parts: values are off by 3 % at most.
const PARTS: u64 = 32;

/// Times by their size, in microseconds.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    pub count: u64,
}

impl Histogram {
    pub fn add(&mut self, value: Micros) {
        let bucket = Self::bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.count += 1;
    }

    /// The value that this share doesn't exceed. 0 of nothing.
    pub fn at(&self, share: f64) -> Micros {
        let wanted = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return Self::value(bucket as u64);
            }
        }
        0
    }

    fn bucket(value: Micros) -> usize {
        if value < PARTS {
            return value as usize;
        }
        let shift = value.ilog2() - PARTS.ilog2();
        (u64::from(shift) * PARTS + (value >> shift)) as usize
    }

    /// The least of a bucket.
    fn value(bucket: u64) -> Micros {
        if bucket < PARTS {
            return bucket;
        }
        let shift = bucket / PARTS - 1;
        (bucket - shift * PARTS) << shift
    }
}

/// Whose waits are told apart.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// From the request to the start of the program, without the wait for its session.
    pub all: Histogram,
    pub largest: Histogram,
    pub small: Histogram,
    /// The same two while the largest owner's server is slow.
    pub largest_slow: Histogram,
    pub small_slow: Histogram,
    /// For earlier programs of the session, or the end of its lease.
    pub sessions: Histogram,
    pub hot_session: Histogram,
}

/// What happened how often, since the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub offers: u64,
    pub session_offers: u64,
    pub refused_offers: u64,
    pub unanswered_offers: u64,
    pub session_programs: u64,
    pub again: u64,
    pub calls: u64,
    pub ends: u64,
    pub presences: u64,
}

impl Counts {
    pub fn since(&self, before: &Self) -> Self {
        Self {
            offers: self.offers - before.offers,
            session_offers: self.session_offers - before.session_offers,
            refused_offers: self.refused_offers - before.refused_offers,
            unanswered_offers: self.unanswered_offers - before.unanswered_offers,
            session_programs: self.session_programs - before.session_programs,
            again: self.again - before.again,
            calls: self.calls - before.calls,
            ends: self.ends - before.ends,
            presences: self.presences - before.presences,
        }
    }
}

/// How full something is, looked at again and again.
#[derive(Clone, Debug, Default)]
pub struct Use(Vec<f32>);

impl Use {
    pub fn add(&mut self, part: f64) {
        self.0.push(part as f32);
    }

    pub fn median(&self) -> f64 {
        let mut parts = self.0.clone();
        parts.sort_unstable_by(f32::total_cmp);
        parts.get(parts.len() / 2).copied().unwrap_or(0.0).into()
    }

    pub fn most(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f32::max).into()
    }
}

/// A part of the time, by when programs started in it.
const WINDOW_US: Micros = SECOND / 2;

/// So many calm windows in a row, and it's over.
const CALM: usize = 4;

/// A failure is felt within this many windows, or not at all.
const FELT_WITHIN: usize = 16;

/// Waits by the time at which they ended.
#[derive(Clone, Debug, Default)]
pub struct Windows(Vec<Histogram>);

impl Windows {
    pub fn add(&mut self, now: Micros, wait: Micros) {
        let index = (now / WINDOW_US) as usize;
        if index >= self.0.len() {
            self.0.resize_with(index + 1, Histogram::default);
        }
        self.0[index].add(wait);
    }

    /// The median of the windows' 99th percentiles.
    pub fn ordinary(&self, from: Micros, to: Micros) -> Micros {
        let windows = self.0.iter().take((to / WINDOW_US) as usize).skip((from / WINDOW_US) as usize);
        let mut all: Vec<Micros> = windows.map(|window| window.at(0.99)).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0)
    }

    /// How long waits were above `limit` after a failure, and the longest 99th percentile meanwhile. `None`: they
    /// weren't.
    pub fn felt(&self, failed_at: Micros, limit: Micros) -> Option<(Micros, Micros)> {
        let first = (failed_at / WINDOW_US) as usize;
        let (mut last, mut worst, mut calm) = (None, 0, 0);
        for (index, window) in self.0.iter().enumerate().skip(first) {
            let p99 = window.at(0.99);
            if p99 > limit {
                (last, worst, calm) = (Some(index), p99.max(worst), 0);
                continue;
            }
            calm += 1;
            let waits_for_more = last.is_none() && index < first + FELT_WITHIN;
            if calm >= CALM && !waits_for_more {
                break;
            }
        }
        last.map(|last| (((last + 1) as Micros * WINDOW_US).saturating_sub(failed_at), worst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_near_the_exact_ones() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.at(0.5), 0);
        (1..=100_000).for_each(|value| histogram.add(value));
        for (share, exact) in [(0.5, 50_000.0), (0.95, 95_000.0), (0.99, 99_000.0), (0.999, 99_900.0)] {
            let found = histogram.at(share) as f64;
            assert!((found / exact - 1.0).abs() < 0.04, "{found} {exact}");
        }
        assert_eq!(histogram.at(0.000_01), 1);
    }

    #[test]
    fn every_value_is_in_a_bucket_that_begins_at_most_3_percent_below() {
        for value in (0..2_000).chain([65_535, 65_536, 1_000_000, 120_000_000, 1 << 40]) {
            let least = Histogram::value(Histogram::bucket(value) as u64);
            assert!(least <= value && (value - least) as f64 <= value as f64 / 32.0, "{value} {least}");
        }
    }

    #[test]
    fn a_failure_is_over_when_waits_are_calm_again() {
        let mut windows = Windows::default();
        for window in 0..40 {
            let wait = if (12..15).contains(&window) { 900 } else { 10 };
            (0..100).for_each(|_| windows.add(window * WINDOW_US, wait));
        }
        let failed_at = 11 * WINDOW_US + 1_000;
        assert_eq!(windows.ordinary(0, failed_at), 10);
        let (until, worst) = windows.felt(failed_at, 20).expect("it was felt");
        assert_eq!((until, worst / 100), (4 * WINDOW_US - 1_000, 8));
        assert_eq!(windows.felt(20 * WINDOW_US, 20), None);
    }

    #[test]
    fn use_has_a_median_and_a_peak() {
        let mut used = Use::default();
        [0.25, 0.75, 0.5].into_iter().for_each(|part| used.add(part));
        assert_eq!((used.median(), used.most()), (0.5, 0.75));
    }
}
