//! What a program's `search_tools` reads.

use gristmill_domain::search::Answer;
use serde_json::{Value, json};

/// The answer as text and as values, with how near each hit is if that is wanted.
pub(super) fn search_answer(answer: &Answer, text: &str, with_nearness: bool) -> Value {
    let mut hits = hits(answer);
    if with_nearness {
        let best = answer.hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max);
        for (said, hit) in hits.iter_mut().skip(answer.servers.len()).zip(&answer.hits) {
            said["nearness"] = json!((hit.score / best).clamp(0.0, 1.0));
        }
    }
    json!({ "text": text, "shown": answer.shown, "total": answer.total, "hits": hits })
}

/// The hits, or the servers where those were browsed.
fn hits(answer: &Answer) -> Vec<Value> {
    let servers = answer.servers.iter().map(|server| {
        json!({ "server": server.server, "tools": server.tools, "category": server.category, "description": server.summary })
    });
    let tools = answer.hits.iter().map(|hit| {
        let name = hit.tool.strip_prefix(&hit.server).and_then(|rest| rest.strip_prefix('.'));
        json!({
            "tool": hit.tool,
            "server": hit.server,
            "name": name.unwrap_or(&hit.tool),
            "signature": hit.signature,
            "description": hit.description.as_deref().unwrap_or(&hit.summary),
        })
    });
    servers.chain(tools).collect()
}
