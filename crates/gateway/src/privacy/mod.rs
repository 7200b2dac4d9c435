//! Personal data, and what stands for it.

mod vault;

pub use vault::{Kept, Vault, VaultError, VaultLine, Wanted, Wipe};
