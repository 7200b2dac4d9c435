//! One request, as rules see it.

use serde::Serialize;
use serde_json::Value;

use super::arguments::{Arguments, Spelling};
use super::token_limits::TokenLimits;
use crate::catalogue::ToolDefinition;
use crate::hosts::{HTTP_SERVER, WebAddress};
use crate::levels::Level;

/// Where a request to a host goes.
const URL: &str = "url";

/// A request on its way to a server.
pub struct Asked<'a> {
    pub kind: AskedKind,
    /// As it is configured.
    pub server: &'a str,
    /// The server's own name of a tool or a prompt, its own URI of a resource.
    pub name: &'a str,
    pub hints: Hints,
    pub arguments: Arguments<'a>,
    /// The name of the token that the caller came with; `None` on this machine.
    pub token: Option<&'a str>,
    /// What that token is limited to.
    pub token_limits: Option<&'a TokenLimits>,
    /// What the client calls itself. Anyone can claim any name.
    pub client: Option<&'a str>,
    /// The session's name, or its handle if it has none.
    pub session: Option<&'a str>,
    pub level: Level,
}

/// What is asked of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AskedKind {
    Tool,
    Resource,
    Prompt,
}

/// What a server says of a tool. Untrusted: a server that lies is the server's own doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

impl Hints {
    pub fn of(definition: &ToolDefinition) -> Self {
        let ToolDefinition { read_only, destructive, idempotent, open_world, .. } = definition;
        Self {
            read_only: *read_only,
            destructive: *destructive,
            idempotent: *idempotent,
            open_world: *open_world,
        }
    }
}

impl Asked<'_> {
    /// A request to a host as it is sent, and as a server may take its URL: rules hold for each of them. None for
    /// other requests, which are what they are.
    pub(super) fn readings(&self) -> Vec<Asked<'_>> {
        if self.server != HTTP_SERVER || self.kind != AskedKind::Tool {
            return Vec::new();
        }
        let url = self.arguments.value().get(URL).and_then(Value::as_str);
        let Some(address) = url.and_then(|url| WebAddress::read(url).ok()) else { return Vec::new() };
        let reading = |(url, spelling): (String, Spelling)| {
            let mut arguments = self.arguments.value().clone();
            arguments[URL] = Value::String(url);
            Asked { arguments: Arguments::spelled(arguments, spelling), ..*self }
        };
        let others = address.other_readings().into_iter().map(|url| (url, Spelling::Decoded));
        std::iter::once((address.as_str().to_owned(), Spelling::AsSent)).chain(others).map(reading).collect()
    }

    /// Whether it changes nothing, as far as its server says. Resources and prompts are read.
    pub fn is_read(&self) -> bool {
        match self.kind {
            AskedKind::Tool => self.hints.read_only == Some(true),
            AskedKind::Resource | AskedKind::Prompt => true,
        }
    }
}
