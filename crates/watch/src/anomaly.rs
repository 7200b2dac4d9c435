//! A finding: what is unusual, about whom, how bad, by which numbers, and what to do.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::{EXECUTIONS_MAX, cut};

/// Something unusual.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Anomaly {
    pub kind: Kind,
    pub severity: Severity,
    pub subject: Subject,
    pub at_ms: u64,
    /// One sentence with the numbers.
    pub words: String,
    pub facts: Vec<Fact>,
    /// At most five, newest last.
    pub executions: Vec<String>,
    /// A command to start with.
    pub action: String,
    /// The same for the same trouble.
    pub key: String,
}

/// One number of the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    pub name: String,
    pub value: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing when you look.
    Notice,
    /// Look today.
    Warning,
    /// Look now.
    Critical,
}

impl Severity {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Failures,
    SystemFailures,
    CallFailures,
    Denials,
    Calls,
    Output,
    MemoryNearLimit,
    TimeNearLimit,
    FirstTool,
    FirstServer,
    AnswerSize,
    AnswerShape,
    RepeatedProgram,
    SavingsLost,
    UnusualHours,
}

impl Kind {
    /// Whether it goes on until it is over; a first use just happens.
    #[must_use]
    pub fn is_lasting(self) -> bool {
        !matches!(self, Self::FirstTool | Self::FirstServer)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::SystemFailures => "system-failures",
            Self::CallFailures => "call-failures",
            Self::Denials => "denials",
            Self::Calls => "calls",
            Self::Output => "output",
            Self::MemoryNearLimit => "memory-near-limit",
            Self::TimeNearLimit => "time-near-limit",
            Self::FirstTool => "first-tool",
            Self::FirstServer => "first-server",
            Self::AnswerSize => "answer-size",
            Self::AnswerShape => "answer-shape",
            Self::RepeatedProgram => "repeated-program",
            Self::SavingsLost => "savings-lost",
            Self::UnusualHours => "unusual-hours",
        }
    }
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    Everything,
    Caller(String),
    Session {
        caller: String,
        session: String,
    },
    Server(String),
    Tool {
        server: String,
        tool: String,
    },
    /// A caller and what it used for the first time.
    Use {
        caller: String,
        server: String,
        tool: Option<String>,
    },
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => write!(f, "the gateway"),
            Self::Caller(caller) => write!(f, "caller {}", plain(caller)),
            Self::Session { caller, session } => {
                write!(f, "session {} of caller {}", plain(session), plain(caller))
            }
            Self::Server(server) => write!(f, "server {}", plain(server)),
            Self::Tool { server, tool } => write!(f, "tool {}.{}", plain(server), plain(tool)),
            Self::Use { caller, server, tool: None } => {
                write!(f, "caller {} with server {}", plain(caller), plain(server))
            }
            Self::Use { caller, server, tool: Some(tool) } => {
                write!(f, "caller {} with tool {}.{}", plain(caller), plain(server), plain(tool))
            }
        }
    }
}

impl Anomaly {
    pub(crate) fn new(kind: Kind, severity: Severity, subject: Subject, words: String) -> Self {
        let key = format!("{}: {subject}", kind.name());
        Self {
            kind,
            severity,
            subject,
            at_ms: 0,
            words,
            facts: Vec::new(),
            executions: Vec::new(),
            action: String::new(),
            key,
        }
    }

    pub(crate) fn fact(mut self, name: &str, value: f64) -> Self {
        self.facts.push(Fact { name: name.to_owned(), value });
        self
    }

    pub(crate) fn executions<'a>(mut self, ids: impl DoubleEndedIterator<Item = &'a String>) -> Self {
        self.executions = ids.rev().take(EXECUTIONS_MAX).cloned().collect();
        self.executions.reverse();
        self
    }

    pub(crate) fn action(mut self, action: String) -> Self {
        self.action = action;
        self
    }
}

/// A foreign name for a sentence: one line, not too long.
pub(crate) fn plain(name: &str) -> String {
    cut(name).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// ` --flag name` for a command that somebody will paste into a shell; nothing if the name isn't harmless there.
pub(crate) fn option(flag: &str, name: &str) -> String {
    if is_harmless(name) { format!(" {flag} {name}") } else { String::new() }
}

/// ` name`, under the same rule.
pub(crate) fn argument(name: &str) -> String {
    if is_harmless(name) { format!(" {name}") } else { String::new() }
}

fn is_harmless(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && !name.starts_with('-')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-@/:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_never_reaches_a_command_or_breaks_a_line() {
        for name in ["$(reboot)", "a b", "a;b", "--yes", "`x`", "a\nb", "", "*"] {
            assert_eq!(option("--caller", name), "", "{name:?}");
        }
        assert_eq!(option("--caller", "team-a"), " --caller team-a");
        let subject = Subject::Caller("two\nlines\u{1b}[31m".to_owned()).to_string();
        assert!(!subject.chars().any(char::is_control), "{subject:?}");
    }
}
