//! `documents`: a store of 200 documents, among them the transcript of a two-hour meeting. Nothing
//! can be changed.

mod definitions;
mod phrases;
mod shelf;
mod transcript;

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use super::definition::check_call;
use super::{Answer, ExampleServer, arguments, unknown_name};
use shelf::{Document, FOLDERS};

pub const TRANSCRIPT_ID: &str = "DOC-0107";
pub const TRANSCRIPT_TITLE: &str = "Planning of the autumn release";
/// The day of the meeting.
pub const TRANSCRIPT_DATE: &str = "2026-06-11";

const PAGE_SIZE: u64 = 50;
const HITS_MAX: u64 = 50;
const WORDS_MAX: usize = 20;
/// How many characters of a document are shown around a hit.
const SNIPPET_CHARS: usize = 160;

/// Who takes part in the meeting, with commas.
pub fn transcript_speakers() -> String {
    transcript::SPEAKERS.map(|speaker| speaker.1).join(", ")
}

pub struct Documents {
    tools: Vec<Value>,
    /// Written at the first call: a list of tools needs none of them.
    shelf: OnceLock<Vec<Document>>,
}

impl Documents {
    pub fn new() -> Self {
        Self { tools: definitions::definitions(), shelf: OnceLock::new() }
    }

    fn shelf(&self) -> &[Document] {
        self.shelf.get_or_init(shelf::documents)
    }

    fn find(&self, arguments: &Map<String, Value>) -> Result<&Document, String> {
        let id = arguments::text(arguments, "document_id")?;
        let found = self.shelf().iter().find(|document| document.id == id);
        found.ok_or_else(|| {
            let count = self.shelf().len();
            format!(
                "no document `{}`; ids go from DOC-0001 to DOC-{count:04}, see list_documents",
                arguments::shown(id)
            )
        })
    }
}

impl ExampleServer for Documents {
    fn name(&self) -> &'static str {
        "documents"
    }

    fn title(&self) -> &'static str {
        "Documents"
    }

    fn instructions(&self) -> &'static str {
        "A document store with specs, notes, policies, reports and the transcript of a two-hour meeting (DOC-0107). \
         get_document gives the full text, which can be long."
    }

    fn tools(&self) -> Vec<Value> {
        self.tools.clone()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, String> {
        check_call(&self.tools, tool, arguments)?;
        match tool {
            "list_documents" => self.list(arguments),
            "get_document" => self.find(arguments).map(|document| {
                json!({
                    "document_id": document.id, "title": document.title, "folder": document.folder,
                    "words": document.words(), "text": document.text,
                })
            }),
            "search_documents" => self.search(arguments),
            _ => self.find(arguments).map(described),
        }
        .map(Answer::Structured)
    }
}

impl Documents {
    fn list(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let folder = arguments::optional_text(arguments, "folder")?;
        if let Some(folder) = folder.filter(|folder| !FOLDERS.contains(folder)) {
            return Err(unknown_name::unknown("folder", folder, FOLDERS));
        }
        let page = arguments::whole(arguments, "page", 1, [1, 1_000_000])?;
        let wanted: Vec<&Document> = self
            .shelf()
            .iter()
            .filter(|document| folder.is_none_or(|folder| document.folder == folder))
            .collect();
        let first = ((page - 1) * PAGE_SIZE) as usize;
        let shown: Vec<Value> = wanted
            .iter()
            .skip(first)
            .take(PAGE_SIZE as usize)
            .map(|document| {
                json!({
                    "document_id": document.id, "title": document.title, "folder": document.folder,
                    "words": document.words(),
                })
            })
            .collect();
        let next_page = (first + shown.len() < wanted.len() && !shown.is_empty()).then_some(page + 1);
        Ok(json!({ "documents": shown, "page": page, "next_page": next_page, "total": wanted.len() }))
    }

    fn search(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let query = arguments::text(arguments, "query")?.to_lowercase();
        let limit = arguments::whole(arguments, "limit", 10, [1, HITS_MAX])? as usize;
        let words: Vec<&str> = query
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 1)
            .take(WORDS_MAX)
            .collect();
        if words.is_empty() {
            return Err("`query` has no words to search for; browse with list_documents".to_owned());
        }
        let mut hits: Vec<(u64, &Document)> = self
            .shelf()
            .iter()
            .map(|document| (score(document, &words), document))
            .filter(|(score, _)| *score > 0)
            .collect();
        hits.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.id.cmp(&other.1.id)));
        let total = hits.len();
        let shown: Vec<Value> = hits
            .into_iter()
            .take(limit)
            .map(|(score, document)| {
                json!({
                    "document_id": document.id, "title": document.title, "folder": document.folder,
                    "score": score, "snippet": snippet(&document.text, &words),
                })
            })
            .collect();
        Ok(json!({ "hits": shown, "total": total }))
    }
}

fn described(document: &Document) -> Value {
    json!({
        "document_id": document.id,
        "title": document.title,
        "folder": document.folder,
        "author": document.author,
        "created_on": document.created_on,
        "words": document.words(),
        "bytes": document.text.len(),
        "tags": document.tags,
    })
}

/// More different words count before more of the same; a word in the title counts like many.
fn score(document: &Document, words: &[&str]) -> u64 {
    let text = document.text.to_lowercase();
    let title = document.title.to_lowercase();
    let found = |word: &&str| {
        let in_text = text.matches(*word).take(20).count() as u64;
        in_text + if title.contains(*word) { 30 } else { 0 }
    };
    let counts: Vec<u64> = words.iter().map(found).filter(|count| *count > 0).collect();
    counts.len() as u64 * 100 + counts.iter().sum::<u64>() - if counts.is_empty() { 0 } else { 1 }
}

/// The text around the first word that is found.
fn snippet(text: &str, words: &[&str]) -> String {
    let lower: Vec<char> = text.chars().flat_map(|c| c.to_lowercase().take(1)).collect();
    let place = |word: &&str| {
        let wanted: Vec<char> = word.chars().collect();
        lower.windows(wanted.len()).position(|seen| seen == wanted)
    };
    let start = words.iter().find_map(place).unwrap_or_default().saturating_sub(SNIPPET_CHARS / 4);
    let cut: String = text.chars().skip(start).take(SNIPPET_CHARS).collect();
    cut.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
