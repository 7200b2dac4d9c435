//! `load_skill`: how a skill is used, and its code.

use gristmill_gateway::answer::fit;
use gristmill_gateway::domain::one_line;
use gristmill_gateway::domain::skills::{SKILL_FILE, SkillName};
use gristmill_gateway::skills::{SkillError, SkillOrigin, Standing};
use serde::Deserialize;
use serde_json::json;

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

/// A skill is read whole, within reason; a program reads all of it with `load_skill`.
const CODE_TOKENS_MAX: usize = 8_000;

pub(super) static LOAD_SKILL: OwnTool = OwnTool {
    name: "load_skill",
    title: "Read a skill",
    description: include_str!("load_skill.md"),
    input: Input {
        properties: |_| json!({"name": text(), "version": integer()}),
        required: &["name"],
        shown_in_full_only: &["version"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || json!({"name": text(), "version": integer(), "usage": text(), "code": text()}),
        required: &["name", "version", "usage", "code"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Standard,
    scopes: &[],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(load(server, call))),
};

#[derive(Deserialize)]
struct Arguments {
    name: String,
    #[serde(default)]
    version: Option<i64>,
}

async fn load(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let skills = server.skills()?;
    let Arguments { name, version } = read_arguments(call.arguments)?;
    let view = skills.look_again().await;
    let unknown = || SkillError::Unknown { name: one_line(&name, 64), nearest: view.nearest(&name) };
    let skill = view.find(&name);
    if let Some(skill) = skill.filter(|skill| skill.standing == Standing::Waiting) {
        // Its name is anybody's words: a model is told no other spelling than its own.
        return Err(match skill.name.as_str() == name {
            true => SkillError::Waiting(name.clone()).into(),
            false => unknown().into(),
        });
    }
    let (name, number, files, seen) = match (version, skill) {
        (Some(version), _) => {
            let known = skills.version(&name, version).await?;
            let seen = known.origin.as_ref().map(SkillOrigin::seen).unwrap_or_default();
            (known.name, known.version, known.files, seen)
        }
        (None, Some(skill)) => {
            (skill.name.to_string(), skill.version, skill.files.clone(), skill.seen.clone())
        }
        (None, None) => return Err(unknown().into()),
    };
    skills.note_read(&server.reader(&call.requester).await, &seen).await;
    let usage = files.get(SKILL_FILE).unwrap_or_default();
    let known = SkillName::new(&name).map_err(SkillError::from)?;
    let (code, language) =
        (files.code(&known).unwrap_or_default(), files.language(&known).unwrap_or_default());
    let usage = fit::beginning(usage, CODE_TOKENS_MAX / 4);
    let code = fit::ends(code, CODE_TOKENS_MAX);
    let text =
        format!("{}\n\n```{}\n{}\n```", usage.text.trim_end(), language.as_str(), code.text.trim_end());
    let structured = json!({"name": name, "version": number, "usage": usage.text, "code": code.text});
    Ok(Answer { text, structured, is_error: false })
}
