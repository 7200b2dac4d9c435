//! Moments: how long ago, and exactly when.

use maud::{Markup, html};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// The last moment of the year 9999.
const LAST_MS: i64 = 253_402_300_799_999;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A moment, in milliseconds since 1970. Moments before that or after the year 9999 are shown as the nearest
/// ones between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub i64);

impl Moment {
    /// How long ago, with the exact time on hover. The script keeps it current.
    pub(crate) fn relative(self, now: Moment) -> Markup {
        html! {
            time datetime=(self.iso()) title=(self.exact()) data-relative { (self.ago(now)) }
        }
    }

    /// Such as `2026-11-16 21:53:19 UTC`.
    pub(crate) fn exact(self) -> String {
        let (year, month, day) = self.date();
        let second = self.seconds().rem_euclid(DAY);
        format!(
            "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
            second / HOUR,
            second % HOUR / MINUTE,
            second % MINUTE
        )
    }

    pub(crate) fn iso(self) -> String {
        self.exact().replace(" UTC", "Z").replace(' ', "T")
    }

    /// Such as `21:53`.
    pub(crate) fn clock(self) -> String {
        let second = self.seconds().rem_euclid(DAY);
        format!("{:02}:{:02}", second / HOUR, second % HOUR / MINUTE)
    }

    /// Such as `Nov 16`.
    pub(crate) fn day(self) -> String {
        let (_, month, day) = self.date();
        let name = usize::try_from(month - 1).ok().and_then(|month| MONTHS.get(month)).copied();
        format!("{} {day}", name.unwrap_or_default())
    }

    /// Such as `5 min ago` or `in 2 h`. The script says it the same way.
    pub(crate) fn ago(self, now: Moment) -> String {
        let seconds = now.seconds() - self.seconds();
        let length = match seconds.abs() {
            0..10 => return "just now".to_owned(),
            few @ 10..MINUTE => format!("{few} s"),
            few @ MINUTE..HOUR => format!("{} min", few / MINUTE),
            few @ HOUR..DAY => format!("{} h", few / HOUR),
            many => format!("{} d", many / DAY),
        };
        if seconds > 0 { format!("{length} ago") } else { format!("in {length}") }
    }

    fn seconds(self) -> i64 {
        self.0.clamp(0, LAST_MS) / 1_000
    }

    /// Year, month and day in UTC, by the calendar that starts its years in March.
    fn date(self) -> (i64, i64, i64) {
        let days = self.seconds() / DAY + 719_468;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (year, month, day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_times_follow_the_calendar() {
        let check = |ms, expected: &str| assert_eq!(Moment(ms).exact(), expected);
        check(0, "1970-01-01 00:00:00 UTC");
        check(951_782_400_000, "2000-02-29 00:00:00 UTC");
        check(1_794_866_399_999, "2026-11-16 21:59:59 UTC");
        check(i64::MAX, "9999-12-31 23:59:59 UTC");
        check(i64::MIN, "1970-01-01 00:00:00 UTC");
    }

    #[test]
    fn relative_times_round_down() {
        let check = |seconds: i64, expected: &str| {
            assert_eq!(Moment(1_000_000_000_000 - seconds * 1_000).ago(Moment(1_000_000_000_000)), expected);
        };
        check(3, "just now");
        check(59, "59 s ago");
        check(119, "1 min ago");
        check(7_300, "2 h ago");
        check(200_000, "2 d ago");
        check(-300, "in 5 min");
    }
}
