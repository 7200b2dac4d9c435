//! Dry runs and their plans, with a real server: what is held, what is approved, and what then happens.
#![cfg(target_os = "linux")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use gristmill_testkit::{Home, Ran};
use serde_json::{Value, json};
use support::gristmill;

/// A home with a file system behind the gateway, which calls its writing destructive.
struct World {
    home: Home,
    root: PathBuf,
}

impl World {
    fn new(name: &str) -> Self {
        let home = Home::new(gristmill(), name);
        let root = home.path().join("root");
        std::fs::create_dir(&root).expect("a folder");
        let shown = root.to_str().expect("a path");
        let binary = gristmill().to_str().expect("a path");
        home.ok(&["add", "files", "--", binary, "example-server", "filesystem", "--root", shown]);
        Self { home, root }
    }

    fn run(&self, arguments: &[&str]) -> (Ran, Value) {
        let words: Vec<&str> = ["run", "--json"].iter().chain(arguments).copied().collect();
        let ran = self.home.run(&words);
        let report = serde_json::from_str(&ran.stdout).unwrap_or(Value::Null);
        (ran, report)
    }

    /// A dry run that keeps a plan; the plan's id.
    fn plan(&self, code: &str) -> String {
        let (ran, report) = self.run(&["--dry-run", "-c", code]);
        assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
        report["dry_run"]["plan"].as_str().unwrap_or_else(|| panic!("{report:#}")).to_owned()
    }

    fn written(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(file)).ok()
    }

    fn put(&self, file: &str, text: &str) {
        std::fs::write(self.root.join(file), text).expect("written");
    }
}

/// Reads a file, and writes two with what it says.
const COPY: &str = "from servers.files import read_file, write_file\n\
                    text = (await read_file(path='in.txt'))['text']\n\
                    await write_file(path='a.txt', text=text)\n\
                    await write_file(text=text + '!', path='b.txt')\n\
                    open('/workspace/left.txt', 'w').write('x')\n\
                    state['seen'] = text\n\
                    result = text";

#[test]
fn a_dry_run_reads_writes_nothing_and_lists_what_it_would_write() {
    let world = World::new("dry-lists");
    world.put("in.txt", "one");
    let (ran, report) = world.run(&["--dry-run", "-c", COPY]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(report["result"], "one", "reads run");
    assert_eq!((world.written("a.txt"), world.written("b.txt")), (None, None));
    let writes = &report["dry_run"]["writes"];
    let expected = json!({
        "server": "files", "tool": "write_file", "arguments": "{\"path\":\"a.txt\",\"text\":\"one\"}",
        "decision": "ask", "effect": writes[0]["effect"],
    });
    assert_eq!((&writes[0], writes.as_array().map(Vec::len)), (&expected, Some(2)), "{report:#}");
    assert_eq!(writes[1]["arguments"], "{\"path\":\"b.txt\",\"text\":\"one!\"}", "in order, by sorted keys");
    let sent: Vec<(&Value, &Value)> = report["tools_called"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|call| (&call["name"], &call["sent"]))
        .collect();
    assert_eq!(sent.iter().filter(|(_, sent)| **sent == json!(true)).count(), 1, "{sent:?}");
    assert_eq!(report.get("session"), None, "nothing is left behind");
    let sessions = world.home.ok(&["sessions", "list", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&sessions).ok(), Some(json!([])), "{sessions}");
    let words = world.home.run(&["run", "--dry-run", "-c", COPY]);
    assert!(words.stderr.contains("dry run: 2 writes held, none sent"), "{}", words.stderr);
    assert!(words.stderr.contains("  1. files.write_file {\"path\":\"a.txt\""), "{}", words.stderr);
    assert!(words.stderr.contains("plan: "), "{}", words.stderr);
}

#[test]
fn an_approved_plan_makes_exactly_its_writes_and_runs_once() {
    let world = World::new("dry-plan");
    world.put("in.txt", "one");
    let id = world.plan(COPY);
    let (ran, refused) = world.run(&["--plan", &id]);
    assert_eq!((ran.code, &refused["error"]["code"]), (Some(1), &json!("GM-3302")), "{refused:#}");
    assert!(
        refused["error"]["hint"].as_str().is_some_and(|hint| hint.contains(&format!("approvals allow {id}")))
    );
    let listed: Value = serde_json::from_str(&world.home.ok(&["approvals", "--json"])).expect("JSON");
    assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&json!(id), &json!("waiting")));
    assert_eq!(listed[0]["writes"][1]["arguments"], "{\"path\":\"b.txt\",\"text\":\"one!\"}");
    assert_eq!(listed[0]["program"], COPY);
    let shown = world.home.ok(&["approvals"]);
    assert!(shown.contains("1. files.write_file {\"path\":\"a.txt\",\"text\":\"one\"}"), "{shown}");
    let always = world.home.run(&["approvals", "allow", &id, "--always"]);
    assert!(always.code == Some(2) && always.stderr.contains("runs once"), "{}", always.stderr);
    let said = world.home.ok(&["approvals", "allow", &id]);
    assert!(said.starts_with(&format!("approved the plan {id} with 2 writes")), "{said}");
    let (ran, report) = world.run(&["--plan", &id]);
    assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
    assert_eq!((world.written("a.txt"), world.written("b.txt")), (Some("one".into()), Some("one!".into())));
    let made: Vec<&Value> =
        report["plan"]["writes"].as_array().expect("writes").iter().map(|write| &write["made"]).collect();
    assert_eq!(made, [&json!(true), &json!(true)]);
    let (ran, again) = world.run(&["--plan", &id]);
    assert_eq!((ran.code, &again["error"]["code"]), (Some(2), &json!("GM-2002")), "{again:#}");
    assert!(again["error"]["message"].as_str().is_some_and(|words| words.contains("has run already")));
    let listed: Value = serde_json::from_str(&world.home.ok(&["approvals", "--json"])).expect("JSON");
    assert_eq!(listed, json!([]));
}

#[test]
fn a_write_that_differs_because_data_changed_is_not_sent_and_the_answer_says_what_differs() {
    let world = World::new("dry-differs");
    world.put("in.txt", "one");
    let id = world.plan(COPY);
    world.home.ok(&["approvals", "allow", &id]);
    world.put("in.txt", "two");
    let (ran, report) = world.run(&["--plan", &id]);
    assert_eq!((ran.code, &report["error"]["code"]), (Some(1), &json!("GM-3304")), "{report:#}");
    let message = report["error"]["message"].as_str().expect("words");
    assert!(message.contains("`text` is \"two\" instead of \"one\""), "{message}");
    assert_eq!((world.written("a.txt"), world.written("b.txt")), (None, None));
    assert_eq!(report["plan"]["writes"][0]["made"], false);
}

#[test]
fn a_plan_runs_its_own_program_and_no_other() {
    let world = World::new("dry-other");
    world.put("in.txt", "one");
    let id = world.plan(COPY);
    world.home.ok(&["approvals", "allow", &id]);
    let other = COPY.replace("text + '!'", "text + '?'");
    let (ran, report) = world.run(&["--plan", &id, "-c", &other]);
    assert_eq!((ran.code, &report["error"]["code"]), (Some(1), &json!("GM-3304")), "{report:#}");
    assert!(report["error"]["message"].as_str().is_some_and(|words| words.contains("line 4 differs")));
    let (ran, _) = world.run(&["--plan", &id, "-c", COPY]);
    assert_eq!(ran.code, Some(0), "the very same is the plan's: {}", ran.stdout);
    assert!(world.written("b.txt").is_some());
}

#[test]
fn a_program_that_needs_the_answer_of_a_held_write_is_told_so() {
    let world = World::new("dry-needs");
    let code = "from servers.files import write_file\n\
                done = await write_file(path='a.txt', text='x')\n\
                result = done['path']";
    let (ran, report) = world.run(&["--dry-run", "-c", code]);
    assert_eq!(ran.code, Some(1), "{report:#}");
    assert_eq!(report["dry_run"]["writes"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["dry_run"].get("plan"), None);
    let note = report["notes"][0].as_str().expect("a note");
    assert!(note.contains("failed at line 3") && note.contains("a held write has no answer"), "{note}");
    let nothing = world.run(&["--dry-run", "-c", "result = 1"]).1;
    assert_eq!(nothing["notes"][0], "dry run: it would write nothing, so there is no plan to approve");
}

#[test]
fn a_dry_run_that_fails_before_it_writes_says_so() {
    let world = World::new("dry-fails");
    let (ran, report) = world.run(&["--dry-run", "-c", "result = 1\n1 / 0"]);
    assert_eq!(ran.code, Some(1), "{report:#}");
    let note = "dry run: the program failed at line 2 before it was done, so there is no plan; up to there it wrote nothing";
    assert_eq!(report["notes"][0], note);
}

#[test]
fn a_skills_writes_are_held_and_a_dry_run_saves_no_skill() {
    let world = World::new("dry-skill");
    let skill = "from servers.files import write_file\n\
                 async def leave_note(text: str):\n    \"\"\"Leave a note.\"\"\"\n    return await write_file(path='note.txt', text=text)\n";
    let file = world.home.work().join("notes.py");
    std::fs::write(&file, skill).expect("written");
    world.home.ok(&["skills", "add", file.to_str().expect("a path")]);
    let (ran, report) =
        world.run(&["--dry-run", "-c", "from skills.notes import leave_note\nawait leave_note('x')"]);
    assert_eq!(ran.code, Some(0), "{report:#}");
    assert_eq!(report["dry_run"]["writes"][0]["arguments"], "{\"path\":\"note.txt\",\"text\":\"x\"}");
    assert_eq!(world.written("note.txt"), None);
    let saving = "try:\n    save_skill('more', 'def f():\\n    return 1\\n')\n\
                  except Exception as error:\n    result = str(error)";
    let (_, report) = world.run(&["--dry-run", "-c", saving]);
    assert!(
        report["result"].as_str().is_some_and(|words| words.contains("a dry run, its plan")),
        "{report:#}"
    );
}

#[test]
fn a_person_at_a_terminal_is_asked_once_about_the_whole_plan() {
    let world = World::new("dry-terminal");
    world.put("in.txt", "one");
    let run = |id: &str, typed: &str| {
        let inner = world.home.command(&["run", "--plan", id]);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/on_terminal.py");
        let mut command = Command::new("python3");
        command.args([script, "200", typed]).arg(inner.get_program()).args(inner.get_args());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("TERM", "xterm").env("NO_COLOR", "1").current_dir(world.home.work());
        Ran::of(command.stdin(Stdio::null()).output().expect("python3 runs"))
    };
    let refused = run(&world.plan(COPY), "n\n");
    assert!(refused.stdout.contains("GM-3302"), "{}", refused.stdout);
    assert_eq!(world.written("a.txt"), None);
    let ran = run(&world.plan(COPY), "y\n");
    assert!(ran.stdout.contains("It can make 2 writes, each once and no others:"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("2. files.write_file {\"path\":\"b.txt\",\"text\":\"one!\"}"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.matches("[y]es").count(), 1, "{}", ran.stdout);
    assert_eq!(world.written("b.txt").as_deref(), Some("one!"), "{}", ran.stdout);
}

#[test]
fn the_audit_says_what_was_held_and_who_approved_it() {
    let world = World::new("dry-audit");
    world.put("in.txt", "one");
    let id = world.plan(COPY);
    world.home.ok(&["approvals", "allow", &id]);
    world.run(&["--plan", &id]);
    let events = world.home.ok(&["audit", "query", "--json"]);
    let events: Vec<Value> = match serde_json::from_str(&events) {
        Ok(Value::Array(events)) => events,
        _ => events.lines().map(|line| serde_json::from_str(line).expect("an event")).collect(),
    };
    let held: Vec<&Value> = events.iter().filter(|event| event["decision"] == "held").collect();
    assert_eq!(held.len(), 2, "{events:#?}");
    assert!(held.iter().all(|event| event["outcome"] == "held" && event["sent"] == false), "{held:#?}");
    assert!(events.iter().any(|event| event["kind"] == "execution.begun" && event["dry_run"] == true));
    let approval = events.iter().find(|event| event["kind"] == "approval").expect("an approval");
    assert_eq!(
        (&approval["tool"], &approval["scope"], &approval["decision"], &approval["by"]),
        (&json!("write_file"), &json!(format!("plan {id}")), &json!("allow"), &json!("terminal"))
    );
    assert!(events.iter().any(|event| event["kind"] == "execution.ended" && event["plan"] == json!(id)));
}

#[test]
fn a_dry_run_works_in_no_session_and_only_with_tools_that_pass_the_door() {
    let world = World::new("dry-alone");
    for arguments in [
        &["run", "--dry-run", "--session", "s", "-c", "1"][..],
        &["run", "--dry-run", "--workspace", ".", "-c", "1"],
        &["run", "--dry-run", "--example-tools", "-c", "1"],
        &["run", "--plan", "abcd", "--session", "s"],
    ] {
        let ran = world.home.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
    }
    let (ran, report) = world.run(&["--plan", "abcdefgh"]);
    assert_eq!((ran.code, &report["error"]["code"]), (Some(2), &json!("GM-2002")), "{report:#}");
    let hint = report["error"]["hint"].as_str().expect("a hint");
    assert!(hint.contains("`gristmill run --dry-run`"), "what a person types: {hint}");
}

#[test]
fn watching_approvals_shows_a_plan_as_soon_as_it_waits() {
    let world = World::new("dry-watched");
    world.put("in.txt", "one");
    let mut watching = world.home.command(&["approvals", "--watch"]);
    watching.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut watching = watching.spawn().expect("gristmill runs");
    let mut lines = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    let id = world.plan(COPY);
    let shown: Vec<String> = lines.by_ref().take(4).map(|line| line.expect("a line")).collect();
    watching.kill().expect("killed");
    watching.wait().expect("ended");
    assert!(shown[0].starts_with(&id) && shown[0].ends_with("plan with 2 writes"), "{shown:?}");
    assert!(shown[2].starts_with("  1. files.write_file {\"path\":\"a.txt\""), "{shown:?}");
    assert!(shown[3].starts_with("  2. files.write_file {\"path\":\"b.txt\""), "{shown:?}");
}
