//! Numbers as people read them.

/// With thousands separators: 12,345.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The same below zero.
pub(crate) fn signed(number: i64) -> String {
    let sign = if number < 0 { "\u{2212}" } else { "" };
    format!("{sign}{}", count(number.unsigned_abs()))
}

/// Such as `1 call` and `2 calls`.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Three digits and a letter: 12.3k.
pub(crate) fn compact(number: f64) -> String {
    let (size, sign) = (number.abs(), if number < 0.0 { "\u{2212}" } else { "" });
    let (scaled, letter) = match size {
        size if size >= 999_500_000.0 => (size / 1e9, "B"),
        size if size >= 999_500.0 => (size / 1e6, "M"),
        size if size >= 999.5 => (size / 1e3, "k"),
        size => (size, ""),
    };
    let digits = if letter.is_empty() && scaled.fract() == 0.0 {
        format!("{scaled:.0}")
    } else if scaled < 99.95 {
        format!("{scaled:.1}").trim_end_matches(".0").to_owned()
    } else {
        format!("{scaled:.0}")
    };
    format!("{sign}{digits}{letter}")
}

pub(crate) fn bytes(number: u64) -> String {
    if number < 1_000 {
        return counted(number, "byte");
    }
    let (size, unit) = match number {
        0..1_000_000 => (1e3, "KB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{:.1} {unit}", float(number) / size)
}

/// Milliseconds, in the unit that fits.
pub(crate) fn duration(ms: f64) -> String {
    if !ms.is_finite() {
        return "?".to_owned();
    }
    match ms {
        0.0 => "0 ms".to_owned(),
        ms if ms < 1.0 => format!("{ms:.2} ms"),
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 59_950.0 => format!("{:.1} s", ms / 1e3),
        ms => format!("{:.0} min {:.0} s", (ms / 6e4).floor(), (ms / 1e3).floor() % 60.0),
    }
}

/// A share of one: 98.5 %.
pub(crate) fn percent(share: f64) -> String {
    format!("{}%", format!("{:.1}", share * 100.0).trim_end_matches(".0"))
}

/// A coordinate: two decimals are finer than any screen.
pub(crate) fn place(number: f64) -> String {
    let number = if number.is_finite() { number } else { 0.0 };
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_have_units() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(signed(-1_200), "\u{2212}1,200");
        assert_eq!(compact(12_345.0), "12.3k");
        assert_eq!(compact(999_700.0), "1M");
        assert_eq!(compact(0.25), "0.2");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1_250_000), "1.2 MB");
        assert_eq!(duration(0.25), "0.25 ms");
        assert_eq!(duration(125_000.0), "2 min 5 s");
        assert_eq!(percent(0.985), "98.5%");
        assert_eq!(percent(1.0), "100%");
        assert_eq!(place(33.333_333), "33.33");
        assert_eq!(place(f64::NAN), "0");
    }
}
