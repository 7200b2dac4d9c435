//! `gristmill serve`: the gateway as an MCP server, over standard input and output or over HTTP.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use gristmill_gateway::executions::{Executions, KeepLimits};
use gristmill_gateway::upstream::{Refresh, Startup};
use gristmill_gateway::{Gateway, WorkerCommand};
use gristmill_mcp::{Connection, GatewayServer, Profile, ServerLine, ServerParts, front};
use tokio_util::sync::CancellationToken;

use super::{Failure, Outcome};
use crate::arguments::{ConfigFile, LimitArguments};
use crate::config::Flags;
use crate::upstreams;

#[derive(Args)]
pub struct Serve {
    /// Serve over HTTP at this address, such as 127.0.0.1:8770, instead of standard input and output
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,

    /// How many tools callers are shown: minimal, standard or full
    #[arg(long, default_value_t = Profile::Standard)]
    pub profile: Profile,

    /// Seconds after which a caller is answered even if its program still runs
    #[arg(long, value_name = "SECONDS", default_value_t = 50)]
    pub answer_within: u64,

    /// Seconds that running programs get to end when the gateway is told to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub grace: u64,

    /// Connect no server, whatever is configured
    #[arg(long)]
    pub no_servers: bool,

    #[command(flatten)]
    pub config: ConfigFile,

    #[command(flatten)]
    pub limits: LimitArguments,
}

pub async fn serve(arguments: Serve) -> Outcome {
    let configured = match arguments.no_servers {
        true => None,
        false => Some(upstreams::read(&Flags {
            config: arguments.config.config.clone(),
            level: arguments.limits.level,
            ..Flags::default()
        })?),
    };
    let limits = configured.as_ref().map(|configured| configured.config.limits.clone());
    let limits = arguments.limits.resolve(limits).map_err(Failure::Usage)?;
    let worker = WorkerCommand::this_executable().map_err(|error| Failure::Ours(error.into()))?;
    let mut builder = Gateway::builder(worker).limits(limits);
    let (mut connected, mut lines) = (None, Vec::new());
    if let Some(configured) = &configured {
        let usable = configured.usable();
        lines.extend(usable.iter().map(|server| ServerLine {
            name: server.settings.name.clone(),
            description: server.settings.description.clone(),
        }));
        if !usable.is_empty() {
            let upstreams =
                configured.connect(&usable, Startup { refresh: Refresh::Behind, can_ask: true })?;
            builder = builder.tool_source(Arc::new(upstreams.clone()));
            connected = Some(upstreams);
        }
    }
    let gateway = builder.build().await.map_err(|error| Failure::Ours(error.into()))?;
    let executions = Executions::new(gateway.clone(), KeepLimits::default());
    let parts = ServerParts {
        executions: executions.clone(),
        upstreams: connected,
        servers: lines,
        profile: arguments.profile,
        answer_within: Duration::from_secs(arguments.answer_within),
    };
    let connection = if arguments.http.is_some() { Connection::Http } else { Connection::Pipes };
    let server = GatewayServer::new(parts, connection).map_err(|error| Failure::Ours(anyhow!(error)))?;
    let shutdown = CancellationToken::new();
    tokio::spawn(stop_on_signal(shutdown.clone()));
    let served = match arguments.http {
        None => front::serve_stdio(server, shutdown.clone()).await,
        Some(address) => {
            let listener = tokio::net::TcpListener::bind(address).await;
            let listener = listener
                .map_err(|error| Failure::Usage(anyhow!("{address} cannot be listened on: {error}")))?;
            let address = listener.local_addr().map_err(|error| Failure::Ours(error.into()))?;
            eprintln!("listening on http://{address}/mcp");
            front::serve_http(listener, move || server.clone(), shutdown.clone()).await
        }
    };
    // Nobody can ask for what runs any more if the caller has hung up.
    let grace = if shutdown.is_cancelled() { arguments.grace } else { 0 };
    executions.finish(Duration::from_secs(grace)).await;
    gateway.shutdown().await;
    served.map_err(|error| Failure::Ours(anyhow!(error)))?;
    Ok(ExitCode::SUCCESS)
}

/// The first signal asks nicely; the second one does not wait.
async fn stop_on_signal(shutdown: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    for _ in 0..2 {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        if shutdown.is_cancelled() {
            std::process::exit(130);
        }
        shutdown.cancel();
    }
}
