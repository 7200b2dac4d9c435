//! The words of a catalogue by number, and which of them mean the same.

use foldhash::{HashMap, HashMapExt};

use super::synonyms::{CLOSE, PHRASES, RELATED};
use super::tuning::Tuning;
use super::words::{Stems, is_stop_word};

pub(super) type TermId = u32;

/// All words that were seen, and what they became.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    pub ids: HashMap<String, TermId>,
    pub texts: Vec<String>,
    /// Whether it says nothing about what a tool does.
    pub stop: Vec<bool>,
    /// Words that were seen, in lower case: most come in several spellings, and to find a stem takes a while.
    words: HashMap<String, TermId>,
    /// Phrases by the id of their first word: the words that follow, and the term for all.
    phrases: Vec<Vec<(Vec<TermId>, TermId)>>,
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

    /// The term of a word in lower case, new if it has to be.
    pub fn id_of_word(&mut self, word: &str, stems: &Stems) -> TermId {
        if let Some(id) = self.words.get(word) {
            return *id;
        }
        let id = if is_stop_word(word) { self.id(word, true) } else { self.id(&stems.stem(word), false) };
        self.words.insert(word.to_owned(), id);
        id
    }

    /// No words come any more.
    pub fn forget_words(&mut self) {
        self.words = HashMap::new();
    }

    /// The terms of others, of which we have the first `known` under the same numbers: the number here for each.
    pub fn take_in(&mut self, others: &Self, known: usize) -> Vec<TermId> {
        let new = others.texts.iter().zip(&others.stop).skip(known);
        let new: Vec<TermId> = new.map(|(text, stop)| self.id(text, *stop)).collect();
        (0..known as TermId).chain(new).collect()
    }

    /// Has to come before any other word.
    pub fn add_phrases(&mut self, stems: &Stems) {
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

/// Synonyms of a term, each with what it counts.
pub(super) fn synonym_table(
    terms: &mut Terms,
    stems: &Stems,
    tuning: &Tuning,
) -> HashMap<TermId, Vec<(TermId, f32)>> {
    let mut table: HashMap<TermId, Vec<(TermId, f32)>> = HashMap::new();
    let groups = [(CLOSE, tuning.close), (RELATED, tuning.related)];
    for (groups, weight) in groups.into_iter().filter(|(_, weight)| *weight > 0.0) {
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
