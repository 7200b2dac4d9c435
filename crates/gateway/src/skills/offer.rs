//! Skills as they are searched.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_domain::catalogue::ToolDefinition;
use gristmill_domain::one_line;
use gristmill_domain::skills::usage_line;
use serde_json::{Map, Value, json};

use super::skill::Skill;
use crate::ports::SkillOffer;

/// What functions say about themselves, together.
const DOC_CHARS_MAX: usize = 1_500;

/// What there is to be found, if these can be imported.
pub(super) fn offer<'a>(version: &str, skills: impl Iterator<Item = &'a Skill>) -> SkillOffer {
    let (mut tools, mut uses) = (Vec::new(), HashMap::new());
    for skill in skills {
        if let Ok(definition) = ToolDefinition::from_text(&definition(skill).to_string()) {
            uses.insert(skill.name.as_str().to_owned(), usage_line(skill.name.as_str(), &skill.facts()));
            tools.push(Arc::new(definition));
        }
    }
    SkillOffer::new(version.to_owned(), tools, uses)
}

/// As a server would define it.
fn definition(skill: &Skill) -> Value {
    let facts = skill.facts();
    let main = facts.main_function(skill.name.as_str());
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for parameter in main.map(|function| function.parameters.as_slice()).unwrap_or_default() {
        let is_rest = parameter.starts_with(['*', '.']);
        let name = parameter.trim_start_matches(['*', '.']).split([':', '=', '?']).next().unwrap_or_default();
        let name = name.trim();
        // What is taken apart has no name of its own.
        if name.is_empty() || name.starts_with(['{', '[']) {
            continue;
        }
        properties.insert(name.to_owned(), json!({}));
        if !is_rest && !parameter.contains('=') && !parameter.contains("?:") {
            required.push(name);
        }
    }
    let said = skill.description();
    let docs = facts.functions.iter().map(|function| one_line(&function.doc, DOC_CHARS_MAX));
    // A description is often the first sentence of one of them: it is told once.
    let docs: Vec<String> = docs.map(|doc| doc.strip_prefix(&said).unwrap_or(&doc).to_owned()).collect();
    let description = format!("{said}\n\n{}", one_line(&docs.join(" "), DOC_CHARS_MAX));
    json!({
        "name": skill.name.as_str(),
        "title": skill.tags().join(" "),
        "description": description.trim(),
        "inputSchema": {"type": "object", "properties": properties, "required": required},
    })
}
