//! What was read out of a skill's code, without running it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::language::SkillLanguage;
use crate::catalogue::{Lookup, Resolved, ToolDefinition, ToolHash, fold};

/// What the code says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeFacts {
    /// What it is written in.
    pub language: SkillLanguage,
    /// The text at its top.
    pub doc: String,
    /// What can be imported from it, in its order.
    pub functions: Vec<FunctionFact>,
    /// Modules that it imports.
    pub imports: Vec<String>,
    /// Tools that it calls.
    pub tools: Vec<NeededTool>,
    /// Why it cannot be imported; none if it compiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionFact {
    /// [`DEFAULT_EXPORT`] for what a TypeScript skill exports as its default.
    pub name: String,
    /// Each parameter as it is written, such as `limit: int = 10`.
    pub parameters: Vec<String>,
    pub doc: String,
    /// Whether a call is awaited.
    pub is_async: bool,
}

/// The name of what a module exports without one.
pub const DEFAULT_EXPORT: &str = "default";

/// A tool that the code calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NeededTool {
    /// `server.tool`, or `tool` as it is written.
    pub name: String,
    /// Of its schemas, when the skill was saved; none if the tool was not there.
    pub schema: Option<String>,
}

/// What became of a tool since a skill was saved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolDrift {
    /// No server offers it now.
    #[error("needs {0}, which isn't available now")]
    Gone(String),
    /// It takes or gives something else.
    #[error("needs {0}, which has changed since the skill was saved")]
    Changed(String),
}

impl CodeFacts {
    /// What a caller would import: the function that is named as the skill is, in any spelling, the default,
    /// or the first.
    pub fn main_function(&self, skill: &str) -> Option<&FunctionFact> {
        let find = |is_it: &dyn Fn(&str) -> bool| self.functions.iter().find(|one| is_it(&one.name));
        let folded = fold(skill);
        find(&|name| name == skill)
            .or_else(|| find(&|name| fold(name) == folded))
            .or_else(|| find(&|name| name == DEFAULT_EXPORT))
            .or_else(|| self.functions.first())
    }

    /// Notes which of the tools are there now, and what they take.
    pub fn note_schemas(&mut self, lookup: &Lookup) {
        for tool in &mut self.tools {
            tool.schema = match lookup.resolve(&tool.name) {
                Resolved::One(_, known) => Some(schema_hash(&known.definition)),
                Resolved::Reserved(..) | Resolved::Several(_) | Resolved::None(_) => None,
            };
        }
    }
}

/// What of the needed tools is not as it was when the skill was saved.
pub fn drift(facts: &CodeFacts, lookup: &Lookup) -> Vec<ToolDrift> {
    let drifted = facts.tools.iter().filter_map(|needed| match lookup.resolve(&needed.name) {
        Resolved::None(_) => Some(ToolDrift::Gone(needed.name.clone())),
        // Whether it is as it was shows when it can be called again.
        Resolved::Reserved(..) | Resolved::Several(_) => None,
        Resolved::One(_, tool) => {
            let was = needed.schema.as_ref()?;
            (*was != schema_hash(&tool.definition)).then(|| ToolDrift::Changed(needed.name.clone()))
        }
    });
    drifted.collect()
}

/// Differs whenever what a tool takes or gives does; its words do not count.
pub fn schema_hash(definition: &ToolDefinition) -> String {
    ToolHash::of(&json!([definition.input_schema, definition.output_schema])).to_hex()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, ServerOffer};
    use std::sync::Arc;

    fn lookup(definition: &str) -> Lookup {
        let tools = vec![Arc::new(ToolDefinition::from_text(definition).expect("a definition"))];
        let offer = ServerOffer { name: "crm".to_owned(), tools, ..ServerOffer::default() };
        Lookup::new(Arc::new(Catalogue::new(vec![offer])))
    }

    #[test]
    fn a_tool_that_went_or_changed_is_told_and_new_words_are_not() {
        let saved = lookup(r#"{"name":"find","description":"Finds.","inputSchema":{"properties":{"q":{}}}}"#);
        let mut facts = CodeFacts {
            tools: vec![NeededTool { name: "crm.find".to_owned(), schema: None }],
            ..CodeFacts::default()
        };
        facts.note_schemas(&saved);
        assert_eq!(drift(&facts, &saved), []);
        let reworded =
            lookup(r#"{"name":"find","description":"Looks.","inputSchema":{"properties":{"q":{}}}}"#);
        assert_eq!(drift(&facts, &reworded), []);
        let changed = lookup(r#"{"name":"find","inputSchema":{"properties":{"query":{}}}}"#);
        assert_eq!(drift(&facts, &changed), [ToolDrift::Changed("crm.find".to_owned())]);
        let gone = lookup(r#"{"name":"other"}"#);
        assert_eq!(drift(&facts, &gone), [ToolDrift::Gone("crm.find".to_owned())]);
    }
}
