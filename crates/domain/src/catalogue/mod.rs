//! The catalogue: every tool of every connected server, with the names that programs use for it.
//!
//! A server's own words are data from outside: definitions are parsed once, here, and kept beside
//! their raw text, which is what is hashed, pinned and compared.

mod definition;
mod definition_diff;
mod lookup;
mod names;
mod resources;
mod review;

pub(crate) use definition::first_sentence;
pub use definition::{DefinitionError, ToolDefinition, ToolHash, canonical_json};
pub use definition_diff::{Change, diff};
pub use lookup::{Lookup, Resolved};
pub use names::{fold, identifier, import_name, parameter_identifier};
pub use resources::{About, Prompt, PromptArgument, Resource, ResourceTemplate};
pub use review::{
    Approval, Approve, NotOffered, PINS_FORMAT, Pin, Pins, Review, ServerPins, Waiting, WaitingKind, approve,
    review,
};

use std::sync::Arc;

/// What one server offers, as it was last heard.
#[derive(Clone, Debug, Default)]
pub struct ServerOffer {
    /// The name in the configuration, such as `google-drive`.
    pub name: String,
    /// What the server calls itself.
    pub title: Option<String>,
    /// Its version, in its own words.
    pub version: Option<String>,
    /// What it says about itself, or what the configuration says about it.
    pub description: Option<String>,
    /// What kind of server it is, such as `code` or `chat`, if the configuration says.
    pub category: Option<String>,
    /// Its tools, in its own order.
    pub tools: Vec<Arc<ToolDefinition>>,
    /// What it lets others read, in its own order.
    pub resources: Arc<[Resource]>,
    /// The same, with something to be filled in.
    pub resource_templates: Arc<[ResourceTemplate]>,
    /// Its prompts, in its own order.
    pub prompts: Arc<[Prompt]>,
}

/// All servers with their tools, under names that programs can write. Never changes: a new offer
/// makes a new catalogue.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pub servers: Vec<Server>,
}

/// One server in a catalogue.
#[derive(Clone, Debug)]
pub struct Server {
    /// What it offers. The tools in it are those of `tools`.
    pub offer: ServerOffer,
    /// Its folder in the tree: the configured name where that can be one.
    pub folder: String,
    /// Its name in programs of either language.
    pub identifier: String,
    /// Its tools, by name.
    pub tools: Vec<Tool>,
}

/// One tool in a catalogue.
#[derive(Clone, Debug)]
pub struct Tool {
    /// What the server says about it.
    pub definition: Arc<ToolDefinition>,
    /// The name of its files in the tree, without the extension.
    pub stem: String,
    /// Its name in programs of either language.
    pub identifier: String,
}

impl Catalogue {
    /// Gives every server and every tool its names. The same offers always get the same names, in
    /// whatever order they come.
    pub fn new(mut offers: Vec<ServerOffer>) -> Self {
        offers.sort_by(|a, b| a.name.cmp(&b.name));
        offers.dedup_by(|a, b| a.name == b.name);
        let assigned = names::assign(offers.iter().map(|offer| offer.name.as_str()));
        let servers = offers.into_iter().zip(assigned).map(|(mut offer, names)| {
            offer.tools.sort_by(|a, b| a.name.cmp(&b.name));
            offer.tools.dedup_by(|a, b| a.name == b.name);
            let assigned = names::assign(offer.tools.iter().map(|tool| tool.name.as_str()));
            let tools = offer.tools.iter().zip(assigned).map(|(definition, names)| Tool {
                definition: Arc::clone(definition),
                stem: names.stem,
                identifier: names.identifier,
            });
            let tools = tools.collect();
            Server { offer, folder: names.stem, identifier: names.identifier, tools }
        });
        Self { servers: servers.collect() }
    }

    /// How many tools there are.
    pub fn tool_count(&self) -> usize {
        self.servers.iter().map(|server| server.tools.len()).sum()
    }
}
