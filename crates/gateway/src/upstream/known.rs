//! What is known of one server: what it said about itself and offers, and what may be used of it.

use std::sync::Arc;

use gristmill_domain::ToolRules;
use gristmill_domain::catalogue::{Prompt, Resource, ResourceTemplate, ToolDefinition, Waiting};

use super::connection::{ServerFacts, UpstreamFailure};
use super::pin_file::PinError;
use super::raw_offer::RawOffer;

/// Twenty times the largest among 1,700 real ones.
const DEFINITION_BYTES_MAX: usize = 512 * 1024;

#[derive(Default)]
pub(super) struct Known {
    pub facts: Option<ServerFacts>,
    pub raw: RawOffer,
    pub offered: Vec<Arc<ToolDefinition>>,
    /// Definitions of tools that could not be read, with the reason.
    pub unreadable: Vec<String>,
    pub usable: Vec<Arc<ToolDefinition>>,
    pub waiting: Vec<Waiting>,
    pub pins: Option<PinError>,
    pub failure: Option<UpstreamFailure>,
    pub resources: Arc<[Resource]>,
    pub resource_templates: Arc<[ResourceTemplate]>,
    pub prompts: Arc<[Prompt]>,
}

impl Known {
    /// What the rules leave out is as good as not offered: it is not reviewed, shown or called.
    pub(super) fn take(&mut self, facts: ServerFacts, raw: RawOffer, rules: &ToolRules) {
        self.facts = Some(facts);
        self.offered.clear();
        self.unreadable.clear();
        for text in &raw.tools {
            if text.len() > DEFINITION_BYTES_MAX {
                let bytes = text.len();
                let problem =
                    format!("a tool's definition has {bytes} bytes; {DEFINITION_BYTES_MAX} are taken");
                self.unreadable.push(problem);
                continue;
            }
            match ToolDefinition::from_text(text) {
                Ok(definition) if !rules.permit(&definition.name) => {}
                Ok(definition) => self.offered.push(Arc::new(definition)),
                Err(error) => self.unreadable.push(error.to_string()),
            }
        }
        self.resources = raw.resources.iter().filter_map(|text| Resource::from_text(text)).collect();
        let templates = raw.resource_templates.iter().filter_map(|text| ResourceTemplate::from_text(text));
        self.resource_templates = templates.collect();
        self.prompts = raw.prompts.iter().filter_map(|text| Prompt::from_text(text)).collect();
        self.raw = raw;
    }
}
