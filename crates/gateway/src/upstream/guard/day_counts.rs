//! Calls of a day, kept over a restart and shared with every process that uses the same data folder.
//!
//! Walls: no call waits for the disk, but for the first, which waits until what was counted before is read.
//! What is counted is written every few seconds and when the gateway ends; one that is killed forgets those
//! seconds at most.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::OnceCell;

use super::budgets::{Budgets, day_of};
use crate::store::{Store, StoreError};

const SAVED_EVERY: Duration = Duration::from_secs(5);

pub(super) struct DayCounts {
    budgets: Arc<Budgets>,
    store: Store,
    is_loaded: OnceCell<()>,
}

impl DayCounts {
    pub fn new(budgets: Arc<Budgets>, store: Store) -> Self {
        Self { budgets, store, is_loaded: OnceCell::new() }
    }

    /// Before the first decision. What cannot be read now is read before the next.
    pub async fn load(&self) {
        let loaded = self.is_loaded.get_or_try_init(|| async {
            save(&self.budgets, &self.store).await?;
            self.save_in_background();
            Ok::<(), StoreError>(())
        });
        let _ = loaded.await;
    }

    /// What was counted is on the disk afterwards, if it can be written.
    pub async fn save(&self) {
        let _ = save_new(&self.budgets, &self.store).await;
    }

    /// As long as the budgets are used by anyone else.
    fn save_in_background(&self) {
        let (budgets, store) = (Arc::downgrade(&self.budgets), self.store.clone());
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SAVED_EVERY).await;
                let Some(budgets) = budgets.upgrade() else { return };
                match save_new(&budgets, &store).await {
                    Ok(()) => {}
                    Err(StoreError::Closed) => return,
                    // It is tried again with what is counted until then.
                    Err(_) => {}
                }
            }
        });
    }
}

async fn save_new(budgets: &Budgets, store: &Store) -> Result<(), StoreError> {
    match budgets.has_unsaved() {
        true => save(budgets, store).await,
        false => Ok(()),
    }
}

/// Adds what is new to what all processes have counted, and goes on with that.
async fn save(budgets: &Budgets, store: &Store) -> Result<(), StoreError> {
    let day = day_of(SystemTime::now());
    let unsaved = budgets.take_unsaved(day);
    match store.add_day_counts(day, unsaved.clone()).await {
        Ok(all) => {
            budgets.take_over(day, all);
            Ok(())
        }
        Err(error) => {
            budgets.put_back(day, unsaved);
            Err(error)
        }
    }
}
