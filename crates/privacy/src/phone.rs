//! Phone numbers, by the numbering plan of each country.
//!
//! The plans are libphonenumber's; its parser isn't used, since a table of compiled plans answers in a
//! hundredth of the time. The plans are loaded when the first number is written like a phone number, and
//! each is compiled when a number asks for it first.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{LazyLock, OnceLock};

use phonenumber::Metadata;
use phonenumber::country;
use phonenumber::metadata::{DATABASE, Descriptor};
use regex::bytes::{Regex, RegexBuilder};

use crate::bytes::{ends_word, run_end};
use crate::context::Context;
use crate::digits::checks::value;
use crate::digits::{Number, Separator, Shape, is_called_behind};
use crate::finding::Finding;
use crate::kind::Kind;
use crate::topic::Topic;

/// The numbering plan of one country.
#[derive(Debug)]
struct Plan {
    id: String,
    code: u64,
    /// What stands before a number that is dialed within the country.
    trunk: Option<u8>,
    /// A bit for each number of digits that a number may have.
    lengths: u32,
    metadata: &'static Metadata,
    pattern: OnceLock<Option<Regex>>,
}

/// By country code, which has three digits at most.
static PLANS: LazyLock<Vec<Vec<Plan>>> = LazyLock::new(|| {
    let mut plans: Vec<Vec<Plan>> = (0..1_000).map(|_| Vec::new()).collect();
    for metadata in DATABASE.iter() {
        let plan = Plan::of(metadata);
        if let Some(same_code) = plans.get_mut(plan.code as usize) {
            same_code.push(plan);
        }
    }
    // Most numbers of a code are of its main country.
    plans.iter_mut().for_each(|plans| plans.sort_by_key(|plan| !plan.metadata.is_main_country_for_code()));
    plans
});

fn plans_of(code: u64) -> &'static [Plan] {
    PLANS.get(code as usize).map_or(&[], Vec::as_slice)
}

/// The ways to write a North American number, and how sure each is by itself.
static NORTH_AMERICAN: LazyLock<HashMap<Shape, u8>> = LazyLock::new(|| {
    let shapes = [
        ("999-999-9999", 72),
        ("999.999.9999", 65),
        ("999 999 9999", 55),
        ("999 999-9999", 65),
        ("999/999-9999", 55),
        ("9-999-999-9999", 76),
        ("9.999.999.9999", 65),
        ("9 999 999 9999", 60),
        ("9 999-999-9999", 70),
    ];
    shapes.into_iter().map(|(written, confidence)| (Shape::of(written), confidence)).collect()
});

impl Plan {
    fn of(metadata: &'static Metadata) -> Self {
        let trunk = metadata.national_prefix().and_then(|prefix| match prefix.as_bytes() {
            [digit @ b'0'..=b'9'] => Some(digit - b'0'),
            _ => None,
        });
        let kinds = kinds(metadata).into_iter().flatten();
        Self {
            id: metadata.id().to_owned(),
            code: u64::from(metadata.country_code()),
            trunk,
            lengths: kinds.flat_map(|kind| kind.possible_length()).fold(0, |all, length| all | bit(*length)),
            metadata,
            pattern: OnceLock::new(),
        }
    }

    /// Whether such a number can have been assigned.
    fn has(&self, national: &[u8]) -> bool {
        if !self.is_as_long(national) {
            return false;
        }
        let Some(pattern) = self.pattern.get_or_init(|| self.compiled()) else { return false };
        let mut text = [0_u8; 20];
        let text = &mut text[..national.len().min(20)];
        text.iter_mut().zip(national).for_each(|(byte, digit)| *byte = b'0' + digit);
        pattern.is_match(text)
    }

    fn is_as_long(&self, national: &[u8]) -> bool {
        self.lengths & bit(national.len() as u16) != 0
    }

    fn compiled(&self) -> Option<Regex> {
        let mut pattern = String::from("^(?:");
        for kind in kinds(self.metadata).into_iter().flatten() {
            let bar = if pattern.ends_with(':') { "" } else { "|" };
            write!(pattern, "{bar}(?:{})", kind.national_number().as_str()).ok()?;
        }
        pattern.push_str(")$");
        RegexBuilder::new(&pattern).unicode(false).ignore_whitespace(true).build().ok()
    }
}

fn bit(length: u16) -> u32 {
    1_u32.checked_shl(u32::from(length)).unwrap_or(0)
}

/// The kinds of numbers that somebody may have.
fn kinds(metadata: &Metadata) -> [Option<&Descriptor>; 10] {
    let all = metadata.descriptors();
    [
        all.fixed_line(),
        all.mobile(),
        all.toll_free(),
        all.premium_rate(),
        all.shared_cost(),
        all.personal_number(),
        all.voip(),
        all.pager(),
        all.uan(),
        all.voicemail(),
    ]
}

/// The plans that numbers without a country code are read by.
#[derive(Debug)]
pub struct Phones {
    /// In capitals. Each has a plan.
    regions: Vec<String>,
    home: OnceLock<Vec<&'static Plan>>,
}

impl Phones {
    /// Names the region that there is none of. Loads nothing.
    pub fn of(regions: &[String]) -> Result<Self, String> {
        let known = |region: &String| {
            let code = region.to_ascii_uppercase();
            if code.parse::<country::Id>().is_ok() { Ok(code) } else { Err(region.clone()) }
        };
        Ok(Self { regions: regions.iter().map(known).collect::<Result<_, _>>()?, home: OnceLock::new() })
    }

    fn home(&self) -> &[&'static Plan] {
        self.home.get_or_init(|| {
            let plan = |region: &String| PLANS.iter().flatten().find(|plan| plan.id == *region);
            self.regions.iter().filter_map(plan).collect()
        })
    }

    /// A number as a phone number.
    pub fn read(&self, text: &str, number: &Number, context: &Context) -> Option<Finding> {
        let digits = number.digits();
        if !(7..=15).contains(&digits.len()) || is_something_else(number) {
            return None;
        }
        let is_named =
            context.has(Topic::Phone, number.start) || is_called_behind(text.as_bytes(), number.end);
        let is_labeled = context.is_labeled(Topic::Phone, number.start);
        let (confidence, rule) = match number.has_plus {
            true if number.has(Separator::Mixed) => {
                international(&without_trunk(text, number, digits), is_named)?
            }
            true => international(digits, is_named)?,
            false if is_named => self.named(number, digits, is_labeled)?,
            false => self.alone(number, digits)?,
        };
        let doubt = if !is_named && !number.has_plus && context.is_other(number.start) { 30 } else { 0 };
        let confidence = u8::saturating_sub(confidence, doubt);
        let end = extension_end(text.as_bytes(), number.end).unwrap_or(number.end);
        Some(Finding::new(Kind::Phone, number.start..end, confidence, rule))
    }

    /// A number without a plus that a word says is a phone number.
    fn named(&self, number: &Number, digits: &[u8], is_labeled: bool) -> Option<(u8, &'static str)> {
        if abroad(digits).is_some_and(is_assigned) {
            return Some((88, "phone-international"));
        }
        if self.home().iter().any(|plan| is_national(plan, digits)) {
            return Some((if number.runs > 1 { 92 } else { 82 }, "phone-national"));
        }
        if self.home().iter().any(|plan| has_code(plan, digits)) {
            return Some((75, "phone-national"));
        }
        // Made up, out of date, of another country, or without the area: still meant as a phone number.
        let is_meant = written_alone(number, digits).is_some()
            || is_spread(number)
            || is_labeled && (8..=12).contains(&digits.len());
        is_meant.then_some((60, "phone-unassigned"))
    }

    /// A number without a plus and without a word for it.
    fn alone(&self, number: &Number, digits: &[u8]) -> Option<(u8, &'static str)> {
        if number.runs > 1 && abroad(digits).is_some_and(is_assigned) {
            return Some((65, "phone-international"));
        }
        let confidence = written_alone(number, digits)?;
        if self.home().iter().any(|plan| is_national(plan, digits)) {
            return Some((confidence, "phone-national"));
        }
        // No plan is asked here: there are too many for each number of a table.
        let is_elsewhere = (9..=11).contains(&digits.len()) && is_grouped_with_trunk(number, digits);
        is_elsewhere.then_some((52, "phone-elsewhere"))
    }
}

/// What follows the digits that are dialed for another country.
fn abroad(digits: &[u8]) -> Option<&[u8]> {
    digits.strip_prefix(&[0, 0]).or_else(|| digits.strip_prefix(&[0, 1, 1]))
}

/// `0680 298 70 63`: a zero before the first of three groups or more, but not before the second, as in lists
/// of numbers with leading zeros.
fn is_grouped_with_trunk(number: &Number, digits: &[u8]) -> bool {
    let lengths = number.lengths();
    let is_even = lengths.iter().all(|length| *length == lengths[0]);
    digits[0] == 0 && digits[1] != 0 && number.runs > 2 && !is_even && !has_zero_again(number, digits)
}

/// `0644 0755 0600`
fn is_list(number: &Number, digits: &[u8]) -> bool {
    let lengths = number.lengths();
    lengths.iter().all(|length| *length > 2 && *length == lengths[0]) && has_zero_again(number, digits)
}

/// Whether the second run starts with a zero, too.
fn has_zero_again(number: &Number, digits: &[u8]) -> bool {
    number.runs > 1 && digits.get(number.lengths()[0] as usize) == Some(&0)
}

/// Groups as people write them, in whatever country.
fn is_spread(number: &Number) -> bool {
    let lengths = number.lengths();
    let are_groups = lengths.iter().all(|length| (2..=7).contains(length));
    let is_other = number.has(Separator::Slash) || number.has(Separator::Dot) && number.runs < 3;
    number.runs > 1 && are_groups && !is_other
}

/// The end of `x123`, `ext. 123` behind a number.
fn extension_end(bytes: &[u8], end: usize) -> Option<usize> {
    let start = run_end(bytes, end, 2, |byte| matches!(byte, b' ' | b','));
    let word = run_end(bytes, start, 9, |byte| byte.is_ascii_alphabetic());
    let is_extension =
        [&b"x"[..], b"ext", b"extension"].iter().any(|other| bytes[start..word].eq_ignore_ascii_case(other));
    let digits = run_end(bytes, word, 2, |byte| matches!(byte, b' ' | b'.'));
    let digits_end = run_end(bytes, digits, 7, |byte| byte.is_ascii_digit());
    (is_extension && (1..=6).contains(&(digits_end - digits)) && ends_word(bytes, digits_end))
        .then_some(digits_end)
}

/// How sure a national number is by the way it is written.
fn written_alone(number: &Number, digits: &[u8]) -> Option<u8> {
    let is_north_american = digits.len() == 10 && digits[0] > 1 || digits.len() == 11 && digits[0] == 1;
    if is_north_american {
        return if in_parentheses(number) { Some(84) } else { american_shape(number) };
    }
    let is_dotted = number.has(Separator::Dot);
    let has_trunk = digits[0] == 0 && (9..=12).contains(&digits.len());
    let is_grouped =
        number.runs > 1 && !(is_dotted && number.runs < 4) && (2..=6).contains(&number.lengths()[0]);
    (has_trunk && is_grouped && !is_list(number, digits)).then_some(if number.has_parenthesis {
        72
    } else {
        60
    })
}

/// `(212) 555-0123`
fn in_parentheses(number: &Number) -> bool {
    matches!(number.lengths(), [3, 3, 4] | [1, 3, 3, 4]) && number.has(Separator::Mixed)
}

fn american_shape(number: &Number) -> Option<u8> {
    let is_close = matches!(number.lengths(), [3, 3, 4] | [1, 3, 3, 4]);
    if is_close { NORTH_AMERICAN.get(&number.shape).copied() } else { None }
}

fn is_national(plan: &Plan, digits: &[u8]) -> bool {
    match plan.trunk {
        Some(trunk) if digits[0] == trunk => plan.has(&digits[1..]),
        // Who dials 1 first need not write it.
        Some(trunk) if trunk != 1 => false,
        Some(_) | None => plan.has(digits),
    }
}

/// Whether it is a number of the plan with its country code and no plus.
fn has_code(plan: &Plan, digits: &[u8]) -> bool {
    split(digits).any(|(code, national)| code == plan.code && plan.has(national))
}

/// A number after its plus.
fn international(digits: &[u8], is_named: bool) -> Option<(u8, &'static str)> {
    if is_assigned(digits) {
        return Some((94, "phone-international"));
    }
    let is_possible =
        |(code, national): (u64, &[u8])| plans_of(code).iter().any(|plan| plan.is_as_long(national));
    let is_possible = split(digits).any(is_possible);
    (is_possible && digits.len() > 8).then_some((if is_named { 70 } else { 55 }, "phone-unassigned"))
}

fn is_assigned(digits: &[u8]) -> bool {
    let has = |(code, national): (u64, &[u8])| plans_of(code).iter().any(|plan| plan.has(national));
    split(digits).any(has)
}

/// Every way to part a country code from the rest.
fn split(digits: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..=3.min(digits.len())).map(|at| (value(&digits[..at]), &digits[at..]))
}

/// `+44 (0)20 …`: the zero in parentheses isn't dialed after the country code.
fn without_trunk(text: &str, number: &Number, digits: &[u8]) -> Vec<u8> {
    let is_written = text.get(number.start..number.end).is_some_and(|written| written.contains("(0)"));
    let zero = number.lengths()[0] as usize;
    let is_trunk = is_written && number.lengths().get(1) == Some(&1);
    digits.iter().enumerate().filter(|(at, _)| !is_trunk || *at != zero).map(|(_, digit)| *digit).collect()
}

/// Dates, decimals, and the form of social security numbers.
fn is_something_else(number: &Number) -> bool {
    let is_year = matches!(number.digits()[..2], [1, 9] | [2, 0 | 1]);
    let is_date = match number.lengths() {
        [4, 1 | 2, 1 | 2, ..] => is_year,
        [1 | 2, 1 | 2, 4] | [2, 2, 2] => true,
        _ => false,
    };
    // `+35236450.6`
    let is_decimal = number.runs == 2 && number.is_joined_by(Separator::Dot);
    is_decimal || !number.has_plus && (is_date || number.lengths() == [3, 2, 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_known_without_its_plan_exactly_if_it_has_one() {
        for first in b'A'..=b'Z' {
            for second in b'A'..=b'Z' {
                let region = String::from_utf8(vec![first, second]).expect("letters");
                let has_plan = PLANS.iter().flatten().any(|plan| plan.id == region);
                assert_eq!(Phones::of(&[region.to_lowercase()]).is_ok(), has_plan, "{region}");
            }
        }
        for wrong in ["", "001", "USA", "ÜS"] {
            assert_eq!(Phones::of(&[wrong.to_owned()]).map(|_| ()), Err(wrong.to_owned()));
        }
    }

    #[test]
    fn the_plans_are_loaded_by_the_first_number_that_is_written_like_a_phone_number() {
        let phones = Phones::of(&["us".to_owned()]).expect("a region");
        assert!(phones.home.get().is_none());
        assert_eq!(phones.home().len(), 1);
    }
}
