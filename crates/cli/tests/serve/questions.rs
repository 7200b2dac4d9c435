//! Questions that a server asks while a program uses it: they reach the client that started the program,
//! in the way of its era, and its answer reaches the server.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, Manners, legacy, members, modern};
use crate::gateways::{Place, Served};

cases![
    a_client_of_the_older_era_is_asked_by_a_request,
    a_client_of_the_modern_era_is_asked_by_an_answer_and_answers_by_asking_again,
    several_questions_are_asked_one_round_after_the_other,
    a_request_state_that_is_not_this_requests_is_refused,
    a_request_state_whose_program_is_gone_is_refused,
    a_request_state_is_good_once_and_for_its_own_round,
    a_client_that_cannot_answer_is_not_asked,
    a_client_that_fills_in_forms_only_is_not_sent_to_pages,
    a_program_in_the_background_asks_whoever_follows_it,
    a_task_asks_and_is_answered,
    taking_the_request_back_ends_a_program_that_asks,
    a_prompt_whose_server_asks_reaches_a_client_of_either_era,
    a_prompts_request_state_is_good_for_its_own_request_only,
];

/// What the servers ask.
fn form() -> Value {
    json!({
        "message": "Which size?",
        "requestedSchema": {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
    })
}

/// What the client of `server` is to see of it.
fn shown(server: &str) -> Value {
    json!({
        "mode": "form",
        "message": format!("{server} asks: Which size?"),
        "requestedSchema": form()["requestedSchema"],
    })
}

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// A server of each era.
fn world(name: &str, manners: Manners) -> Served {
    let place = Place::new(name).scripted("older", &[]).scripted("newer", &["modern"]);
    place.serve(manners, &[])
}

/// A program that has the server ask, and whose result is the answer that the server got.
fn asking(server: &str, params: &Value) -> Value {
    let code = match server {
        "older" => {
            "from servers.older import ask\n\
             question = {'jsonrpc': '2.0', 'id': 'q1', 'method': 'elicitation/create', 'params': params}\n\
             result = (await ask(message=question))['result']"
        }
        _ => {
            "from servers.newer import question\n\
             answers, state = await question(requests={'one': {'method': 'elicitation/create', 'params': params}})\n\
             result = answers['one']"
        }
    };
    json!({"code": code, "context": {"params": params}})
}

fn answers() -> [Value; 3] {
    [
        json!({"action": "accept", "content": {"size": 42}}),
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
    ]
}

/// Without what belongs to the protocol and not to the question.
fn next_question(served: &Served) -> Value {
    let mut question = served.next_question();
    question["params"].as_object_mut().expect("an object").remove("_meta");
    question
}

fn a_client_of_the_older_era_is_asked_by_a_request() {
    let served = world("asked-older", legacy().can(json!({"elicitation": {}})));
    for server in ["older", "newer"] {
        for answer in answers() {
            let id = served.begin_call("execute_code", asking(server, &form()));
            let question = next_question(&served);
            assert_eq!(
                (&question["method"], &question["params"]),
                (&json!("elicitation/create"), &shown(server))
            );
            served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
            let ran = served.called("execute_code", id);
            assert_eq!(ran["structuredContent"], json!({"status": "ok", "result": answer}), "{server}");
        }
    }
}

/// The first round of a request: what is asked, and the state.
fn first_round(client: &Client, arguments: &Value) -> (Value, Value) {
    let asked = client.result("tools/call", json!({"name": "execute_code", "arguments": arguments}));
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    assert_eq!(members(&asked), ["resultType", "inputRequests", "requestState"]);
    (asked["inputRequests"].clone(), asked["requestState"].clone())
}

/// The same request again, with answers.
fn next_round(client: &Client, arguments: &Value, state: &Value, responses: Value) -> Value {
    let params = json!({
        "name": "execute_code", "arguments": arguments, "requestState": state, "inputResponses": responses,
    });
    client.request("tools/call", params)
}

fn only_key(requests: &Value) -> String {
    let keys = members(requests);
    assert_eq!(keys.len(), 1, "{requests}");
    keys[0].to_owned()
}

fn a_client_of_the_modern_era_is_asked_by_an_answer_and_answers_by_asking_again() {
    let served = world("asked-newer", modern().can(forms()));
    for server in ["older", "newer"] {
        for answer in answers() {
            let arguments = asking(server, &form());
            let (requests, state) = first_round(&served, &arguments);
            let key = only_key(&requests);
            assert_eq!(requests[&key], json!({"method": "elicitation/create", "params": shown(server)}));
            let ran = next_round(&served, &arguments, &state, json!({key: answer}));
            assert_eq!(ran["result"]["resultType"], "complete", "{ran:#}");
            assert_eq!(
                ran["result"]["structuredContent"],
                json!({"status": "ok", "result": answer}),
                "{server}"
            );
        }
    }
    assert!(!served.has_question(), "the modern era has no requests to clients");
}

/// A program whose server asks three times, and which gives back the three answers.
fn asking_three_times() -> Value {
    let code = "from servers.older import ask\n\
        result = []\n\
        for number in range(3):\n    \
            question = {'jsonrpc': '2.0', 'id': f'q{number}', 'method': 'elicitation/create', 'params': params}\n    \
            result.append((await ask(message=question))['result']['content']['size'])";
    json!({"code": code, "context": {"params": form()}})
}

fn several_questions_are_asked_one_round_after_the_other() {
    let served = world("rounds", modern().can(forms()));
    let arguments = asking_three_times();
    let (mut requests, mut state) = first_round(&served, &arguments);
    let mut seen = vec![state.clone()];
    for size in [1, 2] {
        let response = json!({only_key(&requests): {"action": "accept", "content": {"size": size}}});
        let asked = next_round(&served, &arguments, &state, response);
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
        (requests, state) =
            (asked["result"]["inputRequests"].clone(), asked["result"]["requestState"].clone());
        assert!(!seen.contains(&state), "each round has a state of its own");
        seen.push(state.clone());
    }
    let response = json!({only_key(&requests): {"action": "accept", "content": {"size": 3}}});
    let ran = next_round(&served, &arguments, &state, response);
    assert_eq!(ran["result"]["structuredContent"], json!({"status": "ok", "result": [1, 2, 3]}));
}

fn a_request_state_that_is_not_this_requests_is_refused() {
    let served = world("states", modern().can(forms()));
    let arguments = asking("older", &form());
    let (requests, state) = first_round(&served, &arguments);
    let text = state.as_str().expect("a text").to_owned();
    let response = json!({only_key(&requests): {"action": "accept", "content": {"size": 42}}});
    let foreign = "requestState isn't from this gateway or this request; send the request again without it";
    let refused = json!({"code": -32602, "message": foreign});
    let mut tampered = vec![String::new(), "made up".to_owned(), format!("{text}x"), text[1..].to_owned()];
    tampered.extend(text.split('.').map(|part| text.replacen(part, "7", 1)));
    for tampered in tampered {
        let answer = next_round(&served, &arguments, &json!(tampered), response.clone());
        assert_eq!(answer["error"], refused, "{tampered}");
    }
    let mut other = arguments.clone();
    other["code"] = json!("'another program'");
    let answer = next_round(&served, &other, &state, response.clone());
    assert_eq!(answer["error"], refused, "the program was changed");
    let elsewhere = world("elsewhere", modern().can(forms()));
    let answer = next_round(&elsewhere, &arguments, &state, response.clone());
    assert_eq!(answer["error"], refused, "another gateway");
    let ran = next_round(&served, &arguments, &state, response);
    assert_eq!(
        ran["result"]["structuredContent"]["result"]["content"],
        json!({"size": 42}),
        "nothing of this hurt it"
    );
}

fn a_request_state_whose_program_is_gone_is_refused() {
    let served = world("gone-state", modern().can(forms()));
    let arguments = asking("older", &form());
    let (requests, state) = first_round(&served, &arguments);
    let response = json!({only_key(&requests): {"action": "decline"}});
    let ran = next_round(&served, &arguments, &state, response.clone());
    assert_eq!(ran["result"]["structuredContent"]["status"], "ok");
    let again = next_round(&served, &arguments, &state, response);
    let message = "the program of this requestState is gone; send the request again without it";
    assert_eq!(again["error"], json!({"code": -32602, "message": message}));
}

fn a_request_state_is_good_once_and_for_its_own_round() {
    let served = world("used-state", modern().can(forms()));
    let arguments = asking_three_times();
    let size = |requests: &Value, size: u64| json!({only_key(requests): {"action": "accept", "content": {"size": size}}});
    let (first, used) = first_round(&served, &arguments);
    let asked = next_round(&served, &arguments, &used, size(&first, 1));
    let (second, state) = (asked["result"]["inputRequests"].clone(), asked["result"]["requestState"].clone());
    let id = used.as_str().and_then(|state| state.split('.').next()).expect("an id").to_owned();
    let message = format!(
        "this requestState was used already, and nothing more is answered by it; go on from the newest answer, or ask \
         `get_execution` for `{id}` if that was lost"
    );
    let refused = json!({"code": -32602, "message": message});
    // The same request once more, as a network that lost its answer sends it; and one that answers what is asked now.
    for forged in [size(&first, 1), size(&second, 666), json!({})] {
        let answer = next_round(&served, &arguments, &used, forged);
        assert_eq!(answer["error"], refused);
    }
    // Whoever lost the answer is asked again what is asked now, and that leads on, too.
    let lost = json!({"name": "get_execution", "arguments": {"id": id}});
    let again = served.result("tools/call", lost.clone());
    assert_eq!((&again["resultType"], &again["inputRequests"]), (&json!("input_required"), &second));
    let mut answered = lost;
    answered["requestState"] = again["requestState"].clone();
    answered["inputResponses"] = size(&second, 2);
    let third = served.result("tools/call", answered.clone())["inputRequests"].clone();
    assert_ne!(only_key(&third), only_key(&second));
    // A state that nobody has used follows the program, and answers nothing that came after it.
    let mut forged = size(&second, 666);
    forged[only_key(&third)] = json!({"action": "accept", "content": {"size": 666}});
    let asked = next_round(&served, &arguments, &state, forged);
    assert_eq!(asked["result"]["inputRequests"], third, "{asked:#}");
    let newest = asked["result"]["requestState"].clone();
    let ran = next_round(&served, &arguments, &newest, size(&third, 3));
    assert_eq!(ran["result"]["structuredContent"], json!({"status": "ok", "result": [1, 2, 3]}));
}

fn a_client_that_cannot_answer_is_not_asked() {
    for manners in [legacy(), modern()] {
        let served = world("cannot", manners);
        for server in ["older", "newer"] {
            let ran = served.structured("execute_code", asking(server, &form()));
            assert_eq!(
                (&ran["status"], &ran["result"]["action"]),
                (&json!("ok"), &json!("decline")),
                "{server}: {ran:#}"
            );
        }
        assert!(!served.has_question());
    }
}

fn a_client_that_fills_in_forms_only_is_not_sent_to_pages() {
    let page =
        json!({"mode": "url", "message": "Pay", "url": "https://pay.example/1", "elicitationId": "e1"});
    for manners in [legacy().can(forms()), modern().can(forms())] {
        let served = world("pages", manners);
        let ran = served.structured("execute_code", asking("older", &page));
        assert_eq!((&ran["status"], &ran["result"]["action"]), (&json!("ok"), &json!("decline")), "{ran:#}");
        assert!(!served.has_question());
    }
}

fn a_program_in_the_background_asks_whoever_follows_it() {
    let served = world("background-asks", legacy().can(forms()));
    let mut arguments = asking("older", &form());
    arguments["background"] = json!(true);
    let started = served.structured("execute_code", arguments);
    let waiting = served.begin_call("get_execution", json!({"id": started["id"], "wait_s": 60}));
    let question = next_question(&served);
    assert_eq!(question["params"], shown("older"));
    let answer = json!({"action": "accept", "content": {"size": 1}});
    served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    let ended = served.called("get_execution", waiting);
    assert_eq!(ended["structuredContent"], json!({"status": "ok", "result": answer}));
}

fn a_task_asks_and_is_answered() {
    let capabilities =
        json!({"elicitation": {"form": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let served = world("task-asks", modern().can(capabilities));
    let mut arguments = asking("newer", &form());
    arguments["background"] = json!(true);
    let created = served.result("tools/call", json!({"name": "execute_code", "arguments": arguments}));
    assert_eq!(created["resultType"], "task", "{created:#}");
    let until = |status: &str| {
        gristmill_testkit::processes::eventually(status, || {
            let task = served.result("tasks/get", json!({"taskId": created["taskId"]}));
            (task["status"] == status).then_some(task)
        })
    };
    let asking = until("input_required");
    let key = only_key(&asking["inputRequests"]);
    assert_eq!(asking["inputRequests"][&key]["params"], shown("newer"));
    let answer = json!({"action": "accept", "content": {"size": 7}});
    served.result("tasks/update", json!({"taskId": created["taskId"], "inputResponses": {key: answer}}));
    let task = until("completed");
    assert_eq!(task["result"]["structuredContent"], json!({"status": "ok", "result": answer}));
}

fn taking_the_request_back_ends_a_program_that_asks() {
    let served = world("taken-back", legacy().can(forms()));
    let id = served.begin_call("execute_code", asking("older", &form()));
    served.next_question();
    served.cancel(id);
    gristmill_testkit::processes::eventually("it is cancelled", || {
        let listed = served.structured("get_execution", json!({}));
        listed["executions"][0].as_str().is_some_and(|line| line.contains(": cancelled, ")).then_some(())
    });
}

fn prompting(name: &str, manners: Manners) -> Served {
    Place::new(name).scripted("newer", &["modern", "readables"]).serve(manners, &[])
}

/// A prompt that asks, and then says what it was answered.
fn asking_prompt(words: &str) -> Value {
    json!({"name": "newer.review", "arguments": {"ask": words}})
}

fn a_prompt_whose_server_asks_reaches_a_client_of_either_era() {
    let answer = json!({"action": "accept", "content": {"size": 42}});
    let told = json!({"one": answer}).to_string();
    let said = |filled: &Value| filled["messages"][0]["content"]["text"].clone();

    let served = prompting("prompt-asks-older", legacy().can(forms()));
    let id = served.begin("prompts/get", asking_prompt("Which size?"));
    let question = next_question(&served);
    assert_eq!(question["params"]["message"], "newer asks: Which size?", "{question:#}");
    served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    assert_eq!(said(&served.answer(id)["result"]), told);

    let served = prompting("prompt-asks-newer", modern().can(forms()));
    let asked = served.result("prompts/get", asking_prompt("Which size?"));
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let key = only_key(&asked["inputRequests"]);
    assert_eq!(asked["inputRequests"][&key]["params"]["message"], "newer asks: Which size?");
    let mut again = asking_prompt("Which size?");
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({key: answer});
    let filled = served.result("prompts/get", again);
    assert_eq!((&filled["resultType"], said(&filled)), (&json!("complete"), json!(told)), "{filled:#}");

    // Nobody is asked who can't answer.
    let served = prompting("prompt-asks-nobody", modern());
    let filled = served.result("prompts/get", asking_prompt("Which size?"));
    assert!(said(&filled).as_str().is_some_and(|text| text.contains("decline")), "{filled:#}");
}

fn a_prompts_request_state_is_good_for_its_own_request_only() {
    let served = prompting("prompt-state", modern().can(forms()));
    let asked = served.result("prompts/get", asking_prompt("Which size?"));
    let key = only_key(&asked["inputRequests"]);
    let with_state = |words: &str| {
        let mut request = asking_prompt(words);
        request["requestState"] = asked["requestState"].clone();
        request["inputResponses"] = json!({(key.as_str()): {"action": "decline"}});
        served.request("prompts/get", request)
    };
    let refused = with_state("Which colour?");
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("requestState isn't from this gateway or this request"), "{refused}");
    assert_eq!(with_state("Which size?")["result"]["resultType"], "complete");
    let refused = with_state("Which size?");
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("the prompt of this requestState is gone"), "{refused}");
}
