//! Which word is found in which tool, and how much it says there: BM25 over weighted fields.

use std::num::NonZero;
use std::ops::Range;
use std::thread::ScopedJoinHandle;

use foldhash::{HashMap, HashMapExt};

use super::fields::{self, FIELDS, Field};
use super::terms::{TermId, Terms};
use super::tuning::{FieldWeight, Tuning};
use super::words::{Stems, runs, words_of_run};
use crate::catalogue::{Server, Tool};

pub(super) type ToolId = u32;

/// One tool that has a term.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Posting {
    pub tool: ToolId,
    /// What the term says there, from 0 to 1.
    pub weight: f32,
    /// What part of the tool's name it is.
    pub of_name: f32,
}

/// Words that one tool may contribute.
const TOOL_WORDS_MAX: usize = 3_000;

/// Texts up to this length often come again, such as what a page size is.
const REPEATED_TEXT_BYTES_MAX: usize = 400;

/// Every word of every tool, in order.
#[derive(Default)]
pub(super) struct Read {
    words: Vec<(TermId, Field)>,
    /// Where the words of each tool end.
    ends: Vec<usize>,
}

/// Takes texts apart. The same few thousand words come again and again, and so do whole texts: each
/// is taken apart once.
struct Reader<'a, 't> {
    terms: &'t mut Terms,
    stems: &'t Stems,
    runs: HashMap<&'a str, Range<usize>>,
    ids_of_runs: Vec<TermId>,
    texts: HashMap<&'a str, Range<usize>>,
    ids_of_texts: Vec<TermId>,
    /// Of the text at hand, with words that say nothing.
    whole: Vec<TermId>,
}

impl<'a> Reader<'a, '_> {
    /// The terms of a text without words that say nothing, ideas of phrases among them.
    fn read(&mut self, text: &'a str) -> &[TermId] {
        let repeated = text.len() <= REPEATED_TEXT_BYTES_MAX;
        if repeated && let Some(known) = self.texts.get(text) {
            return &self.ids_of_texts[known.clone()];
        }
        self.whole.clear();
        for run in runs(text) {
            let known = self.runs.entry(run).or_insert_with(|| {
                let start = self.ids_of_runs.len();
                words_of_run(run, |word| self.ids_of_runs.push(self.terms.id_of_word(word, self.stems)));
                start..self.ids_of_runs.len()
            });
            self.whole.extend_from_slice(&self.ids_of_runs[known.clone()]);
        }
        let start = self.ids_of_texts.len();
        for (at, id) in self.whole.iter().enumerate() {
            if !self.terms.stop[*id as usize] {
                self.ids_of_texts.push(*id);
            }
            self.ids_of_texts.extend(self.terms.phrase_at(&self.whole[at..]));
        }
        if repeated {
            self.texts.insert(text, start..self.ids_of_texts.len());
        }
        &self.ids_of_texts[start..]
    }
}

/// Fewer tools than this are read sooner than another thread is started.
const TOOLS_OF_THREAD_MIN: usize = 200;

const THREADS_MAX: usize = 4;

impl Read {
    /// All words of the tools, read on several cores if there are many. That changes nothing: terms are numbered in
    /// the order in which they come.
    pub fn all(tools: &[(&Server, &Tool)], terms: &mut Terms, stems: &Stems) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cores.min(THREADS_MAX).min(tools.len() / TOOLS_OF_THREAD_MIN);
        Self::in_parts(tools, threads, terms, stems)
    }

    fn in_parts(tools: &[(&Server, &Tool)], threads: usize, terms: &mut Terms, stems: &Stems) -> Self {
        if threads < 2 {
            return Self::some(tools, terms, stems);
        }
        let (here, elsewhere) = tools.split_at(tools.len() / 2);
        let (mut theirs, known) = (terms.clone(), terms.texts.len());
        let read_elsewhere = move || {
            let read = Self::in_parts(elsewhere, threads / 2, &mut theirs, &Stems::new());
            (read, theirs)
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("index".to_owned());
            let other = thread.spawn_scoped(scope, read_elsewhere);
            let mut read = Self::in_parts(here, threads - threads / 2, terms, stems);
            match other.map(ScopedJoinHandle::join) {
                Ok(Ok((more, theirs))) => read.append(more, &terms.take_in(&theirs, known)),
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // The system has no thread left.
                Err(_) => {
                    let more = Self::some(elsewhere, terms, stems);
                    let same: Vec<TermId> = (0..terms.texts.len() as TermId).collect();
                    read.append(more, &same);
                }
            }
            read
        })
    }

    /// What was read of the tools that follow, with what its terms are called here.
    fn append(&mut self, more: Self, ids: &[TermId]) {
        let before = self.words.len();
        self.words.extend(more.words.into_iter().map(|(term, field)| (ids[term as usize], field)));
        self.ends.extend(more.ends.into_iter().map(|end| before + end));
    }

    /// On this thread.
    fn some(tools: &[(&Server, &Tool)], terms: &mut Terms, stems: &Stems) -> Self {
        let mut read = Self::default();
        let mut reader = Reader {
            terms,
            stems,
            runs: HashMap::new(),
            ids_of_runs: Vec::new(),
            texts: HashMap::new(),
            ids_of_texts: Vec::new(),
            whole: Vec::new(),
        };
        for (server, tool) in tools {
            let end = read.words.len() + TOOL_WORDS_MAX;
            fields::visit(server, tool, &mut |field, text| {
                let left = end - read.words.len();
                read.words.extend(reader.read(text).iter().take(left).map(|id| (*id, field)));
            });
            read.ends.push(read.words.len());
        }
        read
    }

    /// How many tools were read.
    pub fn tools(&self) -> usize {
        self.ends.len()
    }
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
    pub fn weigh(&self, term_count: usize, tuning: &Tuning) -> (Vec<u32>, Vec<Posting>) {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::catalogue::{Catalogue, ServerOffer, ToolDefinition};

    #[test]
    fn tools_read_on_several_threads_have_the_same_words_under_the_same_numbers() {
        let tool = |at: usize| {
            let words = ["send", "list", "Sends", "branches", "orders", "zebra"];
            let word = |step: usize| words[at * step % words.len()];
            let name = format!("{}_{}_{at}", word(1), word(2));
            let description = format!("{} the {} of day {}, pull request", word(5), word(3), at / 3);
            let raw = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
            let raw = serde_json::value::to_raw_value(&raw).expect("JSON");
            Arc::new(ToolDefinition::parse(&raw).expect("a definition"))
        };
        let offer =
            ServerOffer { name: "many".to_owned(), tools: (0..61).map(tool).collect(), ..Default::default() };
        let catalogue = Catalogue::new(vec![offer]);
        let server = &catalogue.servers[0];
        let tools: Vec<_> = server.tools.iter().map(|tool| (server, tool)).collect();
        let stems = Stems::new();
        let read = |threads: usize| {
            let mut terms = Terms::default();
            terms.add_phrases(&stems);
            let read = Read::in_parts(&tools, threads, &mut terms, &stems);
            let words: Vec<_> = read.words.iter().map(|(term, field)| (*term, *field as usize)).collect();
            (words, read.ends, terms.texts, terms.stop)
        };
        let alone = read(1);
        assert!(alone.0.len() > 300 && alone.1.len() == 61);
        for threads in 2..=5 {
            assert!(read(threads) == alone, "{threads} threads");
        }
    }
}
