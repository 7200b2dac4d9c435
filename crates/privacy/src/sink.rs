//! Where findings are collected, and what remains where they overlap.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::finding::Finding;
use crate::kind::Kind;

/// Keeps what is sure enough and of a kind that is looked for.
#[derive(Debug)]
pub struct Sink<'d> {
    findings: Vec<Finding>,
    off: &'d [Kind],
    confidence_min: u8,
    findings_max: usize,
    is_full: bool,
}

impl<'d> Sink<'d> {
    pub fn new(off: &'d [Kind], confidence_min: u8) -> Self {
        Self { findings: Vec::new(), off, confidence_min, findings_max: usize::MAX, is_full: false }
    }

    /// Takes no more than so many, whether they overlap or not.
    pub fn up_to(self, findings_max: usize) -> Self {
        Self { findings_max, ..self }
    }

    /// Whether there was more than it takes.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether it was taken.
    pub fn add(&mut self, kind: Kind, span: Range<usize>, confidence: u8, rule: &'static str) -> bool {
        self.take(Finding { kind, span, confidence, rule, encoding: None })
    }

    pub fn take(&mut self, finding: Finding) -> bool {
        let is_taken = finding.confidence >= self.confidence_min
            && !finding.span.is_empty()
            && !self.off.contains(&finding.kind);
        if is_taken && self.findings.len() < self.findings_max {
            self.findings.push(finding);
        } else if is_taken {
            self.is_full = true;
        }
        is_taken
    }

    /// Of everything that was taken, each once.
    pub fn kinds(self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.findings.into_iter().map(|finding| finding.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    pub fn into_findings(self) -> Vec<Finding> {
        without_overlaps(self.findings)
    }
}

/// Findings, and of others what lies outside of them. Both are in the order of the text without overlaps, and so
/// is what is returned.
pub fn beside(findings: Vec<Finding>, others: Vec<Finding>) -> Vec<Finding> {
    if others.is_empty() {
        return findings;
    }
    let mut all = Vec::with_capacity(findings.len() + others.len());
    let mut first = 0;
    for other in others {
        first += findings[first..].iter().take_while(|one| one.span.end <= other.span.start).count();
        let mut start = other.span.start;
        for one in findings[first..].iter().take_while(|one| one.span.start < other.span.end) {
            if start < one.span.start {
                all.push(Finding { span: start..one.span.start, ..other.clone() });
            }
            start = one.span.end;
        }
        if start < other.span.end {
            all.push(Finding { span: start..other.span.end, ..other });
        }
    }
    all.extend(findings);
    all.sort_by_key(|finding| finding.span.start);
    all
}

/// In the order of the text. Of findings that overlap the surest stays, of equally sure ones the longest.
fn without_overlaps(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
    if findings.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start) {
        return findings;
    }
    findings.sort_by_key(|finding| {
        (u8::MAX - finding.confidence, usize::MAX - finding.span.len(), finding.span.start)
    });
    let mut kept: BTreeMap<usize, Finding> = BTreeMap::new();
    for finding in findings {
        // The last one that starts before this one's end: those kept don't overlap, so no other can.
        let neighbor = kept.range(..finding.span.end).next_back();
        if neighbor.is_none_or(|(_, other)| other.span.end <= finding.span.start) {
            kept.insert(finding.span.start, finding);
        }
    }
    kept.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spans: &[(usize, usize, u8)], expected: &[(usize, usize)]) {
        let mut sink = Sink::new(&[], 50);
        for (start, end, confidence) in spans {
            sink.add(Kind::Email, *start..*end, *confidence, "test");
        }
        let kept: Vec<_> =
            sink.into_findings().into_iter().map(|found| (found.span.start, found.span.end)).collect();
        assert_eq!(kept, expected);
    }

    #[test]
    fn the_surest_of_overlapping_findings_stays_and_then_the_longest() {
        check(&[(0, 5, 60), (3, 9, 90), (8, 12, 70)], &[(3, 9)]);
        check(&[(0, 5, 90), (3, 9, 60), (8, 12, 90)], &[(0, 5), (8, 12)]);
        check(&[(0, 5, 80), (0, 9, 80)], &[(0, 9)]);
        check(&[(5, 9, 80), (0, 5, 80)], &[(0, 5), (5, 9)]);
        check(&[(0, 5, 49)], &[]);
    }

    #[test]
    fn one_that_is_full_takes_no_more_and_says_so() {
        let mut sink = Sink::new(&[], 50).up_to(2);
        for start in 0..2 {
            assert!(sink.add(Kind::Email, start..start + 1, 90, "test") && !sink.is_full());
        }
        assert!(!sink.add(Kind::Email, 2..3, 49, "test") && !sink.is_full(), "it would not be told anyway");
        assert!(sink.add(Kind::Email, 2..3, 90, "test") && sink.is_full());
        assert_eq!(sink.into_findings().len(), 2);
    }

    #[test]
    fn what_is_added_is_cut_where_something_else_was_found() {
        let found = |spans: &[(usize, usize)]| -> Vec<Finding> {
            spans.iter().map(|(start, end)| Finding::new(Kind::Phone, *start..*end, 90, "test")).collect()
        };
        let check = |findings: &[(usize, usize)], added: &[(usize, usize)], expected: &[(usize, usize)]| {
            let all = beside(found(findings), found(added));
            let spans: Vec<_> = all.iter().map(|found| (found.span.start, found.span.end)).collect();
            assert_eq!(spans, expected);
        };
        check(&[(3, 9)], &[(4, 5), (6, 7)], &[(3, 9)]);
        check(&[(3, 9)], &[(0, 12)], &[(0, 3), (3, 9), (9, 12)]);
        check(&[(3, 9), (10, 14)], &[(8, 11), (20, 22)], &[(3, 9), (9, 10), (10, 14), (20, 22)]);
        check(&[], &[(1, 2)], &[(1, 2)]);
    }
}
