//! The type checker's process: what comes of one that works, is late, dies, or talks nonsense. A script stands for
//! it; the real one is used where `TYPE_CHECKER_FOR_TESTS` names it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_gateway::checks::Guardrails;
use gristmill_gateway::domain::catalogue::{Catalogue, Lookup, ServerOffer, ToolDefinition};
use gristmill_gateway::ports::Tools;
use gristmill_gateway::{EngineId, TypeCheckCommand, TypeChecker, TypesChecked, check_program_with_types};
use gristmill_testkit::processes::eventually;
use gristmill_testkit::{ScriptedTools, TestFolder};
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);
const PROGRAM: &str = "const n = 1 + 1;\nawait tools.crm.find({ id: n });\n";

/// A language server of a few lines. `MODE` says what it does when it is asked about a document.
const SCRIPT: &str = r#"
import json, os, sys, time
MODE = "@MODE@"
with open("@PIDS@", "a") as pids:
    pids.write(f"{os.getpid()}\n")
def read():
    length = 0
    while (line := sys.stdin.buffer.readline().strip()):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if not length:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(length))
def write(message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()
lines = {}
while True:
    asked = read()
    method = asked.get("method")
    if method == "textDocument/didOpen":
        lines[asked["params"]["textDocument"]["uri"]] = asked["params"]["textDocument"]["text"].split("\n")
    if method == "textDocument/didChange":
        lines[asked["params"]["textDocument"]["uri"]] = asked["params"]["contentChanges"][0]["text"].split("\n")
    if method == "initialize":
        if MODE == "mute":
            time.sleep(600)
        write({"id": "q1", "method": "client/registerCapability", "params": {}})
        write({"id": asked["id"], "result": {}})
    if method == "textDocument/diagnostic":
        if MODE == "late":
            time.sleep(600)
        if MODE == "dies":
            os._exit(3)
        if MODE == "garbage":
            sys.stdout.buffer.write(b"\x00\xff not a header\n" * 10); sys.stdout.buffer.flush()
        if MODE == "huge":
            sys.stdout.buffer.write(b"Content-Length: 99999999999\r\n\r\n"); sys.stdout.buffer.flush()
        if MODE == "endless":
            while True:
                write({"method": "window/logMessage", "params": {}})
        found = []
        for number, line in enumerate(lines[asked["params"]["textDocument"]["uri"]]):
            at = line.find("id: n")
            if at >= 0:
                place = {"start": {"line": number, "character": at}, "end": {"line": number, "character": at + 2}}
                found.append({"range": place, "severity": 1, "code": 2322, "message": "Type 'number' is not assignable to type 'string'."})
        write({"id": asked["id"], "result": {"kind": "full", "items": found}})
"#;

struct Stage {
    folder: TestFolder,
    checker: Arc<TypeChecker>,
}

impl Stage {
    fn new(mode: &str) -> Self {
        Self::with_times(mode, Duration::from_secs(60), Duration::from_secs(60))
    }

    fn with_times(mode: &str, idle: Duration, work_max: Duration) -> Self {
        let folder = TestFolder::new("type-check");
        let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let python = String::from_utf8(asked.expect("Python").stdout).expect("a path");
        let script = SCRIPT
            .replace("@MODE@", mode)
            .replace("@PIDS@", &folder.path().join("pids").display().to_string());
        let path = folder.path().join("checker");
        fs::write(&path, format!("#!{}\n{script}", python.trim())).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
        let command = TypeCheckCommand::unconfined(path);
        let checker = TypeChecker::with_times(command, folder.path().join("types"), idle, work_max);
        Self { folder, checker }
    }

    async fn check(&self, budget: Duration) -> TypesChecked {
        self.checker.check(PROGRAM.to_owned(), tools(), budget).await
    }

    fn pids(&self) -> Vec<String> {
        let told = fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        told.lines().map(str::to_owned).collect()
    }

    fn alive(&self) -> usize {
        let runs = |pid: &&String| {
            let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !status.is_empty() && !status.contains(") Z ")
        };
        self.pids().iter().filter(runs).count()
    }
}

fn tools() -> Arc<dyn Tools> {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let output =
        json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    let text = json!({"name": "find", "inputSchema": schema, "outputSchema": output}).to_string();
    let tools = vec![Arc::new(ToolDefinition::from_text(&text).expect("a tool"))];
    let offer = ServerOffer { name: "crm".to_owned(), tools, ..ServerOffer::default() };
    let lookup = Lookup::new(Arc::new(Catalogue::new(vec![offer])));
    Arc::new(ScriptedTools::new(|_| async { Ok(json!(1).into()) }).lookup(lookup))
}

fn errors(outcome: &TypesChecked) -> usize {
    match outcome {
        TypesChecked::Done(report) => report.errors.len(),
        other => panic!("not done: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_checker_serves_many_programs() {
    let stage = Stage::new("good");
    for _ in 0..3 {
        assert_eq!(errors(&stage.check(SOON).await), 1);
    }
    let right = stage.checker.check("await tools.crm.find({ id: 'a' });".to_owned(), tools(), SOON).await;
    assert_eq!(errors(&right), 0);
    assert_eq!(stage.pids().len(), 1);
    stage.checker.close().await;
    assert_eq!(stage.alive(), 0);
    assert_eq!(stage.check(SOON).await, TypesChecked::Failed, "a closed one starts nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_checker_holds_nobody_up_and_is_ended() {
    let stage = Stage::with_times("late", Duration::from_secs(60), Duration::from_secs(2));
    let began = Instant::now();
    assert_eq!(stage.check(Duration::from_millis(150)).await, TypesChecked::Late);
    assert_eq!(stage.check(Duration::from_millis(150)).await, TypesChecked::Late);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    eventually("the late one is ended", || (!stage.pids().is_empty() && stage.alive() == 0).then_some(()));
    assert_eq!(stage.check(SOON).await, TypesChecked::Failed, "it isn't started again at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_goes_wrong_costs_a_check_and_leaves_no_process() {
    for mode in ["dies", "garbage", "huge", "endless"] {
        let stage = Stage::new(mode);
        assert_eq!(stage.check(SOON).await, TypesChecked::Failed, "{mode}");
        eventually("it is ended", || (stage.alive() == 0).then_some(()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_waits_for_no_check() {
    let stage = Stage::new("mute");
    let checker = Arc::clone(&stage.checker);
    let checking = tokio::spawn(async move { checker.check(PROGRAM.to_owned(), tools(), SOON).await });
    eventually("it has started", || (!stage.pids().is_empty()).then_some(()));
    let began = Instant::now();
    stage.checker.close().await;
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(checking.await.expect("an outcome"), TypesChecked::Failed);
    eventually("it is ended", || (stage.alive() == 0).then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_checker_ends_and_comes_back() {
    let stage = Stage::with_times("good", Duration::from_millis(300), SOON);
    assert_eq!(errors(&stage.check(SOON).await), 1);
    eventually("the idle one is ended", || (stage.alive() == 0).then_some(()));
    assert_eq!(errors(&stage.check(SOON).await), 1);
    assert_eq!(stage.pids().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checker_that_is_not_there_is_a_failure_and_no_more() {
    let folder = TestFolder::new("type-check-none");
    let command = TypeCheckCommand::unconfined(PathBuf::from("/nowhere/tsc"));
    let checker = TypeChecker::new(command, folder.path().join("types"));
    assert_eq!(checker.check(PROGRAM.to_owned(), tools(), SOON).await, TypesChecked::Failed);
}

/// The real one, or `None` with a line that says so.
fn real() -> Option<PathBuf> {
    let named = std::env::var_os("TYPE_CHECKER_FOR_TESTS").map(PathBuf::from).filter(|path| path.is_file());
    if named.is_none() {
        eprintln!("skipped: TYPE_CHECKER_FOR_TESTS names no type checker");
    }
    named
}

/// Rule, severity and line of each finding.
async fn found(checker: &Path, folder: &TestFolder, programs: &[&str]) -> Vec<Vec<String>> {
    let checker =
        TypeChecker::new(TypeCheckCommand::unconfined(checker.to_owned()), folder.path().join("types"));
    let mut made = Vec::new();
    for program in programs {
        let guardrails = Guardrails::default();
        let report =
            check_program_with_types(EngineId::TypeScript, program, tools(), &guardrails, &checker).await;
        let told = report.findings.iter().map(|found| {
            let hint = found.hint.as_deref().unwrap_or_default();
            format!("{} {} {}: {} ({hint})", found.rule, found.severity, found.line, found.message)
        });
        made.push(told.collect());
    }
    assert!(checker.is_running().await, "it did the work");
    checker.close().await;
    made
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_checker_finds_what_matters_and_nothing_else() {
    let Some(checker) = real() else { return };
    let folder = TestFolder::new("type-check-real");
    let programs = [
        PROGRAM,
        "import { find } from './servers/crm';\nconst found = await find({ id: 'a' });\nconsole.log(found.titel);",
        "import { find } from './servers/crm';\nconst found = find({ id: 'a' });\nconsole.log(found.title);",
        "const n = [1, 2].length;\nawait callMCPTool('crm.find', { id: n });",
        "const totals: number[] = [];\nawait tools.crm.find({ id: 'a' });\nconsole.log(totls);",
    ];
    let expected = [
        "GC-305 error 2: `crm.find` takes `id: string`, and this is `number` (fix the argument)",
        "GC-306 medium 3: `titel` isn't declared in what `crm.find` returns (did you mean `title`?)",
        "GC-306 medium 3: this is a promise, which has no `title` (write `await` before the call that gives it)",
        "GC-305 error 2: `crm.find` takes `id: string`, and this is `number` (fix the argument)",
        "GC-307 low 3: there is no `totls` here (did you mean `totals`?)",
    ];
    for (told, expected) in found(&checker, &folder, &programs).await.iter().zip(expected) {
        assert_eq!(told, &[expected]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_checker_is_silent_about_programs_that_run() {
    let Some(checker) = real() else { return };
    let folder = TestFolder::new("type-check-silent");
    let programs = [
        "const o = {};\no.x = 1;\nconst l = [];\nl.push(1);\nawait tools.crm.find({ id: 'a' });\nresult = o;",
        "const args = { id: 'a', extra: 1 };\nconst { title } = await tools.crm.find(args);\nreturn title.length;",
        "import { find } from '@servers/crm';\nimport fs from 'node:fs';\nimport dayjs from 'dayjs';\nfs.writeFileSync('a', JSON.stringify(await find({ id: `${1}` })));\nexport default dayjs();",
        "let id = null;\nfor (const one of ['a', 'b']) { id = one; }\nconst r = await tools.crm.find({ id });\nconsole.table([r]);",
        "try { await tools.crm.find({ id: 'a' }); } catch (error) { console.log(error.code, error.retrySafe, error instanceof ToolError); }",
        "state.count = (state.count ?? 0) + 1;\nconst hits = await searchTools('crm', { limit: 3 });\nfor (const hit of hits) console.log(hit.name);\nawait tools.crm.find({ id: String(state.count) });",
        "const rows = JSON.parse(readFile('rows.json'));\nconst found = await Promise.all(rows.map((row) => tools.crm.find({ id: row.id })));\nconst titles = found.map((f) => f.title.toUpperCase());\nawait writeFile('titles.json', JSON.stringify(titles));\nsetTimeout(() => {}, 1);\nnew URL('http://a.b').searchParams.get('x');",
        "const when = new Date();\nawait tools.crm.find({ id: when });\nawait tools.crm.find({ Id: 'a' });\nconst m = new Map(Object.entries({ a: 1 }));\nBuffer.from('x').toString('base64');",
        "enum Kind { A, B }\nnamespace N { export const x = 1; }\nclass P { constructor(private readonly x: number) {} get() { return this.x; } }\nawait tools.crm.find({ id: `${new P(N.x).get()}${Kind.A}` });",
    ];
    for (program, told) in programs.iter().zip(found(&checker, &folder, &programs).await) {
        assert_eq!(told, Vec::<String>::new(), "{program}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn door_the_real_checker_reads_no_file_that_a_program_names() {
    let Some(checker) = real() else { return };
    let folder = TestFolder::new("type-check-files");
    let secret = folder.path().join("secret.ts");
    fs::write(&secret, "export const secret = \"hunter2\" as const;\n").expect("a file");
    let path = secret.with_extension("").display().to_string();
    let programs = [
        format!(
            "import {{ secret }} from '{path}';\nconst n: number = secret;\nawait tools.crm.find({{ id: secret.hunter }});"
        ),
        format!(
            "/// <reference path=\"{}\" />\ntype S = typeof import('{path}').secret;\nconst s: S = 5;\nawait tools.crm.find({{ id: s }});",
            secret.display()
        ),
    ];
    for program in programs {
        let checker =
            TypeChecker::new(TypeCheckCommand::unconfined(checker.clone()), folder.path().join("types"));
        let outcome = checker.check(program, tools(), SOON).await;
        let said = format!("{outcome:?}");
        assert!(matches!(outcome, TypesChecked::Done(_)) && !said.contains("hunter2"), "{said}");
        checker.close().await;
    }
}

/// Figures: `TYPE_CHECKER_FOR_TESTS=... cargo test --test type_check -- --nocapture two_hundred`.
#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_tools_are_checked_within_seconds() {
    let Some(checker) = real() else { return };
    let folder = TestFolder::new("type-check-many");
    let tool = |number: usize| {
        let row =
            json!({"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}});
        let text = json!({
            "name": format!("get_record_{number}"),
            "inputSchema": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string"}, "limit": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}},
                "filter": {"type": "object", "properties": {"field": {"type": "string"}, "value": {"type": "string"}}}}},
            "outputSchema": {"type": "object", "required": ["title", "rows"], "properties": {
                "title": {"type": "string"}, "count": {"type": "integer"}, "rows": {"type": "array", "items": row}}},
        });
        Arc::new(ToolDefinition::from_text(&text.to_string()).expect("a tool"))
    };
    let offers = (0..10).map(|server| ServerOffer {
        name: format!("server{server}"),
        tools: (0..20).map(tool).collect(),
        ..ServerOffer::default()
    });
    let lookup = Lookup::new(Arc::new(Catalogue::new(offers.collect())));
    let tools: Arc<dyn Tools> =
        Arc::new(ScriptedTools::new(|_| async { Ok(json!(1).into()) }).lookup(lookup));
    let began = Instant::now();
    let text =
        tools.lookup().map(|lookup| gristmill_gateway::domain::stubs::declarations(lookup.catalogue()));
    println!("declarations: {} bytes in {:?}", text.unwrap_or_default().len(), began.elapsed());
    let checker = TypeChecker::new(TypeCheckCommand::unconfined(checker), folder.path().join("types"));
    let mut took = Vec::new();
    for number in 0..12 {
        let program = format!(
            "import {{ getRecord1, getRecord2 }} from './servers/server3';\nconst ids: string[] = ['a{number}', 'b'];\nlet sum = 0;\nfor (const id of ids) {{\n  const record = await getRecord1({{ id, limit: 3 }});\n  sum += record.rows.map((row) => row.id).reduce((a, b) => a + b, 0);\n}}\nconst other = await getRecord2({{ id: sum }});\nreturn {{ sum, other: other.title }};\n"
        );
        let began = Instant::now();
        let outcome = checker.check(program, Arc::clone(&tools), SOON).await;
        took.push(began.elapsed());
        let TypesChecked::Done(report) = outcome else { panic!("not done: {outcome:?}") };
        assert_eq!(report.errors.iter().map(|error| error.code).collect::<Vec<_>>(), [2322]);
    }
    checker.close().await;
    took[1..].sort();
    println!("200 tools: cold {:?}, warm median {:?}, worst {:?}", took[0], took[6], took[11]);
    assert!(took[0] < SOON);
}
