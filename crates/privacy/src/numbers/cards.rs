//! Payment cards: issuer, length and check digit.

use crate::context::Context;
use crate::digits::Number;
use crate::digits::Separator;
use crate::digits::checks::{luhn, value};
use crate::finding::Finding;
use crate::kind::Kind;
use crate::topic::Topic;

pub fn read(number: &Number, context: &Context) -> Option<Finding> {
    let digits = number.digits();
    if !(12..=19).contains(&digits.len()) || number.has_plus || number.has_parenthesis {
        return None;
    }
    let is_bare = number.runs == 1;
    let is_grouped = is_grouped(number);
    if !is_bare && !is_grouped {
        return None;
    }
    let is_named = context.has(Topic::Card, number.start);
    let (rule, is_common) = issuer(digits, is_named)?;
    // Versions and the like have dots, too.
    let is_unusual = number.is_joined_by(Separator::Dot) && !is_common;
    if is_unusual || !luhn(digits) {
        return None;
    }
    let confidence = match (is_named, is_common) {
        (true, true) => 97,
        (true, false) => 88,
        (false, true) if is_grouped => 92,
        (false, false) if is_grouped => 65,
        (false, true) if context.says(Topic::Other, number.start) => 35,
        (false, true) => 75,
        (false, false) => 30,
    };
    Some(Finding::new(Kind::CreditCard, number.start..number.end, confidence, rule))
}

/// Four and four, or as on the cards of American Express and Diners Club.
fn is_grouped(number: &Number) -> bool {
    let is_uniform = [Separator::Space, Separator::Hyphen, Separator::Dot]
        .into_iter()
        .any(|separator| number.is_joined_by(separator));
    let is_known = match number.lengths() {
        [4, 6, 4 | 5] => true,
        [fours @ .., last] => !fours.is_empty() && fours.iter().all(|run| *run == 4) && *last <= 4,
        [] => false,
    };
    is_uniform && is_known
}

/// Who issued it, and whether this length is the common one, so that the number tells by itself.
fn issuer(digits: &[u8], is_named: bool) -> Option<(&'static str, bool)> {
    let length = digits.len();
    Some(match value(&digits[..4]) {
        4000..=4999 if matches!(length, 13 | 16 | 19) => ("card-visa", length == 16),
        5100..=5599 | 2221..=2720 if length == 16 => ("card-mastercard", true),
        3400..=3499 | 3700..=3799 if length == 15 => ("card-amex", true),
        6011 | 6440..=6599 if length >= 16 => ("card-discover", length == 16),
        3528..=3589 if length >= 16 => ("card-jcb", length == 16),
        1800 | 2131 if length == 15 => ("card-jcb", false),
        3000..=3059 | 3095 | 3600..=3699 | 3800..=3999 if matches!(length, 14 | 16) => {
            ("card-diners", length == 14)
        }
        6200..=6299 | 8100..=8199 if length >= 16 => ("card-unionpay", length == 16),
        2200..=2204 if length == 16 => ("card-mir", true),
        9792 if length == 16 => ("card-troy", false),
        5018 | 5020 | 5038 | 5600..=5899 | 6304 | 6390 | 6759 | 6761..=6763 | 6000..=6099 | 6700..=6799 => {
            ("card-maestro", false)
        }
        // Of nobody that we know, but called a card.
        _ if length == 16 && is_named => ("card", false),
        _ => return None,
    })
}
