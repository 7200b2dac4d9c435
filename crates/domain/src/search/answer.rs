//! A query answered: filters, pages, and as much of each tool as was asked for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::index::Index;
use super::meaning::Nearness;
use super::postings::ToolId;
use super::query::{Detail, LIMIT_MAX, Query, SearchError};
use super::rank::Ranked;
use crate::catalogue::{Server, Tool, fold};
use crate::nearest::nearest;
use crate::short_text::first_bytes;
use crate::visible_text::hides_text;

/// What was found, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The tools on this page.
    pub hits: Vec<Hit>,
    /// The servers on this page, where servers are browsed; then there are no hits.
    pub servers: Vec<ServerLine>,
    /// How many are on this page.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
    /// How many come before this page.
    pub offset: usize,
    /// How much of each tool is told.
    pub detail: Detail,
    /// The servers that there are, where nothing was found.
    pub instead: Vec<String>,
}

/// One tool that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The server's folder in the tree.
    pub server: String,
    /// `folder.stem`, under which it can be called.
    pub tool: String,
    /// How it is called; empty where only names were asked for.
    pub signature: String,
    /// Its first sentence.
    pub summary: String,
    /// The whole description, bounded; only in full detail.
    pub description: Option<String>,
    /// Only in full detail.
    pub parameters: Vec<Parameter>,
    /// Comparable within one answer only.
    pub score: f32,
}

/// One argument of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// As it is sent.
    pub name: String,
    /// Whether a call needs it.
    pub required: bool,
    /// What the server says about it, bounded.
    pub text: String,
}

/// One server with the number of its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLine {
    /// Its folder in the tree.
    pub server: String,
    /// How many tools it has.
    pub tools: usize,
    /// Whether they are skills: no server has them, and they are imported instead of called.
    pub are_skills: bool,
    /// Its category, if it has one.
    pub category: Option<String>,
    /// What it says about itself, in one line.
    pub summary: String,
}

/// How a tool is called; asked for the tools of a page in their order.
pub type Signature<'a> = &'a dyn Fn(&Server, &Tool) -> String;

/// Whether somebody may know of a tool.
pub type MaySee<'a> = &'a dyn Fn(&Server, &Tool) -> bool;

/// A whole description is still meant for reading.
const DESCRIPTION_BYTES_MAX: usize = 4_000;
const PARAMETER_TEXT_BYTES_MAX: usize = 500;
const PARAMETERS_MAX: usize = 100;
const SERVER_SUMMARY_BYTES_MAX: usize = 160;
const NAME_BYTES_MAX: usize = 100;
const NEAREST_MAX: usize = 3;

impl Index {
    /// Searches, or browses if the text is empty. `nearness` is how near each tool is to the query, where that
    /// is known; `signature` says how a tool is called.
    pub fn search(
        &self,
        query: &Query,
        nearness: Option<&Nearness>,
        signature: Signature<'_>,
    ) -> Result<Answer, SearchError> {
        self.search_seen(query, nearness, &|_, _| true, signature)
    }

    /// The same for somebody who may know of some tools only. A server without any of these is as if it weren't
    /// there.
    pub fn search_seen(
        &self,
        query: &Query,
        nearness: Option<&Nearness>,
        may_see: MaySee<'_>,
        signature: Signature<'_>,
    ) -> Result<Answer, SearchError> {
        let seen: Vec<&Server> = self.catalogue.servers.iter().filter(|one| is_seen(one, may_see)).collect();
        let servers = self.wanted_servers(query, &seen)?;
        let wanted = |id: ToolId| {
            let (server, tool) = self.tool(id);
            servers[self.places[id as usize].0 as usize] && may_see(server, tool)
        };
        let browsing = query.text.trim().is_empty();
        if browsing && query.servers.is_empty() {
            return Ok(self.browse_servers(query, &servers, may_see));
        }
        let found = if browsing {
            let all = (0..self.places.len() as ToolId).filter(|id| wanted(*id));
            all.map(|tool| Ranked { tool, score: 0.0, covered: 0.0, exact: false }).collect()
        } else {
            self.rank(&query.text, nearness, wanted)
        };
        let folders = || seen.iter().map(|server| server.folder.clone()).collect();
        let instead = if found.is_empty() { folders() } else { Vec::new() };
        let hits: Vec<Hit> = page(query, &found).iter().map(|one| self.hit(one, query, signature)).collect();
        Ok(Answer {
            shown: hits.len(),
            hits,
            servers: Vec::new(),
            total: found.len(),
            offset: query.offset,
            detail: query.detail,
            instead,
        })
    }

    /// For each server of the catalogue whether it is wanted; only those that are seen can be.
    fn wanted_servers(&self, query: &Query, seen: &[&Server]) -> Result<Vec<bool>, SearchError> {
        let servers = &self.catalogue.servers;
        let is_seen = |server: &Server| seen.iter().any(|one| std::ptr::eq(*one, server));
        let mut wanted: Vec<bool> =
            servers.iter().map(|server| query.servers.is_empty() && is_seen(server)).collect();
        let spellings =
            |server: &Server| [&server.offer.name, &server.folder, &server.identifier].map(|name| fold(name));
        let known_as: Vec<[String; 3]> =
            if query.servers.is_empty() { Vec::new() } else { servers.iter().map(spellings).collect() };
        for name in &query.servers {
            let folded = fold(first_bytes(name, NAME_BYTES_MAX));
            let mut known = false;
            for ((wanted, names), server) in wanted.iter_mut().zip(&known_as).zip(servers) {
                if names.contains(&folded) && is_seen(server) {
                    (*wanted, known) = (true, true);
                }
            }
            if !known {
                return Err(unknown_server(name, seen));
            }
        }
        if let Some(category) = &query.category {
            let folded = fold(first_bytes(category, NAME_BYTES_MAX));
            let has =
                |server: &Server| server.offer.category.as_deref().is_some_and(|own| fold(own) == folded);
            if !seen.iter().any(|server| has(server)) {
                return Err(unknown_category(category, seen));
            }
            for (wanted, server) in wanted.iter_mut().zip(servers) {
                *wanted &= has(server);
            }
        }
        Ok(wanted)
    }

    fn browse_servers(&self, query: &Query, wanted: &[bool], may_see: MaySee<'_>) -> Answer {
        let servers = self.catalogue.servers.iter().zip(wanted).filter(|(_, wanted)| **wanted);
        let lines: Vec<ServerLine> = servers.map(|(server, _)| server_line(server, may_see)).collect();
        let servers = page(query, &lines).to_vec();
        Answer {
            shown: servers.len(),
            hits: Vec::new(),
            total: lines.len(),
            servers,
            offset: query.offset,
            detail: query.detail,
            instead: Vec::new(),
        }
    }

    fn hit(&self, found: &Ranked, query: &Query, signature: Signature<'_>) -> Hit {
        let (server, tool) = self.tool(found.tool);
        let definition = &tool.definition;
        let full = query.detail == Detail::Full;
        let description = definition.description.as_deref().filter(|_| full);
        Hit {
            server: server.folder.clone(),
            tool: format!("{}.{}", server.folder, tool.stem),
            signature: match query.detail {
                Detail::Names => String::new(),
                Detail::Summary | Detail::Full => signature(server, tool),
            },
            summary: harmless(&definition.summary()),
            description: description.map(|text| bounded(text, DESCRIPTION_BYTES_MAX)),
            parameters: if full { parameters(&definition.input_schema) } else { Vec::new() },
            score: found.score,
        }
    }
}

fn is_seen(server: &Server, may_see: MaySee<'_>) -> bool {
    server.tools.is_empty() || server.tools.iter().any(|tool| may_see(server, tool))
}

fn unknown_server(name: &str, seen: &[&Server]) -> SearchError {
    let name = first_bytes(name, NAME_BYTES_MAX);
    let folders = || seen.iter().map(|server| server.folder.as_str());
    let mut near = nearest(name, folders().map(|folder| (folder, folder)), NEAREST_MAX);
    let folded = fold(name);
    if near.is_empty() && !folded.is_empty() {
        near = folders().filter(|folder| fold(folder).contains(&folded)).take(NEAREST_MAX).collect();
    }
    let nearest = near.into_iter().map(str::to_owned).collect();
    SearchError::UnknownServer { name: name.to_owned(), nearest }
}

fn unknown_category(name: &str, seen: &[&Server]) -> SearchError {
    let categories = seen.iter().filter_map(|server| server.offer.category.clone());
    let known: BTreeSet<String> = categories.collect();
    SearchError::UnknownCategory {
        name: first_bytes(name, NAME_BYTES_MAX).to_owned(),
        known: known.into_iter().collect(),
    }
}

fn page<'a, T>(query: &Query, all: &'a [T]) -> &'a [T] {
    let start = query.offset.min(all.len());
    let end = start.saturating_add(query.limit.min(LIMIT_MAX)).min(all.len());
    &all[start..end]
}

fn server_line(server: &Server, may_see: MaySee<'_>) -> ServerLine {
    let text = server.offer.description.as_deref().or(server.offer.title.as_deref()).unwrap_or_default();
    // Some begin with a heading, which reads as well without its marks.
    let line = text.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty());
    let line = line.unwrap_or_default().trim_end();
    ServerLine {
        server: server.folder.clone(),
        tools: server.tools.iter().filter(|tool| may_see(server, tool)).count(),
        are_skills: false,
        category: server.offer.category.clone(),
        summary: bounded(line, SERVER_SUMMARY_BYTES_MAX),
    }
}

fn parameters(schema: &Value) -> Vec<Parameter> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .take(PARAMETERS_MAX)
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut found: Vec<Parameter> = properties
        .take(PARAMETERS_MAX)
        .map(|(name, inner)| Parameter {
            name: bounded(name, NAME_BYTES_MAX),
            required: required.contains(&name.as_str()),
            text: parameter_text(inner),
        })
        .collect();
    found.sort_by_key(|parameter| !parameter.required);
    found
}

/// On one line, with the values that are allowed if they are few.
fn parameter_text(schema: &Value) -> String {
    const CHOICES_MAX: usize = 20;
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = bounded(text, PARAMETER_TEXT_BYTES_MAX).split_whitespace().collect::<Vec<_>>().join(" ");
    let choices = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut shown: Vec<String> =
        choices.iter().take(CHOICES_MAX).map(|choice| bounded(&choice.to_string(), NAME_BYTES_MAX)).collect();
    if choices.len() > CHOICES_MAX {
        shown.push("…".to_owned());
    }
    match (text.is_empty(), shown.is_empty()) {
        (_, true) => text,
        (true, false) => format!("one of {}", shown.join(", ")),
        (false, false) => format!("{text} (one of {})", shown.join(", ")),
    }
}

fn bounded(text: &str, bytes_max: usize) -> String {
    let text = text.trim();
    let kept = first_bytes(text, bytes_max);
    let end = if kept.len() < text.len() { "…" } else { "" };
    harmless(kept) + end
}

/// Without characters that steer a terminal or hide text.
fn harmless(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !(c.is_control() || hides_text(*c))).collect()
}
