//! `save_skill`: checks, tests and saves code for later programs to import.

use gristmill_gateway::access::Scope;
use gristmill_gateway::skills::{SaveRequest, SkillOrigin, SkillTest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text, texts};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

pub(super) static SAVE_SKILL: OwnTool = OwnTool {
    name: "save_skill",
    title: "Save a skill",
    description: include_str!("save_skill.md"),
    input: Input {
        properties: |_| {
            json!({
                "name": text(),
                "code": text(),
                "description": text(),
                "test": {"type": "string", "description": "With asserts"},
                "tags": texts(),
            })
        },
        required: &["name", "code"],
        shown_in_full_only: &["tags"],
        // An example: {call, expect}.
        not_in_minimal: &[],
        also_takes: &[("test", &["object"])],
    },
    output: CHANGED_SKILL_OUTPUT,
    // Its test is a program.
    annotations: Annotations::RUNS_A_PROGRAM,
    shown_from: Profile::Standard,
    // All callers share the skills.
    scopes: &[Scope::Execute, Scope::Admin],
    errors_are_structured: true,
    run: Run::Answer(|server, call| Box::pin(save(server, call))),
};

/// What is answered about a change of skills.
pub(super) const CHANGED_SKILL_OUTPUT: Output = Output {
    properties: || {
        json!({
            "status": {"type": "string", "enum": ["ok", "waiting", "failed"]},
            "name": text(),
            "version": integer(),
            "use": text(),
            "notes": texts(),
            "error": {"type": "object"},
        })
    },
    required: &["status"],
};

#[derive(Deserialize)]
struct Arguments {
    name: String,
    code: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    test: Option<Value>,
    #[serde(default)]
    tags: Option<Vec<String>>,
}

async fn save(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let skills = server.skills()?;
    let Arguments { name, code, description, test, tags } = read_arguments(call.arguments)?;
    let test = test.filter(|test| !test.is_null()).as_ref().map(SkillTest::from_json).transpose()?;
    let origin = SkillOrigin::of(&call.requester.caller);
    // What its test reads comes back in our answer.
    let caller = Some(server.reader(&call.requester).await);
    let said = SaveRequest { description, tags, test, ..SaveRequest::default() };
    // Its language is told from the code.
    let request = SaveRequest { name, code, origin, caller, ..said };
    let saved = skills.save(request).await?;
    let (name, version) = (saved.name.as_str(), saved.version);
    if saved.held.is_some() {
        let text = saved.text();
        let structured = json!({"status": "waiting", "name": name, "version": version, "notes": [text]});
        return Ok(Answer { text, structured, is_error: false });
    }
    let mut structured = json!({"status": "ok", "name": name, "version": version, "use": saved.usage()});
    if !saved.notes.is_empty() {
        structured["notes"] = json!(saved.notes);
    }
    Ok(Answer { text: saved.text(), structured, is_error: false })
}
