//! The audit of the data folder, for commands that change something an auditor may ask about.

use std::sync::Arc;

use gristmill_gateway::audit::{Audit, AuditEvent, AuditSettings};
use gristmill_gateway::ports::AuditLog;
use gristmill_gateway::store::Store;

use crate::failure::Failure;
use crate::terminal::eprint_lines;
use crate::upstreams::Configured;

/// The database of the data folder, which tells the audit of changes.
pub fn open(configured: &Configured) -> Result<(Store, Option<Audit>), Failure> {
    let store = Store::open(&configured.data_folder()?).map_err(|error| Failure::Usage(error.into()))?;
    Ok(attach(store, configured.config.audit.wanted()))
}

/// A database that tells the audit of changes, if there is to be one. One that cannot be had stops nothing:
/// that is said.
pub fn attach(store: Store, settings: Option<AuditSettings>) -> (Store, Option<Audit>) {
    let settings = settings.filter(|_| store.folder().is_some());
    match settings.map(|settings| Audit::open(&store, settings)) {
        None => (store, None),
        Some(Ok(audit)) => (store.with_audit(Arc::new(audit.clone())), Some(audit)),
        Some(Err(error)) => {
            eprint_lines(&format!("warning: no audit is written: {error}"));
            (store, None)
        }
    }
}

/// The audit alone, for a command that does without it as well.
pub fn open_or_warn(configured: &Configured) -> Option<Audit> {
    if !configured.config.audit.enabled {
        return None;
    }
    match open(configured) {
        Ok((_store, audit)) => audit,
        Err(failure) => {
            let (Failure::Usage(error) | Failure::Configuration(error) | Failure::Internal(error)) = failure;
            eprint_lines(&format!("warning: this isn't in the audit: {error:#}"));
            None
        }
    }
}

/// Notes what a command has done, before it says so. It is on the disk afterwards.
pub fn note(configured: &Configured, event: AuditEvent) {
    if let Some(audit) = open_or_warn(configured) {
        AuditLog::note(&audit, event);
    }
}

/// Everything that was noted is on the disk afterwards, or it is said why not.
pub async fn finish(audit: &Audit) {
    if let Err(error) = audit.sign().await {
        eprint_lines(&format!("warning: this isn't in the audit: {error}"));
    }
}
