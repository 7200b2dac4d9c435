//! `write_workspace_file`: puts a file into a session without a program.

use gristmill_gateway::access::Scope;
use gristmill_gateway::domain::visible;
use gristmill_gateway::session::Encoding;
use serde::Deserialize;
use serde_json::json;

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;
use crate::server::workspace::{ContentEncoding, bytes_text, with_files};

pub(super) static WRITE_WORKSPACE_FILE: OwnTool = OwnTool {
    name: "write_workspace_file",
    title: "Write a file",
    description: include_str!("write_workspace_file.md"),
    input: Input {
        properties: |_| {
            json!({
                "path": text(),
                "content": text(),
                "encoding": {"type": "string", "enum": ["text", "base64"]},
                "session": text(),
            })
        },
        required: &["path", "content"],
        shown_in_full_only: &["encoding"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || json!({"path": text(), "bytes": integer(), "session": text()}),
        required: &["path", "bytes"],
    },
    annotations: Annotations::OVERWRITES,
    shown_from: Profile::Standard,
    scopes: &[Scope::Execute],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(write_file(server, call))),
};

#[derive(Deserialize)]
struct Arguments {
    path: String,
    content: String,
    #[serde(default)]
    encoding: ContentEncoding,
    #[serde(default)]
    session: Option<String>,
}

async fn write_file(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let Arguments { path, content, encoding, session } = read_arguments(call.arguments)?;
    let (files, made) = server.files_to_write(session, &call.requester).await?;
    let done = with_files(files, path, move |files, path| {
        let content = Encoding::from(encoding).decode(content)?;
        files.write(path, &content)
    });
    let (path, written) = match done.await {
        Ok(done) => done,
        Err(refused) => {
            server.remove_empty_session(made, &call.requester).await;
            return Err(refused);
        }
    };
    let shown = visible(&path);
    let mut text = format!("Wrote {shown}, {}.", bytes_text(written.size));
    let mut structured = json!({"path": shown, "bytes": written.size});
    if let Some(session) = made {
        text.push_str(&format!(" Session: {session}"));
        structured["session"] = json!(session);
    }
    Ok(Answer { text, structured, is_error: false })
}
