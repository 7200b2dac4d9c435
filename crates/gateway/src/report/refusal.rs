//! A program that did not run, and why.

use std::time::Instant;

use gristmill_domain::Code;

use super::Report;

/// Nothing ran, and why.
#[derive(Debug)]
pub(crate) struct Refusal {
    code: Code,
    message: String,
    hint: Option<String>,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn cancelled() -> Self {
        Self {
            code: Code::Cancelled,
            message: "canceled before it started; nothing ran".to_owned(),
            hint: None,
        }
    }

    pub(crate) fn report(self, asked: Instant) -> Report {
        Report::refused(self.code, self.message, self.hint, asked.elapsed())
    }
}
