//! What somebody asks for.

use std::sync::Arc;

use gristmill_domain::skills::SkillName;
use gristmill_domain::{Level, Limits};
use gristmill_protocol::EngineId;

use super::limits::AskLimits;
use crate::answer::AnswerBudget;
use crate::ids::{Caller, Owner};
use crate::ports::{Model, RuleWriter};
use crate::service::Answers;
use crate::session::SessionChoice;

/// A task in words, who may write the program for it, and how far it goes.
pub struct AskRequest {
    /// Whose it is, and in whose name tools are found and called.
    pub caller: Caller,
    /// The task.
    pub sentence: String,
    /// What the program is written in.
    pub engine: EngineId,
    /// Who writes, the first one first; the next one if that fails.
    pub models: Vec<Arc<dyn Model>>,
    /// Who writes if no model does.
    pub rules: Option<Arc<dyn RuleWriter>>,
    /// Why there are no more models, for people.
    pub without: Vec<String>,
    pub go: Go,
    pub consent: ConsentRule,
    /// Where the program works; `None` for an empty workspace that is thrown away.
    pub session: Option<SessionChoice>,
    /// Whether the session's files and state are the caller's to change by any program: then one that only reads
    /// needs no yes because of them.
    pub session_is_open: bool,
    /// Which questions of servers and of the policy can be answered while it runs.
    pub answers: Answers,
    /// What the answer about it may take.
    pub answer: AnswerBudget,
    pub limits: AskLimits,
    /// What the program may take; `None` takes the gateway's.
    pub program_limits: Option<Limits>,
    /// The level that was asked for by name.
    pub level: Option<Level>,
    /// A new skill's name that the program is to be saved under: checked before anything is written.
    pub save_as: Option<SkillName>,
    /// As whom a program with consent may save and delete skills.
    pub changes_skills_as: Option<Owner>,
}

/// How far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// The program is written and checked.
    Write,
    /// And run.
    Run,
}

/// Who says that a program may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentRule {
    /// One that only reads runs, and can't write. Whoever follows is asked about any other.
    Ask,
    /// Yes was said to whatever is written.
    Yes,
}

impl AskRequest {
    /// With nobody who writes, whoever follows is asked, and the defaults for everything else.
    pub fn new(caller: Caller, sentence: impl Into<String>, engine: EngineId) -> Self {
        Self {
            caller,
            sentence: sentence.into(),
            engine,
            models: Vec::new(),
            rules: None,
            without: Vec::new(),
            go: Go::Run,
            consent: ConsentRule::Ask,
            session: None,
            session_is_open: false,
            answers: Answers::default(),
            answer: AnswerBudget::default(),
            limits: AskLimits::default(),
            program_limits: None,
            level: None,
            save_as: None,
            changes_skills_as: None,
        }
    }
}
