//! What is found in TypeScript programs, and what isn't; and which language a program is in.

mod support;

use gristmill_checks::typescript::check;
use gristmill_checks::{Guardrails, Language, NoTools, detect};
use serde_json::json;
use support::{Known, record_update, tool};

fn known() -> Known {
    let tools = vec![tool("updateRecord", &record_update()), tool("list", &json!({"type": "object"}))];
    Known::server("google-crm", tools)
}

/// Rule, severity and line of each.
fn expect(code: &str, expected: &[&str]) {
    let findings = check(code, &known(), &Guardrails::default()).findings;
    let found: Vec<String> =
        findings.iter().map(|found| format!("{} {} {}", found.rule, found.severity, found.line)).collect();
    assert_eq!(found, expected, "{code}\n{findings:#?}");
}

/// `GC-101:2` for each finding with its line, without tools.
fn found(code: &str) -> Vec<String> {
    let report = check(code, &NoTools, &Guardrails::default());
    report.findings.iter().map(|finding| format!("{}:{}", finding.rule, finding.line)).collect()
}

#[test]
fn right_calls_are_silent_in_every_spelling() {
    for code in [
        "import { updateRecord } from './servers/google-crm';\nawait updateRecord({ record_id: '1', amount: 3 });",
        "import { update_record as u } from 'servers/google_crm';\nawait u({ recordId: '1' });",
        "import * as crm from '@servers/google-crm/index.ts';\nawait crm.list();",
        "import crm from './servers/google-crm.js';\nawait crm.list({ anything: 1 });",
        "import { updateRecord, UpdateRecordInput } from './servers/google-crm';\nconst x: UpdateRecordInput = y;\nawait updateRecord(x);",
        "import { updateRecord } from './servers/google-crm/updateRecord';\nawait updateRecord({ record_id: x });",
        "await tools.google_crm.list({});",
        "await callMCPTool('google-crm.updateRecord', { record_id: `a`, amount: n });",
        "await callMCPTool(name, args);",
        "const rows = await Promise.all(ids.map(id => callMCPTool('google-crm.updateRecord', { record_id: id })));",
        "await callMCPTool('google-crm.updateRecord', { ...rest });",
        "const { updateRecord } = await import('./servers/google-crm');\nawait updateRecord({ record_id: '1' });",
        "const p = tools.google_crm.list();\nawait p;",
        "void tools.google_crm.list();",
        "return callMCPTool('google-crm.list');",
    ] {
        expect(code, &[]);
    }
}

#[test]
fn a_certain_mistake_is_an_error_with_its_line() {
    expect("import { updateRecrd } from './servers/google-crm';", &["GC-302 error 1"]);
    expect("import { updateRecord } from './servers/gogle-crm';", &["GC-301 error 1"]);
    expect("import { nothing_like_it } from './servers';", &["GC-301 error 1"]);
    expect("await callMCPTool('gogle.list');", &["GC-302 error 1"]);
    expect("await tools.google_crm.updte_record({});", &["GC-302 error 1"]);
    expect(
        "import { updateRecord } from './servers/google-crm';\nconst x = await updateRecord({ recrd_id: '1' });",
        &["GC-303 error 2"],
    );
    expect("import { updateRecord as u } from './servers/google-crm';\nawait u();", &["GC-303 error 2"]);
    expect("await callMCPTool('google-crm.updateRecord', { record_id: 1, amount: y });", &["GC-303 error 1"]);
    expect(
        "await callMCPTool('google-crm.updateRecord', { record_id: '1', tags: ['a', 2] });",
        &["GC-303 error 1"],
    );
    expect(
        "async function main() {\n  await callMCPTool('google-crm.updateRecord', {});\n}\nawait main();",
        &["GC-303 error 2"],
    );
    expect("await (async () => {\n  await callMCPTool('google-crm.nope');\n})();", &["GC-302 error 2"]);
    let told =
        &check("import { x } from './servers/gogle-crm';", &known(), &Guardrails::default()).findings[0];
    assert_eq!(told.message, "Cannot find module 'servers/gogle-crm'; did you mean 'servers/google_crm'?");
}

#[test]
fn what_may_not_run_or_is_caught_is_no_error() {
    for (code, line) in [
        ("if (x) {\n  await callMCPTool('google-crm.nope');\n}", 2),
        ("try {\n  await callMCPTool('google-crm.nope');\n} catch {}", 2),
        ("for (const x of y)\n  await callMCPTool('google-crm.nope');", 2),
        ("const f = () =>\n  callMCPTool('google-crm.nope');", 2),
        ("x &&\n  await callMCPTool('google-crm.nope');", 2),
        ("if (x) return;\nawait callMCPTool('google-crm.nope');", 2),
        ("const p =\n  callMCPTool('google-crm.nope');", 2),
    ] {
        expect(code, &[&format!("GC-302 medium {line}")]);
    }
}

#[test]
fn a_name_that_means_something_else_is_no_tool() {
    for code in [
        "function callMCPTool(name: string) {}\nawait callMCPTool('nope.nope');",
        "const tools = { google_crm: { nope() {} } };\nawait tools.google_crm.nope();",
        "import { updateRecord } from './mine';\nawait updateRecord();",
    ] {
        expect(code, &[]);
    }
}

#[test]
fn a_call_that_nobody_awaits_is_found() {
    expect("callMCPTool('google-crm.list');", &["GC-304 medium 1"]);
    expect("import { list } from './servers/google-crm';\nlist({});\n1", &["GC-304 medium 2"]);
    expect("for (const x of y) { tools.google_crm.list(); }", &["GC-304 medium 1"]);
}

#[test]
fn each_dangerous_construct_is_found_with_its_rule_and_line() {
    for (code, expected) in [
        ("eval(x)", "GC-104:1"),
        ("eval('1 + 1')", "GC-105:1"),
        ("eval(atob(x))", "GC-106:1"),
        ("new Function('a', b)", "GC-104:1"),
        ("Function('return this')()", "GC-105:1"),
        ("globalThis.eval(x)", "GC-104:1"),
        ("const x = 1;\n[].constructor.constructor('return 1')()", "GC-105:2 GC-101:2"),
        ("({}).__proto__.x = 1", "GC-101:1"),
        ("a['__proto__']", "GC-101:1"),
        ("a['constructor']['constructor']", "GC-101:1"),
        ("await import(name)", "GC-109:1"),
        ("require(name)", "GC-109:1"),
        ("import { exec } from 'node:child_process';", "GC-108:1"),
        ("const vm = require('vm');", "GC-109:1"),
        ("await fetch('https://x')", "GC-114:1"),
        ("import axios from 'axios';", "GC-114:1"),
        ("import _ from 'lodash';", "GC-203:1"),
        ("WebAssembly.compile(x)", "GC-107:1"),
        ("readFileSync('/etc/passwd')", "GC-115:1"),
        ("x // \u{202e}", "GC-116:1"),
    ] {
        assert_eq!(found(code).join(" "), expected, "{code}");
    }
}

#[test]
fn fetch_is_an_everyday_function_where_hosts_are_allowed() {
    let hosts = Known::server("http", vec![tool("get", &json!({"type": "object"}))]);
    let code = "const r = await fetch('https://api.example.com/x');\nr.status";
    assert!(check(code, &hosts, &Guardrails::default()).findings.is_empty());
    let socket = check("new WebSocket('wss://x')", &hosts, &Guardrails::default());
    assert_eq!(socket.findings.len(), 1, "{socket:?}");
}

#[test]
fn everyday_programs_have_no_findings() {
    for code in [
        "",
        "1 + 1",
        "import { readFile } from 'node:fs/promises';\nconst rows = JSON.parse(await readFile('/workspace/a.json', 'utf8'));\nrows.length",
        "interface Row { name: string; total: number }\nconst rows: Row[] = await callMCPTool('crm.list', {});\nconst result = rows.filter(r => r.total > 1).map(r => r.name);",
        "class A { constructor(private readonly x: number) {} clone() { return new (this.constructor as any)(this.x) } }",
        "const fetch = (x: string) => x;\nfetch('a');",
        "import { sum } from 'skills/stats';\nsum([1]);",
        "const re = /[/]'\"`/g;\n'a/b'.split('/').map(s => s.replace(re, ''));",
    ] {
        assert_eq!(found(code), Vec::<String>::new(), "{code}");
    }
}

#[test]
fn modules_are_held_to_the_lists() {
    let denying = Guardrails { denied_modules: vec!["fs".to_owned()], ..Guardrails::default() };
    let told = |code: &str| {
        let findings = check(code, &NoTools, &denying).findings;
        findings.into_iter().map(|finding| finding.rule.id()).collect::<Vec<_>>()
    };
    assert_eq!(told("import fs from 'node:fs/promises';"), ["GC-201"]);
    assert_eq!(told("require('fs');"), ["GC-201"]);
    assert_eq!(told("import path from 'node:path';\nimport { x } from './servers/a';"), Vec::<&str>::new());
}

#[test]
fn the_language_is_told_from_the_code() {
    let (python, typescript) = (Some(Language::Python), Some(Language::TypeScript));
    for (code, expected) in [
        ("x = 1", python),
        ("", python),
        ("print('hi')", python),
        ("def f(x):\n    return x\nf(1)", python),
        ("from servers.crm import update\nawait update(id=1)", python),
        ("rows = [r for r in x if r]", python),
        ("result = sum(range(10))", python),
        ("rows = [1, 2, 3]\n total = sum(rows)\nprint(total)", python),
        ("  a = 1\nb = 2", python),
        ("a = 1\n    b = 2\n  c = 3", python),
        ("console.log(1)\n  console.log(2)", typescript),
        ("result = rows\n  .map(f)", typescript),
        ("const x = 1\n  f(x)", typescript),
        ("if (x)\n  f()", typescript),
        ("const x = 5;", typescript),
        ("let y: number = 1\ny", typescript),
        ("import { a } from './servers/b';\nawait a({})", typescript),
        ("rows.map(r => r.name)", typescript),
        ("console.log('hi')", typescript),
        ("JSON.stringify(x)", typescript),
        ("await Promise.all(x)", typescript),
        ("// a comment\nf()", typescript),
        ("interface A { x: string }", typescript),
        ("function f() { return 1 }\nf()", typescript),
        ("```ts\nx = 1\n```", typescript),
        ("```python\nx = 1\n```", python),
        ("const x = ;\nlet y = 2;", typescript),
        ("def f(:\n    return", python),
        ("import math\nmath.pi", python),
        ("JSON = 5\nJSON", python),
        ("((((", None),
    ] {
        assert_eq!(detect(code), expected, "{code}");
    }
}
