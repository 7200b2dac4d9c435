//! What `import` and `require` find beside servers, and what a sandbox has instead of the rest.

use serde_json::json;

use crate::world::World;

#[test]
fn modules_of_node_are_imported_in_both_ways() {
    let ran = World::new().run("const {default: fs, readFileSync} = await __gristmill.module(\"node:fs\", 1); const path = await __gristmill.module(\"path\", 1); const {EventEmitter} = await __gristmill.module(\"events\", 1); const {default: assert} = await __gristmill.module(\"node:assert/strict\", 1);\nassert.equal(1, 1);\nreturn [fs.readFileSync === readFileSync, path.join(\"a\", \"b\"), path.default.sep, typeof EventEmitter, require(\"util\").format(\"%s\", 1), typeof (await __gristmill.load(\"node:crypto\")).createHash]");
    assert_eq!(ran.result(), &json!([true, "a/b", "/", "function", "1", "function"]));
}

#[test]
fn what_there_is_not_says_what_to_use_instead() {
    let cases = [
        ("await fetch(\"https://example.com\")", "fetch isn't available: programs have no network"),
        (
            "require(\"axios\")",
            "Cannot find package 'axios': packages can't be installed; programs have no network",
        ),
        ("await __gristmill.module(\"lodash\", 1)", "use plain JavaScript"),
        ("require(\"node:child_process\")", "programs can't start processes"),
        ("require(\"http\")", "programs have no network"),
        ("require(\"left-pad\")", "write what you need of it in plain JavaScript"),
        ("new WebSocket(\"ws://x\")", "WebSocket isn't available"),
        ("(5).toLocaleString(\"de-DE\")", "toLocaleString knows en-US alone here, not de-DE"),
        (
            "new Date(0).toLocaleString(\"en-US\", {timeZone: \"Asia/Tokyo\"})",
            "there is no data for the time zone Asia/Tokyo",
        ),
        ("require(\"fs\").createReadStream(\"x\")", "use fs.readFileSync"),
    ];
    for (body, told) in cases {
        let ran = World::new().run(body);
        assert!(ran.message().contains(told), "{body}: {}", ran.message());
    }
    assert_eq!(World::new().run("require(\"axios\")").error()["kind"], "missing_module");
    let ran = World::new().run("const key = process.env.API_KEY;\nreturn key.length");
    assert_eq!(ran.hint(), "there is no environment variable API_KEY: pass values as context");
    let ran = World::new().run("return process.env.DEBUG ?? \"unset\"");
    assert_eq!(ran.result(), "unset");
    assert_eq!(
        ran.notes(),
        ["process.env.DEBUG isn't set: programs have no environment variables; pass values as context"]
    );
}

#[test]
fn files_of_the_workspace_are_required() {
    let world = World::new()
        .file("workspace/data.json", "{\"n\": [1]}")
        .file("workspace/lib.js", "exports.twice = (n) => 2 * n;\nmodule.exports.name = \"lib\";")
        .file("workspace/esm.mjs", "export const a = 1;");
    let ran = world.run("const {default: data} = await __gristmill.module(\"./data.json\", 1); const lib = require(\"./lib\");\nreturn [data.n, lib.twice(4), lib.name]");
    assert_eq!(ran.result(), &json!([[1], 8, "lib"]));
    assert!(world.run("require(\"./esm.mjs\")").message().contains("save it with saveSkill"));
    assert!(world.run("require(\"./dat.json\")").message().contains("did you mean \"data.json\"?"));
}

#[test]
fn output_goes_to_its_stream() {
    let ran = World::new().run("console.log(\"out\"); console.error(\"err\"); console.warn(\"warn\"); process.stdout.write(\"no newline\"); console.info(\"info\")");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("out\nno newlineinfo\n", "err\nwarn\n"));
}

#[test]
fn lone_surrogates_and_nul_do_not_break_output() {
    let ran = World::new().run("console.log(\"a\\ud800b\\0c\"); return \"\\0\"");
    assert_eq!((ran.stdout.as_str(), ran.result()), ("a\u{fffd}b\0c\n", &json!("\0")));
}

#[test]
fn import_meta_names_the_program() {
    let ran = World::new().run("return [__gristmill.meta.url, __gristmill.meta.dirname]");
    assert_eq!(ran.result(), &json!(["file:///workspace/program.ts", "/workspace"]));
}
