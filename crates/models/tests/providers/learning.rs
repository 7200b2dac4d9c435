//! What errors teach about a model, and how long that is remembered.

use gristmill_gateway::domain::{ModelProvider, ModelSettings};
use gristmill_gateway::ports::TokensUsed;
use gristmill_models::Rules;
use gristmill_testkit::{ModelDialect, ScriptedProvider, Step, TestFolder};
use serde_json::{Value, json};

use super::world::World;

fn rejected(parameter: &str, message: &str) -> Step {
    let error = json!({ "message": message, "param": parameter, "code": "unsupported_parameter" });
    Step::Status(400, Vec::new(), json!({ "error": error }).to_string())
}

fn no_max_tokens() -> Step {
    rejected(
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    )
}

/// The keys of each request's body that are of interest.
fn sent(provider: &ScriptedProvider) -> Vec<Vec<&'static str>> {
    let keys = ["max_tokens", "max_completion_tokens", "temperature", "stream_options"];
    let of = |body: &Value| keys.into_iter().filter(|key| body.get(key).is_some()).collect();
    provider.asked().iter().map(|asked| of(&asked.body)).collect()
}

#[tokio::test]
async fn a_parameter_that_is_refused_is_left_out_from_then_on() {
    let steps = vec![
        no_max_tokens(),
        rejected("temperature", "Unsupported value: 'temperature' does not support 0.5 with this model."),
        Step::Status(400, Vec::new(), r#"{"error":"unknown field: stream_options"}"#.to_owned()),
        Step::says("first"),
        Step::says("second"),
    ];
    let world = World::with(ModelDialect::Chat, steps, |settings, _| {
        (settings.provider, settings.temperature) = (ModelProvider::Compatible, Some(0.5));
    });
    assert_eq!(world.write().await.expect("an answer").text, "first");
    assert_eq!(world.write().await.expect("an answer").text, "second");
    assert_eq!(
        sent(&world.provider),
        [
            vec!["max_tokens", "temperature", "stream_options"],
            vec!["max_completion_tokens", "temperature", "stream_options"],
            vec!["max_completion_tokens", "stream_options"],
            vec!["max_completion_tokens"],
            vec!["max_completion_tokens"],
        ]
    );
    assert_eq!((world.pace.pauses().len(), world.listener.again().len()), (0, 0));
}

#[tokio::test]
async fn what_was_learned_outlasts_the_process_for_this_model_alone() {
    let cache = TestFolder::new("models-cache");
    let steps = vec![no_max_tokens(), Step::says("a"), Step::says("b"), Step::says("c")];
    let provider = ScriptedProvider::start(ModelDialect::Chat, steps);
    let settings = |model: &str| ModelSettings {
        provider: ModelProvider::Compatible,
        url: Some(provider.url()),
        model: Some(model.to_owned()),
        ..ModelSettings::default()
    };
    let (this, other) = (settings("this"), settings("other"));
    let first = World::of(provider, &this, Rules::default(), Some(cache.path()));
    first.write().await.expect("an answer");
    // Another process, as far as it can tell.
    let second = World::of(first.provider, &this, Rules::default(), Some(cache.path()));
    second.write().await.expect("an answer");
    let third = World::of(second.provider, &other, Rules::default(), Some(cache.path()));
    third.write().await.expect("an answer");
    let limits: Vec<&str> = sent(&third.provider).iter().map(|keys| keys[0]).collect();
    assert_eq!(limits, ["max_tokens", "max_completion_tokens", "max_completion_tokens", "max_tokens"]);
}

#[tokio::test]
async fn without_stream_options_tokens_are_unknown_or_told_anyway() {
    let refused = || rejected("stream_options", "stream_options is not supported");
    let said = ModelDialect::Chat.piece("x") + "data: [DONE]\n\n";
    let world = World::new(ModelDialect::Chat, vec![refused(), Step::Pieces(vec![said.into_bytes()])]);
    assert_eq!(world.write().await.expect("an answer").tokens, None);
    let told = World::new(ModelDialect::Chat, vec![refused(), Step::says("x")]);
    let tokens = told.write().await.expect("an answer").tokens;
    assert_eq!(tokens, Some(TokensUsed { input: 11, output: 7 }));
}

#[tokio::test]
async fn a_server_that_refuses_everything_is_not_asked_without_end() {
    let either = |name: &'static str| rejected(name, "Unsupported parameter");
    let mut steps = Vec::new();
    for _ in 0..10 {
        steps.extend([either("max_tokens"), either("max_completion_tokens")]);
    }
    let world = World::with(ModelDialect::Chat, steps, |settings, _| {
        settings.provider = ModelProvider::Compatible;
    });
    assert!(world.failure().await.contains("Unsupported parameter"));
    assert_eq!(world.asked(), 5);
}

#[tokio::test]
async fn anthropics_models_may_refuse_a_temperature_too() {
    let refused = Step::Status(
        400,
        Vec::new(),
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}}"#
            .to_owned(),
    );
    let world = World::with(ModelDialect::Messages, vec![refused, Step::says("x")], |settings, _| {
        settings.temperature = Some(0.5);
    });
    assert_eq!(world.write().await.expect("an answer").text, "x");
    assert_eq!(sent(&world.provider), [vec!["max_tokens", "temperature"], vec!["max_tokens"]]);
}
