//! `gristmill run --session`, `sessions` and `workspace`, as people and scripts use them: what is kept
//! from one process to the next, and across a kill.
#![cfg(target_os = "linux")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use gristmill_testkit::Home;
use gristmill_testkit::processes::kill_9;
use serde_json::{Value, json};
use support::gristmill;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

const LOOK: &str = "import os\nsorted(os.listdir('.'))";

fn run(home: &Home, session: &str, code: &str) -> Value {
    parsed(&home.ok(&["run", "--no-servers", "--json", "--session", session, "-c", code]))
}

#[test]
fn files_stay_from_one_run_to_the_next() {
    let home = Home::new(gristmill(), "session-run");
    let made = run(&home, "notes", "open('a.txt', 'w').write('kept')");
    assert_eq!((&made["result"], &made["session"]["is_new"]), (&json!(4), &json!(true)));
    let again = run(&home, "notes", "open('a.txt').read()");
    assert_eq!((&again["result"], &again["session"]["is_new"]), (&json!("kept"), &json!(false)));
    let handle = made["session"]["id"].as_str().expect("a handle");
    assert_eq!(run(&home, handle, LOOK)["result"], json!(["a.txt"]));
    assert_eq!(run(&home, "other", LOOK)["result"], json!([]));
    let unknown = home.run(&["run", "--no-servers", "--session", "abcdefghijkmnpqrstuv", "-c", "1"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""));
    let expected = "error: no session `abcdefghijkmnpqrstuv`\nhint: `gristmill sessions list`";
    assert!(unknown.stderr.starts_with(expected), "{}", unknown.stderr);
    let bad = home.run(&["run", "--no-servers", "--session", "../up", "-c", "1"]);
    assert!(bad.code == Some(2) && bad.stderr.contains("can't be a session name"), "{}", bad.stderr);
    let misspelt = home.run(&["run", "--no-servers", "--session", "nots", "-c", "1"]);
    assert!(misspelt.stderr.contains("note: new session `nots`"), "{}", misspelt.stderr);
}

#[test]
fn a_program_without_a_place_for_its_session_has_a_report_all_the_same() {
    let home = Home::new(gristmill(), "session-places");
    let config = home.work().join("one.toml");
    std::fs::write(&config, "[sessions]\nmax = 1\n").unwrap();
    let config = config.to_str().expect("a path");
    let run = |flags: &[&str], session: &str| {
        let words = [&["run", "--config", config][..], flags, &["--session", session, "-c", "1"]].concat();
        home.run(&words)
    };
    assert_eq!(run(&[], "one").code, Some(0));
    let refused = run(&["--json"], "two");
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    let report = parsed(&refused.stdout);
    assert_eq!((&report["success"], &report["error"]["code"]), (&json!(false), &json!("GM-2001")));
    let refused = run(&[], "two");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""));
    assert!(refused.stderr.starts_with("error[GM-2001]: no room for another session"), "{}", refused.stderr);
}

#[test]
fn a_killed_process_lets_go_of_its_session_and_loses_no_file() {
    let home = Home::new(gristmill(), "session-kill");
    let code = "open('a.txt', 'w').write('kept')\nprint('begun', flush=True)\nwhile True: pass";
    let arguments = ["run", "--no-servers", "--timeout", "100s", "--session", "one", "-c", code];
    let mut child = home.command(&arguments).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    assert_eq!(line, "begun\n");
    let shown = parsed(&home.ok(&["sessions", "show", "one", "--json"]));
    assert_eq!(shown["busy"], json!(true));
    let busy = home.run(&["sessions", "remove", "one", "--yes"]);
    assert!(busy.code == Some(2) && busy.stderr.contains("already running a program"), "{}", busy.stderr);
    kill_9(child.id());
    child.wait().expect("it has ended");
    assert_eq!(run(&home, "one", LOOK)["result"], json!(["a.txt"]));
    assert_eq!(home.ok(&["workspace", "cat", "one", "a.txt"]), "kept");
}

#[test]
fn a_session_is_listed_shown_reset_and_removed() {
    let home = Home::new(gristmill(), "session-commands");
    let none = home.run(&["sessions", "list"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    assert_eq!(none.stderr, "No sessions.\n", "a hint is for a terminal");
    home.ok(&["run", "--no-servers", "--session", "notes", "-c", "open('a', 'w').write('x')"]);
    let listed = home.ok(&["sessions", "list"]);
    let lines: Vec<&str> = listed.lines().collect();
    let words: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(words, ["NAME", "HANDLE", "LAST", "USED", "PROGRAMS", "FILES", "SIZE"], "{listed}");
    assert!(lines[1].starts_with("notes  ") && lines[1].ends_with("  1 byte"), "{listed}");
    let shown = parsed(&home.ok(&["sessions", "show", "notes", "--json"]));
    assert_eq!(
        (&shown["name"], &shown["owner"], &shown["executions"], &shown["entries"], &shown["busy"]),
        (&json!("notes"), &json!("local"), &json!(1), &json!(1), &json!(false))
    );
    let handle = shown["id"].as_str().expect("a handle");
    assert_eq!(home.ok(&["sessions", "reset", "notes"]), format!("reset notes ({handle})\n"));
    assert_eq!(home.ok(&["workspace", "ls", "notes"]), "");
    assert_eq!(
        home.ok(&["sessions", "end", handle, "--yes"]),
        format!("deleted notes ({handle}): 0 entries, 0 bytes\n"),
        "the old name of the command"
    );
    assert_eq!(parsed(&home.ok(&["sessions", "list", "--json"])), json!([]));
    let left = std::fs::read_dir(home.path().join("data/sessions")).expect("the folder").count();
    assert_eq!(left, 0, "nothing is left on the disk");
    assert_eq!(home.run(&["sessions", "show", "notes"]).code, Some(2));
}

#[test]
fn files_are_put_listed_shown_and_taken_out() {
    let home = Home::new(gristmill(), "session-files");
    std::fs::write(home.work().join("local.csv"), "a,b\n").unwrap();
    assert_eq!(home.ok(&["workspace", "put", "data", "local.csv"]), "local.csv (4 bytes)\n");
    let replaced = home.ok(&["workspace", "put", "data", "local.csv", "deep/er.csv"]);
    assert_eq!(replaced, "deep/er.csv (4 bytes)\n");
    assert_eq!(run(&home, "data", "open('deep/er.csv').read()")["result"], json!("a,b\n"));
    let listed = home.ok(&["workspace", "ls", "data", "**/*.csv"]);
    let names: Vec<&str> = listed.lines().skip(1).filter_map(|line| line.rsplit("  ").next()).collect();
    assert_eq!(names, ["deep/er.csv", "local.csv"]);
    assert_eq!(parsed(&home.ok(&["workspace", "ls", "data", "*.csv", "--json"]))[0]["bytes"], json!(4));
    assert_eq!(home.ok(&["workspace", "cat", "data", "deep/er.csv"]), "a,b\n");
    assert_eq!(home.ok(&["workspace", "get", "data", "deep/er.csv"]), "er.csv (4 bytes)\n");
    assert_eq!(home.ok(&["workspace", "get", "data", "deep/er.csv", "-"]), "a,b\n");
    assert!(!home.work().join("-").exists());
    let again = home.run(&["workspace", "get", "data", "deep/er.csv"]);
    assert!(again.code == Some(2) && again.stderr.contains("--force"), "{}", again.stderr);
    for path in ["../x", "/etc/passwd", "", "no/such"] {
        let refused = home.run(&["workspace", "cat", "data", path]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{path}: {}", refused.stderr);
    }
    let missing = home.run(&["workspace", "put", "never-made", "no-such-file"]);
    assert_eq!(missing.code, Some(2));
    assert_eq!(home.run(&["workspace", "ls", "never-made"]).code, Some(2), "no session for no file");
}

#[test]
fn a_name_never_leads_a_program_or_a_file_into_another_owners_session() {
    let home = Home::new(gristmill(), "session-owners");
    let theirs = run(&home, "notes", "open('trap.py', 'w').write('x')")["session"]["id"].clone();
    let theirs = theirs.as_str().expect("a handle");
    let database = rusqlite::Connection::open(home.path().join("data/gristmill.db")).unwrap();
    let owner = format!("http:alice:{}", "0123456789abcdef".repeat(4));
    database.execute("UPDATE sessions SET owner = ?1", [&owner]).unwrap();
    drop(database);
    // Whoever has the machine looks everywhere.
    assert_eq!(home.ok(&["workspace", "cat", "notes", "trap.py"]), "x");
    let listed = home.ok(&["sessions", "list"]);
    assert!(listed.contains(theirs) && listed.contains("  http:alice  "), "{listed}");
    assert_eq!(parsed(&home.ok(&["sessions", "list", "--json"]))[0]["owner"], json!(owner));
    let own = run(&home, "notes", LOOK);
    assert_eq!((&own["result"], &own["session"]["is_new"]), (&json!([]), &json!(true)));
    home.ok(&["sessions", "remove", "notes", "--yes"]);
    home.ok(&["workspace", "put", "notes", a_file(&home).as_str()]);
    assert_eq!(run(&home, "notes", LOOK)["result"], json!(["a.txt"]));
    // By its handle it is meant.
    home.ok(&["workspace", "put", theirs, a_file(&home).as_str()]);
    assert_eq!(run(&home, theirs, LOOK)["result"], json!(["a.txt", "trap.py"]));
}

#[test]
fn a_session_goes_elsewhere_as_a_file() {
    let (home, other) = (Home::new(gristmill(), "session-export"), Home::new(gristmill(), "session-import"));
    let long = "folder/".repeat(30) + "\u{17c}.txt";
    run(
        &home,
        "notes",
        &format!("import os\nos.makedirs({:?})\nopen({long:?}, 'w').write('kept')", &long[..210]),
    );
    assert_eq!(home.ok(&["sessions", "export", "notes"]), "notes.tar\n");
    let archive = home.work().join("notes.tar");
    let again = home.run(&["sessions", "export", "notes"]);
    assert!(again.code == Some(2) && again.stderr.contains("already exists"), "{}", again.stderr);
    let archive = archive.to_str().expect("a path");
    let handle = other.ok(&["sessions", "import", archive, "--name", "theirs"]);
    assert_eq!(run(&other, "theirs", &format!("open({long:?}).read()"))["result"], json!("kept"));
    assert_eq!(run(&other, handle.trim(), LOOK)["result"], json!(["folder"]));
    let taken = other.run(&["sessions", "import", archive, "--name", "theirs"]);
    assert!(taken.code == Some(2) && taken.stderr.contains("already"), "{}", taken.stderr);
    std::fs::write(other.work().join("text"), "not an archive").unwrap();
    let refused = other.run(&["sessions", "import", "text"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("not a tar archive"), "{}", refused.stderr);
    assert_eq!(parsed(&other.ok(&["sessions", "list", "--json"])).as_array().map(Vec::len), Some(1));
}

#[test]
fn idle_sessions_are_ended_as_the_configuration_says() {
    let home = Home::new(gristmill(), "session-gc");
    home.ok(&["workspace", "put", "notes", a_file(&home).as_str()]);
    assert_eq!(home.ok(&["sessions", "gc", "--dry-run"]), "");
    // As if it had not been used for two months.
    let database = rusqlite::Connection::open(home.path().join("data/gristmill.db")).unwrap();
    let long = 60_i64 * 24 * 3_600_000;
    database.execute("UPDATE sessions SET used_ms = used_ms - ?1", [long]).unwrap();
    drop(database);
    let config = home.work().join("patient.toml");
    std::fs::write(&config, "[sessions]\nnamed_idle = \"90d\"\n").unwrap();
    let config = config.to_str().expect("a path");
    assert_eq!(home.ok(&["sessions", "--config", config, "gc"]), "");
    assert_eq!(home.ok(&["sessions", "gc", "--dry-run"]).lines().count(), 1);
    assert_eq!(home.ok(&["sessions", "gc"]).lines().count(), 1);
    assert_eq!(parsed(&home.ok(&["sessions", "list", "--json"])), json!([]));
    std::fs::write(config, "[sessions]\nidel = \"1h\"\nmax = 0\n").unwrap();
    let wrong = home.run(&["sessions", "--config", config, "list"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("did you mean `idle`?"), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("sessions.max"), "{}", wrong.stderr);
}

fn a_file(home: &Home) -> String {
    let path = home.work().join("a.txt");
    std::fs::write(&path, "x").unwrap();
    path.to_str().expect("a path").to_owned()
}

#[test]
fn a_data_folder_that_cannot_be_used_is_told_with_what_to_do() {
    let home = Home::new(gristmill(), "session-no-data");
    std::fs::write(home.path().join("data"), "a file in its place").unwrap();
    let refused = home.run(&["sessions", "list"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("GRISTMILL_DATA_DIR"), "{}", refused.stderr);
}

#[test]
fn a_session_is_made_ahead_with_limits_of_its_own() {
    let home = Home::new(gristmill(), "session-create");
    let made = home.ok(&["sessions", "create", "--name", "small", "--max-files", "1"]);
    let shown = parsed(&home.ok(&["sessions", "show", "small", "--json"]));
    assert_eq!((shown["id"].as_str(), &shown["max_files"]), (Some(made.trim()), &json!(1)));
    let write = "for name in 'ab': open(name, 'w').close()";
    let full = home.run(&["run", "--session", "small", "-c", write]);
    assert!(full.code != Some(0) && full.stderr.contains("workspace_files"), "{}", full.stderr);
    assert_eq!(home.run(&["sessions", "create", "--name", "small"]).code, Some(2));
    assert_eq!(home.run(&["sessions", "create", "--name", "a b"]).code, Some(2));
    assert_eq!(home.run(&["sessions", "create", "--max-size", "much"]).code, Some(2));
}
