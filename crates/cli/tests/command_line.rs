//! The command line, as people and scripts use it.

mod support;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use gristmill_testkit::{Home, TestFolder};
use serde_json::{Value, json};
use support::gristmill;

/// What these programs do is no part of the history of whoever tests.
fn gristmill_command() -> Command {
    let mut command = Command::new(gristmill());
    command.env("GRISTMILL_DATA_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/command-line-data"));
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Whatever is configured on this machine is not part of a test.
fn command(arguments: &[&str]) -> Command {
    let mut command = gristmill_command();
    command.args(arguments).env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

fn check(arguments: &[&str], code: i32, stdout: &str) -> String {
    let output = run(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{stderr}");
    assert_eq!(text(&output.stdout), stdout, "{arguments:?}\n{stderr}");
    stderr
}

#[test]
fn output_comes_first_and_the_result_last() {
    check(&["run", "-c", "print('hello')\n{'a': 1}"], 0, "hello\n{\n  \"a\": 1\n}\n");
    check(&["run", "-c", "print('no newline', end='')\n'text'"], 0, "no newline\ntext\n");
    check(&["run", "-c", "x = 1"], 0, "");
}

#[test]
fn a_program_comes_from_a_file_or_from_standard_input() {
    let folder = TestFolder::new("scripts");
    let script = folder.path().join("script.py");
    std::fs::write(&script, "print('from a file')").unwrap();
    check(&["run", script.to_str().unwrap()], 0, "from a file\n");
    let mut child =
        gristmill_command().args(["run", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"print('from a pipe')").unwrap();
    assert_eq!(text(&child.wait_with_output().unwrap().stdout), "from a pipe\n");
}

#[test]
fn a_traceback_shows_the_name_of_the_script_and_its_message_once() {
    let folder = TestFolder::new("named-scripts");
    let script = folder.path().join("report.py");
    std::fs::write(&script, "def half(n):\n    return n / 0\nhalf(2)\n").unwrap();
    let stderr = check(&["run", script.to_str().unwrap()], 1, "");
    assert!(
        stderr.contains("File \"report.py\", line 3\n")
            && stderr.contains("File \"report.py\", line 2, in half"),
        "{stderr}"
    );
    assert_eq!(stderr.matches("division by zero").count(), 1, "{stderr}");
}

#[test]
fn a_missing_file_leads_to_the_workspace_flag() {
    let stderr = check(&["run", "-c", "open('sales.csv')"], 1, "");
    assert!(stderr.contains("add `--workspace .`"), "{stderr}");
    let folder = TestFolder::new("missing-file");
    let stderr =
        check(&["run", "--workspace", folder.path().to_str().unwrap(), "-c", "open('sales.csv')"], 1, "");
    assert!(!stderr.contains("--workspace"), "{stderr}");
}

#[test]
fn exit_codes_are_as_documented() {
    let stderr = check(&["run", "-c", "1 / 0"], 1, "");
    assert!(stderr.ends_with("ZeroDivisionError: division by zero\nerror[GM-1102], line 1\n"), "{stderr}");
    check(&["run", "-c", "import sys; sys.exit(3)"], 1, "");
    let stderr = check(&["run", "--timeout", "1s", "-c", "while True: pass"], 3, "");
    assert!(stderr.contains("error[GM-1201]") && stderr.contains("hint:"), "{stderr}");
    let stderr = check(&["run", "--memory", "100M", "-c", "x = bytearray(10**9)"], 3, "");
    assert!(stderr.contains("error[GM-1203]"), "{stderr}");
    check(&["run"], 2, "");
}

#[test]
fn wrong_usage_says_what_to_do() {
    for (arguments, said) in [
        (vec!["run", "nowhere.py"], "can't open nowhere.py"),
        (vec!["run", "--timeout", "soon", "-c", "1"], "write a number with ms, s, m, h or d"),
        (vec!["run", "--timeout", "10m", "-c", "1"], "1 s to 120 s"),
        (vec!["run", "--memory", "1T", "-c", "1"], "isn't a size"),
        (vec!["run", "--limit", "tool_cals=3", "-c", "1"], "did you mean `tool_calls`?"),
        (vec!["run", "--limit", "tool_calls", "-c", "1"], "must be NAME=VALUE"),
        (vec!["run", "--context", "novalue", "-c", "1"], "must be NAME=VALUE"),
        (vec!["run", "--level", "paranoid", "-c", "1"], "development, production or hardened"),
        (vec!["run", "--workspace", "/nowhere/at/all", "-c", "1"], "can't create the workspace"),
        (vec!["run", "--context", "class=1", "-c", "1"], "is a Python keyword"),
        (vec!["run", "--context-json", "/nowhere.json", "-c", "1"], "can't open /nowhere.json"),
        (vec!["run"], "no program given"),
        (vec!["run", "/tmp"], "is a folder"),
        (vec!["run", "--workspace", "/", "-c", "1"], "can't be a workspace"),
        (vec!["rum"], "'run'"),
        (vec!["tools", "serch", "x"], "'search'"),
        (vec!["config", "chekc"], "'check'"),
        (vec!["exlpain", "GM-1201"], "'explain'"),
        (vec!["run", "--watch", "-"], "--watch needs a file"),
        (vec!["run", "--keep-variables", "--session", "s", "-c", "1"], "--keep-variables"),
        (vec!["workspace", "put", "s", "."], "isn't a regular file"),
        (vec!["run", "--keep-variables", "x.py"], "--watch"),
        (vec!["list", "--color", "sometimes"], "always"),
        (vec!["explain", "GM-1299"], "GM-1201"),
    ] {
        let output = run(&arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{stderr}");
        assert!(stderr.contains(said), "{arguments:?}\n{stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn json_is_one_document_with_everything_in_it() {
    let output = run(&[
        "run",
        "--json",
        "--example-tools",
        "-c",
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\nawait callMCPTool('echo', {'value': 1})",
    ]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["success"], json!(true));
    assert_eq!(report["result"], json!({"value": 1}));
    assert_eq!((&report["stdout"], &report["stderr"]), (&json!("out\n"), &json!("err\n")));
    assert_eq!(report["tools_called"][0]["name"], json!("echo"));
    assert_eq!(report["limits_hit"], json!([]));
    assert!(report["execution_time_ms"].as_f64().unwrap() > 0.0);
    let output = run(&["run", "--json", "-c", "\n1 / 0"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report["error"]["code"], json!("GM-1102"));
    assert_eq!(report["error"]["kind"], json!("exception"));
    assert_eq!(report["error"]["line"], json!(2));
    assert!(report["error"]["traceback"].as_str().unwrap().contains("1 / 0"));
}

#[test]
fn what_a_model_would_get_is_shown_on_request() {
    let home = Home::new(gristmill(), "run-answer");
    let code = "print('so far')\n[{'id': number} for number in range(5_000)]";
    let whole = parsed(&home.ok(&["run", "-c", code, "--json"]));
    assert_eq!(whole["result"].as_array().map(Vec::len), Some(5_000));
    let bounded = ["run", "-c", code, "--max-tokens", "150", "--shape", "head_tail"];
    let said = home.run(&bounded);
    let tokens = gristmill_gateway::tokens::count(said.stdout.trim_end());
    assert!(said.code == Some(0) && tokens <= 150, "{tokens}\n{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.starts_with("so far\n") && said.stdout.contains("Whole result"), "{}", said.stdout);
    let structured = parsed(&home.ok(&[&bounded[..], &["--json"]].concat()));
    let handle = structured["result_handle"].as_str().expect("a handle");
    assert!(said.stdout.contains(&format!("/results/{handle}.json")), "{}", said.stdout);
    let listed = parsed(&home.ok(&["results", "list", "--json"]));
    let newest = parsed(&home.ok(&["history", "--json"]))[0]["id"].take();
    assert_eq!((&listed[0]["handle"], &listed[0]["execution"]), (&json!(handle), &newest), "{listed:#}");
    let again = format!("len(json.load(open('/results/{handle}.json')))");
    assert_eq!(home.ok(&["run", "-c", &again]), "5000\n");
    for wrong in [["--max-output-tokens", "49"], ["--shape", "table"]] {
        assert_eq!(home.run(&["run", "-c", "1", wrong[0], wrong[1]]).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn bytes_in_a_result_are_named_on_the_terminal_and_whole_in_json() {
    let code = "{'a': bytes([255, 0])}";
    let expected =
        "{\n  \"a\": {\n    \"media_type\": \"application/octet-stream\",\n    \"bytes\": 2\n  }\n}\n";
    check(&["run", "-c", code], 0, expected);
    let report = parsed(&text(&run(&["run", "-c", code, "--json"]).stdout));
    assert_eq!(report["result"]["a"]["$file"]["base64"], "/wA=");
}

#[test]
fn context_workspace_and_limits_reach_the_program() {
    let folder = TestFolder::new("context");
    let file = folder.path().join("context.json");
    std::fs::write(&file, r#"{"rows": [1, 2], "name": "file"}"#).unwrap();
    let workspace = folder.path().join("made");
    check(
        &[
            "run",
            "--context-json",
            file.to_str().unwrap(),
            "--context",
            "name=flag",
            "--context",
            "n=3",
            "--workspace",
            workspace.to_str().unwrap(),
            "-c",
            "open('kept.txt', 'w').write(f'{name} {n + len(rows)}')\nNone",
        ],
        0,
        "",
    );
    assert_eq!(std::fs::read_to_string(workspace.join("kept.txt")).unwrap(), "flag 5");
}

#[test]
fn doctor_tells_of_every_wall_and_runs_a_program() {
    let output = run(&["doctor", "--json"]);
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{findings:#}");
    assert_eq!(findings["ready"], json!(true));
    assert_eq!(findings["walls"].as_array().unwrap().len(), 10);
    assert_eq!(findings["engine_file_good"], json!(true));
    assert_eq!(findings["request_bytes_max"], json!(256 << 20));
    let shown = text(&run(&["doctor"]).stdout);
    assert!(shown.contains("landlock") && shown.contains("ready: a program ran in"), "{shown}");
}

#[test]
fn the_demo_ends_with_its_token_table() {
    let output = run(&["demo", "--json"]);
    let demo: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(demo["report"]["success"], json!(true), "{demo:#}");
    assert_eq!(demo["report"]["tools_called"].as_array().unwrap().len(), 4);
    let expected = include_str!("../../example-servers/src/demo/transcript_to_crm.result.txt");
    assert_eq!(demo["report"]["result"], json!(expected.trim_end()));
    assert!(demo["tokens"]["direct"].as_u64().unwrap() > 500_000);
    let [theirs, ours, milled] =
        ["definitions", "own_definitions", "milled"].map(|key| demo["tokens"][key].as_u64().unwrap());
    // Both sides have their definitions, counted alike: without output schemas and hints.
    assert!((1_000..2_500).contains(&theirs) && (1_000..1_400).contains(&ours), "{demo:#}");
    assert!(milled > ours && milled < ours + 1_000, "{demo:#}");
    let shown = text(&run(&["demo"]).stdout);
    assert!(shown.contains("direct calls   through Gristmill") && shown.contains("saved"), "{shown}");
}

#[test]
fn a_damaged_or_foreign_engine_file_is_made_again_and_never_trusted() {
    let good = run(&["setup"]);
    assert!(good.status.success(), "{}", text(&good.stderr));
    let path = text(&good.stdout).trim().rsplit_once(": ").unwrap().1.to_owned();
    let path = std::path::Path::new(&path);
    let cache = TestFolder::new("cache");
    let engines = cache.path().join("engines");
    std::fs::create_dir(&engines).unwrap();
    let copy = engines.join(path.file_name().unwrap());
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&copy, &bytes).unwrap();
    let with_cache = |arguments: &[&str]| {
        gristmill_command()
            .args(arguments)
            .env("GRISTMILL_CACHE_DIR", cache.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    // One bit is wrong: the worker does not load it, and has it compiled again.
    let output = with_cache(&["run", "-c", "6 * 7"]);
    assert_eq!(text(&output.stdout), "42\n", "{}", text(&output.stderr));
    let names: Vec<_> = std::fs::read_dir(&engines).unwrap().map(|entry| entry.unwrap().path()).collect();
    let compiled: Vec<_> =
        names.iter().filter(|path| path.extension().is_some_and(|e| e == "cwasm")).collect();
    assert_eq!(compiled.len(), 1, "{names:?}");
    let hash = blake3::hash(&std::fs::read(compiled[0]).unwrap()).to_hex().to_string();
    assert!(compiled[0].to_str().unwrap().contains(&hash), "the file has the hash in its name");
    // The right bytes, but anyone may write them: not trusted either.
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(compiled[0], std::fs::Permissions::from_mode(0o666)).unwrap();
    let output = with_cache(&["setup"]);
    assert!(output.status.success());
    let mode = std::fs::metadata(compiled[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o400);
}

#[test]
fn without_a_cache_setup_says_what_to_do_and_programs_run() {
    let folder = TestFolder::new("cache");
    let not_a_folder = folder.path().join("file");
    std::fs::write(&not_a_folder, "").unwrap();
    let with_cache = |arguments: &[&str]| {
        command(arguments).env("GRISTMILL_CACHE_DIR", &not_a_folder).stdin(Stdio::null()).output().unwrap()
    };
    let output = with_cache(&["setup"]);
    let said = text(&output.stderr);
    assert!(said.starts_with("error: can't unpack the Python engine to "), "{said}");
    assert!(said.contains("\nhint: set GRISTMILL_CACHE_DIR to a folder you can write to"), "{said}");
    assert_eq!(text(&with_cache(&["run", "-c", "6 * 7"]).stdout), "42\n");
}

#[test]
fn a_program_may_begin_with_a_dash() {
    check(&["run", "-c", "-5"], 0, "-5\n");
}

#[test]
fn an_error_begins_on_a_line_of_its_own() {
    let output = run(&["run", "-c", "print('unfinished', end='')\n1 / 0"]);
    assert!(text(&output.stderr).starts_with("\nTraceback"), "{}", text(&output.stderr));
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let mut child = gristmill_command()
        .args(["run", "--timeout", "60", "-c", "while True: print('x' * 1000)"])
        .args(["--limit", "output_bytes=16M"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn gateways_that_start_together_do_not_sweep_each_other_away() {
    let scratch = TestFolder::new("together");
    let children: Vec<_> = (0..24)
        .map(|n| {
            gristmill_command()
                .args(["run", "-c", &format!("print({n})")])
                .env("GRISTMILL_SCRATCH_DIR", scratch.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for (n, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        assert_eq!(text(&output.stdout), format!("{n}\n"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_worker_command_by_hand_says_what_it_is() {
    let stderr = check(&["worker-zygote"], 2, "");
    assert!(stderr.contains("this command is internal"), "{stderr}");
}

#[test]
fn a_file_is_shaped_to_a_budget() {
    let folder = TestFolder::new("shaped");
    let rows: Vec<Value> = (0..10_000).map(|id| json!({"id": id, "name": "x"})).collect();
    let file = folder.path().join("rows.json");
    std::fs::write(&file, json!({"total": 10_000, "rows": rows}).to_string()).unwrap();
    let file = file.to_str().unwrap();
    let output = run(&["shape", file, "--max-tokens", "200"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let shown: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&shown["total"], &shown["rows"][0]), (&json!(10_000), &json!({"id": 0, "name": "x"})));
    assert!(
        stderr.contains("left out: rows: 9,9") && stderr.contains(" of 10,000 items not shown"),
        "{stderr}"
    );

    let output = run(&["shape", file, "--max-tokens", "300", "--strategy", "table", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["value"]["rows"]["columns"]["id"]["max"], json!(9_999));
    assert!(document["tokens"].as_u64() <= Some(300) && document["is_whole"] == json!(false));

    let empty = folder.path().join("empty.json");
    let too_large = std::fs::File::create(&empty).unwrap();
    let stderr = check(&["shape", empty.to_str().unwrap()], 0, "\n");
    assert_eq!(stderr, "the input is empty\n");
    too_large.set_len((1 << 30) + 1).unwrap();
    let stderr = check(&["shape", empty.to_str().unwrap()], 2, "");
    assert!(stderr.contains("empty.json is larger than 1 GB\nhint: pass a part of it"), "{stderr}");

    let stderr = check(&["shape", "/nonexistent/rows.json"], 2, "");
    assert!(stderr.contains("can't read /nonexistent/rows.json: "), "{stderr}");
    let stderr = check(&["shape", file, "--strategy", "all"], 2, "");
    assert!(stderr.contains("unknown strategy `all`"), "{stderr}");
}

#[test]
fn a_program_finds_its_arguments() {
    let folder = TestFolder::new("arguments");
    let script = folder.path().join("job.py");
    std::fs::write(&script, "import sys\nsys.argv[1:]").unwrap();
    let script = script.to_str().unwrap();
    let args = |words: &[&str]| {
        let output = run(&[&["run"][..], words].concat());
        assert_eq!(output.status.code(), Some(0), "{words:?}\n{}", text(&output.stderr));
        let printed: Vec<String> = serde_json::from_slice(&output.stdout).unwrap();
        printed
    };
    assert_eq!(args(&[script, "a b", "--n", "-x"]), ["a b", "--n", "-x"]);
    assert_eq!(args(&[script, "--timeout", "10s", "in.csv", "--json"]), ["in.csv", "--json"]);
    assert_eq!(args(&[script, "--", "--json"]), ["--json"]);
    assert_eq!(args(&[script]), Vec::<String>::new());
    assert_eq!(args(&["-c", "import sys\nsys.argv", "one", "two"]), ["-c", "one", "two"]);
    let mut child = command(&["run", "-", "from", "a pipe"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"import sys\nsys.argv").unwrap();
    let printed: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(printed, json!(["-", "from", "a pipe"]));
}

#[test]
fn a_rerun_has_the_same_arguments() {
    let home = Home::new(gristmill(), "rerun-arguments");
    let code = "import sys\n' '.join(sys.argv[1:])";
    assert_eq!(home.ok(&["run", "-c", code, "one", "two"]), "one two\n");
    let id = parsed(&home.ok(&["history", "--json"]))[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.ok(&["rerun", &id]), "one two\n");
}

/// Reads what a process prints until it has printed this.
fn read_until(output: &mut impl std::io::Read, wanted: &str) -> String {
    let mut printed = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&printed).contains(wanted) {
        assert_eq!(output.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&printed));
        printed.push(byte[0]);
    }
    String::from_utf8(printed).unwrap()
}

#[test]
fn a_watched_program_runs_again_when_its_file_changes_and_keeps_its_variables() {
    let home = Home::new(gristmill(), "watched");
    let script = home.work().join("job.py");
    std::fs::write(&script, "counted = 1\nprint('first', counted)").unwrap();
    let mut child = home
        .command(&["run", "--watch", "--session", "watched", "--keep-variables", "job.py"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    read_until(&mut stdout, "first 1\n");
    assert!(read_until(&mut stderr, "waiting for changes").contains("run 1: job.py"));
    std::fs::write(&script, "counted += 1\nprint('second', counted)\n1 / 0").unwrap();
    read_until(&mut stdout, "second 2\n");
    assert!(read_until(&mut stderr, "waiting for changes").contains("GM-1102"));
    std::fs::write(&script, "print('third', counted)").unwrap();
    read_until(&mut stdout, "third 2\n");
    read_until(&mut stderr, "waiting for changes");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn codes_are_explained() {
    let told = check_ok(&["explain", "1201"]);
    assert!(told.starts_with("GM-1201  Time limit") && told.contains("What to do: "), "{told}");
    assert_eq!(told, check_ok(&["explain", "gm-1201"]));
    let all = check_ok(&["explain"]);
    assert!(all.lines().count() > 30 && all.contains("GM-4003  "), "{all}");
    let machine = parsed(&check_ok(&["explain", "--json", "GM-1101"]));
    assert_eq!((&machine["code"], &machine["title"]), (&json!("GM-1101"), &json!("Syntax error")));
}

fn check_ok(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_cache_is_cleaned_without_touching_data() {
    let home = Home::new(gristmill(), "cache-clean");
    home.add_example("calculator");
    home.ok(&["run", "--session", "kept", "-c", "open('a', 'w').write('x')\nNone"]);
    home.ok(&["tools", "list"]);
    let cache = home.path().join("cache");
    assert!(cache.join("offers").read_dir().unwrap().count() > 0);
    let said = home.ok(&["cache", "clean"]);
    assert!(said.contains("freed ") && said.contains("tool lists of servers"), "{said}");
    assert_eq!(cache.join("offers").read_dir().unwrap().count(), 0);
    // A link leads to engines that belong to someone else.
    assert!(cache.join("engines").exists());
    assert_eq!(home.ok(&["workspace", "cat", "kept", "a"]), "x");
    assert_eq!(home.ok(&["cache", "clean"]), "nothing to clean\n");
    assert_eq!(home.ok(&["cache", "path"]).trim(), cache.to_str().unwrap());
}

#[test]
fn shells_get_completions_and_readers_get_manual_pages() {
    for (shell, mark) in
        [("bash", "complete -F _gristmill"), ("zsh", "#compdef gristmill"), ("fish", "complete -c gristmill")]
    {
        let script = check_ok(&["completions", shell]);
        assert!(script.contains(mark) && script.contains("explain"), "{shell}");
    }
    assert!(check_ok(&["man"]).contains(".TH gristmill 1"));
    let folder = TestFolder::new("man");
    check_ok(&["man", "--output-dir", folder.path().to_str().unwrap()]);
    for page in ["gristmill.1", "gristmill-run.1", "gristmill-tools-call.1"] {
        assert!(folder.path().join(page).exists(), "{page}");
    }
}

#[test]
fn the_help_shows_commands_in_groups_and_color_only_where_it_is_wanted() {
    let help = check_ok(&["--help"]);
    for heading in ["Run:", "Servers:", "Agents:", "Data:", "Maintenance:", "Options:"] {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading}\n{help}");
    }
    assert!(help.contains("  list            List servers and their status\n"), "{help}");
    assert!(!help.contains('\x1b'));
    let failing = ["run", "-c", "1 / 0"];
    let stderr = |extra: &[&str], variable: Option<&str>| {
        let mut command = command(&[extra, &failing[..]].concat());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        if let Some(variable) = variable {
            command.env(variable, "1");
        }
        text(&command.stdin(Stdio::null()).output().unwrap().stderr)
    };
    let colored = "\x1b[1;31merror[GM-1102], line 1\x1b[0m";
    assert!(stderr(&["--color", "always"], Some("NO_COLOR")).contains(colored));
    assert!(stderr(&[], Some("CLICOLOR_FORCE")).contains(colored));
    for plain in [stderr(&[], None), stderr(&["--color=never"], Some("CLICOLOR_FORCE"))] {
        assert!(plain.contains("error[GM-1102], line 1\n") && !plain.contains('\x1b'), "{plain}");
    }
}

#[test]
fn without_servers_the_configured_level_and_limits_still_hold() {
    let home = Home::new(gristmill(), "level-without-servers");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "level = \"hardened\"\n[servers.broken]\nargs = []\n").unwrap();
    let refused = home.run(&["run", "--no-servers", "--timeout", "60s", "-c", "1"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("level hardened"), "{}", refused.stderr);
}

#[test]
fn the_configuration_is_edited_in_an_editor_and_checked_first() {
    let home = Home::new(gristmill(), "config-edit");
    let edit = |script: &str| {
        let mut command = home.command(&["config", "edit"]);
        command.env_remove("VISUAL").env("EDITOR", script);
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let write = |line: &str| format!("f() {{ printf '%s\\n' '{line}' > \"$1\"; }}; f");
    let (code, said, stderr) = edit(&write("level = \"hardened\""));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(said.starts_with("saved "), "{said}");
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), "level = \"hardened\"\n");
    let (code, _, stderr) = edit(&write("levle = \"production\""));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("did you mean `level`") && stderr.contains("was not changed"), "{stderr}");
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), "level = \"hardened\"\n");
    let (code, said, _) = edit("true");
    assert_eq!((code, said.as_str()), (Some(0), "no changes\n"));
    let schema = parsed(&home.ok(&["config", "schema"]));
    assert_eq!(schema["properties"]["level"]["default"], json!("production"));
}

#[test]
fn a_backup_restores_configuration_and_data_and_overwrites_nothing() {
    let home = Home::new(gristmill(), "backup");
    home.add_example("calculator");
    home.ok(&["run", "--session", "kept", "-c", "open('a.txt', 'w').write('kept')\nstate['n'] = 7"]);
    let ran = home.run(&["backup", "all.tar.gz"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "all.tar.gz\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("keep it private"), "{}", ran.stderr);
    assert_eq!(home.run(&["backup", "all.tar.gz"]).code, Some(2), "nothing is overwritten");
    let file = home.work().join("all.tar.gz");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = home.run(&["restore", "all.tar.gz"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("isn't empty"), "{}", refused.stderr);

    let other = Home::new(gristmill(), "restored");
    assert!(other.ok(&["restore", file.to_str().unwrap()]).starts_with("restored "));
    assert_eq!(other.ok(&["workspace", "cat", "kept", "a.txt"]), "kept");
    assert_eq!(other.ok(&["run", "--session", "kept", "-c", "state['n']"]), "7\n");
    assert!(other.ok(&["tools", "list"]).contains("evaluate"));
    let newest = |home: &Home| parsed(&home.ok(&["history", "--json"]))[0]["code"].take();
    assert_eq!(newest(&other), json!("state['n']"));
    let broken = other.work().join("broken.tar.gz");
    std::fs::write(&broken, "no archive").unwrap();
    assert_eq!(Home::new(gristmill(), "broken").run(&["restore", broken.to_str().unwrap()]).code, Some(2));
    // The checksum is at the end, behind everything that a reader of the files would look at.
    let mut bytes = std::fs::read(&file).unwrap();
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    let damaged = other.work().join("damaged.tar.gz");
    std::fs::write(&damaged, &bytes).unwrap();
    let into = Home::new(gristmill(), "damaged");
    let refused = into.run(&["restore", damaged.to_str().unwrap()]);
    assert!(refused.code == Some(2) && refused.stderr.contains("it's damaged"), "{}", refused.stderr);
    assert!(!into.path().join("data/gristmill.db").exists(), "nothing was put in place");
}
