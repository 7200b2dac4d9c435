//! The index: which word is found in which tool, and how much it says there.
//!
//! Made once; afterwards a search only reads. The weight of a word within a tool is worked out here
//! (BM25 over weighted fields), so that a search adds numbers and nothing else.

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::{self, FIELDS, Field};
use super::synonyms::{CLOSE, LOOSE, PHRASES};
use super::tuning::{FieldWeight, Tuning};
use super::words::{Stems, is_stop_word, runs, words_of_run};
use crate::catalogue::{Catalogue, Server, Tool, fold};

/// How a search weighs what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Weighted fields, synonyms, phrases, partial and misspelt words: what users get.
    Full,
    /// Plain BM25 over stems with every field alike, to compare with.
    Plain,
}

/// Words that one tool may contribute.
const TOOL_WORDS_MAX: usize = 3_000;

pub(super) type TermId = u32;
pub(super) type ToolId = u32;

/// Everything that a search needs to know about a catalogue.
#[derive(Debug)]
pub struct Index {
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) method: Method,
    pub(super) tuning: Tuning,
    /// Server and tool of each `ToolId`; in the catalogue's order.
    pub(super) places: Vec<(u32, u32)>,
    pub(super) terms: Terms,
    /// Where a term's postings begin; one more than there are terms.
    starts: Vec<u32>,
    postings: Vec<Posting>,
    /// How rare each term is.
    rarity: Vec<f32>,
    /// Close and loose synonyms of a term, with their weights.
    pub(super) synonyms: HashMap<TermId, Vec<(TermId, f32)>>,
    /// Servers by the words of their names that few have.
    pub(super) server_words: HashMap<TermId, Vec<u32>>,
    /// Tools by folded name.
    pub(super) names: HashMap<String, Vec<ToolId>>,
}

/// One tool that has a term.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Posting {
    pub tool: ToolId,
    /// What the term says there, from 0 to 1.
    pub weight: f32,
    /// What part of the tool's name it is.
    pub of_name: f32,
}

/// All words that were seen, and what they became.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// By stem.
    pub ids: HashMap<String, TermId>,
    pub texts: Vec<String>,
    pub stop: Vec<bool>,
    /// Phrases by the id of their first word: the words that follow, and the term for all.
    phrases: Vec<Vec<(Vec<TermId>, TermId)>>,
}

impl Index {
    /// Of all tools in the catalogue.
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        Self::with_method(catalogue, Method::Full)
    }

    /// The same, for comparing methods.
    pub fn with_method(catalogue: Arc<Catalogue>, method: Method) -> Self {
        Self::tuned(catalogue, method, method.tuning())
    }

    pub(super) fn tuned(catalogue: Arc<Catalogue>, method: Method, tuning: Tuning) -> Self {
        let mut terms = Terms::default();
        let stems = Stems::new();
        let mut synonyms = HashMap::new();
        if method == Method::Full {
            terms.add_phrases(&stems);
            synonyms = synonym_table(&mut terms, &stems, &tuning);
        }
        let read = read_catalogue(&catalogue, &mut terms, &stems);
        let mut names: HashMap<String, Vec<ToolId>> = HashMap::new();
        for (id, (_, tool)) in (0..).zip(tools(&catalogue)) {
            let name = &tool.definition.name;
            let others = [&tool.stem, &tool.identifier].into_iter().filter(|other| *other != name);
            for name in others.chain([name]) {
                let ids = names.entry(fold(name)).or_default();
                if ids.last() != Some(&id) {
                    ids.push(id);
                }
            }
        }
        let (starts, postings) = read.weigh(terms.texts.len(), &tuning);
        let count = read.ends.len() as f32;
        let rarity = starts.windows(2).map(|range| rarity(count, (range[1] - range[0]) as f32)).collect();
        let server_words = server_words(&catalogue, &mut terms, &stems);
        let places = (0..)
            .zip(&catalogue.servers)
            .flat_map(|(s, server): (u32, _)| (0..).zip(&server.tools).map(move |(t, _): (u32, _)| (s, t)));
        let places = places.collect();
        Self {
            places,
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

impl Terms {
    fn id(&mut self, stem: &str, stop: bool) -> TermId {
        if let Some(id) = self.ids.get(stem) {
            return *id;
        }
        let id = self.texts.len() as TermId;
        self.ids.insert(stem.to_owned(), id);
        self.texts.push(stem.to_owned());
        self.stop.push(stop);
        id
    }

    fn id_of_word(&mut self, word: &str, stems: &Stems) -> TermId {
        if is_stop_word(word) { self.id(word, true) } else { self.id(&stems.stem(word), false) }
    }

    fn add_phrases(&mut self, stems: &Stems) {
        for (words, idea) in PHRASES {
            let idea = self.id_of_word(idea, stems);
            let mut words = words.split(' ').map(|word| self.id_of_word(word, stems));
            let Some(first) = words.next() else { continue };
            let rest = words.collect();
            // Phrases are the first words of all, so that their ids are small.
            let first = first as usize;
            if self.phrases.len() <= first {
                self.phrases.resize(first + 1, Vec::new());
            }
            self.phrases[first].push((rest, idea));
        }
    }

    /// The idea that a phrase beginning here stands for.
    pub fn phrase_at(&self, ids: &[TermId]) -> Option<TermId> {
        let (first, rest) = ids.split_first()?;
        let phrases = self.phrases.get(*first as usize)?;
        phrases.iter().find(|(words, _)| rest.starts_with(words)).map(|(_, idea)| *idea)
    }
}

fn synonym_table(terms: &mut Terms, stems: &Stems, tuning: &Tuning) -> HashMap<TermId, Vec<(TermId, f32)>> {
    let mut table: HashMap<TermId, Vec<(TermId, f32)>> = HashMap::new();
    for (groups, weight) in [(CLOSE, tuning.close), (LOOSE, tuning.loose)] {
        for group in groups {
            let ids: Vec<TermId> = group.iter().map(|word| terms.id_of_word(word, stems)).collect();
            for one in &ids {
                let known = table.entry(*one).or_default();
                for other in &ids {
                    if one != other && known.iter().all(|(id, _)| id != other) {
                        known.push((*other, weight));
                    }
                }
            }
        }
    }
    table
}

/// Every word of every tool, in order.
struct Read {
    words: Vec<(TermId, Field)>,
    /// Where the words of each tool end.
    ends: Vec<usize>,
}

fn read_catalogue(catalogue: &Catalogue, terms: &mut Terms, stems: &Stems) -> Read {
    let mut read = Read { words: Vec::new(), ends: Vec::with_capacity(catalogue.tool_count()) };
    // The same few thousand words come again and again: each is taken apart once.
    let mut seen: HashMap<&str, (u32, u32)> = HashMap::new();
    let mut parts: Vec<TermId> = Vec::new();
    let mut text_ids: Vec<TermId> = Vec::new();
    for (server, tool) in tools(catalogue) {
        let end = read.words.len() + TOOL_WORDS_MAX;
        fields::visit(server, tool, &mut |field, text| {
            text_ids.clear();
            for run in runs(text) {
                let (start, stop) = *seen.entry(run).or_insert_with(|| {
                    let start = parts.len() as u32;
                    words_of_run(run, |word| parts.push(terms.id_of_word(word, stems)));
                    (start, parts.len() as u32)
                });
                text_ids.extend_from_slice(&parts[start as usize..stop as usize]);
            }
            for (at, id) in text_ids.iter().enumerate() {
                if read.words.len() + 2 > end {
                    return;
                }
                if !terms.stop[*id as usize] {
                    read.words.push((*id, field));
                }
                if let Some(idea) = terms.phrase_at(&text_ids[at..]) {
                    read.words.push((idea, field));
                }
            }
        });
        read.ends.push(read.words.len());
    }
    read
}

/// One term in one tool.
#[derive(Clone, Copy, Default)]
struct Sum {
    weight: f32,
    of_name: f32,
    times: u32,
}

impl Read {
    /// Sorted by term: each tool that has it with the term's weight there.
    fn weigh(&self, term_count: usize, tuning: &Tuning) -> (Vec<u32>, Vec<Posting>) {
        let average = self.average_lengths();
        let mut sums = vec![Sum::default(); term_count];
        let mut touched: Vec<TermId> = Vec::new();
        let mut found: Vec<(TermId, Posting)> = Vec::with_capacity(self.words.len() / 2);
        let mut starts = vec![0_u32; term_count + 1];
        let mut start = 0;
        for (tool, end) in (0..).zip(&self.ends) {
            let words = &self.words[start..*end];
            start = *end;
            let lengths = lengths(words);
            let factors: [f32; FIELDS] = std::array::from_fn(|at| {
                let FieldWeight { weight, by_length } = tuning.fields[at];
                let relative = if average[at] > 0.0 { lengths[at] / average[at] } else { 1.0 };
                weight / (1.0 - by_length + by_length * relative)
            });
            let name_part = 1.0 / lengths[Field::Name as usize].max(1.0);
            for (term, field) in words {
                let sum = &mut sums[*term as usize];
                if sum.times == 0 {
                    touched.push(*term);
                }
                sum.times += 1;
                if sum.times <= tuning.times_max {
                    sum.weight += factors[*field as usize];
                }
                if *field == Field::Name {
                    sum.of_name += name_part;
                }
            }
            for term in touched.drain(..) {
                let Sum { weight, of_name, .. } = std::mem::take(&mut sums[term as usize]);
                let weight = weight / (tuning.saturation + weight);
                found.push((term, Posting { tool, weight, of_name }));
                starts[term as usize + 1] += 1;
            }
        }
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let mut next = starts.clone();
        let mut postings = vec![Posting::default(); found.len()];
        for (term, posting) in found {
            let place = &mut next[term as usize];
            postings[*place as usize] = posting;
            *place += 1;
        }
        (starts, postings)
    }

    fn average_lengths(&self) -> [f32; FIELDS] {
        let totals = lengths(&self.words);
        totals.map(|total| total / (self.ends.len().max(1)) as f32)
    }
}

fn lengths(words: &[(TermId, Field)]) -> [f32; FIELDS] {
    let mut lengths = [0.0; FIELDS];
    for (_, field) in words {
        lengths[*field as usize] += 1.0;
    }
    lengths
}
