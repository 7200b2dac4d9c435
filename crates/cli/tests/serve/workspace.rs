//! Sessions and their files, as an agent uses them over pipes and over HTTP, from one gateway to the next.

use gristmill_testkit::processes::kill_9;
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, legacy, modern, text_of};
use crate::gateways::{Place, Served};

cases![
    what_a_program_leaves_behind_is_there_for_the_next_one,
    files_are_written_read_and_listed_without_a_program,
    a_file_is_read_in_parts,
    bytes_travel_as_base64,
    paths_and_arguments_that_cannot_be_are_refused,
    a_second_program_waits_for_the_first_or_is_refused,
    programs_sent_at_once_to_one_session_run_in_their_order,
    parallel_programs_of_one_connection_run_on_their_own,
    a_file_can_be_written_while_a_program_runs,
    a_killed_gateway_loses_nothing_that_was_answered,
    without_state_everything_goes_with_the_gateway,
    a_data_folder_that_cannot_be_used_ends_the_start,
];

const LOOK: &str = "import os\nsorted(os.listdir('.'))";

fn serve(name: &str) -> Served {
    Place::new(name).serve(modern(), &[])
}

fn run(served: &Client, arguments: Value) -> Value {
    served.structured("execute_code", arguments)
}

fn what_a_program_leaves_behind_is_there_for_the_next_one() {
    let served = serve("leftovers");
    assert_eq!(run(&served, json!({"code": LOOK})), json!({"status": "ok", "result": []}));
    let made = served.call("execute_code", json!({"code": "open('a.txt', 'w').write('kept')"}));
    let handle = made["structuredContent"]["session"].as_str().expect("a handle").to_owned();
    assert_eq!(text_of(&made), format!("4\nSession: {handle}"));
    // What is known is not said again.
    assert_eq!(run(&served, json!({"code": LOOK})), json!({"status": "ok", "result": ["a.txt"]}));
    let named = json!({"code": "open('b.txt', 'w').write('x')", "session": "notes"});
    let said = json!({"status": "ok", "result": 1, "notes": ["new session `notes`"]});
    assert_eq!(run(&served, named), said);
    // Another connection finds it by its handle, or its name.
    let other = Client::start(served.home().command(&["serve", "--no-servers"]), legacy());
    let by = |session: &str| run(&other, json!({"code": LOOK, "session": session}))["result"].take();
    assert_eq!((by(&handle), by("notes")), (json!(["a.txt"]), json!(["b.txt"])));
    assert_eq!(run(&other, json!({"code": LOOK}))["result"], json!([]), "and not without");
    let unknown = run(&other, json!({"code": LOOK, "session": "abcdefghijkmnpqrstuv"}));
    assert_eq!(unknown["error"]["message"], "no session `abcdefghijkmnpqrstuv`", "{unknown}");
}

fn files_are_written_read_and_listed_without_a_program() {
    let served = serve("files");
    assert_eq!(served.structured("list_workspace_files", json!({})), json!({"files": [], "total": 0}));
    let missing = served.call("read_workspace_file", json!({"path": "a.csv"}));
    assert_eq!(missing["isError"], true);
    let expected =
        "error[GM-2002]: no file `a.csv` in the workspace\nhint: list_workspace_files lists the files";
    assert_eq!(text_of(&missing), expected);
    let write = json!({"path": "data/a.csv", "content": "a,b\n1,2\n"});
    let written = served.structured("write_workspace_file", write.clone());
    assert_eq!((&written["path"], &written["bytes"]), (&json!("data/a.csv"), &json!(8)));
    assert!(written["session"].as_str().is_some_and(|handle| handle.len() == 20), "{written}");
    // The second time it is known.
    assert_eq!(served.structured("write_workspace_file", write), json!({"path": "data/a.csv", "bytes": 8}));
    let sum = "import csv\nsum(int(row['b']) for row in csv.DictReader(open('data/a.csv')))";
    assert_eq!(run(&served, json!({"code": sum}))["result"], 2);
    run(&served, json!({"code": "open('out.txt', 'w').write('done \u{17c}')"}));
    assert_eq!(
        served.structured("read_workspace_file", json!({"path": "out.txt"})),
        json!({"path": "out.txt", "content": "done \u{17c}", "encoding": "text", "bytes": 7})
    );
    let listed = served.call("list_workspace_files", json!({}));
    assert_eq!(text_of(&listed), "data/a.csv (8 bytes)\nout.txt (7 bytes)");
    assert_eq!(
        served.structured("list_workspace_files", json!({"pattern": "**/*.csv"})),
        json!({"files": [{"path": "data/a.csv", "bytes": 8}], "total": 1})
    );
    // A name that is new becomes a session, and is no other.
    let named = json!({"path": "x", "content": "y", "session": "notes"});
    assert_eq!(served.structured("write_workspace_file", named), json!({"path": "x", "bytes": 1}));
    assert_eq!(run(&served, json!({"code": LOOK, "session": "notes"}))["result"], json!(["x"]));
    let hidden = json!({"path": "pay\u{202e}load", "content": "", "session": "notes"});
    served.structured("write_workspace_file", hidden);
    let listed = served.call("list_workspace_files", json!({"session": "notes", "pattern": "pay*"}));
    assert_eq!(text_of(&listed), "pay\\u{202e}load (0 bytes)");
}

fn a_file_is_read_in_parts() {
    let served = serve("parts");
    let line = "ni\u{17c} line\n";
    run(&served, json!({"code": format!("open('a', 'w').write({line:?} * 5000)")}));
    let mut found = String::new();
    let mut asked = json!({"path": "a"});
    for _ in 0..2 {
        let part = served.structured("read_workspace_file", asked);
        found.push_str(part["content"].as_str().expect("a text"));
        assert_eq!(part["bytes"], json!(50_000));
        assert_eq!(part["next_offset"], json!(found.len()));
        asked = json!({"path": "a", "offset": part["next_offset"], "limit": 1000});
    }
    assert_eq!((found.len(), line.repeat(5000).starts_with(&found)), (33_768, true));
    let text = served.call("read_workspace_file", json!({"path": "a", "limit": 3}));
    assert_eq!(text_of(&text), "ni\n[cut at byte 2 of 50000; continue with offset 2]");
}

fn bytes_travel_as_base64() {
    let served = serve("bytes");
    let write = json!({"path": "a.bin", "content": "/wAB", "encoding": "base64"});
    assert_eq!(served.structured("write_workspace_file", write)["bytes"], 3);
    assert_eq!(
        run(&served, json!({"code": "list(open('a.bin', 'rb').read())"}))["result"],
        json!([255, 0, 1])
    );
    let text = served.call("read_workspace_file", json!({"path": "a.bin"}));
    assert!(text_of(&text).contains("isn't UTF-8 text (byte 0)"), "{text}");
    let read = json!({"path": "a.bin", "encoding": "base64"});
    assert_eq!(served.structured("read_workspace_file", read)["content"], "/wAB");
    let broken = json!({"path": "b.bin", "content": "?", "encoding": "base64"});
    assert_eq!(served.call("write_workspace_file", broken)["isError"], true);
}

fn paths_and_arguments_that_cannot_be_are_refused() {
    let served = serve("bad-paths");
    for path in ["", "/etc/passwd", "../x", "a/../../x", "a\u{0}b", &"n".repeat(5_000), &"d/".repeat(100)] {
        let refused = served.call("write_workspace_file", json!({"path": path, "content": "x"}));
        assert!(text_of(&refused).starts_with("error[GM-2002]: can't use the path `"), "{path}: {refused}");
    }
    let none = served.structured("list_workspace_files", json!({}));
    assert_eq!(none["total"], 0, "what was refused made nothing");
    for (tool, arguments) in [
        ("write_workspace_file", json!({"path": "a"})),
        ("read_workspace_file", json!({"path": "a", "offset": -1})),
        ("read_workspace_file", json!({"path": "a", "limit": 0})),
        ("read_workspace_file", json!({"path": "a", "encoding": "latin1"})),
        ("list_workspace_files", json!({"glob": "*"})),
        ("list_workspace_files", json!({"session": "not there"})),
        ("read_workspace_file", json!({"path": "a", "session": "never-made"})),
    ] {
        let refused = served.call(tool, arguments.clone());
        assert!(text_of(&refused).starts_with("error[GM-2002]"), "{arguments}: {refused}");
    }
}

/// Holds until a file is there.
const HOLD: &str = "import os, asyncio\nopen('begun', 'w').close()\nwhile not os.path.exists('go'):\n    await asyncio.sleep(0.01)\nopen('ended', 'w').close()";

fn until_begun(served: &Client, session: &Value) {
    for _ in 0..3_000 {
        let mut arguments = json!({"pattern": "begun"});
        arguments["session"] = session.clone();
        let listed = served.call("list_workspace_files", arguments);
        if listed["structuredContent"]["total"] == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it never began");
}

fn a_second_program_waits_for_the_first_or_is_refused() {
    let served = serve("waiting");
    let first = served.begin_call("execute_code", json!({"code": HOLD, "session": "one"}));
    until_begun(&served, &json!("one"));
    let refused = run(&served, json!({"code": "1", "session": "one", "busy": "refuse"}));
    let error = json!({
        "code": "GM-2001",
        "message": "session `one` is already running a program",
        "hint": "wait for it, or use another session",
    });
    assert_eq!(refused, json!({"status": "failed", "error": error}));
    let waiting = served.begin_call("execute_code", json!({"code": LOOK, "session": "one"}));
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(!served.has_answer(waiting));
    let go = json!({"path": "go", "content": "", "session": "one"});
    served.structured("write_workspace_file", go);
    assert_eq!(served.called("execute_code", first)["structuredContent"]["status"], "ok");
    let waited = served.called("execute_code", waiting);
    assert_eq!(waited["structuredContent"]["result"], json!(["begun", "ended", "go"]), "{waited}");
}

fn programs_sent_at_once_to_one_session_run_in_their_order() {
    let served = serve("order");
    let append = |number: u32| {
        let code = format!("open('order', 'a').write('{number}')");
        served.begin_call("execute_code", json!({"code": code, "session": "one"}))
    };
    let sent: Vec<_> = (0..8).map(append).collect();
    for call in sent {
        assert_eq!(served.called("execute_code", call)["structuredContent"]["status"], "ok");
    }
    let order = run(&served, json!({"code": "open('order').read()", "session": "one"}));
    assert_eq!(order["result"], "01234567");
}

fn parallel_programs_of_one_connection_run_on_their_own() {
    let served = serve("parallel");
    let made = run(&served, json!({"code": "open('a', 'w').close()"}))["session"].take();
    let first = served.begin_call("execute_code", json!({"code": HOLD}));
    until_begun(&served, &made);
    let alone = run(&served, json!({"code": LOOK}));
    assert_eq!(alone["result"], json!([]));
    assert!(alone["notes"][0].as_str().is_some_and(|note| note.contains("ran on its own")), "{alone}");
    served.structured("write_workspace_file", json!({"path": "go", "content": ""}));
    assert_eq!(served.called("execute_code", first)["structuredContent"]["status"], "ok");
    assert_eq!(run(&served, json!({"code": LOOK}))["result"], json!(["a", "begun", "ended", "go"]));
}

fn a_file_can_be_written_while_a_program_runs() {
    let served = serve("meanwhile");
    let code = "import os, asyncio\nopen('begun', 'w').close()\nwhile not os.path.exists('go/in'):\n    await asyncio.sleep(0.01)\nlen(open('go/in').read())";
    let first = served.begin_call("execute_code", json!({"code": code, "session": "one"}));
    until_begun(&served, &json!("one"));
    let large = "x".repeat(1_000_000);
    served.structured("write_workspace_file", json!({"path": "go/in", "content": large, "session": "one"}));
    let read = served.called("execute_code", first);
    assert_eq!(read["structuredContent"]["result"], 1_000_000, "it saw the whole file at once: {read}");
}

fn a_killed_gateway_loses_nothing_that_was_answered() {
    let served = serve("killed");
    let made = run(&served, json!({"code": "open('a', 'w').write('kept')"}));
    let handle = made["session"].as_str().expect("a handle");
    served.begin_call("execute_code", json!({"code": HOLD}));
    until_begun(&served, &json!(handle));
    kill_9(served.pid());
    served.ended();
    let next = Client::start(served.home().command(&["serve", "--no-servers"]), modern());
    let found = run(&next, json!({"code": "open('a').read()", "session": handle}));
    assert_eq!(found, json!({"status": "ok", "result": "kept"}), "and nobody holds it any more");
}

fn without_state_everything_goes_with_the_gateway() {
    let served = Place::new("no-state").serve(modern(), &["--no-state"]);
    let write = json!({"code": "open('a', 'w').write('x')", "session": "notes"});
    assert_eq!(run(&served, write)["status"], "ok");
    assert_eq!(run(&served, json!({"code": LOOK, "session": "notes"}))["result"], json!(["a"]));
    assert!(!served.home().path().join("data/gristmill.db").exists());
    served.close_input();
    assert_eq!(served.ended().code(), Some(0));
    assert!(served.said().contains("note: with --no-state no audit is written"), "{}", served.said());
    let next = Client::start(served.home().command(&["serve", "--no-servers"]), modern());
    assert_eq!(run(&next, json!({"code": LOOK, "session": "notes"}))["result"], json!([]));
}

fn a_data_folder_that_cannot_be_used_ends_the_start() {
    let place = Place::new("no-data");
    std::fs::write(place.home().path().join("data"), "a file in its place").expect("a file");
    let output = place.command(&[]).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("GRISTMILL_DATA_DIR") && said.contains("--no-state"), "{said}");
}
