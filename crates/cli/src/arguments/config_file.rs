//! Which configuration is read, and which is changed.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Clone, Default)]
pub struct ConfigFile {
    /// Read only this configuration file
    #[arg(long = "config", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Args, Clone, Default)]
pub struct ScopeArguments {
    /// Change the project's configuration instead of your own
    #[arg(long)]
    pub project: bool,

    /// Change your own configuration (the default)
    #[arg(long, conflicts_with = "project")]
    pub user: bool,

    /// Change this configuration file
    #[arg(long = "config", value_name = "FILE", conflicts_with_all = ["project", "user"])]
    pub config: Option<PathBuf>,
}

impl ScopeArguments {
    /// Whether any of them was said.
    pub fn is_given(&self) -> bool {
        self.project || self.user || self.config.is_some()
    }
}
