//! `gristmill serve`: the gateway as an MCP server, over standard input and output, or over HTTP at a
//! port or a socket.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gristmill_config::serve_table::{PROFILES, SIGNATURE_TOKENS_MAX, ServeConfig};
use gristmill_config::{ConfiguredServer, Surroundings};
use gristmill_gateway::answer::TOKENS_DEFAULT;
use gristmill_gateway::audit::Audit;
use gristmill_gateway::ports::{AuditLog, SharedState};
use gristmill_gateway::service::Service;
use gristmill_gateway::store::{MEMBER_FILE, Store};
use gristmill_gateway::upstream::{Refresh, Startup, Upstreams};
use gristmill_gateway::{DataSettings, Gateway, Settings, WorkerCommand, trace_every_execution};
use gristmill_http::{Listener, Mount};
use gristmill_logs::{Log, SpanQueue};
use gristmill_mcp::stdio::StdioSettings;
use gristmill_mcp::{Connection, GatewayServer, Profile, ServerLine, ServerParts, SingleCalls};
use tokio_util::sync::CancellationToken;

use super::approval_webhook::{self, Webhook};
use super::listen::{Bound, ListenArguments};
use super::serve_dashboard::Shown;
use super::{Failure, Outcome};
use crate::arguments::answer::ANSWER_TOKENS;
use crate::arguments::{ConfigFile, LimitArguments};
use crate::audit_log::{self, NoAudit};
use crate::cluster::{Member, Turn};
use crate::data_store::{self, DataPlace};
use crate::gateway_log::LogArguments;
use crate::models::{self, ModelChoice};
use crate::native_engine;
use crate::own_sessions;
use crate::privacy::privacy;
use crate::skill_folders;
use crate::terminal::eprint_lines;
use crate::trace_export::{ExportArguments, Exporter};
use crate::type_checker;
use crate::upstreams::{self, Configured};
use crate::watching;

/// What a log's filter calls this.
const LOG_AREA: &str = "gristmill::mcp";

/// What programs of other gateways have to finish here once this one was overtaken: it's to stand by soon.
const LAST_WORDS: Duration = Duration::from_secs(1);

#[derive(Args)]
pub struct Serve {
    #[command(flatten)]
    pub listen: ListenArguments,

    /// Serve figures for Prometheus at /metrics, for tokens with the scope `metrics`
    #[arg(long)]
    pub metrics: bool,

    /// Which of Gristmill's tools clients see [default: minimal, or `serve.profile` of your configuration]
    #[arg(long, value_parser = profile_parser())]
    pub profile: Option<Profile>,

    /// Also show clients call_tool, for single calls without a program
    #[arg(long)]
    pub call_tool: bool,

    /// Also show clients generate_code, which has a program written for a task in words
    #[arg(long)]
    pub generate_code: bool,

    /// Show the signatures of your servers' tools from the start, up to this many tokens; 0 for none [default: 500]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(..=SIGNATURE_TOKENS_MAX))]
    pub signature_tokens: Option<u64>,

    /// Answer after this many seconds, even if the program is still running
    #[arg(long, value_name = "SECONDS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub answer_within: u64,

    /// Condense answers to this many tokens, unless a call or its session sets its own limit
    #[arg(long = "max-tokens", alias = "max-output-tokens", value_name = "TOKENS", default_value_t = TOKENS_DEFAULT as u64, value_parser = clap::value_parser!(u64).range(ANSWER_TOKENS))]
    pub max_output_tokens: u64,

    /// Give running programs this many seconds to finish on shutdown
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub grace: u64,

    /// Keep nothing on disk: no history, sessions or results
    #[arg(long)]
    pub no_state: bool,

    /// Connect no servers
    #[arg(long)]
    pub no_servers: bool,

    #[command(flatten)]
    pub log: LogArguments,

    #[command(flatten)]
    pub export: ExportArguments,

    #[command(flatten)]
    pub config: ConfigFile,

    #[command(flatten)]
    pub limits: LimitArguments,
}

fn profile_parser() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(PROFILES).try_map(|text| text.parse::<Profile>())
}

pub async fn serve(arguments: Serve) -> Outcome {
    arguments.listen.check()?;
    if arguments.metrics && arguments.listen.place().is_none() {
        return Err(Failure::Usage(anyhow!(
            "`--metrics` needs a place to serve them\nhint: add `--http 127.0.0.1:8770`, or `--unix PATH`"
        )));
    }
    let (configured, limits) =
        upstreams::read_with_limits(arguments.no_servers, &arguments.config, &arguments.limits)?;
    let data = upstreams::data_folder(configured.as_ref());
    let (_log, mut exporter) = start_log(&arguments, data.as_deref().ok().filter(|_| !arguments.no_state))?;
    let kept = data.as_deref().ok().filter(|_| !arguments.no_state);
    let mut turn = Turn::wait(configured.as_ref(), kept, &arguments.listen).await?;
    if turn.is_stopped() {
        return Ok(ExitCode::SUCCESS);
    }
    if let (false, Some(data)) = (turn.leads(), kept) {
        check_own(data)?;
    }
    let bound = match turn.take_listener() {
        Some(listener) => Some(Bound::told(listener)),
        None => arguments.listen.bind().await?,
    };
    let (mut settings, audit) = settings_for(&arguments, configured.as_ref(), turn.state()).await?;
    settings.limits = limits;
    let mut member = Member::join(configured.as_ref(), settings.queue_timeout, turn.leads()).await?;
    settings.remote_workers = member.workers();
    if arguments.listen.place().is_none() && io::stdin().is_terminal() {
        eprint_lines(
            "serving MCP on stdio, which is for a client to start; Ctrl-C to stop\n\
             hint: `gristmill connect` adds this command to your client",
        );
    }
    let wanted = configured.as_ref().filter(|_| !arguments.no_servers);
    let store = settings.data.as_ref().map(|data| data.store.clone());
    let telemetry = watching::telemetry(configured.as_ref(), store.clone()).await?;
    let observer = Some(telemetry.observer(audit.as_ref().map(Audit::observer)));
    let noting = audit.as_ref().map_or_else(|| Arc::new(NoAudit) as Arc<dyn AuditLog>, Audit::log);
    settings.telemetry = Some(telemetry);
    settings.privacy = Some(privacy(configured.as_ref(), settings.limits.level(), store.clone())?);
    let webhook = match wanted {
        Some(configured) => approval_webhook::webhook(configured, store.clone()).await?,
        None => None,
    };
    let notify = webhook.as_ref().map(|webhook| Arc::clone(&webhook.notify));
    let connect = |configured: &Configured| {
        let learner = match &settings.privacy {
            Some(privacy) => configured.learner(store.as_ref(), privacy)?,
            None => None,
        };
        let guard = Some(configured.guard_of(&mut settings, store, notify)?);
        let (refresh, privacy) = (Refresh::InBackground, settings.privacy.clone());
        connect(
            configured,
            Startup {
                refresh,
                can_ask: true,
                observer,
                audit: Some(noting),
                guard,
                privacy,
                learner,
                ..Startup::default()
            },
        )
    };
    let connected = wanted.map(connect).transpose()?.flatten();
    if let Some(upstreams) = &connected {
        settings.tools = Arc::new(upstreams.clone());
    }
    let store = settings.data.as_ref().map(|data| data.store.clone());
    let shown = store.map(|store| Shown::of(store, configured.as_ref(), connected.as_ref()));
    let gateway = Gateway::build(settings).await.map_err(data_store::build_failure)?;
    data_store::print_problems(&gateway);
    member.take_programs(&gateway);
    if let Some(exporter) = &mut exporter {
        let counted = gateway.clone();
        exporter.send_metrics(move || counted.metrics_text());
    }
    let parts = parts(&arguments, &gateway, configured, connected)?;
    if let (Some(history), None) = (gateway.history(), arguments.listen.place()) {
        history.serves_at("stdio");
    }
    if let Some(privacy) = gateway.privacy() {
        privacy.warm_up();
    }
    let over = if arguments.listen.place().is_some() { "http" } else { "stdio" };
    tracing::info!(target: LOG_AREA, version = env!("CARGO_PKG_VERSION"), over, "serving");
    let webhook = webhook.as_ref();
    let served = serve_callers(&arguments, &gateway, parts, (bound, data), (webhook, shown), &mut turn).await;
    let is_overtaken = turn.overtaken().is_some_and(|overtaken| overtaken.is_cancelled());
    member.leave(if is_overtaken { LAST_WORDS } else { Duration::from_secs(arguments.grace) }).await;
    gateway.shutdown().await;
    tracing::info!(target: LOG_AREA, ok = served.is_ok(), "stopped");
    if let Some(exporter) = exporter {
        exporter.finish().await;
    }
    turn.end().await;
    served
}

/// Whether a data folder is this gateway's own. While a gateway with the key leads here, nothing else would tell: once
/// it doesn't any more, what is written here would be lost, or be another state's.
fn check_own(data: &Path) -> Result<(), Failure> {
    match data.join(MEMBER_FILE).exists() {
        true => Err(Failure::Usage(anyhow!(
            "the state of {} is shared with other gateways, and this gateway has no `cluster.state_key`\n\
             hint: give it their key, or a data folder of its own with GRISTMILL_DATA_DIR",
            data.display()
        ))),
        false => Ok(()),
    }
}

/// The log, and whoever takes traces and figures to a collector.
fn start_log(arguments: &Serve, data: Option<&Path>) -> Result<(Option<Log>, Option<Exporter>), Failure> {
    let Some(collector) = arguments.export.collector()? else {
        return Ok((arguments.log.start(data, None)?, None));
    };
    let spans = SpanQueue::default();
    let log = arguments.log.start(data, Some(spans.clone()))?;
    trace_every_execution();
    Ok((log, Some(collector.start(spans)?)))
}

/// What outlasts programs, and how many interpreters stay.
async fn settings_for(
    arguments: &Serve,
    configured: Option<&Configured>,
    shared: Option<Arc<dyn SharedState>>,
) -> Result<(Settings, Option<Audit>), Failure> {
    let place = DataPlace::of(configured, &arguments.config)?;
    if arguments.no_state && place.audit.is_some() {
        eprint_lines("note: with --no-state no audit is written, and no history is kept");
    }
    let store = match shared {
        Some(shared) => place.open_shared(shared).await?,
        None => open_store(&place, arguments.no_state)?,
    };
    let (store, audit) = audit_log::attach(store, place.audit);
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let worker = WorkerCommand::this_executable().map_err(|error| Failure::Internal(error.into()))?;
    let mut settings = Settings::new(worker);
    settings.guardrails = upstreams::guardrails(configured);
    if let Some(configured) = configured {
        settings.warm_engines.clone_from(&configured.config.engines.warm);
        settings.native = native_engine::of(&configured.config)?;
        settings.wasm_packages = native_engine::wasm_packages(&configured.config);
    }
    settings.type_check = type_checker::command(upstreams::types_mode(configured));
    settings.kept_interpreters = own_sessions::keep_settings(configured);
    settings.data = Some(DataSettings {
        history: Some(place.history),
        audit: audit.clone(),
        results: Some(place.results),
        sessions: Some(own_sessions::settings(configured)),
        skills: Some(skill_folders::folders(&store, &surroundings)),
        ..DataSettings::new(store)
    });
    Ok((settings, audit))
}

/// The servers behind it, if any can be used.
fn connect(configured: &Configured, startup: Startup) -> Result<Option<Upstreams>, Failure> {
    let usable = configured.usable();
    if usable.is_empty() {
        eprint_lines(
            "note: no servers are connected\nhint: `gristmill import` imports servers from your MCP clients",
        );
    }
    // Those that are not in use keep their names, and programs are told why they can't be imported.
    if configured.config.servers.is_empty() {
        return Ok(None);
    }
    configured.connect(&usable, startup).map(Some)
}

fn parts(
    arguments: &Serve,
    gateway: &Gateway,
    configured: Option<Configured>,
    upstreams: Option<Upstreams>,
) -> Result<ServerParts, Failure> {
    let line = |server: &ConfiguredServer| ServerLine {
        name: server.settings.name.clone(),
        description: server.settings.description.clone(),
    };
    let surface = configured.as_ref().map_or_else(ServeConfig::default, |known| known.config.serve.clone());
    let code_writers = (arguments.generate_code || surface.generate_code)
        .then(|| models::writers(configured.as_ref(), &ModelChoice::default()))
        .transpose()?;
    let servers = configured.map(|configured| configured.usable().into_iter().map(line).collect());
    let profile = arguments.profile.unwrap_or_else(|| surface.profile.parse().unwrap_or_default());
    let signature_tokens = arguments.signature_tokens.unwrap_or(surface.signature_tokens);
    let single_calls = match arguments.call_tool || surface.call_tool {
        true => SingleCalls::ByCallTool,
        false => SingleCalls::InPrograms,
    };
    let sessions =
        gateway.sessions().ok_or_else(|| Failure::Internal(anyhow!("sessions aren't available")))?;
    Ok(ServerParts {
        gateway: gateway.clone(),
        sessions: sessions.clone(),
        upstreams,
        servers: servers.unwrap_or_default(),
        skills: gateway.skills().cloned(),
        profile,
        single_calls,
        code_writers,
        signature_tokens: usize::try_from(signature_tokens).unwrap_or_default(),
        answer_within: Duration::from_secs(arguments.answer_within),
        answer_tokens: usize::try_from(arguments.max_output_tokens).unwrap_or(TOKENS_DEFAULT),
    })
}

/// Serves until the caller hangs up or a signal comes, and lets what runs end.
async fn serve_callers(
    arguments: &Serve,
    gateway: &Gateway,
    parts: ServerParts,
    (bound, data): (Option<Bound>, Result<PathBuf, Failure>),
    (webhook, shown): (Option<&Webhook>, Option<Shown>),
    turn: &mut Turn,
) -> Outcome {
    let connection = if bound.is_some() { Connection::Http } else { Connection::Pipes };
    let server = GatewayServer::new(parts, connection).map_err(|error| Failure::Internal(anyhow!(error)))?;
    let shutdown = CancellationToken::new();
    let stopped = Arc::new(OnceLock::new());
    let service = gateway.service().clone();
    stop_on_signal(shutdown.clone(), service.clone(), arguments.grace, Arc::clone(&stopped));
    let grace = Duration::from_secs(arguments.grace);
    if turn.was_told_to_stop() {
        let _ = stopped.set(Instant::now());
        shutdown.cancel();
    }
    let overtaken = turn.overtaken();
    if let Some(overtaken) = overtaken.clone() {
        let (shutdown, service) = (shutdown.clone(), service.clone());
        tokio::spawn(async move {
            overtaken.cancelled().await;
            shutdown.cancel();
            // Whatever they still did, nobody may be told.
            service.finish(Duration::ZERO).await;
        });
    }
    let served = match bound {
        None => {
            let settings = StdioSettings { grace, ..StdioSettings::default() };
            let served = server.serve_stdio(settings, shutdown.clone()).await;
            served.map_err(|error| Failure::Internal(error.into()))
        }
        Some(bound) => {
            let data = data?;
            // No browser reaches a socket.
            let shown = shown.filter(|_| matches!(bound.listener, Listener::Tcp(_)));
            let audit = gateway.audit().map(|audit| audit as &dyn AuditLog);
            let mut settings = arguments.listen.settings_for(&bound, &data, grace, audit)?;
            let listener = bound.listener;
            if let Some(history) = gateway.history() {
                history.serves_at(&served_at(&listener));
            }
            settings.audit = gateway.audit().map(Audit::log);
            if let Some(overtaken) = overtaken.clone() {
                settings.cut_short = overtaken;
            }
            let mut mounts: Vec<Mount> =
                webhook.map(|webhook| webhook.mount(&mut settings)).into_iter().collect();
            if arguments.metrics {
                let counted = gateway.clone();
                mounts.push(gristmill_http::metrics(move || counted.metrics_text()));
            }
            mounts.extend(
                shown.into_iter().flat_map(|shown| shown.mounts(gateway, &settings, &data, &shutdown)),
            );
            let endpoint = server.endpoint(settings.endpoint(), shutdown.clone());
            let entrance = match turn.take_incoming() {
                Some(incoming) => {
                    // Whoever changes something on a page hears of it once that is safe, too.
                    let settling = gateway.clone();
                    mounts = mounts.into_iter().map(|mount| mount.settled(settling.clone())).collect();
                    listener.with_incoming(incoming)
                }
                None => listener.into(),
            };
            let served = gristmill_http::serve(entrance, endpoint, mounts, settings, shutdown.clone());
            served.await.map_err(|error| Failure::Usage(error.into()))
        }
    };
    // Nobody can ask for what runs any more if the caller has hung up; otherwise one grace is for all.
    let is_overtaken = overtaken.is_some_and(|overtaken| overtaken.is_cancelled());
    let left = stopped.get().filter(|_| !is_overtaken).map(|since| grace.saturating_sub(since.elapsed()));
    service.finish(left.unwrap_or_default()).await;
    served.map(|()| ExitCode::SUCCESS)
}

/// For whoever sees several gateways on one data folder.
fn served_at(listener: &Listener) -> String {
    match listener {
        Listener::Tcp(port) => match port.local_addr() {
            Ok(address) => format!("http://{address}"),
            Err(_) => "http".to_owned(),
        },
        Listener::Unix(_) => "a Unix socket".to_owned(),
    }
}

/// Where what lasts is kept, or what is kept as long as this runs.
fn open_store(place: &DataPlace, no_state: bool) -> Result<Store, Failure> {
    match no_state {
        true => Store::in_memory().map_err(data_store::failure),
        false => {
            place.open_store().map_err(|failure| failure.with_hint("--no-state serves without a database"))
        }
    }
}

/// The first signal asks nicely; the second one does not wait. They are heard as soon as this returns.
fn stop_on_signal(
    shutdown: CancellationToken,
    service: Service,
    grace: u64,
    stopped: Arc<OnceLock<Instant>>,
) {
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
            if shutdown.is_cancelled() {
                std::process::exit(130);
            }
            let _ = stopped.set(Instant::now());
            match service.running() {
                0 => {}
                count => {
                    eprintln!(
                        "stopping: {count} running, {grace} s to finish; press Ctrl-C again to stop now"
                    )
                }
            }
            shutdown.cancel();
        }
    });
}
