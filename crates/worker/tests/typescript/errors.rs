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
        "program.ts:1\n    const inner = (row) => row.missing.length;\nTypeError: cannot read property 'length' of undefined\n    at inner (program.ts:1:24)\n    at outer (program.ts:4:10)\n    at program.ts:6:1"
    );
    let ran = World::new()
        .run("const go = async () => {\n  await null;\n  throw new RangeError(\"late\");\n};\nawait go();");
    assert_eq!(
        ran.error()["traceback"],
        "program.ts:3\n    throw new RangeError(\"late\");\nRangeError: late\n    at go (program.ts:3:13)"
    );
}

#[test]
fn a_rewritten_line_is_shown_as_its_author_wrote_it() {
    let check = |script: &str, expected: &str| {
        let ran = World::new().run_script(script);
        assert_eq!(ran.error()["traceback"], expected, "{script}");
    };
    let failed = "TypeError: cannot read property 'foo' of undefined";
    check(
        r#""use strict";(async () => { const r = {};
__gristmill.last = (result = { a: r.temp.foo });
}) // [[1,"const r = {};",[0,0,0,28,0,1]],[2,"result = { a: r.temp.foo };",[0,0,0,20,0,1,46,26,0,47,26,1]]]"#,
        &format!("program.ts:2\n    result = {{ a: r.temp.foo }};\n{failed}\n    at program.ts:2:15"),
    );
    check(
        r#""use strict";(async () => { const r = {};

__gristmill.default = (               r.temp.foo);;
}) // [[1,"const r = {};",[0,0,0,28,0,1]],[3,"export default r.temp.foo;",[0,0,0,23,0,1,48,25,0,50,25,1]]]"#,
        &format!("program.ts:3\n    export default r.temp.foo;\n{failed}\n    at program.ts:3:16"),
    );
    // Columns of the engine are bytes; those of the author, characters.
    check(
        r#""use strict";(async () => { const r = {};
const s         = "żółw"; const x         = r.temp.foo;
}) // [[1,"const r = {};",[0,0,0,28,0,1]],[2,"const s: string = \"żółw\"; const x: number = r.temp.foo;",[0,0,1,19,19,2,25,22,1]]]"#,
        &format!(
            "program.ts:2\n    const s: string = \"żółw\"; const x: number = r.temp.foo;\n{failed}\n    at program.ts:2:45"
        ),
    );
}

#[test]
fn an_import_that_fails_is_on_its_own_line() {
    let head = "\"use strict\";(async () => { await __gristmill.module(\"./none.json\", 3); ";
    let ran = World::new().run_script(&format!(
        "{head}const a = 1;\n\n;\n}}) // [[1,\"const a = 1;\",[0,0,0,{},0,1]],[3,\"import './none.json';\",[0,0,1]]]",
        head.len()
    ));
    let traceback = ran.error()["traceback"].as_str().unwrap();
    assert_eq!(ran.error()["line"], 3);
    assert!(traceback.starts_with("program.ts:3\n    import './none.json';\n"), "{traceback}");
    assert!(traceback.ends_with("\n    at program.ts:3"), "{traceback}");
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
