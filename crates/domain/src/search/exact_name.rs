//! A query that is a tool's name, in whatever spelling.

use super::index::Index;
use super::postings::ToolId;
use super::words::is_filler;
use crate::catalogue::{Server, fold};

impl Index {
    /// The tools that the whole text names: `tool`, `server.tool`, `server/tool`,
    /// `mcp__server__tool`.
    pub(super) fn named_by(&self, text: &str) -> Vec<ToolId> {
        let text = text.trim();
        let text = text.strip_prefix("mcp__").unwrap_or(text);
        if let Some(ids) = self.names.get(&fold(text)) {
            return ids.clone();
        }
        let separators = [".", "/", "__", " "];
        let splits = separators.iter().flat_map(|separator| text.match_indices(separator));
        let mut named = Vec::new();
        for (at, separator) in splits.take(SPLITS_MAX) {
            let server = fold(&text[..at]);
            let ids = self.names.get(&fold(&text[at + separator.len()..]));
            named.extend(ids.into_iter().flatten().filter(|id| is_called(self.tool(**id).0, &server)));
        }
        named
    }

    /// The same with words around it that say nothing: `create an issue` is `create issue`.
    pub(super) fn named_in_words(&self, text: &str) -> Vec<ToolId> {
        let named = self.named_by(text);
        if !named.is_empty() {
            return named;
        }
        let content_words: Vec<&str> = text
            .split_whitespace()
            .map(|word| word.trim_end_matches(['?', '!', '.', ',']))
            .filter(|word| !is_filler(&word.to_ascii_lowercase()))
            .collect();
        self.named_by(&content_words.join(" "))
    }

    /// The tools that one word of the text names, if it is written as only a name is.
    pub(super) fn mentioned_in(&self, text: &str) -> Vec<ToolId> {
        let words = text.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | '('));
        let is_name = |word: &&str| {
            let after_first = word.get(1..).unwrap_or_default();
            word.contains(['_', '.'])
                || (after_first.contains(|c: char| c.is_ascii_uppercase())
                    && word.contains(|c: char| c.is_ascii_lowercase()))
        };
        words.filter(is_name).take(SPLITS_MAX).flat_map(|word| self.named_by(word)).collect()
    }
}

/// Places at which a query is tried as `server` and `tool`.
const SPLITS_MAX: usize = 16;

/// Whether the folded name is one of the server's.
fn is_called(server: &Server, folded: &str) -> bool {
    [&server.offer.name, &server.folder, &server.identifier].into_iter().any(|name| fold(name) == folded)
}
