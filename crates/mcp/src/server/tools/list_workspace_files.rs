//! `list_workspace_files`: the files of a session.

use gristmill_gateway::access::Scope;
use gristmill_gateway::domain::visible;
use gristmill_gateway::session::{FileKind, ListedFile, Listing};
use serde::Deserialize;
use serde_json::{Value, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;
use crate::server::workspace::{bytes_text, with_files};

/// Files of one listing.
const LISTED_MAX: usize = 200;

pub(super) static LIST_WORKSPACE_FILES: OwnTool = OwnTool {
    name: "list_workspace_files",
    title: "List files",
    description: include_str!("list_workspace_files.md"),
    input: Input {
        properties: |_| json!({"pattern": text(), "session": text()}),
        required: &[],
        shown_in_full_only: &[],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || {
            let file = json!({"type": "object", "properties": {"path": text(), "bytes": integer()}});
            json!({"files": {"type": "array", "items": file}, "total": integer(), "more": text()})
        },
        required: &["files", "total"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Standard,
    scopes: &[Scope::Execute],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(list_files(server, call))),
};

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    pattern: Option<String>,
    #[serde(default)]
    session: Option<String>,
}

async fn list_files(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let Arguments { pattern, session } = read_arguments(call.arguments)?;
    let Some(files) = server.files_to_read(session, &call.requester).await? else {
        return Ok(of_listing(&Listing::default()));
    };
    let list = with_files(files, String::new(), move |files, _| files.list(pattern.as_deref(), LISTED_MAX));
    let (_, listing) = list.await?;
    Ok(of_listing(&listing))
}

fn of_listing(listing: &Listing) -> Answer {
    let file = |file: &ListedFile| match file.kind {
        FileKind::File => {
            (visible(&file.path), format!("{} ({})", visible(&file.path), bytes_text(file.size)))
        }
        FileKind::EmptyFolder => {
            let path = format!("{}/", visible(&file.path));
            (path.clone(), path)
        }
        FileKind::Other => (visible(&file.path), format!("{} (not a regular file)", visible(&file.path))),
    };
    let lines: Vec<String> = listing.files.iter().map(|entry| file(entry).1).collect();
    let files: Vec<Value> =
        listing.files.iter().map(|entry| json!({"path": file(entry).0, "bytes": entry.size})).collect();
    let mut text = if lines.is_empty() { "No files.".to_owned() } else { lines.join("\n") };
    let mut structured = json!({"files": files, "total": listing.total});
    let more = listing.total > listing.files.len();
    if more || listing.is_cut {
        let of = if listing.is_cut { "more than " } else { "" };
        let note = format!(
            "{} of {of}{} files; narrow the pattern to see others",
            listing.files.len(),
            listing.total
        );
        text.push_str(&format!("\n[{note}]"));
        structured["more"] = json!(note);
    }
    Answer { text, structured, is_error: false }
}
