//! The audit of the data folder, for commands that change something an auditor may ask about.

use std::path::PathBuf;
use std::sync::Arc;

use gristmill_config::{self as config, Config, Flags, Surroundings};
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
    note_all(configured, [event]);
}

/// The same for several events.
pub fn note_all(configured: &Configured, events: impl IntoIterator<Item = AuditEvent>) {
    let mut events = events.into_iter().peekable();
    if events.peek().is_none() {
        return;
    }
    if let Some(audit) = open_or_warn(configured) {
        events.for_each(|event| AuditLog::note(&audit, event));
    }
}

/// The same for a command that changed files, whatever else is wrong with the configuration.
pub fn note_changes(flags: &Flags, events: impl IntoIterator<Item = AuditEvent>) {
    let Ok(surroundings) = Surroundings::of_this_process() else { return };
    let config = config::load(&surroundings, flags).config;
    note_all(&Configured { config, surroundings }, events);
}

/// The same for a change that may be of the audit itself: turned off, it still hears of that.
pub fn note_changes_since(before: Config, flags: &Flags, event: AuditEvent) {
    let Ok(surroundings) = Surroundings::of_this_process() else { return };
    let config = if before.audit.enabled { before } else { config::load(&surroundings, flags).config };
    note(&Configured { config, surroundings }, event);
}

/// For a command that seldom has something to note: the database is opened only for that, and closed again.
/// Waits for the disk, then.
pub struct OpenedWhenNeeded {
    data: PathBuf,
    settings: AuditSettings,
}

impl OpenedWhenNeeded {
    /// `None` if nothing is to be noted.
    pub fn of(configured: &Configured) -> Option<Arc<dyn AuditLog>> {
        let settings = configured.config.audit.wanted()?;
        let data = configured.data_folder().ok()?;
        Some(Arc::new(Self { data, settings }))
    }
}

impl AuditLog for OpenedWhenNeeded {
    fn note(&self, event: AuditEvent) {
        match Store::open(&self.data) {
            Ok(store) => {
                if let (_store, Some(audit)) = attach(store, Some(self.settings)) {
                    AuditLog::note(&audit, event);
                }
            }
            Err(error) => eprint_lines(&format!("warning: this isn't in the audit: {error}")),
        }
    }
}

/// For a gateway that keeps nothing.
pub struct NoAudit;

impl AuditLog for NoAudit {
    fn note(&self, _event: AuditEvent) {}
}

/// Everything that was noted is on the disk afterwards, or it is said why not.
pub async fn finish(audit: &Audit) {
    if let Err(error) = audit.sign().await {
        eprint_lines(&format!("warning: this isn't in the audit: {error}"));
    }
}
