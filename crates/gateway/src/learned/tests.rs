use std::sync::Arc;

use gristmill_domain::catalogue::ToolDefinition;
use gristmill_domain::policy::Marks;
use serde_json::json;

use super::*;
use crate::ids::Owner;

fn definition(text: &str) -> Arc<ToolDefinition> {
    Arc::new(ToolDefinition::from_text(text).expect("a definition"))
}

fn server(marks: Marks) -> ServerSettings {
    ServerSettings { marks, ..ServerSettings::program("shop", "scripted", &[]) }
}

fn caller(owner: &str) -> Caller {
    Caller::of(Owner(owner.to_owned()))
}

struct World {
    store: Store,
    learner: Learner,
    orders: Arc<ToolDefinition>,
}

impl World {
    fn new() -> Self {
        let store = Store::in_memory().unwrap();
        let learner = Learner::start(store.clone(), None).unwrap();
        Self { store, learner, orders: definition(r#"{"name":"orders"}"#) }
    }

    fn answered(&self, owner: &str, json: &str) {
        self.learner.answered(&caller(owner), &server(Marks::default()), &self.orders, json);
    }

    /// The schema that an owner is shown.
    async fn shown(&self, owner: &str) -> Option<serde_json::Value> {
        self.learner.idle().await;
        let types = self.learner.types(&Owner(owner.to_owned())).await;
        types.of("shop", &self.orders).map(|learned| learned.schema.clone())
    }
}

#[tokio::test]
async fn what_an_owners_calls_teach_is_shown_to_that_owner_alone() {
    let world = World::new();
    world.answered("ann", r#"{"id":1,"project_of_ann":"x"}"#);
    let shown = world.shown("ann").await.expect("something");
    assert_eq!(shown["required"], json!(["id", "project_of_ann"]));
    assert_eq!(world.shown("bob").await, None);
    let other = definition(r#"{"name":"orders","description":"Other."}"#);
    let types = world.learner.types(&Owner("ann".to_owned())).await;
    assert!(types.of("shop", &other).is_none(), "another definition is another tool");
}

#[tokio::test]
async fn more_answers_change_what_is_shown_only_where_they_say_more() {
    let world = World::new();
    world.answered("ann", r#"{"id":1}"#);
    world.learner.idle().await;
    let first = world.learner.types(&Owner("ann".to_owned())).await;
    world.answered("ann", r#"{"id":2}"#);
    world.learner.idle().await;
    let second = world.learner.types(&Owner("ann".to_owned())).await;
    assert!(Arc::ptr_eq(&first, &second), "two calls are shown as one");
    world.answered("ann", r#"{"id":3}"#);
    world.learner.idle().await;
    let third = world.learner.types(&Owner("ann".to_owned())).await;
    assert_ne!(first.version(), third.version());
    assert_eq!(third.of("shop", &world.orders).unwrap().seen(), "seen in 3+ calls");
}

#[tokio::test]
async fn nothing_is_learned_of_declared_results_of_untrusted_servers_or_of_what_is_too_long() {
    let world = World::new();
    let declared = definition(r#"{"name":"orders","outputSchema":{"type":"object"}}"#);
    let untrusted = server(Marks::of([Mark::Untrusted]));
    let trusted = server(Marks::of([Mark::Private]));
    let (learner, ann) = (&world.learner, caller("ann"));
    learner.answered(&ann, &trusted, &declared, "{}");
    learner.answered(&ann, &untrusted, &world.orders, r#"{"id":1}"#);
    let long = format!(r#"["{}"]"#, "x".repeat(ANSWER_BYTES_MAX));
    learner.answered(&ann, &trusted, &world.orders, &long);
    learner.answered(&ann, &trusted, &world.orders, "no JSON");
    learner.idle().await;
    assert_eq!(world.store.list_learned().await.unwrap(), []);
    learner.answered(&ann, &trusted, &world.orders, "{}");
    assert!(world.shown("ann").await.is_some());
}

#[tokio::test]
async fn what_the_detector_finds_in_keys_and_words_is_not_kept() {
    let world = World::new();
    for number in 0..60 {
        let status = if number % 2 == 0 { "open" } else { "closed" };
        let kind = if number % 3 == 0 { "ada@example.com" } else { "plain" };
        let json = json!({"status": status, "type": kind, "+49 30 901820": 1, "ghp_16C7e42F292c6912E7710c838347Ae178B4a": 1}).to_string();
        world.learner.answered(&caller("ann"), &server(Marks::default()), &world.orders, &json);
        world.learner.idle().await;
    }
    let rows = world.store.list_learned().await.unwrap();
    let text = format!("{rows:?}");
    assert!(!text.contains("901820") && !text.contains("ghp_"), "{text}");
    let schema = rows[0].learned.schema();
    assert_eq!(
        schema["properties"],
        json!({"status": {"type": "string", "enum": ["closed", "open"]}, "type": {"type": "string"}})
    );
}

#[tokio::test]
async fn under_load_answers_are_dropped_and_nobody_waits() {
    let world = World::new();
    for _ in 0..WAITING_MAX + 10 {
        world.answered("ann", r#"{"id":1}"#);
    }
    assert_eq!(world.learner.dropped(), 10, "nothing was taken out yet: this test has one thread");
    world.learner.idle().await;
    assert_eq!(world.store.list_learned().await.unwrap()[0].calls, WAITING_MAX as u64);
    let large = format!(r#"["{}"]"#, "x".repeat(ANSWER_BYTES_MAX - 10));
    for _ in 0..5 {
        world.answered("ann", &large);
    }
    assert_eq!(world.learner.dropped(), 11, "four of them are all that may wait");
    world.answered("ann", "{}");
    world.learner.idle().await;
}

#[tokio::test]
async fn one_that_only_tells_learns_nothing() {
    let world = World::new();
    world.answered("ann", r#"{"id":1}"#);
    world.learner.idle().await;
    let reading = Learner::reading(world.store.clone());
    reading.answered(&caller("ann"), &server(Marks::default()), &world.orders, "{}");
    reading.close().await;
    assert_eq!(world.store.list_learned().await.unwrap()[0].calls, 1);
    assert!(reading.types(&Owner("ann".to_owned())).await.of("shop", &world.orders).is_some());
    world.store.forget_learned(None).await.unwrap();
    let later = Learner::reading(world.store.clone());
    assert!(later.types(&Owner("ann".to_owned())).await.is_empty());
}

/// `cargo test --workspace --lib what_a_call_pays -- --nocapture` prints the figures.
#[tokio::test]
async fn what_a_call_pays_is_a_copy_of_its_answer() {
    let world = World::new();
    for kilobytes in [1, 100, 1_000] {
        let item = r#"{"id":4711,"name":"a name of some length","created":"2026-05-01T10:00:00Z"}"#;
        let answer = format!("[{}]", vec![item; kilobytes * 1_000 / item.len()].join(","));
        let mut spent = Vec::new();
        let began = std::time::Instant::now();
        for _ in 0..20 {
            let handed_over = std::time::Instant::now();
            world.answered("ann", &answer);
            spent.push(handed_over.elapsed());
            world.learner.idle().await;
        }
        spent.sort();
        let learned = began.elapsed() / 20;
        println!("{kilobytes} KB: {:?} for the call, {learned:?} until it was learned from", spent[10]);
        assert!(spent[10] < std::time::Duration::from_millis(20), "{spent:?}");
    }
    assert_eq!(world.learner.dropped(), 0);
}
