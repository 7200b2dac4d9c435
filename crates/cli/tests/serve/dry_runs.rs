//! Dry runs over MCP: the answer lists the writes, and the plan runs once its person has said yes, in the way of
//! the client's era.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, Manners, legacy, members, modern};
use crate::gateways::{Place, Served};
use crate::http::{Holder, Listening};
use crate::support::gristmill;
use gristmill_testkit::Home;
use gristmill_testkit::processes::kill_9;

cases![
    an_older_client_is_asked_one_question_about_the_whole_plan,
    a_modern_client_is_asked_by_an_answer_about_the_whole_plan,
    a_client_that_cannot_be_asked_runs_the_plan_after_its_person_approved_it,
    a_plan_that_was_denied_never_runs,
    a_plan_outlasts_the_gateway_that_made_it,
    a_plan_of_another_token_is_never_found_and_never_run,
];

const WRITES: &str = "from servers.filesystem import write_file\n\
                      await write_file(path='a.txt', text='x')\n\
                      await write_file(path='b.txt', text='y')\n\
                      open('/workspace/left.txt', 'w').write('x')\n\
                      result = 'done'";

/// A gateway in front of a file system, which calls its writing destructive.
fn place(name: &str) -> Place {
    let place = Place::new(name);
    let root = place.home().path().join("root");
    std::fs::create_dir(&root).expect("a folder");
    let args = json!(["example-server", "filesystem", "--root", root]);
    place.server("filesystem", json!({"command": gristmill(), "args": args}))
}

fn world(name: &str, manners: Manners) -> Served {
    place(name).serve(manners, &[])
}

fn is_written(home: &Home) -> [bool; 2] {
    ["a.txt", "b.txt"].map(|file| home.path().join("root").join(file).exists())
}

/// Dry-runs the program; the plan's id.
fn plan(served: &Client, home: &Home) -> String {
    let ran = served.structured("execute_code", json!({"code": WRITES, "dry_run": true}));
    assert_eq!((&ran["status"], &ran["result"]), (&json!("ok"), &json!("done")), "{ran:#}");
    assert_eq!(is_written(home), [false, false]);
    assert_eq!(ran.get("session"), None, "nothing is left behind: {ran:#}");
    let writes = &ran["dry_run"]["writes"];
    assert_eq!(writes[1]["arguments"], "{\"path\":\"b.txt\",\"text\":\"y\"}", "{ran:#}");
    assert_eq!((&writes[0]["tool"], &writes[0]["decision"]), (&json!("write_file"), &json!("ask")));
    ran["dry_run"]["plan"].as_str().expect("a plan").to_owned()
}

fn check_question(params: &Value, id: &str) {
    let message = params["message"].as_str().expect("words");
    assert!(message.contains(&format!("run the plan {id} once? It can make 2 writes")), "{message}");
    assert!(message.contains("1. filesystem.write_file {\"path\":\"a.txt\",\"text\":\"x\"}"), "{message}");
    assert!(message.contains("2. filesystem.write_file {\"path\":\"b.txt\",\"text\":\"y\"}"), "{message}");
    let answers = params["requestedSchema"]["properties"]["answer"]["oneOf"].as_array().expect("answers");
    let answers: Vec<&str> = answers.iter().filter_map(|answer| answer["const"].as_str()).collect();
    assert_eq!(answers, ["once", "no"]);
}

fn accept(answer: &str) -> Value {
    json!({"action": "accept", "content": {"answer": answer}})
}

fn check_made(served: &Client, home: &Home, ran: &Value, id: &str) {
    assert_eq!(ran["result"], "done", "{ran:#}");
    assert_eq!(ran["notes"][0], format!("plan {id}: all 2 writes were made"), "{ran:#}");
    assert_eq!(is_written(home), [true, true]);
    let again = served.structured("execute_code", json!({"plan": id}));
    assert_eq!(again["error"]["code"], "GM-2002", "once: {again:#}");
}

fn an_older_client_is_asked_one_question_about_the_whole_plan() {
    let served = world("plan-older", legacy().can(json!({"elicitation": {}})));
    let id = plan(&served, served.home());
    let call = served.begin_call("execute_code", json!({"plan": id}));
    let question = served.next_question();
    check_question(&question["params"], &id);
    assert_eq!(is_written(served.home()), [false, false], "it waits");
    served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accept("once")}));
    let ran = served.called("execute_code", call);
    assert!(!served.has_question(), "one question is for all");
    check_made(&served, served.home(), &ran["structuredContent"], &id);
}

fn a_modern_client_is_asked_by_an_answer_about_the_whole_plan() {
    let served = world("plan-newer", modern().can(json!({"elicitation": {"form": {}}})));
    let id = plan(&served, served.home());
    let asked = served.result("tools/call", json!({"name": "execute_code", "arguments": {"plan": id}}));
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let key = members(&asked["inputRequests"])[0].to_owned();
    check_question(&asked["inputRequests"][&key]["params"], &id);
    let params = json!({
        "name": "execute_code", "arguments": {"plan": id}, "requestState": asked["requestState"],
        "inputResponses": {key: accept("once")},
    });
    let ran = served.result("tools/call", params);
    check_made(&served, served.home(), &ran["structuredContent"], &id);
}

fn a_client_that_cannot_be_asked_runs_the_plan_after_its_person_approved_it() {
    let served = world("plan-nobody", legacy());
    let id = plan(&served, served.home());
    let refused = served.structured("execute_code", json!({"plan": id}));
    assert_eq!(refused["error"]["code"], "GM-3302", "{refused:#}");
    assert!(refused.to_string().contains(&format!("gristmill approvals allow {id}")), "{refused:#}");
    served.home().ok(&["approvals", "allow", &id]);
    let ran = served.structured("execute_code", json!({"plan": id}));
    check_made(&served, served.home(), &ran, &id);
}

fn a_plan_that_was_denied_never_runs() {
    let served = world("plan-denied", legacy().can(json!({"elicitation": {}})));
    for answer in [accept("no"), accept("always"), json!({"action": "decline"})] {
        let id = plan(&served, served.home());
        let call = served.begin_call("execute_code", json!({"plan": id}));
        let question = served.next_question();
        served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
        let ran = served.called("execute_code", call);
        assert_eq!(ran["structuredContent"]["error"]["code"], "GM-3302", "{ran:#}");
        let again = served.structured("execute_code", json!({"plan": id}));
        assert_eq!(again["error"]["code"], "GM-3302", "it stays denied: {again:#}");
    }
    assert_eq!(is_written(served.home()), [false, false]);
}

fn a_plan_outlasts_the_gateway_that_made_it() {
    let place = place("plan-restart");
    let killed = Client::start(place.command(&[]), legacy());
    let id = plan(&killed, place.home());
    kill_9(killed.pid());
    drop(killed);
    place.home().ok(&["approvals", "allow", &id]);
    let again = Client::start(place.command(&[]), legacy());
    let ran = again.structured("execute_code", json!({"plan": id}));
    check_made(&again, place.home(), &ran, &id);
}

fn a_plan_of_another_token_is_never_found_and_never_run() {
    let tokens = [("ada", &[][..]), ("ben", &[][..])];
    let (listening, tokens) = Listening::begin_with_tokens(place("plan-owners"), tokens);
    let [ada, ben] = tokens.map(|authorization| Holder { listening: &listening, authorization });
    let planned = ada.structured("execute_code", json!({"code": WRITES, "dry_run": true}));
    let id = planned["dry_run"]["plan"].as_str().unwrap_or_else(|| panic!("{planned:#}"));
    listening.home.ok(&["approvals", "allow", id]);
    let never_was = ben.structured("execute_code", json!({"plan": "abcdefgh"}));
    assert_eq!(never_was["error"]["code"], "GM-2002", "{never_was:#}");
    for arguments in [json!({"plan": id}), json!({"plan": id, "code": WRITES})] {
        let refused = ben.structured("execute_code", arguments);
        let same = refused.to_string().replace(id, "abcdefgh");
        assert_eq!(same, never_was.to_string(), "not even that it is there");
    }
    assert_eq!(is_written(&listening.home), [false, false]);
    let ran = ada.structured("execute_code", json!({"plan": id}));
    assert_eq!((&ran["result"], is_written(&listening.home)), (&json!("done"), [true, true]), "{ran:#}");
}
