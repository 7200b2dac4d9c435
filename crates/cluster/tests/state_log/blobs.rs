//! Blobs, kept, read, listed and forgotten.

use std::time::{Duration, Instant};

use gristmill_cluster::state::blobs::{KeptBlob, PART_BYTES_MAX};
use gristmill_cluster::state::log::BlobError;

use crate::server::{Server, soon};

#[tokio::test]
async fn a_blob_is_kept_read_listed_and_forgotten() {
    let Some(server) = Server::alone() else { return };
    let blobs = server.log("a").await.blobs();
    let (one, two) = ([1; 32], [2; 32]);
    assert_eq!(blobs.list().await.expect("listed"), []);
    assert!(!blobs.has(&one, 1).await.expect("asked"));
    for part in 0..3 {
        let bytes = vec![u8::try_from(part).expect("small"); PART_BYTES_MAX];
        blobs.put(&one, part, bytes, soon(5)).await.expect("kept");
    }
    blobs.put(&two, 0, b"first".to_vec(), soon(5)).await.expect("kept");
    blobs.put(&two, 0, b"again".to_vec(), soon(5)).await.expect("kept");
    assert!(blobs.has(&one, 3).await.expect("asked"));
    assert!(!blobs.has(&one, 4).await.expect("asked"));
    assert_eq!(blobs.get(&one, 2).await.expect("read"), vec![2; PART_BYTES_MAX]);
    assert_eq!(blobs.get(&two, 0).await.expect("read"), "again");
    assert!(matches!(blobs.get(&two, 1).await, Err(BlobError::NotThere { part: 1 })));

    tokio::time::sleep(Duration::from_millis(300)).await;
    let listed = blobs.list().await.expect("listed");
    let counts: Vec<_> = listed.iter().map(|KeptBlob { id, parts, .. }| (*id, *parts)).collect();
    assert_eq!(counts, [(one, 3), (two, 1)]);
    let ages_fit =
        |blob: &KeptBlob| (Duration::from_millis(200)..Duration::from_secs(30)).contains(&blob.age);
    assert!(listed.iter().all(ages_fit), "{listed:?}");

    let (first, second) = (&listed[0], &listed[1]);
    blobs.forget(first).await.expect("forgotten");
    assert!(!blobs.has(&one, 1).await.expect("asked"));
    assert!(matches!(blobs.get(&one, 0).await, Err(BlobError::NotThere { part: 0 })));
    assert_eq!(blobs.list().await.expect("listed").len(), 1);
    blobs.forget(first).await.expect("nothing to forget");
    // Somebody needs it again, and a word that comes late doesn't take that away.
    blobs.put(&two, 0, b"once more".to_vec(), soon(5)).await.expect("kept");
    blobs.forget(second).await.expect("nothing left to forget");
    assert_eq!(blobs.get(&two, 0).await.expect("read"), "once more");
}

#[tokio::test]
async fn a_part_that_is_too_large_is_not_kept() {
    let Some(server) = Server::alone() else { return };
    let blobs = server.log("a").await.blobs();
    let refused = blobs.put(&[1; 32], 0, vec![0; PART_BYTES_MAX + 1], soon(5)).await;
    assert!(matches!(refused, Err(BlobError::TooLarge { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_hundred_thousand_parts_are_listed() {
    let Some(server) = Server::alone() else { return };
    let blobs = server.log("a").await.blobs();
    let jetstream = server.jetstream().await;
    // Not waiting for each.
    let client = jetstream.client();
    let (count, parts) = (25_000_u32, 4_u32);
    for number in 0..count {
        let id = blake3::hash(&number.to_be_bytes()).to_hex();
        for part in 0..parts {
            client.publish(format!("gm.test-1.blob.{id}.{part}"), "x".into()).await.expect("sent");
        }
    }
    client.flush().await.expect("sent");
    let until = Instant::now() + Duration::from_secs(60);
    let stream = jetstream.get_stream("GM_TEST_1_BLOBS").await.expect("the stream");
    while stream.get_info().await.expect("told").state.messages < u64::from(count * parts) {
        assert!(Instant::now() < until, "they aren't all kept");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let began = Instant::now();
    let listed = blobs.list().await.expect("listed");
    println!("100,000 parts were listed in {:?}", began.elapsed());
    assert_eq!(listed.len(), count as usize);
    assert!(listed.iter().all(|blob| blob.parts == parts));
    let began = Instant::now();
    assert!(blobs.has(blake3::hash(&7_u32.to_be_bytes()).as_bytes(), parts).await.expect("asked"));
    println!("one was looked up in {:?}", began.elapsed());
}
