//! What a gateway remembers of what it ran: nothing that was answered is lost, nobody else's is seen, and
//! a database that cannot be used stops no program.

use std::path::Path;
use std::process::{Command, Stdio};

use gristmill_testkit::{Home, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, legacy, modern};
use crate::gateways::{Place, Served};

cases![
    what_was_answered_is_known_after_a_kill_and_what_ran_is_lost,
    two_gateways_record_into_one_history_and_both_see_it,
    an_execution_that_was_answered_is_told_apart_from_one_that_never_was,
    figures_are_told_to_whoever_asks,
    a_gateway_that_cannot_remember_refuses_to_start_unless_it_need_not,
    a_database_of_a_newer_version_is_left_as_it_is,
    programs_are_answered_although_nothing_can_be_recorded,
];

/// Runs a program and gives the name under which it is recorded.
fn recorded(client: &Client, code: &str) -> String {
    let ran = client.call("execute_code", json!({"code": code}));
    assert_eq!(ran["structuredContent"]["status"], "ok", "{ran}");
    ran["_meta"]["gristmill/execution"].as_str().expect("its name").to_owned()
}

fn history(home: &Home) -> Vec<Value> {
    let listed = home.ok(&["history", "--limit", "1000", "--json"]);
    serde_json::from_str(&listed).expect("a list")
}

fn an_execution_that_was_answered_is_told_apart_from_one_that_never_was() {
    let served = Place::new("record-answered").serve(legacy(), &[]);
    let id = recorded(&served, "1 + 1");
    let error = |id: &str| served.structured("get_execution", json!({"id": id}))["error"].take();
    let answered = error(&id);
    let expected = format!("execution `{id}` has ended, and its answer is gone");
    assert_eq!((&answered["code"], &answered["message"]), (&json!("GM-2002"), &json!(expected)));
    let hint = answered["hint"].as_str().unwrap_or_default();
    assert!(hint.ends_with(&format!("`gristmill show {id}`")), "{answered:#}");
    let unknown = error("abcdefghijkmnpqrstuv");
    assert_eq!(unknown["message"], "no execution `abcdefghijkmnpqrstuv`");
}

fn kill_9(served: &Served) {
    let pid = Pid::from_raw(served.pid() as i32).expect("a process number");
    kill_process(pid, Signal::KILL).expect("it can be killed");
    served.ended();
}

fn what_was_answered_is_known_after_a_kill_and_what_ran_is_lost() {
    let served = Place::new("record-kill").serve(legacy(), &[]);
    let answered: Vec<String> = (0..5).map(|number| recorded(&served, &format!("{number} * 2"))).collect();
    let long = json!({"code": "await asyncio.sleep(90)", "session": "long", "timeout_s": 100});
    served.begin_call("execute_code", long);
    // Behind it: noted in the order in which they came.
    gristmill_testkit::processes::eventually("the long one is noted", || {
        history(served.home()).iter().any(|one| one["outcome"] == "running").then_some(())
    });
    kill_9(&served);
    let listed = history(served.home());
    let outcome_of =
        |id: &String| listed.iter().find(|one| one["id"] == **id).map(|one| one["outcome"].clone());
    for id in &answered {
        assert_eq!(outcome_of(id), Some(json!("ok")), "{listed:#?}");
    }
    assert_eq!(listed.len(), answered.len() + 1);
    assert_eq!((&listed[0]["outcome"], &listed[0]["duration_ms"]), (&json!("lost"), &Value::Null));
    let of_session = served.home().ok(&["history", "--session", "long", "--json"]);
    assert!(of_session.contains("\"lost\""), "what it ran in is known: {of_session}");
    assert!(served.home().ok(&["db", "check"]).starts_with("ok: "));
}

fn two_gateways_record_into_one_history_and_both_see_it() {
    let place = Place::new("record-two");
    let [one, other] = [legacy(), modern()].map(|manners| Client::start(place.command(&[]), manners));
    std::thread::scope(|scope| {
        for client in [&one, &other] {
            scope.spawn(move || (0..10).for_each(|number| drop(recorded(client, &number.to_string()))));
        }
    });
    // What another process has just written down is in the database a moment later.
    for client in [&one, &other] {
        gristmill_testkit::processes::eventually("all of both", || {
            let figures = client.structured("get_execution_stats", json!({}));
            ((&figures["executions"], &figures["ok"]) == (&json!(20), &json!(20))).then_some(())
        });
    }
    assert!(history(place.home()).iter().all(|execution| execution["outcome"] == "ok"));
}

fn figures_are_told_to_whoever_asks() {
    let served = Place::new("record-figures").example("calculator").serve(modern(), &[]);
    let nothing = served.call("get_execution_stats", json!({}));
    assert!(
        nothing["content"][0]["text"].as_str().is_some_and(|text| text.starts_with("nothing has run yet"))
    );
    let code = "await asyncio.gather(*(callMCPTool('evaluate', expression='6*7') for _ in range(3)))";
    let ran = served.call("execute_code", json!({"code": code, "session": "sums"}));
    let tokens = &ran["_meta"]["gristmill/tokens"];
    for figure in ["program", "returned", "own_definition", "inside", "definitions"] {
        assert!(tokens[figure].as_u64().is_some_and(|tokens| tokens > 0), "{figure} in {ran}");
    }
    // Some clients show `_meta` to their model, which needs no verdict in it.
    assert_eq!((&tokens["verdict"], tokens["saved"].is_i64()), (&Value::Null, true), "{ran}");
    assert_eq!(ran["_meta"]["gristmill/calls"], 3, "{ran}");
    assert!(ran["_meta"]["gristmill/time_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{ran}");
    served.call("execute_code", json!({"code": "1 / 0"}));
    let figures = served.structured("get_execution_stats", json!({}));
    assert_eq!(
        (&figures["executions"], &figures["failed"], &figures["calls"]),
        (&json!(2), &json!(1), &json!(3))
    );
    assert_eq!((&figures["tools"][0]["name"], &figures["success_rate"]), (&json!("evaluate"), &json!(0.5)));
    assert!(figures["tokens"]["inside"].as_u64().is_some_and(|inside| inside > 30), "{figures}");
    assert_eq!((&figures["direct"]["compared"], &figures["direct"]["without_calls"]), (&json!(1), &json!(1)));
    assert_eq!(figures["hint"], Value::Null);
    let of_session = served.structured("get_execution_stats", json!({"session": "sums", "all": true}));
    assert_eq!((&of_session["executions"], &of_session["ok"]), (&json!(1), &json!(1)));
    let refused = served.call("get_execution_stats", json!({"session": "no-such"}));
    assert_eq!(refused["isError"], true);
}

/// A home whose data folder is a file.
fn without_data(name: &str) -> (Place, std::path::PathBuf) {
    let place = Place::new(name);
    let file = place.home().path().join("not-a-folder");
    std::fs::write(&file, "").expect("a file");
    (place, file)
}

fn ran(mut command: Command) -> Ran {
    Ran::of(command.stdin(Stdio::null()).output().expect("the binary starts"))
}

fn with_data(place: &Place, data: &Path, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("GRISTMILL_DATA_DIR", data);
    command
}

fn a_gateway_that_cannot_remember_refuses_to_start_unless_it_need_not() {
    let (place, file) = without_data("record-nowhere");
    let refused = ran(with_data(&place, &file, &[]));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("can't use the data folder") && refused.stderr.contains("GRISTMILL_DATA_DIR")
    );
    assert!(refused.stderr.contains("hint: --no-state"), "{}", refused.stderr);
    let client = Client::start(with_data(&place, &file, &["--no-state"]), legacy());
    recorded(&client, "1");
    assert_eq!(client.structured("get_execution_stats", json!({}))["executions"], 1);
}

fn a_database_of_a_newer_version_is_left_as_it_is() {
    let place = Place::new("record-newer");
    place.home().ok(&["run", "-c", "1"]);
    let file = place.home().path().join("data/gristmill.db");
    let database = rusqlite::Connection::open(&file).expect("a database");
    database.pragma_update(None, "user_version", 9_999).expect("a test may do this");
    drop(database);
    for arguments in [&["serve"][..], &["history"], &["db", "check"]] {
        let refused = place.home().run(arguments);
        assert_eq!(refused.code, Some(2), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("was written by a newer gristmill"), "{}", refused.stderr);
    }
    let ran = place.home().run(&["run", "-c", "6 * 7"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "42\n"));
    assert!(ran.stderr.contains("note: this run isn't recorded: "), "{}", ran.stderr);
}

/// The database's files can no longer grow, as on a disk that is full.
fn programs_are_answered_although_nothing_can_be_recorded() {
    let place = Place::new("record-full");
    place.home().ok(&["run", "-c", "1"]);
    let serve = place.command(&[]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 300; exec \"$0\" \"$@\""]).arg(serve.get_program());
    command.args(serve.get_args()).current_dir(place.home().work());
    command.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let client = Client::start(command, legacy());
    let long = "x".repeat(20_000);
    let is_told = (0..50).any(|number| {
        let code = format!("{number} # {long}{number}");
        let ran = client.structured("execute_code", json!({"code": code}));
        assert_eq!((&ran["status"], &ran["result"]), (&json!("ok"), &json!(number)), "{ran}");
        ran["notes"].to_string().contains("this execution isn't in the history: ")
    });
    assert!(is_told, "no execution was too much");
    drop(client);
    assert!(place.home().ok(&["db", "check"]).starts_with("ok: "));
}
