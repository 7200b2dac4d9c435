//! `delete_skill`: takes a skill away; the user can bring it back.

use gristmill_gateway::access::Scope;
use gristmill_gateway::skills::{DeletedSkill, SkillOrigin};
use serde::Deserialize;
use serde_json::json;

use super::own_tool::{Annotations, Input, OwnTool, Run, text};
use super::save_skill::CHANGED_SKILL_OUTPUT;
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

pub(super) static DELETE_SKILL: OwnTool = OwnTool {
    name: "delete_skill",
    title: "Delete a skill",
    description: include_str!("delete_skill.md"),
    input: Input {
        properties: |_| json!({"name": text()}),
        required: &["name"],
        shown_in_full_only: &[],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: CHANGED_SKILL_OUTPUT,
    annotations: Annotations::OVERWRITES,
    shown_from: Profile::Standard,
    // All callers share the skills.
    scopes: &[Scope::Execute, Scope::Admin],
    errors_are_structured: true,
    run: Run::Answer(|server, call| Box::pin(delete(server, call))),
};

#[derive(Deserialize)]
struct Arguments {
    name: String,
}

async fn delete(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let skills = server.skills()?;
    let Arguments { name } = read_arguments(call.arguments)?;
    let origin = SkillOrigin::of(&call.requester.caller);
    let DeletedSkill { skill: deleted, held } = skills.delete(&name, &origin).await?;
    if let Some(held) = held {
        let text = format!("Not deleted: {}", held.told(&deleted.name, deleted.version));
        let structured = json!({"status": "waiting", "name": deleted.name.as_str(), "notes": [text]});
        return Ok(Answer { text, structured, is_error: false });
    }
    let text = format!(
        "Deleted {} (v{}, {}). The user can restore it with `gristmill skills rollback`.",
        deleted.name,
        deleted.version,
        deleted.place.as_str()
    );
    let structured = json!({"status": "ok", "name": deleted.name.as_str()});
    Ok(Answer { text, structured, is_error: false })
}
