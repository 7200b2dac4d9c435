//! What becomes of personal data in a gateway that is about to be built.

use anyhow::anyhow;
use gristmill_gateway::access::AccessTokens;
use gristmill_gateway::domain::{Level, PrivacyMode};
use gristmill_gateway::privacy::{Privacy, PrivacySettings, Vault};
use gristmill_gateway::store::Store;

use crate::failure::Failure;
use crate::upstreams::Configured;

/// By the configuration, or as the level has it. Without a database tokens are forgotten with the process.
pub fn privacy(
    configured: Option<&Configured>,
    level: Level,
    store: Option<Store>,
) -> Result<Privacy, Failure> {
    let settings = match configured {
        Some(configured) => configured.config.privacy.settings.clone(),
        None => PrivacySettings::of(level),
    };
    let vault = Vault::open(store, None).map_err(|error| Failure::Usage(anyhow!(error)))?;
    let privacy = Privacy::new(settings, vault).map_err(|error| Failure::Usage(anyhow!(error)))?;
    if let Some(folder) = configured.and_then(|configured| configured.data_folder().ok()) {
        privacy.is_also_used_with(strictest_token(&AccessTokens::open(&folder)));
    }
    Ok(privacy)
}

/// What a log must keep to: nobody knows for whom a server writes a line.
fn strictest_token(tokens: &AccessTokens) -> PrivacyMode {
    let Ok(tokens) = tokens.list() else { return PrivacyMode::Output };
    tokens.iter().filter_map(|token| token.limits.privacy).max().unwrap_or_default()
}
