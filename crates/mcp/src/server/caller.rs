//! Who sent a request, and what its client can do.

use gristmill_gateway::access::{self, Scope};
use gristmill_gateway::ids::{Caller, Owner};
use gristmill_gateway::service::Answers;
use rmcp::model::ProtocolVersion;
use rmcp::service::{RequestContext, RoleServer};

use super::Connection;
use super::request_caller::caller_of;

/// What a request says about its sender.
pub(super) struct Requester {
    /// Whose executions and sessions these are.
    pub owner: Owner,
    /// In whose name servers are asked.
    pub caller: Caller,
    /// Whether the owner is one person or program, so that what it has running may be listed.
    pub is_alone: bool,
    /// Whether it may run programs.
    pub may_execute: bool,
    /// Whether it may see the figures of all owners, and change what they share, such as skills.
    pub is_admin: bool,
    /// What can be asked back.
    pub answers: Answers,
    /// Whether requests stand for themselves: the protocol since 2026-07-28.
    pub is_modern: bool,
    /// Whether it follows long work as tasks.
    pub has_tasks: bool,
}

impl Requester {
    pub fn of(context: &RequestContext<RoleServer>, connection: Connection) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let is_modern = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let answers = capabilities.elicitation.as_ref().map(|elicitation| Answers {
            // A client that names neither means forms, which came first.
            forms: elicitation.form.is_some() || elicitation.url.is_none(),
            urls: elicitation.url.is_some(),
            approvals: elicitation.form.is_some() || elicitation.url.is_none(),
            ..Answers::default()
        });
        let Identity { owner, is_alone, may_execute, is_admin } = Identity::of(context, connection);
        let caller = caller_of(context, connection);
        Self {
            owner,
            caller,
            is_alone,
            may_execute,
            is_admin,
            answers: answers.unwrap_or_default(),
            is_modern,
            has_tasks: is_modern && capabilities.supports_tasks(),
        }
    }

    /// Whether it may do what needs this scope. Whoever is let in at all may look things up.
    pub fn may(&self, scope: Scope) -> bool {
        match scope {
            Scope::Search => true,
            Scope::Execute => self.may_execute,
            Scope::Admin => self.is_admin,
            // No tool of ours gives them.
            Scope::Metrics => false,
        }
    }
}

/// Who a request is from, and what that permits.
struct Identity {
    owner: Owner,
    is_alone: bool,
    may_execute: bool,
    is_admin: bool,
}

impl Identity {
    fn of(context: &RequestContext<RoleServer>, connection: Connection) -> Self {
        let parts = context.extensions.get::<http::request::Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<access::Caller>());
        match (connection, caller) {
            (Connection::Pipes, _) => {
                Self { owner: Owner::local(), is_alone: true, may_execute: true, is_admin: true }
            }
            (Connection::Http, Some(caller)) if caller.has_token() => Self {
                owner: Owner::of_token(&caller.identity),
                is_alone: true,
                may_execute: caller.may(Scope::Execute),
                is_admin: caller.may(Scope::Admin),
            },
            (Connection::Http, Some(caller)) => Self {
                owner: Owner::local(),
                is_alone: caller.is_someone(),
                may_execute: caller.may(Scope::Execute),
                is_admin: true,
            },
            // The HTTP server puts a caller into every request; one without is nobody.
            (Connection::Http, None) => Self {
                owner: Owner("nobody".to_owned()),
                is_alone: false,
                may_execute: false,
                is_admin: false,
            },
        }
    }
}

/// What is said to a caller whose token doesn't permit `what`, and what helps.
pub(super) fn missing_scope(scope: Scope, what: &str) -> (String, String) {
    let message = format!("this token can't use {what}: it needs the scope `{scope}`");
    let hint = match scope {
        Scope::Execute | Scope::Search | Scope::Metrics => {
            format!("ask the user for a token made with `gristmill token new NAME --scope {scope}`")
        }
        Scope::Admin => "all callers share the skills; ask the user for a token made with \
                         `gristmill token new NAME --scope execute --scope admin`"
            .to_owned(),
    };
    (message, hint)
}
