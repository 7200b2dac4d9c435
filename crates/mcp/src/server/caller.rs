//! Who sent a request, and what its client can do.

use gristmill_gateway::executions::{Answers, Owner};
use rmcp::model::ProtocolVersion;
use rmcp::service::{RequestContext, RoleServer};

use super::Connection;

/// What a request says about its sender.
pub(super) struct Requester {
    /// Whose executions and sessions these are.
    pub owner: Owner,
    /// Whether the owner is one person or program, so that what it has running may be listed.
    pub is_alone: bool,
    /// Whether it may run programs.
    pub may_execute: bool,
    /// Whether it may save and delete skills, which all callers share.
    pub may_change_skills: bool,
    /// What can be asked back.
    pub answers: Answers,
    /// Whether requests stand for themselves: the protocol since 2026-07-28.
    pub is_modern: bool,
    /// Whether it follows long work as tasks.
    pub has_tasks: bool,
}

impl Requester {
    pub fn of(context: &RequestContext<RoleServer>, connection: &Connection) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let is_modern = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let answers = capabilities.elicitation.as_ref().map(|elicitation| Answers {
            // A client that names neither means forms, which came first.
            forms: elicitation.form.is_some() || elicitation.url.is_none(),
            urls: elicitation.url.is_some(),
        });
        let (owner, is_alone, may_execute) = connection.sender(context);
        Self {
            owner,
            is_alone,
            may_execute,
            may_change_skills: connection.is_admin(context),
            answers: answers.unwrap_or_default(),
            is_modern,
            has_tasks: is_modern && capabilities.supports_tasks(),
        }
    }
}
