//! Which configuration is read, and which is changed.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Clone, Default)]
pub struct ConfigFile {
    /// The configuration file, instead of those that are looked for
    #[arg(long = "config", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Args, Clone, Default)]
pub struct ScopeArguments {
    /// Change the project's file instead of your own
    #[arg(long)]
    pub project: bool,

    /// Change your own file (the default)
    #[arg(long, conflicts_with = "project")]
    pub user: bool,

    /// Change this file
    #[arg(long = "config", value_name = "FILE", conflicts_with_all = ["project", "user"])]
    pub config: Option<PathBuf>,
}

impl ScopeArguments {
    /// Whether any of them was said.
    pub fn is_given(&self) -> bool {
        self.project || self.user || self.config.is_some()
    }
}
