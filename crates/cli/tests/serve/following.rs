//! Programs that take a while: progress, cancelling, running in the background, answers in time.

use gristmill_testkit::processes::{eventually, is_alive};
use serde_json::{Value, json};

use crate::cases;
use crate::client::{legacy, modern, text_of, without_id};
use crate::gateways::{Place, Served, shared};

cases![
    a_program_that_sleeps_sends_growing_progress,
    what_a_tool_says_about_its_progress_shows_up,
    without_a_token_there_is_no_progress,
    a_cancelled_request_ends_the_program_and_its_worker,
    what_a_cancelled_program_had_done_can_be_asked_for,
    a_program_in_the_background_is_followed_by_its_id,
    a_program_in_the_background_outlives_the_request_that_waits_for_it,
    a_program_in_the_background_is_stopped_on_request,
    a_failure_in_the_background_is_told_like_any_other,
    a_long_program_is_answered_in_time_with_its_id,
    an_answer_that_was_delivered_is_not_kept,
    an_execution_that_is_not_there_is_refused,
];

/// A gateway of its own, with a server that holds calls until it is told to release them.
fn world(name: &str, arguments: &[&str]) -> Served {
    Place::new(name).scripted("robot", &[]).serve(legacy(), arguments)
}

/// A program that has called a tool and waits for another, until it is released.
const HOLDING: &str = "from servers.robot import echo, hold\n\
    print('so far')\n\
    await echo(text='first')\n\
    result = await hold()";

fn run(served: &Served, code: &str) -> Value {
    served.structured("execute_code", json!({"code": code}))
}

fn until_held(served: &Served) {
    eventually("a call is held", || {
        (run(served, "from servers.robot import held\nawait held()")["result"] == 1).then_some(())
    });
}

fn release(served: &Served) {
    assert_eq!(run(served, "from servers.robot import release\nawait release()")["result"], "released");
}

fn progress_of<'a>(told: &'a [Value], token: &str) -> Vec<&'a Value> {
    let params =
        told.iter().filter(|told| told["method"] == "notifications/progress").map(|told| &told["params"]);
    params.filter(|params| params["progressToken"] == token).collect()
}

fn a_program_that_sleeps_sends_growing_progress() {
    let served = world("sleeps", &[]);
    let arguments = json!({"code": "await asyncio.sleep(100)", "timeout_s": 110});
    let params = json!({"name": "execute_code", "arguments": arguments, "_meta": {"progressToken": "t1"}});
    let id = served.begin("tools/call", params);
    let told = served.until_notified("progress, twice", |told| {
        let told = progress_of(told, "t1");
        (told.len() >= 2).then(|| told.into_iter().cloned().collect::<Vec<_>>())
    });
    served.cancel(id);
    let seconds: Vec<f64> = told.iter().map(|told| told["progress"].as_f64().expect("a number")).collect();
    assert!(seconds.windows(2).all(|pair| pair[0] < pair[1]), "{seconds:?}");
    let message = told[0]["message"].as_str().expect("a message");
    assert_eq!(message, format!("running for {:.1} s", seconds[0]));
}

fn what_a_tool_says_about_its_progress_shows_up() {
    let served = world("tool-progress", &[]);
    let code = "from servers.robot import progress\nawait progress(steps=4, pause_ms=300, message='milling')";
    let params =
        json!({"name": "execute_code", "arguments": {"code": code}, "_meta": {"progressToken": "t2"}});
    let answer = served.request("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"], json!({"status": "ok", "result": "done"}));
    let messages = served.until_notified("the tool's words", |told| {
        let messages = progress_of(told, "t2").into_iter().map(|told| told["message"].to_string());
        let messages: Vec<String> = messages.collect();
        messages.iter().any(|message| message.contains("milling")).then_some(messages)
    });
    let told = messages.iter().find(|message| message.contains("milling")).expect("one of them");
    assert!(
        told.contains("0 of 1 tool calls answered, robot.progress: ") && told.contains("/8.5 milling"),
        "{told}"
    );
}

fn without_a_token_there_is_no_progress() {
    let served = world("no-token", &[]);
    let code = "from servers.robot import progress\nawait progress(steps=3, pause_ms=300, message='x')";
    assert_eq!(run(&served, code)["status"], "ok");
    assert_eq!(served.notified("notifications/progress"), Vec::<Value>::new());
}

fn a_cancelled_request_ends_the_program_and_its_worker() {
    for manners in [legacy(), modern()] {
        let served = Place::new("cancelled").scripted("robot", &[]).serve(manners, &[]);
        let id = served.begin_call("execute_code", json!({"code": HOLDING}));
        until_held(&served);
        let workers = served.workers();
        assert!(!workers.is_empty());
        served.cancel(id);
        eventually("a worker is gone", || workers.iter().any(|pid| !is_alive(*pid)).then_some(()));
        let after = run(&served, "6 * 7");
        assert_eq!(after, json!({"status": "ok", "result": 42}));
        assert!(!served.has_answer(id), "nobody waits for it");
    }
}

fn what_a_cancelled_program_had_done_can_be_asked_for() {
    let served = world("what-was-done", &[]);
    let id = served.begin_call("execute_code", json!({"code": HOLDING}));
    until_held(&served);
    served.cancel(id);
    let listed = eventually("it has ended", || {
        let listed = served.structured("get_execution", json!({}));
        let line = listed["executions"][0].as_str().unwrap_or_default().to_owned();
        (!line.contains("running")).then_some(line)
    });
    let (id, how) = listed.split_once(": ").expect("an id and how it is");
    assert!(how.starts_with("cancelled, "), "{listed}");
    let done = served.call("get_execution", json!({"id": id}));
    let structured = &done["structuredContent"];
    assert_eq!(structured["status"], "cancelled", "{done:#}");
    assert_eq!(structured["tools_called"][0], "robot.echo (line 3): ok");
    assert!(
        structured["tools_called"][1]
            .as_str()
            .is_some_and(|call| call.starts_with("robot.hold (line 4): failed"))
    );
    assert_eq!(structured["output"], "so far\n");
    assert!(text_of(&done).contains("Already called"), "{done:#}");
}

fn a_program_in_the_background_is_followed_by_its_id() {
    let served = world("background", &[]);
    let started = served.call("execute_code", json!({"code": HOLDING, "background": true}));
    let id = started["structuredContent"]["id"].as_str().expect("an id").to_owned();
    let words =
        format!("Started. Call get_execution with id \"{id}\" to wait for it, or add cancel to stop it.");
    assert_eq!(
        started,
        json!({
            "content": [{"type": "text", "text": words}],
            "structuredContent": {"status": "running", "id": id, "notes": [words]},
            "isError": false,
        })
    );
    until_held(&served);
    let running = served.structured("get_execution", json!({"id": id, "wait_s": 0}));
    let notes = running["notes"].as_array().expect("notes");
    assert_eq!((&running["status"], &running["id"]), (&json!("running"), &json!(id)), "{running:#}");
    assert_eq!(running["output"], "so far\n");
    assert!(
        notes[0]
            .as_str()
            .is_some_and(|note| note.contains("1 of 2 tool calls answered, last: calling robot.hold")),
        "{running:#}"
    );
    let list = served.structured("get_execution", json!({}));
    assert_eq!(list["status"], "listed");
    assert!(
        list["executions"][0].as_str().is_some_and(|line| line.starts_with(&format!("{id}: running, "))),
        "{list}"
    );
    let waiting = served.begin_call("get_execution", json!({"id": id, "wait_s": 60}));
    release(&served);
    let ended = json!({"status": "ok", "result": 0, "output": "so far\n"});
    assert_eq!(served.called("get_execution", waiting)["structuredContent"], ended);
    assert_eq!(served.structured("get_execution", json!({"id": id})), ended, "and once more");
}

fn a_program_in_the_background_outlives_the_request_that_waits_for_it() {
    let served = world("outlives", &[]);
    let started = served.structured("execute_code", json!({"code": HOLDING, "background": true}));
    until_held(&served);
    let waiting = served.begin_call("get_execution", json!({"id": started["id"], "wait_s": 60}));
    served.cancel(waiting);
    release(&served);
    assert_eq!(served.structured("get_execution", json!({"id": started["id"]}))["status"], "ok");
}

fn a_program_in_the_background_is_stopped_on_request() {
    let served = world("stopped", &[]);
    let started = served.structured("execute_code", json!({"code": HOLDING, "background": true}));
    until_held(&served);
    let stopped = served.structured("get_execution", json!({"id": started["id"], "cancel": true}));
    assert_eq!(stopped["status"], "cancelled", "{stopped:#}");
    assert_eq!(stopped["tools_called"][0], "robot.echo (line 3): ok");
}

fn a_failure_in_the_background_is_told_like_any_other() {
    let started = shared().structured("execute_code", json!({"code": "print(1)\n1 / 0", "background": true}));
    let later = shared().call("get_execution", json!({"id": started["id"]}));
    let at_once = shared().call("execute_code", json!({"code": "print(1)\n1 / 0"}));
    assert_eq!(without_id(later), without_id(at_once));
}

fn a_long_program_is_answered_in_time_with_its_id() {
    let served = world("in-time", &["--answer-within", "1"]);
    // What is asked for meanwhile is answered within the time.
    run(&served, "import servers.robot");
    let answer = served.call("execute_code", json!({"code": HOLDING}));
    let structured = &answer["structuredContent"];
    assert_eq!((&answer["isError"], &structured["status"]), (&json!(false), &json!("running")), "{answer:#}");
    assert!(text_of(&answer).starts_with("Still running after 1."), "{answer:#}");
    until_held(&served);
    release(&served);
    assert_eq!(
        served.structured("get_execution", json!({"id": structured["id"]})),
        json!({"status": "ok", "result": 0, "output": "so far\n"})
    );
}

fn an_answer_that_was_delivered_is_not_kept() {
    let served = Place::new("delivered").serve(legacy(), &[]);
    assert_eq!(run(&served, "1"), json!({"status": "ok", "result": 1}));
    let words = "No programs are running or waiting to be picked up.";
    assert_eq!(
        served.call("get_execution", json!({})),
        json!({
            "content": [{"type": "text", "text": words}],
            "structuredContent": {"status": "listed", "executions": []},
            "isError": false,
        })
    );
}

fn an_execution_that_is_not_there_is_refused() {
    let hint = "finished executions are kept for 15 minutes; call without an id to list recent ones";
    for id in ["nope", "abcdefghijkmnpqrstuv", "", "\u{1b}[31mred"] {
        let refused = shared().structured("get_execution", json!({"id": id}));
        assert_eq!((&refused["error"]["code"], &refused["error"]["hint"]), (&json!("GM-2002"), &json!(hint)));
        assert!(!refused.to_string().contains('\u{1b}'), "{refused}");
    }
    for (wait, shown) in [(json!(-1), "-1"), (json!(601), "601"), (json!(1e300), "1e300")] {
        let refused = shared().structured("get_execution", json!({"id": "nope", "wait_s": wait}));
        assert_eq!(refused["error"]["message"], format!("wait_s is {shown}; it can be 0 to 600"));
    }
}
