//! What becomes of a program's value.

use serde_json::{Value, json};

use crate::world::World;

fn check(body: &str, expected: Value) {
    let ran = World::new().run(body);
    assert_eq!(ran.result(), &expected, "{body}");
}

#[test]
fn the_result_is_what_is_returned_else_assigned_else_exported_else_last() {
    check("globalThis.result = 2; __gristmill.default = 3; __gristmill.last = (4); return 1", json!(1));
    check("result = 2; __gristmill.default = 3; __gristmill.last = (4);", json!(2));
    check("const result = {a: 1};__gristmill.last = (4);__gristmill.result = result", json!({"a": 1}));
    check("__gristmill.default = 3; __gristmill.last = (4);", json!(3));
    check("__gristmill.last = (4);", json!(4));
    check("const main = async () => { await null; return [1] };\n__gristmill.last = (main());", json!([1]));
    check("result = Promise.resolve(5)", json!(5));
    check("__gristmill.default = main; async function main() { await null; return 6 }", json!(6));
    let ran = World::new().run("const x = 1;");
    assert_eq!((&ran.outcome["has_result"], ran.result()), (&json!(false), &Value::Null));
    let ran = World::new().run("return null");
    assert_eq!((&ran.outcome["has_result"], ran.result()), (&json!(true), &Value::Null));
}

#[test]
fn values_become_what_a_reader_of_json_expects() {
    check(
        "return {m: new Map([[\"a\", 1], [2, [3]]]), s: new Set([1, \"x\"]), d: new Date(0), r: /x/g, u: undefined, n: null}",
        json!({"m": {"a": 1, "2": [3]}, "s": [1, "x"], "d": "1970-01-01T00:00:00.000Z", "r": "/x/g", "n": null}),
    );
    check(
        "return [undefined, 1n, -0, new Float32Array([1.5]), new Uint8Array([104, 105]), Buffer.from(\"é\")]",
        json!([null, 1, 0, [1.5], "hi", "é"]),
    );
    check(
        "return [new Error(\"x\"), new URL(\"http://h/\"), Symbol(\"s\"), Object(1), (function* () { yield 1; yield 2 })()]",
        json!(["Error: x", "http://h/", "Symbol(s)", 1, [1, 2]]),
    );
    check("class P { x = 1; #y = 2; get z() { return 3 } } return new P()", json!({"x": 1}));
    check("return {toJSON() { return {kept: true} }}", json!({"kept": true}));
    check(
        "return new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])",
        json!({"$file": {"media_type": "image/png", "bytes": 8, "base64": "iVBORw0KGgo="}}),
    );
    check("return [\"a\\ud800b\", {\"\\udc00\": 1}]", json!(["a\u{fffd}b", {"\u{fffd}": 1}]));
    check("return new Map([[{k: 1}, 2]])", json!([[{"k": 1}, 2]]));
}

#[test]
fn what_is_not_carried_over_exactly_is_noted() {
    let ran = World::new().run("const a = {name: \"a\"}; a.list = [a]; return {a, n: [NaN, Infinity], f() {}, p: Promise.resolve(7), big: 2n ** 70n}");
    assert_eq!(ran.result()["a"], json!({"name": "a", "list": ["<cycle>"]}));
    assert_eq!((&ran.result()["n"], &ran.result()["p"]), (&json!(["NaN", "Infinity"]), &json!(7)));
    assert!(ran.outcome.to_string().contains("1180591620717411303424"));
    assert_eq!(
        ran.notes(),
        [
            "result.a.list[0] refers back to result.a; the cycle is cut",
            "NaN and Infinity are not JSON; they are written as text",
            "result.f is a function; only its name is shown",
            "result.p is a promise that nobody awaited; its value is shown: write await",
        ]
    );
}

#[test]
fn context_variables_are_globals_and_cannot_hide_helpers() {
    let ran = World::new()
        .context(json!({"rows": [1, 2], "sys.argv": ["a.ts", "x"]}))
        .run("return [rows.length, process.argv]");
    assert_eq!(ran.result(), &json!([2, ["node", "a.ts", "x"]]));
    for (name, told) in [
        ("callMCPTool", "would hide a built-in helper"),
        ("class", "is a word of JavaScript"),
        ("a-b", "is not an identifier"),
        ("__gristmill", "is reserved"),
    ] {
        let ran = World::new().context(json!({ name: 1 })).run("return 1");
        assert_eq!(ran.error()["kind"], "context");
        assert!(ran.message().contains(told), "{}", ran.message());
    }
    let ran = World::new().context(json!({"state": "texas"})).run("return state");
    assert_eq!(ran.result(), "texas");
}

#[test]
fn kept_variables_stay_and_each_program_has_its_name() {
    let ran = World::new().run_kept(&[
        "globalThis.x = 1; globalThis.add = (n) => n + x; result = 5",
        "globalThis.x += 1; return [add(1), typeof result]",
        "const y = 1;",
        "\nthrow new Error(\"third\")",
    ]);
    assert_eq!((ran[0].result(), ran[1].result()), (&json!(5), &json!([3, "number"])));
    assert_eq!(ran[2].outcome["has_result"], false, "what an earlier program assigned is no result");
    assert_eq!(ran[3].error()["line"], 2);
    assert!(ran[3].error()["traceback"].as_str().unwrap().contains("program-4.ts:2"), "{}", ran[3].outcome);
}
