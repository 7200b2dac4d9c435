//! State that gateways share: one of them leads, the others have copies and stand by.

mod timing;

pub mod blobs;
pub mod log;

mod contents;
mod error;
mod folder;
mod log_entries;
mod needed;
mod restoring;
mod scopes;
mod snapshots;

mod leading;
mod standing_by;

pub use error::StateError;
pub use leading::Lead;
pub use standing_by::{StandBy, StateSettings, Waited};
