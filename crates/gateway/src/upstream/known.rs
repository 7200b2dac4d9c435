//! What is known of one server: what it said about itself and offers, and what may be used of it.

use std::sync::Arc;

use gristmill_domain::ToolRules;
use gristmill_domain::catalogue::{
    ItemKind, Offer, Prompt, Reserved, ReservedTool, Resource, ResourceTemplate, SelfDescription,
    ToolDefinition, Waiting, WaitingKind,
};
use gristmill_domain::resource_uri::may_fill_in;

use super::connection::{ServerFacts, UpstreamFailure};
use super::pin_file::PinError;
use super::raw_offer::RawOffer;

/// Twenty times the largest among 1,700 real ones.
const DEFINITION_BYTES_MAX: usize = 512 * 1024;

#[derive(Default)]
pub(super) struct Known {
    pub facts: Option<ServerFacts>,
    pub raw: RawOffer,
    pub offered: Offer,
    /// Definitions of tools that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// As much of the offer as was approved.
    pub usable: Offer,
    pub waiting: Vec<Waiting>,
    pub pins: Option<PinError>,
    /// Names of tools that were approved before anything was heard of the server.
    pub pinned_tools: Vec<String>,
    /// Tools that the configuration leaves out, for their names.
    pub left_out: Vec<ReservedTool>,
    pub failure: Option<UpstreamFailure>,
}

impl Known {
    /// What the rules leave out is as good as not offered: it is not reviewed, shown or called. Its name stays
    /// its own.
    pub(super) fn take(&mut self, facts: ServerFacts, raw: RawOffer, rules: &ToolRules) {
        self.unreadable.clear();
        self.left_out.clear();
        let mut tools = Vec::with_capacity(raw.tools.len());
        for text in &raw.tools {
            if text.len() > DEFINITION_BYTES_MAX {
                let bytes = text.len();
                let problem =
                    format!("a tool's definition has {bytes} bytes; {DEFINITION_BYTES_MAX} are taken");
                self.unreadable.push(problem);
                continue;
            }
            match ToolDefinition::from_text(text) {
                Ok(definition) if !rules.permit(&definition.name) => {
                    let is_excluded = rules.exclude(&definition.name);
                    let why = if is_excluded { Reserved::Excluded } else { Reserved::NotIncluded };
                    self.left_out.push(ReservedTool { name: definition.name, why });
                }
                Ok(definition) => tools.push(Arc::new(definition)),
                Err(error) => self.unreadable.push(error.to_string()),
            }
        }
        let about = SelfDescription { title: facts.title.clone(), instructions: facts.instructions.clone() };
        self.offered = Offer {
            about: Some(about),
            tools: Some(tools),
            prompts: read(raw.prompts.as_deref(), Prompt::from_text),
            resources: read(raw.resources.as_deref(), Resource::from_text),
            resource_templates: read(raw.resource_templates.as_deref(), ResourceTemplate::from_text),
        };
        self.facts = Some(facts);
        self.raw = raw;
    }

    /// Whether and why an item waits for its user.
    pub(super) fn waits(&self, of: ItemKind, name: &str) -> Option<WaitingKind> {
        let waiting = self.waiting.iter().find(|waiting| waiting.of == of && waiting.name == name);
        waiting.map(|waiting| waiting.kind.clone())
    }

    /// The resource or template that waits for its user, if a URI is of one. What the server lists nowhere
    /// is its own to judge: nothing is read of it but what was asked for.
    pub(super) fn held_back_of(&self, uri: &str) -> Option<(ItemKind, &str)> {
        if self.usable.resources().iter().any(|resource| resource.uri == uri) {
            return None;
        }
        if let Some(resource) = self.named(ItemKind::Resource, |name| name == uri) {
            return Some(resource);
        }
        let templates = self.usable.resource_templates();
        if templates.iter().any(|template| may_fill_in(&template.uri_template, uri)) {
            return None;
        }
        self.named(ItemKind::ResourceTemplate, |template| may_fill_in(template, uri))
    }

    fn named(&self, of: ItemKind, is_meant: impl Fn(&str) -> bool) -> Option<(ItemKind, &str)> {
        let found = self.waiting.iter().find(|waiting| waiting.of == of && is_meant(&waiting.name));
        found.map(|waiting| (of, waiting.name.as_str()))
    }

    /// Tools that cannot be called now, and whose names no other server gets.
    pub(super) fn reserved(&self) -> Vec<ReservedTool> {
        let mut reserved = self.not_usable();
        reserved.extend(self.left_out.iter().cloned());
        reserved
    }

    fn not_usable(&self) -> Vec<ReservedTool> {
        let reserved = |name: &str, why| ReservedTool { name: name.to_owned(), why };
        if self.facts.is_none() {
            return self.pinned_tools.iter().map(|name| reserved(name, Reserved::NotReached)).collect();
        }
        if self.pins.is_some() {
            let offered: &[Arc<ToolDefinition>] = self.offered.tools();
            return offered.iter().map(|tool| reserved(&tool.name, Reserved::HeldBack)).collect();
        }
        let tools = self.waiting.iter().filter(|waiting| waiting.of == ItemKind::Tool);
        let why = |waiting: &Waiting| match waiting.kind {
            WaitingKind::Added => Reserved::New,
            WaitingKind::Changed { .. } => Reserved::HeldBack,
        };
        tools.map(|waiting| reserved(&waiting.name, why(waiting))).collect()
    }
}

/// A list as far as it can be read; none if it was never heard.
fn read<T>(texts: Option<&[String]>, from_text: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    texts.map(|texts| texts.iter().filter_map(|text| from_text(text)).collect())
}
