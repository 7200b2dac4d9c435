//! The index: everything that a search needs to know about a catalogue.
//!
//! Made once; afterwards a search only reads. The weight of a word within a tool is worked out
//! beforehand, so that a search adds numbers and nothing else.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use super::action::{Action, of_tool};
use super::postings::{Posting, Read, ToolId};
use super::terms::{TermId, Terms, synonym_table};
use super::tuning::{Method, Part, Tuning};
use super::words::{Stems, runs, words_of_run};
use crate::catalogue::{Catalogue, Server, Tool, fold};

/// Everything that a search needs to know about a catalogue.
#[derive(Debug)]
pub struct Index {
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) method: Method,
    pub(super) tuning: Tuning,
    /// Server and tool of each `ToolId`; in the catalogue's order.
    pub(super) places: Vec<(u32, u32)>,
    /// What each tool does, in the same order.
    pub(super) actions: Vec<Option<Action>>,
    pub(super) terms: Terms,
    /// Where a term's postings begin; one more than there are terms.
    starts: Vec<u32>,
    postings: Vec<Posting>,
    /// How rare each term is.
    rarity: Vec<f32>,
    /// Close and related synonyms of a term, with their weights.
    pub(super) synonyms: HashMap<TermId, Vec<(TermId, f32)>>,
    /// Servers by the words of their names that few have.
    pub(super) server_words: HashMap<TermId, Vec<u32>>,
    /// Tools by folded name.
    pub(super) names: HashMap<String, Vec<ToolId>>,
}

impl Index {
    /// Of all tools in the catalogue.
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        Self::with_method(catalogue, Method::Full)
    }

    /// The same, for comparing methods.
    pub fn with_method(catalogue: Arc<Catalogue>, method: Method) -> Self {
        let tuning = method.tuning();
        let mut terms = Terms::default();
        let stems = Stems::new();
        let mut synonyms = HashMap::new();
        if method.has(Part::Phrases) {
            terms.add_phrases(&stems);
        }
        if method != Method::Plain {
            synonyms = synonym_table(&mut terms, &stems, &tuning);
        }
        let all: Vec<(&Server, &Tool)> = tools(&catalogue).collect();
        let read = Read::all(&all, &mut terms, &stems);
        let names = folded_names(&catalogue);
        let (starts, postings) = read.weigh(terms.texts.len(), &tuning);
        let count = read.tools() as f32;
        let rarity = starts.windows(2).map(|range| rarity(count, (range[1] - range[0]) as f32)).collect();
        let server_words = server_words(&catalogue, &mut terms, &stems);
        terms.forget_words();
        let places = (0..)
            .zip(&catalogue.servers)
            .flat_map(|(s, server): (u32, _)| (0..).zip(&server.tools).map(move |(t, _): (u32, _)| (s, t)));
        let places = places.collect();
        let actions = tools(&catalogue).map(|(server, tool)| of_tool(server, tool)).collect();
        Self {
            places,
            actions,
            method,
            tuning,
            terms,
            starts,
            postings,
            rarity,
            synonyms,
            server_words,
            names,
            catalogue,
        }
    }

    /// The catalogue that is searched.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Tools that have the term, with its weight there.
    pub(super) fn postings(&self, term: TermId) -> &[Posting] {
        let term = term as usize;
        match (self.starts.get(term), self.starts.get(term + 1)) {
            (Some(start), Some(end)) => &self.postings[*start as usize..*end as usize],
            (Some(_), None) | (None, _) => &[],
        }
    }

    /// How much it says that a tool has the term.
    pub(super) fn rarity(&self, term: TermId) -> f32 {
        self.rarity.get(term as usize).copied().unwrap_or_default()
    }

    pub(super) fn tool(&self, id: ToolId) -> (&Server, &Tool) {
        let (s, t) = self.places[id as usize];
        let server = &self.catalogue.servers[s as usize];
        (server, &server.tools[t as usize])
    }
}

fn tools(catalogue: &Catalogue) -> impl Iterator<Item = (&Server, &Tool)> {
    catalogue.servers.iter().flat_map(|server| server.tools.iter().map(move |tool| (server, tool)))
}

fn folded_names(catalogue: &Catalogue) -> HashMap<String, Vec<ToolId>> {
    let mut names: HashMap<String, Vec<ToolId>> = HashMap::with_capacity(catalogue.tool_count());
    for (id, (_, tool)) in (0..).zip(tools(catalogue)) {
        let name = &tool.definition.name;
        let others = [&tool.stem, &tool.identifier].into_iter().filter(|other| *other != name);
        for name in others.chain([name]) {
            let ids = names.entry(fold(name)).or_default();
            if ids.last() != Some(&id) {
                ids.push(id);
            }
        }
    }
    names
}

/// More servers than this with the same word in their names: it tells none apart.
const SERVERS_OF_WORD_MAX: usize = 4;

fn server_words(catalogue: &Catalogue, terms: &mut Terms, stems: &Stems) -> HashMap<TermId, Vec<u32>> {
    let mut found: HashMap<TermId, Vec<u32>> = HashMap::new();
    for (number, server) in (0..).zip(&catalogue.servers) {
        for run in runs(&server.offer.name) {
            words_of_run(run, |word| {
                let servers = found.entry(terms.id_of_word(word, stems)).or_default();
                if servers.last() != Some(&number) {
                    servers.push(number);
                }
            });
        }
    }
    found.retain(|_, servers| servers.len() <= SERVERS_OF_WORD_MAX);
    found
}

fn rarity(tools: f32, with_term: f32) -> f32 {
    if with_term == 0.0 { 0.0 } else { (1.0 + (tools - with_term + 0.5) / (with_term + 0.5)).ln() }
}
