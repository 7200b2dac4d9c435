//! Personal data on its way: where it is replaced by tokens, and where tokens become values again.

mod settings;

pub use gristmill_privacy::{Allow, AllowField, Detector, Kind, Settings as DetectorSettings, SettingsError};
pub use settings::{PrivacySettings, RestoreRule};
