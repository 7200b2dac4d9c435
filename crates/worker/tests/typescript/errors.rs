//! Errors as a model reads them.

use serde_json::{Value, json};

use crate::world::World;

#[test]
fn an_error_has_the_authors_line_and_a_short_stack() {
    let ran = World::new().run(
        "const inner = (row) => row.missing.length;\n\nfunction outer() {\n  return inner({});\n}\nouter();",
    );
    let error = ran.error();
    assert_eq!((&error["type"], &error["line"]), (&json!("TypeError"), &json!(1)));
    assert_eq!(
        error["traceback"],
        "TypeError: cannot read property 'length' of undefined\n    at inner (program.ts:1)\n    at outer (program.ts:4:10)\n    at program.ts:6:1"
    );
    let ran = World::new()
        .run("const go = async () => {\n  await null;\n  throw new RangeError(\"late\");\n};\nawait go();");
    assert_eq!(
        ran.error()["traceback"],
        "program.ts:3\n    throw new RangeError(\"late\");\nRangeError: late\n    at go (program.ts:3:13)"
    );
}

#[test]
fn what_is_thrown_is_told_whatever_it_is() {
    let cases: [(&str, &str, &str); 7] = [
        ("throw \"text\"", "Error", "the program threw 'text'"),
        ("throw {code: 7}", "Object", "the program threw { code: 7 }"),
        ("throw null", "Error", "the program threw null"),
        ("class AppError extends Error {}; throw new AppError(\"own\")", "AppError", "own"),
        (
            "throw new Error(\"outer\", {cause: new TypeError(\"inner\")})",
            "Error",
            "outer (caused by TypeError: inner)",
        ),
        (
            "await Promise.any([Promise.reject(new Error(\"a\"))])",
            "AggregateError",
            "All promises were rejected; the first: Error: a",
        ),
        ("await Promise.reject(new Error(\"rejected\"))", "Error", "rejected"),
    ];
    for (body, name, message) in cases {
        let ran = World::new().run(body);
        assert_eq!((ran.error()["type"].as_str(), ran.message()), (Some(name), message), "{body}");
    }
}

#[test]
fn an_exception_nobody_can_catch_ends_the_program() {
    for body in [
        "\nsetTimeout(() => { throw new Error(\"loose\") }, 1);\nawait new Promise((done) => setTimeout(done, 500))",
        "\nqueueMicrotask(() => { throw new Error(\"loose\") });\nawait new Promise((done) => setTimeout(done, 500))",
        "\nPromise.reject(new Error(\"loose\"));\nreturn 1",
        "\n(async () => { throw new Error(\"loose\") })();\nreturn 1",
    ] {
        let ran = World::new().run(body);
        assert_eq!((ran.message(), &ran.error()["line"]), ("loose", &json!(2)), "{body}");
    }
    let late = World::new().run("const p = Promise.reject(new Error(\"x\"));\nawait new Promise((done) => setTimeout(done, 5));\nreturn await p.catch((error) => error.message)");
    assert_eq!(late.result(), "x");
}

#[test]
fn exiting_is_an_end_with_or_without_success() {
    let ran = World::new().run("console.log(\"before\"); process.exit(0); console.log(\"after\")");
    assert_eq!((&ran.outcome["ok"], ran.stdout.as_str()), (&json!(true), "before\n"));
    let ran = World::new().run("setTimeout(() => process.exit(3), 1); await new Promise(() => {})");
    assert_eq!((&ran.error()["kind"], ran.message()), (&json!("exit"), "the program exited with code 3"));
}

#[test]
fn hints_say_what_to_write() {
    let cases = [
        ("print(1)", "this is JavaScript: write console.log"),
        ("consol.log(1)", "did you mean console?"),
        ("fs.readFileSync(\"x\")", "write import fs from \"node:fs\""),
        ("serchTools(\"x\")", "did you mean searchTools?"),
        ("const f = (n) => f(n + 1); f(0); f()", "use a loop, or check that the recursion ends"),
    ];
    for (body, hint) in cases {
        assert_eq!(World::new().run(body).hint(), hint, "{body}");
    }
    let world = World::new().answers(|_, _| Some(Ok(json!({"items": [{"title": "t"}], "total": 1}))));
    let ran = world.run("const got = await callMCPTool(\"a.b\");\nreturn got.titles.length");
    assert_eq!(ran.hint(), "the answer of a.b has: items, total");
    let ran = world.run("const got = await callMCPTool(\"a.b\");\nreturn got.map((x) => x)");
    assert_eq!(ran.hint(), "the answer of a.b is an object; its list is .items");
}

#[test]
fn a_program_that_does_not_compile_is_a_syntax_error() {
    let ran = World::new().run("const a = 1;\nconst b = ;\n");
    assert_eq!((&ran.error()["kind"], &ran.error()["line"]), (&json!("syntax"), &json!(2)));
    let ran = World::new().run("\nJSON.parse(\"{bad\")");
    assert_eq!((&ran.error()["kind"], &ran.error()["type"]), (&json!("exception"), &json!("SyntaxError")));
    assert!(ran.hint().starts_with("the text isn't JSON"));
    // Only the engine reads patterns, and it does so before anything runs.
    for code in
        ["console.log('ran');\nconst x = /a**/;", "console.log('ran');\nclass C { f() { return this.#y; } }"]
    {
        let ran = World::new().run(code);
        assert_eq!((&ran.error()["kind"], ran.stdout.as_str()), (&json!("syntax"), ""), "{}", ran.outcome);
    }
}

#[test]
fn loose_intervals_are_told_of_and_do_not_hold_the_program() {
    let ran = World::new().run("\nsetInterval(() => {}, 1000);\nreturn 1");
    assert_eq!(
        (ran.result(), ran.notes()),
        (&json!(1), vec!["setInterval on line 2 was never cleared; it ended with the program"])
    );
}

#[test]
fn a_program_cannot_break_its_own_report() {
    let hostile = [
        "JSON.stringify = () => \"{}\"; Object.keys = () => []; throw new Error(\"told\")",
        "Array.prototype.map = null; Array.prototype.push = null; Object.prototype.toJSON = () => 1; throw new Error(\"told\")",
        "const e = new Error(\"told\"); Object.defineProperty(e, \"stack\", {get() { throw 1 }}); throw e",
    ];
    for body in hostile {
        let ran = World::new().run(body);
        assert_eq!(ran.trap, None, "{body}");
        assert_eq!(ran.outcome["ok"], Value::Bool(false), "{body}: {}", ran.outcome);
    }
}
