//! Other ways on which personal data leaves: lists, URIs, records and questions.

use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_domain::{Level, PrivacyMode};
use serde_json::{Map, Value, json};

use super::personal_tests::{ADDRESS, BYTES, World, token};
use super::tests::{program, tool_call};
use crate::ids::Caller;
use crate::ports::{Ask, Asker, BoxFuture, CallWatcher, Question, QuestionAnswer, QuestionKind};
use crate::privacy::{PrivacySettings, Vault};
use crate::upstream::DoorRequest;

const ENCODED: &str = "ann.lovelace%40mill-brook.org";

async fn world(gateway: PrivacyMode, crm: PrivacyMode) -> World {
    let settings = PrivacySettings { mode: gateway, ..PrivacySettings::of(Level::Production) };
    let servers = [("crm", crm), ("mail", PrivacyMode::Off)];
    World::of(settings, &servers, Vault::open(None, None).unwrap(), None).await
}

fn has_address(value: &[Value]) -> bool {
    let text = Value::from(value.to_vec()).to_string();
    text.contains(ADDRESS) || text.contains(ENCODED)
}

async fn read(world: &World, caller: &Caller, uri: &str) -> String {
    let request = DoorRequest::ReadResource { uri: uri.to_owned(), watcher: CallWatcher::none() };
    world.upstreams.pass(caller, request).await.unwrap().json
}

#[tokio::test]
async fn lists_of_resources_templates_and_prompts_show_tokens() {
    let caller = program();
    for (gateway, crm) in [(PrivacyMode::Output, PrivacyMode::Off), (PrivacyMode::Off, PrivacyMode::Output)] {
        let World { upstreams, .. } = &world(gateway, crm).await;
        assert!(has_address(&upstreams.resources(None).await), "nobody hides it from a person here");
        let shown = [
            upstreams.resources(Some(&caller)).await,
            upstreams.resource_templates(Some(&caller)).await,
            upstreams.prompts(Some(&caller)).await,
        ];
        for listed in &shown {
            assert_eq!(listed.len(), 2);
            assert!(!has_address(&listed[..1]), "{listed:?}");
        }
        assert!(shown[1][0]["uriTemplate"].as_str().unwrap().ends_with("{field}"), "{:?}", shown[1]);
        assert_eq!(shown[2][0]["name"], "crm.greet");
    }
    let open = world(PrivacyMode::Off, PrivacyMode::Off).await;
    assert!(has_address(&open.upstreams.prompts(Some(&caller)).await), "nobody wants it hidden");
}

#[tokio::test]
async fn a_resource_is_read_by_the_uri_that_was_listed_and_records_have_no_value() {
    let (world, caller) = (world(PrivacyMode::Boundary, PrivacyMode::Off).await, program());
    let uri = world.upstreams.resources(Some(&caller)).await[0]["uri"].as_str().unwrap().to_owned();
    world.heard();
    let answer = read(&world, &caller, &uri).await;
    assert_eq!(world.heard(), [format!("read people:{ADDRESS}")], "the server has the value");
    assert!(answer.contains(&uri) && !answer.contains(ADDRESS) && !answer.contains(ENCODED), "{answer}");
    let facts = world.people.seen.lock().unwrap().pop().unwrap();
    assert_eq!(facts.restored, ["email in uri (same-server)"]);
    let recorded = format!("{facts:?}");
    assert!(!recorded.contains(ADDRESS) && recorded.contains("people:[EMAIL_"), "{recorded}");
    // One that was written with the value.
    read(&world, &caller, &format!("gristmill://crm/people%3A{ENCODED}")).await;
    let recorded = format!("{:?}", world.people.seen.lock().unwrap().pop().unwrap());
    assert!(!recorded.contains(ADDRESS) && !recorded.contains(ENCODED), "{recorded}");
}

#[tokio::test]
async fn bytes_of_a_resource_stay_bytes_and_those_that_are_text_have_tokens() {
    let (world, caller) = (world(PrivacyMode::Boundary, PrivacyMode::Off).await, program());
    let uri = world.upstreams.resources(Some(&caller)).await[0]["uri"].as_str().unwrap().to_owned();
    let answer: Value = serde_json::from_str(&read(&world, &caller, &uri).await).unwrap();
    let bytes = |at: usize| STANDARD.decode(answer["contents"][at]["blob"].as_str().unwrap()).unwrap();
    let token = answer["contents"][0]["text"].as_str().unwrap();
    assert!(token.starts_with("[EMAIL_"), "{answer}");
    assert_eq!(String::from_utf8(bytes(1)).unwrap(), format!("for {token}"));
    assert_eq!(bytes(2), BYTES);
}

#[tokio::test]
async fn what_is_recorded_of_restored_values_is_bounded_and_names_nobody() {
    let (world, caller) = (world(PrivacyMode::Boundary, PrivacyMode::Off).await, program());
    let address = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
    let mut arguments: Map<String, Value> =
        (0..30).map(|number| (format!("field_{number}"), json!(address))).collect();
    let named = [format!("a bob@elsewhere.org\n{}", "x".repeat(1_000)), "text".to_owned()];
    arguments.extend(named.map(|name| (name, json!(address))));
    world.call(&caller, "crm.echo", Value::Object(arguments)).await.unwrap();
    let told = world.people.seen.lock().unwrap().pop().unwrap().restored;
    assert_eq!(told.len(), 21, "{told:?}");
    assert_eq!(told[20], "12 more");
    for line in &told {
        assert!(!line.contains("bob@") && !line.contains('\n') && line.len() < 200, "{line}");
    }
}

/// Whoever is asked, and answers with the token that is shown.
#[derive(Clone, Default)]
struct Client {
    asked: Arc<Mutex<Vec<Question>>>,
}

impl Ask for Client {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        let shown = question.message.trim_start_matches("Write to ").trim_end_matches('?').to_owned();
        self.asked.lock().unwrap().push(question);
        Box::pin(async move { QuestionAnswer::Accept(Some(json!({ "to": shown }))) })
    }

    fn can_answer(&self, _kind: &QuestionKind) -> bool {
        true
    }
}

#[tokio::test]
async fn a_servers_question_shows_tokens_and_the_server_gets_values() {
    let caller = program();
    for (gateway, crm, is_hidden) in [
        (PrivacyMode::Output, PrivacyMode::Off, true),
        (PrivacyMode::Off, PrivacyMode::Output, true),
        (PrivacyMode::Off, PrivacyMode::Off, false),
    ] {
        let (world, client) = (world(gateway, crm).await, Client::default());
        let mut call = tool_call("crm.ask", json!({}));
        call.asker = Asker::new(Arc::new(client.clone()));
        let answer = world.upstreams.pass(&caller, DoorRequest::CallTool(call)).await.unwrap();
        assert!(answer.json.contains(ADDRESS), "the server has the value: {}", answer.json);
        let asked = format!("{:?}", client.asked.lock().unwrap()[0]);
        assert_eq!(asked.contains(ADDRESS), !is_hidden, "{asked}");
        assert_eq!(asked.contains("Write to [EMAIL_"), is_hidden, "{asked}");
    }
}
