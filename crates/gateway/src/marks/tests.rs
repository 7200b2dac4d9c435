use gristmill_testkit::TestFolder;

use super::*;
use crate::ids::{Client, Owner};

fn read_from(untrusted: Option<&str>, private: Option<&str>) -> Seen {
    Seen { untrusted: untrusted.map(str::to_owned), private: private.map(str::to_owned) }
}

fn client(owner: &str, name: &str) -> Caller {
    let client = Client { name: name.to_owned(), version: String::new() };
    Caller { client: Some(client), ..Caller::of(Owner(owner.to_owned())) }
}

#[tokio::test]
async fn clients_without_a_session_keep_apart_what_they_have_read() {
    let ledger = MarkLedger::new(None);
    let (one, web) = (client("a", "one"), read_from(Some("web"), None));
    ledger.note(&one, &web).await;
    assert_eq!(ledger.seen(&one).await, web);
    for other in [client("a", "two"), client("b", "one"), Caller::local()] {
        assert_eq!(ledger.seen(&other).await, Seen::default(), "{other:?}");
    }
    let elsewhere = MarkLedger::new(None);
    assert_eq!(elsewhere.seen(&one).await, Seen::default(), "it lasts as long as the gateway");
}

#[tokio::test]
async fn a_client_that_there_is_no_room_for_is_not_forgotten() {
    let ledger = MarkLedger::new(None);
    let (web, crm) = (read_from(Some("web"), None), read_from(None, Some("crm")));
    for number in 0..SCOPES_MAX {
        ledger.note(&client("a", &number.to_string()), &web).await;
    }
    ledger.note(&client("a", "late"), &crm).await;
    assert!(ledger.seen(&client("a", "late")).await.private.is_some());
}

#[tokio::test]
async fn what_a_program_reads_without_asking_counts_while_it_runs_and_stays_once_it_is_settled() {
    struct Reads;
    impl MarkedReads for Reads {
        fn seen(&self) -> BoxFuture<'_, Seen> {
            Box::pin(async { read_from(None, Some("crm")) })
        }
    }
    let (ledger, id) = (MarkLedger::new(None), ExecutionId::new().unwrap());
    let caller = client("a", "one").in_execution(id.clone(), None);
    let reading = ledger.reading(&id, Arc::new(Reads));
    assert_eq!(ledger.seen(&caller).await, read_from(None, Some("crm")));
    assert_eq!(ledger.seen(&client("a", "one")).await, Seen::default());
    ledger.settle(&caller).await;
    drop(reading);
    assert_eq!(ledger.seen(&client("a", "one")).await, read_from(None, Some("crm")));
}

#[tokio::test]
async fn a_database_that_cannot_be_read_counts_as_everything() {
    let folder = TestFolder::new("ledger");
    let store = Store::open(folder.path()).unwrap();
    let ledger = MarkLedger::new(Some(store.clone()));
    let session = SessionId::new().unwrap();
    assert_eq!(ledger.seen_in_session(&session).await, Seen::default());
    store.close().await;
    assert!(ledger.seen_in_session(&session).await.is_both());
}
