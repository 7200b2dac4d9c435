//! What stands in a model's context about the servers' tools, all the time: all of them with their arguments
//! if they fit a budget, otherwise the servers with a line each and the most used tools.
//!
//! It is made of names and types of approved definitions and of the configuration's own words, never of a
//! server's sentences, and of nothing that changes by itself: the same catalogue, the same use and the same
//! caller are the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::{Catalogue, Server, Tool};
use crate::stubs::{self, Compact};
use crate::visible_text::one_line;

/// Characters of what the configuration says about a server.
const DESCRIPTION_CHARS_MAX: usize = 100;
/// Characters of a server's name; longer ones are cut.
const NAME_CHARS_MAX: usize = 64;
/// No text has more characters than these to a token, so that what can't fit isn't read to its end.
const CHARS_PER_TOKEN_MAX: usize = 8;

/// Used tools that are looked at: many more than fit.
const USED_MAX: usize = 100;

/// Characters of what a tool returns.
const RESULT_CHARS_MAX: usize = 120;

const LEGEND: &str = "(? optional)";

/// A server as its configuration describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingServer {
    /// As it is configured.
    pub name: String,
    /// What the configuration says about it.
    pub description: Option<String>,
}

/// What is wanted, and for whom.
pub struct Standing<'a> {
    pub servers: &'a [StandingServer],
    pub catalogue: &'a Catalogue,
    /// Whether the caller may know of a server.
    pub may_reach: &'a dyn Fn(&str) -> bool,
    /// Whether the caller may know of a tool.
    pub may_see: &'a dyn Fn(&Server, &Tool) -> bool,
    /// Tools that the caller's programs called most, the most called first, with what was learned of them.
    pub most_used: &'a [(&'a Server, &'a Tool)],
    pub tokens_max: usize,
    pub chars_max: usize,
    pub count: &'a dyn Fn(&str) -> usize,
}

impl Standing<'_> {
    /// The text; empty if there is nothing to tell, or no room for anything.
    pub fn text(&self) -> String {
        if self.tokens_max == 0 {
            return String::new();
        }
        self.all().unwrap_or_else(|| self.some())
    }

    fn fits(&self, text: &str) -> bool {
        text.chars().count() <= self.chars_max && (self.count)(text) <= self.tokens_max
    }

    fn seen(&self) -> impl Iterator<Item = (&Server, &Tool)> {
        let servers = self.catalogue.servers.iter();
        let tools = servers.flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
        tools.filter(|(server, tool)| self.is_seen(server, tool))
    }

    fn is_seen(&self, server: &Server, tool: &Tool) -> bool {
        (self.may_reach)(&server.offer.name) && (self.may_see)(server, tool)
    }

    /// Every tool, with what the most used ones return as far as there is room; `None` if they don't fit.
    fn all(&self) -> Option<String> {
        let mut listed = Listed::default();
        let mut chars = 0;
        for (server, tool) in self.seen() {
            let compact = stubs::compact(tool, RESULT_CHARS_MAX);
            chars += compact.call.len();
            if chars > self.tokens_max.saturating_mul(CHARS_PER_TOKEN_MAX) {
                return None;
            }
            listed.add(server, tool, compact, Shown::Call);
        }
        let head = format!("All tools by server {LEGEND}:");
        let text = listed.text(&head);
        if listed.is_empty() || !self.fits(&text) {
            return None;
        }
        Some(self.with_results(listed, &head, text))
    }

    /// Adds what the most used tools return, as long as it fits.
    fn with_results(&self, mut listed: Listed, head: &str, mut text: String) -> String {
        for (server, tool) in self.most_used {
            if !listed.show_result(server, tool) {
                continue;
            }
            let longer = listed.text(head);
            // One that is very long leaves room for others.
            match self.fits(&longer) {
                true => text = longer,
                false => listed.hide_result(server, tool),
            }
        }
        text
    }

    /// The servers, and the most used tools as far as there is room.
    fn some(&self) -> String {
        let total = self.seen().count();
        let servers = self.server_lines();
        if servers.is_empty() {
            return String::new();
        }
        let (mut text, mut listed) = (servers.clone(), Listed::default());
        let used = self.most_used.iter().take(USED_MAX);
        for (server, tool) in used.filter(|(server, tool)| self.is_seen(server, tool)) {
            // One that is very long leaves room for others.
            for shown in [Shown::Whole, Shown::Call] {
                let mut more = listed.clone();
                more.add(server, tool, stubs::compact(tool, RESULT_CHARS_MAX), shown);
                let head = format!("Most used, {} of {total} tools shown {LEGEND}:", more.count);
                let longer = format!("{servers}\n{}", more.text(&head));
                if self.fits(&longer) {
                    (text, listed) = (longer, more);
                    break;
                }
            }
        }
        text
    }

    /// The servers that the caller may know of, a line each if there is room, or their names.
    fn server_lines(&self) -> String {
        let tools = self.seen().fold(BTreeMap::<&str, usize>::new(), |mut tools, (server, _)| {
            *tools.entry(server.offer.name.as_str()).or_default() += 1;
            tools
        });
        // Of a server whose tools are all denied nothing is said.
        let is_denied = |name: &str| {
            let server = self.catalogue.servers.iter().find(|server| server.offer.name == name);
            server.is_some_and(|server| !server.tools.is_empty()) && !tools.contains_key(name)
        };
        let may_know = |server: &&StandingServer| (self.may_reach)(&server.name) && !is_denied(&server.name);
        let mut known: Vec<&StandingServer> = self.servers.iter().filter(may_know).collect();
        known.sort_by(|one, other| one.name.cmp(&other.name));
        if known.is_empty() {
            return String::new();
        }
        let head = "Servers (tools; find them with search_tools):";
        let line = |server: &&StandingServer, is_described: bool| {
            let name = one_line(&server.name, NAME_CHARS_MAX);
            let count =
                tools.get(server.name.as_str()).map(|count| format!(" ({count})")).unwrap_or_default();
            let words = server.description.as_ref().filter(|_| is_described);
            let words = words.map(|words| format!(": {}", one_line(words, DESCRIPTION_CHARS_MAX)));
            format!("{name}{count}{}", words.unwrap_or_default())
        };
        for is_described in [true, false] {
            let lines: Vec<String> = known.iter().map(|server| line(server, is_described)).collect();
            let text = format!("{head}\n{}", lines.join("\n"));
            if self.fits(&text) {
                return text;
            }
        }
        self.names(&known)
    }

    /// As many names as there is room for.
    fn names(&self, known: &[&StandingServer]) -> String {
        let mut text = String::new();
        for shown in 1..=known.len() {
            let names: Vec<String> =
                known.iter().take(shown).map(|server| one_line(&server.name, NAME_CHARS_MAX)).collect();
            let more = match known.len() - shown {
                0 => String::new(),
                more => format!(" and {more} more: search_tools without a query lists them"),
            };
            let names = format!("Servers: {}", names.join(", "));
            if !self.fits(&names) {
                break;
            }
            // All of them need no word about others, and may fit where fewer don't.
            let longer = format!("{names}{more}");
            if self.fits(&longer) {
                text = longer;
            }
        }
        text
    }
}

/// How much of a tool is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Call,
    Whole,
}

/// Tools by their servers, each in the order of names.
#[derive(Clone, Default)]
struct Listed {
    servers: BTreeMap<String, BTreeMap<String, (Compact, Shown)>>,
    count: usize,
}

impl Listed {
    fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    fn add(&mut self, server: &Server, tool: &Tool, compact: Compact, shown: Shown) {
        let tools = self.servers.entry(server.identifier.clone()).or_default();
        if tools.insert(tool.identifier.clone(), (compact, shown)).is_none() {
            self.count += 1;
        }
    }

    /// Whether it is listed, and there is something to show.
    fn show_result(&mut self, server: &Server, tool: &Tool) -> bool {
        let tools = self.servers.get_mut(&server.identifier);
        let found = tools.and_then(|tools| tools.get_mut(&tool.identifier));
        let Some((compact, shown)) = found.filter(|(_, shown)| *shown == Shown::Call) else { return false };
        compact.result = stubs::compact(tool, RESULT_CHARS_MAX).result;
        *shown = Shown::Whole;
        !compact.result.is_empty()
    }

    fn hide_result(&mut self, server: &Server, tool: &Tool) {
        let tools = self.servers.get_mut(&server.identifier);
        if let Some((_, shown)) = tools.and_then(|tools| tools.get_mut(&tool.identifier)) {
            *shown = Shown::Call;
        }
    }

    fn text(&self, head: &str) -> String {
        let mut text = head.to_owned();
        for (server, tools) in &self.servers {
            let mut spelled_out = BTreeSet::new();
            let tools: Vec<String> = tools
                .values()
                .map(|(compact, shown)| {
                    let call = with_short_choices(compact, &mut spelled_out);
                    match shown {
                        Shown::Whole if !compact.result.is_empty() => format!("{call} -> {}", compact.result),
                        Shown::Whole | Shown::Call => call,
                    }
                })
                .collect();
            text.push_str(&format!("\n{server}: {}", tools.join(", ")));
        }
        text
    }
}

/// A call in which a parameter that a tool of the same server has had before it, with the same words, has the first
/// of them only.
fn with_short_choices<'a>(compact: &'a Compact, spelled_out: &mut BTreeSet<&'a str>) -> String {
    let mut call = compact.call.clone();
    for choice in &compact.choices {
        let is_new = spelled_out.insert(choice);
        let Some((first, _)) = choice.split_once('|').filter(|_| !is_new) else { continue };
        for end in [", ", ")"] {
            call = call.replace(&format!("{choice}{end}"), &format!("{first}|…{end}"));
        }
    }
    call
}

#[cfg(test)]
#[path = "standing_tools_tests.rs"]
mod tests;
