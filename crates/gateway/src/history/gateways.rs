//! Which processes run programs on this data folder: this one, others that are alive, and those that are gone.

use std::sync::atomic::Ordering;

use super::History;
use crate::clock::unix_ms;
use crate::store::{GatewayRecord, StoreError};

/// Until something else is said: `gristmill run` and the like.
pub(super) const COMMAND_ROLE: &str = "a command";

impl History {
    /// Says what this gateway does, for whoever looks at several: where it serves.
    pub fn serves_at(&self, role: &str) {
        role.clone_into(&mut self.inner.role.lock());
        self.introduce();
    }

    /// Under which its executions are recorded.
    pub fn own_gateway(&self) -> &str {
        &self.inner.alive.gateway
    }

    /// Those on this data folder that are alive and have run something or serve, the newest first.
    pub async fn gateways(&self) -> Result<Vec<GatewayRecord>, StoreError> {
        self.inner.store.find_gateways(self.inner.alive.all_alive()).await
    }

    /// One by its id, alive or gone.
    pub async fn gateway_of(&self, id: &str) -> Result<Option<GatewayRecord>, StoreError> {
        Ok(self.inner.store.find_gateways(vec![id.to_owned()]).await?.pop())
    }

    /// Whether it is still there.
    pub fn is_alive(&self, gateway: &str) -> bool {
        self.inner.alive.all_alive().iter().any(|alive| alive == gateway)
    }

    /// Before its first execution: most commands have none.
    pub(super) fn introduce_once(&self) {
        if !self.inner.is_introduced.load(Ordering::Relaxed) {
            self.introduce();
        }
    }

    fn introduce(&self) {
        let super::Inner { store, alive, role, is_introduced, began, .. } = &*self.inner;
        is_introduced.store(true, Ordering::Relaxed);
        store.note_gateway(GatewayRecord {
            id: alive.gateway.clone(),
            pid: u64::from(std::process::id()),
            role: role.lock().clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_ms: unix_ms(*began),
        });
    }
}
