//! What a program sees and what its caller reads: results, errors, limits, files.

mod support;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::domain::{Code, Level, LimitName, Limits};
use gristmill_gateway::{ErrorReport, ExecuteRequest, Folders, Report, WorkspaceChoice};
use gristmill_testkit::{Home, TestFolder, World};
use serde_json::{Value, json};
use support::gristmill;

/// One world for all tests that run at the same time; gone with the last of them.
fn world() -> Arc<World> {
    static SHARED: Mutex<Weak<World>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(world) = shared.upgrade() {
        return world;
    }
    let cache = Folders::from_environment().expect("folders").cache;
    let tools = ExampleTools::new(&cache).expect("example tools");
    // Time enough for a busy machine: none of these tests is about time.
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 120_000).expect("in range");
    limits.set(LimitName::CpuTime, 120_000).expect("in range");
    let world = Arc::new(World::new(gristmill()).limits(limits).tools(tools).start());
    *shared = Arc::downgrade(&world);
    world
}

fn run(code: &str) -> Report {
    world().run(code)
}

fn result_of(code: &str) -> Value {
    let report = run(code);
    assert!(report.success, "{code}\n{:?}", report.error);
    report.result.unwrap_or(Value::Null)
}

fn error_of(code: &str) -> ErrorReport {
    let report = run(code);
    report.error.unwrap_or_else(|| panic!("succeeded: {code} gave {:?}", report.result))
}

/// Runs with one limit changed.
fn run_with(limit: LimitName, value: u64, code: &str) -> Report {
    let mut limits: Limits = world().gateway().limits().clone();
    limits.set(limit, value).expect("in range");
    world().execute(ExecuteRequest { limits: Some(limits), ..ExecuteRequest::python(code) })
}

fn hit(report: &Report) -> Vec<&'static str> {
    report.limits_hit.iter().map(|hit| hit.name).collect()
}

#[test]
fn a_program_may_be_held_to_a_stricter_level_and_to_no_looser_one() {
    let at = |limits: Limits| {
        world().execute(ExecuteRequest { limits: Some(limits), ..ExecuteRequest::python("40 + 2") })
    };
    let tightened = world().gateway().limits().tightened(Level::Hardened).expect("stricter");
    assert_eq!(at(tightened).result, Some(json!(42)));
    let error = at(Limits::of(Level::Development)).error.expect("a refusal");
    assert_eq!(error.message, "this gateway runs at level production; development is looser");
}

#[test]
fn levels_show_each_value_and_promise_and_what_the_configuration_changes() {
    let home = Home::new(gristmill(), "levels");
    std::fs::create_dir_all(home.config_file().parent().expect("a folder")).expect("made");
    std::fs::write(home.config_file(), "level = 'hardened'\n[limits]\ntool_calls = 7\n").expect("written");
    let shown = home.ok(&["levels"]);
    for expected in [
        "wall_time",
        "5 s (1 s to 120 s)",
        "required",
        "if available",
        "your configuration: level hardened\n  tool_calls = 7",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    let told: Value = serde_json::from_str(&home.ok(&["levels", "--json"])).expect("JSON");
    assert_eq!(told["configured"]["limits"]["tool_calls"], 7);
    let levels: Vec<&Value> =
        told["levels"].as_array().expect("a list").iter().map(|level| &level["level"]).collect();
    assert_eq!(levels, ["development", "production", "hardened"]);
    assert_eq!(told["levels"][2]["servers_sandboxed"], true);
    assert_eq!(told["levels"][1]["servers_sandboxed"], false);
    let of_guards = |key: &str| [0, 1, 2].map(|level: usize| told["levels"][level]["guards"][key].clone());
    assert_eq!(of_guards("high_findings_refused"), [false, false, true]);
    assert_eq!(of_guards("destructive"), ["ask", "ask", "ask"]);
    assert_eq!(of_guards("flow"), ["ask", "ask", "deny"]);
    assert_eq!(of_guards("privacy")[0], "off");
    std::fs::write(
        home.config_file(),
        "policy = 'strict'\n[guardrails]\nstrict_mode = true\n[guardrails.hardened]\nallowed_modules = ['json']\n",
    )
    .expect("written");
    let shown = home.ok(&["levels"]);
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{shown}"));
        line[name.len()..]
            .split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let check = |name: &str, expected: [&str; 3]| {
        let found: Vec<String> = row(name);
        assert_eq!(found, expected, "{name}\n{shown}");
    };
    check("programs with a high finding", ["refused", "refused", "refused"]);
    check("modules", ["all", "all", "1 allowed"]);
    check("calls that write", ["ask", "ask", "deny"]);
    check("untrusted + private, then external", ["ask", "ask", "deny"]);
}

#[test]
fn the_result_is_the_variable_or_the_last_expression() {
    for (code, expected) in [
        ("1 + 1", json!(2)),
        ("result = [1]\n2", json!([1])),
        ("x = 5", Value::Null),
        ("x = 3; x * 2", json!(6)),
        ("def f():\n    return 7\nf()", json!(7)),
        ("await asyncio.sleep(0)\n'after'", json!("after")),
        ("await callMCPTool('echo', {'value': 1})", json!({"value": 1})),
        ("callMCPTool('echo', value=2)", json!({"value": 2})),
        ("async def main():\n    return 8\nasyncio.run(main())", json!(8)),
        ("```python\n40 + 2\n```", json!(42)),
        ("    x = 1\n    x + 1", json!(2)),
        ("None", Value::Null),
    ] {
        assert_eq!(result_of(code), expected, "{code}");
    }
}

#[test]
fn values_that_json_does_not_have_are_converted_as_documented() {
    for (code, expected) in [
        ("float('nan')", json!("NaN")),
        ("[float('inf'), -float('inf')]", json!(["Infinity", "-Infinity"])),
        ("x = []\nx.append(x)\nx", json!(["<cycle>"])),
        (
            "{(1, 2): 'a', 3: 'b', None: 'c', True: 'd'}",
            json!({"(1, 2)": "a", "3": "b", "null": "c", "true": "d"}),
        ),
        ("{3, 1, 2}", json!([1, 2, 3])),
        ("b'text'", json!("text")),
        (
            "b'\\xff'",
            json!({"$file": {"media_type": "application/octet-stream", "bytes": 1, "base64": "/w=="}}),
        ),
        ("'\\ud800'", json!("\u{fffd}")),
        ("import datetime\ndatetime.datetime(2026, 1, 2, 3, 4)", json!("2026-01-02T03:04:00")),
        ("import decimal\ndecimal.Decimal('1.10')", json!("1.10")),
    ] {
        let result = result_of(code);
        match (&result, &expected) {
            (Value::Number(given), Value::Number(wanted)) => {
                assert_eq!(given.as_f64(), wanted.as_f64(), "{code}")
            }
            (given, wanted) => assert_eq!(given, wanted, "{code}"),
        }
    }
}

#[test]
fn prints_of_any_bytes_come_back_as_text() {
    let report = run(
        "import sys, os\nprint('a\\udcffb')\nsys.stdout.buffer.write(b'\\xff\\n')\nsys.stdout.flush()\nos.write(2, b'err')",
    );
    assert_eq!(report.stdout, "a\\udcffb\n\u{fffd}\n");
    assert!(report.notes.iter().any(|note| note.contains("U+FFFD")), "{:?}", report.notes);
    assert_eq!(report.stderr, "err");
}

#[test]
fn an_exception_shows_the_programs_own_lines_and_nothing_inside() {
    let error = error_of("import json\ndef load(text):\n    return json.loads(text)\nload('{')");
    assert_eq!((error.code, error.kind.as_str(), error.line), (Code::Exception, "exception", Some(3)));
    let traceback = error.traceback.unwrap();
    assert!(traceback.contains("line 4") && traceback.contains("return json.loads(text)"), "{traceback}");
    for inner in ["gristmill_guest", "<stdlib>", "/usr", "site-packages"] {
        assert!(!traceback.contains(inner), "{traceback}");
    }
}

#[test]
fn a_syntax_error_has_its_line() {
    let error = error_of("x = 1\ny = = 2\n");
    assert_eq!((error.code, error.line), (Code::Syntax, Some(2)));
}

#[test]
fn a_missing_module_names_what_is_there_instead() {
    let error = error_of("import requests");
    assert_eq!(error.code, Code::MissingModule);
    assert!(error.message.contains("callMCPTool"), "{}", error.message);
    let error = error_of("import pandas");
    assert!(error.message.contains("sqlite3") || error.message.contains("statistics"), "{}", error.message);
}

#[test]
fn a_call_without_await_is_reported_with_its_line() {
    let report = run("x = 1\ncallMCPTool('fail', {'message': 'sent'})\nresult = 'done'");
    let error = report.error.unwrap();
    assert_eq!((error.code, error.line), (Code::UnawaitedCall, Some(2)));
    assert!(error.message.contains("never awaited"), "{}", error.message);
    assert_eq!(report.result, Some(json!("done")), "the result is still there");
    assert!(report.tools_called.is_empty(), "it was not sent");
}

#[test]
fn a_mistake_with_a_tool_is_answered_with_what_to_write() {
    let listed = "pass the arguments by name: get_customer(customer_id=…); it takes customer_id (required)";
    for (code, message, hint) in [
        (
            "await list_orders()",
            "name 'list_orders' is not defined",
            "for the tool, write: from servers.shop import list_orders",
        ),
        (
            "await shop.list_orders()",
            "name 'shop' is not defined",
            "for the server, write: from servers import shop (or: from servers.shop import tool)",
        ),
        (
            "import shop",
            "No module named 'shop'",
            "for the server, write: from servers import shop (or: from servers.shop import tool)",
        ),
        (
            "from servers.my-shop import list_orders",
            "invalid syntax",
            "write: from servers.my_shop import list_orders",
        ),
        ("from servers.shop import get_customer\nawait get_customer('c1')", listed, ""),
        (
            "from servers.shop import get_customer\nget_customer(customer_id='c1')['name']",
            "this is a tool call that was not awaited: write (await get_customer(...))",
            "",
        ),
    ] {
        let error = error_of(code);
        assert!(error.message.starts_with(message), "{code}: {}", error.message);
        assert_eq!(error.hint.unwrap_or_default(), hint, "{code}");
    }
}

#[test]
fn a_tools_error_is_a_tool_error() {
    assert_eq!(
        result_of(
            "try:\n    await callMCPTool('fail', {'message': 'no luck'})\nexcept ToolError as error:\n    result = str(error)"
        ),
        json!("no luck")
    );
    let error = error_of("\nawait callMCPTool('fail', {'message': 'no luck'})");
    assert_eq!((error.code, error.line, error.message.as_str()), (Code::Tool, Some(2), "no luck"));
    let error = error_of("await callMCPTool('list_order')");
    assert_eq!(error.code, Code::UnknownTool);
    assert!(error.message.contains("shop.list_orders"), "{}", error.message);
}

#[test]
fn tools_called_are_listed_in_order_with_their_lines() {
    let report = run(
        "await callMCPTool('echo', {'value': 1})\ntry:\n    await callMCPTool('fail', {'message': 'x'})\nexcept ToolError: pass",
    );
    let calls: Vec<_> =
        report.tools_called.iter().map(|call| (call.name.as_str(), call.line, call.ok)).collect();
    assert_eq!(calls, [("echo", Some(1), true), ("fail", Some(3), false)]);
}

#[test]
fn context_becomes_variables() {
    let context = json!({"rows": [1, 2, 3], "name": "x"}).as_object().unwrap().clone();
    let request =
        ExecuteRequest { context: context.into(), ..ExecuteRequest::python("result = name * len(rows)") };
    assert_eq!(world().execute(request).result, Some(json!("xxx")));
    for name in ["not valid", "class", "__builtins__", "callMCPTool"] {
        let context = json!({ name: 1 }).as_object().unwrap().clone();
        let report =
            world().execute(ExecuteRequest { context: context.into(), ..ExecuteRequest::python("1") });
        assert_eq!(report.error.unwrap().code, Code::BadRequest, "{name}");
    }
}

#[test]
fn the_memory_limit_is_exact_and_survivable() {
    let code = "
size = 0
try:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
        size += 1
except MemoryError:
    kept.clear()
result = size";
    let report = run_with(LimitName::Memory, 128 << 20, code);
    let megabytes =
        report.result.as_ref().and_then(Value::as_u64).unwrap_or_else(|| panic!("{:?}", report.error));
    assert!(report.memory_peak_bytes <= 128 << 20, "{}", report.memory_peak_bytes);
    assert!((40..128).contains(&megabytes), "{megabytes} MB fit");
    assert_eq!(hit(&report), ["memory"]);

    let report = run_with(LimitName::Memory, 128 << 20, "x = bytearray(1 << 30)");
    let error = report.error.as_ref().unwrap();
    assert_eq!((error.code, error.kind.as_str()), (Code::Memory, "limit"));
    assert!(error.hint.as_deref().unwrap().contains("memory is limited to 128 MB"), "{error:?}");
}

#[test]
fn file_limits_are_exact_and_show_as_os_errors() {
    let write = |bytes: u64| {
        format!("with open('f', 'wb') as f: f.write(b'x' * {bytes})\nimport os\nos.stat('f').st_size")
    };
    let report = run_with(LimitName::FileBytes, 1000, &write(1000));
    assert_eq!(report.result, Some(json!(1000)), "{:?}", report.error);
    let report = run_with(LimitName::FileBytes, 1000, &write(1001));
    let hint = report.error.as_ref().unwrap().hint.as_deref().unwrap();
    assert!(hint.contains("file size is limited to 1000 bytes") && hint.contains("`file_bytes`"), "{hint}");
    assert_eq!(hit(&report), ["file_bytes"]);

    let report = run_with(
        LimitName::WorkspaceBytes,
        1000,
        "with open('a', 'w') as f: f.write('x' * 600)\nwith open('/tmp/b', 'w') as f: f.write('x' * 600)",
    );
    assert!(report.error.is_some());
    assert_eq!(hit(&report), ["workspace_bytes"]);
    let reused = "
import os
for n in range(50):
    open('a', 'w').write('x' * 900)
    os.remove('a')
    open('b', 'w').write('y' * 900)
    open('b', 'w').write('z')
    open('c', 'w').write('z' * 500)
    os.rename('c', 'b')
result = os.stat('b').st_size";
    let report = run_with(LimitName::WorkspaceBytes, 1000, reused);
    assert_eq!(report.result, Some(json!(500)), "bytes that are gone come back: {:?}", report.error);

    let report = run_with(LimitName::WorkspaceFiles, 5, "import os\nfor n in range(10): os.mkdir(str(n))");
    assert!(report.error.is_some());
    assert_eq!(hit(&report), ["workspace_files"]);

    let report =
        run_with(LimitName::OpenFiles, 5, "open('a', 'w').close()\nkept = [open('a') for n in range(10)]");
    assert!(report.error.is_some());
    assert_eq!(hit(&report), ["open_files"]);
}

#[test]
fn the_other_limits_end_the_program_and_say_so() {
    for (limit, value, code, expected) in [
        (LimitName::OutputBytes, 100, "print('x' * 1000)", Code::OutputBytes),
        (LimitName::ResultBytes, 100, "'x' * 1000", Code::ResultBytes),
        (LimitName::ResultDepth, 3, "[[[[1]]]]", Code::ResultDepth),
        (
            LimitName::ToolCalls,
            2,
            "for n in range(3): await callMCPTool('echo', {'value': n})",
            Code::ToolCalls,
        ),
    ] {
        let report = run_with(limit, value, code);
        let error = report.error.as_ref().unwrap_or_else(|| panic!("{code} succeeded"));
        assert_eq!((error.code, error.kind.as_str()), (expected, "limit"), "{error:?}");
        let said = format!("{} {}", error.message, error.hint.as_deref().unwrap_or_default());
        assert!(said.contains(&format!("`{}`", limit.as_str())), "{said}");
        assert!(said.contains(&limit.format(value)), "{said}");
        assert_eq!(hit(&report)[0], limit.as_str());
    }
    let report = run_with(LimitName::OutputBytes, 100, "print('x' * 1000)");
    assert_eq!(report.stdout, "x".repeat(100), "what fits is kept");
}

#[test]
fn a_kept_workspace_keeps_its_files_and_counts_them() {
    let folder = TestFolder::new("kept");
    std::fs::write(folder.path().join("there.txt"), "before").unwrap();
    let kept = |code: &str, limits: Option<Limits>| {
        let workspace = WorkspaceChoice::Kept(folder.path().to_owned());
        world().execute(ExecuteRequest { workspace, limits, ..ExecuteRequest::python(code) })
    };
    let report = kept("open('new.txt', 'w').write(open('there.txt').read() + ' and after')", None);
    assert_eq!(report.result, Some(json!(16)), "{:?}", report.error);
    assert_eq!(std::fs::read_to_string(folder.path().join("new.txt")).unwrap(), "before and after");
    let mut limits = world().gateway().limits().clone();
    limits.set(LimitName::WorkspaceBytes, 25).unwrap();
    let report = kept("open('more.txt', 'w').write('12345')", Some(limits));
    assert_eq!(hit(&report), ["workspace_bytes"], "22 bytes were there already");
    let missing = WorkspaceChoice::Kept(folder.path().join("nowhere"));
    let report = world().execute(ExecuteRequest { workspace: missing, ..ExecuteRequest::python("1") });
    assert_eq!(report.error.unwrap().code, Code::Workspace);
}

#[test]
fn links_out_of_a_kept_workspace_lead_nowhere() {
    let outside = TestFolder::new("outside");
    std::fs::write(outside.path().join("secret.txt"), "SECRET").unwrap();
    let folder = TestFolder::new("linked");
    std::os::unix::fs::symlink(outside.path().join("secret.txt"), folder.path().join("file")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("folder")).unwrap();
    std::fs::write(folder.path().join("inside.txt"), "inside").unwrap();
    std::os::unix::fs::symlink("inside.txt", folder.path().join("fine")).unwrap();
    let code = "
import os
result = []
for name in ['file', 'folder/secret.txt', 'fine']:
    try: result.append(open(name).read())
    except OSError as error: result.append(type(error).__name__)
try: result.append(os.listdir('folder'))
except OSError as error: result.append(type(error).__name__)
try: os.readlink('file')
except OSError as error: result.append(type(error).__name__)
";
    let workspace = WorkspaceChoice::Kept(folder.path().to_owned());
    let report = world().execute(ExecuteRequest { workspace, ..ExecuteRequest::python(code) });
    let refused = ["OSError", "NotADirectoryError", "OSError", "NotADirectoryError", "PermissionError"];
    assert_eq!(report.result, Some(json!(refused)), "{:?}", report.error);
}

#[test]
fn the_file_system_is_the_one_in_the_documentation() {
    assert_eq!(result_of("import os\nsorted(os.listdir('/'))"), json!(["servers", "tmp", "workspace"]));
    assert_eq!(result_of("import os\nos.getcwd()"), json!("/workspace"));
    assert_eq!(result_of("list_directory('servers')"), json!(["index.md", "shop/", "test/"]));
    assert!(result_of("read_file('servers/index.md')").as_str().unwrap().contains("shop"));
    assert_eq!(
        result_of(
            "write_file('notes/a.txt', 'x')\nimport pathlib\nstr(next(pathlib.Path('.').rglob('*.txt')))"
        ),
        json!("notes/a.txt")
    );
    assert_eq!(
        result_of(
            "import sqlite3\ndb = sqlite3.connect('a.db')\ndb.execute('create table t (x)')\ndb.execute('insert into t values (7)')\ndb.commit()\ndb.close()\nsqlite3.connect('a.db').execute('select x from t').fetchone()[0]"
        ),
        json!(7)
    );
    let error = error_of("open('/servers/index.md', 'w')");
    assert!(error.message.contains("Read-only"), "{}", error.message);
}

#[test]
fn asyncio_works_in_full_on_the_hosts_loop() {
    let code = "
async def one(n):
    await asyncio.sleep(0.001 * n)
    return n
async with asyncio.TaskGroup() as group:
    tasks = [group.create_task(one(n)) for n in range(3)]
try:
    await asyncio.wait_for(asyncio.sleep(10), 0.01)
    late = False
except TimeoutError:
    late = True
first = [await done for done in asyncio.as_completed([one(2), one(1)])]
result = [[task.result() for task in tasks], late, first, asyncio.run(one(4))]
";
    assert_eq!(result_of(code), json!([[0, 1, 2], true, [1, 2], 4]));
}

#[test]
fn integers_of_any_size_arrive_whole() {
    for number in [(1i128 << 64).to_string(), "9".repeat(400), format!("-{}", "1".repeat(60))] {
        let report = run(&format!("int('{number}')"));
        assert_eq!(
            report.result.map(|result| result.to_string()),
            Some(number.clone()),
            "{:?}",
            report.error
        );
        let code = format!(
            "n = int('{number}')\nanswer = await callMCPTool('echo', {{'value': n}})\nanswer['value'] == n"
        );
        assert_eq!(result_of(&code), json!(true), "{number}");
    }
    let context: Value = serde_json::from_str(r#"{"n": 123456789012345678901234567890}"#).unwrap();
    let context = context.as_object().unwrap().clone();
    let report =
        world().execute(ExecuteRequest { context: context.into(), ..ExecuteRequest::python("n % 1000") });
    assert_eq!(report.result, Some(json!(890)), "{:?}", report.error);
}

#[test]
fn folders_cannot_be_nested_without_end() {
    let code = "
import os
depth = 0
try:
    while True:
        os.mkdir('d')
        os.chdir('d')
        depth += 1
except OSError:
    pass
os.chdir('/workspace')
os.mkdir('other')
os.mkdir('other/inside')
try:
    os.rename('other', '/'.join(['d'] * 63) + '/other')
    moved = True
except OSError:
    moved = False
result = [depth, moved]";
    assert_eq!(result_of(code), json!([64, false]));
}

#[test]
fn a_kept_workspace_counts_what_no_path_can_name() {
    let folder = TestFolder::new("unnameable");
    let code = "
import os
for n in range(20):
    os.mkdir('n' * 250)
    os.chdir('n' * 250)
open('hidden', 'w').write('x' * 5000)
result = 'written'";
    let kept = |code: &str, limits: Option<Limits>| {
        let workspace = WorkspaceChoice::Kept(folder.path().to_owned());
        world().execute(ExecuteRequest { workspace, limits, ..ExecuteRequest::python(code) })
    };
    let report = kept(code, None);
    if report.result == Some(json!("written")) {
        let mut limits = world().gateway().limits().clone();
        limits.set(LimitName::WorkspaceBytes, 5001).unwrap();
        let report = kept("with open('more', 'w') as f: f.write('xx')", Some(limits));
        assert_eq!(hit(&report), ["workspace_bytes"], "{:?}", report.error);
    }
}

#[test]
fn names_that_are_not_utf_8_do_not_hide_the_others() {
    use std::os::unix::ffi::OsStrExt;
    let folder = TestFolder::new("names");
    std::fs::write(folder.path().join("fine.txt"), "x").unwrap();
    std::fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"bad\xff")), "x").unwrap();
    let workspace = WorkspaceChoice::Kept(folder.path().to_owned());
    let report =
        world().execute(ExecuteRequest { workspace, ..ExecuteRequest::python("import os\nos.listdir('.')") });
    assert_eq!(report.result, Some(json!(["fine.txt"])), "{:?}", report.error);
}
