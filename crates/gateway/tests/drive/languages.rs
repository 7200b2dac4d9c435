//! Programs in TypeScript: what their workers get, and when those start.

use gristmill_gateway::domain::Code;
use gristmill_gateway::{EngineId, ExecuteRequest, KeepSettings};
use gristmill_testkit::scripted_worker::{Step, ZygoteScript, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    a_typescript_program_reaches_its_worker_as_javascript,
    a_language_that_nobody_uses_has_no_process,
    a_program_that_is_no_typescript_spends_no_worker,
    each_language_of_a_session_keeps_an_interpreter_of_its_own,
    a_typescript_program_can_be_checked_without_running_it,
];

fn typescript(stage: &Stage, script: &gristmill_testkit::scripted_worker::Script) -> ExecuteRequest {
    ExecuteRequest { engine: EngineId::TypeScript, code: script.typescript(), ..stage.request(script) }
}

fn a_typescript_program_reaches_its_worker_as_javascript() {
    let stage = Stage::sound();
    let report = stage.world().execute(typescript(&stage, &script().step(Step::TellProgram)));
    assert_eq!(report.error, None);
    let told = report.result.and_then(|told| told.as_str().map(str::to_owned)).unwrap_or_default();
    assert!(told.starts_with("\"use strict\";(async () => { const x         = 1; /* script: {"), "{told}");
    // Behind it stands what the author wrote on that line.
    assert!(told.contains(" */\n}) // [[1,\"const x: number = 1; /* script: {"), "{told}");
    stage.ends();
}

fn a_language_that_nobody_uses_has_no_process() {
    let stage = Stage::sound();
    let done = script().done(&json!(1));
    assert_eq!(stage.run(&done).error, None);
    assert_eq!(stage.starts(), 1);
    assert_eq!(stage.world().execute(typescript(&stage, &done)).result, Some(json!(1)));
    assert_eq!(stage.starts(), 2);
    assert_eq!(stage.world().execute(typescript(&stage, &done)).result, Some(json!(1)));
    assert_eq!(stage.starts(), 2);
    stage.ends();
}

fn a_program_that_is_no_typescript_spends_no_worker() {
    let stage = Stage::sound();
    let report = stage.world().execute(ExecuteRequest::typescript("const x = 1;\nconst y = ;\n"));
    let error = report.error.expect("a refusal");
    assert_eq!((error.code, error.line), (Code::Syntax, Some(2)));
    let traceback = "program.ts:2:11\n    const y = ;\n              ^\nSyntaxError: Unexpected token";
    assert_eq!(error.traceback.as_deref(), Some(traceback));
    stage.works_and_ends();
}

fn each_language_of_a_session_keeps_an_interpreter_of_its_own() {
    let kept = KeepSettings { count: 4, ..KeepSettings::default() };
    let stage = Stage::new(ZygoteScript::default(), |world| world.kept(kept));
    let done = script().done(&json!(1));
    let found = |engine: EngineId| {
        let code = if engine == EngineId::Python { done.code() } else { done.typescript() };
        let request = ExecuteRequest { engine, code, ..stage.request_in("s", &done) };
        let report = stage.world().execute(request);
        assert_eq!(report.error, None);
        report.variables.map(|variables| (variables.found, variables.kept))
    };
    assert_eq!(found(EngineId::Python), Some((false, true)));
    assert_eq!(found(EngineId::TypeScript), Some((false, true)));
    assert_eq!(found(EngineId::Python), Some((true, true)));
    assert_eq!(found(EngineId::TypeScript), Some((true, true)));
    assert_eq!(stage.world().gateway().kept_interpreters().count, 2);
    stage.world().gateway().forget_variables("s", "told so");
    assert_eq!(stage.world().gateway().kept_interpreters().count, 0);
    assert_eq!(found(EngineId::TypeScript), Some((false, true)));
    stage.ends();
}

fn a_typescript_program_can_be_checked_without_running_it() {
    let stage = Stage::sound();
    let gateway = stage.world().gateway();
    let report =
        stage.world().block_on(gateway.check(None, EngineId::TypeScript, "const x: number = 1;\neval(x)"));
    let found: Vec<_> = report.findings.iter().map(|found| (found.rule.id(), found.line)).collect();
    assert_eq!(found, [("GC-104", 2)]);
    stage.ends();
}
