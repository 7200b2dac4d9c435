//! Calls of tools, and what else a program asks of the gateway.

use gristmill_protocol::CallKind;
use serde_json::{Value, json};

use crate::world::World;

const DOCUMENT: &str = "/**\n * Gets a document.\n */\nexport declare function getDocument(args: {\n  document_id: string; // Which\n  fields?: string[];\n}): Promise<{ text: string }>;\n";

/// A world with a server that answers with what it was asked.
fn world() -> World {
    World::new()
        .file("servers/google-drive/.server.json", "{\"name\": \"google-drive\"}")
        .file("servers/google-drive/index.ts", "export {};\n")
        .file("servers/google-drive/getDocument.ts", DOCUMENT)
        .file("servers/google-drive/list_files.ts", "export declare function list_files(args?: {}): Promise<unknown>;\n")
        .file("servers/crm/.server.json", "{\"name\": \"crm\", \"state\": \"connection refused\"}")
        .answers(|kind, payload| match (kind, payload["name"].as_str()) {
            (CallKind::Tool, Some("google-drive.getDocument")) => Some(Ok(json!({"text": "hello", "rows": [{"id": 1}]}))),
            (CallKind::Tool, Some("fails")) => {
                Some(Err(json!({"message": "no such thing", "code": "GM-3001", "tool": "fails", "kind": "tool", "retry_safe": true})))
            }
            (CallKind::Tool, Some("never")) => None,
            (CallKind::Tool, _) => Some(Ok(payload["arguments"].clone())),
            (CallKind::State, _) => Some(Ok(state(payload))),
            (CallKind::Search, _) => Some(Ok(json!({"text": "one tool", "shown": 1, "total": 3, "hits": [{"tool": "a.b", "server": "a"}]}))),
            (CallKind::Skill, _) => Some(skill(payload)),
            (CallKind::Analyze, _) => Some(Ok(payload["request"].clone())),
            (CallKind::Privacy, _) => Some(Ok(json!("[EMAIL_k3v9q2ab]"))),
            (CallKind::Stats, _) => Some(Ok(json!({"executions": 2}))),
            (CallKind::Resource, _) => Some(Ok(json!({"contents": [{"text": "resource text"}]}))),
            (CallKind::Result, _) => None,
        })
}

fn state(payload: &Value) -> Value {
    match payload["do"].as_str().unwrap() {
        "get" if payload["key"] == "known" => json!([{"n": 1}]),
        "get" => json!([]),
        "keys" => json!(["known"]),
        "delete" => json!(true),
        _ => json!(null),
    }
}

fn skill(payload: &Value) -> Result<Value, Value> {
    match (payload["action"].as_str().unwrap(), payload["name"].as_str()) {
        ("load", Some("totals")) => Ok(
            json!({"name": "totals", "code": "\"use strict\";(async () => { const total = (list) => list.reduce((a, b) => a + b, 0);\nconst broken = () => { throw new Error(\"in skill\"); }\n;return {total, broken, default: total}\n})"}),
        ),
        ("load", Some(name)) => {
            Err(json!({"message": format!("there is no skill \"{name}\""), "code": "GM-1401"}))
        }
        ("save", _) => Ok(json!({"name": payload["name"], "version": 1, "text": "saved"})),
        _ => Ok(json!({"names": ["totals"], "skills": [], "text": "none"})),
    }
}

#[test]
fn a_server_is_imported_in_every_spelling_that_a_model_tries() {
    let spellings = [
        "./servers/google-drive",
        "servers/google-drive",
        "@servers/google-drive",
        "/servers/google-drive",
        "../servers/google-drive",
        "./servers/google_drive",
        "./servers/googleDrive",
        "./servers/google-drive/index",
        "./servers/google-drive/index.ts",
        "./servers/google-drive.ts",
        "./servers/google-drive/index.js",
        "servers/google-drive/getDocument",
        "./servers/google-drive/getDocument.ts",
        "./servers/google_drive/get_document.js",
        "@/servers/google-drive",
        "~/servers/google-drive",
    ];
    let world = world();
    for spelling in spellings {
        let body = format!(
            "const {{getDocument: get}} = await __gristmill.module(\"{spelling}\", 1);\nreturn (await get({{document_id: \"d\"}})).text;"
        );
        assert_eq!(world.run(&body).result(), "hello", "{spelling}");
    }
}

#[test]
fn a_call_carries_its_name_arguments_and_line() {
    let ran = world().run("\nconst {get_document} = await __gristmill.module(\"./servers/google-drive\", 1);\nconst got = await get_document({document_id: \"d\", when: new Date(0), none: undefined});\nreturn got.text");
    assert_eq!(ran.result(), "hello");
    let (kind, payload) = &ran.calls[0];
    assert_eq!(*kind, CallKind::Tool);
    assert_eq!(
        payload,
        &json!({"name": "google-drive.getDocument", "arguments": {"document_id": "d", "when": "1970-01-01T00:00:00.000Z"}, "line": 3})
    );
}

#[test]
fn tools_are_reached_by_server_and_by_name() {
    let ran = world().run("return [(await tools.google_drive.getDocument({document_id: 1})).text, (await callMCPTool(\"echo\", {a: [1, {b: null}]})), Object.keys(tools.googleDrive), (await call_mcp_tool(\"x\"))]");
    assert_eq!(ran.result(), &json!(["hello", {"a": [1, {"b": null}]}, ["getDocument", "list_files"], {}]));
}

#[test]
fn a_name_that_there_is_not_says_what_is_meant() {
    let world = world();
    let cases = [
        (
            "const {getDocumnt} = await __gristmill.module(\"./servers/google-drive\", 1)",
            "did you mean 'getDocument'?",
        ),
        ("await __gristmill.module(\"./servers/gogle-drive\", 1)", "did you mean 'google-drive'?"),
        ("await __gristmill.module(\"./servers/google-drive/getDocumen\", 1)", "did you mean 'getDocument'?"),
        ("await __gristmill.module(\"./servers/crm\", 1)", "server crm is down: connection refused"),
        ("tools.crm.x()", "server crm is down"),
        ("tools.nothing_like_it", "there are: crm, google-drive"),
        ("describeTool(\"getDocs\")", "did you mean google-drive.getDocument?"),
    ];
    for (body, told) in cases {
        let ran = world.run(body);
        assert!(ran.message().contains(told), "{body}: {}", ran.message());
    }
    // Before the first line, where imports are: the line is that of the import.
    let ran = world.run_script(
        "\"use strict\";(async () => { const {\"getDocumnt\": a} = await __gristmill.module(\"./servers/google-drive\", 3); \n\n;\n}) // [[1,\"\",[0,0,0]],[3,\"import { getDocumnt as a } from './servers/google-drive';\",[0,0,1]]]",
    );
    assert_eq!((&ran.error()["type"], &ran.error()["line"]), (&json!("SyntaxError"), &json!(3)));
    let ran = world.run("\nawait getDocument({})");
    assert_eq!(ran.hint(), "it is a tool: write import { getDocument } from \"./servers/google-drive\"");
    assert_eq!(ran.error()["line"], 2);
}

#[test]
fn arguments_without_names_are_told_by_name() {
    let ran = world().run("await tools.google_drive.getDocument(\"abc\")");
    assert_eq!(
        ran.message(),
        "pass the arguments as one object: getDocument({document_id: …}); it takes document_id (required), fields"
    );
    let ran = world().run("await callMCPTool(\"echo\", {a: {b: [1, () => 1]}})");
    assert_eq!(ran.message(), "arguments.a.b[1] is a function, which JSON can't represent");
    let ran = world().run("await callMCPTool(\"echo\", {a: Promise.resolve(1)})");
    assert_eq!(ran.message(), "arguments.a is a promise; await it first");
}

#[test]
fn a_tool_that_fails_throws_a_tool_error_with_its_code_and_line() {
    let ran = world().run("try { await callMCPTool(\"fails\"); } catch (error) { return [error instanceof ToolError, error.name, error.message, error.code, error.tool, error.kind, error.retrySafe]; }");
    assert_eq!(ran.result(), &json!([true, "ToolError", "no such thing", "GM-3001", "fails", "tool", true]));
    let ran = world().run("\n\nawait callMCPTool(\"fails\")");
    let error = ran.error();
    assert_eq!(
        (&error["kind"], &error["code"], &error["line"]),
        (&json!("tool"), &json!("GM-3001"), &json!(3))
    );
    let ran = world().run("const all = await Promise.allSettled([callMCPTool(\"fails\"), callMCPTool(\"echo\", {n: 1})]);\nreturn all.map((one) => one.status)");
    assert_eq!(ran.result(), &json!(["rejected", "fulfilled"]));
}

#[test]
fn a_call_that_nobody_awaits_is_sent_and_told_of() {
    let ran = world().run("\ncallMCPTool(\"echo\", {a: 1});\nreturn 1");
    assert_eq!(ran.result(), 1);
    assert_eq!(ran.calls.len(), 1);
    assert_eq!(
        ran.notes(),
        [
            "callMCPTool(\"echo\") on line 2 was never awaited: it was sent, and nobody reads its answer; write await"
        ]
    );
    let ran = world().run("\ncallMCPTool(\"fails\");\nreturn 1");
    assert_eq!((ran.message(), &ran.error()["line"]), ("no such thing", &json!(2)));
}

#[test]
fn calls_run_side_by_side_beside_timers() {
    let ran = world().run("const order = [];\nconst late = new Promise((done) => setTimeout(() => { order.push(\"timer\"); done(); }, 30));\nconst calls = [1, 2, 3].map(async (n) => { order.push((await callMCPTool(\"echo\", {n})).n); });\nawait Promise.all([...calls, late]);\nreturn order");
    assert_eq!(ran.result(), &json!([1, 2, 3, "timer"]));
}

#[test]
fn waiting_for_what_never_comes_is_an_error() {
    let ran = world().run("await new Promise(() => {})");
    assert_eq!(ran.message(), "the program awaits a promise that nothing can settle any more");
}

#[test]
fn state_is_read_and_written_in_place() {
    let ran = world().run("state.total = {n: 2};\nstate.set(\"x\", 1);\ndelete state.old;\nreturn [state.known, state.missing, \"known\" in state, Object.keys(state), state.get(\"missing\", 7), {...state}]");
    assert_eq!(ran.result(), &json!([{"n": 1}, null, true, ["known"], 7, {"known": {"n": 1}}]));
    assert_eq!(ran.calls[0].1, json!({"do": "set", "key": "total", "value": {"n": 2}}));
    assert_eq!(ran.calls[2].1, json!({"do": "delete", "key": "old"}));
}

#[test]
fn tools_are_searched_and_described_without_waiting() {
    let ran = world().run("const hits = searchTools(\"documents\", {limit: 3});\nconsole.log(hits);\nreturn [hits.length, hits[0].tool, hits.total, hits.map((hit) => hit.server), describeTool(\"google_drive.get_document\").includes(\"Gets a document\"), describeTool(\"getDocument\", {detail: \"signature\"}).startsWith(\"export declare function\"), listServers(), listTools(\"google_drive\")]");
    assert_eq!(
        ran.result(),
        &json!([
            1,
            "a.b",
            3,
            ["a"],
            true,
            true,
            ["crm", "google-drive"],
            ["google-drive.getDocument", "google-drive.list_files"]
        ])
    );
    assert_eq!(ran.stdout, "one tool\n");
    assert_eq!(ran.calls[0].1["limit"], 3);
}

#[test]
fn skills_are_imported_and_saved() {
    let ran = world().run("const {total, default: also} = await __gristmill.module(\"skills/totals\", 1);\nconst again = await __gristmill.load(\"./skills/totals.ts\");\nreturn [total([1, 2]), also([3]), again.total === total, saveSkill(\"x\", \"export const a = 1\", {description: \"d\"})]");
    assert_eq!(ran.result(), &json!([3, 3, true, {"name": "x", "version": 1}]));
    assert_eq!(ran.calls.iter().filter(|(_, payload)| payload["action"] == "load").count(), 1);
    let ran = world().run("await __gristmill.module(\"skills/none\", 1)");
    assert_eq!(
        (ran.message(), &ran.error()["kind"]),
        ("Cannot find module 'skills/none': there is no skill \"none\"", &json!("missing_module"))
    );
    let ran = world().run("const {totl} = await __gristmill.module(\"skills/totals\", 1)");
    assert!(ran.message().contains("did you mean 'total'?"), "{}", ran.message());
}

#[test]
fn analyses_privacy_resources_and_statistics_are_asked_for() {
    let ran = world().run("return [await analyze([{a: 1}], [{filter: {a: {\">\": 0}}}]), await analyze({file: \"x.csv\", steps: [{head: 1}]}), sanitizePii(\"a@b.c\"), privacy.same(\"x\", \"y\"), await readResource(\"gristmill://a/b\"), getExecutionStats()]");
    assert_eq!(
        ran.result(),
        &json!([{"steps": [{"filter": {"a": {">": 0}}}]}, {"steps": [{"head": 1}]}, "[EMAIL_k3v9q2ab]", "[EMAIL_k3v9q2ab]", "resource text", {"executions": 2}])
    );
    assert_eq!(ran.calls[1].1["file"], "x.csv");
    assert!(world().run("await analyze(\"sales.csv\", [])").message().contains("{file: \"sales.csv\"}"));
}

#[test]
fn files_of_an_answer_lie_in_the_workspace() {
    let world = World::new().answers(|_, _| Some(Ok(json!("F{\"value\": {\"image\": {\"$file\": 0}}, \"files\": [{\"mime\": \"image/png\", \"base64\": \"iVBORw0KGgo=\"}]}"))));
    let ran = world.run("return await callMCPTool(\"shots.take\")");
    assert_eq!(
        ran.result(),
        &json!({"image": {"type": "image", "path": "/workspace/tool_files/take-1.png", "mime": "image/png", "bytes": 8,
            "$file": {"media_type": "image/png", "bytes": 8, "base64": "iVBORw0KGgo="}}})
    );
    assert!(world.path("workspace/tool_files/take-1.png").is_file());
}
