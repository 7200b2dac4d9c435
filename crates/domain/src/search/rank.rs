//! From the words of a query to tools with a score.

use super::fields::cut;
use super::index::{Index, Method, TermId, ToolId};
use super::words::{Stems, is_stop_word, runs, words_of_run};

/// A query is a phrase, not a text.
pub(super) const QUERY_BYTES_MAX: usize = 1_000;
const QUERY_WORDS_MAX: usize = 32;

/// Words of the catalogue that a partial or misspelt word may stand for.
const GUESSES_MAX: usize = 8;
const PREFIX_CHARS_MIN: usize = 3;
const PREFIX_WEIGHT: f32 = 0.8;
const TYPO_CHARS_MIN: usize = 5;
const TYPO_WEIGHT: f32 = 0.8;

/// How much it matters that all words of a query are found rather than one of them often.
const COVERAGE_POWER: f32 = 0.5;

/// Anything below this part of the best score is not worth showing.
const WORTH_SHOWING: f32 = 0.2;

/// One tool that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    pub tool: ToolId,
    pub score: f32,
    /// The query is its name.
    pub exact: bool,
}

/// What one word of a query may be found as, each with a weight.
type Alternatives = Vec<(TermId, f32)>;

impl Index {
    /// All tools worth showing that `wanted` lets through, best first.
    pub(super) fn rank(&self, text: &str, wanted: impl Fn(ToolId) -> bool) -> Vec<Ranked> {
        let text = cut(text, QUERY_BYTES_MAX);
        let mut scores = self.scores(&self.query_terms(text));
        let best = scores.iter().copied().fold(0.0, f32::max);
        let mut exact = vec![false; scores.len()];
        for id in self.mentioned_in(text) {
            scores[id as usize] += best;
        }
        for id in self.named_by(text) {
            exact[id as usize] = true;
        }
        let ranked = (0..).zip(scores).zip(exact).map(|((tool, score), exact)| Ranked { tool, score, exact });
        let mut ranked: Vec<Ranked> = ranked
            .filter(|found| (found.exact || found.score > 0.0) && wanted(found.tool))
            .collect();
        let best = ranked.iter().map(|found| found.score).fold(0.0, f32::max);
        ranked.retain(|found| found.exact || found.score >= best * WORTH_SHOWING);
        // Tools are numbered by name, which settles ties.
        ranked.sort_by(|a, b| {
            b.exact.cmp(&a.exact).then(b.score.total_cmp(&a.score)).then(a.tool.cmp(&b.tool))
        });
        ranked
    }

    /// BM25 over the words; of a word's alternatives the best counts.
    fn scores(&self, words: &[Alternatives]) -> Vec<f32> {
        let mut total = vec![0.0_f32; self.places.len()];
        let mut covered = vec![0.0_f32; self.places.len()];
        let mut best = vec![(0.0_f32, 0.0_f32); self.places.len()];
        let mut touched: Vec<ToolId> = Vec::new();
        let mut possible = 0.0;
        for alternatives in words {
            let weight_of = |(term, weight): &(TermId, f32)| self.rarity(*term) * weight;
            possible += alternatives.iter().map(weight_of).fold(0.0, f32::max);
            for alternative in alternatives {
                let weight = weight_of(alternative);
                for (tool, found) in self.postings(alternative.0) {
                    let entry = &mut best[*tool as usize];
                    if entry.0 == 0.0 {
                        touched.push(*tool);
                    }
                    if weight * found > entry.0 {
                        *entry = (weight * found, weight);
                    }
                }
            }
            for tool in touched.drain(..) {
                let (score, weight) = std::mem::take(&mut best[tool as usize]);
                total[tool as usize] += score;
                covered[tool as usize] += weight;
            }
        }
        if self.method == Method::Full && possible > 0.0 {
            for (score, covered) in total.iter_mut().zip(covered) {
                *score *= (covered / possible).min(1.0).powf(COVERAGE_POWER);
            }
        }
        total
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
        if found.is_empty() {
            found = self.beginning_with(stem);
        }
        if found.is_empty() {
            found = self.misspelt(stem, word);
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
        self.best_guesses(PREFIX_WEIGHT, |text| text.starts_with(stem))
    }

    fn misspelt(&self, stem: &str, word: &str) -> Alternatives {
        if word.chars().count() < TYPO_CHARS_MIN {
            return Vec::new();
        }
        let wanted: Vec<char> = stem.chars().collect();
        self.best_guesses(TYPO_WEIGHT, |text| is_one_edit(&wanted, text))
    }

    /// The most frequent of the words that fit.
    fn best_guesses(&self, weight: f32, fits: impl Fn(&str) -> bool) -> Alternatives {
        let terms = (0..).zip(&self.terms.texts);
        let mut found: Vec<(usize, TermId)> = terms
            .filter(|(_, text)| fits(text))
            .map(|(id, _)| (self.postings(id).len(), id))
            .filter(|(tools, _)| *tools > 0)
            .collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| {
            self.terms.texts[a.1 as usize].cmp(&self.terms.texts[b.1 as usize])
        }));
        found.into_iter().take(GUESSES_MAX).map(|(_, id)| (id, weight)).collect()
    }
}

/// Whether one letter more, less or changed, or two swapped, makes one of the other.
fn is_one_edit(wanted: &[char], text: &str) -> bool {
    if text.len().abs_diff(wanted.len()) > 1 && text.is_ascii() {
        return false;
    }
    let text: Vec<char> = text.chars().take(wanted.len() + 2).collect();
    let same = wanted.iter().zip(&text).take_while(|(a, b)| a == b).count();
    let (a, b) = (&wanted[same..], &text[same..]);
    match (a, b) {
        ([], rest) | (rest, []) => rest.len() <= 1,
        ([_, a_rest @ ..], [_, b_rest @ ..]) => {
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
            let letters: Vec<char> = a.chars().collect();
            assert_eq!(is_one_edit(&letters, b), expected, "{a} {b}");
        };
        check("serach", "search", true);
        check("searh", "search", true);
        check("seearch", "search", true);
        check("seorch", "search", true);
        check("search", "search", true);
        check("serahc", "search", false);
        check("se", "search", false);
        check("größe", "grösse", false);
        check("größer", "größe", true);
    }
}
