//! What becomes of personal data in a gateway that is about to be built.

use anyhow::anyhow;
use gristmill_gateway::domain::Level;
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
    Privacy::new(settings, vault).map_err(|error| Failure::Usage(anyhow!(error)))
}
