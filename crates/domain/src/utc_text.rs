//! A moment as text, in the form that protocols and people share: `2026-07-28T09:30:00Z`.

use std::time::{SystemTime, UNIX_EPOCH};

/// To the second, in UTC. Moments before 1970 read as its beginning.
pub fn utc_text(time: SystemTime) -> String {
    let mut text = to_the_second(time);
    text.push('Z');
    text
}

/// The same to the millisecond: `2026-07-28T09:30:00.123Z`. Later moments compare as greater texts.
pub fn utc_text_ms(time: SystemTime) -> String {
    let ms = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_millis());
    let mut text = to_the_second(time);
    text.push('.');
    push_digits(&mut text, u64::from(ms), 3);
    text.push('Z');
    text
}

/// Digit by digit: every call of a program is written down with one.
fn to_the_second(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, in_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (in_day / 3_600, in_day / 60 % 60, in_day % 60);
    let mut text = String::with_capacity("2026-07-28T09:30:00.123Z".len());
    push_digits(&mut text, year, 4);
    for (before, number) in [('-', month), ('-', day), ('T', hour), (':', minute), (':', second)] {
        text.push(before);
        push_digits(&mut text, number, 2);
    }
    text
}

/// At least so many of them.
fn push_digits(text: &mut String, number: u64, at_least: u32) {
    let mut unit = 10_u64.pow(at_least - 1);
    while number / unit >= 10 {
        unit *= 10;
    }
    while unit > 0 {
        text.push(char::from(b'0' + (number / unit % 10) as u8));
        unit /= 10;
    }
}

/// The Gregorian date, by years of 400 that are all alike and begin in March, so that the leap day
/// is the last of its year.
fn date_of(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_IN_400_YEARS: u64 = 146_097;
    /// From the 1st of March of the year 0 to the 1st of January 1970.
    const DAYS_BEFORE_1970: u64 = 719_468;
    let days = days_since_1970 + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Five months have 153 days, wherever one begins after February.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

/// The beginning of a day written `2026-01-31`, in seconds since 1970; `None` if there is no such day
/// from then on.
pub fn unix_of_date(text: &str) -> Option<u64> {
    let is_shaped = text.len() == 10
        && text.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_shaped {
        return None;
    }
    let number = |from: usize, to: usize| text[from..to].parse::<u64>().ok();
    let date = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Days grow with dates, so the one that reads back as this date is found by halving.
    let (mut low, mut high) = (0_u64, 10_000 * 366);
    while low < high {
        let middle = low.midpoint(high);
        if date_of(middle) < date { low = middle + 1 } else { high = middle }
    }
    (date_of(low) == date).then_some(low * 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_read_as_calendars_have_them() {
        let check = |seconds, expected: &str| {
            assert_eq!(utc_text(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        };
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(951_868_800, "2000-03-01T00:00:00Z");
        check(1_785_231_000, "2026-07-28T09:30:00Z");
        check(4_107_542_399, "2100-02-28T23:59:59Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
        check(253_402_300_799, "9999-12-31T23:59:59Z");
        check(253_402_300_800, "10000-01-01T00:00:00Z");
    }

    #[test]
    fn milliseconds_have_three_digits_and_none_is_rounded_up() {
        let check = |ms: u64, expected: &str| {
            assert_eq!(utc_text_ms(UNIX_EPOCH + Duration::from_micros(ms * 1_000 + 999)), expected);
        };
        check(0, "1970-01-01T00:00:00.000Z");
        check(7, "1970-01-01T00:00:00.007Z");
        check(59_999, "1970-01-01T00:00:59.999Z");
        check(1_785_231_000_120, "2026-07-28T09:30:00.120Z");
    }

    #[test]
    fn dates_are_read_as_they_are_written_and_only_if_there_are_such_days() {
        for days in (0..80_000).step_by(13) {
            let seconds = days * 86_400;
            let text = utc_text(UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(unix_of_date(&text[..10]), Some(seconds), "{text}");
        }
        for wrong in [
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "1969-12-31",
            "2026-1-01",
            "20260101",
            "2026-01-0\u{661}",
        ] {
            assert_eq!(unix_of_date(wrong), None, "{wrong}");
        }
    }
}
