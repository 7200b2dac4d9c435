//! What becomes of a type checker's errors, and what a type checker is shown of a program.

mod support;

use gristmill_checks::Guardrails;
use gristmill_checks::typescript::{TypeError, TypeReport, check_with_types, may_use_tools, type_text};
use serde_json::json;
use support::{Known, tool};

fn known() -> Known {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    Known::server("crm", vec![tool("find", &schema)])
}

/// An error at the first place of `at`.
fn error(code: &str, at: &str, number: u32, message: &str) -> TypeReport {
    let text = type_text(code, &known().lookup).expect("a text");
    let offset = code.find(at).expect("the place");
    let line = code[..offset].matches('\n').count();
    let column = code[..offset].rsplit('\n').next().unwrap_or_default().encode_utf16().count();
    let end_column = column + at.encode_utf16().count();
    let error =
        TypeError { line, column, end_line: line, end_column, code: number, message: message.to_owned() };
    TypeReport { text, errors: vec![error] }
}

/// Rule, severity, place and message of each.
fn found(code: &str, types: &TypeReport) -> Vec<String> {
    let report = check_with_types(code, &known(), &Guardrails::default(), Some(types));
    let told = report.findings.iter().map(|found| {
        let hint = found.hint.as_deref().unwrap_or_default();
        format!(
            "{} {} {}:{} {} ({hint})",
            found.rule, found.severity, found.line, found.column, found.message
        )
    });
    told.collect()
}

const MISMATCH: &str = "Type 'number' is not assignable to type 'string'.";

#[test]
fn an_argument_of_the_wrong_type_is_an_error_where_it_is_certain() {
    let code = "const n = 5 + 1;\nawait tools.crm.find({ id: n });";
    let types = error(code, "id: n", 2322, MISMATCH);
    let expected = "GC-305 error 2:24 `crm.find` takes `id: string`, and this is `number` (fix the argument)";
    assert_eq!(found(code, &types), [expected]);
    let perhaps = format!("const n = 6;\nif (n > 5) {{ {} }}", "await tools.crm.find({ id: n });");
    let types = error(&perhaps, "id: n", 2322, MISMATCH);
    assert!(found(&perhaps, &types)[0].starts_with("GC-305 medium 2:"), "{:?}", found(&perhaps, &types));
    let types = error(code, "id: n", 2322, "Type 'string | number' is not assignable to type 'string'.");
    assert!(found(code, &types)[0].starts_with("GC-305 medium "));
}

#[test]
fn a_promise_in_place_of_a_value_is_told_to_be_awaited() {
    let code = "const p = tools.crm.find({ id: '1' });\nawait tools.crm.find({ id: p });";
    let types = error(code, "id: p", 2322, "Type 'Promise<any>' is not assignable to type 'string'.");
    let expected =
        "GC-305 error 2:24 `crm.find` takes `id: string`, and this is a promise (write `await` before it)";
    assert_eq!(found(code, &types), [expected]);
}

#[test]
fn arguments_that_are_no_object_are_an_error() {
    let code = "const id = 'a';\nawait tools.crm.find(id);";
    let message = "Argument of type 'string' is not assignable to parameter of type 'crm__find__Arguments'.";
    let types = error(code, "id);", 2345, message);
    assert_eq!(
        found(code, &types),
        [
            "GC-305 error 2:22 `crm.find` takes one object with its arguments by name, and this is `string` (write `{name: value}`)"
        ]
    );
}

#[test]
fn another_functions_argument_is_nobodys_business() {
    let code = "const f = (x: string) => x;\nawait tools.crm.find({ id: f(5) });";
    let types =
        error(code, "5)", 2345, "Argument of type 'number' is not assignable to parameter of type 'string'.");
    assert_eq!(found(code, &types), Vec::<String>::new());
}

#[test]
fn a_literal_is_told_once() {
    let code = "await tools.crm.find({ id: 5 });";
    let types = error(code, "id: 5", 2322, MISMATCH);
    let found = found(code, &types);
    assert!(found.len() == 1 && found[0].starts_with("GC-303 error"), "{found:?}");
}

#[test]
fn strictness_is_not_told() {
    let code = "const o = {};\no.x = 1;\nlet unused;\nawait tools.crm.find({ id: 'a' });";
    for (at, number, message) in [
        ("x = 1", 2339, "Property 'x' does not exist on type '{}'."),
        ("unused", 7034, "Variable 'unused' implicitly has type 'any'."),
        ("unused", 6133, "'unused' is declared but its value is never read."),
        ("id: 'a'", 2741, "Property 'other' is missing in type '{ id: string; }' but required in type 'X'."),
        ("id: 'a'", 2322, "Type 'Date' is not assignable to type 'string'."),
    ] {
        assert_eq!(found(code, &error(code, at, number, message)), Vec::<String>::new(), "{message}");
    }
}

#[test]
fn properties_of_answers_and_misspelled_names_are_findings_that_refuse_nothing() {
    let code = "const found = await tools.crm.find({ id: 'a' });\nconsole.log(found.titel, fond);";
    let message = "Property 'titel' does not exist on type 'crm__find__Result'. Did you mean 'title'?";
    assert_eq!(
        found(code, &error(code, "titel", 2551, message)),
        ["GC-306 medium 2:19 `titel` isn't declared in what `crm.find` returns (did you mean `title`?)"]
    );
    let message = "Property 'titel' does not exist on type 'Promise<crm__find__Result>'.";
    assert_eq!(
        found(code, &error(code, "titel", 2339, message)),
        [
            "GC-306 medium 2:19 this is a promise, which has no `titel` (write `await` before the call that gives it)"
        ]
    );
    let message = "Cannot find name 'fond'. Did you mean 'found'?";
    assert_eq!(
        found(code, &error(code, "fond", 2552, message)),
        ["GC-307 low 2:26 there is no `fond` here (did you mean `found`?)"]
    );
}

#[test]
fn places_are_right_behind_characters_of_every_size() {
    let code = "/* 👍👍 */ const s = '👍é'; await tools.crm.find({ id: n });\nvar n = 1;";
    let offset = code.find("id: n").expect("a place");
    let text = type_text(code, &known().lookup).expect("a text");
    let sent = text.find("id: n").expect("it is there");
    let column = text[..sent].encode_utf16().count();
    let error = TypeError {
        line: 0,
        column,
        end_line: 0,
        end_column: column + 2,
        code: 2322,
        message: MISMATCH.to_owned(),
    };
    let found = found(code, &TypeReport { text, errors: vec![error] });
    let expected = code[..offset].chars().count() + 1;
    assert!(found[0].starts_with(&format!("GC-305 error 1:{expected} ")), "{found:?}");
}

#[test]
fn door_a_program_cannot_name_a_file_to_the_checker() {
    let code = [
        "/// <reference path=\"/etc/passwd\" />",
        "import a from '/etc/passwd';",
        "import type { B } from \"../../etc/hostname\";",
        "export * from '/root/x';",
        "export { t } from '/root/t';",
        "import c = require('/root/y');",
        "type D = import(\"/root/z\").D;",
        "const e = await import(`/root/w`);",
        "const f = require('/root/v');",
        "/** @type {import('/root/u')} */ let g;",
        "import { find } from './servers/crm';",
    ]
    .join("\n");
    let text = type_text(&code, &known().lookup).expect("a text");
    for word in ["etc", "root", "hostname", "reference"] {
        assert!(!text.contains(word), "{word}\n{text}");
    }
    assert!(text.contains("import { find } from \"gm:0\""), "{text}");
    let widths = |text: &str| text.lines().map(|line| line.chars().count()).collect::<Vec<_>>();
    assert_eq!(widths(&text), widths(&code), "every line is as wide as it was");
    assert_eq!(type_text("declare module '/root/x' { }", &known().lookup), None);
    assert_eq!(type_text(&"let x = 1;\n".repeat(10_000), &known().lookup), None, "it is too long");
}

#[test]
fn what_is_returned_at_the_top_is_shown_to_the_checker() {
    let code = "const f = () => { return 1; };\nif (f()) return;\nreturn f().x;";
    let text = type_text(code, &known().lookup).expect("a text");
    assert_eq!(text, "const f = () => { return 1; };\nif (f()) return;\nthrow  f().x;");
}

#[test]
fn only_programs_that_may_use_tools_are_worth_a_check() {
    assert!(may_use_tools("import { find } from './servers/crm'"));
    assert!(may_use_tools("await callMCPTool('a.b')"));
    assert!(!may_use_tools("const x: number = 1; console.log(x)"));
}
