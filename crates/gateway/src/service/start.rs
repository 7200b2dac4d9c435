//! What is asked of the service.

use gristmill_domain::Level;

use crate::answer::AnswerBudget;
use crate::ids::Caller;
use crate::native_engine::EngineChoice;
use crate::ports::{AnswerWay, QuestionKind};
use crate::request::ExecuteRequest;
use crate::session::{HeldSession, Patience, SessionChoice};

/// What to start, for whom.
pub struct StartRequest {
    /// Whose it is, and in whose name its calls are made.
    pub caller: Caller,
    pub request: ExecuteRequest,
    pub place: PlaceChoice,
    /// The approved plan that is to run, by its id: its program, its variables and its limits go before the
    /// request's, and it makes the plan's writes and no others.
    pub plan: Option<String>,
    /// What can be asked back.
    pub answers: Answers,
    /// What the answer about it may take; `None` if nobody wants more than the report.
    pub answer: Option<AnswerBudget>,
    /// Whether the caller said how many tokens that are; if not, a session's own number goes before.
    pub budget_is_explicit: bool,
    /// The level that the caller asked for by name. A session that is made under a name keeps it.
    pub level: Option<Level>,
    /// The engine that the caller asked for by name, for a Python program. A session that is made under a name keeps
    /// it, too.
    pub engine: Option<EngineChoice>,
    /// Where the program came from, for its report and its record.
    pub note: Option<String>,
}

impl StartRequest {
    /// A program that works where its request says, in no session, and whose report is all that is
    /// wanted.
    pub fn new(caller: Caller, request: ExecuteRequest) -> Self {
        Self {
            caller,
            request,
            place: PlaceChoice::AsRequested,
            plan: None,
            answers: Answers::default(),
            answer: None,
            budget_is_explicit: false,
            level: None,
            engine: None,
            note: None,
        }
    }
}

/// Where a program works.
pub enum PlaceChoice {
    /// Where its request says: a folder that is kept, or one that is thrown away.
    AsRequested,
    /// In a session that is held for it already.
    Held(HeldSession),
    /// In a session as soon as that is free; what it leaves behind without one becomes one.
    Session {
        session: SessionChoice,
        /// What to do if that is running another program.
        patience: Patience,
        /// Whether it goes on with the variables of the session's programs, and leaves its own to the
        /// next. A session is then there before it begins.
        keep_variables: bool,
    },
}

/// Which questions whoever started an execution can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Forms to fill in.
    pub forms: bool,
    /// Pages to go to.
    pub urls: bool,
    /// Whether a call may be sent.
    pub approvals: bool,
    /// Where they are answered.
    pub way: AnswerWay,
}

impl Answers {
    pub(super) fn any(self) -> bool {
        self.forms || self.urls || self.approvals
    }

    /// Whether questions of this kind can be answered.
    pub fn fits(self, kind: &QuestionKind) -> bool {
        match kind {
            QuestionKind::Form { .. } => self.forms,
            QuestionKind::Url { .. } => self.urls,
            QuestionKind::Approval | QuestionKind::Plan => self.approvals,
        }
    }
}
