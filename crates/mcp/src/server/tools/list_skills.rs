//! `list_skills`: the skills there are, with what became of the tools that they need.

use gristmill_gateway::skills::{ListQuery, listed};
use gristmill_gateway::tokens;
use serde_json::json;

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text, texts};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

const LIST_TOKENS_MAX: usize = 4_000;

pub(super) static LIST_SKILLS: OwnTool = OwnTool {
    name: "list_skills",
    title: "List skills",
    description: include_str!("list_skills.md"),
    input: Input {
        properties: |_| {
            json!({
                "query": text(),
                "tags": texts(),
                "detail_level": {"type": "string", "enum": ["names", "summary", "full"]},
            })
        },
        required: &[],
        shown_in_full_only: &["tags", "detail_level"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || json!({"total": integer(), "skills": texts(), "more": text()}),
        required: &["total", "skills"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Standard,
    scopes: &[],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(list(server, call))),
};

async fn list(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let skills = server.skills()?;
    let query: ListQuery = read_arguments(call.arguments)?;
    let view = skills.look_closely_for(&server.reader(&call.requester).await).await;
    let snapshot = server.parts.upstreams.as_ref().map(|upstreams| upstreams.snapshot());
    let listed = listed(&view, &query, snapshot.as_ref().map(|snapshot| snapshot.lookup()));
    let (_, total) = listed.counts();
    let mut more = listed.remarks();
    let (mut shown, mut left) = (Vec::new(), LIST_TOKENS_MAX);
    for entry in listed.entries() {
        let taken = tokens::count(&entry);
        if taken > left {
            more.insert(
                0,
                "Not all fit: narrow the query or tags, or use detail_level \"names\".".to_owned(),
            );
            break;
        }
        left -= taken;
        shown.push(entry);
    }
    let headline = match total {
        0 => listed.why_none().unwrap_or_default(),
        total => format!("{} of {total} shown", shown.len()),
    };
    let text = [headline].iter().chain(&shown).chain(&more).cloned().collect::<Vec<_>>().join("\n");
    let mut structured = json!({"total": total, "skills": shown});
    if !more.is_empty() {
        structured["more"] = json!(more.join(" "));
    }
    Ok(Answer { text, structured, is_error: false })
}
