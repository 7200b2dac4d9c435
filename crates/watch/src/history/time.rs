//! An event's time, as people count it.

pub(crate) const MINUTE_MS: u64 = 60_000;
pub(crate) const HOUR_MS: u64 = 60 * MINUTE_MS;
pub(crate) const DAY_MS: u64 = 24 * HOUR_MS;

/// When an event happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub ms: u64,
    /// Local days since 1970.
    pub day: u32,
    /// Local, 0 to 23.
    pub hour: usize,
    /// 0 is Monday.
    pub weekday: usize,
}

impl Now {
    pub fn new(ms: u64, utc_offset_minutes: i32) -> Self {
        let local = ms.saturating_add_signed(i64::from(utc_offset_minutes) * 60_000);
        let day = u32::try_from(local / DAY_MS).unwrap_or(u32::MAX);
        Self {
            ms,
            day,
            hour: usize::try_from(local / HOUR_MS % 24).unwrap_or(0),
            // 1970 began on a Thursday.
            weekday: usize::try_from((u64::from(day) + 3) % 7).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_and_weekdays_are_local() {
        // 2026-01-31 (a Saturday) 23:30 UTC.
        let ms = 1_769_902_200_000;
        let utc = Now::new(ms, 0);
        assert_eq!((utc.hour, utc.weekday), (23, 5));
        let east = Now::new(ms, 60);
        assert_eq!((east.hour, east.weekday, east.day), (0, 6, utc.day + 1));
    }
}
