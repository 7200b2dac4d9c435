//! Skills as something to be searched: beside the tools of servers, as if they were one more server.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_domain::catalogue::{Catalogue, ServerOffer, ToolDefinition, fold};
use gristmill_domain::one_line;
use gristmill_domain::skills::usage_line;
use serde_json::{Map, Value, json};

use super::view::Skill;

/// What they are called among servers, and instead if a server is called so.
const NAMES: [&str; 2] = ["skills", "saved-skills"];

/// What functions say about themselves, together.
const DOC_CHARS_MAX: usize = 1_500;

/// The skills that can be imported, as they are searched.
#[derive(Debug, Default)]
pub struct SkillOffer {
    /// Differs whenever the skills do.
    version: String,
    tools: Vec<Arc<ToolDefinition>>,
    /// How each is used, by name.
    uses: HashMap<String, String>,
}

impl SkillOffer {
    pub(super) fn of<'a>(version: &str, skills: impl Iterator<Item = &'a Skill>) -> Self {
        let (mut tools, mut uses) = (Vec::new(), HashMap::new());
        for skill in skills {
            if let Ok(definition) = ToolDefinition::from_text(&definition(skill).to_string()) {
                uses.insert(skill.name.as_str().to_owned(), usage_line(skill.name.as_str(), &skill.facts()));
                tools.push(Arc::new(definition));
            }
        }
        Self { version: version.to_owned(), tools, uses }
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Whether there is nothing to be found.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The catalogue with the skills in it. For searching only: nothing of them can be called.
    pub(crate) fn beside(&self, catalogue: &Catalogue) -> Catalogue {
        let mut offers: Vec<ServerOffer> =
            catalogue.servers.iter().map(|server| server.offer.clone()).collect();
        offers.push(ServerOffer {
            name: self.name_beside(catalogue).to_owned(),
            description: Some("Saved code: import it in a program".to_owned()),
            tools: self.tools.clone(),
            ..ServerOffer::default()
        });
        Catalogue::new(offers)
    }

    /// Under which name they stand beside these servers.
    pub(crate) fn name_beside(&self, catalogue: &Catalogue) -> &'static str {
        let is_taken =
            |name: &str| catalogue.servers.iter().any(|server| fold(&server.offer.name) == fold(name));
        if is_taken(NAMES[0]) { NAMES[1] } else { NAMES[0] }
    }

    /// Whether a name is the one under which all of them stand among servers.
    pub fn is_shelf(name: &str) -> bool {
        NAMES.iter().any(|known| fold(known) == fold(name))
    }

    /// The skill that somebody means who takes it for a tool, `skills.name` or its name alone: its name,
    /// and how it is used.
    pub fn meant(&self, written: &str) -> Option<(&str, &str)> {
        let name = match written.split_once(['.', '/']) {
            Some((shelf, name)) if Self::is_shelf(shelf) => name,
            Some(_) => return None,
            None => written,
        };
        let folded = fold(name);
        let found = self.uses.iter().find(|(known, _)| fold(known) == folded)?;
        Some((found.0.as_str(), found.1.as_str()))
    }

    /// How a skill is used.
    pub(crate) fn use_of(&self, name: &str) -> Option<&str> {
        self.uses.get(name).map(String::as_str)
    }
}

/// As a server would define it.
fn definition(skill: &Skill) -> Value {
    let facts = skill.facts();
    let main = facts.main_function(skill.name.as_str());
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for parameter in main.map(|function| function.parameters.as_slice()).unwrap_or_default() {
        let name = parameter.trim_start_matches('*').split([':', '=']).next().unwrap_or_default().trim();
        if name.is_empty() {
            continue;
        }
        properties.insert(name.to_owned(), json!({}));
        if !parameter.starts_with('*') && !parameter.contains('=') {
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
