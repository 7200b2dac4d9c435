//! Personal data on its way: where it is replaced by tokens, and where tokens become values again.
//!
//! Whatever goes to a model or into a record passes a [`Veil`]; what a program has sent to a server passes
//! [`Privacy::restore_arguments`]. What tokens stand for is in the vault, by session, or by client where there is none.
//!
//! Walls: a veil never fails. What the vault can't keep becomes `[EMAIL]` without a code, which nobody can
//! restore. A token is restored only for the caller that it was made for, and only where a rule lets it go.

mod fitting;
mod live_output;
mod masks;
mod pieces;
mod places;
mod replacing;
mod restore;
mod restored;
mod rules;
mod searching;
mod settings;
mod source;
#[cfg(test)]
mod tests;
mod vault;
mod veil;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};

use crate::ids::Caller;
use crate::marks::Scope;
use gristmill_domain::{PrivacyMode, ServerSettings};
use restored::RestoredValues;
use searching::SearchRoom;
use vault::SERVERS_MAX;
use veil::Reach;

pub use gristmill_privacy::{
    Allow, AllowField, Detector, Finding, Kind, Settings as DetectorSettings, SettingsError,
};
pub(crate) use live_output::LiveOutput;
pub(crate) use masks::Masks;
pub use restore::{Destination, NotRestored, RestoredArguments, Told, has_token, is_token, token_count};
pub(crate) use searching::Searching;
pub use settings::{PrivacySettings, RestoreRule};
pub use source::Source;
pub use vault::{Kept, Vault, VaultError, VaultLine, Wanted, Wipe};
pub use veil::Veil;

/// See the module. Cheap to clone: all clones are the same.
#[derive(Clone)]
pub struct Privacy {
    inner: Arc<Inner>,
}

struct Inner {
    settings: PrivacySettings,
    detector: Arc<Detector>,
    vault: Vault,
    /// How far personal data of each server may go, beside what holds for all.
    servers: RwLock<HashMap<String, PrivacyMode>>,
    /// What servers were sent in the place of tokens.
    restored: RestoredValues,
    /// Whether somebody is hidden more from than the settings say.
    is_stricter_for_some: AtomicBool,
    /// For what is searched on threads of its own.
    search_room: SearchRoom,
    /// How many values were found, by kind.
    found: Mutex<BTreeMap<Kind, u64>>,
}

impl std::fmt::Debug for Privacy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Privacy({})", self.inner.settings.mode)
    }
}

impl Privacy {
    /// Compiles what is looked for.
    pub fn new(settings: PrivacySettings, vault: Vault) -> Result<Self, SettingsError> {
        let detector = Arc::new(Detector::new(&settings.detector)?);
        let (servers, restored) = (RwLock::default(), RestoredValues::default());
        let is_stricter_for_some = AtomicBool::new(false);
        let (search_room, found) = (SearchRoom::default(), Mutex::default());
        let inner =
            Inner { settings, detector, vault, servers, restored, is_stricter_for_some, search_room, found };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Takes note of how strict servers are. Those that are gone stay as strict as they were.
    pub(crate) fn learn<'s>(&self, servers: impl IntoIterator<Item = &'s ServerSettings>) {
        let modes = servers.into_iter().map(|one| (one.name.clone(), one.privacy.unwrap_or_default()));
        self.inner.servers.write().extend(modes);
    }

    /// Reads what the first phone number would wait for, on a thread of its own, unless nothing is looked for.
    /// Needs a tokio runtime.
    pub fn warm_up(&self) {
        if self.inner.settings.mode.max(self.strictest()) == PrivacyMode::Off {
            return;
        }
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || inner.detector.scan("phone: +49 30 901820"));
    }

    /// How far personal data may go for a caller.
    pub fn mode(&self, caller: &Caller) -> PrivacyMode {
        let limits = caller.token.as_ref().and_then(|token| token.limits.as_ref());
        let own = limits.and_then(|limits| limits.privacy).unwrap_or_default();
        self.is_also_used_with(own);
        self.inner.settings.mode.max(own)
    }

    /// There are callers of this mode: what nobody knows whose it is, such as a log, is as strict from now on.
    pub fn is_also_used_with(&self, mode: PrivacyMode) {
        if mode > PrivacyMode::Off && !self.inner.is_stricter_for_some.load(Ordering::Relaxed) {
            self.inner.is_stricter_for_some.store(true, Ordering::Relaxed);
        }
    }

    /// The same for what comes from a server.
    pub fn mode_at(&self, caller: &Caller, server: &ServerSettings) -> PrivacyMode {
        self.mode(caller).max(server.privacy.unwrap_or_default())
    }

    /// The same for a value that is kept: the strictest of the servers that it came from counts.
    pub fn mode_of(&self, caller: &Caller, kept: &Kept) -> PrivacyMode {
        self.mode(caller).max(self.mode_from(&kept.servers).unwrap_or_default())
    }

    /// Whether anything is hidden from anybody.
    pub fn is_on(&self, caller: &Caller) -> bool {
        self.mode(caller).max(self.strictest()) > PrivacyMode::Off
    }

    /// Whether there are values that programs may not have.
    pub fn guards(&self, caller: &Caller) -> bool {
        self.mode(caller).max(self.strictest()) == PrivacyMode::Boundary
    }

    /// What this caller's texts pass on their way to a model or into a record; `None` if they go as they are. If
    /// only some servers are stricter, what they have said is hidden.
    pub fn veil(&self, caller: &Caller) -> Option<Veil> {
        match (self.mode(caller), self.strictest()) {
            (PrivacyMode::Off, PrivacyMode::Off) => None,
            (PrivacyMode::Off, PrivacyMode::Output | PrivacyMode::Boundary) => {
                Some(self.veil_of(caller, Reach::Said(PrivacyMode::Output)))
            }
            (PrivacyMode::Output | PrivacyMode::Boundary, _) => Some(self.veil_for(caller)),
        }
    }

    /// What a server's answers pass on their way to a program of this caller; `None` if they go as they are. No
    /// server tells a program what another one keeps from it.
    pub fn veil_at(&self, caller: &Caller, server: &ServerSettings) -> Option<Veil> {
        match (self.mode_at(caller, server), self.strictest()) {
            (PrivacyMode::Boundary, _) => Some(self.veil_for(caller)),
            (_, PrivacyMode::Boundary) => Some(self.veil_of(caller, Reach::Said(PrivacyMode::Boundary))),
            (_, PrivacyMode::Off | PrivacyMode::Output) => None,
        }
    }

    /// What looks at a server's answers, which go as they are, so that a model doesn't get what is in them; `None`
    /// if that is looked for anyway.
    pub fn remembering_at(&self, caller: &Caller, server: &ServerSettings) -> Option<Veil> {
        let mode = self.mode_at(caller, server);
        let is_needed = mode == PrivacyMode::Output && self.mode(caller) == PrivacyMode::Off;
        is_needed.then(|| self.veil_for(caller).remembering(mode))
    }

    /// What arguments for a server pass before people, plans and records see them; `None` if they go as they are.
    pub fn veil_to(&self, caller: &Caller, server: &ServerSettings) -> Option<Veil> {
        match self.mode_at(caller, server) {
            PrivacyMode::Off => self.veil(caller),
            PrivacyMode::Output | PrivacyMode::Boundary => Some(self.veil_for(caller)),
        }
    }

    /// The same whatever the mode is, for whoever wants something hidden.
    pub fn veil_for(&self, caller: &Caller) -> Veil {
        self.veil_of(caller, Reach::Found)
    }

    fn veil_of(&self, caller: &Caller, reach: Reach) -> Veil {
        Veil::new(self.clone(), caller, reach)
    }

    /// The strictest of some servers; of one that nobody knows, nobody knows how strict it was.
    fn mode_from(&self, servers: &[String]) -> Option<PrivacyMode> {
        if servers.len() >= SERVERS_MAX {
            // There may have been others.
            return Some(self.strictest());
        }
        let modes = self.inner.servers.read();
        servers.iter().map(|server| modes.get(server).copied().unwrap_or(PrivacyMode::Boundary)).max()
    }

    fn strictest(&self) -> PrivacyMode {
        self.inner.servers.read().values().copied().max().unwrap_or_default()
    }

    /// A text for a log, where nobody is who could have it back; `None` if there is nothing in it. Nobody knows for
    /// whom a line is, so the strictest mode of all servers and callers counts.
    pub fn without_values(&self, server: &ServerSettings, text: &str) -> Option<String> {
        let of_servers = self.strictest().max(server.privacy.unwrap_or_default());
        let is_stricter_for_some = self.inner.is_stricter_for_some.load(Ordering::Relaxed);
        if self.inner.settings.mode.max(of_servers) == PrivacyMode::Off && !is_stricter_for_some {
            return None;
        }
        let found = self.inner.detector.scan(text);
        (!found.is_empty()).then(|| replacing::with_labels(text, &found))
    }

    /// How many values were found since the gateway began, by the name of their kind; a value that is found in two
    /// texts counts twice. Patterns of the configuration are `custom`.
    pub fn found_by_kind(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (kind, count) in &*self.inner.found.lock() {
            let name = if matches!(kind, Kind::Custom(_)) { "custom" } else { kind.name() };
            *counts.entry(name.to_owned()).or_default() += count;
        }
        counts
    }

    fn count(&self, kinds: impl Iterator<Item = Kind>) {
        let mut found = self.inner.found.lock();
        kinds.for_each(|kind| *found.entry(kind).or_default() += 1);
    }

    /// What finds personal data.
    pub(crate) fn detector(&self) -> Arc<Detector> {
        Arc::clone(&self.inner.detector)
    }

    /// Where tokens and values are kept.
    pub fn vault(&self) -> &Vault {
        &self.inner.vault
    }

    pub fn settings(&self) -> &PrivacySettings {
        &self.inner.settings
    }
}

/// Where a caller's tokens are: in its session, and what the same client was given before it had one.
fn scopes_of(caller: &Caller) -> Vec<Scope> {
    let mut scopes = vec![Scope::of(caller)];
    scopes.extend(caller.session.is_some().then(|| Scope::of_client(caller)));
    scopes
}
