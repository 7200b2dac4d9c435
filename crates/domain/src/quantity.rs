//! Bytes and times as people write them: `512M`, `10MB`, `1.5s`, `250ms`, `30d`.

use std::fmt::Display;

/// Why a text is not a quantity.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum QuantityError {
    #[error("`{0}` isn't a size; write a number with B, K, M or G, such as 512M")]
    Bytes(String),
    #[error("`{0}` isn't a time; write a number with ms, s, m, h or d, such as 2.5s")]
    Time(String),
}

const BYTE_UNITS: [(&str, u64); 10] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("kb", 1 << 10),
    ("mb", 1 << 20),
    ("gb", 1 << 30),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("b", 1),
];

/// A size. A bare number is bytes; K, M and G are powers of 1024, with or without a B.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    let lower = text.trim().to_ascii_lowercase();
    let (number, unit) = BYTE_UNITS
        .iter()
        .find_map(|(suffix, unit)| Some((lower.strip_suffix(suffix)?, *unit)))
        .unwrap_or((&lower, 1));
    scaled(number, unit).ok_or_else(|| QuantityError::Bytes(text.to_owned()))
}

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// A time in milliseconds. A bare number is seconds.
pub fn parse_ms(text: &str) -> Result<u64, QuantityError> {
    let lower = text.trim().to_ascii_lowercase();
    let (number, unit) = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", HOUR_MS), ("d", DAY_MS)]
        .iter()
        .find_map(|(suffix, unit)| Some((lower.strip_suffix(suffix)?, *unit)))
        .unwrap_or((&lower, 1000));
    scaled(number, unit).ok_or_else(|| QuantityError::Time(text.to_owned()))
}

fn scaled(number: &str, unit: u64) -> Option<u64> {
    let value: f64 = number.trim().parse().ok()?;
    let scaled = value * unit as f64;
    // Beyond 2^53 a float no longer counts bytes one by one; nothing here is that large.
    (value.is_finite() && (0.0..9e15).contains(&scaled)).then_some(scaled.round() as u64)
}

/// `512 MB`, `1.5 KB`, `12 bytes`.
pub fn format_bytes(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => trimmed(bytes as f64 / 1024.0, "KB"),
        0x10_0000..0x4000_0000 => trimmed(bytes as f64 / 1_048_576.0, "MB"),
        _ => trimmed(bytes as f64 / 1_073_741_824.0, "GB"),
    }
}

/// `250 ms`, `5 s`, `2.5 s`, `30 d`.
pub fn format_ms(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        DAY_MS.. => trimmed(ms as f64 / DAY_MS as f64, "d"),
        _ => trimmed(ms as f64 / 1000.0, "s"),
    }
}

/// A size for a file: as people read it if that is the same size when it's read again, otherwise in bytes, `1537B`.
pub fn exact_bytes(bytes: u64) -> String {
    let short = format_bytes(bytes);
    if parse_bytes(&short) == Ok(bytes) { short } else { format!("{bytes}B") }
}

/// The same for a time, otherwise in milliseconds: `1234ms`.
pub fn exact_ms(ms: u64) -> String {
    let short = format_ms(ms);
    if parse_ms(&short) == Ok(ms) { short } else { format!("{ms}ms") }
}

fn trimmed(value: f64, unit: &str) -> String {
    let text = format!("{value:.1}");
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// A number with commas: `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 tool`, `12345 tools`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = plural_ending(count == N::from(1));
    format!("{count} {noun}{ending}")
}

/// `1 item`, `12,345 items`.
pub fn counted_grouped(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count as u64), plural_ending(count == 1))
}

fn plural_ending(is_one: bool) -> &'static str {
    if is_one { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let grouped = [0, 999, 1_000, 150_000, 12_345_678].map(grouped);
        assert_eq!(grouped, ["0", "999", "1,000", "150,000", "12,345,678"]);
    }

    #[test]
    fn one_thing_is_counted_without_an_s() {
        assert_eq!(
            [0_u64, 1, 2, 1_000].map(|n| counted(n, "tool")),
            ["0 tools", "1 tool", "2 tools", "1000 tools"]
        );
        assert_eq!([1, 1_000].map(|n| counted_grouped(n, "item")), ["1 item", "1,000 items"]);
        assert_eq!(counted(1_usize, "key"), "1 key");
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, expected) in [
            ("512", 512),
            ("512M", 512 << 20),
            ("10 MB", 10 << 20),
            ("1.5k", 1536),
            ("2GiB", 2 << 30),
            ("7b", 7),
        ] {
            assert_eq!(parse_bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "M", "-1M", "1T", "NaN", "inf", "1e300"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, expected) in [
            ("5", 5000),
            ("250ms", 250),
            ("2.5s", 2500),
            ("1m", 60_000),
            ("2h", 7_200_000),
            ("30d", 2_592_000_000),
        ] {
            assert_eq!(parse_ms(text), Ok(expected), "{text}");
        }
        assert!(parse_ms("soon").is_err());
    }

    #[test]
    fn quantities_are_printed_short() {
        assert_eq!(format_bytes(512 << 20), "512 MB");
        assert_eq!((format_bytes(0), format_bytes(1)), ("0 bytes".to_owned(), "1 byte".to_owned()));
        assert_eq!(format_bytes(1536), "1.5 KB");
        assert_eq!(format_ms(2500), "2.5 s");
        assert_eq!(format_ms(250), "250 ms");
        assert_eq!(format_ms(30 * DAY_MS), "30 d");
    }

    #[test]
    fn what_is_written_down_exactly_is_read_as_the_same() {
        let sizes = [0, 1, 12, 1023, 1024, 1536, 1537, (1 << 20) - 1, 10 << 20, (10 << 20) + 1, 3 << 30];
        for bytes in sizes {
            assert_eq!(parse_bytes(&exact_bytes(bytes)), Ok(bytes), "{}", exact_bytes(bytes));
        }
        for ms in [0, 1, 999, 1_000, 1_234, 2_500, 90_000, DAY_MS, DAY_MS + HOUR_MS, 30 * DAY_MS + 1] {
            assert_eq!(parse_ms(&exact_ms(ms)), Ok(ms), "{}", exact_ms(ms));
        }
        assert_eq!((exact_bytes(512 << 20), exact_bytes(12)), ("512 MB".to_owned(), "12B".to_owned()));
        assert_eq!((exact_ms(2500), exact_ms(1234)), ("2.5 s".to_owned(), "1234ms".to_owned()));
    }
}
