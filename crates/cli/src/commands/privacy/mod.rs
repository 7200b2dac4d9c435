//! `gristmill privacy`: what is recognized as personal data, and what is kept of it.

mod scan;
mod vault;

use clap::{Args, Subcommand};

use super::Outcome;

#[derive(Args)]
pub struct PrivacyArguments {
    #[command(subcommand)]
    command: PrivacyCommand,
}

#[derive(Subcommand)]
enum PrivacyCommand {
    /// Find personal data and secrets in a file
    Scan(scan::ScanArguments),
    /// Manage the values that tokens stand for
    Vault(vault::VaultArguments),
}

pub async fn privacy(arguments: PrivacyArguments) -> Outcome {
    match arguments.command {
        PrivacyCommand::Scan(arguments) => scan::scan(&arguments),
        PrivacyCommand::Vault(arguments) => vault::vault(arguments).await,
    }
}
