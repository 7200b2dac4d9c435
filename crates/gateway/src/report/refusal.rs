//! A program that did not run, and why.

use std::time::Instant;

use gristmill_checks::Finding;
use gristmill_domain::Code;

use super::Report;

/// Nothing ran, and why.
#[derive(Debug)]
pub(crate) struct Refusal {
    code: Code,
    message: String,
    hint: Option<String>,
    line: Option<u64>,
    traceback: Option<String>,
    findings: Vec<Finding>,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..Self::without_hint(code, message) }
    }

    fn without_hint(code: Code, message: impl Into<String>) -> Self {
        let (hint, line, traceback, findings) = (None, None, None, Vec::new());
        Self { code, message: message.into(), hint, line, traceback, findings }
    }

    /// What a check found: `finding` is why, at its line, beside everything else.
    pub(crate) fn by_check(
        code: Code,
        finding: &Finding,
        traceback: Option<String>,
        findings: Vec<Finding>,
    ) -> Self {
        let (line, hint) = (Some(finding.line), finding.hint.clone());
        Self { hint, line, traceback, findings, ..Self::without_hint(code, finding.message.clone()) }
    }

    pub(crate) fn cancelled() -> Self {
        Self::without_hint(Code::Cancelled, "canceled before it started; nothing ran")
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn report(self, asked: Instant) -> Report {
        let mut report = Report::refused(self.code, self.message, self.hint, asked.elapsed());
        report.findings = self.findings;
        if let Some(error) = &mut report.error {
            (error.line, error.traceback) = (self.line, self.traceback);
        }
        report
    }
}
