//! A database that several gateways share: what was written is safe only when the others can go on from it.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use gristmill_files::FileLock;

use super::{Store, StoreError};
use crate::ports::NotShared;

/// Below the data folder: says that its state is shared. Written by whoever shares it.
pub const MEMBER_FILE: &str = "replica/cluster.json";

/// Below the data folder: held by the gateway that leads, as long as it does, and modified whenever it hears that it does.
pub const LEADS_LOCK: &str = "replica/leads.lock";

/// One that has heard nothing for so long may have been overtaken.
const HEARD_WITHIN: Duration = Duration::from_secs(2);

/// A data folder whose state is shared may be used while the gateway on this machine leads, which takes what is written
/// to the others. Whatever else lies there is a copy, and what one that is cut off writes is taken back.
pub fn check_leads(data_folder: &Path) -> Result<(), StoreError> {
    let is_shared = data_folder.join(MEMBER_FILE).exists();
    let lock = data_folder.join(LEADS_LOCK);
    match is_shared && !(FileLock::is_held(&lock) && was_modified_within(&lock, HEARD_WITHIN)) {
        true => Err(StoreError::StandsBy { folder: data_folder.to_owned() }),
        false => Ok(()),
    }
}

fn was_modified_within(path: &Path, age_max: Duration) -> bool {
    let modified = std::fs::metadata(path).and_then(|found| found.modified());
    // A clock that was set back says nothing.
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age <= age_max))
}

/// The same for whoever changes a file of a data folder.
pub fn check_leads_beside(file: &Path) -> Result<(), StoreError> {
    file.parent().map_or(Ok(()), check_leads)
}

impl Store {
    /// Whether other gateways go on from what is written here, in this process or another one.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some() || self.folder().is_some_and(|folder| folder.join(MEMBER_FILE).exists())
    }

    /// Something at this path in the data folder was written, made or removed, or below it.
    pub(crate) fn changed(&self, path: &str) {
        if let Some(shared) = &self.shared {
            shared.changed(path);
            self.inner.touched.fetch_add(1, Ordering::Release);
        }
    }

    /// Waits until everything that was written before is safe where the state is shared; at once where it isn't
    /// shared, and where nothing was asked for since the last time.
    pub async fn settle(&self) -> Result<(), StoreError> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let touched = self.inner.touched.load(Ordering::Acquire);
        // One that isn't sure to lead finds out.
        if shared.leads() && self.inner.settled.load(Ordering::Acquire) >= touched {
            return Ok(());
        }
        // Jobs are done in their order: those that nobody waits for have been, too.
        self.inner.run(|_| Ok(())).await?;
        shared.settle().await?;
        self.inner.settled.fetch_max(touched, Ordering::AcqRel);
        Ok(())
    }

    /// The same for whoever acts on something that isn't ours, where a stale gateway does harm: no other one can have taken
    /// the lead a moment ago. What was kept may have been acknowledged late.
    pub async fn settle_to_act(&self) -> Result<(), StoreError> {
        for _ in 0..SETTLED_AT_MOST {
            self.settle().await?;
            if self.shared.as_ref().is_none_or(|shared| shared.leads()) {
                return Ok(());
            }
        }
        Err(NotShared::Unreachable("the bus answers too late".to_owned()).into())
    }
}

/// A bus so slow that a lead is over before it's acknowledged isn't waited for any longer.
const SETTLED_AT_MOST: usize = 3;

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use gristmill_testkit::TestFolder;
    use parking_lot::Mutex;

    use super::*;
    use crate::ports::{BoxFuture, SharedState};

    #[derive(Default)]
    struct Others {
        is_overtaken: AtomicBool,
        /// It hears that it led, when it may not any more.
        is_late: AtomicBool,
        settled: AtomicUsize,
        changed: Mutex<Vec<String>>,
    }

    impl SharedState for Others {
        fn changed(&self, path: &str) {
            self.changed.lock().push(path.to_owned());
        }

        fn settle(&self) -> BoxFuture<'_, Result<(), NotShared>> {
            self.settled.fetch_add(1, Ordering::Relaxed);
            let is_overtaken = self.is_overtaken.load(Ordering::Relaxed);
            let settled = if is_overtaken { Err(NotShared::Overtaken) } else { Ok(()) };
            Box::pin(std::future::ready(settled))
        }

        fn leads(&self) -> bool {
            !self.is_overtaken.load(Ordering::Relaxed) && !self.is_late.load(Ordering::Relaxed)
        }
    }

    #[tokio::test]
    async fn what_was_asked_for_is_settled_once_and_not_again() {
        let folder = TestFolder::new("settle");
        let others = Arc::new(Others::default());
        let store = Store::open_shared(folder.path(), Arc::clone(&others) as Arc<_>).unwrap();
        let settled = || others.settled.load(Ordering::Relaxed);
        store.settle().await.unwrap();
        assert_eq!(settled(), 0);
        store.later(|_| Ok(()));
        store.settle().await.unwrap();
        store.settle().await.unwrap();
        assert_eq!(settled(), 1);
        store.changed("skills/x");
        store.settle().await.unwrap();
        assert_eq!((settled(), &**others.changed.lock()), (2, &["skills/x".to_owned()][..]));
        store.settle_to_act().await.unwrap();
        assert_eq!(settled(), 2);
        others.is_late.store(true, Ordering::Relaxed);
        let refused = store.settle_to_act().await;
        assert!(matches!(refused, Err(StoreError::NotShared(NotShared::Unreachable(_)))), "{refused:?}");
        store.settle().await.unwrap();
        others.is_overtaken.store(true, Ordering::Relaxed);
        let refused = store.settle().await;
        assert!(matches!(refused, Err(StoreError::NotShared(NotShared::Overtaken))), "{refused:?}");
    }

    #[tokio::test]
    async fn a_shared_folder_opens_only_where_a_gateway_leads() {
        let folder = TestFolder::new("leads");
        let member = folder.path().join(MEMBER_FILE);
        std::fs::create_dir_all(member.parent().unwrap()).unwrap();
        drop(Store::open(folder.path()).unwrap());
        std::fs::write(&member, "{}").unwrap();
        let refused = Store::open(folder.path()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(
            refused.contains("is shared with other gateways, and none on this machine leads"),
            "{refused}"
        );
        let lock_file = folder.path().join(LEADS_LOCK);
        let lock = FileLock::take(&lock_file).unwrap();
        drop(Store::open(folder.path()).unwrap());
        let was_heard_at = |at: SystemTime| {
            std::fs::File::options().write(true).open(&lock_file).unwrap().set_modified(at).unwrap();
        };
        // Cut off from the others, which may have gone on.
        was_heard_at(SystemTime::now() - Duration::from_secs(3));
        assert!(Store::open(folder.path()).is_err());
        was_heard_at(SystemTime::now());
        drop(Store::open(folder.path()).unwrap());
        drop(lock);
        assert!(Store::open(folder.path()).is_err());
    }
}
