//! Every trait through which the gateway reaches the outside, and the plain data that passes there.
//! What connects us with one server is in `upstream`, closed to everyone else.
//!
//! Walls: of the gateway nothing is imported here but `ids`.

mod alert_way;
mod analysis_inputs;
mod approval_notice;
mod audit_event;
mod box_future;
mod call_observer;
mod call_watch;
mod execution_stats;
mod large_results;
mod model;
mod progress;
mod questions;
mod remote_workers;
mod rule_writer;
mod shared_state;
mod skill_offer;
mod state_values;
mod tool_failure;
mod tools;
mod writes;

pub use alert_way::{AlertNotice, AlertWay};
pub use analysis_inputs::{AnalysisInputs, InputFailure};
pub use approval_notice::{ApprovalNotice, NotifyApproval};
pub use audit_event::{
    Approval, ApprovedHow, AuditEffect, AuditEvent, AuditKind, AuditLog, ConfigChange, Finding,
};
pub use box_future::BoxFuture;
pub use call_observer::{ArgumentRecord, CallEnd, CallFacts, CallObserver, RequestKind, WebFacts};
pub use call_watch::{CallWatch, CallWatcher};
pub use execution_stats::{ExecutionStats, StatsFailure};
pub use large_results::{GrowingResult, KeptResult, LargeResult, LargeResultFailure, LargeResults};
pub use model::{
    Ending, Model, ModelFailure, ModelName, Price, Prompt, Speaker, TokensUsed, Turn, WritingWatch, Written,
};
pub use progress::{Progress, ProgressSink};
pub(crate) use questions::QUESTION_WAIT_MAX;
pub use questions::{
    APPROVAL_ANSWERS, AnswerWay, Ask, Asker, PLAN_ANSWERS, Pause, Question, QuestionAnswer, QuestionKind,
    Screen,
};
pub use remote_workers::{
    NoNode, NotBroughtHome, RemoteControl, RemoteEnd, RemoteHome, RemoteProgram, RemoteWorker, RemoteWorkers,
    RunWhere,
};
pub use rule_writer::{RuleCandidate, RuleOutcome, RuleTask, RuleWriter};
pub use shared_state::{NotShared, SharedState};
pub use skill_offer::SkillOffer;
pub use state_values::{StateFailure, StateValues};
pub use tool_failure::ToolFailure;
pub use tools::{DefinitionTokens, FixedTools, Needed, ToolCall, ToolSearch, ToolSource, Tools};
pub use writes::{Claim, HeldWrites, NotPlanned, PlannedWrites, RefusedWrites, Write, Writes};
