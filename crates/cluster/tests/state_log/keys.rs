//! What a machine's key must be permitted, and what is said if something is missing.

use gristmill_cluster::state::log::{LogError, StateLog};
use gristmill_cluster::{Bus, BusSettings, Insist, connect};

use crate::server::{Server, free_port, settings_at, soon};

/// Of these tests alone.
const SEED: &str = "SUAEMLO3UJ2GOWQ37345HJGQH2GBCLD3NDSKTKDNIDQF4KL7FH7L2DNBEQ";
const PUBLIC: &str = "UD54NV7W75CQN5PQVBQR6ZMCZX47EDUUXYZCA3COW6NWKSBVJWOD77YS";

fn server_that_permits(publish: &[String], subscribe: &[String]) -> Option<Server> {
    let listed = |subjects: &[String]| {
        let quoted: Vec<String> = subjects.iter().map(|subject| format!("\"{subject}\"")).collect();
        quoted.join(", ")
    };
    let (publish, subscribe) = (listed(publish), listed(subscribe));
    Server::configured(free_port(), |folder| {
        format!(
            "jetstream {{ store_dir: \"{}\" }}\nauthorization {{ users: [ {{ nkey: \"{PUBLIC}\", \
             permissions: {{ publish: [{publish}], subscribe: [{subscribe}] }} }} ] }}\n",
            folder.display()
        )
    })
}

async fn bus_of(server: &Server) -> Bus {
    let settings = BusSettings { nkey_seed: Some(SEED.to_owned().into()), ..settings_at(&[server.port]) };
    connect(&settings, "a", Insist::No).await.expect("a connection")
}

#[tokio::test]
async fn the_permissions_that_are_listed_are_enough() {
    let Some(open) = Server::alone() else { return };
    let permissions = StateLog::permissions(&open.bus("a").await);
    let server = server_that_permits(&permissions.publish, &permissions.subscribe).expect("a server");
    let log = StateLog::open(&bus_of(&server).await, 1).await.expect("the log");
    let one = log.append(0, b"one".to_vec(), soon(5)).await.expect("appended");
    let two = log.append(one, b"two".to_vec(), soon(5)).await.expect("appended");
    let mut follow = log.follow(0).await.expect("followed");
    assert_eq!(follow.next().await.expect("an entry").0, one);
    log.set_snapshot(0, b"here".to_vec(), soon(5)).await.expect("set");
    assert!(log.snapshot().await.expect("asked").is_some());
    log.trim(two).await.expect("trimmed");
    let blobs = log.blobs();
    blobs.put(&[1; 32], 0, b"part".to_vec(), soon(5)).await.expect("kept");
    assert_eq!(blobs.get(&[1; 32], 0).await.expect("read"), "part");
    assert!(blobs.has(&[1; 32], 1).await.expect("asked"));
    assert_eq!(blobs.list().await.expect("listed").len(), 1);
    let kept = blobs.list().await.expect("listed");
    blobs.forget(&kept[0]).await.expect("forgotten");
}

#[tokio::test]
async fn one_whose_key_is_not_permitted_hears_what_it_needs() {
    let allowed = ["gm.>".to_owned()];
    let Some(server) = server_that_permits(&allowed, &["_INBOX.>".to_owned()]) else { return };
    let Err(error) = StateLog::open(&bus_of(&server).await, 1).await else { panic!("it was permitted") };
    assert!(matches!(&error, LogError::NotPermitted { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("$JS.API.STREAM.CREATE.GM_TEST_1_STATE"), "{said}");
}

#[tokio::test]
async fn a_bus_without_jetstream_says_how_to_turn_it_on() {
    let Some(server) = Server::configured(free_port(), |_| String::new()) else { return };
    let Err(error) = StateLog::open(&server.bus("a").await, 1).await else { panic!("it was opened") };
    assert!(matches!(error, LogError::NoJetStream), "{error}");
    assert!(error.to_string().contains("-js"), "{error}");
}

#[tokio::test]
async fn one_server_alone_cannot_keep_three_copies() {
    let Some(server) = Server::alone() else { return };
    let Err(error) = StateLog::open(&server.bus("a").await, 3).await else { panic!("it was opened") };
    assert!(matches!(error, LogError::TooFewServers { replicas: 3, .. }), "{error}");
}

#[tokio::test]
async fn a_stream_that_would_lose_entries_is_refused() {
    let Some(server) = Server::alone() else { return };
    let jetstream = server.jetstream().await;
    let made = async_nats::jetstream::stream::Config {
        name: "GM_TEST_1_STATE".to_owned(),
        subjects: vec!["gm.test-1.state.log".to_owned(), "gm.test-1.state.snapshot".to_owned()],
        max_messages: 10,
        allow_rollup: true,
        ..Default::default()
    };
    jetstream.create_stream(made).await.expect("made");
    let Err(error) = StateLog::open(&server.bus("a").await, 1).await else { panic!("it was opened") };
    assert!(matches!(&error, LogError::OtherSettings { what: "max_msgs", .. }), "{error}");
}
