//! The pages: a struct with what a page shows, and the function that draws it.

mod approvals;
mod audit;
mod execution;
mod execution_lines;
mod executions;
mod login;
mod overview;
mod playground;
mod policy;
mod privacy;
mod problem;
mod results;
mod server;
mod servers;
mod sessions;
mod settings;
mod skills;
mod tool;

pub use approvals::{
    AnsweredApproval, Approval, ApprovalVerdict, Approvals, Argument, approvals, approvals_live,
};
pub use audit::{Audit, AuditFilter, AuditLine, ChainState, audit};
pub use execution::{
    Decision, Execution, ExecutionError, Kept, Stored, TokenAccount, execution, execution_live,
};
pub use execution_lines::{ExecutionLine, Outcome, SessionRef};
pub use executions::{ExecutionFilter, Executions, executions, executions_live};
pub use login::{Login, login};
pub use overview::{Anomaly, Money, Overview, Period, overview, overview_live};
pub use playground::{Playground, PlaygroundRun, PlaygroundTool, PlaygroundWritten, playground};
pub use policy::{AlwaysLine, Explained, Policy, Rule, Verdict, WhatIf, policy};
pub use privacy::{KindCount, Privacy, ServerPrivacy, VaultLine, privacy};
pub use problem::{Problem, problem};
pub use results::{ResultLine, Results, StoredResult, result, results};
pub use server::{Change, Server, ToolLine, server};
pub use servers::{ServerLine, ServerStatus, Servers, servers};
pub use sessions::{FileLine, OpenFile, Session, SessionLine, Sessions, StateLine, session, sessions};
pub use settings::{Check, GatewayLine, SettingLine, Settings, settings};
pub use skills::{Proposal, Skill, SkillLine, SkillState, SkillVersion, Skills, skill, skills};
pub use tool::{LearnedLine, Tool, TriedCall, tool};
