//! A conversation with a model, counted turn by turn. Every turn pays for the whole context that it
//! is given and for what it writes; see docs/token-benchmark.md.

use gristmill_gateway::tokens;
use serde_json::{Value, json};

/// What is kept of a text to show it.
const SHOWN_CHARS_MAX: usize = 6_000;

/// Something that is in the context.
#[derive(Clone)]
pub struct Part {
    pub what: String,
    pub shown: String,
    pub tokens: u64,
}

impl Part {
    pub fn new(what: impl Into<String>, text: &str) -> Self {
        let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        if shown.len() < text.len() {
            shown.push_str(" …");
        }
        Self { what: what.into(), shown, tokens: tokens::count(text) as u64 }
    }

    /// A text of which a client may pass on another form: the dearer one counts.
    pub fn dearer(what: impl Into<String>, text: &str, other: &str) -> Self {
        let part = Self::new(what, text);
        let tokens = part.tokens.max(tokens::count(other) as u64);
        Self { tokens, ..part }
    }
}

/// What the model writes, and what then comes into its context.
#[derive(Clone, Default)]
pub struct Turn {
    pub written: Vec<Part>,
    pub answers: Vec<Part>,
}

#[derive(Clone, Default)]
pub struct Transcript {
    /// What is there before the model says anything.
    pub start: Vec<Part>,
    pub turns: Vec<Turn>,
}

/// What a conversation costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Every turn with its whole context.
    pub paid: u64,
    /// Every token once, as if all repetition were free.
    pub fresh: u64,
    /// The largest context that any turn needs.
    pub peak: u64,
    pub turns: usize,
}

impl Transcript {
    /// The context of each turn with what it writes, in order.
    pub fn turn_costs(&self) -> Vec<u64> {
        let mut context = sum(&self.start);
        let mut costs = Vec::with_capacity(self.turns.len());
        for turn in &self.turns {
            context += sum(&turn.written);
            costs.push(context);
            context += sum(&turn.answers);
        }
        costs
    }

    pub fn cost(&self) -> Cost {
        let costs = self.turn_costs();
        let said: u64 = self.turns.iter().map(|turn| sum(&turn.written) + sum(&turn.answers)).sum();
        Cost {
            paid: costs.iter().sum(),
            fresh: sum(&self.start) + said,
            peak: costs.iter().copied().max().unwrap_or_default(),
            turns: self.turns.len(),
        }
    }
}

impl Cost {
    pub fn plus(self, other: Self) -> Self {
        Self {
            paid: self.paid + other.paid,
            fresh: self.fresh + other.fresh,
            peak: self.peak.max(other.peak),
            turns: self.turns + other.turns,
        }
    }

    pub fn json(self) -> Value {
        json!({"tokens": self.paid, "fresh_tokens": self.fresh, "largest_context": self.peak, "turns": self.turns})
    }
}

fn sum(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.tokens).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(tokens: u64) -> Part {
        Part { what: String::new(), shown: String::new(), tokens }
    }

    #[test]
    fn every_turn_pays_for_all_that_came_before_it() {
        let transcript = Transcript {
            start: vec![part(100), part(7)],
            turns: vec![
                Turn { written: vec![part(10)], answers: vec![part(1_000), part(500)] },
                Turn { written: vec![part(20), part(5)], answers: vec![part(3)] },
                Turn { written: vec![part(30)], answers: Vec::new() },
            ],
        };
        assert_eq!(transcript.turn_costs(), [117, 117 + 1_500 + 25, 117 + 1_500 + 25 + 3 + 30]);
        assert_eq!(
            transcript.cost(),
            Cost { paid: 117 + 1_642 + 1_675, fresh: 107 + 1_510 + 28 + 30, peak: 1_675, turns: 3 }
        );
    }

    #[test]
    fn a_text_is_counted_whole_and_shown_in_part() {
        let text = "word ".repeat(5_000);
        let part = Part::new("a text", &text);
        assert_eq!(part.tokens, tokens::count(&text) as u64);
        assert!(part.shown.chars().count() <= SHOWN_CHARS_MAX + 2 && part.shown.ends_with(" …"));
    }

    #[test]
    fn of_two_forms_of_an_answer_the_dearer_one_counts() {
        let (short, long) = ("one", "one two three four five");
        assert_eq!(Part::dearer("", short, long).tokens, tokens::count(long) as u64);
        assert_eq!(Part::dearer("", long, short).tokens, tokens::count(long) as u64);
    }
}
