//! Marks of servers, and what may not be sent once data of two of them came together.
//!
//! Text that anybody can write (`untrusted`) may tell a model what to do; `private` data is what it must not
//! give away; an `external` server is where it would go. A session that has read both asks before the third.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::decision::{Decided, Decision};
use crate::levels::Level;

/// What refusals, questions and records call it.
pub const FLOW_RULE: &str = "flow";

/// What a server's data is, or where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Anybody may have written what it answers: the web, mail, tickets.
    Untrusted,
    /// What it answers is nobody else's business.
    Private,
    /// What is sent to it leaves the house.
    External,
}

/// There is no such mark.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a mark is untrusted, private or external")]
pub struct UnknownMark;

impl Mark {
    pub const ALL: [Mark; 3] = [Mark::Untrusted, Mark::Private, Mark::External];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Mark::Untrusted => "untrusted",
            Mark::Private => "private",
            Mark::External => "external",
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mark {
    type Err = UnknownMark;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Mark::ALL.into_iter().find(|mark| mark.as_str() == text).ok_or(UnknownMark)
    }
}

/// The marks of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(BTreeSet<Mark>);

impl Marks {
    pub fn of(marks: impl IntoIterator<Item = Mark>) -> Self {
        Self(marks.into_iter().collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has(&self, mark: Mark) -> bool {
        self.0.contains(&mark)
    }

    /// Whether having read from the server is remembered.
    pub fn is_remembered(&self) -> bool {
        self.has(Mark::Untrusted) || self.has(Mark::Private)
    }

    /// In a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = Mark> {
        self.0.iter().copied()
    }

    pub fn add(&mut self, others: &Marks) {
        self.0.extend(others.iter());
    }
}

/// Which marked data was read: for each of both marks, the first server that it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<String>,
}

impl Seen {
    /// What an answer of this server adds.
    pub fn from_server(server: &str, marks: &Marks) -> Self {
        let named = |mark: Mark| marks.has(mark).then(|| server.to_owned());
        Self { untrusted: named(Mark::Untrusted), private: named(Mark::Private) }
    }

    /// Nobody can tell what was read, so it counts as both.
    pub fn unknown() -> Self {
        let nobody_knows = "unknown: the database can't be read".to_owned();
        Self { untrusted: Some(nobody_knows.clone()), private: Some(nobody_knows) }
    }

    pub fn is_empty(&self) -> bool {
        self.untrusted.is_none() && self.private.is_none()
    }

    /// Whether there is nothing to add.
    pub fn is_both(&self) -> bool {
        self.untrusted.is_some() && self.private.is_some()
    }

    /// Whether it has every mark that the other has.
    pub fn covers(&self, other: &Seen) -> bool {
        (self.untrusted.is_some() || other.untrusted.is_none())
            && (self.private.is_some() || other.private.is_none())
    }

    /// Adds what is not there yet; whether that was anything.
    pub fn add(&mut self, other: &Seen) -> bool {
        let is_new = !self.covers(other);
        self.untrusted = self.untrusted.take().or_else(|| other.untrusted.clone());
        self.private = self.private.take().or_else(|| other.private.clone());
        is_new
    }
}

/// What becomes of requests to external servers once both were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    decision: Decision,
    origin: Arc<str>,
}

impl Flow {
    pub fn new(decision: Decision, origin: &str) -> Self {
        Self { decision, origin: Arc::from(origin) }
    }

    /// At level `hardened` nobody is asked.
    pub fn decision(&self, level: Level) -> Decision {
        match (self.decision, level) {
            (Decision::Ask, Level::Hardened) => Decision::Deny,
            (decision, _) => decision,
        }
    }

    /// Where it is written.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// What it says about a request to a server. Every request counts, whatever its server says about it:
    /// arguments and URIs carry data. `None` if it has nothing against it.
    pub fn decide(&self, seen: &Seen, server: &str, marks: &Marks, level: Level) -> Option<Decided> {
        let decision = self.decision(level);
        if decision == Decision::Allow || !marks.has(Mark::External) {
            return None;
        }
        let (untrusted, private) = (seen.untrusted.as_deref()?, seen.private.as_deref()?);
        let why = format!(
            "this session has read untrusted data from `{untrusted}` and private data from `{private}`, and `{server}` is external"
        );
        Some(Decided {
            decision,
            rule: Arc::from(FLOW_RULE),
            origin: Arc::clone(&self.origin),
            why: Arc::from(why),
            answer: None,
        })
    }
}

impl Default for Flow {
    fn default() -> Self {
        Self::new(Decision::Ask, "default")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(marks: &[Mark]) -> Marks {
        Marks::of(marks.iter().copied())
    }

    fn both() -> Seen {
        let mut seen = Seen::from_server("web", &marks(&[Mark::Untrusted]));
        assert!(seen.add(&Seen::from_server("crm", &marks(&[Mark::Private]))));
        seen
    }

    #[test]
    fn only_both_together_and_only_an_external_server_matter() {
        let flow = Flow::default();
        let decide = |seen: &Seen, of: &[Mark]| {
            flow.decide(seen, "mail", &marks(of), Level::Production).map(|decided| decided.decision)
        };
        let web = Seen::from_server("web", &marks(&[Mark::Untrusted]));
        let crm = Seen::from_server("crm", &marks(&[Mark::Private]));
        for seen in [Seen::default(), web, crm] {
            assert_eq!(decide(&seen, &[Mark::External]), None, "{seen:?}");
        }
        assert_eq!(decide(&both(), &[]), None);
        assert_eq!(decide(&both(), &[Mark::Untrusted, Mark::Private]), None);
        assert_eq!(decide(&both(), &[Mark::External]), Some(Decision::Ask));
        let one = Seen::from_server("x", &marks(&[Mark::Untrusted, Mark::Private]));
        assert_eq!(decide(&one, &[Mark::External, Mark::Untrusted]), Some(Decision::Ask));
    }

    #[test]
    fn hardened_refuses_what_others_ask_about_and_the_explanation_names_the_three() {
        let external = marks(&[Mark::External]);
        let decide = |decision, level| Flow::new(decision, "x").decide(&both(), "mail", &external, level);
        let decision = |asked, level| decide(asked, level).map(|decided| decided.decision);
        assert_eq!(decision(Decision::Ask, Level::Development), Some(Decision::Ask));
        assert_eq!(decision(Decision::Ask, Level::Hardened), Some(Decision::Deny));
        assert_eq!(decision(Decision::Deny, Level::Development), Some(Decision::Deny));
        assert_eq!(decision(Decision::Allow, Level::Hardened), None);
        let decided = decide(Decision::Ask, Level::Hardened).expect("a decision");
        let expected = "this session has read untrusted data from `web` and private data from `crm`, and `mail` is external";
        assert_eq!((&*decided.why, &*decided.rule), (expected, "flow"));
    }

    #[test]
    fn the_first_server_of_each_mark_is_remembered() {
        let mut seen = both();
        let other = Seen::from_server("tickets", &marks(&[Mark::Untrusted, Mark::Private]));
        assert!(!seen.add(&other));
        assert_eq!(seen, both());
        assert!(seen.covers(&other) && !Seen::default().covers(&other));
        let text = serde_json::to_string(&both()).expect("JSON");
        assert_eq!(text, r#"{"untrusted":"web","private":"crm"}"#);
        assert_eq!(serde_json::from_str::<Seen>(&text).expect("what was written"), both());
    }

    #[test]
    fn a_mark_reads_back() {
        for mark in Mark::ALL {
            assert_eq!(mark.to_string().parse(), Ok(mark));
        }
        assert_eq!("secret".parse::<Mark>(), Err(UnknownMark));
    }
}
