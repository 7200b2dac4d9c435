//! What describes one of our tools, and how its definition is made of it.
//!
//! A definition is in the model's context all the time, so every word is counted: see the tests of
//! `shown.rs`. It is the same for every caller and does not change while the gateway runs; what stands behind
//! that of `execute_code` about the servers' tools is `standing.rs`.

use gristmill_gateway::access::Scope;
use gristmill_gateway::ports::BoxFuture;
use rmcp::model::{CallToolResponse, ErrorData};
use serde_json::{Value, json};

use super::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::profile::Profile;

/// One of our tools. Each has a file of its own, beside the text that describes it to a model.
pub(in crate::server) struct OwnTool {
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    pub description: &'static str,
    pub input: Input,
    pub output: Output,
    pub annotations: Annotations,
    /// The smallest profile that shows it. What is not shown cannot be called either.
    pub shown_from: Profile,
    /// What a caller's token must permit, all of it. Whoever is let in at all may look things up.
    pub scopes: &'static [Scope],
    /// Whether a refusal has the form that the output schema promises, or is text alone.
    pub errors_are_structured: bool,
    pub run: Run,
}

/// The arguments of a tool.
pub(in crate::server) struct Input {
    pub properties: fn(Profile) -> Value,
    pub required: &'static [&'static str],
    /// Arguments that every profile takes and only `full` shows: a model pays for each in every turn.
    pub shown_in_full_only: &'static [&'static str],
    /// Further ones that `minimal` takes and doesn't show.
    pub not_in_minimal: &'static [&'static str],
    /// Further types that an argument may have. They aren't shown: some clients refuse a whole list of
    /// tools for one argument with two types.
    pub also_takes: &'static [(&'static str, &'static [&'static str])],
}

/// The structured content of a tool's answer.
pub(in crate::server) struct Output {
    pub properties: fn() -> Value,
    pub required: &'static [&'static str],
}

/// What a client may tell its user about calls of a tool.
pub(in crate::server) struct Annotations {
    pub is_read_only: bool,
    pub is_destructive: bool,
    pub is_idempotent: bool,
    pub is_open_world: bool,
}

/// What a call does.
pub(in crate::server) enum Run {
    /// Answers once. An error is a refusal, in words for a model.
    Answer(for<'a> fn(&'a GatewayServer, ToolCall<'a>) -> BoxFuture<'a, Result<Answer, Answer>>),
    /// The same, for what hides nothing that is personal: it has decided that itself.
    Values(for<'a> fn(&'a GatewayServer, ToolCall<'a>) -> BoxFuture<'a, Result<Answer, Answer>>),
    /// May also answer with a question to the user, or with a task to follow.
    Response(
        for<'a> fn(&'a GatewayServer, ToolCall<'a>) -> BoxFuture<'a, Result<CallToolResponse, ErrorData>>,
    ),
}

impl Annotations {
    /// It looks, and changes nothing.
    pub const READS: Self =
        Self { is_read_only: true, is_destructive: false, is_idempotent: true, is_open_world: false };
    /// What was there is gone, and a second call changes no more.
    pub const OVERWRITES: Self =
        Self { is_read_only: false, is_destructive: true, is_idempotent: true, is_open_world: false };
    /// A program can do whatever the tools of the servers can.
    pub const RUNS_A_PROGRAM: Self =
        Self { is_read_only: false, is_destructive: true, is_idempotent: false, is_open_world: true };
}

impl OwnTool {
    pub fn is_in(&self, profile: Profile) -> bool {
        profile >= self.shown_from
    }

    /// The whole definition, as the protocol has it.
    pub fn definition(&self, profile: Profile) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description.trim_end(),
            "inputSchema": self.shown_schema(profile),
            "outputSchema": {
                "type": "object",
                "properties": (self.output.properties)(),
                "required": self.output.required,
            },
            "annotations": {
                "readOnlyHint": self.annotations.is_read_only,
                "destructiveHint": self.annotations.is_destructive,
                "idempotentHint": self.annotations.is_idempotent,
                "openWorldHint": self.annotations.is_open_world,
            },
            // Clients that search for tools must find the one that finds all others.
            "_meta": {"anthropic/alwaysLoad": true},
        })
    }

    /// What arguments are checked by.
    pub fn input_schema(&self, profile: Profile) -> Value {
        let mut schema = self.whole_schema(profile);
        for (name, others) in self.input.also_takes {
            let shown = schema["properties"][name]["type"].take();
            let all: Vec<Value> =
                std::iter::once(shown).chain(others.iter().map(|name| json!(name))).collect();
            schema["properties"][name] = json!({"type": all});
        }
        schema["additionalProperties"] = json!(false);
        schema
    }

    /// The schema as a model reads it. It doesn't forbid other arguments; the check does, and names the
    /// nearest.
    pub fn shown_schema(&self, profile: Profile) -> Value {
        let mut schema = self.whole_schema(profile);
        let is_hidden = |name: &str| match profile {
            Profile::Full => false,
            Profile::Standard => self.input.shown_in_full_only.contains(&name),
            Profile::Minimal => {
                self.input.shown_in_full_only.contains(&name) || self.input.not_in_minimal.contains(&name)
            }
        };
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.retain(|name, _| !is_hidden(name));
        }
        schema
    }

    fn whole_schema(&self, profile: Profile) -> Value {
        let mut schema = json!({"type": "object", "properties": (self.input.properties)(profile)});
        if !self.input.required.is_empty() {
            schema["required"] = json!(self.input.required);
        }
        schema
    }
}

/// The schema of a text, of a whole number, of a list: most properties are one of these.
pub(super) fn text() -> Value {
    json!({"type": "string"})
}

pub(super) fn integer() -> Value {
    json!({"type": "integer"})
}

pub(super) fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

pub(super) fn objects() -> Value {
    json!({"type": "array", "items": {"type": "object"}})
}
