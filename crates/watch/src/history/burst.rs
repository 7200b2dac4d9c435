//! A sliding window's sum against the highest sums of earlier days.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::time::{HOUR_MS, Now};
use crate::limits::{PEAK_DAYS_MAX, SLOTS};

/// Past days after which a peak says nothing any more.
const PEAK_AGE_DAYS: u32 = 42;
/// Active days that make a past.
const DAYS_MIN: usize = 3;

/// The sum over the last while, in twelve slots.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Window {
    newest: u64,
    sums: [u64; SLOTS],
}

impl Window {
    /// Adds, and returns the sum of the last `length_ms`.
    pub fn add(&mut self, at_ms: u64, length_ms: u64, amount: u64) -> u64 {
        let slot_ms = (length_ms / SLOTS as u64).max(1);
        let slot = at_ms / slot_ms;
        let was_set_back = self.newest.saturating_sub(slot) > HOUR_MS / slot_ms + SLOTS as u64;
        if was_set_back || slot.saturating_sub(self.newest) >= SLOTS as u64 {
            self.sums = [0; SLOTS];
            self.newest = slot;
        }
        while self.newest < slot {
            self.newest += 1;
            self.sums[place(self.newest)] = 0;
        }
        if self.newest - slot < SLOTS as u64 {
            let sum = &mut self.sums[place(slot)];
            *sum = sum.saturating_add(amount);
        }
        self.sums.iter().fold(0, |total, sum| total.saturating_add(*sum))
    }
}

fn place(slot: u64) -> usize {
    usize::try_from(slot % SLOTS as u64).unwrap_or(0)
}

/// The highest value of each of the last active days.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Peaks {
    past: VecDeque<(u32, u64)>,
    today: (u32, u64),
}

impl Peaks {
    pub fn note(&mut self, day: u32, value: u64) {
        if day != self.today.0 {
            if self.today.0 != 0 {
                self.past.push_back(self.today);
            }
            self.today = (day, 0);
            self.past.retain(|(past, _)| day.abs_diff(*past) <= PEAK_AGE_DAYS);
            while self.past.len() > PEAK_DAYS_MAX {
                self.past.pop_front();
            }
        }
        self.today.1 = self.today.1.max(value);
    }

    /// The highest of the days before today; `None` before there are three.
    pub fn highest(&self) -> Option<u64> {
        let highest = self.past.iter().map(|(_, peak)| *peak).max();
        highest.filter(|_| self.past.len() >= DAYS_MIN)
    }

    pub fn days(&self) -> usize {
        self.past.len()
    }
}

/// What makes a burst.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BurstRule {
    pub length_ms: u64,
    /// Below it nothing is a burst.
    pub floor: u64,
    /// How many times the past's highest.
    pub factor: u64,
    /// How many times the floor before there is a past.
    pub cold_factor: u64,
}

/// A sum that went over its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crossed {
    pub sum: u64,
    pub threshold: u64,
    /// The highest of the past; `None` on a cold start.
    pub usual: Option<u64>,
    pub days: usize,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Burst {
    window: Window,
    peaks: Peaks,
}

impl Burst {
    /// `pool` is what all of the same sort have had: a newcomer may do what others do.
    pub fn add(
        &mut self,
        now: Now,
        amount: u64,
        rule: &BurstRule,
        pool: Option<&mut Peaks>,
    ) -> Option<Crossed> {
        let sum = self.window.add(now.ms, rule.length_ms, amount);
        self.peaks.note(now.day, 0);
        let usual = self.peaks.highest();
        let of_others = pool.as_ref().and_then(|pool| pool.highest()).unwrap_or(0);
        let threshold = match usual {
            Some(usual) => rule.floor.max(usual.saturating_mul(rule.factor)),
            None => rule.floor.saturating_mul(rule.cold_factor).max(of_others.saturating_mul(rule.factor)),
        };
        // Cut before it is learned: an incident must not become what is usual.
        let learned = sum.min(threshold);
        self.peaks.note(now.day, learned);
        if let Some(pool) = pool {
            pool.note(now.day, learned);
        }
        (sum > threshold).then(|| Crossed { sum, threshold, usual, days: self.peaks.days() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::time::{DAY_MS, MINUTE_MS};
    use super::*;

    const RULE: BurstRule = BurstRule { length_ms: MINUTE_MS, floor: 10, factor: 3, cold_factor: 4 };

    fn at(day: u64, second: u64) -> Now {
        Now::new((20_000 + day) * DAY_MS + second * 1000, 0)
    }

    #[test]
    fn a_window_forgets_after_its_length_and_survives_a_clock_set_back() {
        let mut window = Window::default();
        assert_eq!(window.add(DAY_MS, MINUTE_MS, 5), 5);
        assert_eq!(window.add(DAY_MS + 30_000, MINUTE_MS, 5), 10);
        assert_eq!(window.add(DAY_MS + 61_000, MINUTE_MS, 1), 6);
        assert_eq!(window.add(DAY_MS + 59_000, MINUTE_MS, 1), 7, "a little late is counted");
        assert_eq!(window.add(1000, MINUTE_MS, 2), 2, "a clock set back starts anew");
    }

    #[test]
    fn a_burst_is_more_than_three_times_the_busiest_minute_of_earlier_days() {
        let mut burst = Burst::default();
        for day in 0..5 {
            assert_eq!(burst.add(at(day, 0), 20, &RULE, None), None);
        }
        assert_eq!(burst.add(at(6, 0), 60, &RULE, None), None);
        let crossed = burst.add(at(6, 1), 1, &RULE, None);
        assert_eq!(crossed, Some(Crossed { sum: 61, threshold: 60, usual: Some(20), days: 5 }));
    }

    #[test]
    fn a_newcomer_may_do_what_others_do() {
        let (mut pool, mut burst) = (Peaks::default(), Burst::default());
        assert!(burst.clone().add(at(0, 0), 41, &RULE, Some(&mut pool.clone())).is_some());
        for day in 0..5 {
            pool.note(at(day, 0).day, 50);
        }
        assert!(burst.add(at(5, 0), 41, &RULE, Some(&mut pool)).is_none());
    }

    #[test]
    fn an_incident_is_learned_no_higher_than_the_threshold_it_crossed() {
        let mut burst = Burst::default();
        for day in 0..5 {
            burst.add(at(day, 0), 20, &RULE, None);
        }
        assert!(burst.add(at(5, 0), 100_000, &RULE, None).is_some());
        assert!(burst.add(at(6, 0), 100_000, &RULE, None).is_some());
    }
}
