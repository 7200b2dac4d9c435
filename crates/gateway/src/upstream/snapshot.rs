//! The tools of all servers at one moment: never changes, shared by everyone who began with it.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gristmill_domain::catalogue::{
    Catalogue, Lookup, Reserved, Resolved, Server as CatalogueServer, ServerOffer, Tool, ToolDefinition,
    ToolHash, waiting_words,
};
use gristmill_domain::search::{Answer, Detail, Index, Query, SearchError, render};
use gristmill_domain::stubs;
use gristmill_domain::tree::{self, States};
use gristmill_domain::validate::ArgumentCheck;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::meaning::{Meanings, Searchable};
use super::seen::{Seen, SeenByCaller};
use super::server::Server;
use super::tree_store::{TreeLease, TreeStore};
use crate::ids::Owner;
use crate::learned::LearnedTypes;
use crate::ports::{DefinitionTokens, SkillOffer, ToolSearch};
use crate::tokens::{self, Tokens};

/// What a search may take of a model's attention, if nothing else is said.
const SEARCH_TOKENS: usize = 2000;

/// So many tools come with what they return, within so many characters: about 60 tokens.
const WITH_RESULT: usize = 3;
const RESULT_CHARS_MAX: usize = 220;

/// An index with skills in it, and the version of these.
type SkillsIndex = (String, Arc<Searchable>);

/// A catalogue, an index to search it, and the tree that programs browse; each is made when it is first
/// needed.
pub struct Snapshot {
    lookup: Lookup,
    states: States,
    version: String,
    /// Of what is offered, whatever the states of the servers.
    offers: String,
    /// Names that no other tool gets, with their servers.
    reserved: Vec<(String, String, Reserved)>,
    meanings: Option<Arc<Meanings>>,
    /// What is the same whatever was learned is shared with snapshots that differ in nothing else.
    searchable: Arc<OnceLock<Arc<Searchable>>>,
    /// The same with skills in it, for their latest version.
    with_skills: Arc<Mutex<Option<SkillsIndex>>>,
    checks: Arc<Mutex<HashMap<ToolHash, Arc<ArgumentCheck>>>>,
    /// Tokens of definitions that somebody asked for.
    definition_tokens: Arc<Mutex<HashMap<ToolHash, (usize, bool)>>>,
    trees: Option<Arc<TreeStore>>,
    /// That of callers who are shown everything.
    tree: OnceCell<Option<Arc<TreeLease>>>,
    tree_problem: OnceLock<String>,
    pub(super) seen: SeenByCaller,
}

/// A search that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SearchFailure {
    /// A filter fits nothing.
    #[error(transparent)]
    Filter(#[from] SearchError),
    /// No such level of detail.
    #[error("unknown detail `{0}`; use names, summary or full")]
    Detail(String),
}

impl Snapshot {
    /// Of these servers, beside others that are there for their names alone.
    pub(super) fn of(
        servers: &[Arc<Server>],
        out_of_use: &[ServerOffer],
        trees: Arc<TreeStore>,
        meanings: Option<Arc<Meanings>>,
    ) -> Self {
        let offers = servers.iter().map(|server| server.offer()).chain(out_of_use.iter().cloned()).collect();
        let states = servers.iter().filter_map(|server| Some((server.name().to_owned(), state_of(server)?)));
        Self { meanings, ..Self::new(Catalogue::new(offers), states.collect(), Some(trees)) }
    }

    fn new(catalogue: Catalogue, states: States, trees: Option<Arc<TreeStore>>) -> Self {
        let offers = tree::offers_version(&catalogue);
        Self {
            version: tree::version_with(&offers, &states),
            offers,
            reserved: reserved_in(&catalogue),
            lookup: Lookup::new(Arc::new(catalogue)),
            states,
            meanings: None,
            searchable: Arc::default(),
            with_skills: Arc::default(),
            checks: Arc::default(),
            definition_tokens: Arc::default(),
            trees,
            tree: OnceCell::new(),
            tree_problem: OnceLock::new(),
            seen: SeenByCaller::default(),
        }
    }

    /// The same with what was learned of its tools; `None` if that is nothing.
    pub(super) fn with_learned(&self, types: &LearnedTypes) -> Option<Self> {
        let catalogue = self.catalogue().with_learned(|server, tool| types.of(&server.offer.name, tool));
        let mut tools = catalogue.servers.iter().flat_map(|server| &server.tools);
        if !tools.any(|tool| tool.learned.is_some()) {
            return None;
        }
        Some(Self {
            lookup: Lookup::new(Arc::new(catalogue)),
            states: self.states.clone(),
            version: tree::version_with_learned(&self.version, types.version()),
            offers: self.offers.clone(),
            reserved: self.reserved.clone(),
            meanings: self.meanings.clone(),
            searchable: Arc::clone(&self.searchable),
            with_skills: Arc::clone(&self.with_skills),
            checks: Arc::clone(&self.checks),
            definition_tokens: Arc::clone(&self.definition_tokens),
            trees: self.trees.clone(),
            tree: OnceCell::new(),
            tree_problem: OnceLock::new(),
            seen: SeenByCaller::default(),
        })
    }

    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.version == other.version && self.reserved == other.reserved && other.trees.is_some()
    }

    /// Whether both have the same tools, resources and prompts.
    pub(super) fn offers_the_same_as(&self, other: &Self) -> bool {
        self.offers == other.offers
    }

    /// Every tool with its names.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        self.lookup.catalogue()
    }

    /// Finds tools by name.
    pub fn lookup(&self) -> &Lookup {
        &self.lookup
    }

    /// Looks for tools, and for skills beside them: by words and, as soon as that can be done, by meaning.
    pub async fn search(
        &self,
        owner: &Owner,
        search: &ToolSearch,
        skills: &SkillOffer,
    ) -> Result<Answer, SearchFailure> {
        self.search_seen(owner, search, skills, &Seen::default()).await
    }

    /// The same for a caller who isn't shown everything; skills are.
    pub async fn search_seen(
        &self,
        owner: &Owner,
        search: &ToolSearch,
        skills: &SkillOffer,
        seen: &Seen,
    ) -> Result<Answer, SearchFailure> {
        let detail = match search.detail.as_deref() {
            None | Some("summary") => Detail::Summary,
            Some("names") => Detail::Names,
            Some("full") => Detail::Full,
            Some(other) => return Err(SearchFailure::Detail(other.chars().take(40).collect())),
        };
        let query = Query {
            text: search.query.clone(),
            servers: search.server.iter().cloned().collect(),
            category: search.category.clone(),
            detail,
            limit: search.limit.unwrap_or(gristmill_domain::search::LIMIT_DEFAULT),
            offset: search.offset.unwrap_or(0),
        };
        let shelf = skills.name_beside(self.catalogue());
        let searchable = self.searchable_with(skills);
        let nearness = match &self.meanings {
            Some(meanings) if !query.text.trim().is_empty() => {
                meanings.nearness(&searchable, owner, &query.text).await
            }
            Some(_) | None => None,
        };
        let place = Cell::new(0);
        let signature = |server: &CatalogueServer, tool: &Tool| {
            let result_chars = if place.get() < WITH_RESULT { RESULT_CHARS_MAX } else { 0 };
            place.set(place.get() + 1);
            let usage = skills.use_of(&tool.definition.name).filter(|_| server.offer.name == shelf);
            // The index may be older than what was learned.
            let learned = self.catalogue().tool(&server.offer.name, &tool.definition.name);
            let tool = learned.map_or(tool, |(_, tool)| tool);
            usage.map_or_else(|| stubs::found(server, tool, result_chars), str::to_owned)
        };
        let is_seen =
            |server: &CatalogueServer, tool: &Tool| server.offer.name == shelf || seen.shows(server, tool);
        let mut answer = searchable.index.search_seen(&query, nearness.as_ref(), &is_seen, &signature)?;
        answer.servers.iter_mut().for_each(|line| line.are_skills = line.server == shelf);
        Ok(answer)
    }

    /// Begins to make what a search by meaning needs, if it isn't there.
    pub(super) fn make_meanings(&self) {
        if let Some(meanings) = &self.meanings {
            meanings.make_missing(&self.searchable_with(&SkillOffer::default()));
        }
    }

    /// Waits until tools are found by their meaning; `false` if they won't be.
    pub async fn has_meanings(&self) -> bool {
        match &self.meanings {
            Some(meanings) => meanings.ready(&self.searchable_with(&SkillOffer::default())).await,
            None => false,
        }
    }

    /// One index over both: what is found is ranked together.
    fn searchable_with(&self, skills: &SkillOffer) -> Arc<Searchable> {
        let searchable = |catalogue| Arc::new(Searchable::new(Index::new(catalogue)));
        if skills.is_empty() {
            return Arc::clone(self.searchable.get_or_init(|| searchable(Arc::clone(self.catalogue()))));
        }
        let mut kept = self.with_skills.lock();
        match &*kept {
            Some((version, both)) if version == skills.version() => Arc::clone(both),
            Some(_) | None => {
                let both = searchable(Arc::new(skills.beside(self.catalogue())));
                *kept = Some((skills.version().to_owned(), Arc::clone(&both)));
                both
            }
        }
    }

    /// An answer as a model reads it.
    pub fn rendered(&self, answer: &Answer) -> String {
        render(answer, SEARCH_TOKENS, &Tokens)
    }

    /// Checks the arguments of a tool. Made at its first call.
    pub(super) fn check_of(&self, full_name: &str, tool: &ToolDefinition) -> Arc<ArgumentCheck> {
        let mut checks = self.checks.lock();
        let made = checks.entry(tool.hash);
        Arc::clone(made.or_insert_with(|| Arc::new(ArgumentCheck::new(full_name, &tool.input_schema))))
    }

    /// What the definition of the tool comes to that this name means. Counted when it is first asked for.
    pub(super) fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
        let Resolved::One(server, tool) = self.lookup.resolve(name) else { return None };
        let definition = &tool.definition;
        let mut counted = self.definition_tokens.lock();
        let (tokens, estimated) = *counted.entry(definition.hash).or_insert_with(|| {
            let description = definition.description.as_deref();
            tokens::count_definition(&definition.name, description, &definition.input_schema)
        });
        Some(DefinitionTokens { tool: format!("{}.{}", server.folder, tool.stem), tokens, estimated })
    }

    /// Why the tree could not be written, if it could not.
    pub(super) fn tree_problem(&self) -> Option<String> {
        self.tree_problem.get().cloned()
    }

    /// The tree that programs browse, written if it is not there. `None` if it cannot be written.
    pub(super) async fn tree(self: &Arc<Self>, seen: &Seen) -> Option<Arc<TreeLease>> {
        let kept = seen.hidden().map_or(&self.tree, |hidden| &hidden.tree);
        let lease = kept.get_or_init(|| async {
            let (snapshot, trees, seen) = (Arc::clone(self), self.trees.clone()?, seen.clone());
            let written = tokio::task::spawn_blocking(move || {
                let (catalogue, states) = (snapshot.catalogue(), &snapshot.states);
                let Some(hidden) = seen.hidden() else {
                    return trees.lease(&snapshot.version, || tree::files(catalogue, states));
                };
                let version = tree::part_version(&snapshot.version, hidden.names());
                trees.lease(&version, || tree::part(&seen.part_of(catalogue), states))
            });
            let outcome = written.await.map_err(|error| error.to_string());
            match outcome.and_then(|written| written.map_err(|error| error.to_string())) {
                Ok(lease) => Some(Arc::new(lease)),
                Err(error) => {
                    let _ = self.tree_problem.set(error);
                    None
                }
            }
        });
        lease.await.clone()
    }
}

/// What programs are told of a server beside its tools.
fn state_of(server: &Server) -> Option<String> {
    if !server.is_known() {
        return Some(match server.last_failure() {
            Some(failure) => format!("down: {failure}"),
            None => "down: it's starting for the first time and hasn't answered yet".to_owned(),
        });
    }
    if let Some(problem) = server.pins_problem() {
        return Some(format!("held back: {problem}"));
    }
    let words = waiting_words(&server.waiting());
    let command = format!("gristmill tools review {}", server.name());
    (!words.is_empty()).then(|| format!("held back until the user approves with `{command}`: {words}"))
}

fn reserved_in(catalogue: &Catalogue) -> Vec<(String, String, Reserved)> {
    let of_server = |server: &CatalogueServer| {
        let names = server.reserved.iter();
        names
            .map(|reserved| (server.offer.name.clone(), reserved.name.clone(), reserved.why))
            .collect::<Vec<_>>()
    };
    catalogue.all_servers().flat_map(of_server).collect()
}

impl Default for Snapshot {
    fn default() -> Self {
        Self::new(Catalogue::default(), States::new(), None)
    }
}
