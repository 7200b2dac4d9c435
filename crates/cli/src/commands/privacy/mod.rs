//! `gristmill privacy`: what is recognized as personal data, and what is kept of it.

mod allow;
mod restore;
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
    /// Leave values alone from now on
    Allow(allow::AllowArguments),
    /// Let a kind of value go to a tool
    Let(allow::LetArguments),
    /// Print a text with values in the place of tokens; recorded in the audit
    Restore(restore::RestoreArguments),
    /// Manage the values that tokens stand for
    Vault(vault::VaultArguments),
}

pub async fn privacy(arguments: PrivacyArguments) -> Outcome {
    match arguments.command {
        PrivacyCommand::Scan(arguments) => scan::scan(&arguments),
        PrivacyCommand::Allow(arguments) => allow::allow(arguments).await,
        PrivacyCommand::Let(arguments) => allow::let_go(&arguments),
        PrivacyCommand::Restore(arguments) => restore::restore(arguments).await,
        PrivacyCommand::Vault(arguments) => vault::vault(arguments).await,
    }
}
