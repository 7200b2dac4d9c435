//! The tools that programs name.

mod support;

use gristmill_checks::{Finding, Guardrails, Severity, check};
use serde_json::json;
use support::{Known, record_update, tool};

fn known() -> Known {
    let either = json!({
        "type": "object",
        "properties": {"mode": {"type": "string"}, "a": {"type": "string"}, "b": {"type": "string"}},
        "if": {"properties": {"mode": {"const": "x"}}},
        "then": {"required": ["a"]},
        "else": {"required": ["b"]},
    });
    let tools = vec![
        tool("updateRecord", &record_update()),
        tool("list", &json!({"type": "object"})),
        tool("either", &either),
    ];
    Known::server("google-crm", tools)
}

fn findings(code: &str) -> Vec<Finding> {
    check(code, &known(), &Guardrails::default()).findings
}

/// Rule, severity and line of each.
fn expect(code: &str, expected: &[&str]) {
    let found: Vec<String> = findings(code)
        .iter()
        .map(|found| format!("{} {} {}", found.rule, found.severity, found.line))
        .collect();
    assert_eq!(found, expected, "{code}\n{:#?}", findings(code));
}

#[test]
fn right_calls_are_silent_in_every_spelling() {
    for code in [
        "from servers.google_crm import updateRecord\nawait updateRecord(record_id='1', amount=3)",
        "from servers.google_crm import update_record as u\nawait u({'recordId': '1'})",
        "from servers import google_crm\nawait google_crm.list()",
        "import servers\nawait servers.google_crm.list()",
        "import servers.google_crm as crm\nawait crm.list(anything=1)",
        "await callMCPTool('google-crm.updateRecord', {'record_id': x, 'amount': None})",
        "await callMCPTool('list')",
        "await callMCPTool(name, arguments)",
        "await callMCPTool('google-crm.updateRecord', arguments)",
        "await callMCPTool('google-crm.updateRecord', {**rest})",
        "from servers.google_crm import *\nawait updateRecord()",
    ] {
        expect(code, &[]);
    }
}

#[test]
fn a_certain_mistake_is_an_error_with_its_line_and_the_right_name() {
    expect("from servers.google_crm import updateRecrd", &["GC-302 error 1"]);
    expect("from servers.gogle_crm import updateRecord", &["GC-301 error 1"]);
    expect("from servers import nothing_like_it", &["GC-301 error 1"]);
    expect("await callMCPTool('gogle.list')", &["GC-302 error 1"]);
    expect("x = 1\nawait callMCPTool('google-crm.updte_record', {})", &["GC-302 error 2"]);
    expect(
        "from servers.google_crm import updateRecord\nawait updateRecord(recrd_id='1')",
        &["GC-303 error 2"],
    );
    expect("from servers.google_crm import updateRecord\nawait updateRecord()", &["GC-303 error 2"]);
    expect(
        "from servers.google_crm import updateRecord\nx = await updateRecord(record_id=1, amount=y)",
        &["GC-303 error 2"],
    );
    expect(
        "await callMCPTool('google-crm.updateRecord', {'record_id': '1', 'tags': ['a', 2]})",
        &["GC-303 error 1"],
    );
    let told =
        |code: &str| (findings(code)[0].message.clone(), findings(code)[0].hint.clone().unwrap_or_default());
    let no_server = "No module named 'servers.gogle_crm'; did you mean 'servers.google_crm'?";
    assert_eq!(told("from servers.gogle_crm import x"), (no_server.to_owned(), String::new()));
    let no_tool = "there is no tool `google-crm.updte_record`; did you mean google-crm.updateRecord?";
    let hint = "use one of the names above";
    assert_eq!(told("await callMCPTool('google-crm.updte_record')"), (no_tool.to_owned(), hint.to_owned()));
    let hint = told("from servers.google_crm import updateRecrd").1;
    assert_eq!(hint, "servers.google_crm has: either, list, updateRecord");
}

#[test]
fn a_function_that_is_certain_to_run_counts_as_the_program() {
    expect(
        "import asyncio\nfrom servers.google_crm import updateRecord\nasync def main():\n    await updateRecord()\nasyncio.run(main())",
        &["GC-303 error 4"],
    );
    expect(
        "from servers.google_crm import updateRecord\nasync def main():\n    await updateRecord()\nif __name__ == '__main__':\n    await main()",
        &["GC-303 error 3"],
    );
}

#[test]
fn what_may_not_run_or_is_caught_is_no_error() {
    let import = "from servers.google_crm import updateRecord\n";
    for code in [
        "if x:\n    await updateRecord()",
        "for x in y:\n    await updateRecord()",
        "try:\n    await updateRecord()\nexcept ToolError:\n    pass",
        "with suppress(ToolError):\n    await updateRecord()",
        "async def f():\n    await updateRecord()",
        "async def f():\n    await updateRecord()\nawait asyncio.gather(f(), return_exceptions=True)",
        "async def f():\n    if x:\n        return\n    await updateRecord()\nawait f()",
        "async def f():\n    await updateRecord()\ntry:\n    await f()\nexcept Exception:\n    pass",
        "await asyncio.gather(updateRecord(), return_exceptions=True)",
        "x = y and await updateRecord()",
        "task = asyncio.create_task(updateRecord())",
        "def stop():\n    raise SystemExit\nstop()\nawait updateRecord()",
        "import sys\nsys.exit()\nawait updateRecord()",
    ] {
        let found = findings(&format!("{import}{code}"));
        let severities: Vec<_> = found.iter().map(|found| found.severity).collect();
        assert_eq!(severities, [Severity::Medium], "{code}: {found:?}");
    }
    expect("try:\n    from servers.nope import x\nexcept ImportError:\n    x = None", &["GC-301 medium 2"]);
}

#[test]
fn a_name_that_is_bound_again_means_nothing() {
    for code in [
        "from servers.google_crm import updateRecord\nupdateRecord = wrap(updateRecord)\nawait updateRecord()",
        "from servers.google_crm import updateRecord\ndef f(updateRecord):\n    pass\nawait updateRecord()",
        "from servers.google_crm import updateRecord\nglobals()['updateRecord'] = f\nx = 1",
        "def callMCPTool(name, arguments):\n    pass\ncallMCPTool('nope.nope', {})",
        "await google_crm.nope()",
        "await servers.google_crm.nope()",
    ] {
        expect(code, &[]);
    }
}

#[test]
fn with_a_value_unknown_nothing_is_said_about_what_depends_on_it() {
    expect("await callMCPTool('google-crm.either', {'mode': mode, 'a': '1'})", &[]);
    expect("await callMCPTool('google-crm.either', {'mode': 'y', 'a': '1'})", &["GC-303 error 1"]);
}

#[test]
fn a_server_that_may_yet_have_the_tool_is_given_the_benefit() {
    let known = Known { is_all: false, ..known() };
    let code = "from servers.later import x\nawait callMCPTool('google-crm.held_back')";
    assert_eq!(check(code, &known, &Guardrails::default()).findings, []);
}

#[test]
fn a_tool_that_may_never_be_called_is_in_no_advice_and_its_arguments_are_not_judged() {
    let denied = Known { denied: Some("updateRecord"), ..known() };
    let told = |code: &str, known: &Known| -> Vec<String> {
        let found = check(code, known, &Guardrails::default()).findings;
        found
            .iter()
            .map(|found| format!("{} {}", found.message, found.hint.clone().unwrap_or_default()))
            .collect()
    };
    let (misspelled, called) = (
        "from servers.google_crm import updateRecrd",
        "from servers.google_crm import updateRecord\nawait updateRecord(nonsense=1)",
    );
    assert!(told(misspelled, &known())[0].contains("updateRecord"));
    assert!(!told(misspelled, &denied)[0].contains("updateRecord"), "{:?}", told(misspelled, &denied));
    assert_eq!(told(called, &known()).len(), 1);
    assert_eq!(told(called, &denied), Vec::<String>::new(), "the door refuses it, and says why");
}
