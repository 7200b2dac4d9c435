//! A gateway in its cluster: the nodes that its programs may run on, and the programs of others that it runs itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gristmill_cluster::{
    Bus, Label, NodeName, NodeSettings, Nodes, NodesSettings, Placing, StateRole, run_node,
};
use gristmill_config::ClusterSettings;
use gristmill_files::make_private_folder;
use gristmill_gateway::ports::{RemoteProgram, RemoteWorkers};
use gristmill_gateway::{Folders, Gateway};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::bus::{connect_and_stay, labels_of, node_cache, node_name};
use crate::failure::Failure;
use crate::terminal::eprint_lines;
use crate::upstreams::Configured;

/// What is on its way to nodes lies here while it's too large for memory, in files without names.
const SCRATCH_NAME: &str = "cluster";

/// Nothing, if no cluster is configured.
pub struct Member(Option<Joined>);

struct Joined {
    bus: Bus,
    name: NodeName,
    nodes: Arc<Nodes>,
    takes: Takes,
    stop: CancellationToken,
    running: Option<JoinHandle<()>>,
}

/// Programs of other gateways.
struct Takes {
    places: usize,
    labels: Vec<Label>,
    cache: PathBuf,
}

impl Member {
    /// As the configuration says. A program waits for `place_wait` if every node is full; `leads` says whether this
    /// gateway leads a state that gateways share.
    pub async fn join(
        configured: Option<&Configured>,
        place_wait: Duration,
        leads: bool,
    ) -> Result<Self, Failure> {
        let Some(configured) = configured else { return Ok(Self(None)) };
        let Some(settings) = &configured.config.cluster.settings else { return Ok(Self(None)) };
        let name = node_name(settings, None)?;
        let folders = Folders::from_environment().map_err(|error| Failure::Internal(error.into()))?;
        let scratch = folders.cache.join(SCRATCH_NAME);
        make_private_folder(&scratch).map_err(|error| Failure::Internal(error.into()))?;
        let takes = Takes {
            places: usize::try_from(settings.takes).unwrap_or_default(),
            labels: labels_of(&settings.labels)?,
            cache: node_cache(&folders, &name)?,
        };
        let placing = placing(settings)?;
        let bus = connect_and_stay(&configured.config.cluster, &format!("gateway {name}")).await?;
        let role = if leads { StateRole::Leads } else { StateRole::Own };
        let nodes = NodesSettings { name: name.clone(), placing, scratch, place_wait, role };
        let nodes = Nodes::start(bus.clone(), nodes).await;
        let nodes = Arc::new(nodes.map_err(|error| Failure::Internal(error.into()))?);
        Ok(Self(Some(Joined { bus, name, nodes, takes, stop: CancellationToken::new(), running: None })))
    }

    pub fn workers(&self) -> Option<Arc<dyn RemoteWorkers>> {
        let joined = self.0.as_ref()?;
        Some(Arc::clone(&joined.nodes) as Arc<dyn RemoteWorkers>)
    }

    /// From here on it runs programs of others, if it is to.
    pub fn take_programs(&mut self, gateway: &Gateway) {
        let Some(joined) = self.0.as_mut().filter(|joined| joined.takes.places > 0) else { return };
        let Takes { places, labels, cache } = &joined.takes;
        let settings = NodeSettings {
            name: joined.name.clone(),
            labels: labels.clone(),
            places: *places,
            cache: cache.clone(),
        };
        let (bus, gateway, stop) = (joined.bus.clone(), gateway.clone(), joined.stop.clone());
        joined.running = Some(tokio::spawn(async move {
            if let Err(error) = run_node(bus, gateway, settings, stop).await {
                eprint_lines(&format!("warning: no programs of other gateways are taken: {error}"));
            }
        }));
    }

    /// Takes nothing new; what runs for others has this long to finish.
    pub async fn leave(self, grace: Duration) {
        let Some(Joined { stop, running, .. }) = self.0 else { return };
        stop.cancel();
        if let Some(running) = running {
            // What still runs then ends with this process.
            let _ = tokio::time::timeout(grace, running).await;
        }
    }
}

fn placing(settings: &ClusterSettings) -> Result<Placing, Failure> {
    // A rule whose labels could not be read would let its programs go to any node.
    for rule in &settings.places {
        labels_of(&rule.labels)?;
    }
    let settings = settings.clone();
    Ok(Arc::new(move |program: &RemoteProgram| {
        let (run, labels) = settings.place_of(program);
        (run, labels.iter().filter_map(|label| label.parse().ok()).collect())
    }))
}
