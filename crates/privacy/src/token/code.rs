//! What tells two tokens apart: a number of 12 digits, also written as 8 letters.

/// 32 letters and digits that aren't mistaken for each other.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// 12 digits. As letters that is a little less than 40 bits.
const NUMBERS: u64 = 1_000_000_000_000;

pub(super) const LETTERS_COUNT: usize = 8;
pub(super) const DIGITS_COUNT: usize = 12;

/// The code of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(u64);

impl Code {
    /// That of a value whose keyed hash this is.
    pub fn of_mac(mac: &[u8; 32]) -> Self {
        let (head, _) = mac.split_at(16);
        let number = head.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        Self(u64::try_from(number % u128::from(NUMBERS)).unwrap_or_default())
    }

    /// The code with this number, if it is one.
    pub fn of_number(number: u64) -> Option<Self> {
        (number < NUMBERS).then_some(Self(number))
    }

    pub fn number(self) -> u64 {
        self.0
    }

    pub(super) fn letters(self) -> String {
        let letter = |place: usize| char::from(LETTERS[(self.0 >> (5 * place)) as usize & 31]);
        (0..LETTERS_COUNT).rev().map(letter).collect()
    }

    pub(super) fn of_letters(letters: &[u8]) -> Option<Self> {
        if letters.len() != LETTERS_COUNT {
            return None;
        }
        let number = letters.iter().try_fold(0_u64, |number, letter| Some(number << 5 | value(*letter)?))?;
        Self::of_number(number)
    }

    pub(super) fn of_digits(digits: &[u8]) -> Option<Self> {
        let is_number = digits.len() == DIGITS_COUNT && digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| Self(digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))))
    }
}

fn value(letter: u8) -> Option<u64> {
    let place = match letter {
        b'a'..=b'k' => letter - b'a',
        b'm'..=b'n' => letter - b'm' + 11,
        b'p'..=b'z' => letter - b'p' + 13,
        b'2'..=b'9' => letter - b'2' + 24,
        _ => return None,
    };
    Some(u64::from(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_reads_back_from_letters_and_digits() {
        for (place, letter) in LETTERS.iter().enumerate() {
            assert_eq!(value(*letter), Some(place as u64));
        }
        for number in [0, 1, 31, 32, 123_456_789_012, NUMBERS - 1] {
            let code = Code::of_number(number).unwrap();
            assert_eq!(Code::of_letters(code.letters().as_bytes()), Some(code));
            assert_eq!(Code::of_digits(format!("{number:012}").as_bytes()), Some(code));
        }
        for wrong in ["", "aaaaaaa", "aaaaaaaaa", "aaaaaaal", "aaaaaaa0", "AAAAAAAA", "99999999"] {
            assert_eq!(Code::of_letters(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(Code::of_number(NUMBERS), None);
        assert_eq!(Code::of_mac(&[255; 32]), Code(u64::try_from(u128::MAX % u128::from(NUMBERS)).unwrap()));
    }
}
