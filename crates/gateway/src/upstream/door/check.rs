//! Check: the arguments fit, and are written as they will be sent.

use std::sync::Arc;

use gristmill_domain::catalogue::ToolDefinition;
use serde_json::Value;

use super::personal::{Personal, Restored};
use super::resolve::{PromptTarget, Resolved, Target, ToolTarget};
use crate::ports::{Asker, CallWatcher, ToolFailure, Writes};
use crate::privacy::Source;
use crate::upstream::connection::UpstreamCall;
use crate::upstream::parameter_headers::parameter_headers;
use crate::upstream::server::Server;

/// A request that may be sent.
pub(super) struct Checked {
    pub server: Arc<Server>,
    pub outgoing: Outgoing,
    pub watcher: CallWatcher,
    pub personal: Personal,
}

/// A request as it will be sent.
pub(super) enum Outgoing {
    Tool {
        /// As the caller saw it: the server may offer another one by now.
        definition: Arc<ToolDefinition>,
        call: UpstreamCall,
        /// Its arguments, for rules: the object that `call` has as a text.
        arguments: Value,
        /// What becomes of it if it is a write.
        writes: Writes,
    },
    /// To read what has this URI.
    Resource(String),
    Prompt {
        name: String,
        /// A JSON object.
        arguments: String,
        asker: Asker,
    },
}

impl Outgoing {
    /// What the caller says, as it is sent: a JSON object, or a URI.
    pub fn arguments(&self) -> &str {
        match self {
            Outgoing::Tool { call, .. } => &call.arguments,
            Outgoing::Resource(uri) => uri,
            Outgoing::Prompt { arguments, .. } => arguments,
        }
    }
}

impl Checked {
    /// What its answer will be an answer of.
    pub fn source(&self) -> Source<'_> {
        let (tool, schema) = match &self.outgoing {
            Outgoing::Tool { definition, .. } => {
                (definition.name.as_str(), definition.output_schema.as_ref())
            }
            Outgoing::Resource(uri) => (uri.as_str(), None),
            Outgoing::Prompt { name, .. } => (name.as_str(), None),
        };
        let server = Some(self.server.name());
        Source { server, tool: Some(tool), schema, keeps_formats: true, ..Source::default() }
    }

    /// What the caller says, as people, plans and records see it.
    pub fn shown(&self) -> &str {
        self.personal.shown.as_deref().unwrap_or(self.outgoing.arguments())
    }

    /// What it is for, in the same way: a URI may have something personal in it.
    pub fn shown_name(&self) -> &str {
        match &self.outgoing {
            Outgoing::Tool { definition, .. } => &definition.name,
            Outgoing::Resource(_) => self.shown(),
            Outgoing::Prompt { name, .. } => name,
        }
    }
}

/// Checks the arguments of a tool by its schema, unless it is denied anyway: whoever mends them would have mended them
/// for nothing. Those of prompts are their server's to judge.
pub(super) fn check(
    restored: Restored,
    is_denied: impl Fn(&str, &ToolDefinition) -> bool,
) -> Result<Checked, ToolFailure> {
    let Restored { resolved: Resolved { server, target, watcher }, personal } = restored;
    let outgoing = match target {
        Target::Tool(tool) => {
            let is_denied = |tool: &ToolDefinition| is_denied(server.name(), tool);
            checked_tool(tool, personal.has_restored(), is_denied)?
        }
        Target::Resource(uri) => Outgoing::Resource(uri),
        Target::Prompt(PromptTarget { name, arguments, asker }) => {
            Outgoing::Prompt { name, arguments: Value::Object(arguments).to_string(), asker }
        }
    };
    Ok(Checked { server, outgoing, watcher, personal })
}

/// Values that the caller doesn't have are not in errors.
fn checked_tool(
    tool: ToolTarget,
    is_secretive: bool,
    is_denied: impl Fn(&ToolDefinition) -> bool,
) -> Result<Outgoing, ToolFailure> {
    let ToolTarget { definition, check, mut arguments, progress, asker, writes } = tool;
    check.fit(&mut arguments);
    if let Err(error) = check.check(&arguments)
        && !is_denied(&definition)
    {
        let kept = error.without_values();
        let told = if is_secretive { kept.clone() } else { error.to_string() };
        return Err(ToolFailure::Unfit { told, kept });
    }
    let headers = parameter_headers(&definition.input_schema, &arguments);
    let arguments = Value::Object(arguments);
    let call = UpstreamCall {
        tool: definition.name.clone(),
        headers,
        arguments: arguments.to_string(),
        progress,
        asker,
        trace: None,
    };
    Ok(Outgoing::Tool { definition, call, arguments, writes })
}
