//! How long to wait before another try: as the provider asks, or longer each time, with chance.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_gateway::domain::unix_of_date;
use reqwest::header::HeaderMap;

use crate::limits::Rules;

/// What a provider asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date.
pub(crate) fn asked_pause(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(positive) {
        return Some(seconds(ms / 1000.0));
    }
    let asked = text("retry-after")?;
    if let Some(length) = positive(asked) {
        return Some(seconds(length));
    }
    let until = UNIX_EPOCH + Duration::from_secs(unix_of_http_date(asked)?);
    Some(until.duration_since(now).unwrap_or_default())
}

/// The pause after so many tries. `chance` spreads those of many callers.
pub(crate) fn pause(rules: &Rules, tries: u32, asked: Option<Duration>, chance: f64) -> Duration {
    if let Some(asked) = asked {
        return asked.min(rules.asked_pause_max);
    }
    let doubled = 1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX);
    let longest = rules.first_pause.saturating_mul(doubled).min(rules.pause_max);
    // Never less than half: a provider that is down needs the rest.
    longest.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
}

fn positive(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

/// More than a day is a day: it is cut anyway.
fn seconds(length: f64) -> Duration {
    Duration::from_secs_f64(length.min(86_400.0))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that is still sent.
fn unix_of_http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    let date = unix_of_date(&format!("{year}-{month:02}-{day}"))?;
    let mut parts = time.split(':').map(|part| part.parse::<u64>().ok());
    let mut below = |max: u64| parts.next().flatten().filter(|number| *number < max);
    let (hours, minutes, leap_seconds) = (below(24)?, below(60)?, below(61)?);
    Some(date + hours * 3600 + minutes * 60 + leap_seconds)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn asked(name: &str, value: &str) -> Option<Duration> {
        let name = HeaderName::try_from(name).expect("a name");
        let headers = HeaderMap::from_iter([(name, HeaderValue::try_from(value).expect("a value"))]);
        asked_pause(&headers, UNIX_EPOCH + Duration::from_secs(784_111_777))
    }

    #[test]
    fn providers_ask_for_a_pause_in_seconds_in_milliseconds_or_by_a_date() {
        let ms = |ms: u64| Some(Duration::from_millis(ms));
        for (name, value, expected) in [
            ("retry-after", "3", ms(3_000)),
            ("retry-after", " 0.25 ", ms(250)),
            ("retry-after-ms", "40", ms(40)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", ms(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", ms(0)),
            ("retry-after", "Sat, 05 Nov 1994 08:49:37 GMT", ms(0)),
            ("retry-after", "99999999999999999999", ms(86_400_000)),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "soon", None),
            ("retry-after", "Sun, 06 Nov 1994 25:49:37 GMT", None),
            ("retry-after", "Sun, 31 Feb 1994 08:49:37 GMT", None),
        ] {
            assert_eq!(asked(name, value), expected, "{name}: {value}");
        }
    }

    #[test]
    fn pauses_grow_and_stay_within_bounds() {
        let rules = Rules::default();
        let of = |tries: u32, chance: f64| pause(&rules, tries, None, chance).as_millis();
        assert_eq!([of(1, 1.0), of(2, 1.0), of(3, 1.0), of(9, 1.0)], [500, 1_000, 2_000, 8_000]);
        assert_eq!([of(1, 0.0), of(40, 0.0)], [250, 4_000]);
        let asked = |secs: u64| pause(&rules, 1, Some(Duration::from_secs(secs)), 0.0).as_secs();
        assert_eq!([asked(7), asked(600)], [7, 30]);
    }
}
