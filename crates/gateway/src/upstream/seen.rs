//! What a caller is shown: the tools, resources and prompts that it may ever use. Searches, definitions, descriptions
//! and trees go by it.
//!
//! Walls: nothing is permitted or refused here. What isn't shown can still be named, and the door says why it may not
//! be called.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use gristmill_domain::Level;
use gristmill_domain::catalogue::{Catalogue, Lookup, Resolved, Server, Tool, ToolDefinition};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::tree_store::TreeLease;
use crate::ids::{Caller, TokenRef};

/// Callers that are remembered for each snapshot.
const CALLERS_MAX: usize = 256;

/// Something that a server offers, as the policy looks at it.
#[derive(Clone, Copy)]
pub(super) enum Offered<'a> {
    Tool(&'a ToolDefinition),
    /// By its server's own URI.
    Resource(&'a str),
    /// By its server's own template.
    ResourceTemplate(&'a str),
    /// By its server's own name.
    Prompt(&'a str),
}

/// What a caller is shown of a snapshot. Cheap to clone; the default shows everything.
#[derive(Clone, Default)]
pub struct Seen(Option<Arc<Hidden>>);

impl Seen {
    /// What a caller is shown of a catalogue, if this is denied to it whatever its arguments are.
    pub(super) fn of(
        caller: &Caller,
        catalogue: &Catalogue,
        is_denied: impl Fn(&Server, Offered<'_>) -> bool,
    ) -> Self {
        let mut hidden = Hidden::default();
        for server in &catalogue.servers {
            let name = &server.offer.name;
            let items = HiddenItems::of(server, |offered| is_denied(server, offered));
            if !caller.may_know_of(name) || items.are_all_of(server) {
                hidden.servers.insert(name.clone());
            }
            if items != HiddenItems::default() {
                hidden.items.insert(name.clone(), items);
            }
        }
        let out_of_use = catalogue.out_of_use.iter().map(|server| &server.offer.name);
        hidden.servers.extend(out_of_use.filter(|name| !caller.may_know_of(name)).cloned());
        let is_everything = hidden.items.is_empty() && hidden.servers.is_empty();
        Self((!is_everything).then(|| Arc::new(hidden)))
    }

    /// Whether the caller may ever call this tool.
    pub fn shows(&self, server: &Server, tool: &Tool) -> bool {
        let Some(hidden) = &self.0 else { return true };
        let name = server.offer.name.as_str();
        let is_denied = |items: &HiddenItems| items.tools.contains(&tool.definition.name);
        !hidden.servers.contains(name) && !hidden.items.get(name).is_some_and(is_denied)
    }

    /// The part of a catalogue that the caller is shown.
    pub(super) fn part_of(&self, catalogue: &Catalogue) -> Catalogue {
        let mut part =
            catalogue.shown(|server| self.shows_server(server), |server, tool| self.shows(server, tool));
        let Some(hidden) = &self.0 else { return part };
        for offer in part.servers.iter_mut().map(|server| &mut server.offer) {
            let Some(items) = hidden.items.get(&offer.name) else { continue };
            let (resources, templates) = (offer.resources.iter(), offer.resource_templates.iter());
            let prompts = offer.prompts.iter().filter(|prompt| !items.prompts.contains(&prompt.name));
            let (resources, templates, prompts) = (
                resources.filter(|resource| !items.resources.contains(&resource.uri)).cloned().collect(),
                templates.filter(|it| !items.templates.contains(&it.uri_template)).cloned().collect(),
                prompts.cloned().collect(),
            );
            (offer.resources, offer.resource_templates, offer.prompts) = (resources, templates, prompts);
        }
        part
    }

    /// Whether there is anything of this server that the caller may use, or nothing that it may not.
    pub fn shows_server(&self, server: &Server) -> bool {
        self.0.as_ref().is_none_or(|hidden| !hidden.servers.contains(&server.offer.name))
    }

    /// Takes the tools that aren't shown out of names that somebody is advised to use.
    pub fn keep_shown(&self, lookup: &Lookup, names: &mut Vec<String>) {
        if self.0.is_some() {
            names.retain(|name| match lookup.resolve(name) {
                Resolved::One(server, tool) => self.shows(server, tool),
                Resolved::Reserved(server, _) => self.shows_server(server),
                Resolved::Several(_) => true,
                // One of a server that wasn't there yet when this was made: nobody knows whether it is shown.
                Resolved::None(_) => false,
            });
        }
    }

    /// The same for names of which one was meant, unless none would be left: it is ambiguous all the same.
    pub fn keep_shown_candidates(&self, lookup: &Lookup, names: &mut Vec<String>) {
        let mut shown = names.clone();
        self.keep_shown(lookup, &mut shown);
        if !shown.is_empty() {
            *names = shown;
        }
    }

    pub(super) fn hidden(&self) -> Option<&Hidden> {
        self.0.as_deref()
    }

    /// The same, for a snapshot whose tree is another one.
    fn without_tree(&self) -> Self {
        let again = |hidden: &Arc<Hidden>| {
            let (items, servers) = (hidden.items.clone(), hidden.servers.clone());
            Arc::new(Hidden { items, servers, tree: OnceCell::new() })
        };
        Self(self.0.as_ref().map(again))
    }

    fn is_same_as(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => one.items == other.items && one.servers == other.servers,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// What a caller isn't shown, by the names of the configuration and of the servers.
#[derive(Default)]
pub(super) struct Hidden {
    items: BTreeMap<String, HiddenItems>,
    servers: BTreeSet<String>,
    /// The tree of the rest.
    pub tree: OnceCell<Option<Arc<TreeLease>>>,
}

/// The same of one server.
#[derive(Clone, Default, PartialEq, Eq)]
struct HiddenItems {
    tools: BTreeSet<String>,
    resources: BTreeSet<String>,
    templates: BTreeSet<String>,
    prompts: BTreeSet<String>,
}

impl Hidden {
    /// Everything that is missing, always in the same order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let items = self.items.iter().flat_map(|(server, items)| {
            let HiddenItems { tools, resources, templates, prompts } = items;
            let kinds = [tools, resources, templates, prompts].into_iter().flat_map(|names| {
                // No name is empty, so that none passes for another kind's or a server's.
                names.iter().map(String::as_str).chain(std::iter::once(""))
            });
            std::iter::once(server.as_str()).chain(kinds)
        });
        items.chain(self.servers.iter().map(String::as_str))
    }
}

impl HiddenItems {
    fn of(server: &Server, is_denied: impl Fn(Offered<'_>) -> bool) -> Self {
        let offer = &server.offer;
        let tools = server.tools.iter().map(|tool| &*tool.definition);
        let resources = offer.resources.iter().map(|resource| &resource.uri);
        let templates = offer.resource_templates.iter().map(|template| &template.uri_template);
        let prompts = offer.prompts.iter().map(|prompt| &prompt.name);
        Self {
            tools: tools
                .filter(|tool| is_denied(Offered::Tool(tool)))
                .map(|tool| tool.name.clone())
                .collect(),
            resources: resources.filter(|uri| is_denied(Offered::Resource(uri))).cloned().collect(),
            templates: templates.filter(|it| is_denied(Offered::ResourceTemplate(it))).cloned().collect(),
            prompts: prompts.filter(|name| is_denied(Offered::Prompt(name))).cloned().collect(),
        }
    }

    /// Whether a server has something, and nothing else.
    fn are_all_of(&self, server: &Server) -> bool {
        let offer = &server.offer;
        *self != Self::default()
            && server.tools.iter().all(|tool| self.tools.contains(&tool.definition.name))
            && offer.resources.iter().all(|resource| self.resources.contains(&resource.uri))
            && offer.resource_templates.iter().all(|it| self.templates.contains(&it.uri_template))
            && offer.prompts.iter().all(|prompt| self.prompts.contains(&prompt.name))
    }
}

/// All that rules go by to tell one caller from another.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Who {
    pub token: Option<TokenRef>,
    /// `None` if no rule names one.
    pub client: Option<String>,
    /// `None` if no rule names one.
    pub session: Option<String>,
    pub level: Level,
}

/// What callers are shown of one snapshot; those who are shown the same share it.
#[derive(Default)]
pub(super) struct SeenByCaller(Mutex<HashMap<Who, Seen>>);

impl SeenByCaller {
    pub fn of(&self, who: Who, make: impl FnOnce() -> Seen) -> Seen {
        let mut known = self.0.lock();
        if let Some(seen) = known.get(&who) {
            return seen.clone();
        }
        let made = make();
        let seen = known.values().find(|seen| seen.is_same_as(&made)).cloned().unwrap_or(made);
        if known.len() >= CALLERS_MAX {
            known.clear();
        }
        known.insert(who, seen.clone());
        seen
    }

    /// Everything that anybody is shown; what everybody is shown if nobody has asked yet.
    pub fn all(&self) -> Vec<Seen> {
        let known = self.0.lock();
        let mut all: Vec<Seen> = Vec::new();
        for seen in known.values() {
            if !all.iter().any(|other| other.is_same_as(seen)) {
                all.push(seen.clone());
            }
        }
        if all.is_empty() {
            all.push(Seen::default());
        }
        all
    }

    /// Takes over what an older snapshot of the same tools knew.
    pub fn take_over(&self, older: &Self) {
        let older = older.0.lock();
        let mut known = self.0.lock();
        for (who, seen) in &*older {
            let again = known.values().find(|other| other.is_same_as(seen)).cloned();
            known.insert(who.clone(), again.unwrap_or_else(|| seen.without_tree()));
        }
    }
}
