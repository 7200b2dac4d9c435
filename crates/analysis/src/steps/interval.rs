//! Intervals of time: how they are written, and where they begin.

use crate::outcome::Problem;
use crate::timestamp::{self, DAY, Day, SECOND};

/// 1970-01-01 was a Thursday; weeks begin on Monday.
const MONDAY: i64 = 4 * DAY;

/// How long an interval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interval {
    Micros(i64),
    Months(i64),
}

impl Interval {
    /// `day`, `1d`, `15m`, `2w`, `month`, `quarter`, `year` and the like.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let lower = text.trim().to_lowercase();
        let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
        let (count, unit) = lower.split_at(digits);
        let count: i64 = if count.is_empty() { 1 } else { count.parse().unwrap_or(0) };
        let every = match unit.trim() {
            "s" | "sec" | "second" | "seconds" | "secondly" => Interval::Micros(SECOND),
            "m" | "min" | "minute" | "minutes" | "t" => Interval::Micros(60 * SECOND),
            "h" | "hour" | "hours" | "hourly" => Interval::Micros(3600 * SECOND),
            "d" | "day" | "days" | "daily" => Interval::Micros(DAY),
            "w" | "week" | "weeks" | "weekly" => Interval::Micros(7 * DAY),
            "mo" | "month" | "months" | "monthly" | "ms" | "me" => Interval::Months(1),
            "q" | "quarter" | "quarters" | "quarterly" => Interval::Months(3),
            "y" | "year" | "years" | "yearly" => Interval::Months(12),
            _ => return Err(Self::wrong(text)),
        };
        let scaled = match every {
            Interval::Micros(micros) => micros.checked_mul(count).map(Interval::Micros),
            Interval::Months(months) => months.checked_mul(count).map(Interval::Months),
        };
        scaled.filter(|_| (1..1_000_000).contains(&count)).ok_or_else(|| Self::wrong(text))
    }

    fn wrong(text: &str) -> Problem {
        Problem::new(format!("{text:?} isn't an interval"))
            .hint("use a number and a unit: 30s, 15m, 1h, 1d, 1w, 1mo, 1q, 1y; or hour, day, week, month, quarter, year")
    }

    /// The number of the interval that a timestamp is in.
    pub(super) fn number(self, micros: i64) -> i64 {
        match self {
            Interval::Micros(length) if length % (7 * DAY) == 0 => (micros - MONDAY).div_euclid(length),
            Interval::Micros(length) => micros.div_euclid(length),
            Interval::Months(months) => {
                let day = timestamp::day_of(micros.div_euclid(DAY));
                (day.year * 12 + day.month - 1).div_euclid(months)
            }
        }
    }

    /// When an interval begins.
    pub(super) fn start(self, number: i64) -> i64 {
        match self {
            Interval::Micros(length) if length % (7 * DAY) == 0 => number * length + MONDAY,
            Interval::Micros(length) => number * length,
            Interval::Months(months) => {
                let month = number * months;
                timestamp::days_of(Day {
                    year: month.div_euclid(12),
                    month: month.rem_euclid(12) + 1,
                    day: 1,
                }) * DAY
            }
        }
    }

    /// How many intervals lie between two timestamps, rounded.
    pub(super) fn between(self, from: i64, to: i64) -> i64 {
        match self {
            Interval::Micros(length) => (to - from + length / 2).div_euclid(length),
            Interval::Months(_) => self.number(to) - self.number(from),
        }
    }

    /// Whether intervals begin at midnight.
    pub(super) fn is_of_days(self) -> bool {
        match self {
            Interval::Micros(length) => length % DAY == 0,
            Interval::Months(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_begin_on_mondays_and_on_firsts() {
        let check = |every: &str, timestamp: &str, expected: &str| {
            let every = Interval::parse(every).unwrap();
            let (micros, _) = timestamp::parse(timestamp).unwrap();
            assert_eq!(timestamp::time_text(every.start(every.number(micros))), expected);
        };
        check("week", "2026-11-15", "2026-11-09T00:00:00");
        check("1mo", "1969-12-31T23:00:00", "1969-12-01T00:00:00");
        check("quarter", "2026-11-15", "2026-10-01T00:00:00");
        check("15m", "2026-11-15T10:44:59", "2026-11-15T10:30:00");
        for wrong in ["", "0d", "fortnight", "99999999999999999999d"] {
            assert!(Interval::parse(wrong).is_err(), "{wrong}");
        }
    }
}
