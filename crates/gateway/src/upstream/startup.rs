//! How upstreams are started.

use std::path::PathBuf;
use std::sync::Arc;

use super::guard::Guard;
use crate::learned::Learner;
use crate::ports::{AuditLog, CallObserver};
use crate::privacy::Privacy;

/// When servers are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// Not by itself, not even one of which nothing is known.
    Never,
    /// When a call needs one; at once, if nothing is known of it.
    #[default]
    WhenUsed,
    /// At once, all of them, while nobody waits.
    InBackground,
}

/// How upstreams are started.
#[derive(Clone, Default)]
pub struct Startup {
    /// When servers are reached.
    pub refresh: Refresh,
    /// Whether servers are told that they may ask questions. Without it they are told that nobody is
    /// there to answer.
    pub can_ask: bool,
    /// Who hears of everything that is sent to a server.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Who hears of what is approved without a person: at first sight, or by a server's `accept`.
    pub audit: Option<Arc<dyn AuditLog>>,
    /// Who may call what; `None` if whoever calls has decided that already.
    pub guard: Option<Arc<Guard>>,
    /// What becomes of personal data; `None` if it goes as it is.
    pub privacy: Option<Privacy>,
    /// Who learns from answers what they look like, and tells; `None` if nobody does.
    pub learner: Option<Learner>,
    /// How tools are found.
    pub search: SearchSettings,
}

/// How tools are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSettings {
    /// By what words mean, too, where the build has an encoder.
    pub by_meaning: bool,
    /// By what the same owner's programs called after they had searched for something like it.
    pub by_use: bool,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { by_meaning: true, by_use: true }
    }
}

impl From<Refresh> for Startup {
    fn from(refresh: Refresh) -> Self {
        Self { refresh, ..Self::default() }
    }
}

/// Where upstreams keep what they know.
#[derive(Clone, Debug)]
pub struct UpstreamFolders {
    /// What must last: approvals.
    pub data: PathBuf,
    /// What can be made again: offers, trees, logs.
    pub cache: PathBuf,
}
