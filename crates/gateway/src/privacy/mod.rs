//! Personal data on its way: where it is replaced by tokens, and where tokens become values again.

mod settings;

pub use settings::{PrivacySettings, RestoreRule};
