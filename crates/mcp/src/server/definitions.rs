//! The tools that a caller is shown: names, schemas, and the texts of `texts/`.
//!
//! What stands here is in the model's context all the time, so every word is counted: see the tests.
//! It is the same for every caller and does not change while the gateway runs.

use std::sync::OnceLock;

use gristmill_gateway::domain::validate::ArgumentCheck;
use gristmill_gateway::tokens;
use serde_json::{Value, json};

use super::profile::Profile;
use super::{result_calls, stats_calls};

/// One of our tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnTool {
    ExecuteCode,
    ExecutePython,
    SearchTools,
    GetToolDefinition,
    GetExecution,
    ExecuteAnalysis,
    WriteWorkspaceFile,
    ReadWorkspaceFile,
    ListWorkspaceFiles,
    ReadResult,
    GetExecutionStats,
    SaveSkill,
    LoadSkill,
    ListSkills,
    DeleteSkill,
}

impl OwnTool {
    /// In the order in which they are listed.
    pub const ALL: [OwnTool; 15] = [
        OwnTool::ExecuteCode,
        OwnTool::SearchTools,
        OwnTool::GetToolDefinition,
        OwnTool::GetExecution,
        OwnTool::ExecuteAnalysis,
        OwnTool::WriteWorkspaceFile,
        OwnTool::ReadWorkspaceFile,
        OwnTool::ListWorkspaceFiles,
        OwnTool::ReadResult,
        OwnTool::SaveSkill,
        OwnTool::LoadSkill,
        OwnTool::ListSkills,
        OwnTool::DeleteSkill,
        OwnTool::GetExecutionStats,
        OwnTool::ExecutePython,
    ];

    pub fn name(self) -> &'static str {
        match self {
            OwnTool::ExecuteCode => "execute_code",
            OwnTool::ExecutePython => "execute_python",
            OwnTool::SearchTools => "search_tools",
            OwnTool::GetToolDefinition => "get_tool_definition",
            OwnTool::GetExecution => "get_execution",
            OwnTool::ExecuteAnalysis => "execute_analysis",
            OwnTool::WriteWorkspaceFile => "write_workspace_file",
            OwnTool::ReadWorkspaceFile => "read_workspace_file",
            OwnTool::ListWorkspaceFiles => "list_workspace_files",
            OwnTool::ReadResult => "read_result",
            OwnTool::GetExecutionStats => "get_execution_stats",
            OwnTool::SaveSkill => "save_skill",
            OwnTool::LoadSkill => "load_skill",
            OwnTool::ListSkills => "list_skills",
            OwnTool::DeleteSkill => "delete_skill",
        }
    }

    /// Whether a profile shows it. What is not shown cannot be called either.
    pub fn is_in(self, profile: Profile) -> bool {
        match self {
            OwnTool::ExecuteCode | OwnTool::SearchTools => true,
            OwnTool::GetToolDefinition
            | OwnTool::GetExecution
            | OwnTool::ExecuteAnalysis
            | OwnTool::WriteWorkspaceFile
            | OwnTool::ReadWorkspaceFile
            | OwnTool::ListWorkspaceFiles
            | OwnTool::ReadResult
            | OwnTool::SaveSkill
            | OwnTool::LoadSkill
            | OwnTool::ListSkills
            | OwnTool::DeleteSkill
            | OwnTool::GetExecutionStats => profile != Profile::Minimal,
            OwnTool::ExecutePython => profile == Profile::Full,
        }
    }

    /// Whether it may run programs, or touches what they left or find; the others only look things up.
    pub fn executes(self) -> bool {
        match self {
            OwnTool::ExecuteCode
            | OwnTool::ExecutePython
            | OwnTool::GetExecution
            | OwnTool::ExecuteAnalysis
            | OwnTool::WriteWorkspaceFile
            | OwnTool::ReadWorkspaceFile
            | OwnTool::ListWorkspaceFiles
            | OwnTool::ReadResult
            | OwnTool::SaveSkill
            | OwnTool::DeleteSkill => true,
            OwnTool::SearchTools
            | OwnTool::GetToolDefinition
            | OwnTool::LoadSkill
            | OwnTool::ListSkills
            | OwnTool::GetExecutionStats => false,
        }
    }

    /// Whether it changes what all callers share.
    pub fn changes_skills(self) -> bool {
        match self {
            OwnTool::SaveSkill | OwnTool::DeleteSkill => true,
            OwnTool::ExecuteCode
            | OwnTool::ExecutePython
            | OwnTool::GetExecution
            | OwnTool::ExecuteAnalysis
            | OwnTool::WriteWorkspaceFile
            | OwnTool::ReadWorkspaceFile
            | OwnTool::ListWorkspaceFiles
            | OwnTool::ReadResult
            | OwnTool::SearchTools
            | OwnTool::GetToolDefinition
            | OwnTool::LoadSkill
            | OwnTool::ListSkills
            | OwnTool::GetExecutionStats => false,
        }
    }

    /// Whether it answers how a program, an analysis or a skill fared; what the others refuse has no structured form.
    pub fn refuses_in_form(self) -> bool {
        match self {
            OwnTool::ExecuteCode
            | OwnTool::ExecutePython
            | OwnTool::GetExecution
            | OwnTool::ExecuteAnalysis
            | OwnTool::SaveSkill
            | OwnTool::DeleteSkill => true,
            OwnTool::SearchTools
            | OwnTool::GetToolDefinition
            | OwnTool::WriteWorkspaceFile
            | OwnTool::ReadWorkspaceFile
            | OwnTool::ListWorkspaceFiles
            | OwnTool::ReadResult
            | OwnTool::LoadSkill
            | OwnTool::ListSkills
            | OwnTool::GetExecutionStats => false,
        }
    }

    fn title(self) -> &'static str {
        match self {
            OwnTool::ExecuteCode => "Run a program",
            OwnTool::ExecutePython => "Run a Python program",
            OwnTool::SearchTools => "Find tools",
            OwnTool::GetToolDefinition => "Show a tool's definition",
            OwnTool::GetExecution => "Follow a running program",
            OwnTool::ExecuteAnalysis => "Analyse a table",
            OwnTool::WriteWorkspaceFile => "Write a file",
            OwnTool::ReadWorkspaceFile => "Read a file",
            OwnTool::ListWorkspaceFiles => "List files",
            OwnTool::ReadResult => "Read a result",
            OwnTool::GetExecutionStats => "Show what programs took and saved",
            OwnTool::SaveSkill => "Save a skill",
            OwnTool::LoadSkill => "Read a skill",
            OwnTool::ListSkills => "List skills",
            OwnTool::DeleteSkill => "Delete a skill",
        }
    }

    fn description(self) -> &'static str {
        match self {
            OwnTool::ExecuteCode => include_str!("texts/execute_code.md"),
            OwnTool::ExecutePython => include_str!("texts/execute_python.md"),
            OwnTool::SearchTools => include_str!("texts/search_tools.md"),
            OwnTool::GetToolDefinition => include_str!("texts/get_tool_definition.md"),
            OwnTool::GetExecution => include_str!("texts/get_execution.md"),
            OwnTool::ExecuteAnalysis => include_str!("texts/execute_analysis.md"),
            OwnTool::WriteWorkspaceFile => include_str!("texts/write_workspace_file.md"),
            OwnTool::ReadWorkspaceFile => include_str!("texts/read_workspace_file.md"),
            OwnTool::ListWorkspaceFiles => include_str!("texts/list_workspace_files.md"),
            OwnTool::ReadResult => include_str!("texts/read_result.md"),
            OwnTool::GetExecutionStats => include_str!("texts/get_execution_stats.md"),
            OwnTool::SaveSkill => include_str!("texts/save_skill.md"),
            OwnTool::LoadSkill => include_str!("texts/load_skill.md"),
            OwnTool::ListSkills => include_str!("texts/list_skills.md"),
            OwnTool::DeleteSkill => include_str!("texts/delete_skill.md"),
        }
    }

    pub fn input_schema(self, profile: Profile) -> Value {
        let text = json!({"type": "string"});
        let list = json!({"type": "array"});
        let properties = match self {
            OwnTool::ExecuteCode => execute_properties(profile, true),
            OwnTool::ExecutePython => execute_properties(profile, false),
            OwnTool::SearchTools => json!({
                "query": text,
                "server": text,
                "category": text,
                "detail_level": {"enum": ["names", "summary", "full"]},
                "limit": {"type": "integer"},
            }),
            OwnTool::GetToolDefinition => json!({
                "name": {"type": "string", "description": "tool or server.tool"},
                "server": text,
                "category": text,
                "format": {"enum": ["python", "typescript", "json"]},
            }),
            OwnTool::GetExecution => json!({
                "id": text,
                "wait_s": {"type": "number"},
                "cancel": {"type": "boolean", "description": "Stop it."},
                "max_output_tokens": {"type": "integer"},
                "shape": text,
            }),
            OwnTool::ExecuteAnalysis => json!({
                "data": {},
                "handle": text,
                "file": text,
                "session": text,
                "format": {"enum": ["json", "jsonl", "csv", "parquet"]},
                "data_field": {"type": "string", "description": "Where the rows are: result.items"},
                "steps": list,
                "analysis_type": {"type": "string", "description": "One step, with `parameters`, instead of `steps`."},
                "parameters": {"type": "object"},
                "inputs": {"type": "object", "description": "Tables to join, by name: {data | handle | file}."},
                "max_output_tokens": {"type": "integer"},
            }),
            OwnTool::WriteWorkspaceFile => json!({
                "path": text,
                "content": text,
                "encoding": {"enum": ["text", "base64"]},
                "session": text,
            }),
            OwnTool::ReadWorkspaceFile => json!({
                "path": text,
                "offset": {"type": "integer"},
                "limit": {"type": "integer"},
                "encoding": {"enum": ["text", "base64"]},
                "session": text,
            }),
            OwnTool::ListWorkspaceFiles => json!({
                "pattern": text,
                "session": text,
            }),
            OwnTool::ReadResult => json!({
                "handle": text,
                "path": {"type": "string", "description": "rows[3].name"},
                "offset": {"type": "integer"},
                "limit": {"type": "integer"},
            }),
            OwnTool::SaveSkill => json!({
                "name": text,
                "code": text,
                "description": text,
                "test": {"description": "asserts, or {call, expect}"},
                "tags": list,
            }),
            OwnTool::LoadSkill => json!({"name": text, "version": {"type": "integer"}}),
            OwnTool::ListSkills => json!({
                "query": text,
                "tags": list,
                "detail_level": {"enum": ["names", "summary", "full"]},
            }),
            OwnTool::DeleteSkill => json!({"name": text}),
            OwnTool::GetExecutionStats => json!({"session": text, "all": {"type": "boolean"}}),
        };
        let mut schema = json!({"type": "object", "properties": properties});
        let required: &[&str] = match self {
            OwnTool::ExecuteCode | OwnTool::ExecutePython => &["code"],
            OwnTool::WriteWorkspaceFile => &["path", "content"],
            OwnTool::ReadWorkspaceFile => &["path"],
            OwnTool::ReadResult => &["handle"],
            OwnTool::SaveSkill => &["name", "code"],
            OwnTool::LoadSkill | OwnTool::DeleteSkill => &["name"],
            OwnTool::SearchTools
            | OwnTool::GetToolDefinition
            | OwnTool::GetExecution
            | OwnTool::ExecuteAnalysis
            | OwnTool::ListWorkspaceFiles
            | OwnTool::ListSkills
            | OwnTool::GetExecutionStats => &[],
        };
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(false);
        schema
    }

    fn output_schema(self) -> Value {
        let text = json!({"type": "string"});
        let texts = json!({"type": "array", "items": {"type": "string"}});
        let (properties, required) = match self {
            OwnTool::ExecuteCode | OwnTool::ExecutePython | OwnTool::GetExecution => (
                json!({
                    "status": {"enum": ["ok", "failed", "cancelled", "running", "input_required", "listed"]},
                    "result": {},
                    "output": text,
                    "result_handle": text,
                    "output_handle": text,
                    "error": {"type": "object"},
                    "tools_called": texts,
                    "notes": texts,
                    "id": text,
                    "session": text,
                    "executions": texts,
                }),
                json!(["status"]),
            ),
            OwnTool::SearchTools => (
                json!({"shown": {"type": "integer"}, "total": {"type": "integer"}, "found": texts, "more": text}),
                json!(["shown", "total", "found"]),
            ),
            OwnTool::ExecuteAnalysis => (
                json!({
                    "status": {"enum": ["ok", "failed"]},
                    "result": {},
                    "rows": {"type": "integer"},
                    "columns": texts,
                    "columns_total": {"type": "integer"},
                    "notes": texts,
                    "result_handle": text,
                    "error": {"type": "object"},
                }),
                json!(["status"]),
            ),
            OwnTool::WriteWorkspaceFile => (
                json!({"path": text, "bytes": {"type": "integer"}, "session": text}),
                json!(["path", "bytes"]),
            ),
            OwnTool::ReadWorkspaceFile => (
                json!({
                    "path": text,
                    "content": text,
                    "encoding": {"enum": ["text", "base64"]},
                    "bytes": {"type": "integer"},
                    "next_offset": {"type": "integer"},
                }),
                json!(["path", "content", "encoding", "bytes"]),
            ),
            OwnTool::ListWorkspaceFiles => {
                let file =
                    json!({"type": "object", "properties": {"path": text, "bytes": {"type": "integer"}}});
                (
                    json!({"files": {"type": "array", "items": file}, "total": {"type": "integer"}, "more": text}),
                    json!(["files", "total"]),
                )
            }
            OwnTool::GetToolDefinition => {
                (json!({"definitions": {"type": "object"}, "left_out": texts}), json!(["definitions"]))
            }
            OwnTool::ReadResult => result_calls::output_schema(),
            OwnTool::GetExecutionStats => stats_calls::output_schema(),
            OwnTool::SaveSkill | OwnTool::DeleteSkill => (
                json!({
                    "status": {"enum": ["ok", "failed"]},
                    "name": text,
                    "version": {"type": "integer"},
                    "use": text,
                    "notes": texts,
                    "error": {"type": "object"},
                }),
                json!(["status"]),
            ),
            OwnTool::LoadSkill => (
                json!({"name": text, "version": {"type": "integer"}, "usage": text, "code": text}),
                json!(["name", "version", "usage", "code"]),
            ),
            OwnTool::ListSkills => (
                json!({"total": {"type": "integer"}, "skills": texts, "more": text}),
                json!(["total", "skills"]),
            ),
        };
        json!({"type": "object", "properties": properties, "required": required})
    }

    fn annotations(self) -> Value {
        let (is_read_only, is_destructive, is_idempotent, is_open) = match self {
            // A program can do whatever the servers' tools can, and a skill's test is one.
            OwnTool::ExecuteCode | OwnTool::ExecutePython | OwnTool::SaveSkill => (false, true, false, true),
            // It can stop a program, which may be done twice.
            OwnTool::GetExecution => (false, false, true, false),
            // What was there is gone.
            OwnTool::WriteWorkspaceFile | OwnTool::DeleteSkill => (false, true, true, false),
            OwnTool::SearchTools
            | OwnTool::GetToolDefinition
            | OwnTool::ExecuteAnalysis
            | OwnTool::ReadWorkspaceFile
            | OwnTool::ListWorkspaceFiles
            | OwnTool::ReadResult
            | OwnTool::LoadSkill
            | OwnTool::ListSkills
            | OwnTool::GetExecutionStats => (true, false, true, false),
        };
        json!({
            "readOnlyHint": is_read_only,
            "destructiveHint": is_destructive,
            "idempotentHint": is_idempotent,
            "openWorldHint": is_open,
        })
    }

    /// The schema as a model reads it.
    fn shown_schema(self, profile: Profile) -> Value {
        let mut schema = self.input_schema(profile);
        // Our check refuses other arguments all the same, and names the nearest.
        if let Some(members) = schema.as_object_mut() {
            members.shift_remove("additionalProperties");
        }
        if profile != Profile::Full
            && let Some(properties) = schema["properties"].as_object_mut()
        {
            properties.retain(|name, _| !self.rarely_wanted().contains(&name.as_str()));
        }
        schema
    }

    /// Arguments that every profile takes and only `full` shows: a model pays for each in every turn.
    fn rarely_wanted(self) -> &'static [&'static str] {
        match self {
            // The only language is the one that is taken anyway.
            OwnTool::ExecuteCode => &["language", "busy"],
            OwnTool::GetExecution => &["max_output_tokens", "shape"],
            // The other style of call, for callers that are used to it.
            OwnTool::ExecuteAnalysis => &["format", "analysis_type", "parameters"],
            OwnTool::GetToolDefinition => &["category", "format"],
            // A file that is no text says so, and which argument it needs.
            OwnTool::WriteWorkspaceFile | OwnTool::ReadWorkspaceFile => &["encoding"],
            OwnTool::SaveSkill => &["tags"],
            OwnTool::LoadSkill => &["version"],
            OwnTool::ListSkills => &["tags", "detail_level"],
            OwnTool::ExecutePython
            | OwnTool::SearchTools
            | OwnTool::ListWorkspaceFiles
            | OwnTool::ReadResult
            | OwnTool::DeleteSkill
            | OwnTool::GetExecutionStats => &[],
        }
    }

    /// The whole definition, as the protocol has it.
    pub fn definition(self, profile: Profile) -> Value {
        json!({
            "name": self.name(),
            "title": self.title(),
            "description": self.description().trim_end(),
            "inputSchema": self.shown_schema(profile),
            "outputSchema": self.output_schema(),
            "annotations": self.annotations(),
            // Clients that search for tools must find the one that finds all others.
            "_meta": {"anthropic/alwaysLoad": true},
        })
    }
}

/// The arguments of a program. Without `get_execution` there is nothing to follow it with.
fn execute_properties(profile: Profile, with_language: bool) -> Value {
    let mut properties = json!({"code": {"type": "string"}});
    if with_language {
        properties["language"] = json!({"enum": ["python"]});
    }
    properties["session"] = json!({"type": "string", "description": "A name or handle; its programs share /workspace and the dict `state`."});
    properties["timeout_s"] = json!({"type": "number"});
    properties["context"] = json!({"type": "object"});
    properties["max_output_tokens"] = json!({"type": "integer"});
    properties["shape"] = json!({"type": "string", "description": "schema, table, sample, …"});
    if profile != Profile::Minimal {
        properties["keep_variables"] = json!({"type": "boolean"});
        properties["background"] =
            json!({"type": "boolean", "description": "Answer an id for get_execution."});
        properties["busy"] =
            json!({"enum": ["wait", "refuse"], "description": "If the session runs another program."});
    }
    properties
}

/// The tools of a profile, with checks of their arguments.
pub(super) struct Shown {
    pub profile: Profile,
    pub definitions: Vec<Value>,
    checks: Vec<(OwnTool, ArgumentCheck)>,
    /// Of the definitions, in their order.
    tokens: OnceLock<Vec<u64>>,
}

impl Shown {
    pub fn new(profile: Profile) -> Self {
        let tools: Vec<OwnTool> = OwnTool::ALL.into_iter().filter(|tool| tool.is_in(profile)).collect();
        let check = |tool: &OwnTool| (*tool, ArgumentCheck::new(tool.name(), &tool.input_schema(profile)));
        Self {
            profile,
            definitions: tools.iter().map(|tool| tool.definition(profile)).collect(),
            checks: tools.iter().map(check).collect(),
            tokens: OnceLock::new(),
        }
    }

    /// What the definition of one of them comes to in a model's context. Counted at the first question:
    /// the tables take longer than a start may.
    pub fn definition_tokens(&self, tool: OwnTool) -> u64 {
        let count = |definition: &Value| {
            let [name, description] = ["name", "description"].map(|key| definition[key].as_str());
            let (tokens, _) =
                tokens::count_definition(name.unwrap_or_default(), description, &definition["inputSchema"]);
            tokens as u64
        };
        let counted = self.tokens.get_or_init(|| self.definitions.iter().map(count).collect());
        let place = self.checks.iter().position(|(shown, _)| *shown == tool);
        place.and_then(|place| counted.get(place)).copied().unwrap_or_default()
    }

    /// A tool by its name, and the check of its arguments.
    pub fn find(&self, name: &str) -> Option<(OwnTool, &ArgumentCheck)> {
        self.checks.iter().find(|(tool, _)| tool.name() == name).map(|(tool, check)| (*tool, check))
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.checks.iter().map(|(tool, _)| tool.name())
    }

    pub fn has(&self, tool: OwnTool) -> bool {
        tool.is_in(self.profile)
    }
}

#[cfg(test)]
#[path = "definitions_tests.rs"]
mod tests;
