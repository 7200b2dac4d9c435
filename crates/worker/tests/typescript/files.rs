//! Files by `node:fs` and by the helpers.

use gristmill_protocol::WorkerLimit;
use serde_json::json;

use crate::world::{LIMITS, World};

#[test]
fn files_are_written_read_listed_and_removed() {
    let world = World::new().file("workspace/in.json", "{\"a\": [1, 2]}");
    let ran = world.run(
        "const fs = require(\"node:fs\"); const {readFile: read, writeFile: write} = require(\"fs/promises\");
const data = JSON.parse(fs.readFileSync(\"in.json\", \"utf8\"));
fs.mkdirSync(\"out/deep\", {recursive: true});
await write(\"out/deep/x.txt\", \"héllo\\n\");
fs.appendFileSync(\"/workspace/out/deep/x.txt\", Buffer.from(\"more\"));
const stat = fs.statSync(\"out/deep/x.txt\");
fs.renameSync(\"out/deep/x.txt\", \"out/y.txt\");
fs.copyFileSync(\"out/y.txt\", \"out/z.txt\");
const listed = fs.readdirSync(\"out\", {withFileTypes: true}).map((entry) => [entry.name, entry.isDirectory()]);
fs.rmSync(\"out/deep\", {recursive: true});
return [data.a, await read(\"out/y.txt\", \"utf8\"), (await read(\"out/z.txt\")).length, stat.size, stat.isFile(), listed, fs.existsSync(\"out/deep\"), fs.existsSync(\"nope\")]",
    );
    assert_eq!(
        ran.result(),
        &json!([
            [1, 2],
            "héllo\nmore",
            11,
            11,
            true,
            [["deep", true], ["y.txt", false], ["z.txt", false]],
            false,
            false
        ])
    );
    assert_eq!(std::fs::read_to_string(world.path("workspace/out/y.txt")).unwrap(), "héllo\nmore");
}

#[test]
fn the_helpers_make_folders_and_need_no_await() {
    let ran = World::new()
        .file("servers/index.md", "# Servers")
        .run("const n = writeFile(\"a/b/c.txt\", \"é\"); return [n, readFile(\"a/b/c.txt\"), listDirectory(\"a\"), await readFile(\"servers/index.md\"), listDirectory(\"/\")]");
    assert_eq!(ran.result(), &json!([2, "é", ["b/"], "# Servers", ["results/", "servers/", "workspace/"]]));
}

#[test]
fn errors_are_those_of_node_and_say_what_is_there() {
    let world = World::new().file("workspace/report.csv", "a").file("servers/x.md", "x");
    let check = |body: &str, code: &str, hint: &str| {
        let ran = world.run(&format!(
            "try {{ {body}; return \"ok\" }} catch (error) {{ return [error.code, error instanceof Error] }}"
        ));
        assert_eq!(ran.result(), &json!([code, true]), "{body}");
        let ran = world.run(body);
        let told = format!("{} {}", ran.message(), ran.hint());
        assert!(told.contains(hint), "{body}: {told}");
    };
    check("require(\"fs\").readFileSync(\"reprt.csv\")", "ENOENT", "did you mean \"report.csv\"?");
    check("require(\"fs\").readFileSync(\"/etc/passwd\")", "ENOENT", "programs see only /workspace and /tmp");
    check(
        "require(\"fs\").writeFileSync(\"/servers/x.md\", \"y\")",
        "EROFS",
        "this folder is read-only: write to /workspace",
    );
    check("require(\"fs\").readFileSync(\"/workspace\")", "EISDIR", "");
    check("require(\"fs\").readdirSync(\"report.csv\")", "ENOTDIR", "");
    check("require(\"fs\").mkdirSync(\"a/b\")", "ENOENT", "");
    check("require(\"fs\").readdirSync(\"/results\")", "EPERM", "results can't be listed");
    check(
        "require(\"fs\").readFileSync(\"/results/gone.json\")",
        "ENOENT",
        "no such result: check the handle",
    );
    check("require(\"fs\").writeFileSync(\"/results/a.txt\", \"x\")", "EROFS", "this folder is read-only");
    check("require(\"fs\").readFileSync(\"../../../etc/passwd\")", "ENOENT", "programs see only");
    check("require(\"fs\").writeFileSync(\"report.csv\", \"x\", {flag: \"wx\"})", "EEXIST", "");
}

#[test]
fn the_workspaces_limits_are_exact() {
    let mut world = World::new();
    world.limits.file_bytes = 10;
    world.limits.workspace_files = LIMITS.workspace_files;
    let ran = world.run("const fs = require(\"fs\"); fs.writeFileSync(\"ten\", \"0123456789\"); try { fs.writeFileSync(\"eleven\", \"01234567890\") } catch (error) { return error.code }");
    assert_eq!(ran.result(), "EFBIG");
    assert_eq!(ran.limits_hit, [WorkerLimit::FileBytes]);
    let mut world = World::new();
    world.limits.workspace_files = 2;
    let ran = world.run("const fs = require(\"fs\"); fs.writeFileSync(\"a\", \"\"); fs.writeFileSync(\"b\", \"\"); fs.writeFileSync(\"c\", \"\")");
    assert_eq!(ran.limits_hit, [WorkerLimit::WorkspaceFiles]);
    assert!(ran.message().starts_with("EDQUOT: the workspace is full"), "{}", ran.message());
}

#[test]
fn large_files_go_both_ways() {
    let ran = World::new().run("const fs = require(\"fs\"); const text = \"0123456789é\".repeat(200000); fs.writeFileSync(\"big\", text); return [fs.readFileSync(\"big\", \"utf8\") === text, fs.readFileSync(\"big\").length, fs.readFileSync(\"big\").subarray(-2).toString()]");
    assert_eq!(ran.result(), &json!([true, 2_400_000, "é"]));
}
