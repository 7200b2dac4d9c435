//! Entries whose acknowledgements are lost.

use std::time::Duration;

use async_nats::jetstream::stream::Config;
use gristmill_cluster::state::log::{AppendError, StateLog};
use gristmill_replica::entry::LogPlace;

use crate::order::all;
use crate::proxy::Proxy;
use crate::server::{Server, bus_at, soon};

#[tokio::test]
async fn an_entry_whose_acknowledgement_is_lost_is_in_the_log_once() {
    let Some(server) = Server::alone() else { return };
    let proxy = Proxy::to(server.port).await;
    let log = StateLog::open(&bus_at(&[proxy.port], "a").await, 1).await.expect("the log");
    let mut last = 0;
    for number in 0..5 {
        proxy.lose_next_ack();
        last = log.append(last, number.to_string().into_bytes(), soon(10)).await.expect("appended");
        assert_eq!(proxy.lost(), number + 1);
        assert_eq!(log.last().await.expect("the last"), last);
    }
    assert_eq!(all(&log, 5).await, ["0", "1", "2", "3", "4"]);
}

#[tokio::test]
async fn an_entry_is_known_again_after_the_server_has_forgotten_its_id() {
    let Some(server) = Server::alone() else { return };
    let proxy = Proxy::to(server.port).await;
    let log = StateLog::open(&bus_at(&[proxy.port], "a").await, 1).await.expect("the log");
    let jetstream = server.jetstream().await;
    let mut stream = jetstream.get_stream("GM_TEST_1_STATE").await.expect("the stream");
    let known = stream.info().await.expect("told").config.clone();
    let brief = Config { duplicate_window: Duration::from_millis(100), ..known };
    jetstream.update_stream(brief).await.expect("updated");

    proxy.lose_next_ack();
    let one = log.append(0, b"one".to_vec(), soon(10)).await.expect("appended");
    let snapshot = {
        proxy.lose_next_ack();
        log.set_snapshot(0, b"here".to_vec(), soon(10)).await.expect("set")
    };
    assert_eq!(log.snapshot().await.expect("asked"), Some((snapshot, "here".into())));
    assert_eq!(log.last().await.expect("the last"), one);
    assert_eq!(all(&log, 1).await, ["one"]);
}

#[tokio::test]
async fn one_that_could_not_write_is_told_that_it_was_overtaken() {
    let Some(server) = Server::alone() else { return };
    let proxy = Proxy::to(server.port).await;
    let first = StateLog::open(&bus_at(&[proxy.port], "a").await, 1).await.expect("the log");
    let second = server.log("b").await;
    let one = first.append(0, b"one".to_vec(), soon(5)).await.expect("appended");

    proxy.hold();
    let late = tokio::spawn(async move { first.append(one, b"late".to_vec(), soon(20)).await });
    while proxy.lost() == 0 {
        tokio::task::yield_now().await;
    }
    let two = second.append(one, b"two".to_vec(), soon(5)).await.expect("appended");
    proxy.pass();
    let late = late.await.expect("no panic");
    assert!(matches!(late, Err(AppendError::Overtaken { last }) if last == two), "{late:?}");
    assert_eq!(all(&second, 2).await, ["one", "two"]);
}

#[tokio::test]
async fn what_follows_an_entry_that_servers_have_lost_is_not_put_behind_another_one() {
    let Some(mut server) = Server::alone() else { return };
    let (first, second) = (server.log("a").await, server.log("b").await);
    let one = first.append(0, b"one".to_vec(), soon(5)).await.expect("appended");
    server.kill();
    let stored = server.stored();
    server.start();
    let two = first.append(one, b"two".to_vec(), soon(20)).await.expect("appended");
    let behind = first.last_place().await.expect("the last");
    assert_eq!(behind, LogPlace::of(two, b"two"));
    server.kill();
    server.go_back_to(&stored);
    server.start();
    let late = tokio::spawn(async move { first.append_behind(behind, b"three".to_vec(), soon(60)).await });
    // It has heard by then that its place isn't there.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(!late.is_finished());
    let other = second.append(one, b"another two".to_vec(), soon(20)).await.expect("appended");
    assert_eq!(other, two);
    let late = tokio::time::timeout(Duration::from_secs(10), late).await.expect("at once").expect("no panic");
    assert!(matches!(late, Err(AppendError::Overtaken { .. })), "{late:?}");
    assert_eq!(all(&second, 2).await, ["one", "another two"]);
}

#[tokio::test]
async fn what_cannot_be_written_in_time_is_unknown() {
    let Some(mut server) = Server::alone() else { return };
    let log = server.log("a").await;
    server.kill();
    let began = std::time::Instant::now();
    let unknown = log.append(0, b"one".to_vec(), soon(2)).await;
    assert!(matches!(unknown, Err(AppendError::Unavailable(_))), "{unknown:?}");
    assert!(began.elapsed() < Duration::from_secs(3));
}
