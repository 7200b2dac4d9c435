use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use gristmill_testkit::TestFolder;

use super::*;

async fn put(store: &Store, id: &str) -> Result<(), StoreError> {
    let id = id.to_owned();
    store
        .change(move |transaction| {
            transaction.execute(
                "INSERT INTO sessions (id, owner, name, created_ms, used_ms) VALUES (?1, 'a', ?1, 1, 1)",
                [id],
            )?;
            Ok(())
        })
        .await
}

async fn ids(store: &Store) -> Vec<String> {
    let all = store.run(|connection| {
        let mut query = connection.prepare("SELECT id FROM sessions ORDER BY id")?;
        let ids = query.query_map((), |row| row.get(0))?;
        Ok(ids.collect::<Result<Vec<String>, _>>()?)
    });
    all.await.unwrap()
}

#[tokio::test]
async fn what_was_written_is_there_when_it_is_opened_again() {
    let folder = TestFolder::new("store");
    let store = Store::open(folder.path()).unwrap();
    put(&store, "one").await.unwrap();
    store.close().await;
    assert!(matches!(put(&store, "two").await, Err(StoreError::Closed)));
    drop(store);
    assert_eq!(ids(&Store::open(folder.path()).unwrap()).await, ["one"]);
}

#[tokio::test]
async fn only_its_owner_reads_it() {
    let folder = TestFolder::new("store");
    let data = folder.path().join("new/data");
    let store = Store::open(&data).unwrap();
    put(&store, "one").await.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for name in [FILE_NAME, "gristmill.db-wal", "gristmill.db-shm"] {
        assert_eq!(mode(&data.join(name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_job_that_fails_leaves_nothing_behind() {
    let store = Store::in_memory().unwrap();
    let failed = store.change(|transaction| {
        transaction.execute(
            "INSERT INTO sessions (id, owner, created_ms, used_ms) VALUES ('half', 'a', 1, 1)",
            (),
        )?;
        transaction.execute("INSERT INTO sessions (id) VALUES ('half')", ())?;
        Ok(())
    });
    assert!(matches!(failed.await, Err(StoreError::Refused(_))));
    assert_eq!(ids(&store).await, [""; 0]);
}

#[tokio::test]
async fn two_gateways_write_into_one_database() {
    let folder = TestFolder::new("store");
    // Both find an empty folder at the same moment, too.
    let open = || {
        let path = folder.path().to_owned();
        tokio::task::spawn_blocking(move || Store::open(&path))
    };
    let (one, other) = tokio::join!(open(), open());
    let (one, other) = (one.unwrap().unwrap(), other.unwrap().unwrap());
    let write = |store: Store, name: &'static str| async move {
        for number in 0..50 {
            put(&store, &format!("{name}{number:02}")).await.unwrap();
        }
    };
    tokio::join!(write(one.clone(), "a"), write(other.clone(), "b"));
    let found = ids(&one).await;
    assert_eq!(found.len(), 100);
    assert_eq!(found, ids(&other).await);
}

#[tokio::test]
async fn the_log_is_copied_beside_the_jobs() {
    let folder = TestFolder::new("store");
    let store = Store::open(folder.path()).unwrap();
    let file = folder.path().join(FILE_NAME);
    let bytes = || std::fs::metadata(&file).unwrap().len();
    let (before, written) = (bytes(), store.last_written());
    assert_eq!(store.last_written(), written);
    for number in 0..200 {
        put(&store, &format!("{number:03}")).await.unwrap();
    }
    assert_ne!(store.last_written(), written);
    // Far from as many as make the writer himself copy it.
    let copied = async {
        while bytes() == before {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), copied).await.expect("nothing was copied into the file");
    assert_eq!(ids(&store).await.len(), 200);
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_as_it_is() {
    let folder = TestFolder::new("store");
    Store::open(folder.path()).unwrap().close().await;
    let file = folder.path().join(FILE_NAME);
    let raise = rusqlite::Connection::open(&file).unwrap();
    raise.pragma_update(None, "user_version", migrations::VERSION + 3).unwrap();
    drop(raise);
    let before = std::fs::read(&file).unwrap();
    let error = Store::open(folder.path()).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "{} was written by a newer gristmill (its version is {}, this one knows {}); use that gristmill, or set GRISTMILL_DATA_DIR to another folder",
            file.display(),
            migrations::VERSION + 3,
            migrations::VERSION
        )
    );
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn what_is_not_our_database_is_left_as_it_is() {
    let folder = TestFolder::new("store");
    let file = folder.path().join(FILE_NAME);
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(other);
    let before = std::fs::read(&file).unwrap();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::NotOurs { .. })));
    assert_eq!(std::fs::read(&file).unwrap(), before);

    let text = vec![b'x'; 5000];
    std::fs::write(&file, &text).unwrap();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::NotOurs { .. })));
    assert_eq!(std::fs::read(&file).unwrap(), text);
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_what_to_do() {
    let folder = TestFolder::new("store");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    // The second is a file system that nobody can write to.
    for place in [file.join("data"), PathBuf::from("/proc/gristmill")] {
        let error = Store::open(&place).err().unwrap().to_string();
        let begins = format!("can't use the data folder {}: ", place.display());
        assert!(error.starts_with(&begins) && error.contains("GRISTMILL_DATA_DIR"), "{error}");
    }
}

#[tokio::test]
async fn a_full_disk_takes_nothing_away() {
    let folder = TestFolder::new("store");
    let store = Store::open(folder.path()).unwrap();
    put(&store, "before").await.unwrap();
    let limit = |pages: &'static str| {
        store.run(move |connection| {
            Ok(connection.query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))?)
        })
    };
    limit("1").await.unwrap();
    let mut refused = None;
    for number in 0..10_000 {
        if let Err(error) = put(&store, &format!("more{number}")).await {
            refused = Some((number, error));
            break;
        }
    }
    let (fitted, error) = refused.expect("the limit is reached");
    assert!(matches!(error, StoreError::Full), "{error}");
    assert_eq!(ids(&store).await.len(), fitted + 1);
    limit("1000000").await.unwrap();
    put(&store, "after").await.unwrap();
}

#[tokio::test]
async fn a_whole_database_has_no_faults_and_a_damaged_one_is_told() {
    let folder = TestFolder::new("store");
    let store = Store::open(folder.path()).unwrap();
    for number in 0..500 {
        put(&store, &format!("{number:040}")).await.unwrap();
    }
    let health = store.health().await.unwrap();
    assert_eq!((health.version, health.faults.as_slice()), (migrations::VERSION, &[][..]));
    assert!(health.bytes > 10_000, "{health:?}");
    store.close().await;
    drop(store);
    let file = folder.path().join(FILE_NAME);
    let mut bytes = std::fs::read(&file).unwrap();
    let (page, end) = (bytes.len() / 2 / 4096 * 4096, bytes.len() / 2 / 4096 * 4096 + 4096);
    bytes[page..end].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    let damaged = Store::open(folder.path()).unwrap().health().await;
    assert!(
        matches!(&damaged, Ok(health) if !health.faults.is_empty())
            || matches!(damaged, Err(StoreError::Damaged(_))),
        "{damaged:?}"
    );
}

#[tokio::test]
async fn a_backup_is_a_database_of_its_own_and_overwrites_nothing() {
    let folder = TestFolder::new("store");
    let store = Store::open(folder.path()).unwrap();
    put(&store, "one").await.unwrap();
    let place = folder.path().join("copy");
    std::fs::create_dir(&place).unwrap();
    let copy = place.join(FILE_NAME);
    store.backup(&copy).await.unwrap();
    put(&store, "two").await.unwrap();
    assert!(matches!(store.backup(&copy).await, Err(BackupError::Exists(_))));
    assert!(matches!(store.backup(&place.join("no/such")).await, Err(BackupError::Unwritable { .. })));
    let left: Vec<_> = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [FILE_NAME]);
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(ids(&Store::open(&place).unwrap()).await, ["one"]);
}
