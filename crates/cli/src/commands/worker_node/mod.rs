//! `gristmill worker-node`: runs programs for gateways on other machines, until it is stopped.

#[cfg(feature = "cluster")]
mod running;

use clap::Args;

use crate::arguments::ConfigFile;

#[cfg(feature = "cluster")]
pub use running::worker_node;

#[derive(Args)]
pub struct WorkerNode {
    /// What this machine is, for programs that ask for it; beside `labels` under [cluster]
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,

    /// How many programs it runs at once [default: four for each core, at least 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub places: Option<u64>,

    /// What it's called [default: `node` under [cluster], or the host name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[cfg(not(feature = "cluster"))]
pub async fn worker_node(_arguments: WorkerNode) -> super::Outcome {
    Err(crate::cluster::not_built())
}
