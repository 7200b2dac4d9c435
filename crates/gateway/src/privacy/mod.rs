//! Personal data on its way: where it is replaced by tokens, and where tokens become values again.

mod settings;
mod vault;

pub use gristmill_privacy::{Allow, AllowField, Detector, Kind, Settings as DetectorSettings, SettingsError};
pub use settings::{PrivacySettings, RestoreRule};
pub use vault::{Kept, Vault, VaultError, VaultLine, Wanted, Wipe};
