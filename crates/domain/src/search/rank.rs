//! From the words of a query to tools with a score.

use super::action::{Wish, of_query};
use super::index::Index;
use super::meaning::Nearness;
use super::postings::ToolId;
use super::terms::TermId;
use super::tuning::{Method, Part};
use super::words::{QUERY_WORDS_MAX, Stems, is_stop_word, runs, words_of_run};
use crate::short_text::first_bytes;

/// A query is a phrase, not a text.
pub(super) const QUERY_BYTES_MAX: usize = 1_000;

/// Words of the catalogue that a partial or misspelled word may stand for.
const GUESSES_MAX: usize = 8;
const PREFIX_CHARS_MIN: usize = 3;
const TYPO_CHARS_MIN: usize = 5;

/// Anything below this part of the best score is not worth showing.
const WORTH_SHOWING: f32 = 0.25;

/// One tool that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    pub tool: ToolId,
    pub score: f32,
    /// What part of the query it has, up to 1.
    pub covered: f32,
    /// The query is its name.
    pub exact: bool,
}

/// How well a query's words fit one tool.
#[derive(Clone, Copy, Default)]
struct Fit {
    score: f32,
    /// What part of the query was found, up to 1: rare words are a larger part.
    covered: f32,
}

/// What was found in one tool.
#[derive(Clone, Copy, Default)]
struct Sum {
    score: f32,
    /// What the words that were found could have scored.
    covered: f32,
    /// What part of the tool's name they are.
    of_name: f32,
}

/// What one word of a query may be found as, each with a weight.
type Alternatives = Vec<(TermId, f32)>;

impl Index {
    /// All tools worth showing that `wanted` lets through, best first: by words and, where that is known, by
    /// how near they are.
    pub(super) fn rank(
        &self,
        text: &str,
        nearness: Option<&Nearness>,
        wanted: impl Fn(ToolId) -> bool,
    ) -> Vec<Ranked> {
        let text = first_bytes(text, QUERY_BYTES_MAX);
        let words = self.query_terms(text);
        let mut fits = self.fits(&words);
        let best = fits.iter().map(|fit| fit.score).fold(0.0, f32::max);
        let mut exact = vec![false; fits.len()];
        let mentioned = self.mentioned_in(text);
        for id in &mentioned {
            fits[*id as usize].score += best;
        }
        for id in self.named_in_words(text) {
            exact[id as usize] = true;
        }
        let ranked = (0..).zip(fits).zip(exact).map(|((tool, fit), exact)| {
            let Fit { score, covered } = fit;
            Ranked { tool, score, covered, exact }
        });
        let mut ranked: Vec<Ranked> =
            ranked.filter(|found| (found.exact || found.score > 0.0) && wanted(found.tool)).collect();
        let best = ranked.iter().map(|found| found.score).fold(0.0, f32::max);
        // Whoever asks for nothing but a server wants its tools, also where a rare synonym fits others far
        // better than its name fits these.
        let is_of_server = |found: &Ranked| self.is_server_alone(&words, self.places[found.tool as usize].0);
        ranked.retain(|found| found.exact || found.score >= best * WORTH_SHOWING || is_of_server(found));
        let is_named = |found: &Ranked| found.exact || is_of_server(found) || mentioned.contains(&found.tool);
        let wish = self.wish_of(text);
        let against = |tool: ToolId| wish.against(self.actions[tool as usize]);
        for found in ranked.iter_mut().filter(|found| !is_named(found)) {
            found.score *= 1.0 - against(found.tool);
        }
        // Tools are numbered by name, which settles ties.
        ranked.sort_by(|a, b| {
            let by_name = b.exact.cmp(&a.exact).then(is_of_server(b).cmp(&is_of_server(a)));
            by_name.then(b.score.total_cmp(&a.score)).then(a.tool.cmp(&b.tool))
        });
        match nearness {
            Some(nearness) => {
                let (named, found) = ranked.into_iter().partition(is_named);
                self.with_nearness((named, found), nearness, against, wanted)
            }
            None => ranked,
        }
    }

    /// What is to be done, as far as that can be told.
    fn wish_of(&self, text: &str) -> Wish {
        if !self.method.has(Part::Actions) {
            return Wish::Unclear;
        }
        let stems = Stems::new();
        let is_of_server = |word: &str| {
            let term = self.terms.ids.get(stems.stem(word).as_ref());
            term.is_some_and(|term| self.server_words.contains_key(term))
        };
        of_query(text, is_of_server)
    }

    /// BM25 over the words; of a word's alternatives the best counts.
    fn fits(&self, words: &[Alternatives]) -> Vec<Fit> {
        let mut sums = vec![Sum::default(); self.places.len()];
        let mut best = vec![Sum::default(); self.places.len()];
        let mut touched: Vec<ToolId> = Vec::new();
        let mut possible = 0.0;
        for alternatives in words {
            let weight_of = |(term, weight): &(TermId, f32)| self.rarity(*term) * weight;
            possible += alternatives.iter().map(weight_of).fold(0.0, f32::max);
            for alternative in alternatives {
                let weight = weight_of(alternative);
                for posting in self.postings(alternative.0) {
                    let entry = &mut best[posting.tool as usize];
                    if entry.score == 0.0 {
                        touched.push(posting.tool);
                    }
                    entry.of_name = entry.of_name.max(posting.of_name * alternative.1);
                    if weight * posting.weight > entry.score {
                        entry.score = weight * posting.weight;
                        entry.covered = weight;
                    }
                }
            }
            for tool in touched.drain(..) {
                let found = std::mem::take(&mut best[tool as usize]);
                let sum = &mut sums[tool as usize];
                sum.score += found.score;
                sum.covered += found.covered;
                sum.of_name += found.of_name;
            }
        }
        let named = self.servers_named(words);
        let tuning = &self.tuning;
        let fit = |(sum, (server, _)): (Sum, &(u32, u32))| {
            if sum.score == 0.0 {
                return Fit::default();
            }
            let covered = (sum.covered / possible).min(1.0);
            let of_name = 1.0 + tuning.name_coverage * sum.of_name.min(1.0);
            let of_server = if named.contains(server) { 1.0 + tuning.server_named } else { 1.0 };
            Fit { score: sum.score * covered.powf(tuning.coverage) * of_name * of_server, covered }
        };
        let mut fits: Vec<Fit> = sums.into_iter().zip(&self.places).map(fit).collect();
        self.add_context(&mut fits);
        fits
    }

    /// A tool among others that fit is a likelier one: its server is about the right thing.
    fn add_context(&self, fits: &mut [Fit]) {
        let mut best_of_server = vec![[0.0_f32; 3]; self.catalogue.servers.len()];
        for (fit, (server, _)) in fits.iter().zip(&self.places) {
            let best = &mut best_of_server[*server as usize];
            if fit.score > best[2] {
                best[2] = fit.score;
                best.sort_by(|a, b| b.total_cmp(a));
            }
        }
        let of_server: Vec<f32> = best_of_server.iter().map(|best| best.iter().sum()).collect();
        let best = of_server.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        for (fit, (server, _)) in fits.iter_mut().zip(&self.places) {
            fit.score *= 1.0 + self.tuning.server_context * of_server[*server as usize] / best;
        }
    }

    /// The servers whose names have a word of the query.
    fn servers_named(&self, words: &[Alternatives]) -> Vec<u32> {
        let terms = words.iter().filter_map(|alternatives| alternatives.first());
        terms.filter_map(|(term, _)| self.server_words.get(term)).flatten().copied().collect()
    }

    /// Whether every word of the query is one of this server's name.
    fn is_server_alone(&self, words: &[Alternatives], server: u32) -> bool {
        let is_of_name = |alternatives: &Alternatives| {
            let servers = alternatives.first().and_then(|(term, _)| self.server_words.get(term));
            servers.is_some_and(|servers| servers.contains(&server))
        };
        !words.is_empty() && words.iter().all(is_of_name)
    }

    fn query_terms(&self, text: &str) -> Vec<Alternatives> {
        let stems = Stems::new();
        let mut words: Vec<(String, bool)> = Vec::new();
        for run in runs(text) {
            words_of_run(run, |word| words.push((word.to_owned(), is_stop_word(word))));
        }
        words.truncate(QUERY_WORDS_MAX);
        let ids: Vec<Option<TermId>> = words
            .iter()
            .map(|(word, stop)| {
                let stem = if *stop { word.as_str().into() } else { stems.stem(word) };
                self.terms.ids.get(stem.as_ref()).copied()
            })
            .collect();
        let mut found: Vec<Alternatives> = Vec::new();
        for (at, (word, stop)) in words.iter().enumerate() {
            if !stop {
                found.push(self.alternatives(ids[at], &stems.stem(word), word));
            }
            if self.method == Method::Plain {
                continue;
            }
            found.extend(self.phrase_at(&ids[at..]).map(|idea| self.with_synonyms(idea)));
            found.extend(self.joined(&words[at..]).map(|joined| vec![(joined, 1.0)]));
        }
        found.retain(|alternatives| !alternatives.is_empty());
        let mut seen: Vec<TermId> = Vec::new();
        // A word said twice is not meant twice.
        found.retain(|alternatives| {
            let first = alternatives[0].0;
            let new = !seen.contains(&first);
            seen.push(first);
            new
        });
        found
    }

    fn phrase_at(&self, ids: &[Option<TermId>]) -> Option<TermId> {
        let known: Vec<TermId> = ids.iter().take(4).map_while(|id| *id).collect();
        self.terms.phrase_at(&known)
    }

    /// Two words that the catalogue writes as one, such as `key vault`.
    fn joined(&self, words: &[(String, bool)]) -> Option<TermId> {
        let [(one, _), (two, _), ..] = words else { return None };
        let joined = format!("{one}{two}");
        let id = self.terms.ids.get(Stems::new().stem(&joined).as_ref())?;
        (!self.postings(*id).is_empty()).then_some(*id)
    }

    fn alternatives(&self, id: Option<TermId>, stem: &str, word: &str) -> Alternatives {
        if self.method == Method::Plain {
            return id.map(|id| vec![(id, 1.0)]).unwrap_or_default();
        }
        let mut found = id.map(|id| self.with_synonyms(id)).unwrap_or_default();
        if !self.method.has(Part::Guesses) {
            return found;
        }
        if found.is_empty() {
            found = self.beginning_with(stem);
        }
        if found.is_empty() {
            found = self.misspelled(stem, word);
        }
        found
    }

    fn with_synonyms(&self, id: TermId) -> Alternatives {
        let synonyms = self.synonyms.get(&id).map(Vec::as_slice).unwrap_or_default();
        let all = [(id, 1.0)].into_iter().chain(synonyms.iter().copied());
        all.filter(|(id, _)| !self.postings(*id).is_empty()).collect()
    }

    fn beginning_with(&self, stem: &str) -> Alternatives {
        if stem.chars().count() < PREFIX_CHARS_MIN {
            return Vec::new();
        }
        self.best_guesses(self.tuning.prefix, |text| text.starts_with(stem))
    }

    fn misspelled(&self, stem: &str, word: &str) -> Alternatives {
        if word.chars().count() < TYPO_CHARS_MIN {
            return Vec::new();
        }
        self.best_guesses(self.tuning.typo, |text| is_one_edit(stem.as_bytes(), text.as_bytes()))
    }

    /// The most frequent of the words that fit.
    fn best_guesses(&self, weight: f32, fits: impl Fn(&str) -> bool) -> Alternatives {
        let terms = (0..).zip(&self.terms.texts);
        let mut found: Vec<(usize, TermId)> = terms
            .filter(|(_, text)| fits(text))
            .map(|(id, _)| (self.postings(id).len(), id))
            .filter(|(tools, _)| *tools > 0)
            .collect();
        found.sort_by(|a, b| {
            b.0.cmp(&a.0).then_with(|| self.terms.texts[a.1 as usize].cmp(&self.terms.texts[b.1 as usize]))
        });
        found.into_iter().take(GUESSES_MAX).map(|(_, id)| (id, weight)).collect()
    }
}

/// Whether one letter more, less or changed, or two swapped, makes one of the other. Letters beyond
/// ASCII count as the bytes they are made of.
fn is_one_edit(wanted: &[u8], text: &[u8]) -> bool {
    if text.len().abs_diff(wanted.len()) > 1 {
        return false;
    }
    let same = wanted.iter().zip(text).take_while(|(a, b)| a == b).count();
    match (&wanted[same..], &text[same..]) {
        ([], rest) | (rest, []) => rest.len() <= 1,
        (a @ [_, a_rest @ ..], b @ [_, b_rest @ ..]) => {
            let swapped = a.len() > 1 && b.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..];
            a_rest == b_rest || a_rest == b || a == b_rest || swapped
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_one_letter_or_one_swap() {
        let check = |a: &str, b: &str, expected: bool| {
            assert_eq!(is_one_edit(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        };
        check("serach", "search", true);
        check("searh", "search", true);
        check("seearch", "search", true);
        check("seorch", "search", true);
        check("search", "search", true);
        check("serahc", "search", false);
        check("se", "search", false);
        check("größer", "größe", true);
    }
}
