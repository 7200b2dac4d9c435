//! `execute_python`: another name for `execute_code`, for callers that are used to it.

use gristmill_gateway::access::Scope;

use serde_json::json;

use super::execute_code::{PROGRAM_OUTPUT, execute, program_properties, with_dry_run};
use super::own_tool::{Annotations, Input, OwnTool, Run};
use crate::server::profile::Profile;

pub(super) static EXECUTE_PYTHON: OwnTool = OwnTool {
    name: "execute_python",
    title: "Run a Python program",
    description: include_str!("execute_python.md"),
    input: Input {
        // Described at the other name.
        properties: |profile| {
            let mut properties = program_properties(profile, None);
            with_dry_run(&mut properties);
            for property in properties.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
                property.as_object_mut().and_then(|members| members.shift_remove("description"));
            }
            properties["level"] = json!({"type": "string"});
            properties
        },
        required: &["code"],
        shown_in_full_only: &["level"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: PROGRAM_OUTPUT,
    annotations: Annotations::RUNS_A_PROGRAM,
    shown_from: Profile::Full,
    scopes: &[Scope::Execute],
    errors_are_structured: true,
    run: Run::Response(|server, mut call| {
        call.arguments.insert("language".to_owned(), json!("python"));
        Box::pin(execute(server, call))
    }),
};
