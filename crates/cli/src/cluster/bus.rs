//! From the table `[cluster]` to a connection.

use std::path::PathBuf;

use anyhow::anyhow;
use gristmill_cluster::{
    Bus, BusError, BusSettings, CONNECT_TIMEOUT, Insist, LOOK_AROUND, Label, NodeName, NodePresence,
    Surroundings,
};
use gristmill_config::cluster_table::ClusterConfig;
use gristmill_config::env_file::Variables;
use gristmill_config::{BusUrl, ClusterSettings};
use gristmill_files::{Folders, make_private_folder};
use gristmill_replica::seal::Seal;
use zeroize::Zeroizing;

use super::host_node_name;
use crate::failure::Failure;
use crate::terminal::eprint_lines;
use crate::upstreams::{Configured, secret_context_of};

/// What the configuration says, for a command that can't do without it.
pub fn settings_of(configured: &Configured) -> Result<&ClusterSettings, Failure> {
    configured.config.cluster.settings.as_ref().ok_or_else(|| {
        Failure::Usage(anyhow!(
            "this machine is in no cluster\n\
             hint: `gristmill cluster join tls://nats.example.com:4222` joins one; see `gristmill help cluster`"
        ))
    })
}

/// What this machine is called: as somebody says now, as the configuration says, or by its host name.
pub fn node_name(settings: &ClusterSettings, said: Option<&str>) -> Result<NodeName, Failure> {
    let name = said.or(settings.node.as_deref()).map_or_else(host_node_name, str::to_owned);
    name.parse().map_err(|error| Failure::Usage(anyhow!("{error}")))
}

/// Each once.
pub fn labels_of<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<Vec<Label>, Failure> {
    let mut labels: Vec<Label> = Vec::new();
    for text in texts {
        let label = text.parse().map_err(|error| Failure::Usage(anyhow!("{error}")))?;
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Ok(labels)
}

/// What a node keeps of folders that gateways send. Several on one machine have one each.
pub fn node_cache(folders: &Folders, node: &NodeName) -> Result<PathBuf, Failure> {
    let folder = folders.cache.join("nodes").join(node.as_str());
    make_private_folder(&folder).map_err(|error| Failure::Internal(error.into()))?;
    Ok(folder)
}

/// Connects as the configuration says; `name` is what the bus's own lists show.
pub async fn connect(cluster: &ClusterConfig, name: &str, insist: Insist) -> Result<Bus, Failure> {
    let bus = bus_settings(cluster).await?;
    gristmill_cluster::connect(&bus, name, insist).await.map_err(failure)
}

/// The same for whoever stays: a bus that isn't there yet is told of, and tried again and again.
pub async fn connect_and_stay(cluster: &ClusterConfig, name: &str) -> Result<Bus, Failure> {
    let bus = bus_settings(cluster).await?;
    match gristmill_cluster::connect(&bus, name, Insist::No).await {
        Err(error @ BusError::Connect { .. }) => {
            eprint_lines(&format!("warning: {error}\nnote: trying again"));
            gristmill_cluster::connect(&bus, name, Insist::Yes).await.map_err(failure)
        }
        connected => connected.map_err(failure),
    }
}

/// Everybody who is up.
pub async fn look_around(bus: &Bus) -> Result<Surroundings, Failure> {
    gristmill_cluster::look_around(bus, LOOK_AROUND).await.map_err(failure)
}

/// The same for somebody to whom a bus that can't be used is one finding among others.
pub async fn heard(cluster: &ClusterConfig) -> Result<Surroundings, Failure> {
    let bus = bus_settings(cluster).await?;
    // One that is switched off must not hide the others.
    let wait = CONNECT_TIMEOUT * u32::try_from(bus.urls.len()).unwrap_or(u32::MAX);
    let connecting = gristmill_cluster::connect(&bus, "doctor", Insist::No);
    match tokio::time::timeout(wait, connecting).await {
        Ok(Ok(bus)) => look_around(&bus).await,
        Ok(Err(BusError::Connect { urls: _, why })) => Err(Failure::Usage(anyhow!("can't connect: {why}"))),
        Ok(Err(error)) => Err(failure(error)),
        Err(_) => {
            let wait = wait.as_secs();
            Err(Failure::Usage(anyhow!("can't connect: nobody answers within {wait} s")))
        }
    }
}

/// What this build could do with a node.
pub fn state_of(presence: &NodePresence) -> &'static str {
    match (presence.speaks_another_version(), presence.draining) {
        (Some(_), _) => "other version",
        (None, true) => "draining",
        (None, false) => "ready",
    }
}

/// What seals the state that gateways share; `None` if this one has a state of its own.
pub async fn state_key(cluster: &ClusterConfig) -> Result<Option<Seal>, Failure> {
    let Some(text) = secret(cluster, "state_key").await? else { return Ok(None) };
    let seal = Seal::read(&text);
    seal.map(Some).map_err(|error| {
        Failure::Configuration(anyhow!(
            "{}: `cluster.state_key`: {error}\nhint: `gristmill cluster key` makes one",
            cluster.origin
        ))
    })
}

/// Looked up only now.
async fn secret(cluster: &ClusterConfig, key: &'static str) -> Result<Option<Zeroizing<String>>, Failure> {
    let Some((_, text)) = cluster.secrets().find(|(name, _)| *name == key) else { return Ok(None) };
    let context = secret_context_of(&cluster.origin, &cluster.variables, &Variables::default());
    let found = context.secret(key, text).await;
    let found = found
        .map_err(|error| Failure::Configuration(anyhow!("{}: `cluster.{key}`: {error}", cluster.origin)))?;
    Ok(Some(Zeroizing::new(found.reveal().trim().to_owned())))
}

async fn bus_settings(cluster: &ClusterConfig) -> Result<BusSettings, Failure> {
    let Some(settings) = &cluster.settings else {
        return Err(Failure::Internal(anyhow!("no cluster is configured")));
    };
    let nkey_seed = secret(cluster, "nkey").await?;
    let certificate = settings.client_certificate.as_ref();
    Ok(BusSettings {
        urls: settings.urls.iter().map(BusUrl::as_str).map(str::to_owned).collect(),
        cluster: settings.name.parse().map_err(|error| Failure::Configuration(anyhow!("{error}")))?,
        nkey_seed,
        ca: settings.ca.clone(),
        client_certificate: certificate.map(|both| (both.certificate.clone(), both.key.clone())),
    })
}

fn failure(error: BusError) -> Failure {
    match error {
        BusError::Connect { .. } | BusError::Use(_) => Failure::Usage(error.into()),
        BusError::Random(_) => Failure::Internal(error.into()),
    }
}
