//! `read_workspace_file`: reads a session's file, or a part of it, without a program.

use gristmill_gateway::access::Scope;
use gristmill_gateway::domain::visible;
use gristmill_gateway::session::Encoding;
use serde::Deserialize;
use serde_json::{Number, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::{read_arguments, whole_number};
use crate::server::profile::Profile;
use crate::server::workspace::{ContentEncoding, no_file, with_files};

/// What a model reads at once if nothing else is said: about as much as any other answer of ours.
const READ_DEFAULT: u64 = 32 * 1024;
/// More than any client passes on.
const READ_MAX: u64 = 1024 * 1024;

pub(super) static READ_WORKSPACE_FILE: OwnTool = OwnTool {
    name: "read_workspace_file",
    title: "Read a file",
    description: include_str!("read_workspace_file.md"),
    input: Input {
        properties: |_| {
            json!({
                "path": text(),
                "offset": integer(),
                "limit": integer(),
                "encoding": {"type": "string", "enum": ["text", "base64"]},
                "session": text(),
            })
        },
        required: &["path"],
        // A file that is no text says so, and which argument it needs.
        shown_in_full_only: &["encoding"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || {
            json!({
                "path": text(),
                "content": text(),
                "encoding": {"type": "string", "enum": ["text", "base64"]},
                "bytes": integer(),
                "next_offset": integer(),
            })
        },
        required: &["path", "content", "encoding", "bytes"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Standard,
    scopes: &[Scope::Execute],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(read_file(server, call))),
};

#[derive(Deserialize)]
struct Arguments {
    path: String,
    #[serde(default)]
    offset: Option<Number>,
    #[serde(default)]
    limit: Option<Number>,
    #[serde(default)]
    encoding: ContentEncoding,
    #[serde(default)]
    session: Option<String>,
}

async fn read_file(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let Arguments { path, offset, limit, encoding, session } = read_arguments(call.arguments)?;
    let offset = whole_number("offset", offset.as_ref(), 0..=u64::MAX >> 1)?.unwrap_or(0);
    let limit = whole_number("limit", limit.as_ref(), 1..=READ_MAX)?.unwrap_or(READ_DEFAULT);
    let encoding = Encoding::from(encoding);
    let Some(files) = server.files_to_read(session, &call.requester).await? else {
        return Err(no_file(&path));
    };
    let (path, part) =
        with_files(files, path, move |files, path| files.read(path, offset, limit, encoding)).await?;
    let content = part.content.into_text();
    let mut structured = json!({
        "path": visible(&path),
        "content": content,
        "encoding": encoding.as_str(),
        "bytes": part.size,
    });
    let mut text = content;
    if let Some(next) = part.next_offset {
        structured["next_offset"] = json!(next);
        text.push_str(&format!("\n[cut at byte {next} of {}; continue with offset {next}]", part.size));
    }
    Ok(Answer { text, structured, is_error: false })
}
