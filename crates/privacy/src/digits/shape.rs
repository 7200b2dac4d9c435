//! How a number is written: the lengths of its runs of digits, and what stands between them.

/// Seven bits for each run: its length, and the separator behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape(u64);

/// What stands between two runs of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Separator {
    None,
    Space,
    Hyphen,
    Dot,
    Slash,
    /// Parentheses, or several at once.
    Mixed,
}

/// One more than the largest head of a shape.
pub const HEADS: usize = 1 << 11;

impl Shape {
    /// With one more run of digits, behind a separator.
    pub fn with(self, separator: Separator, digits: usize) -> Self {
        Self(self.0 << 7 | (separator as u64) << 4 | digits.min(15) as u64)
    }

    /// Its first two runs alone.
    pub fn head(self) -> usize {
        let mut head = self.0;
        while head >= 1 << 14 {
            head >>= 7;
        }
        head as usize
    }

    /// Whether this stands before the last run.
    pub fn ends_with(self, separator: Separator) -> bool {
        self.0 >> 4 & 7 == separator as u64
    }

    /// Of a pattern with nines for digits. Runs of 15 digits and more are the same.
    pub fn of(pattern: &str) -> Self {
        let mut shape = Self::default();
        let mut separator = Separator::None;
        for part in pattern.split_inclusive([' ', '-', '.', '/']) {
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            shape = shape.with(separator, digits);
            separator = Separator::from_byte(part.bytes().last().unwrap_or(b'9'));
        }
        shape
    }
}

impl Separator {
    pub fn from_byte(byte: u8) -> Self {
        match byte {
            b' ' => Self::Space,
            b'-' => Self::Hyphen,
            b'.' => Self::Dot,
            b'/' => Self::Slash,
            _ => Self::Mixed,
        }
    }
}
