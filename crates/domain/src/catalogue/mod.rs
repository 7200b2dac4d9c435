//! The catalogue: every tool of every connected server, with the names that programs use for it.
//!
//! A server's own words are data from outside: definitions are parsed once, here, and kept beside
//! their raw text, which is what is hashed, pinned and compared.

mod approve;
mod definition;
mod definition_diff;
mod lookup;
mod names;
mod offer;
mod pins;
mod resources;
mod review;

pub use approve::{Approve, ChooseError, approve, chosen};
pub(crate) use definition::first_sentence;
pub use definition::{DefinitionError, ToolDefinition, ToolHash, canonical_json};
pub use definition_diff::{Change, diff};
pub use lookup::{Lookup, Resolved};
pub use names::{fold, folds_alike, identifier, import_name, other_identifier, parameter_identifier};
pub use offer::{ItemKind, Offer, SelfDescription, plain_version};
pub use pins::{Approval, PINS_FORMAT, Pin, Pins, PinsTextError, ServerPins};
pub use resources::{About, Prompt, PromptArgument, Resource, ResourceTemplate};
pub use review::{Review, Waiting, WaitingKind, review, waiting_words};

use std::sync::Arc;

use crate::learned::Learned;

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
    /// Tools that nobody can call now, and that keep their names all the same.
    pub reserved: Vec<ReservedTool>,
    /// Whether it is configured and connected. If not, it is there for its names alone: no other server
    /// gets them.
    pub is_out_of_use: bool,
}

/// A tool that is only a name: a program that writes this name means no other tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedTool {
    /// Its own name.
    pub name: String,
    pub why: Reserved,
}

/// Why a tool is only a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// It was approved, and waits for a person since it changed.
    HeldBack,
    /// It was never approved. Nobody approved its name either: it is said of it that it waits, but it
    /// takes no name from a tool that somebody approved.
    New,
    /// Its server was not reached yet.
    NotReached,
    /// Its server is not connected, because it is disabled or its file is not approved.
    OutOfUse,
    /// The configuration excludes it by name or pattern.
    Excluded,
    /// The configuration names others. Which of them the server calls how is its own doing: it takes no
    /// name from a tool that somebody approved.
    NotIncluded,
}

impl Reserved {
    /// Whether it gives way to a tool of the same name that somebody approved.
    pub fn gives_way(self) -> bool {
        match self {
            Reserved::New | Reserved::NotIncluded => true,
            Reserved::HeldBack | Reserved::NotReached | Reserved::OutOfUse | Reserved::Excluded => false,
        }
    }
}

/// All servers with their tools, under names that programs can write. Never changes: a new offer
/// makes a new catalogue.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pub servers: Vec<Server>,
    /// Servers that are not connected. They have names, and nothing that could be called.
    pub out_of_use: Vec<Server>,
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
    /// Its tools that are only names.
    pub reserved: Vec<ReservedName>,
}

/// A tool that is only a name, with every spelling of it.
#[derive(Clone, Debug)]
pub struct ReservedName {
    /// Its own name.
    pub name: String,
    /// What its files would be called.
    pub stem: String,
    /// Its name in programs of either language.
    pub identifier: String,
    pub why: Reserved,
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
    /// What its answers were like, if its server doesn't say.
    pub learned: Option<Arc<Learned>>,
}

impl Catalogue {
    /// Gives every server and every tool its names. The same offers always get the same names, in
    /// whatever order they come; what is reserved counts as if it were there, so that no name passes to
    /// something else when a tool is held back or a server is disabled.
    pub fn new(mut offers: Vec<ServerOffer>) -> Self {
        // One that is connected comes before another of the same name that is not.
        offers.sort_by(|a, b| (&a.name, a.is_out_of_use).cmp(&(&b.name, b.is_out_of_use)));
        offers.dedup_by(|a, b| a.name == b.name);
        let assigned = names::assign(offers.iter().map(|offer| offer.name.as_str()));
        let named = offers.into_iter().zip(assigned).map(|(offer, names)| Server::named(offer, names));
        let (out_of_use, servers) = named.partition(|server| server.offer.is_out_of_use);
        Self { servers, out_of_use }
    }

    /// The same with what was learned of tools whose servers don't declare what they answer. Names and places stay
    /// as they are.
    pub fn with_learned(&self, learned: impl Fn(&Server, &ToolDefinition) -> Option<Arc<Learned>>) -> Self {
        let mut made = self.clone();
        for server in &mut made.servers {
            let mut tools = std::mem::take(&mut server.tools);
            for tool in tools.iter_mut().filter(|tool| tool.definition.output_schema.is_none()) {
                tool.learned = learned(server, &tool.definition);
            }
            server.tools = tools;
        }
        made
    }

    /// The same without what somebody isn't shown. Names and places stay as they are.
    pub fn shown(
        &self,
        shows_server: impl Fn(&Server) -> bool,
        shows: impl Fn(&Server, &Tool) -> bool,
    ) -> Self {
        let part = |server: &Server| {
            let tools = server.tools.iter().filter(|tool| shows(server, tool)).cloned().collect();
            let mut part = Server { tools, ..server.clone() };
            let is_kept = |name: &str| part.tools.iter().any(|tool| tool.definition.name == name);
            part.offer.tools.retain(|tool| is_kept(&tool.name));
            part
        };
        let shown = |servers: &[Server]| servers.iter().filter(|it| shows_server(it)).map(part).collect();
        Self { servers: shown(&self.servers), out_of_use: shown(&self.out_of_use) }
    }

    /// The tool of a server, by the names that the configuration and the server give them.
    pub fn tool(&self, server: &str, name: &str) -> Option<(&Server, &Tool)> {
        let found = self.servers.binary_search_by(|known| known.offer.name.as_str().cmp(server)).ok()?;
        let tools = &self.servers[found].tools;
        let place = tools.binary_search_by(|tool| tool.definition.name.as_str().cmp(name)).ok()?;
        Some((&self.servers[found], &tools[place]))
    }

    /// Every server, those that are there for their names alone last.
    pub fn all_servers(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().chain(&self.out_of_use)
    }

    /// How many tools there are.
    pub fn tool_count(&self) -> usize {
        self.servers.iter().map(|server| server.tools.len()).sum()
    }
}

impl Server {
    fn named(mut offer: ServerOffer, own: names::Assigned) -> Self {
        if offer.is_out_of_use {
            offer.tools.clear();
        }
        offer.tools.sort_by(|a, b| a.name.cmp(&b.name));
        offer.tools.dedup_by(|a, b| a.name == b.name);
        let tools = &offer.tools;
        let is_tool = |name: &str| tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).is_ok();
        offer.reserved.retain(|reserved| !is_tool(&reserved.name));
        offer.reserved.sort_by(|a, b| a.name.cmp(&b.name));
        offer.reserved.dedup_by(|a, b| a.name == b.name);
        let firm = offer.reserved.iter().filter(|reserved| reserved.why != Reserved::New);
        let mut all: Vec<&str> = firm.map(|reserved| reserved.name.as_str()).collect();
        all.extend(offer.tools.iter().map(|tool| tool.name.as_str()));
        all.sort_unstable();
        let assigned = names::assign(all.iter().copied());
        let names_of = |name: &str| match all.binary_search(&name) {
            Ok(place) => assigned[place].clone(),
            Err(_) => names::Assigned { stem: identifier(name), identifier: identifier(name) },
        };
        let tools = offer.tools.iter().map(|definition| {
            let names = names_of(&definition.name);
            let definition = Arc::clone(definition);
            Tool { definition, stem: names.stem, identifier: names.identifier, learned: None }
        });
        let reserved = offer.reserved.iter().map(|reserved| {
            let names = names_of(&reserved.name);
            let (name, why) = (reserved.name.clone(), reserved.why);
            ReservedName { name, stem: names.stem, identifier: names.identifier, why }
        });
        let (tools, reserved) = (tools.collect(), reserved.collect());
        Self { offer, folder: own.stem, identifier: own.identifier, tools, reserved }
    }
}
