//! What is tried again, after which pause, and what isn't.

use std::time::Duration;

use gristmill_gateway::domain::{ModelProvider, SecretText};
use gristmill_gateway::ports::ModelFailure;
use gristmill_testkit::{ModelDialect, Step};

use super::world::{World, prompt};

/// Long enough for an answer on a busy machine, short enough to wait for.
const SHORT: Duration = Duration::from_millis(400);

/// Every try fails like this: what is said, and how often it was asked.
async fn refused(step: Step) -> (ModelFailure, usize) {
    let world = World::new(ModelDialect::Chat, vec![step; 6]);
    let failure = world.write().await.expect_err("a failure");
    (failure, world.asked())
}

#[tokio::test]
async fn a_key_that_is_refused_is_not_tried_again() {
    for step in [
        Step::error(401, "invalid_api_key", "Incorrect API key provided"),
        Step::error(403, "forbidden", "Incorrect API key provided"),
        Step::error(429, "insufficient_quota", "Incorrect API key provided"),
    ] {
        let (failure, asked) = refused(step).await;
        assert!(matches!(failure, ModelFailure::Denied { .. }), "{failure}");
        let words = failure.to_string();
        assert!(words.starts_with("openai refused the key: Incorrect API key provided (status 4"), "{words}");
        assert!(words.ends_with("; check OPENAI_API_KEY"), "{words}");
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn a_model_that_there_is_not_is_named_and_not_tried_again() {
    let (failure, asked) = refused(Step::error(404, "model_not_found", "No such model")).await;
    assert_eq!(failure.to_string(), "openai has no model `a-model`: No such model (status 404)");
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn a_wrong_request_is_not_tried_again() {
    let (failure, asked) = refused(Step::error(400, "context_length_exceeded", "Too long")).await;
    assert_eq!(failure.to_string(), "openai answered what can't be used: Too long (status 400)");
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn what_may_pass_is_tried_four_times_with_growing_pauses() {
    for status in [408, 409, 429, 500, 502, 503, 529] {
        let world = World::new(ModelDialect::Chat, vec![Step::error(status, "", "Not now"); 6]);
        let failure = world.write().await.expect_err("a failure");
        let is_busy = matches!(failure, ModelFailure::Busy { .. });
        assert_eq!(is_busy, !matches!(status, 500 | 502), "{failure}");
        assert!(failure.to_string().ends_with(&format!("Not now (status {status})")), "{failure}");
        let pauses: Vec<u128> = world.pace.pauses().iter().map(Duration::as_millis).collect();
        assert_eq!((world.asked(), pauses), (4, vec![500, 1_000, 2_000]), "{status}");
    }
}

#[tokio::test]
async fn a_provider_says_when_to_come_back() {
    let later =
        |name: &'static str, value: &str| Step::Status(429, vec![(name, value.to_owned())], String::new());
    let steps = vec![
        later("Retry-After", "3"),
        later("retry-after-ms", "40"),
        later("Retry-After", "Sun, 06 Nov 1994 08:49:47 GMT"),
        Step::says("x"),
    ];
    let world = World::new(ModelDialect::Messages, steps);
    assert_eq!(world.write().await.expect("an answer").text, "x");
    let pauses: Vec<u128> = world.pace.pauses().iter().map(Duration::as_millis).collect();
    assert_eq!(pauses, [3_000, 40, 10_000]);
    let long = World::new(ModelDialect::Chat, vec![later("Retry-After", "86400"), Step::says("x")]);
    assert_eq!(long.write().await.expect("an answer").text, "x");
    assert_eq!(long.pace.pauses(), [Duration::from_secs(30)]);
}

#[tokio::test]
async fn a_pause_that_the_time_does_not_suffice_for_is_not_waited_for() {
    let later = Step::Status(429, vec![("Retry-After", "20".to_owned())], String::new());
    let world = World::with(ModelDialect::Chat, vec![later; 4], |_, rules| {
        rules.total = Duration::from_secs(10);
    });
    assert!(matches!(world.write().await, Err(ModelFailure::Busy { .. })));
    assert_eq!((world.asked(), world.pace.pauses().len()), (1, 0));
}

#[tokio::test]
async fn half_an_answer_is_void_and_asked_for_again() {
    for dialect in ModelDialect::ALL {
        let steps = vec![
            Step::Half("del everything".to_owned()),
            Step::Broken("and more".to_owned()),
            Step::Cut,
            Step::says("whole"),
        ];
        let world = World::new(dialect, steps);
        assert_eq!(world.write().await.expect("an answer").text, "whole", "{dialect:?}");
        assert_eq!(world.listener.text(), "whole");
        let again = world.listener.again();
        assert_eq!(again.len(), 3, "{again:?}");
        assert!(
            again[0].ends_with(" (`url` in [llm]): the answer ended before its end; try 2 of 4"),
            "{again:?}"
        );
        assert!(again[1].contains("the answer broke off"), "{again:?}");
    }
}

#[tokio::test]
async fn a_provider_that_gives_up_in_the_middle_is_asked_again() {
    let event = b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let begun = ModelDialect::Messages.piece("half").into_bytes();
    let steps = vec![Step::Pieces(vec![begun, event.to_vec()]), Step::says("whole")];
    let world = World::new(ModelDialect::Messages, steps);
    assert_eq!(world.write().await.expect("an answer").text, "whole");
    assert_eq!(world.listener.again(), ["anthropic is busy: Overloaded; try 2 of 4"]);
}

#[tokio::test]
async fn silence_is_tried_again_and_named() {
    let steps = vec![Step::Silent, Step::Stalls("half".to_owned()), Step::says("whole")];
    let world = World::with(ModelDialect::Responses, steps, |_, rules| {
        (rules.first_byte, rules.idle) = (SHORT, SHORT);
    });
    assert_eq!(world.write().await.expect("an answer").text, "whole");
    let again = world.listener.again();
    let silent = again.iter().filter(|words| words.contains("it was silent for 400 ms; try ")).count();
    assert_eq!(silent, 2, "{again:?}");
}

#[tokio::test]
async fn an_answer_has_so_much_time_and_no_more() {
    let world = World::with(ModelDialect::Chat, vec![Step::Silent], |_, rules| rules.total = SHORT);
    assert_eq!(world.failure().await, "openai did not finish within 0 s");
}

#[tokio::test]
async fn nobody_there_is_said_as_it_is() {
    let world = World::with(ModelDialect::Chat, Vec::new(), |settings, _| {
        settings.provider = ModelProvider::Compatible;
        // Nobody listens at the port of nothing.
        settings.url = Some("http://127.0.0.1:1".to_owned());
    });
    let words = world.failure().await;
    let place = "http://127.0.0.1:1 (`url` in [llm])";
    assert!(words.starts_with(&format!("compatible can't be reached: {place}: ")), "{words}");
    let tries: Vec<String> = (2..=4).map(|number| format!("{words}; try {number} of 4")).collect();
    assert_eq!(world.listener.again(), tries);
    assert_eq!(world.pace.pauses().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_an_answer_ends_the_request() {
    for step in [Step::Silent, Step::Stalls("half".to_owned())] {
        let world = World::new(ModelDialect::Chat, vec![step]);
        let (model, listener) = (world.model.clone(), world.listener.clone());
        let task = tokio::spawn(async move { model.write(&prompt(), &*listener).await });
        world.provider.wait_for_asked(1);
        task.abort();
        world.provider.wait_for_left(1);
        assert_eq!(world.asked(), 1);
    }
}

#[tokio::test]
async fn a_reference_is_resolved_when_the_model_is_asked_and_not_before() {
    let with_key = |key: &str| {
        let key = SecretText::parse(key).expect("a reference");
        World::with(ModelDialect::Chat, vec![Step::says("x")], |settings, _| settings.api_key = Some(key))
    };
    let world = with_key("${cmd:printf %s key-from-a-command}");
    world.write().await.expect("an answer");
    assert_eq!(world.provider.asked()[0].header("authorization"), "Bearer key-from-a-command");
    let nowhere = with_key("${GM_NO_SUCH_VARIABLE}");
    let words = nowhere.failure().await;
    assert!(words.contains("the variable GM_NO_SUCH_VARIABLE isn't set"), "{words}");
    let unusable = with_key("two\nlines");
    let words = unusable.failure().await;
    assert_eq!(
        words,
        "openai refused the key: it has characters that can't be sent; check `api_key` in [llm]"
    );
    assert_eq!((nowhere.asked(), unusable.asked()), (0, 0));
}
