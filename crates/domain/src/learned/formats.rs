//! Formats that texts have: only those that a program can rely on in parsing.

use serde::{Deserialize, Serialize};

/// A set of formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Formats(u8);

/// Whether a text has a format.
type Has = fn(&str) -> bool;

const ALL: [(&str, Has); 5] =
    [("date-time", is_date_time), ("date", is_date), ("uuid", is_uuid), ("email", is_email), ("uri", is_uri)];

/// Longer texts have none.
const BYTES_MAX: usize = 2_000;

impl Formats {
    pub(super) fn of(text: &str) -> Self {
        if text.is_empty() || text.len() > BYTES_MAX {
            return Self::default();
        }
        let has = ALL.iter().enumerate().filter(|(_, (_, is))| is(text));
        Self(has.fold(0, |set, (place, _)| set | 1 << place))
    }

    /// Those that both have.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn name(self) -> Option<&'static str> {
        ALL.iter().enumerate().find(|(place, _)| self.0 & 1 << place != 0).map(|(_, (name, _))| *name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

/// Whether digits stand where the pattern has `0`, and the same characters elsewhere.
fn is_like(text: &[u8], pattern: &[u8]) -> bool {
    let fits = |(byte, wanted): (&u8, &u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        _ => byte == wanted,
    };
    text.len() == pattern.len() && text.iter().zip(pattern).all(fits)
}

fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}

fn is_date(text: &str) -> bool {
    let text = text.as_bytes();
    is_like(text, b"0000-00-00")
        && (1..=12).contains(&number(&text[5..7]))
        && (1..=31).contains(&number(&text[8..10]))
}

/// As RFC 3339 has it: with an offset.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let time = time.as_bytes();
    if !is_date(date) || time.len() < 9 || !is_like(&time[..8], b"00:00:00") {
        return false;
    }
    if number(&time[..2]) > 23 || number(&time[3..5]) > 59 || number(&time[6..8]) > 60 {
        return false;
    }
    let mut rest = &time[8..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return false;
        }
        rest = &fraction[digits..];
    }
    matches!(rest, b"Z" | b"z") || is_like(rest, b"+00:00") || is_like(rest, b"-00:00")
}

fn is_uuid(text: &str) -> bool {
    let text = text.as_bytes();
    let fits = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.iter().enumerate().all(fits)
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else { return false };
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '@' | ',' | ';' | '<' | '>' | '"');
    !name.is_empty()
        && text.len() <= 254
        && name.chars().all(is_plain)
        && host.contains('.')
        && host.split('.').all(|label| !label.is_empty())
        && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
}

fn is_uri(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_format_that_a_parser_takes() {
        let check =
            |text: &str, expected: Option<&str>| assert_eq!(Formats::of(text).name(), expected, "{text}");
        check("2024-05-01T10:00:00Z", Some("date-time"));
        check("2024-05-01T10:00:00.123+02:00", Some("date-time"));
        check("2024-05-01", Some("date"));
        check("0b5c9c1e-0d3a-4a67-9d70-1f4f8a2f3c11", Some("uuid"));
        check("anna@example.com", Some("email"));
        check("https://example.com/a?b=c", Some("uri"));
        for text in [
            "",
            "2024-13-01",
            "2024-05-01T10:00:00",
            "2024-05-01T10:00:00.Z",
            "2024-05-01T25:00:00Z",
            "2024-05-01Té0:00:00Z",
            "anna@localhost",
            "a b@example.com",
            "https://",
            "https://a b",
            "ftp",
        ] {
            check(text, None);
        }
        assert_eq!(Formats::of("2024-05-01").and(Formats::of("x")).name(), None);
    }
}
