//! What happened, as a person looks at it: listed, shown, run again, added up, copied.
#![cfg(target_os = "linux")]

mod support;

use gristmill_files::FileLock;
use gristmill_gateway::store::{LEADS_LOCK, MEMBER_FILE};
use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

fn home(name: &str) -> Home {
    Home::new(gristmill(), name)
}

fn listed(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let words: Vec<&str> = ["history", "--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&home.ok(&words)).expect("a list")
}

fn id_of(execution: &Value) -> String {
    execution["id"].as_str().expect("an id").to_owned()
}

#[test]
fn what_ran_is_listed_shown_and_run_again() {
    let home = home("history");
    let nothing = home.run(&["history"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), ""), "{}", nothing.stderr);
    let code = "orders = await callMCPTool('list_orders', {})\nprint(greeting)\nlen(orders)";
    let words = ["run", "--example-tools", "--context", "greeting=hello", "-c", code];
    let first = home.ok(&words);
    assert!(first.starts_with("hello\n"), "{first}");
    home.run(&["run", "-c", "x = 1\nx / 0"]);

    let all = listed(&home, &[]);
    let [failed, ok] = all.as_slice() else { panic!("{all:#?}") };
    assert_eq!((&failed["outcome"], &failed["error_code"]), (&json!("failed"), &json!("GM-1102")));
    assert_eq!((&ok["outcome"], &ok["calls"], &ok["owner"]), (&json!("ok"), &json!(1), &json!("local")));
    let tokens = &ok["tokens"];
    let figure = |name: &str| tokens[name].as_i64().expect("a figure");
    let through_us = figure("program") + figure("returned") + figure("own_definition");
    assert_eq!(figure("saved"), figure("inside") + figure("definitions") - through_us, "{tokens}");
    assert!(figure("inside") > 100 && figure("definitions") > 20, "{tokens}");
    assert_eq!(Value::from(listed(&home, &["--failed"])), json!([failed]));
    assert_eq!(listed(&home, &["--limit", "1"]).len(), 1);
    assert_eq!(listed(&home, &["--since", "1h"]).len(), 2);
    assert_eq!(listed(&home, &["--session", "none"]).len(), 0);
    let table = home.ok(&["history"]);
    assert!(
        table.lines().nth(1).is_some_and(|line| line.contains("GM-1102") && line.ends_with("x = 1")),
        "{table}"
    );

    let id = id_of(ok);
    let shown = home.ok(&["show", &id[..10]]);
    for part in
        ["  orders = await", "  {\"greeting\":\"hello\"}", "  list_orders (line 1): ", "output:\n  hello"]
    {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    let shown = home.ok(&["show", &id_of(failed)]);
    assert!(
        shown.contains("outcome   failed GM-1102, line 2") && shown.contains("division by zero"),
        "{shown}"
    );
    let record: Value = serde_json::from_str(&home.ok(&["show", "--json", &id])).expect("a record");
    assert_eq!((&record["code"], &record["stdout"]["text"]), (&json!(code), &json!("hello\n")));
    assert_eq!(record["tools_called"][0]["name"], "list_orders");

    assert_eq!(home.ok(&["rerun", "--example-tools", &id[..10]]), first);
    let again = home.run(&["rerun", &id_of(failed)]);
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert_eq!(listed(&home, &[]).len(), 4, "they are recorded, too");
    let stats: Value = serde_json::from_str(&home.ok(&["stats", "--json"])).expect("figures");
    assert_eq!((&stats["executions"], &stats["ok"], &stats["failed"]), (&json!(4), &json!(2), &json!(2)));
    assert!(home.ok(&["stats"]).starts_with("4 executions since "));
    let nothing = home.run(&["stats", "--session", "none"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), ""));
    assert!(nothing.stderr.contains("No matching executions."), "{}", nothing.stderr);
}

#[test]
fn a_large_result_is_shown_in_part_and_whole_as_json() {
    let home = home("history-large");
    home.ok(&["run", "-c", "[{'id': number, 'name': f'row {number}'} for number in range(1500)]"]);
    let id = id_of(&listed(&home, &[])[0]);
    let shown = home.run(&["show", &id]);
    let result = shown.stdout.split_once("\nresult (").expect("a result").1;
    assert!(result.contains("of 1,500 items not shown") && result.contains("row 1499"), "{result}");
    assert!(gristmill_gateway::tokens::count(result) < 2_100, "{result}");
    assert!(shown.stderr.contains("--json` has all that was recorded"), "{}", shown.stderr);
    let record: Value = serde_json::from_str(&home.ok(&["show", "--json", &id])).expect("a record");
    assert!(record["result"]["text"].as_str().is_some_and(|text| text.contains("row 700")), "{record:#}");
}

/// Long for what it does.
const WORDY: &str = "# Asks the server for the greeting that it was given.
greeting_as_it_came_back_from_the_server = await callMCPTool('echo', {'value': 'hello'})
the_greeting_itself_without_what_surrounds_it = greeting_as_it_came_back_from_the_server['value']
print('the greeting that came back is:', the_greeting_itself_without_what_surrounds_it)
print('and it has this many letters:', len(the_greeting_itself_without_what_surrounds_it))";

#[test]
fn what_a_program_saved_is_told_and_so_is_that_it_saved_nothing() {
    let home = home("history-tokens");
    let run = |code: &str| -> Value {
        let told = home.ok(&["run", "--example-tools", "--json", "-c", code]);
        serde_json::from_str::<Value>(&told).expect("a report")["tokens"].take()
    };
    let large = "len((await callMCPTool('shop.list_orders', {'page_size': 200}))['orders'])";
    let saved = run(large);
    assert!(saved["saved"].as_i64().is_some_and(|tokens| tokens > 10_000), "{saved}");
    assert_eq!(saved["verdict"], json!(format!("saved {}", saved["saved"])));
    // The same tool under both of its names is one definition.
    let twice = run("[await callMCPTool(name, {'value': 1}) for name in ('echo', 'test.echo')]");
    let once = run("await callMCPTool('echo', {'value': 1})");
    assert!(once["definitions"].as_u64().is_some_and(|tokens| tokens > 20), "{once}");
    assert_eq!((&twice["definitions"], &twice["own_definition"]), (&once["definitions"], &json!(0)));

    let lost = run(WORDY);
    let less = lost["saved"].as_i64().expect("a figure");
    assert!(less < 0, "{lost}");
    let words = format!("saved nothing: direct calls would have taken {} fewer tokens", less.unsigned_abs());
    assert_eq!(lost["verdict"], json!(words));
    let nothing = run("6 * 7");
    assert_eq!(nothing["verdict"], "no call reached a tool: nothing to save");
    assert_eq!(run("try:\n    await callMCPTool('no_such_tool')\nexcept ToolError:\n    pass")["inside"], 0);

    let latest = listed(&home, &["--limit", "3"]);
    assert_eq!(latest[2]["tokens"], lost, "the history has what was reported");
    assert!(home.ok(&["show", &id_of(&latest[2])]).contains(&words));
    let stats = || serde_json::from_str::<Value>(&home.ok(&["stats", "--json"])).expect("figures");
    let before = stats();
    assert_eq!((&before["direct"]["compared"], &before["direct"]["cheaper"]), (&json!(4), &json!(1)));
    assert_eq!((&before["direct"]["without_calls"], &before["hint"]), (&json!(2), &Value::Null));
    (0..4).for_each(|_| drop(run(WORDY)));
    let hint = stats()["hint"].as_str().expect("a hint").to_owned();
    assert!(hint.starts_with("5 of 8 programs with calls took more than the calls alone, by "), "{hint}");
    assert!(!home.ok(&["stats"]).contains("hint: "), "it is for a terminal");
}

#[test]
fn a_reader_who_has_seen_enough_ends_a_command_quietly() {
    let home = home("history-pipe");
    home.ok(&["run", "-c", "1"]);
    for words in [&["history"][..], &["history", "--json"], &["stats"], &["config", "path"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = home.command(words).stdout(writer).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {stderr}");
        assert!(!stderr.contains("panic") && !stderr.contains("report this"), "{words:?}: {stderr}");
    }
}

#[test]
fn wrong_names_say_what_to_write() {
    let home = home("history-names");
    home.ok(&["run", "-c", "1"]);
    home.ok(&["run", "-c", "2"]);
    let missing = home.run(&["show", "nothing1"]);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.stderr.contains("no execution `nothing1`\nhint: `gristmill history` shows"),
        "{}",
        missing.stderr
    );
    let id = id_of(&listed(&home, &[])[0]);
    let short = home.run(&["show", &id[..3]]);
    assert!(short.code == Some(2) && short.stderr.contains("at least 4 characters"), "{}", short.stderr);
    assert!(home.ok(&["show", &id[..4]]).contains(&id), "four are enough");
    // Both begin alike from now on.
    let database = rusqlite::Connection::open(home.path().join("data/gristmill.db")).unwrap();
    database.execute("UPDATE executions SET id = 'abcd' || substr(id, 5)", []).unwrap();
    drop(database);
    let names: Vec<String> = listed(&home, &[]).iter().map(id_of).collect();
    for command in ["show", "rerun"] {
        let several = home.run(&[command, "abcd"]);
        assert_eq!(several.code, Some(2));
        assert!(several.stderr.contains("`abcd` matches 2 executions: "), "{}", several.stderr);
        assert!(names.iter().all(|name| several.stderr.contains(name)), "{}", several.stderr);
    }
}

#[test]
fn without_contents_nothing_that_was_said_is_in_the_file() {
    let home = home("history-content");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "[history]\ncontent = false\n").unwrap();
    // Also where no other part of the configuration is used.
    for flags in [&[][..], &["--no-servers"]] {
        let words = [&["run"][..], flags, &["-c", "print('open sesame')"]].concat();
        assert_eq!(home.ok(&words), "open sesame\n");
    }
    let all = listed(&home, &[]);
    assert_eq!((all.len(), &all[0]["code"]), (2, &Value::Null));
    for entry in std::fs::read_dir(home.path().join("data")).unwrap().map(Result::unwrap) {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("sesame"), "{:?}", entry.path());
    }
    let refused = home.run(&["rerun", &id_of(&all[0])]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("wasn't recorded") && refused.stderr.contains("[history]"),
        "{}",
        refused.stderr
    );
    std::fs::write(home.config_file(), "[history]\ncontent = 7\n").unwrap();
    let refused = home.run(&["run", "--no-servers", "-c", "1"]);
    assert_eq!(refused.code, Some(2), "what was meant is not guessed");
    assert!(refused.stderr.contains("history.content"), "{}", refused.stderr);
}

#[test]
fn a_data_folder_that_cannot_be_used_is_a_note_and_a_finding() {
    let home = home("history-nowhere");
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let with = |arguments: &[&str]| {
        let output = home.command(arguments).env("GRISTMILL_DATA_DIR", &file).output().unwrap();
        gristmill_testkit::Ran::of(output)
    };
    let ran = with(&["run", "-c", "6 * 7"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "42\n"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("note: this run isn't recorded: can't use the data folder "),
        "{}",
        ran.stderr
    );
    let refused = with(&["history"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let found = with(&["doctor", "--no-servers", "--json"]);
    let found: Value = serde_json::from_str(&found.stdout).expect("findings");
    assert_eq!(found["database"]["state"], "wrong", "{found:#}");
    let told = with(&["doctor", "--no-servers"]);
    assert_eq!(told.code, Some(4), "{}", told.stdout);
    assert!(told.stdout.contains("\nnot ready: the database can't be used"), "{}", told.stdout);
}

#[test]
fn where_the_state_is_shared_nothing_runs_unrecorded_and_no_gateway_has_it_for_its_own() {
    let home = home("history-shared");
    let data = home.path().join("data");
    let member = data.join(MEMBER_FILE);
    std::fs::create_dir_all(member.parent().expect("a folder")).expect("a folder");
    std::fs::write(&member, "{}").expect("a file");
    for arguments in [&["run", "-c", "1"][..], &["run", "--example-tools", "--json", "-c", "1"]] {
        let ran = home.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?} {}", ran.stderr);
        let says = " is shared with other gateways, and none on this machine leads; run this on the machine";
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(says), "{}", ran.stderr);
    }
    let served = |arguments: &[&str]| {
        let ran = home.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?} {}", ran.stderr);
        let expected = format!(
            "error: the state of {} is shared with other gateways, and this gateway has no `cluster.state_key`\n\
             hint: give it their key, or a data folder of its own with GRISTMILL_DATA_DIR\n",
            data.display()
        );
        assert_eq!(ran.stderr, expected, "{arguments:?}");
    };
    served(&["serve", "--no-servers"]);
    served(&["serve", "--http", "127.0.0.1:0"]);
    // Also while a gateway leads here: it may not for long.
    let lead = FileLock::take(&data.join(LEADS_LOCK)).expect("free");
    served(&["serve"]);
    drop(lead);
}

#[test]
fn a_backup_is_whole_and_takes_the_databases_place() {
    let home = home("history-backup");
    let nothing = home.run(&["db", "check"]);
    assert_eq!(nothing.code, Some(2), "{}", nothing.stdout);
    assert!(nothing.stderr.contains("no database yet"), "{}", nothing.stderr);
    home.ok(&["run", "-c", "1"]);
    let said = home.ok(&["db", "check"]);
    assert!(said.starts_with("ok: "), "{said}");
    let file = home.ok(&["db", "backup"]);
    let file = home.work().join(file.trim_end());
    assert!(file.exists(), "{}", file.display());
    let file = file.to_str().unwrap();
    assert_eq!(home.run(&["db", "backup", file]).code, Some(2), "nothing is overwritten");
    let before = listed(&home, &[]);
    std::fs::remove_dir_all(home.path().join("data")).unwrap();
    std::fs::create_dir(home.path().join("data")).unwrap();
    std::fs::copy(file, home.path().join("data/gristmill.db")).unwrap();
    assert_eq!(listed(&home, &[]), before);
    let found = home.run(&["doctor", "--no-servers", "--json"]);
    let found: Value = serde_json::from_str(&found.stdout).expect("findings");
    assert_eq!(found["database"]["state"], "ok", "{found:#}");
    // In the middle of the file, where tables are.
    let mut bytes = std::fs::read(file).unwrap();
    let half = bytes.len() / 2;
    bytes[4096..half].fill(0x5a);
    std::fs::write(home.path().join("data/gristmill.db"), bytes).unwrap();
    let damaged = home.run(&["db", "check"]);
    assert_ne!(damaged.code, Some(0), "{}", damaged.stdout);
}
