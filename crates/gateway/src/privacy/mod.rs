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
mod replace;
mod restore;
mod restored;
mod rules;
mod settings;
mod vault;
mod veil;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ids::Caller;
use crate::marks::Scope;
use gristmill_domain::{PrivacyMode, ServerSettings};
use restored::RestoredValues;

pub use gristmill_privacy::{
    Allow, AllowField, Detector, Finding, Kind, Settings as DetectorSettings, SettingsError,
};
pub(crate) use live_output::LiveOutput;
pub(crate) use masks::Masks;
pub use restore::{Destination, NotRestored, RestoredArguments, Told, has_token, is_token};
pub use settings::{PrivacySettings, RestoreRule};
pub use vault::{Kept, Vault, VaultError, VaultLine, Wanted, Wipe};
pub use veil::{Source, Veil};

/// See the module. Cheap to clone: all clones are the same.
#[derive(Clone)]
pub struct Privacy {
    inner: Arc<Inner>,
}

struct Inner {
    settings: PrivacySettings,
    detector: Arc<Detector>,
    vault: Vault,
    /// What servers were sent in the place of tokens.
    restored: RestoredValues,
    /// Whether somebody is hidden more from than the settings say.
    is_stricter_for_some: AtomicBool,
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
        let (restored, is_stricter_for_some) = (RestoredValues::default(), AtomicBool::new(false));
        let inner = Inner { settings, detector, vault, restored, is_stricter_for_some };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Reads what the first phone number would wait for, on a thread of its own, unless nothing is looked for.
    /// Needs a tokio runtime.
    pub fn warm_up(&self) {
        if self.inner.settings.mode == PrivacyMode::Off {
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

    /// What this caller's texts pass on their way to a model or into a record; `None` if they go as they are.
    pub fn veil(&self, caller: &Caller) -> Option<Veil> {
        (self.mode(caller) > PrivacyMode::Off).then(|| self.veil_for(caller))
    }

    /// What a server's answers pass on their way to a program of this caller; `None` if they go as they are.
    pub fn veil_at(&self, caller: &Caller, server: &ServerSettings) -> Option<Veil> {
        (self.mode_at(caller, server) == PrivacyMode::Boundary).then(|| self.veil_for(caller))
    }

    /// The same whatever the mode is, for whoever wants something hidden.
    pub fn veil_for(&self, caller: &Caller) -> Veil {
        Veil::new(self.clone(), Scope::of(caller))
    }

    /// A text for a log, where nobody is who could have it back; `None` if there is nothing in it.
    pub fn without_values(&self, server: &ServerSettings, text: &str) -> Option<String> {
        let mode = self.inner.settings.mode.max(server.privacy.unwrap_or_default());
        if mode == PrivacyMode::Off && !self.inner.is_stricter_for_some.load(Ordering::Relaxed) {
            return None;
        }
        let found = self.inner.detector.scan(text);
        (!found.is_empty()).then(|| replace::in_place(text, &found, replace::bare_labels(&found)))
    }

    /// Where tokens and values are kept.
    pub fn vault(&self) -> &Vault {
        &self.inner.vault
    }

    pub fn settings(&self) -> &PrivacySettings {
        &self.inner.settings
    }
}
