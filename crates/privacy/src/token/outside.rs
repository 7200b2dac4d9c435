//! Findings without what tokens cover.

use std::ops::Range;

use super::find::{at, in_brackets};
use super::label::is_ours;
use crate::finding::Finding;

/// A smaller rest of a finding is what holds tokens together: a quote, a comma, a short word.
const REST_LETTERS_MIN: usize = 4;

/// The findings, in their order, without what tokens cover. Of one that reaches beyond a token its rest stays:
/// a token beside a value hides nothing of it.
pub fn outside_tokens(text: &str, findings: Vec<Finding>) -> Vec<Finding> {
    if findings.is_empty() {
        return findings;
    }
    let tokens = covered(text);
    if tokens.is_empty() {
        return findings;
    }
    let mut kept = Vec::with_capacity(findings.len());
    let mut first = 0;
    for finding in findings {
        let span = finding.span.clone();
        first += tokens[first..].iter().take_while(|token| token.end <= span.start).count();
        let mut from = span.start;
        let inside = tokens[first..].iter().take_while(|token| token.start < span.end);
        for token in inside {
            keep_rest(text, from..token.start, &finding, &mut kept);
            from = token.end;
        }
        match from == span.start {
            true => kept.push(finding),
            false => keep_rest(text, from..span.end, &finding, &mut kept),
        }
    }
    kept
}

fn keep_rest(text: &str, span: Range<usize>, of: &Finding, kept: &mut Vec<Finding>) {
    let rest = text.get(span.clone()).unwrap_or_default();
    if rest.chars().filter(|letter| letter.is_alphanumeric()).count() >= REST_LETTERS_MIN {
        kept.push(Finding { span, ..of.clone() });
    }
}

/// Where tokens are, and what stands for values that aren't kept.
fn covered(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut covered = Vec::new();
    let mut from = 0;
    while from < bytes.len() {
        let end = at(bytes, from).map(|(end, _)| end).or_else(|| placeholder_end(bytes, from));
        if let Some(end) = end {
            covered.push(from..end);
        }
        from = end.unwrap_or(from + 1);
    }
    covered
}

fn placeholder_end(bytes: &[u8], start: usize) -> Option<usize> {
    if bytes[start] != b'[' {
        return None;
    }
    in_brackets(bytes, start).filter(|(label, _)| is_ours(label)).map(|(_, end)| end)
}
