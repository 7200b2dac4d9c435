//! Contents that entries since the latest snapshot name. What nothing names is let go of, and only by the gateway that
//! leads, so one lock keeps what is being used from being let go of.

use std::collections::HashSet;
use std::sync::Arc;

use gristmill_replica::seal::ContentHash;
use tokio::sync::Mutex;

/// See the module. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Needed(Arc<Mutex<HashSet<ContentHash>>>);

impl Needed {
    /// From here on it isn't let go of. Before it's looked up or kept.
    pub async fn needs(&self, content: ContentHash) {
        self.0.lock().await.insert(content);
    }

    /// A snapshot begins, which names whatever is needed so far.
    pub async fn begin_anew(&self) {
        self.0.lock().await.clear();
    }

    /// Lets go of a content, unless it's needed; nobody comes to need it meanwhile.
    pub async fn unless<E>(
        &self,
        content: &ContentHash,
        let_go: impl AsyncFnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let needed = self.0.lock().await;
        match needed.contains(content) {
            true => Ok(()),
            false => let_go().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_needed_stays_until_a_snapshot_names_it() {
        let (needed, content) = (Needed::default(), ContentHash([7; 32]));
        let is_let_go = async |needed: &Needed| {
            let mut is_let_go = false;
            let done: Result<(), ()> = needed
                .unless(&content, async || {
                    is_let_go = true;
                    Ok(())
                })
                .await;
            done.map(|()| is_let_go)
        };
        assert_eq!(is_let_go(&needed).await, Ok(true));
        needed.needs(content).await;
        assert_eq!(is_let_go(&needed).await, Ok(false));
        needed.begin_anew().await;
        assert_eq!(is_let_go(&needed).await, Ok(true));
    }
}
