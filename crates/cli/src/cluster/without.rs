//! What is left of clusters in a build without them: words.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use gristmill_gateway::Gateway;
use gristmill_gateway::ports::{RemoteWorkers, SharedState};
use gristmill_http::PassedOn;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::commands::listen::ListenArguments;
use crate::failure::Failure;
use crate::upstreams::Configured;

pub const HOW_TO_BUILD: &str = "build it with `cargo install --path crates/cli --features cluster`";

/// What the commands of a cluster say.
pub fn not_built() -> Failure {
    Failure::Usage(anyhow!("this build has no cluster support; {HOW_TO_BUILD}"))
}

/// A gateway on its own.
pub struct Member;

impl Member {
    /// A gateway that is told to be in a cluster, and can't, would run programs where they aren't meant to run.
    pub async fn join(
        configured: Option<&Configured>,
        _place_wait: Duration,
        _leads: bool,
    ) -> Result<Self, Failure> {
        let cluster = configured.map(|configured| &configured.config.cluster);
        match cluster.filter(|cluster| cluster.settings.is_some()) {
            Some(cluster) => Err(Failure::Configuration(anyhow!(
                "{}: `[cluster]` needs a build with cluster support; {HOW_TO_BUILD}\nhint: or remove the table",
                cluster.origin
            ))),
            None => Ok(Self),
        }
    }

    pub fn workers(&self) -> Option<Arc<dyn RemoteWorkers>> {
        None
    }

    pub fn take_programs(&mut self, _gateway: &Gateway) {}

    pub async fn leave(self, _grace: Duration) {}
}

/// A gateway's state is its own.
pub struct Turn;

impl Turn {
    /// [`Member::join`] says what is wrong where it's configured otherwise.
    pub async fn wait(
        _configured: Option<&Configured>,
        _data: Option<&Path>,
        _listen: &ListenArguments,
    ) -> Result<Self, Failure> {
        Ok(Self)
    }

    pub fn state(&self) -> Option<Arc<dyn SharedState>> {
        None
    }

    pub fn leads(&self) -> bool {
        false
    }

    pub fn is_stopped(&self) -> bool {
        false
    }

    pub fn take_listener(&mut self) -> Option<TcpListener> {
        None
    }

    pub fn take_incoming(&mut self) -> Option<mpsc::Receiver<PassedOn>> {
        None
    }

    pub fn was_told_to_stop(&self) -> bool {
        false
    }

    pub fn overtaken(&self) -> Option<CancellationToken> {
        None
    }

    pub async fn end(self) {}
}
