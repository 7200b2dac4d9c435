//! Text within a budget of tokens.

use crate::tokens;

/// Hardly a token is longer than this many bytes: what is longer than the budget times this is not
/// counted, it is taken not to fit.
pub(super) const BYTES_PER_TOKEN_MAX: usize = 16;

/// A text that was made to fit.
#[derive(Debug, PartialEq, Eq)]
pub struct Fitted {
    /// What is left of it.
    pub text: String,
    /// Whether something was left out.
    pub cut: bool,
    /// What it takes.
    pub tokens: usize,
}

/// Keeps the beginning and the end of a text, and says how much is missing between them.
pub fn ends(text: &str, budget: usize) -> Fitted {
    whole(text, budget).unwrap_or_else(|| {
        let head = head_of(text, budget * 2 / 3);
        let rest = &text[head.len()..];
        let tail = tail_of(rest, budget / 4);
        let missing = rest.len() - tail.len();
        let made = format!("{head}\n… {missing} bytes left out …\n{tail}");
        Fitted { tokens: tokens::count(&made), text: made, cut: true }
    })
}

/// Keeps the beginning of a text.
pub fn beginning(text: &str, budget: usize) -> Fitted {
    whole(text, budget).unwrap_or_else(|| {
        let head = head_of(text, budget);
        Fitted { tokens: tokens::count(head), text: head.to_owned(), cut: true }
    })
}

fn whole(text: &str, budget: usize) -> Option<Fitted> {
    if text.len() > budget.saturating_mul(BYTES_PER_TOKEN_MAX) {
        return None;
    }
    let count = tokens::count(text);
    (count <= budget).then(|| Fitted { text: text.to_owned(), cut: false, tokens: count })
}

fn head_of(text: &str, budget: usize) -> &str {
    shrink(text, budget, |text, length| {
        let mut end = length.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        &text[..end]
    })
}

fn tail_of(text: &str, budget: usize) -> &str {
    shrink(text, budget, |text, length| {
        let mut begin = text.len() - length.min(text.len());
        while !text.is_char_boundary(begin) {
            begin += 1;
        }
        &text[begin..]
    })
}

/// Takes less and less until it fits. Each step comes close to the budget, so there are few.
fn shrink<'a>(text: &'a str, budget: usize, take: impl Fn(&'a str, usize) -> &'a str) -> &'a str {
    let mut part = take(text, budget.saturating_mul(BYTES_PER_TOKEN_MAX));
    loop {
        let count = tokens::count(part);
        if count <= budget || part.is_empty() {
            return part;
        }
        let smaller = part.len().saturating_mul(budget) / count;
        part = take(part, smaller.min(part.len() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_alone() {
        let text = "a few words";
        assert_eq!(ends(text, 10), Fitted { text: text.to_owned(), cut: false, tokens: 3 });
        assert_eq!(beginning(text, 3), Fitted { text: text.to_owned(), cut: false, tokens: 3 });
    }

    #[test]
    fn what_does_not_fit_is_cut_within_the_budget() {
        let lines: String = (0..20_000).map(|number| format!("line {number} żółć 🌾\n")).collect();
        for budget in [0, 1, 10, 100, 2_000] {
            let begin = beginning(&lines, budget);
            assert!(begin.cut && begin.tokens <= budget, "{budget}: {}", begin.tokens);
            assert!(lines.starts_with(&begin.text));
            let both = ends(&lines, budget);
            // The line that says what is missing comes on top of the smallest budgets.
            assert!(both.cut && both.tokens <= budget.max(20), "{budget}: {}", both.tokens);
        }
        let both = ends(&lines, 200).text;
        assert!(both.starts_with("line 0 ") && both.ends_with("line 19999 żółć 🌾\n"), "{both}");
    }
}
