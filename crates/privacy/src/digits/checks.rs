//! Check digits and dates that several numbers share. Digits are values from 0 to 9.

/// The number that digits write; of more than 19 digits only the last ones count.
pub fn value(digits: &[u8]) -> u64 {
    digits.iter().fold(0_u64, |value, digit| value.wrapping_mul(10).wrapping_add(u64::from(*digit)))
}

/// Each digit times its weight.
pub fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum()
}

pub fn luhn(digits: &[u8]) -> bool {
    let doubled = |digit: u8| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| u32::from(if at % 2 == 1 { doubled(*digit) } else { *digit }))
        .sum();
    sum.is_multiple_of(10) && !is_one_digit(digits)
}

/// ISO 7064, MOD 11,10, over all digits but the last, which is the check digit.
pub fn mod_11_10(digits: &[u8]) -> bool {
    let Some((check, rest)) = digits.split_last() else { return false };
    let product = rest.iter().fold(10_u32, |product, digit| {
        let sum = (u32::from(*digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(*check)
}

/// EAN-13, as on books and Swiss insurance cards.
pub fn ean_13(digits: &[u8]) -> bool {
    let sum = weighted(digits, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]);
    digits.len() == 13 && sum.is_multiple_of(10)
}

pub fn isbn_10(digits: &[u8]) -> bool {
    digits.len() == 10 && weighted(digits, &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
}

pub fn verhoeff(digits: &[u8]) -> bool {
    const PERMUTED: [[u8; 10]; 8] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
        [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
        [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
        [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
        [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
        [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
        [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
    ];
    // Products in the dihedral group of order ten.
    let product = |a: u8, b: u8| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let check = |check: u8, (at, digit): (usize, &u8)| product(check, PERMUTED[at % 8][*digit as usize]);
    digits.iter().rev().enumerate().fold(0, check) == 0
}

pub fn is_one_digit(digits: &[u8]) -> bool {
    digits.windows(2).all(|pair| pair[0] == pair[1])
}

pub fn is_day(day: u64, month: u64) -> bool {
    let days = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Two digits from a place.
pub fn pair(digits: &[u8], at: usize) -> u64 {
    digits.get(at..at + 2).map_or(0, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().map(|byte| byte - b'0').collect()
    }

    #[test]
    fn check_digits_agree_with_the_examples_of_their_specifications() {
        assert!(luhn(&digits("79927398713")));
        assert!(!luhn(&digits("79927398710")));
        assert!(!luhn(&digits("0000000000")));
        assert!(verhoeff(&digits("2363")));
        assert!(!verhoeff(&digits("2364")));
        assert!(verhoeff(&digits("123451")));
        assert!(mod_11_10(&digits("07945")));
        assert!(!mod_11_10(&digits("07946")));
        assert!(ean_13(&digits("4006381333931")));
        assert!(isbn_10(&digits("0306406152")));
    }
}
