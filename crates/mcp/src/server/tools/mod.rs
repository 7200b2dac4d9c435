//! Our own tools: one file for each, with its descriptor, its schemas and what it does, beside the
//! text that a model reads about it.
//!
//! A new one is a file here, its text, and its place in [`ALL`]. Only `taken_arguments` knows them by
//! name, too.

mod own_tool;
#[cfg(test)]
mod schema_rules;
mod shown;
mod taken_arguments;
mod tool_call;

mod call_tool;
mod delete_skill;
mod execute_analysis;
mod execute_code;
mod execute_python;
mod generate_code;
mod get_execution;
mod get_execution_stats;
mod get_tool_definition;
mod list_skills;
mod list_workspace_files;
mod load_skill;
mod read_result;
mod read_workspace_file;
mod restore_pii;
mod sanitize_pii;
mod save_skill;
mod search_tools;
mod validate_code;
mod write_workspace_file;

pub(super) use get_execution::GET_EXECUTION;
pub(super) use own_tool::{OwnTool, Run};
pub use shown::{CodeWriting, SingleCalls};
pub(super) use shown::{ShownTools, hide_engine};
pub(super) use tool_call::ToolCall;

/// All of them, in the order in which they are listed.
pub(super) static ALL: [&OwnTool; 18] = [
    &execute_code::EXECUTE_CODE,
    &search_tools::SEARCH_TOOLS,
    &get_tool_definition::GET_TOOL_DEFINITION,
    &get_execution::GET_EXECUTION,
    &execute_analysis::EXECUTE_ANALYSIS,
    &write_workspace_file::WRITE_WORKSPACE_FILE,
    &read_workspace_file::READ_WORKSPACE_FILE,
    &list_workspace_files::LIST_WORKSPACE_FILES,
    &read_result::READ_RESULT,
    &save_skill::SAVE_SKILL,
    &load_skill::LOAD_SKILL,
    &list_skills::LIST_SKILLS,
    &delete_skill::DELETE_SKILL,
    &get_execution_stats::GET_EXECUTION_STATS,
    &validate_code::VALIDATE_CODE,
    &sanitize_pii::SANITIZE_PII,
    &restore_pii::RESTORE_PII,
    &execute_python::EXECUTE_PYTHON,
];
