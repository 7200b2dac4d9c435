//! What a hostile provider can't do.

use std::time::Duration;

use gristmill_gateway::ports::ModelFailure;
use gristmill_testkit::{ModelDialect, ScriptedProvider, Step};

use super::world::{KEY, World};

#[tokio::test]
async fn a_redirect_does_not_take_the_key_elsewhere() {
    for status in [301, 302, 307, 308] {
        let thief = ScriptedProvider::start(ModelDialect::Chat, vec![Step::says("caught")]);
        let location = format!("{}/v1/chat/completions", thief.url());
        let redirect = Step::Status(status, vec![("location", location)], String::new());
        let world = World::new(ModelDialect::Chat, vec![redirect]);
        let words = world.failure().await;
        assert!(
            words.starts_with("openai has no service at this address: it redirects to 127.0.0.1"),
            "{words}"
        );
        assert_eq!((thief.asked().len(), world.asked()), (0, 1));
    }
}

#[tokio::test]
async fn a_key_that_is_echoed_is_shown_nowhere() {
    let echo = format!("bad key {KEY} or {}… you sent", &KEY[..12]);
    let escaped = format!("{{\"error\":{{\"message\":\"bad \\u0073{}\"}}}}", &KEY[1..]);
    let event = format!("data: {{\"error\":{{\"message\":\"{echo}\"}}}}\n\n");
    for step in [
        Step::error(401, "invalid_api_key", &echo),
        Step::error(400, "bad", &echo),
        Step::error(404, "bad", &echo),
        Step::Status(401, Vec::new(), echo.clone()),
        Step::Status(401, Vec::new(), escaped),
        Step::Status(307, vec![("location", format!("https://{KEY}.example/"))], String::new()),
        Step::Pieces(vec![event.into_bytes()]),
        Step::Pieces(vec![format!("data: {echo}\n\n").into_bytes()]),
    ] {
        let world = World::new(ModelDialect::Chat, vec![step.clone()]);
        let failure = world.write().await.expect_err("a failure");
        for shown in [failure.to_string(), format!("{failure:?}")] {
            assert!(!shown.contains(&KEY[..12]), "{step:?}: {shown}");
        }
    }
    let busy = World::new(ModelDialect::Chat, vec![Step::error(503, "busy", &echo), Step::says("x")]);
    busy.write().await.expect("an answer");
    assert!(!busy.listener.again().concat().contains(&KEY[..12]));
}

#[tokio::test]
async fn what_is_no_event_ends_the_answer() {
    for wrong in ["data: {\"choices\":\n\n", "data: null\n\n", "data: <html>\n\n"] {
        let world = World::new(ModelDialect::Chat, vec![Step::Pieces(vec![wrong.as_bytes().to_vec()])]);
        let words = world.failure().await;
        assert!(words.contains("an event that isn't JSON"), "{words}");
        assert_eq!(world.asked(), 1);
    }
    let page = Step::Status(200, Vec::new(), "{}".to_owned());
    let world = World::new(ModelDialect::Responses, vec![page]);
    assert!(world.failure().await.contains("no stream of events, but `application/json`"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_without_end_is_given_up() {
    for dialect in ModelDialect::ALL {
        let endless = Step::Endless(dialect.piece(&"x".repeat(4_000)).into_bytes());
        let world = World::new(dialect, vec![endless]);
        let words = world.failure().await;
        assert!(words.ends_with("answered what can't be used: text of more than 256 KB"), "{words}");
        world.provider.wait_for_left(1);
        assert!(world.listener.text().len() <= 256 * 1024);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_without_end_is_given_up() {
    for part in [&b"data: xxxxxxxxxxxxxxxx"[..], &b"data: x\n"[..]] {
        let world = World::new(ModelDialect::Chat, vec![Step::Endless(part.repeat(500))]);
        let words = world.failure().await;
        assert!(words.ends_with("an event of more than 1 MB"), "{words}");
        world.provider.wait_for_left(1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_only_keeps_us_waiting_ends_with_its_time() {
    let world = World::with(ModelDialect::Chat, vec![Step::Endless(b": wait\n\n".to_vec())], |_, rules| {
        rules.total = Duration::from_millis(200);
    });
    assert!(matches!(world.write().await, Err(ModelFailure::Late { .. })));
    world.provider.wait_for_left(1);
}

#[tokio::test]
async fn an_error_of_any_size_is_cut_and_harmless_on_a_screen() {
    let body = format!("\u{1b}[2J{}", "long ".repeat(100_000));
    let world = World::new(ModelDialect::Chat, vec![Step::Status(400, Vec::new(), body)]);
    let words = world.failure().await;
    assert!(words.len() < 500 && words.contains("\\u{1b}[2J"), "{words}");
}
