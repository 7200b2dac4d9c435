//! Who sees at once what waits for an approval: pages that are open, in whichever process.

use rusqlite::params;

use super::{Reply, Store};

/// Whoever has not said again that it looks is gone.
pub const APPROVAL_WATCH_MS: i64 = 15_000;

impl Store {
    /// Somebody looks, from now on for [`APPROVAL_WATCH_MS`].
    pub fn watch_approvals(&self, watcher: &str) {
        let (watcher, now) = (watcher.to_owned(), self.now_ms());
        self.later(move |connection| {
            connection.execute("DELETE FROM approval_watchers WHERE until_ms < ?1", [now])?;
            connection.execute(
                "INSERT OR REPLACE INTO approval_watchers (id, until_ms) VALUES (?1, ?2)",
                params![watcher, now + APPROVAL_WATCH_MS],
            )?;
            Ok(())
        });
    }

    /// It looks no longer.
    pub fn unwatch_approvals(&self, watcher: &str) {
        let watcher = watcher.to_owned();
        self.later(move |connection| {
            connection.execute("DELETE FROM approval_watchers WHERE id = ?1", [watcher])?;
            Ok(())
        });
    }

    /// Whether anybody looks.
    pub(crate) fn are_approvals_watched(&self) -> Reply<bool> {
        let now = self.now_ms();
        self.run(move |connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM approval_watchers WHERE until_ms >= ?1)";
            Ok(connection.prepare_cached(sql)?.query_row([now], |row| row.get(0))?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_page_counts_until_it_is_closed() {
        let store = Store::in_memory().unwrap();
        assert!(!store.are_approvals_watched().await.unwrap());
        store.watch_approvals("one");
        store.watch_approvals("two");
        store.unwatch_approvals("one");
        assert!(store.are_approvals_watched().await.unwrap());
        store.unwatch_approvals("two");
        assert!(!store.are_approvals_watched().await.unwrap());
    }
}
