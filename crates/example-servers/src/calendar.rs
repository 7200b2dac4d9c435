//! Dates as numbers and back, without a clock.

/// The day that all example data takes for today.
pub const TODAY: &str = "2026-06-15";

const SECONDS_OF_DAY: i64 = 86_400;

/// Days since 1970-01-01. `None` unless the text is a real date `YYYY-MM-DD`.
pub fn day_number(date: &str) -> Option<i64> {
    let bytes = date.as_bytes();
    let shaped = bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(i, b)| if matches!(i, 4 | 7) { *b == b'-' } else { b.is_ascii_digit() });
    if !shaped {
        return None;
    }
    let year: i64 = date[..4].parse().ok()?;
    let month: i64 = date[5..7].parse().ok()?;
    let day: i64 = date[8..].parse().ok()?;
    let number = number_of(year, month, day);
    (date_of(number) == date).then_some(number)
}

/// A day number as `YYYY-MM-DD`.
pub fn date_of(day_number: i64) -> String {
    let (year, month, day) = parts(day_number);
    format!("{year:04}-{month:02}-{day:02}")
}

/// From 0 for the first of January.
pub fn day_of_year(day_number: i64) -> i64 {
    let (year, ..) = parts(day_number);
    day_number - number_of(year, 1, 1)
}

/// Seconds since 1970 as `YYYY-MM-DDTHH:MM:SSZ`.
pub fn time_of(seconds: i64) -> String {
    let (day, second) = (seconds.div_euclid(SECONDS_OF_DAY), seconds.rem_euclid(SECONDS_OF_DAY));
    format!("{}T{:02}:{:02}:{:02}Z", date_of(day), second / 3600, second / 60 % 60, second % 60)
}

/// [`TODAY`] as a day number.
pub fn today() -> i64 {
    day_number(TODAY).unwrap_or_default()
}

/// Nine in the morning of [`TODAY`], in seconds since 1970.
pub fn this_morning() -> i64 {
    today() * SECONDS_OF_DAY + 9 * 3600
}

/// Years begin in March here, so that the leap day is the last one.
fn number_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn parts(day_number: i64) -> (i64, i64, i64) {
    let shifted = day_number + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_numbers_and_back() {
        let check = |date: &str, expected: Option<i64>| assert_eq!(day_number(date), expected, "{date}");
        check("1970-01-01", Some(0));
        check("2000-02-29", Some(11_016));
        check("2026-06-15", Some(20_619));
        check("2026-02-29", None);
        check("2026-13-01", None);
        check("2026-6-15", None);
        check("20260-6-15", None);
        check("２026-06", None);
        for day in -200_000..200_000 {
            assert_eq!(day_number(&date_of(day)), (date_of(day).len() == 10).then_some(day));
        }
    }

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(time_of(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(time_of(this_morning()), "2026-06-15T09:00:00Z");
    }

    #[test]
    fn days_of_a_year_begin_at_nought() {
        assert_eq!(day_number("2024-12-31").map(day_of_year), Some(365));
        assert_eq!(day_number("2026-01-01").map(day_of_year), Some(0));
    }
}
