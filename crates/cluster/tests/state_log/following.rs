//! Those who follow, while servers come and go.

use std::time::{Duration, Instant};

use gristmill_cluster::state::log::{LogError, StateLog};

use crate::proxy::Proxy;
use crate::server::{Server, bus_at, soon};

#[tokio::test]
async fn a_follower_misses_nothing_when_the_server_is_killed_and_started_again() {
    let Some(mut server) = Server::alone() else { return };
    let (log, follower) = (server.log("a").await, server.log("b").await);
    let mut follow = follower.follow(0).await.expect("followed");
    let mut last = 0;
    for round in 0..3_u8 {
        for number in 0..20 {
            last = log.append(last, vec![round, number], soon(20)).await.expect("appended");
        }
        server.kill();
        server.start();
    }
    last = log.append(last, vec![9, 9], soon(20)).await.expect("appended");
    let expected =
        (0..3_u8).flat_map(|round| (0..20).map(move |number| vec![round, number])).chain([vec![9, 9]]);
    let mut heard = 0;
    for bytes in expected {
        let next = tokio::time::timeout(Duration::from_secs(10), follow.next()).await.expect("in time");
        let (sequence, entry) = next.expect("an entry");
        assert_eq!(*entry, bytes);
        heard = sequence;
    }
    assert_eq!(heard, last);
}

#[tokio::test]
async fn a_follower_that_hears_nothing_begins_anew() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let mut follow = log.follow(0).await.expect("followed");
    let one = log.append(0, b"one".to_vec(), soon(5)).await.expect("appended");
    assert_eq!(follow.next().await.expect("an entry").0, one);
    // What delivers is gone, and says nothing.
    let jetstream = server.jetstream().await;
    let stream = jetstream.get_stream("GM_TEST_1_STATE").await.expect("the stream");
    let names: Vec<String> =
        futures_util::TryStreamExt::try_collect(stream.consumer_names()).await.expect("names");
    assert_eq!(names.len(), 1);
    stream.delete_consumer(&names[0]).await.expect("deleted");
    let two = log.append(one, b"two".to_vec(), soon(5)).await.expect("appended");
    let next = tokio::time::timeout(Duration::from_secs(3), follow.next()).await.expect("in time");
    assert_eq!(next.expect("an entry").0, two);
}

#[tokio::test]
async fn a_follower_that_was_cut_off_catches_up() {
    let Some(server) = Server::alone() else { return };
    let proxy = Proxy::to(server.port).await;
    let log = server.log("a").await;
    let follower = StateLog::open(&bus_at(&[proxy.port], "b").await, 1).await.expect("the log");
    let mut follow = follower.follow(0).await.expect("followed");
    proxy.hold();
    let mut last = 0;
    for number in 0..10_u8 {
        last = log.append(last, vec![number], soon(5)).await.expect("appended");
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    proxy.pass();
    for number in 0..10_u8 {
        let next = tokio::time::timeout(Duration::from_secs(10), follow.next()).await.expect("in time");
        assert_eq!(*next.expect("an entry").1, [number]);
    }
    assert!(last > 0);
}

#[tokio::test]
async fn one_that_reads_slowly_gets_everything() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let mut follow = log.follow(0).await.expect("followed");
    let mut last = 0;
    for number in 0..200_u8 {
        last = log.append(last, vec![number; 300_000], soon(5)).await.expect("appended");
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    for number in 0..200_u8 {
        let next = tokio::time::timeout(Duration::from_secs(10), follow.next()).await.expect("in time");
        assert_eq!(next.expect("an entry").1, vec![number; 300_000]);
    }
    assert!(last > 0);
}

#[tokio::test]
async fn one_that_is_far_behind_catches_up() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    // More than waits anywhere on the way; not waiting for each.
    let (count, client) = (40_000_u64, server.jetstream().await.client());
    for number in 0..count {
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Gm-After", number.to_string());
        let subject = "gm.test-1.state.log";
        client.publish_with_headers(subject, headers, number.to_string().into()).await.expect("sent");
    }
    client.flush().await.expect("sent");
    while log.last().await.expect("the last") < count {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut follow = log.follow(0).await.expect("followed");
    // The first ones are read slowly.
    for number in 0..count {
        if number < 4 {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let next = tokio::time::timeout(Duration::from_secs(10), follow.next()).await.expect("in time");
        assert_eq!(next.expect("an entry").0, number + 1);
    }
}

#[tokio::test]
async fn waiting_may_be_given_up_and_begun_again() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let mut follow = log.follow(0).await.expect("followed");
    let appending = tokio::spawn({
        let log = log.clone();
        async move {
            let mut last = 0;
            for number in 0..100_u8 {
                last = log.append(last, vec![number], soon(5)).await.expect("appended");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    });
    let mut heard = Vec::new();
    let until = Instant::now() + Duration::from_secs(10);
    while heard.len() < 100 && Instant::now() < until {
        if let Ok(next) = tokio::time::timeout(Duration::from_millis(1), follow.next()).await {
            heard.push(next.expect("an entry").1[0]);
        }
    }
    appending.await.expect("no panic");
    assert_eq!(heard, (0..100).collect::<Vec<u8>>());
}

#[tokio::test]
async fn what_somebody_else_wrote_into_the_log_is_refused() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let one = log.append(0, b"one".to_vec(), soon(5)).await.expect("appended");
    let mut follow = log.follow(0).await.expect("followed");
    assert_eq!(follow.next().await.expect("an entry").0, one);
    let jetstream = server.jetstream().await;
    let foreign = jetstream.publish("gm.test-1.state.log", "foreign".into()).await.expect("sent").await;
    let sequence = foreign.expect("kept").sequence;
    let next = tokio::time::timeout(Duration::from_secs(5), follow.next()).await.expect("in time");
    assert!(matches!(next, Err(LogError::Foreign { sequence: at, .. }) if at == sequence), "{next:?}");
    assert!(matches!(follow.next().await, Err(LogError::Ended)));
}

#[tokio::test]
async fn a_log_that_ends_before_the_entry_one_knows_is_told() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let one = log.append(0, b"one".to_vec(), soon(5)).await.expect("appended");
    let shorter = log.follow(one + 5).await.err();
    assert!(matches!(shorter, Some(LogError::Shorter { last, after }) if (last, after) == (one, one + 5)));
}

#[tokio::test]
async fn nothing_is_left_when_nobody_follows_any_more() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let follow = log.follow(0).await.expect("followed");
    let jetstream = server.jetstream().await;
    let stream = jetstream.get_stream("GM_TEST_1_STATE").await.expect("the stream");
    let count = async || stream.get_info().await.expect("told").state.consumer_count;
    let until = Instant::now() + Duration::from_secs(5);
    while count().await == 0 {
        assert!(Instant::now() < until, "nothing delivers");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(follow);
    let until = Instant::now() + Duration::from_secs(15);
    while count().await > 0 {
        assert!(Instant::now() < until, "something still delivers");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn an_entry_reaches_followers_at_once() {
    let Some(server) = Server::alone() else { return };
    let (log, follower) = (server.log("a").await, server.log("b").await);
    let mut follow = follower.follow(0).await.expect("followed");
    let mut times = Vec::new();
    let mut last = 0;
    for _ in 0..200 {
        let began = Instant::now();
        let (appended, next) = tokio::join!(log.append(last, vec![7; 4096], soon(5)), follow.next());
        times.push(began.elapsed());
        last = appended.expect("appended");
        assert_eq!(next.expect("an entry").0, last);
    }
    times.sort_unstable();
    println!("append of 4 KB and its arrival: median {:?}, 99th percentile {:?}", times[100], times[198]);
    assert!(times[100] < Duration::from_millis(20), "{:?}", times[100]);
}
