//! Precision and recall by kind.
//!
//! A finding is right if a label of the same kind covers at least half of it and it covers at least half of
//! the label. Detectors differ in whether a title, a country code or a postal code belongs to a value, and
//! that isn't what is measured here; a finding that hides a whole line for one number is wrong.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use super::labeled::{Labeled, Place};

/// What was found of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// What should be found.
    pub labels: usize,
    /// How much of that was.
    pub met: usize,
    pub found: usize,
    /// How many findings are right.
    pub right: usize,
}

/// By the name of the kind.
pub type Scores = BTreeMap<String, Score>;

/// A label that nothing was found for, or a finding without a label.
#[derive(Debug, PartialEq, Eq)]
pub struct Miss<'t> {
    pub kind: &'t str,
    pub is_false_alarm: bool,
    /// The value, or the whole text where it has no place.
    pub value: &'t str,
    pub source: &'t str,
    pub text: &'t str,
}

impl Score {
    pub fn precision(&self) -> Option<f64> {
        share(self.right, self.found)
    }

    pub fn recall(&self) -> Option<f64> {
        share(self.met, self.labels)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Adds what was found in one text, and tells what is wrong.
pub fn add<'t>(scores: &mut Scores, text: &'t Labeled, found: &'t [Place]) -> Vec<Miss<'t>> {
    let counted: Vec<&Place> = found.iter().filter(|place| text.is_labeled(&place.kind)).collect();
    let mut misses = Vec::new();
    let mut miss = |place: &'t Place, is_false_alarm: bool| {
        let value = place.span.clone().and_then(|span| text.text.get(span)).unwrap_or(&text.text);
        misses.push(Miss {
            kind: &place.kind,
            is_false_alarm,
            value,
            source: &text.source,
            text: &text.text,
        });
    };
    for label in &text.labels {
        let is_met = counted.iter().any(|one| fits(one, label));
        let score = scores.entry(label.kind.clone()).or_default();
        score.labels += 1;
        score.met += usize::from(is_met);
        if !is_met {
            miss(label, false);
        }
    }
    for one in counted {
        let is_right = text.labels.iter().any(|label| fits(one, label));
        let score = scores.entry(one.kind.clone()).or_default();
        score.found += 1;
        score.right += usize::from(is_right);
        if !is_right {
            miss(one, true);
        }
    }
    misses
}

fn fits(one: &Place, label: &Place) -> bool {
    let overlap = |a: &Range<usize>, b: &Range<usize>| {
        let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
        shared * 2 >= a.len().max(b.len())
    };
    let is_there = match (&one.span, &label.span) {
        (Some(one), Some(label)) => overlap(one, label),
        _ => true,
    };
    one.kind == label.kind && is_there
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(kind: &str, span: Range<usize>) -> Place {
        Place { kind: kind.to_owned(), span: Some(span) }
    }

    fn check(labels: &[Place], found: &[Place], expected: &[(&str, [usize; 4])]) {
        let kinds = Some(["email", "phone"].map(str::to_owned).into());
        let text = Labeled { text: "x".repeat(40), labels: labels.to_vec(), kinds, source: String::new() };
        let mut scores = Scores::new();
        add(&mut scores, &text, found);
        let counts = |score: &Score| [score.labels, score.met, score.found, score.right];
        let scores: Vec<_> = scores.iter().map(|(kind, score)| (kind.as_str(), counts(score))).collect();
        assert_eq!(scores, expected);
    }

    #[test]
    fn a_finding_is_right_if_both_cover_half_of_each_other() {
        check(&[place("email", 0..10)], &[place("email", 5..12)], &[("email", [1, 1, 1, 1])]);
        check(&[place("email", 0..10)], &[place("email", 6..12)], &[("email", [1, 0, 1, 0])]);
        check(&[place("email", 0..10)], &[place("email", 0..30)], &[("email", [1, 0, 1, 0])]);
    }

    #[test]
    fn another_kind_is_a_miss_and_a_false_alarm_unless_nobody_looked_for_it() {
        let expected = [("email", [1, 0, 0, 0]), ("phone", [0, 0, 1, 0])];
        check(&[place("email", 0..10)], &[place("phone", 0..10)], &expected);
        check(&[place("email", 0..10)], &[place("secret", 0..10)], &[("email", [1, 0, 0, 0])]);
    }

    #[test]
    fn a_label_without_a_place_is_met_anywhere() {
        let label = Place { kind: "email".to_owned(), span: None };
        check(std::slice::from_ref(&label), &[place("email", 20..30)], &[("email", [1, 1, 1, 1])]);
    }
}
