//! International bank account numbers: length by country, and mod 97.

use crate::bytes::ends_word;
use crate::finding::Finding;
use crate::kind::Kind;

/// Country and length, as the SWIFT registry has them.
const LENGTHS: &[(&[u8; 2], usize)] = &[
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BI", 27),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DJ", 27),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FK", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HN", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MN", 20),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NI", 28),
    (b"NL", 18),
    (b"NO", 15),
    (b"OM", 23),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"RU", 33),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"SO", 23),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
    (b"YE", 30),
];

/// The IBAN that starts at `start`, in one piece or in groups.
pub fn at(text: &str, start: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let head = bytes.get(start..start + 4)?;
    if !head[2].is_ascii_digit() || !head[3].is_ascii_digit() {
        return None;
    }
    let country = [head[0].to_ascii_uppercase(), head[1].to_ascii_uppercase()];
    let (_, length) = LENGTHS.iter().find(|(code, _)| **code == country)?;
    let mut digits = [0_u8; 34];
    let mut count = 0;
    let mut at = start;
    while count < *length {
        match bytes.get(at)? {
            byte if byte.is_ascii_alphanumeric() => {
                digits[count] = byte.to_ascii_uppercase();
                count += 1;
            }
            // One separator between groups.
            b' ' | b'-' if count > 3 && bytes[at - 1].is_ascii_alphanumeric() => {}
            _ => return None,
        }
        at += 1;
    }
    (ends_word(bytes, at) && is_valid(&digits[..count]))
        .then(|| Finding::new(Kind::Iban, start..at, 98, "iban"))
}

/// The first four characters go to the end, letters become 10 to 35, and the rest of 97 is 1.
fn is_valid(iban: &[u8]) -> bool {
    let moved = iban[4..].iter().chain(&iban[..4]);
    let rest = moved.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    rest == 1
}
