//! What may be set. The defaults are those that docs/watching.md has figures for.

use serde::{Deserialize, Serialize};

/// How sensitive the detectors are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Minutes that local time is ahead of UTC: hours and days are people's.
    pub utc_offset_minutes: i32,
    /// How long a finding that goes on is not told again.
    pub again_after_ms: u64,
    /// Calls of one caller within a minute that are never a burst.
    pub calls_a_minute: u64,
    /// Calls of one tool within a minute that are never a burst.
    pub tool_calls_a_minute: u64,
    /// Bytes of output of one caller within a minute that are never a burst.
    pub output_bytes_a_minute: u64,
    /// Denied calls of one caller within a minute that are never a burst; in ten minutes, twice as many.
    pub denials_a_minute: u64,
    /// How often one program may fail unchanged within ten minutes.
    pub failed_repeats: u64,
    /// How often one program may succeed unchanged within ten minutes.
    pub repeats: u64,
    /// The share of a limit that counts as near it.
    pub near_limit: f64,
    /// How often chance alone may bring a trail of outcomes that is told.
    pub chance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            utc_offset_minutes: 0,
            again_after_ms: 10 * 60 * 1000,
            calls_a_minute: 400,
            tool_calls_a_minute: 400,
            output_bytes_a_minute: 1 << 20,
            denials_a_minute: 8,
            failed_repeats: 6,
            repeats: 12,
            near_limit: 0.9,
            chance: 1e-7,
        }
    }
}
