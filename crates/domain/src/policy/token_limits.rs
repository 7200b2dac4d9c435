//! What an access token is limited to.

use serde::{Deserialize, Serialize};

use super::asked::{Asked, AskedKind};
use super::wildcard::{wildcard_fits, wildcard_may_begin};
use crate::levels::Level;
use crate::privacy_mode::PrivacyMode;

/// Everything that is empty or `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenLimits {
    /// Names of servers, with stars.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// As `server.tool`, with stars. Where no server is named, resources and prompts are no part of what is listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The loosest level that its programs run at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_per_minute: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Whether its programs run in WebAssembly and never in the native engine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wasm_only: bool,
    /// How far personal data may go at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<PrivacyMode>,
}

impl TokenLimits {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// For people: `servers crm, tools crm.get_*, read-only`.
    pub fn words(&self) -> String {
        let list = |what: &str, names: &[String]| format!("{what} {}", names.join(", "));
        let mut words = Vec::new();
        words.extend((!self.servers.is_empty()).then(|| list("servers", &self.servers)));
        words.extend((!self.tools.is_empty()).then(|| list("tools", &self.tools)));
        words.extend(self.level.map(|level| format!("level {level}")));
        words.extend(self.calls_per_minute.map(|count| format!("{count} calls a minute")));
        words.extend(self.read_only.then(|| "read-only".to_owned()));
        words.extend(self.wasm_only.then(|| "WebAssembly only".to_owned()));
        words.extend(self.privacy.map(|mode| format!("privacy {mode}")));
        words.join("; ")
    }

    /// Whether its callers may know of a server: one that is named, or that a named tool may be of.
    pub fn shows_server(&self, server: &str) -> bool {
        if !self.is_for_tools_alone() {
            return is_listed(&self.servers, server);
        }
        let beginning = format!("{server}.");
        self.tools.iter().any(|tool| wildcard_may_begin(tool, &beginning))
    }

    /// Whether it is good for some tools and nothing else.
    fn is_for_tools_alone(&self) -> bool {
        self.servers.is_empty() && !self.tools.is_empty()
    }

    /// Why a request is not one of those that it is good for, if it is not.
    pub(super) fn refusal(&self, asked: &Asked<'_>) -> Option<&'static str> {
        if !is_listed(&self.servers, asked.server) {
            return Some("the access token isn't good for this server");
        }
        match asked.kind {
            AskedKind::Tool if !is_listed(&self.tools, &format!("{}.{}", asked.server, asked.name)) => {
                return Some("the access token isn't good for this tool");
            }
            AskedKind::Resource | AskedKind::Prompt if self.is_for_tools_alone() => {
                return Some(
                    "the access token is good for certain tools only, not for resources and prompts",
                );
            }
            AskedKind::Tool | AskedKind::Resource | AskedKind::Prompt => {}
        }
        if self.read_only && !asked.is_read() {
            return Some("the access token is read-only, and this tool isn't marked read-only");
        }
        self.level
            .is_some_and(|level| asked.level < level)
            .then_some("the access token needs a stricter isolation level than this call has; run the program with `level`")
    }
}

/// An empty list is no limit.
fn is_listed(patterns: &[String], name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| wildcard_fits(pattern, name))
}
