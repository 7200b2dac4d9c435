//! National numbers and licenses that have letters in them.

use crate::bytes::{ends_word, run_end};
use crate::context::Context;
use crate::digits::checks::{is_day, value, weighted};
use crate::finding::Finding;
use crate::kind::Kind;
use crate::numbers::{chinese_check, chinese_start};
use crate::topic::Topic;

/// One format. In its shape `A` is a letter, `9` a digit and `X` either.
struct LetterRule {
    rule: &'static str,
    kind: Kind,
    topic: Topic,
    shape: &'static str,
    alone: u8,
    in_context: u8,
    check: fn(&[u8]) -> bool,
}

const fn id(
    rule: &'static str,
    topic: Topic,
    shape: &'static str,
    alone: u8,
    check: fn(&[u8]) -> bool,
) -> LetterRule {
    LetterRule { rule, kind: Kind::NationalId, topic, shape, alone, in_context: 92, check }
}

static RULES: [LetterRule; 16] = [
    id("uk-nino", Topic::UkNino, "AA999999A", 75, uk_nino),
    id("es-dni", Topic::Spanish, "99999999A", 80, |id| spanish(&id[..8], 0, id[8])),
    id("es-nie", Topic::Spanish, "A9999999A", 82, spanish_nie),
    id("it-codice-fiscale", Topic::Italian, "AAAAAAXXAXXAXXXA", 92, codice_fiscale),
    id("fi-hetu", Topic::Finnish, "999999A999X", 88, |id| finnish(&id[..6], &id[7..10], id[10])),
    id("sg-nric", Topic::Singaporean, "A9999999A", 82, singaporean),
    id("in-pan", Topic::Indian, "AAAAA9999A", 65, |id| b"ABCFGHJLPT".contains(&id[3])),
    id("ie-pps", Topic::Irish, "9999999A", 60, irish),
    id("ie-pps", Topic::Irish, "9999999AA", 65, irish),
    id("mx-curp", Topic::Mexican, "AAAA999999AAAAAAX9", 92, mexican),
    id("cn-id", Topic::Chinese, "99999999999999999A", 88, chinese),
    id("fr-nir", Topic::French, "999999A99999999", 92, corsican),
    id("hk-hkid", Topic::HongKong, "A9999999", 30, hong_kong),
    id("hk-hkid", Topic::HongKong, "A999999A", 35, hong_kong),
    LetterRule {
        rule: "uk-driving-license",
        kind: Kind::DrivingLicense,
        topic: Topic::License,
        shape: "XXXXX999999XX9AA",
        alone: 80,
        in_context: 95,
        check: uk_license,
    },
    LetterRule {
        rule: "uk-driving-license",
        kind: Kind::DrivingLicense,
        topic: Topic::License,
        shape: "XXXXX999999XXXAA",
        alone: 75,
        in_context: 92,
        check: uk_license,
    },
];

/// A word of letters and digits as a number of a person.
pub fn read(text: &str, start: usize, end: usize, context: &Context) -> Option<Finding> {
    let word = text.get(start..end)?.as_bytes();
    if !(7..=18).contains(&word.len()) || !word.is_ascii() {
        return None;
    }
    let mut upper = [0_u8; 18];
    let upper = &mut upper[..word.len()];
    upper.copy_from_slice(word);
    upper.make_ascii_uppercase();
    let upper = &*upper;
    if let Some(found) = with_parentheses(text, start, end) {
        return Some(found);
    }
    let is_upper = upper == word;
    let fitting = RULES.iter().filter(|rule| fits(rule.shape, upper) && (rule.check)(upper));
    let rated = fitting.map(|rule| {
        let is_named = context.has(rule.topic, start)
            || rule.kind == Kind::NationalId && context.has(Topic::NationalId, start);
        let alone = if is_upper && !context.is_other(start) { rule.alone } else { 25 };
        (if is_named { rule.in_context } else { alone }, rule)
    });
    let (confidence, rule) = rated.max_by_key(|(confidence, _)| *confidence)?;
    Some(Finding::new(rule.kind.clone(), start..end, confidence, rule.rule))
}

fn fits(shape: &str, word: &[u8]) -> bool {
    shape.len() == word.len()
        && shape.bytes().zip(word).all(|(shape, byte)| match shape {
            b'A' => byte.is_ascii_uppercase(),
            b'9' => byte.is_ascii_digit(),
            _ => byte.is_ascii_alphanumeric(),
        })
}

/// Hong Kong's check digit stands in parentheses: `A123456(3)`.
fn with_parentheses(text: &str, start: usize, end: usize) -> Option<Finding> {
    let [b'(', check, b')'] = text.as_bytes().get(end..end + 3)? else { return None };
    let id = [&text.as_bytes()[start..end], &[*check]].concat();
    let is_written = fits("A9999999", &id) || fits("A999999A", &id);
    (is_written && hong_kong(&id)).then(|| Finding::new(Kind::NationalId, start..end + 3, 88, "hk-hkid"))
}

/// Digits at `start` with a hyphen and a letter behind them: `12345678-Z`, `131052-308T`; or within letters: `AB 12 34 56 C`.
pub fn with_hyphen(text: &str, start: usize, context: &Context) -> Option<Finding> {
    let bytes = text.as_bytes();
    let digits_end = run_end(bytes, start, 9, |byte| byte.is_ascii_digit());
    let (end, topic, rule, alone, is_valid) = match (digits_end - start, bytes.get(digits_end)?) {
        (8, b'-') => {
            let check = bytes.get(digits_end + 1)?;
            let is_valid = check.is_ascii_uppercase() && spanish(&bytes[start..digits_end], 0, *check);
            (digits_end + 2, Topic::Spanish, "es-dni", 85, is_valid)
        }
        (6, b'-' | b'+') => {
            let tail = bytes.get(digits_end + 1..digits_end + 5)?;
            let is_valid = tail[..3].iter().all(u8::is_ascii_digit)
                && finnish(&bytes[start..digits_end], &tail[..3], tail[3].to_ascii_uppercase());
            (digits_end + 5, Topic::Finnish, "fi-hetu", 85, is_valid)
        }
        (2, b' ') => {
            let head = bytes.get(start.checked_sub(3)?..start)?;
            if !head[0].is_ascii_uppercase() || head[2] != b' ' {
                return None;
            }
            let written = text.get(start - 3..start + 10)?.as_bytes();
            let packed: Vec<u8> = written.iter().filter(|byte| **byte != b' ').copied().collect();
            let is_valid = written[2] == b' ' && fits("AA999999A", &packed) && uk_nino(&packed);
            let is_open = ends_word(bytes, start + 10) && crate::bytes::starts_word(bytes, start - 3);
            let confidence = if context.has(Topic::UkNino, start - 3) { 95 } else { 85 };
            return (is_valid && is_open)
                .then(|| Finding::new(Kind::NationalId, start - 3..start + 10, confidence, "uk-nino"));
        }
        _ => return None,
    };
    let confidence = if context.has(topic, start) { 95 } else { alone };
    (is_valid && ends_word(bytes, end)).then(|| Finding::new(Kind::NationalId, start..end, confidence, rule))
}

fn digits(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| byte.wrapping_sub(b'0')).collect()
}

fn number(text: &[u8]) -> u64 {
    value(&digits(text))
}

fn uk_nino(id: &[u8]) -> bool {
    let is_first = |byte: u8| !b"DFIQUV".contains(&byte);
    let is_unused =
        [b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"].iter().any(|pair| id.starts_with(*pair));
    is_first(id[0]) && is_first(id[1]) && id[1] != b'O' && !is_unused && matches!(id[8], b'A'..=b'D')
}

fn spanish(digits: &[u8], first: u64, check: u8) -> bool {
    let number = first * 10_000_000 + number(digits);
    b"TRWAGMYFPDXBNJZSQVHLCKE"[(number % 23) as usize] == check.to_ascii_uppercase()
}

fn spanish_nie(id: &[u8]) -> bool {
    matches!(id[0], b'X'..=b'Z') && spanish(&id[1..8], u64::from(id[0] - b'X'), id[8])
}

fn codice_fiscale(id: &[u8]) -> bool {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let place = |byte: u8| usize::from(if byte.is_ascii_digit() { byte - b'0' } else { byte - b'A' });
    let sum: u32 = id[..15]
        .iter()
        .enumerate()
        .map(|(at, byte)| if at % 2 == 0 { ODD[place(*byte)] } else { place(*byte) as u32 })
        .sum();
    b"ABCDEHLMPRST".contains(&id[8]) && sum % 26 == u32::from(id[15] - b'A')
}

fn finnish(date: &[u8], serial: &[u8], check: u8) -> bool {
    let rest = (number(date) * 1_000 + number(serial)) % 31;
    is_day(number(&date[..2]), number(&date[2..4]))
        && b"0123456789ABCDEFHJKLMNPRSTUVWXY"[rest as usize] == check
}

fn singaporean(id: &[u8]) -> bool {
    let sum = weighted(&digits(&id[1..8]), &[2, 7, 6, 5, 4, 3, 2]);
    let (extra, letters): (u32, &[u8; 11]) = match id[0] {
        b'S' => (0, b"JZIHGFEDCBA"),
        b'T' => (4, b"JZIHGFEDCBA"),
        b'F' => (0, b"XWUTRQPNMLK"),
        b'G' => (4, b"XWUTRQPNMLK"),
        b'M' => (3, b"XWUTRQPNJLK"),
        _ => return false,
    };
    letters[((sum + extra) % 11) as usize] == id[8]
}

fn irish(id: &[u8]) -> bool {
    let second = id.get(8).map_or(0, |byte| if *byte == b'W' { 0 } else { u32::from(byte - b'@') });
    let sum = weighted(&digits(&id[..7]), &[8, 7, 6, 5, 4, 3, 2]) + second * 9;
    b"WABCDEFGHIJKLMNOPQRSTUV"[(sum % 23) as usize] == id[7]
}

fn mexican(id: &[u8]) -> bool {
    // Ñ stands between N and O in this alphabet.
    let place = |byte: u8| match byte {
        b'0'..=b'9' => u32::from(byte - b'0'),
        b'A'..=b'N' => u32::from(byte - b'A') + 10,
        _ => u32::from(byte - b'A') + 11,
    };
    let sum: u32 = id[..17].iter().zip((2..=18).rev()).map(|(byte, weight)| place(*byte) * weight).sum();
    let is_person = matches!(id[10], b'H' | b'M' | b'X') && is_day(number(&id[8..10]), number(&id[6..8]));
    is_person && (10 - sum % 10) % 10 == u32::from(id[17] - b'0')
}

fn chinese(id: &[u8]) -> bool {
    let digits = digits(&id[..17]);
    id[17] == b'X' && chinese_start(&digits) && chinese_check(&digits).is_none()
}

/// Corsica's departments are 2A and 2B, which count as 19 and 18.
fn corsican(id: &[u8]) -> bool {
    let department = match &id[5..7] {
        b"2A" => b"19",
        b"2B" => b"18",
        _ => return false,
    };
    let written = [&id[..5], department, &id[7..13]].concat();
    matches!(id[0], b'1' | b'2') && 97 - number(&written) % 97 == number(&id[13..])
}

fn hong_kong(id: &[u8]) -> bool {
    let check = if id[7] == b'A' { 10 } else { u32::from(id[7].wrapping_sub(b'0')) };
    let sum =
        36 * 9 + u32::from(id[0] - b'A' + 10) * 8 + weighted(&digits(&id[1..7]), &[7, 6, 5, 4, 3, 2]) + check;
    check < 11 && sum.is_multiple_of(11)
}

fn uk_license(id: &[u8]) -> bool {
    let name = id[..5].iter().position(u8::is_ascii_digit).unwrap_or(5);
    let month = number(&id[6..8]);
    id[0].is_ascii_uppercase()
        && id[name..5].iter().all(|byte| *byte == b'9')
        && is_day(number(&id[8..10]), if month > 50 { month - 50 } else { month })
        && id[11..13].iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'9')
}
