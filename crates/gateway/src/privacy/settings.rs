//! What is looked for, and where tokens may become values again.

use gristmill_domain::{Level, PrivacyMode};
use gristmill_privacy::Kind;

/// All that can be set.
#[derive(Clone, Debug)]
pub struct PrivacySettings {
    /// How far personal data may go; a server or a token can be stricter.
    pub mode: PrivacyMode,
    /// What is looked for.
    pub detector: gristmill_privacy::Settings,
    /// Where tokens become values again. The first that fits counts; [`RestoreRule`] has what holds without.
    pub restore: Vec<RestoreRule>,
    /// Kinds that a model may have back. At `development` it may have all.
    pub restore_to_model: Vec<Kind>,
}

impl PrivacySettings {
    /// What a level does if nothing is set.
    pub fn of(level: Level) -> Self {
        Self {
            mode: PrivacyMode::of(level),
            detector: gristmill_privacy::Settings::default(),
            restore: Vec::new(),
            restore_to_model: Vec::new(),
        }
    }
}

/// Whether some kinds may go to some tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreRule {
    /// All if there are none.
    pub kinds: Vec<Kind>,
    /// As `server.tool`, with stars.
    pub to: String,
    /// Arguments by their names, as `message.to`, with stars; all if there are none.
    pub fields: Vec<String>,
    pub allow: bool,
}
