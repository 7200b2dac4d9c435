//! What someone answers when `gristmill import` asks which servers to take.

use std::collections::BTreeSet;

#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    None,
    All,
    /// Each once, from 1.
    Numbers(Vec<usize>),
}

impl Answer {
    /// None if it is no answer.
    pub fn of(text: &str, count: usize) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "" | "none" | "n" | "no" => return Some(Answer::None),
            "all" | "a" => return Some(Answer::All),
            _ => {}
        }
        let mut numbers: Vec<usize> = Vec::new();
        for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            if first == 0 || first > last || last > count {
                return None;
            }
            numbers.extend(first..=last);
        }
        let mut seen = BTreeSet::new();
        numbers.retain(|number| seen.insert(*number));
        (!numbers.is_empty()).then_some(Answer::Numbers(numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_numbers_or_a_word() {
        let check =
            |text: &str, expected: Option<Answer>| assert_eq!(Answer::of(text, 5), expected, "{text}");
        let numbers = |numbers: &[usize]| Some(Answer::Numbers(numbers.to_vec()));
        check("", Some(Answer::None));
        check("No", Some(Answer::None));
        check("ALL", Some(Answer::All));
        check("1 3", numbers(&[1, 3]));
        check("5, 2-4,2", numbers(&[5, 2, 3, 4]));
        for wrong in ["0", "6", "1 99", "3-2", "-1", "x", "1;2", ",", "1-99999999999999999999"] {
            check(wrong, None);
        }
    }
}
