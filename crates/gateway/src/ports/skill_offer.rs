//! Skills as something to be searched: beside the tools of servers, as if they were one more server.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_domain::catalogue::{Catalogue, ServerOffer, ToolDefinition, fold};

/// What they are called among servers, and instead if a server is called so.
const NAMES: [&str; 2] = ["skills", "saved-skills"];

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
    /// Skills as tools, and by name how each is used.
    pub(crate) fn new(
        version: String,
        tools: Vec<Arc<ToolDefinition>>,
        uses: HashMap<String, String>,
    ) -> Self {
        Self { version, tools, uses }
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
            catalogue.all_servers().map(|server| server.offer.clone()).collect();
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
