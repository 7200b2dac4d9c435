//! What was decided about a request, and by which line.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;

/// What becomes of a request. Ordered: the later is the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    Allow,
    /// A person is asked.
    Ask,
    Deny,
}

impl Decision {
    pub const ALL: [Decision; 3] = [Decision::Allow, Decision::Ask, Decision::Deny];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no such decision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a decision is allow, ask or deny")]
pub struct UnknownDecision;

impl FromStr for Decision {
    type Err = UnknownDecision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Decision::ALL.into_iter().find(|decision| decision.as_str() == text).ok_or(UnknownDecision)
    }
}

/// What was decided, and why. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decided {
    pub decision: Decision,
    /// The rule's name, or what it says: the same wherever it stands in its file.
    pub rule: Arc<str>,
    /// Where that is written.
    pub origin: Arc<str>,
    /// In a sentence.
    pub why: Arc<str>,
    /// What a person said, if the decision was to ask.
    pub answer: Option<Answered>,
}

/// What a person said to a question of the policy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answered {
    /// Yes, this time.
    Once,
    /// Yes, as long as the session lasts.
    Session,
    /// Yes, for good.
    Always,
    No,
    /// Nobody answered in time.
    Timeout,
    /// Nobody could be asked.
    Nobody,
}

impl Answered {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Answered::Once => "once",
            Answered::Session => "session",
            Answered::Always => "always",
            Answered::No => "no",
            Answered::Timeout => "timeout",
            Answered::Nobody => "nobody",
        }
    }

    /// Whether the request may be sent.
    pub fn is_yes(self) -> bool {
        match self {
            Answered::Once | Answered::Session | Answered::Always => true,
            Answered::No | Answered::Timeout | Answered::Nobody => false,
        }
    }
}

impl Decided {
    /// Where no policy is set: for embedders, who decide before they ask.
    pub fn without_policy() -> Self {
        let nothing: Arc<str> = Arc::from("no policy");
        Self {
            decision: Decision::Allow,
            rule: Arc::clone(&nothing),
            origin: Arc::clone(&nothing),
            why: nothing,
            answer: None,
        }
    }

    /// Whether the request may be sent.
    pub fn is_permitted(&self) -> bool {
        match self.decision {
            Decision::Allow => true,
            Decision::Ask => self.answer.is_some_and(Answered::is_yes),
            Decision::Deny => false,
        }
    }
}
