//! Type checks of TypeScript programs with the real checker, where `TYPE_CHECKER_FOR_TESTS` names it.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use gristmill_testkit::processes::eventually;
use gristmill_testkit::{Home, Ran};
use serde_json::{Value, json};
use support::gristmill;

fn home(name: &str) -> Home {
    let home = Home::new(gristmill(), name);
    home.add_example("crm");
    home.add_example("documents");
    home
}

/// The real one, or `None` with a line that says so.
fn checker() -> Option<PathBuf> {
    let named = std::env::var_os("TYPE_CHECKER_FOR_TESTS").map(PathBuf::from).filter(|path| path.is_file());
    if named.is_none() {
        eprintln!("skipped: TYPE_CHECKER_FOR_TESTS names no type checker");
    }
    named
}

fn with_types(home: &Home, checker: &Path, arguments: &[&str]) -> Ran {
    let mut command = home.command(arguments);
    Ran::of(command.env("GRISTMILL_TYPE_CHECKER", checker).output().expect("a test may do this"))
}

const WRONG: &str = "import { getDocument, listDocuments } from \"./servers/documents\";
const listed = await listDocuments({});
const document = await getDocument({ document_id: listed.total });
return document.text.length;
";

#[test]
fn a_check_tells_what_the_type_checker_knows() {
    let Some(checker) = checker() else { return };
    let home = home("types-check");
    fs::write(home.work().join("job.ts"), WRONG).expect("a file");
    let ran = with_types(&home, &checker, &["check", "job.ts"]);
    let expected = "job.ts:3:38: GC-305 error: `documents.getDocument` takes `document_id: string`, and this is `number`\n    const document = await getDocument({ document_id: listed.total });\n                                         ^^^^^^^^^^^\n    hint: fix the argument\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), expected), "{}", ran.stderr);
    fs::copy(home.work().join("job.ts"), home.work().join("job.js")).expect("a file");
    let ran = with_types(&home, &checker, &["check", "job.js"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "JavaScript has no types: {}", ran.stderr);
    let ran = home.run(&["check", "job.ts"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "without a checker: {}", ran.stderr);
    fs::write(home.config_file(), format!("{}\n[guardrails]\ntypes = \"off\"\n", read_config(&home)))
        .expect("a file");
    let ran = with_types(&home, &checker, &["check", "job.ts"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "it is off: {}", ran.stderr);
}

fn read_config(home: &Home) -> String {
    fs::read_to_string(home.config_file()).expect("a configuration")
}

/// A gateway over stdio, with the checker.
struct Served {
    child: std::process::Child,
    input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
    id: u64,
}

impl Served {
    fn start(home: &Home, checker: &Path) -> Self {
        let mut command = home.command(&["serve", "--profile", "full"]);
        command.env("GRISTMILL_TYPE_CHECKER", checker).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("a gateway");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut served = Self { child, input, output: BufReader::new(output), id: 0 };
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        served.ask("initialize", &hello);
        writeln!(served.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .expect("a pipe");
        served
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let asked = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        writeln!(self.input, "{asked}").expect("a pipe");
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a pipe") > 0, "the gateway is gone");
            let told: Value = serde_json::from_str(&line).expect("JSON");
            if told["id"] == json!(self.id) {
                return told["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }
}

/// Processes whose command line has this in it.
fn processes_with(text: &str) -> usize {
    let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
    let has = |entry: &fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    listed.filter(has).count()
}

#[test]
fn a_program_with_a_wrong_argument_is_refused_before_anything_is_sent() {
    let Some(checker) = checker() else { return };
    let home = home("types-serve");
    // A copy, so that its processes are told from others'.
    let own = home.path().join("checker");
    fs::create_dir_all(&own).expect("a folder");
    for entry in fs::read_dir(checker.parent().expect("a folder")).expect("its files").flatten() {
        fs::copy(entry.path(), own.join(entry.file_name())).expect("a copy");
    }
    let own = own.join("tsc");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    let mut served = Served::start(&home, &own);
    assert_eq!(processes_with(&own.display().to_string()), 0, "nothing is started before it is needed");
    let validated = served.call("validate_code", &json!({"code": WRONG, "language": "typescript"}));
    assert_eq!(validated["structuredContent"]["findings"][0]["rule"], json!("GC-305"), "{validated:#}");
    let ran = served.call("execute_code", &json!({"code": WRONG, "language": "typescript"}));
    let said = ran.to_string();
    assert!(said.contains("GM-1402") && said.contains("takes `document_id: string`"), "{ran:#}");
    let javascript = served.call("execute_code", &json!({"code": "return 1 + 1", "language": "javascript"}));
    assert!(!javascript["isError"].as_bool().unwrap_or_default(), "{javascript:#}");
    assert!(processes_with(&own.display().to_string()) > 0, "the checker stays");
    served.child.kill().expect("it runs");
    served.child.wait().expect("it ends");
    eventually("a killed gateway leaves no checker", || {
        (processes_with(&own.display().to_string()) == 0).then_some(())
    });
}

#[test]
fn a_failed_line_is_explained_by_its_types() {
    let Some(checker) = checker() else { return };
    let home = home("types-explain");
    let code = "import { getDocument, listDocuments } from './servers/documents';
const listed = await listDocuments({});
const found = await getDocument({ document_id: listed.documents[0].document_id });
return found.txt.split(' ').length;
";
    let mut served = Served::start(&home, &checker);
    // The first check may come too late on a busy machine.
    served.call("validate_code", &json!({"code": code, "language": "typescript"}));
    let ran = served.call("execute_code", &json!({"code": code, "language": "typescript"})).to_string();
    assert!(ran.contains("types: `txt` isn't declared in what `documents.get_document` returns"), "{ran}");
    assert!(ran.contains("did you mean `text`?"), "{ran}");
    served.child.kill().expect("it runs");
    served.child.wait().expect("it ends");
}

#[test]
fn setup_says_what_is_missing_when_npm_is() {
    let home = Home::new(gristmill(), "types-setup");
    let mut command = home.command(&["setup", "--typescript"]);
    let ran = Ran::of(command.env("GRISTMILL_NPM", "/nowhere/npm").output().expect("a test may do this"));
    assert_ne!(ran.code, Some(0));
    assert!(
        ran.stderr.contains("/nowhere/npm") && ran.stderr.contains("hint: install Node.js"),
        "{}",
        ran.stderr
    );
    let offline = home.work().join("npm");
    fs::write(&offline, "#!/bin/sh\necho 'npm error network' >&2\nexit 1\n").expect("a file");
    fs::set_permissions(&offline, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    let mut command = home.command(&["setup", "--typescript"]);
    let ran = Ran::of(command.env("GRISTMILL_NPM", &offline).output().expect("a test may do this"));
    assert!(
        ran.stderr.contains("npm error network") && ran.stderr.contains("check the network"),
        "{}",
        ran.stderr
    );
    let wrong = "#!/bin/sh\nprintf wrong > typescript-typescript-x-7.0.2.tgz\n";
    fs::write(&offline, wrong).expect("a file");
    let mut command = home.command(&["setup", "--typescript"]);
    let ran = Ran::of(command.env("GRISTMILL_NPM", &offline).output().expect("a test may do this"));
    assert!(ran.stderr.contains("isn't the pinned one"), "{}", ran.stderr);
    let left = fs::read_dir(home.path().join("cache")).expect("a folder").flatten();
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().contains("typescript")).count(), 0);
}
