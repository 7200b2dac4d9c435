//! `gristmill cluster …`: the machines that run programs together.

#[cfg(feature = "cluster")]
mod drain;
#[cfg(feature = "cluster")]
mod join;
#[cfg(feature = "cluster")]
mod key;
#[cfg(feature = "cluster")]
mod status;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Outcome;
use crate::arguments::ConfigFile;
use crate::local_time::TimeArguments;

#[derive(Args)]
pub struct ClusterArguments {
    #[command(subcommand)]
    pub command: ClusterCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum ClusterCommand {
    /// List the nodes and gateways that are up
    Status {
        /// Print as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        times: TimeArguments,
    },
    /// Have a node take no new programs; those that run there finish
    Drain {
        /// The node's name
        node: String,
        /// Have it take programs again
        #[arg(long)]
        off: bool,
        /// Wait until no program runs there
        #[arg(long, conflicts_with = "off")]
        wait: bool,
    },
    /// Print a new key for a state that gateways share
    Key,
    /// Join a cluster: try the connection, then write [cluster] to your configuration
    Join(JoinArguments),
}

#[derive(Args)]
pub struct JoinArguments {
    /// NATS servers of one bus, such as tls://nats.example.com:4222
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<String>,

    /// Which cluster on that bus [default: gristmill]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// What this machine is called [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,

    /// Its NKey seed, as a reference such as '${file:/etc/gristmill/node.nk}'
    #[arg(long, value_name = "REFERENCE")]
    pub nkey: Option<String>,

    /// The root certificate that the bus's comes from [default: the system's]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

#[cfg(not(feature = "cluster"))]
pub async fn cluster(_arguments: ClusterArguments) -> Outcome {
    Err(crate::cluster::not_built())
}

#[cfg(feature = "cluster")]
pub async fn cluster(arguments: ClusterArguments) -> Outcome {
    use gristmill_config::Flags;

    let flags = Flags { config: arguments.config.config, ..Flags::default() };
    match arguments.command {
        ClusterCommand::Status { json, times } => status::status(&flags, json, times).await,
        ClusterCommand::Drain { node, off, wait } => drain::drain(&flags, &node, off, wait).await,
        ClusterCommand::Key => key::key(),
        ClusterCommand::Join(join) => join::join(&flags, join).await,
    }
}
