//! A node at work: a gateway that has nothing but engines, and whoever it runs programs for.

use std::num::NonZero;
use std::process::ExitCode;

use gristmill_cluster::{Label, NodeSettings, STOP_GRACE, run_node};
use gristmill_config::{ClusterSettings, Flags};
use gristmill_gateway::domain::counted;
use gristmill_gateway::{Folders, Gateway, Settings, WorkerCommand};
use tokio_util::sync::CancellationToken;

use super::super::{Failure, Outcome};
use super::WorkerNode;
use crate::terminal::eprint_lines;
use crate::upstreams::{self, Configured};
use crate::{cluster, data_store, gateway_log, native_engine};

/// Programs at once, for each core and at least, as a gateway has them.
const PLACES_PER_CORE: usize = 4;
const PLACES_MIN: usize = 16;

pub async fn worker_node(arguments: WorkerNode) -> Outcome {
    let _log = gateway_log::on_stderr()?;
    let flags = Flags { config: arguments.config.config.clone(), ..Flags::default() };
    let configured = upstreams::read_without_servers(&flags)?;
    let wanted = cluster::settings_of(&configured)?;
    let node = node_settings(&arguments, wanted)?;
    let name = format!("node {}", node.name);
    let bus = cluster::connect_and_stay(&configured.config.cluster, &name).await?;
    let gateway = Gateway::build(gateway_settings(&configured, node.places)?).await;
    let gateway = gateway.map_err(data_store::build_failure)?;
    data_store::print_problems(&gateway);
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone());
    eprint_lines(&format!(
        "node {} of cluster {}: {}{}; Ctrl-C to stop",
        node.name,
        wanted.name,
        counted(node.places, "place"),
        labels_shown(&node.labels),
    ));
    let ran = run_node(bus, gateway.clone(), node, stop).await;
    gateway.shutdown().await;
    ran.map(|()| ExitCode::SUCCESS).map_err(|error| Failure::Internal(error.into()))
}

fn node_settings(arguments: &WorkerNode, wanted: &ClusterSettings) -> Result<NodeSettings, Failure> {
    let folders = Folders::from_environment().map_err(|error| Failure::Internal(error.into()))?;
    let name = cluster::node_name(wanted, arguments.name.as_deref())?;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let places = arguments.places.and_then(|places| usize::try_from(places).ok());
    Ok(NodeSettings {
        labels: cluster::labels_of(wanted.labels.iter().chain(&arguments.labels))?,
        places: places.unwrap_or_else(|| (cores * PLACES_PER_CORE).max(PLACES_MIN)),
        cache: cluster::node_cache(&folders, &name)?,
        name,
    })
}

/// Engines, limits and levels of the configuration, and nothing that lasts: no servers, no database.
fn gateway_settings(configured: &Configured, places: usize) -> Result<Settings, Failure> {
    let worker = WorkerCommand::this_executable().map_err(|error| Failure::Internal(error.into()))?;
    let config = &configured.config;
    let mut settings = Settings::new(worker);
    settings.limits = config.limits.clone();
    settings.warm_engines.clone_from(&config.engines.warm);
    settings.native = native_engine::of(config)?;
    settings.wasm_packages = native_engine::wasm_packages(config);
    settings.concurrent_executions = Some(places);
    Ok(settings)
}

fn labels_shown(labels: &[Label]) -> String {
    let labels: Vec<String> = labels.iter().map(Label::to_string).collect();
    if labels.is_empty() { String::new() } else { format!(", labels {}", labels.join(", ")) }
}

/// The first signal drains; the second one does not wait. They are heard as soon as this returns.
fn stop_on_signal(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    tokio::spawn(async move {
        for _ in 0..2 {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if stop.is_cancelled() {
                std::process::exit(130);
            }
            let grace = STOP_GRACE.as_secs();
            eprint_lines(&format!(
                "stopping: running programs have {grace} s to finish; press Ctrl-C again to stop now"
            ));
            stop.cancel();
        }
    });
}
