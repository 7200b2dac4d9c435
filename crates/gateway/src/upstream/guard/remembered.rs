//! What people have answered before, so that nobody is asked the same twice.

use std::collections::HashSet;

use parking_lot::Mutex;

use super::always_file::{AlwaysApproval, AlwaysApprovals};

/// Answers for sessions at once. Beyond that people are asked again.
const ANSWERS_MAX: usize = 10_000;

/// A tool, the rule that asks about it, whose call it is, and in which session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AnswerKey {
    pub what: AlwaysApproval,
    pub scope: String,
}

pub(super) struct Remembered {
    sessions: Mutex<HashSet<AnswerKey>>,
    always: Option<AlwaysApprovals>,
}

impl Remembered {
    pub fn new(always: Option<AlwaysApprovals>) -> Self {
        Self { sessions: Mutex::default(), always }
    }

    pub fn is_allowed_in_session(&self, key: &AnswerKey) -> bool {
        self.sessions.lock().contains(key)
    }

    pub fn is_always_allowed(&self, key: &AnswerKey) -> bool {
        let always = self.always.as_ref().and_then(|always| always.current().ok());
        always.is_some_and(|always| always.contains(&key.what))
    }

    pub fn allow_in_session(&self, key: &AnswerKey) {
        let mut sessions = self.sessions.lock();
        if sessions.len() < ANSWERS_MAX {
            sessions.insert(key.clone());
        }
    }

    /// What cannot be written down is allowed for the session.
    pub fn allow_always(&self, key: &AnswerKey) {
        let written = self.always.as_ref().map(|always| always.allow(key.what.clone()));
        if !matches!(written, Some(Ok(()))) {
            self.allow_in_session(key);
        }
    }
}
