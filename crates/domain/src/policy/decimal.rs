//! Numbers of any size, compared exactly: what a float can't hold doesn't get past a rule.
//!
//! Nothing is worked out: two numbers differ in their sign, in their order of magnitude, or in a digit.

use std::cmp::Ordering;

/// Numbers of rules are at most of this order of magnitude.
const RULE_ORDER_MAX: u64 = 1_000_000_000_000_000;

/// Larger exponents count as this one: no digits that fit into memory make up for its distance to a rule's number.
const EXPONENT_MAX: i64 = 1_000_000_000_000_000_000;

/// What is beyond every number.
const INFINITE: i64 = i64::MAX;

/// A decimal number; however it is written, it has one form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    /// -1, 0 or 1.
    sign: i8,
    /// Of ten, by which the digits are multiplied if they stand behind the point: 1 for `5`, 2 for `50`, 0 for `0.5`.
    order: i64,
    /// Without zeros at either end; none for zero, and for what is infinite.
    digits: String,
}

impl Decimal {
    /// Reads what is read as a float, too; `None` for everything else, and for what is no number.
    pub fn read(text: &str) -> Option<Self> {
        let (sign, text) = match text.strip_prefix('-') {
            Some(text) => (-1, text),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        if ["inf", "infinity"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Some(Self { sign, order: INFINITE, digits: String::new() });
        }
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, read_exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        let written = [whole, fraction].concat();
        let significant = written.trim_start_matches('0');
        if significant.is_empty() {
            return Some(Self { sign: 0, order: 0, digits: String::new() });
        }
        let zeros = written.len() - significant.len();
        let order = exponent.saturating_add(length(whole.len())).saturating_sub(length(zeros));
        Some(Self { sign, order, digits: significant.trim_end_matches('0').to_owned() })
    }

    /// Whether a rule may have it: then every number is compared with it exactly.
    pub fn is_for_rules(&self) -> bool {
        self.order.unsigned_abs() <= RULE_ORDER_MAX
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_size = || self.order.cmp(&other.order).then_with(|| self.digits.cmp(&other.digits));
        self.sign.cmp(&other.sign).then_with(|| if self.sign < 0 { by_size().reverse() } else { by_size() })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn read_exponent(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !are_digits(digits) {
        return None;
    }
    let size = digits.bytes().fold(0_i64, |size, digit| {
        size.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(EXPONENT_MAX)
    });
    Some(if is_negative { -size } else { size })
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(EXPONENT_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::read(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn numbers_in_order_are_ordered_however_large_they_are() {
        let huge = format!("1{}", "0".repeat(309));
        let minus_huge = format!("-{huge}");
        let in_order = [
            "-inf",
            "-1e99999999999999999999",
            &minus_huge,
            "-1e308",
            "-9007199254740993",
            "-9007199254740992",
            "-1.5",
            "-1",
            "-1e-400",
            "0",
            "1e-99999999999999999999",
            "1e-400",
            "0.1",
            "0.10000000000000000001",
            "1",
            "9007199254740992",
            "9007199254740993",
            "1e308",
            &huge,
            "1.00001e309",
            "2e309",
            "1e310",
            "1e1000000000000000",
            "1e99999999999999999999",
            "Infinity",
        ];
        for (place, one) in in_order.iter().enumerate() {
            for (other_place, other) in in_order.iter().enumerate() {
                assert_eq!(decimal(one).cmp(&decimal(other)), place.cmp(&other_place), "{one} {other}");
            }
        }
    }

    #[test]
    fn one_number_has_many_spellings() {
        for (one, other) in [
            ("0", "-0.00e99999999999999999999"),
            ("1000", "1e3"),
            ("1000", "+1000.0"),
            ("1000", "001E+0003"),
            ("-0.5", "-.5"),
            ("5", "5."),
            ("1e309", "10e308"),
            ("0.001", "1e-3"),
        ] {
            assert_eq!(decimal(one), decimal(other), "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_number_is_not_read() {
        let marks = ["", "-", "+", ".", "-.", "+-1", "e5", "1e", "1e+", "1e5.0"];
        let words = ["1_000", "1,5", "0x10", "nan", "١"];
        for text in marks.into_iter().chain(words) {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_rule_has_no_number_that_could_not_be_told_from_others() {
        for (text, expected) in [
            ("0", true),
            ("1e309", true),
            ("-1e-309", true),
            ("1e9999999999999999", false),
            ("1e99999999999999999999", false),
            ("1e-99999999999999999999", false),
            ("inf", false),
        ] {
            assert_eq!(decimal(text).is_for_rules(), expected, "{text}");
        }
    }

    /// The same number, written in other ways.
    fn spellings(number: i128, zeros: usize) -> Vec<String> {
        let (sign, digits) = (if number < 0 { "-" } else { "" }, number.unsigned_abs().to_string());
        let padding = "0".repeat(zeros);
        let (first, rest) = digits.split_at(1);
        vec![
            format!("{sign}{digits}"),
            format!("{sign}{padding}{digits}.{padding}"),
            format!("{sign}{digits}{padding}e-{zeros}"),
            format!("{sign}{first}.{rest}E+{}", rest.len()),
            format!("{sign}0.{padding}{digits}e{}", zeros + digits.len()),
        ]
    }

    /// Of all sizes, not only of the largest.
    fn whole() -> impl Strategy<Value = i128> {
        (any::<i128>(), 0_u32..127).prop_map(|(number, shift)| number >> shift)
    }

    proptest! {
        #[test]
        fn whole_numbers_compare_as_they_do(
            one in whole(),
            other in whole(),
            near in -3_i128..4,
            zeros in 0_usize..30,
        ) {
            for other in [other, one.saturating_add(near)] {
                for one_text in spellings(one, zeros) {
                    for other_text in spellings(other, zeros / 2) {
                        let compared = decimal(&one_text).cmp(&decimal(&other_text));
                        prop_assert_eq!(compared, one.cmp(&other), "{} {}", one_text, other_text);
                    }
                }
            }
        }

        #[test]
        fn floats_compare_as_they_do(one in any::<f64>(), other in any::<f64>()) {
            prop_assume!(one.is_finite() && other.is_finite());
            let (plain, short) = (decimal(&one.to_string()), decimal(&format!("{one:e}")));
            prop_assert_eq!(&plain, &short);
            prop_assert_eq!(one.partial_cmp(&other), Some(plain.cmp(&decimal(&format!("{other:e}")))));
        }

        #[test]
        fn what_is_read_as_a_float_is_read(text in "[-+]?[0-9]{0,3}[.]?[0-9]{0,3}([eE][-+]?[0-9]{0,2})?") {
            let float = text.parse::<f64>().ok();
            prop_assert_eq!(Decimal::read(&text).is_some(), float.is_some());
            if let (Some(decimal), Some(float)) = (Decimal::read(&text), float) {
                prop_assert_eq!(Some(decimal.cmp(&Decimal::read("1").unwrap())), float.partial_cmp(&1.0));
            }
        }
    }
}
