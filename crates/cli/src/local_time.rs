//! Times as people read them: in their own time zone, or in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Local, TimeZone, Utc};
use clap::Args;

#[derive(Args, Clone, Copy, Debug, Default)]
pub struct TimeArguments {
    /// Show times in UTC instead of local time
    #[arg(long, global = true)]
    pub utc: bool,
}

impl TimeArguments {
    /// `2026-07-28`.
    pub fn day(self, time: SystemTime) -> String {
        self.formatted(time, "%Y-%m-%d")
    }

    /// `2026-07-28 09:30`, with `UTC` behind it if it is that.
    pub fn minute(self, time: SystemTime) -> String {
        self.formatted(time, if self.utc { "%Y-%m-%d %H:%M UTC" } else { "%Y-%m-%d %H:%M" })
    }

    /// `2026-07-28 09:30:00`, likewise.
    pub fn second(self, time: SystemTime) -> String {
        self.formatted(time, if self.utc { "%Y-%m-%d %H:%M:%S UTC" } else { "%Y-%m-%d %H:%M:%S" })
    }

    /// The same moment of the clock as a time in UTC, in the zone that is shown.
    pub fn clock_moment(self, utc: SystemTime) -> SystemTime {
        let clock = DateTime::<Utc>::from(utc).naive_utc();
        match self.utc {
            true => utc,
            // A moment that the clocks skip is none; then UTC is near enough.
            false => Local.from_local_datetime(&clock).earliest().map_or(utc, SystemTime::from),
        }
    }

    fn formatted(self, time: SystemTime, format: &str) -> String {
        match self.utc {
            true => DateTime::<Utc>::from(time).format(format).to_string(),
            false => DateTime::<Local>::from(time).format(format).to_string(),
        }
    }
}

/// From milliseconds since 1970.
pub fn from_unix_ms(unix_ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(unix_ms).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_says_that_it_is_utc() {
        let times = TimeArguments { utc: true };
        let time = from_unix_ms(1_785_231_000_000);
        assert_eq!(times.second(time), "2026-07-28 09:30:00 UTC");
        assert_eq!(times.minute(time), "2026-07-28 09:30 UTC");
        assert_eq!(times.day(time), "2026-07-28");
        assert_eq!(times.clock_moment(time), time);
    }

    #[test]
    fn a_local_time_read_back_is_the_same_moment() {
        let times = TimeArguments { utc: false };
        // Far from any change of the clocks.
        let noon = from_unix_ms(1_785_240_000_000);
        let shown = times.second(times.clock_moment(noon));
        assert_eq!(shown, TimeArguments { utc: true }.second(noon).trim_end_matches(" UTC"));
    }
}
