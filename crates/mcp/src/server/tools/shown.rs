//! The tools of a profile: what a caller is shown, and what its arguments are checked by.

use std::sync::OnceLock;

use gristmill_gateway::domain::validate::ArgumentCheck;
use gristmill_gateway::tokens;
use serde_json::Value;

use super::{ALL, OwnTool};
use crate::server::profile::Profile;

pub(in crate::server) struct ShownTools {
    profile: Profile,
    definitions: Vec<Value>,
    checks: Vec<(&'static OwnTool, ArgumentCheck)>,
    /// Of the definitions, in their order.
    tokens: OnceLock<Vec<u64>>,
}

impl ShownTools {
    pub fn new(profile: Profile) -> Self {
        let tools = ALL.into_iter().filter(|tool| tool.is_in(profile));
        let check =
            |tool: &'static OwnTool| (tool, ArgumentCheck::new(tool.name, &tool.input_schema(profile)));
        Self {
            profile,
            definitions: tools.clone().map(|tool| tool.definition(profile)).collect(),
            checks: tools.map(check).collect(),
            tokens: OnceLock::new(),
        }
    }

    /// As the protocol has them.
    pub fn definitions(&self) -> &[Value] {
        &self.definitions
    }

    /// What the definition of one of them comes to in a model's context. Counted at the first question:
    /// the tables take longer than a start may.
    pub fn definition_tokens(&self, tool: &OwnTool) -> u64 {
        let place = self.names().position(|name| name == tool.name);
        place.and_then(|place| self.counted().get(place)).copied().unwrap_or_default()
    }

    /// What the definitions of all of them come to.
    pub fn tokens(&self) -> u64 {
        self.counted().iter().sum()
    }

    fn counted(&self) -> &[u64] {
        let count = |definition: &Value| {
            let [name, description] = ["name", "description"].map(|key| definition[key].as_str());
            let (tokens, _) =
                tokens::count_definition(name.unwrap_or_default(), description, &definition["inputSchema"]);
            tokens as u64
        };
        self.tokens.get_or_init(|| self.definitions.iter().map(count).collect())
    }

    /// A tool by its name, and the check of its arguments.
    pub fn find(&self, name: &str) -> Option<(&'static OwnTool, &ArgumentCheck)> {
        self.checks.iter().find(|(tool, _)| tool.name == name).map(|(tool, check)| (*tool, check))
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.checks.iter().map(|(tool, _)| tool.name)
    }

    pub fn has(&self, tool: &OwnTool) -> bool {
        tool.is_in(self.profile)
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
