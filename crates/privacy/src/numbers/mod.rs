//! Digits: cards, phones, national numbers, IPv4 addresses.
//!
//! A number is a few runs of digits with separators between them. Runs that hyphens, dots or slashes join
//! belong together; spaces may also stand between two numbers, so every reading from the first run on is
//! tried, a few at most.

mod cards;
mod countries;
mod rules;

pub use countries::{chinese_check, chinese_start};

use crate::context::Context;
use crate::digits::{Group, Number, Separator, is_called_behind};
use crate::finding::Finding;
use crate::keywords;
use crate::kind::Kind;
use crate::phone::Phones;
use crate::topic::Topic;
use crate::{bytes, network};
use rules::{NumberRule, is_told_by, of_length, of_shape};

/// How far behind a value a word for it counts, in bytes.
const REACH_BEHIND: usize = 24;

/// The longest way to write a number, with two spaces behind it.
const NUMBER_BYTES_MAX: usize = 32;

/// The best reading of the digits at `start`, and where to go on.
pub fn at(text: &str, start: usize, context: &Context, phones: &Phones) -> (Option<Finding>, usize) {
    if context.is_silent(start) && !may_tell_alone(text.as_bytes(), start) {
        return (None, start);
    }
    let Some(group) = Group::read(text.as_bytes(), start) else {
        return (None, bytes::run_end(text.as_bytes(), start, usize::MAX, |byte| byte.is_ascii_digit()));
    };
    let mut best: Option<Finding> = None;
    if !group.is_attached() {
        for number in group.numbers() {
            let found = read(text, &number, context, phones);
            let is_better =
                |found: &Finding| best.as_ref().is_none_or(|best| found.confidence >= best.confidence);
            best = found.filter(is_better).or(best);
        }
    }
    let resume = best.as_ref().map_or(group.first_end(), |found| found.span.end.max(group.first_end()));
    (best, resume)
}

/// Whether digits can be anything without a word that stands before them. Most numbers of a table can't, and
/// need not be read further.
fn may_tell_alone(bytes: &[u8], start: usize) -> bool {
    let Some(head) = Group::head(bytes, start) else { return true };
    let has_trunk = bytes[start] == b'0';
    // Four runs with dots may be an IP address.
    has_trunk || is_told_by(head) || head.ends_with(Separator::Dot) || may_be_named_behind(bytes, start)
}

/// Whether what follows the digits may be a word for them.
fn may_be_named_behind(bytes: &[u8], start: usize) -> bool {
    let near = &bytes[start..bytes.len().min(start + NUMBER_BYTES_MAX)];
    let behind = near.iter().position(|byte| byte.is_ascii_alphabetic() || *byte == b'(');
    behind.is_some_and(|behind| near[behind] == b'(' || is_called_behind(bytes, start + behind - 1))
}

/// The surest meaning of a number.
fn read(text: &str, number: &Number, context: &Context, phones: &Phones) -> Option<Finding> {
    if number.is_book(context) {
        return None;
    }
    let found = [
        network::ipv4(number, context),
        cards::read(number, context),
        by_country(text, number, context),
        phones.read(text, number, context),
    ];
    found.into_iter().flatten().max_by_key(|found| found.confidence)
}

fn by_country(text: &str, number: &Number, context: &Context) -> Option<Finding> {
    let digits = number.digits();
    let mut best: Option<(&NumberRule, u8)> = None;
    let mut keep = |rule: &'static NumberRule, confidence: u8| {
        if best.is_none_or(|(_, other)| confidence > other) {
            best = Some((rule, confidence));
        }
    };
    let is_other = context.is_other(number.start);
    if !context.is_silent(number.start) {
        for rule in of_length(digits.len()) {
            // A word for any country's number goes with that country's way of writing it.
            let is_generic = rule.kind == Kind::NationalId
                && (number.runs == 1 || rule.is_written(number.shape))
                && context.has(Topic::NationalId, number.start);
            if context.has(rule.topic, number.start) && (rule.check)(digits) {
                keep(rule, rule.in_context);
            } else if is_generic && (rule.check)(digits) {
                keep(rule, rule.in_context - 15);
            }
        }
    }
    for (rule, confidence) in of_shape(number.shape) {
        // The longest runs have one shape.
        if rule.length == digits.len() && (rule.check)(digits) {
            keep(rule, if is_other { confidence.saturating_sub(30) } else { confidence });
        }
    }
    if best.is_none_or(|(_, confidence)| confidence < 50) && digits.len() > 8 {
        let named = named_behind(text, number.end);
        let fits = |rule: &&NumberRule| named == Some(rule.topic) && (rule.check)(digits);
        if let Some(rule) = named.and_then(|_| of_length(digits.len()).find(fits)) {
            best = Some((rule, rule.in_context - 10));
        }
    }
    let (rule, confidence) = best?;
    Some(Finding::new(rule.kind.clone(), number.start..number.end, confidence, rule.rule))
}

/// The first word for something that follows closely, as in `123456789 (SSN)`.
fn named_behind(text: &str, end: usize) -> Option<Topic> {
    let bytes = text.as_bytes();
    // Only in parentheses: otherwise the word belongs to what comes next.
    let opening = bytes::run_end(bytes, end, 2, |byte| byte == b' ');
    if bytes.get(opening) != Some(&b'(') {
        return None;
    }
    let near = text.get(opening..bytes::boundary_after(text, opening + REACH_BEHIND))?;
    let mut named = None;
    keywords::each(near, |keyword| named = named.or(Some(keyword.topic)));
    named
}
