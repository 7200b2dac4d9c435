//! The share of bad outcomes, with a half-life.

use serde::{Deserialize, Serialize};

const HALF_LIFE_DAYS: f64 = 14.0;
/// Outcomes that make a past.
const OUTCOMES_MIN: f64 = 30.0;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Rate {
    bad: f64,
    all: f64,
    day: u32,
}

impl Rate {
    pub fn learn(&mut self, day: u32, is_bad: bool) {
        let days = day.saturating_sub(self.day);
        if days > 0 {
            let left = 0.5_f64.powf(f64::from(days) / HALF_LIFE_DAYS);
            self.bad *= left;
            self.all *= left;
        }
        self.day = day;
        self.all += 1.0;
        self.bad += f64::from(u8::from(is_bad));
    }

    /// As if twenty more had been seen, one of them bad: few outcomes prove little.
    pub fn share(&self) -> f64 {
        (self.bad + 1.0) / (self.all + 20.0)
    }

    /// As it was seen.
    pub fn seen_share(&self) -> f64 {
        if self.all > 0.0 { self.bad / self.all } else { 0.0 }
    }

    pub fn is_cold(&self) -> bool {
        self.all < OUTCOMES_MIN
    }
}
