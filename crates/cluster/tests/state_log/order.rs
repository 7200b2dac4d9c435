//! One order, one writer.

use std::time::{Duration, Instant};

use gristmill_cluster::state::log::{AppendError, ENTRY_BYTES_MAX, LogError, StateLog};

use crate::server::{Server, soon};

#[tokio::test]
async fn entries_come_in_the_order_in_which_they_were_appended() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    assert_eq!(log.last().await.expect("the last"), 0);
    let mut last = 0;
    for number in 0..50_u8 {
        last = log.append(last, vec![number], soon(5)).await.expect("appended");
    }
    assert_eq!(log.last().await.expect("the last"), last);
    let mut follow = log.follow(0).await.expect("followed");
    for number in 0..50_u8 {
        assert_eq!(*follow.next().await.expect("an entry").1, [number]);
    }
}

#[tokio::test]
async fn one_that_was_overtaken_writes_nothing() {
    let Some(server) = Server::alone() else { return };
    let (first, second) = (server.log("a").await, server.log("b").await);
    let one = first.append(0, b"one".to_vec(), soon(5)).await.expect("appended");
    let two = second.append(one, b"two".to_vec(), soon(5)).await.expect("appended");
    let three = second.append(two, b"three".to_vec(), soon(5)).await.expect("appended");
    let overtaken = first.append(one, b"late".to_vec(), soon(5)).await;
    assert!(matches!(overtaken, Err(AppendError::Overtaken { last }) if last == three), "{overtaken:?}");
    let overtaken = first.append(0, b"late".to_vec(), soon(5)).await;
    assert!(matches!(overtaken, Err(AppendError::Overtaken { last }) if last == three), "{overtaken:?}");
    assert_eq!(all(&first, 3).await, ["one", "two", "three"]);
}

#[tokio::test]
async fn of_many_who_append_after_the_same_entry_one_succeeds() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let mut last = 0;
    for _ in 0..20 {
        let tries = (0..8_u8).map(|number| {
            let log = log.clone();
            tokio::spawn(async move { log.append(last, vec![number], soon(5)).await })
        });
        let mut won = Vec::new();
        for tried in tries.collect::<Vec<_>>() {
            match tried.await.expect("no panic") {
                Ok(sequence) => won.push(sequence),
                Err(AppendError::Overtaken { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(won.len(), 1);
        last = won[0];
    }
    assert_eq!(all(&log, 20).await.len(), 20);
}

#[tokio::test]
async fn the_largest_entry_passes_and_a_larger_one_does_not() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let last = log.append(0, vec![7; ENTRY_BYTES_MAX], soon(5)).await.expect("appended");
    assert_eq!(log.last().await.expect("the last"), last);
    let refused = log.append(last, vec![7; ENTRY_BYTES_MAX + 1], soon(5)).await;
    assert!(matches!(refused, Err(AppendError::TooLarge { .. })), "{refused:?}");
    let mut follow = log.follow(0).await.expect("followed");
    assert_eq!(follow.next().await.expect("an entry").1.len(), ENTRY_BYTES_MAX);
}

#[tokio::test]
async fn a_server_that_takes_less_says_that_an_entry_is_too_large() {
    let configuration = |folder: &std::path::Path| {
        format!("max_payload: 4096\njetstream {{ store_dir: \"{}\" }}\n", folder.display())
    };
    let Some(server) = Server::configured(crate::server::free_port(), configuration) else { return };
    let log = server.log("a").await;
    let refused = log.append(0, vec![7; 5000], soon(5)).await;
    assert!(matches!(refused, Err(AppendError::TooLarge { .. })), "{refused:?}");
}

#[tokio::test]
async fn the_place_of_the_snapshot_changes_only_from_the_revision_that_one_knows() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    assert_eq!(log.snapshot().await.expect("asked"), None);
    let entry = log.append(0, b"entry".to_vec(), soon(5)).await.expect("appended");
    let one = log.set_snapshot(0, b"one".to_vec(), soon(5)).await.expect("set");
    let refused = log.set_snapshot(0, b"other".to_vec(), soon(5)).await;
    assert!(matches!(refused, Err(AppendError::Overtaken { last }) if last == one), "{refused:?}");
    let two = log.set_snapshot(one, b"two".to_vec(), soon(5)).await.expect("set");
    assert_eq!(log.snapshot().await.expect("asked"), Some((two, "two".into())));
    let mut stream = server.jetstream().await.get_stream("GM_TEST_1_STATE").await.expect("the stream");
    assert_eq!(stream.info().await.expect("told").state.messages, 2, "the entry, and one pointer");
    let next = log.append(entry, b"next".to_vec(), soon(5)).await.expect("entries don't mind");
    assert!(next > two);
    assert_eq!(all(&log, 2).await, ["entry", "next"]);
}

#[tokio::test]
async fn what_was_trimmed_is_a_gap_for_those_who_need_it_and_nobody_else() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let mut sequences = vec![0];
    for number in 0..10_u8 {
        let last = sequences[sequences.len() - 1];
        sequences.push(log.append(last, vec![number], soon(5)).await.expect("appended"));
    }
    let revision = log.set_snapshot(0, b"as of 5".to_vec(), soon(5)).await.expect("set");
    log.trim(sequences[6]).await.expect("trimmed");
    for after in 0..5 {
        let gap = log.follow(sequences[after]).await.err();
        assert!(matches!(gap, Some(LogError::Gap { first }) if first == sequences[6]), "{after}: {gap:?}");
    }
    let mut follow = log.follow(sequences[5]).await.expect("followed");
    assert_eq!(follow.next().await.expect("an entry").0, sequences[6]);
    assert_eq!(log.snapshot().await.expect("asked"), Some((revision, "as of 5".into())));

    // The last one stays, so that the next can follow it.
    log.trim(u64::MAX).await.expect("trimmed");
    assert_eq!(log.last().await.expect("the last"), sequences[10]);
    let next = log.append(sequences[10], b"next".to_vec(), soon(5)).await.expect("appended");
    let mut follow = log.follow(sequences[10]).await.expect("followed");
    assert_eq!(follow.next().await.expect("an entry").0, next);
}

#[tokio::test]
async fn an_append_takes_about_a_round_trip() {
    let Some(server) = Server::alone() else { return };
    let log = server.log("a").await;
    let mut times = Vec::new();
    let mut last = 0;
    for _ in 0..500 {
        let began = Instant::now();
        last = log.append(last, vec![7; 4096], soon(5)).await.expect("appended");
        times.push(began.elapsed());
    }
    times.sort_unstable();
    println!("append of 4 KB: median {:?}, 99th percentile {:?}", times[250], times[495]);
    assert!(times[250] < Duration::from_millis(20), "{:?}", times[250]);
}

pub async fn all(log: &StateLog, count: usize) -> Vec<String> {
    let mut follow = log.follow(0).await.expect("followed");
    let mut entries = Vec::new();
    for _ in 0..count {
        let (_, bytes) = follow.next().await.expect("an entry");
        entries.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    let more = tokio::time::timeout(Duration::from_millis(200), follow.next()).await;
    assert!(more.is_err(), "one entry too many: {more:?}");
    entries
}
