//! Long work as the protocol's tasks, for clients of the modern era that announce them.

use gristmill_testkit::processes::eventually;
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Manners, legacy, members, modern, result_in};
use crate::gateways::{Served, shared, shared_modern};

cases![
    work_in_the_background_becomes_a_task_if_the_client_knows_tasks,
    a_client_that_does_not_know_tasks_gets_a_plain_answer,
    a_failed_program_is_a_completed_task_with_its_failure,
    a_cancelled_task_says_so,
    an_unknown_task_is_refused,
    tasks_are_refused_to_those_who_did_not_announce_them,
    in_the_older_era_there_are_no_tasks,
];

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

fn with_tasks() -> Manners {
    modern().can(json!({"extensions": {EXTENSION: {}}}))
}

/// A result of a client that knows tasks.
fn result(served: &Served, method: &str, params: Value) -> Value {
    result_in(served.request_as(&with_tasks(), method, params))
}

fn start(served: &Served, code: &str) -> Value {
    let arguments = json!({"code": code, "background": true});
    result(served, "tools/call", json!({"name": "execute_code", "arguments": arguments}))
}

fn until(served: &Served, id: &Value, status: &str) -> Value {
    eventually(&format!("the task is {status}"), || {
        let task = result(served, "tasks/get", json!({"taskId": id}));
        (task["status"] == status).then_some(task)
    })
}

fn work_in_the_background_becomes_a_task_if_the_client_knows_tasks() {
    let served = shared_modern();
    let created = start(&served, "print('hi')\n[1, 2]");
    assert_eq!(created["resultType"], "task", "{created:#}");
    assert_eq!(
        members(&created),
        ["resultType", "taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"]
    );
    assert_eq!((&created["status"], &created["pollIntervalMs"]), (&json!("working"), &json!(1000)));
    let task = until(&served, &created["taskId"], "completed");
    assert_eq!(
        task["result"],
        json!({
            "resultType": "complete",
            "content": [{"type": "text", "text": "hi\n[1,2]"}],
            "structuredContent": {"status": "ok", "result": [1, 2], "output": "hi\n"},
            "isError": false,
        })
    );
    // A client that only knows the tool can follow it, too.
    let told = served.structured("get_execution", json!({"id": created["taskId"]}));
    assert_eq!(told, json!({"status": "ok", "result": [1, 2], "output": "hi\n"}));
}

fn a_client_that_does_not_know_tasks_gets_a_plain_answer() {
    let answer = shared_modern().call("execute_code", json!({"code": "1", "background": true}));
    assert_eq!(
        (&answer["resultType"], &answer["structuredContent"]["status"]),
        (&json!("complete"), &json!("running"))
    );
}

fn a_failed_program_is_a_completed_task_with_its_failure() {
    let served = shared_modern();
    let created = start(&served, "1 / 0");
    let task = until(&served, &created["taskId"], "completed");
    assert_eq!(
        (&task["result"]["isError"], &task["result"]["structuredContent"]["status"]),
        (&json!(true), &json!("failed"))
    );
}

fn a_cancelled_task_says_so() {
    let served = shared_modern();
    let created = start(&served, "await asyncio.sleep(100)");
    let id = &created["taskId"];
    assert_eq!(result(&served, "tasks/get", json!({"taskId": id}))["status"], "working");
    result(&served, "tasks/cancel", json!({"taskId": id}));
    until(&served, id, "cancelled");
    let told = served.structured("get_execution", json!({"id": id}));
    assert_eq!(told["status"], "cancelled", "{told:#}");
}

fn an_unknown_task_is_refused() {
    for method in ["tasks/get", "tasks/cancel"] {
        let answer = shared_modern().request_as(&with_tasks(), method, json!({"taskId": "nope"}));
        let message = "no task `nope`; finished tasks are kept for 15 minutes";
        assert_eq!(answer["error"], json!({"code": -32602, "message": message}), "{method}");
    }
}

fn tasks_are_refused_to_those_who_did_not_announce_them() {
    let served = shared_modern();
    let created = start(&served, "1");
    for method in ["tasks/get", "tasks/cancel"] {
        let answer = served.request(method, json!({"taskId": created["taskId"]}));
        assert_eq!(answer["error"]["code"], -32021, "{answer}");
        assert!(answer["error"]["data"].to_string().contains(EXTENSION), "{answer}");
    }
    let update = json!({"taskId": created["taskId"], "inputResponses": {}});
    assert_eq!(served.request("tasks/update", update)["error"]["code"], -32021);
}

fn in_the_older_era_there_are_no_tasks() {
    // Announced or not: its clients could not read the answer.
    let manners = legacy().can(json!({"extensions": {EXTENSION: {}}}));
    let served = crate::gateways::Place::new("older-tasks").serve(manners, &[]);
    let answer = served.call("execute_code", json!({"code": "1", "background": true}));
    assert_eq!(answer["structuredContent"]["status"], "running", "{answer:#}");
    let refused = shared().request("tasks/get", json!({"taskId": "nope"}));
    assert!(refused["error"]["code"].is_i64(), "{refused}");
}
