//! Text within a budget of tokens.

use std::borrow::Cow;

use gristmill_domain::{first_bytes, last_bytes};
use serde_json::Value;

use crate::tokens;

/// Hardly a token is longer than this many bytes: what is longer than the budget times this is not
/// counted, it is taken not to fit.
pub(super) const BYTES_PER_TOKEN_MAX: usize = 16;
/// What stands where the middle of a text was.
const LEFT_OUT: &str = "\n… part left out …\n";
/// The longest mark that is looked for where a text is cut.
const MARK_BYTES_MAX: usize = 400;
/// Blanks and hidden characters in a row that a text keeps when it is too long: an indent, not a flood.
const RUN_CHARS_MAX: usize = 16;

/// A text that was made to fit.
#[derive(Debug, PartialEq, Eq)]
pub struct Fitted {
    /// What is left of it.
    pub text: String,
    /// Whether something was left out.
    pub cut: bool,
    pub tokens: usize,
}

/// Keeps the beginning and the end of a text, and says how much is missing between them.
pub fn ends(text: &str, budget: usize) -> Fitted {
    whole(text, budget).unwrap_or_else(|| {
        let head = head_of(text, budget * 2 / 3, tokens::count);
        let rest = &text[head.len()..];
        let tail = tail_of(rest, budget / 4, tokens::count);
        let missing = rest.len() - tail.len();
        let made = format!("{head}\n… {missing} bytes left out …\n{tail}");
        Fitted { tokens: tokens::count(&made), text: made, cut: true }
    })
}

/// Keeps the beginning of a text.
pub fn beginning(text: &str, budget: usize) -> Fitted {
    whole(text, budget).unwrap_or_else(|| {
        let head = head_of(text, budget, tokens::count);
        Fitted { tokens: tokens::count(head), text: head.to_owned(), cut: true }
    })
}

/// What a text takes as it is or as a string of JSON, whichever is more: there, escapes are dear.
pub(super) fn quoted(text: &str) -> usize {
    tokens::count(text).max(tokens::count(&Value::from(text).to_string()))
}

/// Keeps the beginning and the end of a text within a budget of [`quoted`] tokens. How much is missing
/// is not said: whoever wrote the text may have cut it before.
pub(super) fn quoted_ends(text: &str, budget: usize) -> String {
    if fits_quoted(text, budget) {
        return text.to_owned();
    }
    let room = budget.saturating_sub(quoted(LEFT_OUT));
    let head = head_of(text, room * 3 / 4, quoted);
    let tail = tail_of(&text[head.len()..], room / 4, quoted);
    format!("{}{LEFT_OUT}{tail}", before_mark(text, head))
}

/// Keeps the beginning of a text within a budget of [`quoted`] tokens, and marks that it was cut.
/// Nothing if there is no room for a character.
pub(super) fn quoted_beginning(text: &str, budget: usize) -> String {
    if fits_quoted(text, budget) {
        return text.to_owned();
    }
    let head = head_of(text, budget, |head| quoted(&format!("{head}…")));
    match before_mark(text, head).trim_end() {
        "" => String::new(),
        head if head.ends_with('…') => head.to_owned(),
        head => format!("{head}…"),
    }
}

/// A text whose long runs of blanks and hidden characters are each a single one and a mark.
pub(super) fn without_runs(text: &str) -> Cow<'_, str> {
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    let (mut made, mut rest, mut is_changed) = (String::new(), text, false);
    while !rest.is_empty() {
        let words = rest.find(is_blank).unwrap_or(rest.len());
        let (before, behind) = rest.split_at(words);
        let (run, behind) = behind.split_at(behind.find(|c: char| !is_blank(c)).unwrap_or(behind.len()));
        made.push_str(before);
        match run.char_indices().nth(RUN_CHARS_MAX) {
            None => made.push_str(run),
            Some(_) => {
                made.extend(run.chars().next());
                made.push('…');
                is_changed = true;
            }
        }
        rest = behind;
    }
    if is_changed { Cow::Owned(made) } else { Cow::Borrowed(text) }
}

/// The head of a text, ended before a mark that it would cut in two.
fn before_mark<'a>(text: &str, head: &'a str) -> &'a str {
    let Some(begin) = head.rfind("… ") else { return head };
    let inside = &text[begin + "… ".len()..];
    let inside = &inside[..inside.floor_char_boundary(MARK_BYTES_MAX)];
    match inside.find(" …") {
        Some(end) if begin + "… ".len() + end + " …".len() > head.len() => &head[..begin],
        Some(_) | None => head,
    }
}

fn fits_quoted(text: &str, budget: usize) -> bool {
    text.len() <= budget.saturating_mul(BYTES_PER_TOKEN_MAX) && quoted(text) <= budget
}

fn whole(text: &str, budget: usize) -> Option<Fitted> {
    if text.len() > budget.saturating_mul(BYTES_PER_TOKEN_MAX) {
        return None;
    }
    let count = tokens::count(text);
    (count <= budget).then(|| Fitted { text: text.to_owned(), cut: false, tokens: count })
}

fn head_of(text: &str, budget: usize, count: impl Fn(&str) -> usize) -> &str {
    shrink(text, budget, count, first_bytes)
}

fn tail_of(text: &str, budget: usize, count: impl Fn(&str) -> usize) -> &str {
    shrink(text, budget, count, last_bytes)
}

/// Takes less and less until it fits. Each step comes close to the budget, so there are few.
fn shrink<'a>(
    text: &'a str,
    budget: usize,
    count: impl Fn(&str) -> usize,
    take: impl Fn(&'a str, usize) -> &'a str,
) -> &'a str {
    let mut part = take(text, budget.saturating_mul(BYTES_PER_TOKEN_MAX));
    loop {
        let taken = count(part);
        if taken <= budget || part.is_empty() {
            return part;
        }
        let smaller = part.len().saturating_mul(budget) / taken;
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

    #[test]
    fn a_cut_never_goes_through_a_mark() {
        let text = format!("some words\n… 1,234,567 of 9,876,543 rows not shown …\n{}", "end ".repeat(900));
        for budget in 3..40 {
            let cut = quoted_beginning(&text, budget);
            assert!(quoted(&cut) <= budget, "{budget}: {cut}");
            assert_eq!(cut.contains("1,2"), cut.contains("rows not shown …"), "{budget}: {cut}");
        }
    }

    #[test]
    fn floods_of_blanks_become_one() {
        let flood = format!("a{}b    c\0{}", "\n".repeat(50_000), "\t".repeat(800));
        assert_eq!(without_runs(&flood), "a\n…b    c\0…");
        assert_eq!(without_runs("  as it is\n"), "  as it is\n");
    }
}
