use std::path::PathBuf;
use std::sync::Arc;

use gristmill_domain::stubs::{self, Language};
use serde_json::json;

use super::tests::{World, program, tool_call};
use crate::ids::{Caller, Owner};
use crate::learned::Learner;
use crate::ports::{Needed, SkillOffer, ToolSearch, ToolSource};
use crate::store::Store;
use crate::upstream::DoorRequest;

struct Learning {
    world: World,
    store: Store,
}

impl Learning {
    async fn start() -> Self {
        let store = Store::in_memory().unwrap();
        let learner = Learner::start(store.clone(), None).unwrap();
        Self { world: World::learning(learner).await, store }
    }

    /// Calls `echo`, and waits until that was learned from.
    async fn call(&self, caller: &Caller, text: &str) {
        let request = DoorRequest::CallTool(tool_call("a.echo", json!({ "text": text })));
        let _ = self.world.upstreams.pass(caller, request).await;
        self.world.upstreams.learned().await;
    }

    async fn signature(&self, owner: &Owner) -> String {
        let snapshot = self.world.upstreams.snapshot_for(owner).await;
        let (server, tool) = snapshot.catalogue().tool("a", "echo").expect("the tool");
        stubs::signature(Language::Python, server, tool)
    }

    async fn tree(&self, caller: Option<&Caller>) -> PathBuf {
        self.world.upstreams.freeze(caller, Needed::Every).await.tree().expect("a tree").to_owned()
    }
}

#[tokio::test]
async fn a_call_teaches_its_owner_what_the_tool_answers() {
    let (learning, caller) = (Learning::start().await, program());
    let plain = "a.echo(text: str) -> Any";
    assert_eq!(learning.signature(&caller.owner).await, plain);
    learning.call(&caller, "x").await;
    let learned = "a.echo(text: str) -> str  # seen in 1 call";
    assert_eq!(learning.signature(&caller.owner).await, learned);
    assert_eq!(learning.signature(&Owner::local()).await, plain, "it is nobody else's");
    let stub = std::fs::read_to_string(learning.tree(Some(&caller)).await.join("a/echo.py")).unwrap();
    assert!(stub.contains("-> str:") && stub.contains("seen in 1 call"), "{stub}");
    let stub = std::fs::read_to_string(learning.tree(None).await.join("a/echo.py")).unwrap();
    assert!(stub.contains("-> Any:") && !stub.contains("seen"), "{stub}");
    let snapshot = learning.world.upstreams.snapshot_for(&caller.owner).await;
    let search = ToolSearch {
        query: "echo".to_owned(),
        server: None,
        category: None,
        detail: None,
        limit: None,
        offset: None,
        line: None,
        with_nearness: false,
    };
    let found = snapshot.search(&Owner::local(), &search, &SkillOffer::default()).await.unwrap();
    assert_eq!(found.hits[0].signature, "a.echo(text) -> str  # seen in 1 call");
}

#[tokio::test]
async fn calls_that_say_nothing_new_change_no_tree() {
    let (learning, caller) = (Learning::start().await, program());
    learning.call(&caller, "x").await;
    let (first, snapshot) =
        (learning.tree(Some(&caller)).await, learning.world.upstreams.snapshot_for(&caller.owner).await);
    learning.call(&caller, "y").await;
    assert_eq!(learning.tree(Some(&caller)).await, first);
    assert!(Arc::ptr_eq(&snapshot, &learning.world.upstreams.snapshot_for(&caller.owner).await));
    learning.call(&caller, "z").await;
    assert_ne!(learning.tree(Some(&caller)).await, first, "three calls are worth telling");
}

#[tokio::test]
async fn an_error_teaches_nothing() {
    let (learning, caller) = (Learning::start().await, program());
    learning.call(&caller, "misfit").await;
    assert_eq!(learning.store.list_learned().await.unwrap(), []);
}

#[tokio::test]
async fn what_waits_is_learned_before_the_end() {
    let (learning, caller) = (Learning::start().await, program());
    let request = DoorRequest::CallTool(tool_call("a.echo", json!({ "text": "x" })));
    learning.world.upstreams.pass(&caller, request).await.unwrap();
    learning.world.upstreams.close().await;
    assert_eq!(learning.store.list_learned().await.unwrap()[0].calls, 1);
}
