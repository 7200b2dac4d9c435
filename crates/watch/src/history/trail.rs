//! The last outcomes of something, and whether chance explains how many of them are bad.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::rate::Rate;
use super::time::Now;
use crate::limits::{EXECUTIONS_MAX, TRAIL_MAX, cut};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Seen {
    at_ms: u64,
    who: u64,
    is_bad: bool,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Trail {
    seen: VecDeque<Seen>,
    rate: Rate,
    bad_ids: VecDeque<String>,
}

/// When a trail is unusual.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrailRule {
    /// Outcomes older than this are history.
    pub within_ms: u64,
    /// The share of bad outcomes that is taken as usual although fewer were seen: trouble comes in rows.
    pub share_min: f64,
    /// The same before there is a past.
    pub share_cold: f64,
    /// Chance brings such a trail less often than this.
    pub chance: f64,
    /// Bad outcomes, at least.
    pub bad_min: usize,
    /// How many have to have had one.
    pub who_min: usize,
    /// How many outcomes of one and the same count.
    pub of_one_max: usize,
}

/// A trail that chance doesn't explain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Streak {
    pub bad: usize,
    pub all: usize,
    /// The share that was seen in the past.
    pub usual: f64,
    /// How long ago the first of them was.
    pub since_ms: u64,
}

/// One outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    pub who: u64,
    pub id: &'a str,
    pub is_bad: bool,
}

impl Trail {
    /// `base` stands in for this trail's own past: a session's is its caller's.
    pub fn add(
        &mut self,
        now: Now,
        sample: Sample<'_>,
        rule: &TrailRule,
        base: Option<&Rate>,
    ) -> Option<Streak> {
        self.age(now, rule.within_ms);
        let same = |seen: &&Seen| seen.who == sample.who && seen.is_bad == sample.is_bad;
        if self.seen.iter().filter(same).count() >= rule.of_one_max {
            return None;
        }
        self.seen.push_back(Seen { at_ms: now.ms, who: sample.who, is_bad: sample.is_bad });
        while self.seen.len() > TRAIL_MAX {
            self.leave(now.day);
        }
        if !sample.is_bad {
            return None;
        }
        if self.bad_ids.back().map(String::as_str) != Some(cut(sample.id)) {
            self.bad_ids.push_back(cut(sample.id).to_owned());
        }
        while self.bad_ids.len() > EXECUTIONS_MAX {
            self.bad_ids.pop_front();
        }
        self.judge(now, rule, base.unwrap_or(&self.rate))
    }

    pub fn rate(&self) -> &Rate {
        &self.rate
    }

    pub fn bad_ids(&self) -> &VecDeque<String> {
        &self.bad_ids
    }

    /// Outcomes are learned once they are too old to be part of what happens now.
    fn age(&mut self, now: Now, within_ms: u64) {
        while self.seen.front().is_some_and(|seen| now.ms.abs_diff(seen.at_ms) > within_ms) {
            self.leave(now.day);
        }
    }

    fn leave(&mut self, day: u32) {
        if let Some(seen) = self.seen.pop_front() {
            self.rate.learn(day, seen.is_bad);
        }
    }

    fn judge(&self, now: Now, rule: &TrailRule, rate: &Rate) -> Option<Streak> {
        let least = if rate.is_cold() { rule.share_cold } else { rule.share_min };
        let share = rate.share().max(least);
        let (mut bad, mut all) = (0, 0);
        let mut who: Vec<u64> = Vec::with_capacity(8);
        let mut found = None;
        for seen in self.seen.iter().rev() {
            all += 1;
            if !seen.is_bad {
                continue;
            }
            bad += 1;
            if who.len() < rule.who_min && !who.contains(&seen.who) {
                who.push(seen.who);
            }
            if bad >= rule.bad_min && who.len() >= rule.who_min && tail(all, bad, share) < rule.chance {
                let since_ms = now.ms.saturating_sub(seen.at_ms);
                found = Some(Streak { bad, all, usual: rate.seen_share(), since_ms });
            }
        }
        found
    }
}

/// How likely at least `bad` of `all` are, if each is with this probability.
fn tail(all: usize, bad: usize, share: f64) -> f64 {
    let odds = share / (1.0 - share).max(1e-12);
    let mut term = (1.0 - share).powf(to_f64(all));
    let mut sum = 0.0;
    for k in 0..=all {
        if k >= bad {
            sum += term;
        }
        term *= odds * to_f64(all - k) / to_f64(k + 1);
    }
    sum
}

fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::time::{DAY_MS, HOUR_MS};
    use super::*;

    const RULE: TrailRule = TrailRule {
        within_ms: HOUR_MS,
        share_min: 0.05,
        share_cold: 0.2,
        chance: 1e-7,
        bad_min: 5,
        who_min: 2,
        of_one_max: 3,
    };

    fn add(trail: &mut Trail, second: u64, who: u64, is_bad: bool) -> Option<Streak> {
        let now = Now::new(20_000 * DAY_MS + second * 1000, 0);
        trail.add(now, Sample { who, id: &format!("e{who}"), is_bad }, &RULE, None)
    }

    fn with_past(bad_of_ten: u64) -> Trail {
        let mut trail = Trail::default();
        for who in 0..400 {
            add(&mut trail, who * 60, who, who % 10 < bad_of_ten);
        }
        trail
    }

    #[test]
    fn the_tail_of_a_binomial_distribution() {
        assert!((tail(10, 0, 0.3) - 1.0).abs() < 1e-12);
        assert!((tail(2, 1, 0.5) - 0.75).abs() < 1e-12);
        assert!((tail(6, 6, 0.1) - 1e-6).abs() < 1e-12);
    }

    #[test]
    fn bad_outcomes_in_a_row_are_found_and_as_many_as_usual_are_not() {
        let mut trail = with_past(0);
        let found: Vec<bool> =
            (0..8).map(|i| add(&mut trail, 30_000 + i, 1000 + i, true).is_some()).collect();
        assert_eq!(found.iter().position(|found| *found), Some(5), "{found:?}");
        let mut trail = with_past(5);
        assert!((0..12).all(|i| add(&mut trail, 30_000 + i, 1000 + i, true).is_none()));
    }

    #[test]
    fn one_execution_alone_makes_no_streak() {
        let mut trail = with_past(0);
        assert!((0..100).all(|i| add(&mut trail, 30_000 + i, 1000, true).is_none()));
        assert!(trail.bad_ids().len() == 1);
    }

    #[test]
    fn without_a_past_more_is_needed() {
        let mut cold = Trail::default();
        let first = (0..40).find(|i| add(&mut cold, *i, *i, true).is_some());
        assert_eq!(first, Some(10));
    }
}
