//! `search_tools`: finds tools and skills by words.

use std::sync::Arc;

use gristmill_gateway::domain::Code;
use gristmill_gateway::domain::search::LIMIT_MAX;
use gristmill_gateway::ports::ToolSearch;
use serde::Deserialize;
use serde_json::{Number, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text, texts};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::{read_arguments, whole_number};
use crate::server::profile::Profile;
use crate::server::trouble::missing;

pub(super) static SEARCH_TOOLS: OwnTool = OwnTool {
    name: "search_tools",
    title: "Find tools",
    description: include_str!("search_tools.md"),
    input: Input {
        properties: |_| {
            json!({
                "query": text(),
                "server": text(),
                "category": text(),
                "detail_level": {"type": "string", "enum": ["names", "summary", "full"]},
                "limit": integer(),
            })
        },
        required: &[],
        shown_in_full_only: &[],
        not_in_minimal: &["category", "detail_level"],
        also_takes: &[],
    },
    output: Output {
        properties: || json!({"shown": integer(), "total": integer(), "found": texts(), "more": text()}),
        required: &["shown", "total", "found"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Minimal,
    scopes: &[],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(search_tools(server, call))),
};

#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default)]
    query: String,
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    detail_level: Option<String>,
    #[serde(default)]
    limit: Option<Number>,
}

async fn search_tools(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let arguments: Arguments = read_arguments(call.arguments)?;
    let limit = whole_number("limit", arguments.limit.as_ref(), 1..=LIMIT_MAX as u64)?;
    let upstreams = server.parts.upstreams.as_ref();
    let offer = match &server.parts.skills {
        Some(skills) => {
            let reader = server.reader(&call.requester).await;
            Arc::clone(skills.look_closely_for(&reader).await.offer())
        }
        None => Arc::default(),
    };
    let snapshot = match upstreams {
        Some(upstreams) => {
            upstreams.known_soon().await;
            upstreams.snapshot_for(&call.requester.owner).await
        }
        None if offer.is_empty() => return Ok(no_servers()),
        None => Arc::default(),
    };
    let search = ToolSearch {
        query: arguments.query,
        server: arguments.server,
        category: arguments.category,
        detail: arguments.detail_level,
        limit: limit.map(|limit| limit as usize),
        offset: None,
        line: None,
        with_nearness: false,
    };
    let caller = &call.requester.caller;
    let seen = upstreams.map(|upstreams| upstreams.seen(caller, &snapshot)).unwrap_or_default();
    let found = snapshot
        .search_seen(&call.requester.owner, &search, &offer, &seen)
        .await
        .map_err(|error| Answer::refused(Code::BadRequest, &error.to_string(), None))?;
    let missing = upstreams.and_then(|upstreams| missing(upstreams, caller, search.server.as_deref()));
    Ok(of_found(&snapshot.rendered(&found), found.shown, found.total, missing))
}

/// What was found, out of the text that a program would be shown.
fn of_found(rendered: &str, found: usize, total: usize, missing: Option<String>) -> Answer {
    let mut lines: Vec<String> = rendered.lines().map(str::to_owned).collect();
    // The first line says how many, the last how to see more; both are fields of their own.
    let headline = if lines.is_empty() { String::new() } else { lines.remove(0) };
    // Fewer than were found if they do not fit.
    let shown = headline.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(found);
    let mut more: Vec<String> = Vec::new();
    if lines.last().is_some_and(|line| !line.starts_with(' ') && (line.starts_with("More:") || total == 0)) {
        let last = lines.pop();
        // Whoever asked for so many knows how to get more; the counts say that there are.
        more.extend(match (total, shown < found) {
            (0, _) => last,
            (_, true) => Some(NARROWER.to_owned()),
            (_, false) => None,
        });
    }
    let mut text = headline;
    for line in lines.iter().chain(&more) {
        text.push('\n');
        text.push_str(line);
    }
    if let Some(missing) = missing {
        text.push_str(&format!("\n{missing}"));
        more.push(missing);
    }
    let mut structured = json!({"shown": shown, "total": total, "found": entries(lines)});
    if !more.is_empty() {
        structured["more"] = json!(more.join(" "));
    }
    Answer { text, structured, is_error: false }
}

/// One text for each that was found: its lines are indented below its first.
fn entries(lines: Vec<String>) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in lines {
        match entries.last_mut() {
            Some(entry) if line.starts_with(' ') => {
                entry.push('\n');
                entry.push_str(line.trim());
            }
            Some(_) | None => entries.push(line),
        }
    }
    entries
}

/// Where an answer has no room for more. This tool has no offset.
const NARROWER: &str = "More: narrow the query, or name a server.";

fn no_servers() -> Answer {
    let words = "No servers are connected. Add one with `gristmill add` or `gristmill import`.";
    Answer {
        text: words.to_owned(),
        structured: json!({"shown": 0, "total": 0, "found": [], "more": words}),
        is_error: false,
    }
}
