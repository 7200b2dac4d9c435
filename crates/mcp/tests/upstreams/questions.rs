//! Questions of servers for the user, in both eras: whom they reach, and what goes back.

use std::time::Duration;

use gristmill_gateway::ports::{Question, QuestionAnswer, QuestionKind};
use gristmill_gateway::upstream::{UpstreamCall, UpstreamFailure};
use serde_json::{Value, json};

use crate::cases::cases;
use crate::person::Person;
use crate::scripted_http::{Answer, Era, HttpServer, Seen, event};
use crate::world::{
    Connection, SECRET, SHOWN, call_of, connect, connect_to_ask, limited, over_http, scripted,
};

cases![
    servers_may_ask_only_if_somebody_answers,
    a_form_is_asked_and_its_answer_arrives,
    no_and_nothing_arrive_as_such,
    a_page_is_asked_of_whoever_can_go_there,
    questions_of_one_program_with_several_calls_are_asked,
    questions_that_may_be_of_several_programs_are_declined,
    over_http_a_question_belongs_to_its_call,
    the_time_of_a_call_stands_still_while_a_person_thinks,
    a_question_is_taken_back_with_its_call,
    a_question_that_its_server_takes_back_is_put_away,
    questions_that_are_too_large_or_odd_are_not_asked,
    questions_are_bounded_in_number,
    secrets_are_taken_out_of_questions,
    a_modern_server_asks_in_rounds,
    a_modern_server_that_never_stops_asking_is_given_up,
];

const NOBODY: &str = "Gristmill has no user to ask right now";

fn accepted() -> Person {
    Person::who_says(QuestionAnswer::Accept(Some(json!({ "name": "Ada" }))))
}

fn form() -> Value {
    json!({ "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } })
}

fn page() -> Value {
    json!({ "mode": "url", "message": "Pay", "url": "https://pay.example/1", "elicitationId": "e-1" })
}

fn the_form() -> Question {
    let schema = json!({ "type": "object", "properties": {} });
    Question { server: "a".to_owned(), message: "Who?".to_owned(), asked: QuestionKind::Form { schema } }
}

fn request(id: impl Into<Value>, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "elicitation/create", "params": params })
}

/// Has the server ask in the way of its era; what it was answered.
async fn answer_to(server: &Connection, person: &Person, params: &Value) -> Value {
    let asker = person.asker();
    if server.upstream.facts().protocol.starts_with("2026") {
        let requests = json!({ "q": { "method": "elicitation/create", "params": params } });
        let value = server.value_with(&asker, "question", json!({ "requests": requests })).await;
        assert_eq!(value[1], "where we were");
        return value[0]["q"].clone();
    }
    let value = server.value_with(&asker, "ask", json!({ "message": request("q", params) })).await;
    value["result"].clone()
}

async fn servers_of_both_eras() -> [Connection; 2] {
    [connect_to_ask(scripted("a", &[])).await, connect_to_ask(scripted("a", &["modern"])).await]
}

async fn servers_may_ask_only_if_somebody_answers() {
    let legacy = async |server: Connection| {
        let greeting = server.value("wait_for", json!({ "method": "initialize" })).await;
        greeting["params"]["capabilities"].clone()
    };
    let modern = async |server: Connection| {
        let listed = server.upstream.list_tools().await;
        listed.expect("tools");
        let message = server.value("wait_for", json!({ "method": "tools/list" })).await;
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone()
    };
    let can_ask = json!({ "elicitation": { "form": {}, "url": {} } });
    assert_eq!(legacy(connect_to_ask(scripted("a", &[])).await).await, can_ask);
    assert_eq!(legacy(connect(scripted("a", &[])).await).await, json!({}));
    assert_eq!(modern(connect_to_ask(scripted("a", &["modern"])).await).await, can_ask);
    assert_eq!(modern(connect(scripted("a", &["modern"])).await).await, json!({}));
}

async fn a_form_is_asked_and_its_answer_arrives() {
    for server in servers_of_both_eras().await {
        let person = accepted();
        let answer = answer_to(&server, &person, &form()).await;
        assert_eq!(answer, json!({ "action": "accept", "content": { "name": "Ada" } }));
        assert_eq!(person.asked(), [the_form()]);
    }
}

async fn no_and_nothing_arrive_as_such() {
    for server in servers_of_both_eras().await {
        for (said, action) in [(QuestionAnswer::Decline, "decline"), (QuestionAnswer::Cancel, "cancel")] {
            let answer = answer_to(&server, &Person::who_says(said), &form()).await;
            assert_eq!(answer, json!({ "action": action }));
        }
        let odd = Person::who_says(QuestionAnswer::Accept(Some(json!("yes"))));
        assert_eq!(answer_to(&server, &odd, &form()).await, json!({ "action": "cancel" }));
        let empty = Person::who_says(QuestionAnswer::Accept(None));
        assert_eq!(answer_to(&server, &empty, &form()).await, json!({ "action": "accept", "content": {} }));
    }
}

async fn a_page_is_asked_of_whoever_can_go_there() {
    for server in servers_of_both_eras().await {
        let person = Person::who_says(QuestionAnswer::Accept(None));
        assert_eq!(answer_to(&server, &person, &page()).await, json!({ "action": "accept" }));
        let asked = QuestionKind::Url { url: "https://pay.example/1".to_owned(), id: "e-1".to_owned() };
        let question = Question { server: "a".to_owned(), message: "Pay".to_owned(), asked };
        assert_eq!(person.asked(), [question]);
        let other = Person::who_only_fills_in_forms(QuestionAnswer::Accept(None));
        let reason = "the client can't answer questions of this kind";
        let declined = json!({ "action": "decline", "_meta": { "reason": reason } });
        assert_eq!((answer_to(&server, &other, &page()).await, other.asked()), (declined, vec![]));
    }
}

/// Two calls under way at once: the first does nothing, the second asks.
async fn asked_beside(server: &Connection, first: &Person, second: &Person, same_program: bool) -> Value {
    let one = first.asker();
    let other = if same_program { one.clone() } else { second.asker() };
    let held = UpstreamCall { asker: one, ..call_of("hold", &json!({})) };
    let ask = async {
        while server.value("held", json!({})).await == json!(0) {}
        let answer = server.value_with(&other, "ask", json!({ "message": request("q", &form()) })).await;
        server.value("release", json!({})).await;
        answer["result"].clone()
    };
    let (held, answer) = tokio::join!(server.upstream.call(held), ask);
    held.expect("an answer");
    answer
}

async fn questions_of_one_program_with_several_calls_are_asked() {
    let server = connect_to_ask(scripted("a", &[])).await;
    let person = accepted();
    let answer = asked_beside(&server, &person, &person, true).await;
    assert_eq!(answer, json!({ "action": "accept", "content": { "name": "Ada" } }));
    assert_eq!(person.asked(), [the_form()]);
}

async fn questions_that_may_be_of_several_programs_are_declined() {
    let server = connect_to_ask(scripted("a", &[])).await;
    let (one, other) = (accepted(), accepted());
    let reason = "several programs are calling this server, and it doesn't say which one it's asking";
    let declined = json!({ "action": "decline", "_meta": { "reason": reason } });
    assert_eq!(asked_beside(&server, &one, &other, false).await, declined);
    assert_eq!((one.asked(), other.asked()), (vec![], vec![]));
    // One at a time they are asked.
    let accepted = json!({ "action": "accept", "content": { "name": "Ada" } });
    assert_eq!(answer_to(&server, &other, &form()).await, accepted);
}

async fn over_http_a_question_belongs_to_its_call() {
    let is_call = |seen: &Seen| seen.verb == "POST" && seen.method() == "tools/call";
    let http = HttpServer::start(Era::Handshake, move |seen| {
        is_call(seen).then(|| {
            let who = seen.message["params"]["arguments"]["who"].clone();
            let message = json!({ "message": who, "requestedSchema": {} });
            Answer::Stream(event(&request(format!("of {}", who.as_str().unwrap_or_default()), &message)))
        })
    })
    .await;
    let server = connect_to_ask(over_http("a", &http.url())).await;
    let answers =
        ["one", "other"].map(|who| Person::who_says(QuestionAnswer::Accept(Some(json!({ "i": who })))));
    let calls = answers.iter().zip(["one", "other"]).map(|(person, who)| {
        let call = UpstreamCall { asker: person.asker(), ..call_of("echo", &json!({ "who": who })) };
        server.upstream.call(call)
    });
    let calls = futures_util::future::join_all(calls);
    let finish = async {
        let is_answer = |seen: &Seen| seen.verb == "POST" && seen.message.get("result").is_some();
        let mut answered = http.wait_for(2, is_answer).await;
        answered.sort_by_key(|seen| seen.message["id"].to_string());
        let told: Vec<(Value, Value)> = answered
            .iter()
            .map(|seen| (seen.message["id"].clone(), seen.message["result"].clone()))
            .collect();
        let accept = |who: &str| json!({ "action": "accept", "content": { "i": who } });
        assert_eq!(told, [(json!("of one"), accept("one")), (json!("of other"), accept("other"))]);
        for call in http.wait_for(2, is_call).await {
            http.push(&event(&call.value(json!("done"))));
        }
    };
    let (outcomes, ()) = tokio::join!(calls, finish);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let asked =
        answers.map(|person| person.asked().into_iter().map(|question| question.message).collect::<Vec<_>>());
    assert_eq!(asked, [["one"], ["other"]]);
}

async fn the_time_of_a_call_stands_still_while_a_person_thinks() {
    for behavior in ["version=2025-11-25", "modern"] {
        let settings = limited(scripted("a", &[behavior]), |limits| limits.call_ms = 2000);
        let server = connect_to_ask(settings).await;
        let person = Person::who_thinks(Duration::from_millis(5000), QuestionAnswer::Accept(None));
        let answer = answer_to(&server, &person, &form()).await;
        assert_eq!(answer, json!({ "action": "accept", "content": {} }), "{behavior}");
        // It runs again afterwards.
        let outcome = server.call("hang", json!({})).await;
        assert_eq!(outcome, Err(UpstreamFailure::Timeout { limit_ms: 2000 }), "{behavior}");
    }
}

async fn a_question_is_taken_back_with_its_call() {
    for server in servers_of_both_eras().await {
        let person = Person::who_is_silent();
        let form = form();
        tokio::select! {
            answer = answer_to(&server, &person, &form) => panic!("nobody said {answer}"),
            () = person.has_open(1) => {}
        }
        // The call was given up in that moment.
        person.has_lost(1).await;
    }
}

async fn a_question_that_its_server_takes_back_is_put_away() {
    let server = connect_to_ask(scripted("a", &[])).await;
    let person = Person::who_is_silent();
    let lines = [request(7, &form()).to_string()];
    let call = UpstreamCall { asker: person.asker(), ..call_of("print", &json!({ "lines": lines })) };
    let put_away = async {
        person.has_open(1).await;
        let cancelled = json!({ "method": "notifications/cancelled", "params": { "requestId": 7 } });
        let done = r#"{"id":$ID,"result":{}}"#;
        server.print(&[&cancelled.to_string(), done]).await.expect("an answer");
        person.has_lost(1).await;
    };
    tokio::select! {
        outcome = server.upstream.call(call) => panic!("it has no answer: {outcome:?}"),
        () = put_away => {}
    }
}

async fn questions_that_are_too_large_or_odd_are_not_asked() {
    for server in servers_of_both_eras().await {
        let person = accepted();
        let check = async |params: Value, reason: &str| {
            let declined = json!({ "action": "decline", "_meta": { "reason": reason } });
            assert_eq!(answer_to(&server, &person, &params).await, declined);
        };
        let large = json!({ "message": "x".repeat(9000), "requestedSchema": {} });
        check(large, "its message has 9000 bytes; the limit is 8192").await;
        let large = json!({ "message": "", "requestedSchema": { "title": "x".repeat(70_000) } });
        check(large, "its requestedSchema has 70012 bytes; the limit is 65536").await;
        let file = json!({ "mode": "url", "message": "", "url": "file:///etc/passwd" });
        check(file, "its url must start with https:// or http://").await;
        check(json!({ "message": "" }), "a form needs a requestedSchema").await;
        assert_eq!(person.asked(), []);
    }
}

async fn questions_are_bounded_in_number() {
    let server = connect_to_ask(scripted("a", &[])).await;
    let person = Person::who_is_silent();
    let asker = person.asker();
    let lines: Vec<String> = (0..8).map(|id| request(id, &form()).to_string()).collect();
    let first = UpstreamCall { asker: asker.clone(), ..call_of("print", &json!({ "lines": lines })) };
    let ninth = async {
        person.has_open(8).await;
        let ninth = json!({ "message": request("ninth", &form()) });
        server.value_with(&asker, "ask", ninth).await["result"].clone()
    };
    let reason = "8 questions are already waiting";
    tokio::select! {
        outcome = server.upstream.call(first) => panic!("it has no answer: {outcome:?}"),
        answer = ninth => assert_eq!(answer, json!({ "action": "decline", "_meta": { "reason": reason } })),
    }
    person.has_lost(8).await;
    assert_eq!(person.asked().len(), 8);
}

async fn secrets_are_taken_out_of_questions() {
    for server in servers_of_both_eras().await {
        let person = accepted();
        let params =
            json!({ "message": format!("Is it {SECRET}?"), "requestedSchema": { "default": SECRET } });
        answer_to(&server, &person, &params).await;
        let asked = QuestionKind::Form { schema: json!({ "default": SHOWN }) };
        let question = Question { server: "a".to_owned(), message: format!("Is it {SHOWN}?"), asked };
        assert_eq!(person.asked(), [question]);
    }
}

async fn a_modern_server_asks_in_rounds() {
    let server = connect_to_ask(scripted("a", &["modern"])).await;
    let person = accepted();
    let requests = json!({
        "one": { "method": "elicitation/create", "params": form() },
        "roots": { "method": "roots/list" },
    });
    let value =
        server.value_with(&person.asker(), "question", json!({ "requests": requests, "rounds": 3 })).await;
    let responses = json!({
        "one": { "action": "accept", "content": { "name": "Ada" } },
        "roots": { "roots": [] },
    });
    assert_eq!(value, json!([responses, 3]));
    assert_eq!(person.asked(), [the_form(), the_form(), the_form()]);
    // Nobody is asked on behalf of a call that has nobody.
    let value = server.value("question", json!({ "requests": requests, "rounds": 1 })).await;
    assert_eq!(value[0]["one"], json!({ "action": "decline", "_meta": { "reason": NOBODY } }));
}

async fn a_modern_server_that_never_stops_asking_is_given_up() {
    let server = connect_to_ask(scripted("a", &["modern"])).await;
    let person = accepted();
    let outcome = async |arguments: Value| {
        let call = UpstreamCall { asker: person.asker(), ..call_of("question", &arguments) };
        server.upstream.call(call).await
    };
    let requests = json!({ "one": { "method": "elicitation/create", "params": form() } });
    let why = "it keeps asking questions, however they are answered".to_owned();
    let endless = outcome(json!({ "requests": requests, "rounds": 1000 })).await;
    assert_eq!((endless, person.asked().len()), (Err(UpstreamFailure::BadAnswer(why)), 16));
    let many: serde_json::Map<String, Value> =
        (0..9).map(|number| (number.to_string(), requests["one"].clone())).collect();
    let why = "it asks 9 questions at once; the limit is 8".to_owned();
    assert_eq!(outcome(json!({ "requests": many })).await, Err(UpstreamFailure::BadAnswer(why)));
}
