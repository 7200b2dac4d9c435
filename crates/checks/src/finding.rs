//! What a check says.

use gristmill_domain::{one_line, visible};
use ruff_text_size::TextRange;
use serde::Serialize;

use crate::lines::Lines;
use crate::rules::{Rule, Severity};

/// Findings of one program that are kept; more say nothing new.
const FINDINGS_MAX: usize = 100;
const MESSAGE_CHARS_MAX: usize = 1_000;
const SOURCE_CHARS_MAX: usize = 200;

/// One thing that was found, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: Rule,
    pub severity: Severity,
    /// From 1.
    pub line: u64,
    /// In characters, from 1.
    pub column: u64,
    /// How many characters it is about, on this line.
    pub width: u64,
    pub message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The line itself; empty if it is long.
    #[serde(skip)]
    pub source: String,
}

/// Everything that was found in one program, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: usize,
}

impl CheckReport {
    /// The first that makes the program fail for certain.
    pub fn error(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.severity == Severity::Error)
    }

    /// The most serious of all.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

impl Finding {
    /// The line with a mark under what it is about, each line indented by `indent`; nothing if the line isn't shown.
    pub fn marked(&self, indent: &str) -> String {
        if self.source.is_empty() {
            return String::new();
        }
        let before = self.source.chars().take_while(|c| c.is_whitespace()).count();
        let shown = self.source.trim();
        let column = usize::try_from(self.column).unwrap_or(1).saturating_sub(1).saturating_sub(before);
        let width = usize::try_from(self.width).unwrap_or(1).max(1);
        let width = width.min(shown.chars().count().saturating_sub(column).max(1));
        format!("{indent}{shown}\n{indent}{}{}", " ".repeat(column), "^".repeat(width))
    }
}

/// Something that was found, and where.
pub(crate) type Found = (TextRange, Finding);

/// Findings while they are made.
pub(crate) struct Findings<'a> {
    lines: &'a Lines<'a>,
    found: Vec<Found>,
}

impl<'a> Findings<'a> {
    pub fn new(lines: &'a Lines<'a>) -> Self {
        Self::with(lines, Vec::new())
    }

    /// Going on from these.
    pub fn with(lines: &'a Lines<'a>, found: Vec<Found>) -> Self {
        Self { lines, found }
    }

    pub fn into_found(self) -> Vec<Found> {
        self.found
    }

    /// At a rule's own severity.
    pub fn add(&mut self, rule: Rule, range: TextRange, message: String, hint: Option<String>) {
        self.add_as(rule, rule.severity(), range, message, hint);
    }

    /// The same thing at the same place counts once, at its most serious.
    pub fn add_as(
        &mut self,
        rule: Rule,
        severity: Severity,
        range: TextRange,
        message: String,
        hint: Option<String>,
    ) {
        let same = |(at, finding): &&mut (TextRange, Finding)| *at == range && finding.rule == rule;
        if let Some((_, known)) = self.found.iter_mut().find(same) {
            known.severity = known.severity.max(severity);
            return;
        }
        // Far more than is told: the rest is only counted, by its absence.
        if self.found.len() >= 10 * FINDINGS_MAX {
            return;
        }
        let place = self.lines.place(range);
        let source = self.lines.text(place.line);
        let source = if source.chars().count() > SOURCE_CHARS_MAX { "" } else { source };
        let finding = Finding {
            rule,
            severity,
            line: place.line as u64,
            column: place.column as u64,
            width: place.width as u64,
            message: one_line(&message, MESSAGE_CHARS_MAX),
            hint,
            // A tab is a character of its own, and so is the space for it.
            source: visible(&source.replace('\t', " ")),
        };
        self.found.push((range, finding));
    }

    /// Whether this was said about a place around this one.
    pub fn has_around(&self, rule: Rule, range: TextRange) -> bool {
        self.found.iter().any(|(at, finding)| finding.rule == rule && at.contains_range(range))
    }

    pub fn finish(mut self) -> CheckReport {
        self.found.sort_by_key(|(range, finding)| (range.start(), finding.rule));
        let more = self.found.len().saturating_sub(FINDINGS_MAX);
        if more > 0 {
            // The serious ones stay.
            self.found.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.severity));
            self.found.truncate(FINDINGS_MAX);
            self.found.sort_by_key(|(range, finding)| (range.start(), finding.rule));
        }
        CheckReport { findings: self.found.into_iter().map(|(_, finding)| finding).collect(), more }
    }
}
