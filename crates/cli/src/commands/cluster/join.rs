//! `gristmill cluster join`: the connection is tried, and then the configuration says it.

use std::process::ExitCode;

use gristmill_cluster::Insist;
use gristmill_config::commands::add::{Scope, renew_approval};
use gristmill_config::commands::join_cluster::{ClusterWishes, JoinError, Joining, prepare};
use gristmill_config::{Flags, Surroundings};
use gristmill_gateway::audit::{AuditEvent, ConfigChange};

use super::super::{Failure, Outcome};
use super::JoinArguments;
use crate::audit_log::note_changes;
use crate::cluster;
use crate::hints::hint;
use crate::terminal::{eprint_lines, print_lines};

pub async fn join(flags: &Flags, arguments: JoinArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let scope = flags.config.clone().map_or(Scope::User, Scope::File);
    let JoinArguments { urls, name, node, nkey, ca } = arguments;
    let joining = prepare(&surroundings, &scope, &ClusterWishes { urls, name, node, nkey, ca });
    let joining = joining.map_err(|error| match error {
        JoinError::Edit(_) | JoinError::Place(_) | JoinError::OthersFile(_) => Failure::Usage(error.into()),
        JoinError::Mistakes(_) => Failure::Configuration(error.into()),
    })?;
    let bus = cluster::connect(&joining.cluster, "join", Insist::No).await?;
    let seen = cluster::look_around(&bus).await?;
    write(flags, &surroundings, &joining)?;
    tell(&joining, seen.nodes.len(), seen.gateways.len())
}

fn write(flags: &Flags, surroundings: &Surroundings, joining: &Joining) -> Result<(), Failure> {
    let path = joining.path.display().to_string();
    let Some(edited) = joining.write().map_err(|error| Failure::Usage(error.into()))? else {
        print_lines(&format!("{path} says so already"));
        return Ok(());
    };
    let renewed = renew_approval(surroundings, &joining.path, &joining.path, &edited);
    renewed.map_err(|error| Failure::Internal(error.into()))?;
    let event = AuditEvent::config_changed(ConfigChange::SettingsChanged, &path);
    note_changes(flags, [event.of_settings(&joining.keys())]);
    print_lines(&format!("wrote [cluster] to {path}"));
    Ok(())
}

fn tell(joining: &Joining, nodes: usize, gateways: usize) -> Outcome {
    let Some(settings) = &joining.cluster.settings else { return Ok(ExitCode::SUCCESS) };
    let node = settings.node.clone().unwrap_or_else(cluster::host_node_name);
    print_lines(&format!(
        "connected to cluster {} as {node}: nodes {nodes}, gateways {gateways}",
        settings.name
    ));
    if settings.nkey.is_none() && settings.client_certificate.is_none() {
        eprint_lines("note: the bus let you in without a key; anybody who reaches it can join, too");
    }
    if !settings.uses_nodes() {
        hint(
            "`gristmill worker-node` makes this machine a node; `run = \"nodes\"` under [cluster] has a gateway use nodes",
        );
    } else {
        hint("restart `gristmill serve` to use the nodes; `gristmill cluster status` lists them");
    }
    Ok(ExitCode::SUCCESS)
}
