//! Dates and times: ISO 8601 text in and out, and the calendar between.
//!
//! A date is a number of days since 1970-01-01, a time a number of microseconds since then in UTC.

/// Microseconds in a second.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// Years that text may name: four digits, as ISO 8601 writes them.
const YEAR_MAX: i64 = 9999;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
}

/// The number of a day, by the Gregorian calendar in both directions.
pub(crate) fn days_of(date: Day) -> i64 {
    let year = if date.month <= 2 { date.year - 1 } else { date.year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (date.month + 9).rem_euclid(12);
    let day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The day that a number stands for.
pub(crate) fn day_of(days: i64) -> Day {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Day { year, month, day: day_of_year - (153 * month_from_march + 2) / 5 + 1 }
}

/// Monday is 1, Sunday is 7.
pub(crate) fn weekday_of(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// A date as `2026-07-28`.
pub(crate) fn date_text(days: i64) -> String {
    let day = day_of(days);
    format!("{:04}-{:02}-{:02}", day.year, day.month, day.day)
}

/// A time as `2026-07-28T09:30:00`, with a fraction only where there is one.
pub(crate) fn time_text(micros: i64) -> String {
    let within = micros.rem_euclid(DAY);
    let seconds = within / SECOND;
    let fraction = within % SECOND;
    let date = date_text(micros.div_euclid(DAY));
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction == 0 {
        return format!("{date}T{clock}");
    }
    let digits = format!("{fraction:06}");
    format!("{date}T{clock}.{}", digits.trim_end_matches('0'))
}

/// A date or a time from ISO 8601 text, as microseconds; whether it had a time of day.
pub(crate) fn parse(text: &str) -> Option<(i64, bool)> {
    let text = text.trim();
    let (date, rest) = text.split_at_checked(10)?;
    let days = parse_date(date)?;
    if rest.is_empty() {
        return Some((days * DAY, false));
    }
    let clock = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, offset) = split_offset(clock)?;
    Some((days * DAY + parse_clock(clock)? - offset, true))
}

/// Whether a time in ISO 8601 says how far its clock is from UTC.
pub(crate) fn has_offset(text: &str) -> bool {
    let clock = text.trim().get(10..).unwrap_or_default();
    clock.ends_with(['Z', 'z']) || clock.contains(['+', '-'])
}

/// Days from `2026-07-28`.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let day = Day { year: digits(year)?, month: digits(month)?, day: digits(day)? };
    let is_real = (0..=YEAR_MAX).contains(&day.year)
        && (1..=12).contains(&day.month)
        && (1..=31).contains(&day.day)
        && day_of(days_of(day)) == day;
    is_real.then(|| days_of(day))
}

fn parse_clock(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(second) => match second.split_once(['.', ',']) {
            None => (digits(second)?, 0),
            Some((second, fraction)) => (digits(second)?, fraction_micros(fraction)?),
        },
    };
    let is_real = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    is_real.then_some((hour * 3600 + minute * 60 + second) * SECOND + fraction)
}

fn fraction_micros(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > 9 {
        return None;
    }
    let micros: String = text.chars().chain("000000".chars()).take(6).collect();
    digits(text).and(digits(&micros))
}

/// The clock, and how far it is ahead of UTC.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let (clock, offset) = text.split_at_checked(at)?;
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let plain: String = offset.chars().skip(1).filter(|c| *c != ':').collect();
    let (hours, minutes) = match plain.len() {
        2 => (digits(&plain)?, 0),
        4 => (digits(plain.get(..2)?)?, digits(plain.get(2..)?)?),
        _ => return None,
    };
    Some((clock, sign * (hours * 3600 + minutes * 60) * SECOND))
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_text_becomes_a_timestamp_and_back() {
        let check = |text: &str, expected: &str| {
            let (micros, _) = parse(text).unwrap();
            assert_eq!(time_text(micros), expected, "{text}");
        };
        check("2026-07-28", "2026-07-28T00:00:00");
        check("2026-07-28T09:30:00Z", "2026-07-28T09:30:00");
        check("2026-07-28 09:30:00.25+02:00", "2026-07-28T07:30:00.25");
        check("1969-12-31T23:59:59", "1969-12-31T23:59:59");
        check("2024-02-29T12:00", "2024-02-29T12:00:00");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2023-02-29",
            "2026-1-1",
            "28.07.2026",
            "2026-07-28T25:00",
            "häää-ää-ää",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_clock_may_say_how_far_it_is_from_utc() {
        assert!(has_offset("2026-07-28T09:30:00Z") && has_offset("2026-07-28T09:30:00-05:00"));
        assert!(!has_offset("2026-07-28T09:30:00") && !has_offset("2026-07-28") && !has_offset(""));
    }

    #[test]
    fn weekdays_begin_with_monday() {
        assert_eq!(weekday_of(parse_date("2026-11-16").unwrap()), 1);
        assert_eq!(weekday_of(parse_date("1969-12-28").unwrap()), 7);
    }
}
