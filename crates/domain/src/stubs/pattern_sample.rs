//! A text that a simple regular expression matches, for example calls.
//!
//! Knows what patterns in schemas are mostly made of: characters, classes, groups, counts. Gives up on
//! anything else.

const CHARS_MAX: usize = 64;
const PATTERN_CHARS_MAX: usize = 200;
const NESTING_MAX: usize = 6;

/// A text that the pattern matches, or nothing.
pub(super) fn matching(pattern: &str) -> Option<String> {
    if pattern.len() > PATTERN_CHARS_MAX {
        return None;
    }
    let mut parser = Parser { left: pattern.chars().collect::<Vec<_>>().into_iter().peekable() };
    let made = parser.alternatives(NESTING_MAX)?;
    parser.left.peek().is_none().then_some(made).filter(|made| made.chars().count() <= CHARS_MAX)
}

struct Parser {
    left: std::iter::Peekable<std::vec::IntoIter<char>>,
}

impl Parser {
    /// The first alternative; the others are read and dropped. Ends before a `)` or at the end.
    fn alternatives(&mut self, nesting: usize) -> Option<String> {
        let first = self.sequence(nesting)?;
        while self.take('|') {
            self.sequence(nesting)?;
        }
        Some(first)
    }

    fn sequence(&mut self, nesting: usize) -> Option<String> {
        let mut made = String::new();
        while let Some(c) = self.left.next_if(|c| !matches!(c, '|' | ')')) {
            let part = match c {
                '^' | '$' => continue,
                '.' => "a".to_owned(),
                '\\' => self.escaped()?.to_string(),
                '[' => self.class()?.to_string(),
                '(' => self.group(nesting)?,
                '*' | '+' | '?' | '{' => return None,
                plain => plain.to_string(),
            };
            let count = self.count()?;
            if made.len() + part.len() * count > CHARS_MAX * 4 {
                return None;
            }
            made.push_str(&part.repeat(count));
        }
        Some(made)
    }

    fn group(&mut self, nesting: usize) -> Option<String> {
        if nesting == 0 {
            return None;
        }
        if self.take('?') && !self.take(':') {
            return None;
        }
        let made = self.alternatives(nesting - 1)?;
        self.take(')').then_some(made)
    }

    fn escaped(&mut self) -> Option<char> {
        match self.left.next()? {
            'd' => Some('1'),
            'w' => Some('a'),
            's' => Some(' '),
            c if c.is_ascii_alphanumeric() => None,
            c => Some(c),
        }
    }

    /// The first character of a class that stands for itself.
    fn class(&mut self) -> Option<char> {
        let is_negated = self.take('^');
        let mut first = None;
        let mut is_letter_in = false;
        loop {
            let c = match self.left.next()? {
                ']' => break,
                '[' => return None,
                '\\' => self.escaped()?,
                c => c,
            };
            is_letter_in |= c.is_alphabetic();
            first.get_or_insert(c);
        }
        if is_negated { Some('a').filter(|_| !is_letter_in) } else { first }
    }

    /// How often the part before is needed.
    fn count(&mut self) -> Option<usize> {
        let count = match self.left.peek() {
            Some('+') => 1,
            Some('*' | '?') => 0,
            Some('{') => {
                self.left.next();
                let mut digits = String::new();
                while let Some(digit) = self.left.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                while self.left.next_if(|c| *c == ',' || c.is_ascii_digit()).is_some() {}
                let is_closed = self.left.peek() == Some(&'}');
                digits.parse().ok().filter(|count| is_closed && *count <= CHARS_MAX)?
            }
            _ => return Some(1),
        };
        self.left.next();
        self.take('?');
        Some(count)
    }

    fn take(&mut self, wanted: char) -> bool {
        self.left.next_if_eq(&wanted).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_patterns_have_a_text_and_others_have_none() {
        let check = |pattern: &str, expected: Option<&str>| {
            assert_eq!(matching(pattern).as_deref(), expected, "{pattern}")
        };
        check(r"^[A-Z][A-Z0-9_]+-\d+(?:-\d+)*$", Some("AA-1"));
        check(r"^#[0-9A-Fa-f]{6}$", Some("#000000"));
        check(r"^\d{4}-\d{2}-\d{2}$", Some("1111-11-11"));
        check(r"^(asc|desc)$", Some("asc"));
        check(r"^[^/]+\.txt$", Some("a.txt"));
        check("a{2,5}?b", Some("aab"));
        check("", Some(""));
        for hostile in
            ["(", ")", "[", "a{", "a{99999999999999999999}", "(?=x)", r"\", "(?", "a{64}".repeat(20).as_str()]
        {
            check(hostile, None);
        }
        check(&"(".repeat(150), None);
        check(&"x".repeat(300), None);
    }
}
