//! Answers that are whole, in every dialect.

use gristmill_gateway::domain::ModelProvider;
use gristmill_gateway::ports::{Ending, ModelName, TokensUsed, Written};
use gristmill_testkit::{ModelDialect, Step};
use serde_json::json;

use super::world::{KEY, World};

fn written(text: &str) -> Written {
    let tokens = Some(TokensUsed { input: 11, output: 7 });
    Written { text: text.to_owned(), tokens, ending: Ending::Finished }
}

#[tokio::test]
async fn every_dialect_streams_a_text_and_counts_its_tokens() {
    let text = "result = 1 + 2  # größer als 読む 🙂\n";
    for dialect in ModelDialect::ALL {
        let world = World::new(dialect, vec![Step::says(text)]);
        assert_eq!(world.write().await, Ok(written(text)), "{dialect:?}");
        assert_eq!((world.listener.text().as_str(), world.listener.again().len()), (text, 0));
    }
}

#[tokio::test]
async fn each_provider_gets_its_own_path_and_its_key_in_its_own_header() {
    for (dialect, path, header, value) in [
        (ModelDialect::Responses, "/v1/responses", "authorization", format!("Bearer {KEY}")),
        (ModelDialect::Chat, "/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        (ModelDialect::Messages, "/v1/messages", "x-api-key", KEY.to_owned()),
    ] {
        let world = World::new(dialect, vec![Step::says("x")]);
        world.write().await.expect("an answer");
        let asked = &world.provider.asked()[0];
        assert_eq!((asked.path.as_str(), asked.header(header)), (path, value.as_str()));
        assert_eq!((&asked.body["model"], &asked.body["stream"]), (&json!("a-model"), &json!(true)));
        assert!(!asked.body.to_string().contains(KEY));
    }
}

#[tokio::test]
async fn azure_is_asked_by_deployment_and_version() {
    let world = World::with(ModelDialect::Chat, vec![Step::says("x")], |settings, _| {
        settings.provider = ModelProvider::Azure;
        settings.deployment = Some("mine".to_owned());
    });
    assert_eq!(world.write().await, Ok(written("x")));
    let name = ModelName { provider: "azure".to_owned(), model: "mine".to_owned() };
    assert_eq!(world.model.name(), name);
    let asked = &world.provider.asked()[0];
    assert_eq!(asked.path, "/openai/deployments/mine/chat/completions?api-version=2024-10-21");
    assert_eq!((asked.header("api-key"), asked.header("authorization")), (KEY, ""));
    assert_eq!(asked.body["max_completion_tokens"], json!(100));
}

#[tokio::test]
async fn a_compatible_server_needs_no_key_and_gets_none() {
    let world = World::with(ModelDialect::Chat, vec![Step::says("x")], |settings, _| {
        settings.provider = ModelProvider::Compatible;
    });
    assert_eq!(world.write().await, Ok(written("x")));
    let asked = &world.provider.asked()[0];
    assert_eq!((asked.path.as_str(), asked.header("authorization")), ("/v1/chat/completions", ""));
    assert_eq!((&asked.body["max_tokens"], world.model.price()), (&json!(100), None));
}

#[tokio::test]
async fn the_settings_bound_the_answer_and_set_the_temperature() {
    let world = World::with(ModelDialect::Messages, vec![Step::says("x")], |settings, _| {
        (settings.output_tokens_max, settings.temperature) = (Some(70), Some(0.25));
    });
    world.write().await.expect("an answer");
    let body = &world.provider.asked()[0].body;
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(70), &json!(0.25)));
}

#[tokio::test]
async fn letters_that_are_cut_between_two_pieces_come_out_whole() {
    let stream = ModelDialect::Chat.piece("größer 🙂") + &ModelDialect::Chat.closing(11, 7);
    let bytes: Vec<Vec<u8>> = stream.bytes().map(|byte| vec![byte]).collect();
    let world = World::new(ModelDialect::Chat, vec![Step::Pieces(bytes)]);
    assert_eq!(world.write().await, Ok(written("größer 🙂")));
}

#[tokio::test]
async fn a_text_is_whole_without_the_counts_behind_it() {
    let stop = br#"data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}"#;
    let whole = Ok(Written { text: "x".to_owned(), tokens: None, ending: Ending::Finished });
    let ended = World::new(ModelDialect::Chat, vec![Step::Pieces(vec![[stop, &b"\n\n"[..]].concat()])]);
    assert_eq!(ended.write().await, whole);
    let done = [ModelDialect::Chat.piece("x").as_bytes(), b"data: [DONE]\n\n"].concat();
    let done = World::new(ModelDialect::Chat, vec![Step::Pieces(vec![done])]);
    assert_eq!(done.write().await, whole);
}

#[tokio::test]
async fn a_provider_that_declines_is_no_failure() {
    let filtered = Step::error(400, "content_filter", "The prompt was filtered");
    let world = World::new(ModelDialect::Chat, vec![filtered]);
    let declined = world.write().await.expect("an answer of a kind");
    assert_eq!((declined.text.as_str(), declined.ending), ("", Ending::Refused));
    assert_eq!(world.asked(), 1);
}
