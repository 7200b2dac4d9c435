//! Calls that the policy asks about: the question reaches the person behind the client, in the way of its
//! era, or waits for `gristmill approvals`.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{Manners, legacy, members, modern};
use crate::gateways::{Place, Served};
use crate::support::gristmill;
use gristmill_testkit::processes::{eventually, kill_9};

cases![
    an_older_client_is_asked_by_a_request_and_not_again_in_the_session,
    a_modern_client_is_asked_by_an_answer_and_answers_by_asking_again,
    a_no_is_an_error_that_the_program_can_catch,
    a_client_that_cannot_be_asked_is_told_how_its_person_can_allow_the_call,
    a_waiting_call_is_answered_from_another_terminal,
    several_questions_of_one_program_are_answered_together,
    a_used_request_state_approves_nothing,
    a_question_of_a_killed_gateway_takes_no_answer_and_lets_nothing_through,
    several_ids_are_answered_each_by_itself,
];

const WRITE: &str = "from servers.filesystem import write_file\n\
                     result = (await write_file(path='a.txt', text='x')) is not None";

/// A gateway in front of a file system, which calls its writing destructive.
fn world(name: &str, manners: Manners) -> Served {
    let place = Place::new(name);
    let root = place.home().path().join("root");
    std::fs::create_dir(&root).expect("a folder");
    let args = json!(["example-server", "filesystem", "--root", root]);
    place.server("filesystem", json!({"command": gristmill(), "args": args})).serve(manners, &[])
}

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

fn is_written(served: &Served, file: &str) -> bool {
    served.home().path().join("root").join(file).exists()
}

fn program(code: &str) -> Value {
    json!({"code": code})
}

/// What is asked, held against what a person must see.
fn check_question(params: &Value) {
    let message = params["message"].as_str().expect("words");
    assert!(message.starts_with("Gristmill asks: May "), "{message}");
    assert!(message.contains("call filesystem.write_file?"), "{message}");
    assert!(message.contains("Arguments: {\"path\":\"a.txt\",\"text\":\"x\"}"), "{message}");
    assert!(message.contains("Asked because its server marks it destructive."), "{message}");
    let answers = params["requestedSchema"]["properties"]["answer"]["oneOf"].as_array().expect("answers");
    let answers: Vec<&str> = answers.iter().filter_map(|answer| answer["const"].as_str()).collect();
    assert_eq!(answers, ["session", "once", "always", "no"]);
}

fn accept(answer: &str) -> Value {
    json!({"action": "accept", "content": {"answer": answer}})
}

fn an_older_client_is_asked_by_a_request_and_not_again_in_the_session() {
    let served = world("approve-older", legacy().can(json!({"elicitation": {}})));
    let id = served.begin_call("execute_code", program(WRITE));
    let question = served.next_question();
    assert_eq!(question["method"], "elicitation/create");
    check_question(&question["params"]);
    assert!(!is_written(&served, "a.txt"), "it waits");
    served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accept("session")}));
    let ran = served.called("execute_code", id);
    assert_eq!(ran["structuredContent"]["result"], true, "{ran:#}");
    assert!(is_written(&served, "a.txt"));
    let ran = served.structured("execute_code", program(WRITE));
    assert_eq!((ran["result"].clone(), served.has_question()), (json!(true), false));
}

fn a_modern_client_is_asked_by_an_answer_and_answers_by_asking_again() {
    let served = world("approve-newer", modern().can(forms()));
    let asked = served.result("tools/call", json!({"name": "execute_code", "arguments": program(WRITE)}));
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let key = members(&asked["inputRequests"])[0].to_owned();
    check_question(&asked["inputRequests"][&key]["params"]);
    let params = json!({
        "name": "execute_code", "arguments": program(WRITE), "requestState": asked["requestState"],
        "inputResponses": {key: accept("once")},
    });
    let ran = served.result("tools/call", params);
    assert_eq!(ran["structuredContent"]["result"], true, "{ran:#}");
    assert!(is_written(&served, "a.txt"));
}

fn a_no_is_an_error_that_the_program_can_catch() {
    let served = world("approve-no", legacy().can(json!({"elicitation": {}})));
    let code = "try:\n    from servers.filesystem import write_file\n    await write_file(path='a.txt', text='x')\n\
                except ToolError as error:\n    result = [error.code, str(error)]";
    for answer in [accept("no"), json!({"action": "decline"}), accept("maybe")] {
        let id = served.begin_call("execute_code", program(code));
        let question = served.next_question();
        served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
        let ran = served.called("execute_code", id);
        let result = &ran["structuredContent"]["result"];
        assert_eq!(result[0], "GM-3302", "{ran:#}");
        assert!(result[1].as_str().expect("words").starts_with("the user didn't allow"), "{result}");
    }
    assert!(!is_written(&served, "a.txt"));
}

/// What `gristmill approvals --json` lists in the gateway's home.
fn listed(served: &Served) -> Vec<Value> {
    let listed = served.home().ok(&["approvals", "--json"]);
    serde_json::from_str(&listed).unwrap_or_else(|_| panic!("{listed}"))
}

fn a_client_that_cannot_be_asked_is_told_how_its_person_can_allow_the_call() {
    let served = world("approve-nobody", legacy());
    let refused = served.structured("execute_code", program(WRITE));
    assert_eq!(refused["error"]["code"], "GM-3302", "{refused:#}");
    let open = listed(&served);
    let id = open[0]["id"].as_str().expect("an id");
    assert_eq!((&open[0]["status"], &open[0]["tool"]), (&json!("refused"), &json!("write_file")));
    let message = refused["error"]["message"].as_str().expect("words");
    assert!(message.contains(&format!("`gristmill approvals allow {id}`")), "{message}");
    let said = served.home().ok(&["approvals", "allow", id]);
    assert_eq!(
        said,
        "allowed filesystem.write_file once, with the same arguments; ask your agent to try again\n"
    );
    assert_is_refused_elsewhere(&served);
    let ran = served.structured("execute_code", program(WRITE));
    assert_eq!(ran["result"], true, "{ran:#}");
    let again = served.structured("execute_code", program(WRITE));
    assert_eq!(again["error"]["code"], "GM-3302", "once: {again:#}");
    let id = listed(&served)[0]["id"].as_str().expect("an id").to_owned();
    served.home().ok(&["approvals", "allow", &id, "--always"]);
    let ran = served.structured("execute_code", program(WRITE));
    assert_eq!(ran["result"], true, "{ran:#}");
    served.home().ok(&["approvals", "forget", "filesystem.write_file"]);
    let again = served.structured("execute_code", program(WRITE));
    assert_eq!(again["error"]["code"], "GM-3302", "it is asked about again: {again:#}");
    let forgotten = served.home().ok(&["audit", "query", "--kind", "approval.forgotten", "--json"]);
    let forgotten: Value = serde_json::from_str(&forgotten).expect("JSON");
    let [event] = forgotten.as_array().expect("a list").as_slice() else { panic!("{forgotten:#}") };
    let told = (&event["server"], &event["tool"], &event["by"]);
    assert_eq!(told, (&json!("filesystem"), &json!("write_file"), &json!("approvals")));
}

/// The same program of the same owner, by `gristmill run`.
fn assert_is_refused_elsewhere(served: &Served) {
    let config = served.home().path().join("servers.json");
    let config = config.to_str().expect("a path in UTF-8");
    let ran = served.home().run(&["run", "--config", config, "-c", WRITE]);
    assert!(ran.stderr.contains("GM-3302"), "{}", ran.stderr);
}

fn a_waiting_call_is_answered_from_another_terminal() {
    let served = world("approve-elsewhere", legacy().can(json!({"elicitation": {}})));
    let id = served.begin_call("execute_code", program(WRITE));
    served.next_question();
    let waiting =
        eventually("the call waits", || listed(&served).into_iter().find(|it| it["status"] == "waiting"));
    let said = served.home().ok(&["approvals", "allow", waiting["id"].as_str().expect("an id")]);
    assert_eq!(said, "allowed filesystem.write_file once\n");
    let ran = served.called("execute_code", id);
    assert_eq!(ran["structuredContent"]["result"], true, "{ran:#}");
    let denied = served.begin_call("execute_code", program(WRITE));
    served.next_question();
    let waiting =
        eventually("the call waits", || listed(&served).into_iter().find(|it| it["status"] == "waiting"));
    served.home().ok(&["approvals", "deny", waiting["id"].as_str().expect("an id")]);
    let ran = served.called("execute_code", denied);
    assert_eq!(ran["structuredContent"]["error"]["code"], "GM-3302", "{ran:#}");
}

fn several_questions_of_one_program_are_answered_together() {
    let served = world("approve-several", legacy().can(json!({"elicitation": {}})));
    let code = "from servers.filesystem import write_file\n\
                await asyncio.gather(*(write_file(path=f'{n}.txt', text='x') for n in range(3)))\n\
                result = True";
    let id = served.begin_call("execute_code", program(code));
    let question = served.next_question();
    served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accept("session")}));
    let ran = served.called("execute_code", id);
    assert_eq!(ran["structuredContent"]["result"], true, "one yes is for all of them: {ran:#}");
    assert!((0..3).all(|number| is_written(&served, &format!("{number}.txt"))));
}

fn a_used_request_state_approves_nothing() {
    let served = world("approve-replayed", modern().can(forms()));
    let code = "from servers.filesystem import write_file\n\
                for name in ('a', 'b'):\n    \
                    await write_file(path=f'{name}.txt', text='x')\n\
                result = True";
    let round = |state: &Value, requests: &Value| {
        let yes = |key: &str| (key.to_owned(), accept("once"));
        let responses: Value = members(requests).into_iter().map(yes).collect();
        let params = json!({
            "name": "execute_code", "arguments": program(code), "requestState": state, "inputResponses": responses,
        });
        served.request("tools/call", params)
    };
    let first = served.result("tools/call", json!({"name": "execute_code", "arguments": program(code)}));
    let second = round(&first["requestState"], &first["inputRequests"])["result"].clone();
    assert_eq!(second["resultType"], "input_required", "{second:#}");
    for requests in [&first["inputRequests"], &second["inputRequests"]] {
        let replayed = round(&first["requestState"], requests);
        let message = replayed["error"]["message"].as_str().expect("an error");
        assert!(message.starts_with("this requestState was used already"), "{message}");
    }
    assert_eq!(listed(&served)[0]["status"], "waiting");
    assert_eq!((is_written(&served, "a.txt"), is_written(&served, "b.txt")), (true, false));
    let ran = round(&second["requestState"], &second["inputRequests"]);
    assert_eq!(ran["result"]["structuredContent"]["result"], true, "{ran:#}");
    assert!(is_written(&served, "b.txt"));
}

fn a_question_of_a_killed_gateway_takes_no_answer_and_lets_nothing_through() {
    let served = world("approve-killed", modern().can(forms()));
    let asked = served.result("tools/call", json!({"name": "execute_code", "arguments": program(WRITE)}));
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    assert_eq!(listed(&served)[0]["status"], "waiting");
    kill_9(served.pid());
    served.ended();
    let open = listed(&served);
    assert_eq!((open.len(), &open[0]["status"]), (1, &json!("gone")), "{open:#?}");
    let id = open[0]["id"].as_str().expect("an id");
    for answer in
        [vec!["allow", id], vec!["allow", id, "--session"], vec!["allow", id, "--always"], vec!["deny", id]]
    {
        let refused = served.home().run(&[vec!["approvals"], answer].concat());
        let gone = format!(
            "error: the program that asked about filesystem.write_file (`{id}`) is gone, and nothing was answered\n"
        );
        assert!(refused.stderr.starts_with(&gone), "{}", refused.stderr);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    }
    // The very same call from elsewhere is asked about, and here nobody can be.
    assert_is_refused_elsewhere(&served);
    assert!(!is_written(&served, "a.txt"));
}

fn several_ids_are_answered_each_by_itself() {
    let served = world("approve-ids", legacy());
    let write = |name: &str| program(&WRITE.replace("a.txt", name));
    for name in ["a.txt", "b.txt", "c.txt"] {
        let refused = served.structured("execute_code", write(name));
        assert_eq!(refused["error"]["code"], "GM-3302", "{refused:#}");
    }
    let ids: Vec<String> =
        listed(&served).iter().map(|open| open["id"].as_str().expect("an id").to_owned()).collect();
    let [third, second, first] = ids.as_slice() else { panic!("{ids:?}") };
    let answered = served.home().run(&["approvals", "allow", first, "nothing-such", second]);
    let once = "allowed filesystem.write_file once, with the same arguments; ask your agent to try again\n";
    assert_eq!((answered.code, answered.stdout), (Some(2), once.repeat(2)));
    assert!(answered.stderr.starts_with("error: no call `nothing-such`\n"), "{}", answered.stderr);
    assert_eq!(served.home().ok(&["approvals", "deny", third]), "refused filesystem.write_file\n");
    for (name, is_allowed) in [("a.txt", true), ("b.txt", true), ("c.txt", false)] {
        served.structured("execute_code", write(name));
        assert_eq!(is_written(&served, name), is_allowed, "{name}");
    }
}
