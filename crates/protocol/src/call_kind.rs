//! What a program can ask for.

use serde::{Deserialize, Serialize};

/// The kind of a call. A closed list: what is not in it never leaves the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CallKind {
    /// Call a tool of a server.
    Tool,
    /// Read a resource of a server.
    Resource,
    Search,
    /// List, load, save or delete skills.
    Skill,
    Analyze,
    /// Read or change the session's `state`.
    State,
    /// Ask what earlier programs took and saved.
    Stats,
    /// Hand over the next part of a result that is too large for the outcome.
    Result,
    /// Hide, restore or compare personal data.
    Privacy,
}

impl CallKind {
    /// Every kind there is.
    pub const ALL: &[Self] = &[
        Self::Tool,
        Self::Resource,
        Self::Search,
        Self::Skill,
        Self::Analyze,
        Self::State,
        Self::Stats,
        Self::Result,
        Self::Privacy,
    ];

    /// As guests write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Search => "search",
            Self::Skill => "skill",
            Self::Analyze => "analyze",
            Self::State => "state",
            Self::Stats => "stats",
            Self::Result => "result",
            Self::Privacy => "privacy",
        }
    }

    /// The kind with exactly this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_its_exact_name_only() {
        for kind in CallKind::ALL {
            assert_eq!(CallKind::from_name(kind.name()), Some(*kind));
        }
        for forged in ["", "Tool", "tool\n", "tool\0", "../tool", "admin", "exec"] {
            assert_eq!(CallKind::from_name(forged), None, "{forged:?}");
        }
    }
}
