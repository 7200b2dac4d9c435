//! Checks before a worker has its program.

use std::sync::Arc;

use gristmill_gateway::domain::catalogue::{Catalogue, Lookup, ServerOffer, ToolDefinition};
use gristmill_gateway::domain::{Code, Level, Limits};
use gristmill_gateway::{EngineId, ExecuteRequest, KeepSettings, Report};
use gristmill_testkit::ScriptedTools;
use gristmill_testkit::processes::eventually;
use gristmill_testkit::scripted_worker::{ZygoteScript, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    a_program_that_is_no_python_reaches_no_worker,
    refused_programs_leave_no_worker_and_those_that_follow_find_one,
    a_refused_program_leaves_the_interpreter_of_its_session,
    a_wrong_tool_is_told_before_anything_runs,
    what_is_suspicious_is_recorded_and_runs,
    a_hardened_gateway_refuses_what_is_suspicious,
    a_program_can_be_checked_without_running_it,
    a_gateway_without_checks_hands_over_whatever_it_gets,
];

fn error_of(report: &Report) -> (Code, Option<u64>, String) {
    let error = report.error.as_ref().expect("a refusal");
    (error.code, error.line, error.traceback.clone().unwrap_or_default())
}

fn a_program_that_is_no_python_reaches_no_worker() {
    let stage = Stage::sound();
    let report = stage.world().run("x = 1\ny = = 2\n");
    let traceback = "  File \"program.py\", line 2\n    y = = 2\n        ^\nSyntaxError: invalid syntax: expected an expression";
    assert_eq!(error_of(&report), (Code::Syntax, Some(2), traceback.to_owned()));
    assert_eq!(report.execution_time_ms, 0.0);
    stage.works_and_ends();
}

/// Each of them costs a waiting worker, which is told where it would work and nothing more.
fn refused_programs_leave_no_worker_and_those_that_follow_find_one() {
    for waiting in [0, 2] {
        let stage = Stage::new(ZygoteScript::default(), |world| world.waiting(waiting));
        for _ in 0..20 {
            assert_eq!(error_of(&stage.world().run("y = = 2")).0, Code::Syntax);
        }
        let done = stage.run(&script().done(&json!(1)));
        assert_eq!((done.error, done.result), (None, Some(json!(1))));
        let pool = stage.world().gateway().pool();
        eventually("as many wait as before", || (pool.waiting() == waiting).then_some(()));
        // Beside them only the zygote.
        eventually("no other is left", || (stage.processes().len() <= waiting + 1).then_some(()));
        assert_eq!(stage.starts(), 1);
        stage.ends();
    }
}

fn a_refused_program_leaves_the_interpreter_of_its_session() {
    let kept = KeepSettings { count: 1, ..KeepSettings::default() };
    let stage = Stage::new(ZygoteScript::default(), |world| world.kept(kept));
    let done = script().done(&json!(1));
    let found = |request: ExecuteRequest| {
        stage.world().execute(request).variables.map(|variables| (variables.found, variables.kept))
    };
    assert_eq!(found(stage.request_in("s", &done)), Some((false, true)));
    let refused = ExecuteRequest { code: "y = = 2".to_owned(), ..stage.request_in("s", &done) };
    assert_eq!(error_of(&stage.world().execute(refused)).0, Code::Syntax);
    assert_eq!(found(stage.request_in("s", &done)), Some((true, true)));
    stage.ends();
}

fn crm() -> ScriptedTools {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let definition = json!({"name": "find", "inputSchema": schema}).to_string();
    let tools = vec![Arc::new(ToolDefinition::from_text(&definition).expect("a tool"))];
    let offer = ServerOffer { name: "crm".to_owned(), tools, ..ServerOffer::default() };
    ScriptedTools::new(|_| async { Ok(json!(1).into()) })
        .lookup(Lookup::new(Arc::new(Catalogue::new(vec![offer]))))
}

fn a_wrong_tool_is_told_before_anything_runs() {
    let stage = Stage::new(ZygoteScript::default(), |world| world.tools(crm()));
    let report = stage.world().run("print(1)\nawait callMCPTool('crm.fnd', {})");
    let (code, line, _) = error_of(&report);
    assert_eq!((code, line, report.stdout.as_str()), (Code::UnknownTool, Some(2), ""));
    let error = report.error.expect("a refusal");
    assert_eq!(error.hint.as_deref(), Some("use one of the names above"));
    let report = stage.world().run("await callMCPTool('crm.find', {'id': 5})");
    assert_eq!(error_of(&report).0, Code::BadCall);
    stage.works_and_ends();
}

fn suspicious() -> ExecuteRequest {
    ExecuteRequest::python(format!("{}\nexec(x)", script().done(&json!(1)).code()))
}

fn what_is_suspicious_is_recorded_and_runs() {
    let stage = Stage::new(ZygoteScript::default(), |world| world.limits(Limits::of(Level::Production)));
    let report = stage.world().run("import os\nos.system('x')");
    let found: Vec<_> = report.findings.iter().map(|found| (found.rule.id(), found.line)).collect();
    assert_eq!(found, [("GC-108", 2)]);
    assert_ne!(report.error.map(|error| error.code), Some(Code::Guardrail));
    stage.ends();
}

fn a_hardened_gateway_refuses_what_is_suspicious() {
    let stage = Stage::new(ZygoteScript::default(), |world| world.limits(Limits::of(Level::Hardened)));
    let report = stage.world().execute(suspicious());
    let (code, line, _) = error_of(&report);
    assert_eq!((code, line), (Code::Guardrail, Some(2)));
    let error = report.error.as_ref().expect("a refusal");
    assert!(error.message.contains("GC-104 high") && error.hint.is_some(), "{error:?}");
    assert_eq!(report.findings.len(), 1);
    stage.ends();
}

fn a_program_can_be_checked_without_running_it() {
    let stage = Stage::new(ZygoteScript::default(), |world| world.tools(crm()));
    let check =
        |code: &str| stage.world().block_on(stage.world().gateway().check(None, EngineId::Python, code));
    let rules: Vec<_> =
        check("exec(x)\nawait callMCPTool('crm.fnd')").findings.iter().map(|found| found.rule.id()).collect();
    assert_eq!(rules, ["GC-104", "GC-302"]);
    assert_eq!(check("1 + 1").findings, []);
    stage.ends();
}

fn a_gateway_without_checks_hands_over_whatever_it_gets() {
    let stage = Stage::new(ZygoteScript::default(), |world| world.without_checks());
    let report = stage.world().run("y = = 2");
    // The worker has seen it, and only understands scripts.
    assert_ne!(report.error.map(|error| error.code), Some(Code::Syntax));
    // It can still be asked what is wrong with a program.
    let told = stage.world().block_on(stage.world().gateway().check(None, EngineId::Python, "y = = 2"));
    assert_eq!(told.findings.len(), 1);
    stage.works_and_ends();
}
