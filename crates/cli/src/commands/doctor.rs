//! `gristmill doctor`: checks the sandbox, the servers and the clients, and says what to fix.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use gristmill_gateway::domain::{Level, format_bytes, grouped, visible_json};
use gristmill_gateway::{
    CgroupLimits, EngineId, Folders, Gateway, NoCgroup, PoolSettings, WallState, WallStatus, WorkerCommand,
    required_walls,
};
use gristmill_gateway::{ExecuteRequest, Wall};
use gristmill_worker::remedy_for;
use serde::Serialize;

use super::doctor_audit::AuditFinding;
use super::doctor_clients::{self, ClientFinding};
use super::doctor_cluster::ClusterFinding;
use super::doctor_database::Database;
use super::doctor_native::NativeFinding;
use super::doctor_servers::{Address, Servers};
use super::setup::engine_file;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::exit_codes;
use crate::terminal::{print_after, print_lines};
use crate::{native_engine, type_checker};

#[derive(Args)]
pub struct Doctor {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    /// Attack the sandbox with hostile programs, and report whether anything gets through
    #[arg(long)]
    pub attack: bool,

    /// Kinds of attacks to try: files, network, process, … [default: all]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', requires = "attack")]
    pub only: Vec<String>,

    /// Engine of Python to attack
    #[arg(long, value_name = "ENGINE", default_value = "wasm", value_parser = ["wasm", "native"], requires = "attack")]
    pub engine: String,

    /// Isolation level to check
    #[arg(long, default_value_t = Level::Production)]
    pub level: Level,

    /// Skip the configured servers
    #[arg(long)]
    pub no_servers: bool,

    #[command(flatten)]
    pub config: ConfigFile,

    /// Address to check for `gristmill serve --http`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8770", value_parser = crate::commands::listen::http_address)]
    pub http: std::net::SocketAddr,
}

#[derive(Serialize)]
struct Findings {
    version: &'static str,
    platform: String,
    /// The operating system's own version.
    system: String,
    level: Level,
    /// Whether programs can run at this level.
    ready: bool,
    problem: Option<String>,
    walls: Vec<WallFinding>,
    cache_folder: String,
    scratch_folder: String,
    /// Where the engine is unpacked to, which the trial has done.
    engine_file: String,
    engine_file_good: bool,
    guest: &'static str,
    /// What checks the types of TypeScript programs, if anything does.
    type_checker: Option<String>,
    /// The machine's own Python, if programs may have it.
    native_engine: NativeFinding,
    /// What the requests of all callers may take in memory, once parsed.
    request_bytes_max: usize,
    /// What all workers may take together; absent if none came up.
    cgroup: Option<Cgroup>,
    /// How a program is held to `cpu_percent`; absent if no worker came up.
    cpu_percent: Option<CpuPercent>,
    /// A program that was really run.
    trial_ms: Option<f64>,
    /// The servers behind the gateway; absent if they were not looked at.
    servers: Option<Servers>,
    /// Where it would serve over HTTP.
    http: Address,
    /// The machines that programs may run on; absent if none are configured.
    cluster: Option<ClusterFinding>,
    clients: Vec<ClientFinding>,
    /// Where what happened is remembered.
    database: Database,
    /// What is written down for auditors, and whether it is whole.
    audit: AuditFinding,
}

/// The cgroup of the workers, or why they have none.
#[derive(Serialize)]
#[serde(untagged)]
enum Cgroup {
    Used { memory_bytes: u64, processes: u64 },
    NotUsed { reason: String },
}

/// What holds a program to its part of a core.
#[derive(Serialize)]
struct CpuPercent {
    /// `cgroup`: it is slowed down. `cpu_time`: it is ended when it has used that part of its run time.
    by: &'static str,
    /// Why it can't be slowed down.
    reason: Option<String>,
}

impl CpuPercent {
    fn new(slows: Result<(), NoCgroup>) -> Self {
        match slows {
            Ok(()) => Self { by: "cgroup", reason: None },
            Err(reason) => Self { by: "cpu_time", reason: Some(reason.to_string()) },
        }
    }
}

/// A program that was really run, and what its workers had.
struct Trial {
    time_ms: f64,
    cgroup: Option<Cgroup>,
    cpu_percent: CpuPercent,
}

#[derive(Serialize)]
struct WallFinding {
    name: &'static str,
    stands: bool,
    required: bool,
    detail: String,
    remedy: Option<&'static str>,
}

pub async fn doctor(arguments: Doctor) -> Outcome {
    if arguments.attack {
        let native = match arguments.engine.as_str() {
            "native" => Some(native_engine::wanted(&arguments.config)?),
            _ => None,
        };
        return super::doctor_attack::attack(arguments.level, &arguments.only, native, arguments.json).await;
    }
    let findings = look(&arguments).await.map_err(Failure::Internal)?;
    match arguments.json {
        true => {
            let text =
                serde_json::to_string_pretty(&findings).map_err(|error| Failure::Internal(error.into()))?;
            match std::io::stdout().is_terminal() {
                true => println!("{}", visible_json(&text)),
                false => println!("{text}"),
            }
        }
        false => print(&findings),
    }
    let is_misconfigured = findings.servers.as_ref().is_some_and(Servers::is_misconfigured)
        || findings.cluster.as_ref().is_some_and(ClusterFinding::is_misconfigured);
    // Without its database no gateway starts.
    let is_ready = findings.ready && findings.database.trouble().is_none();
    let is_trouble = findings.servers.as_ref().is_some_and(|servers| servers.trouble().is_some())
        || findings.clients.iter().any(|client| client.problem.is_some())
        || findings.audit.trouble().is_some()
        || findings.native_engine.trouble().is_some()
        || findings.cluster.as_ref().is_some_and(|cluster| cluster.trouble().is_some());
    Ok(match (is_ready, is_misconfigured) {
        (false, _) => exit_codes::internal(),
        (true, true) => exit_codes::usage(),
        (true, false) if is_trouble => ExitCode::FAILURE,
        (true, false) => exit_codes::OK,
    })
}

async fn look(arguments: &Doctor) -> anyhow::Result<Findings> {
    let level = arguments.level;
    let folders = Folders::from_environment()?;
    let engine = engine_file(EngineId::Python)?;
    // Asked of a gateway that requires nothing, so that it can tell of every wall.
    let walls = walls_of(Level::Development).await;
    let (walls, mut problem) = match walls {
        Ok(walls) => (walls, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let required = required_walls(level);
    let (mut trial_ms, mut cgroup, mut cpu_percent) = (None, None, None);
    if problem.is_none() {
        match trial(level).await {
            Ok(trial) => {
                (trial_ms, cgroup) = (Some(trial.time_ms), trial.cgroup);
                cpu_percent = Some(trial.cpu_percent);
            }
            Err(reason) => problem = Some(reason),
        }
    }
    Ok(Findings {
        version: env!("CARGO_PKG_VERSION"),
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        system: system(),
        level,
        ready: problem.is_none(),
        problem,
        walls: walls.iter().map(|status| finding(status, required)).collect(),
        cache_folder: folders.cache.display().to_string(),
        scratch_folder: folders.scratch.display().to_string(),
        engine_file: engine.path().display().to_string(),
        engine_file_good: engine.is_good(),
        guest: engine.guest(),
        type_checker: type_checker::find().map(|found| found.path.display().to_string()),
        native_engine: NativeFinding::look(&arguments.config, level).await,
        request_bytes_max: gristmill_mcp::PARSED_BYTES_MAX,
        cgroup,
        cpu_percent,
        trial_ms,
        servers: match arguments.no_servers {
            true => None,
            false => Some(Servers::look(arguments.config.config.clone()).await),
        },
        http: Address::look(arguments.http).await,
        cluster: ClusterFinding::look(&arguments.config).await,
        clients: doctor_clients::look(),
        database: Database::look(&arguments.config).await,
        audit: AuditFinding::look(&arguments.config).await,
    })
}

fn finding(status: &WallStatus, required: &[Wall]) -> WallFinding {
    let stands = status.state == WallState::Stands;
    WallFinding {
        name: name_of(status.wall),
        stands,
        required: required.contains(&status.wall),
        detail: status.detail.clone(),
        remedy: (!stands).then(|| remedy_for(status.wall)),
    }
}

async fn gateway_at(level: Level) -> anyhow::Result<Gateway> {
    let limits = gristmill_gateway::domain::Limits::of(level);
    let pool = PoolSettings { waiting: 1, ..PoolSettings::default() };
    Ok(Gateway::builder(WorkerCommand::this_executable()?).limits(limits).pool(pool).build().await?)
}

async fn walls_of(level: Level) -> Result<Vec<WallStatus>, String> {
    let gateway = gateway_at(level).await.map_err(|error| error.to_string())?;
    let walls = gateway.ready().await;
    gateway.shutdown().await;
    walls.map_err(|error| error.to_string())
}

/// How long a program took, and what its worker shares with all others.
async fn trial(level: Level) -> Result<Trial, String> {
    let gateway = gateway_at(level).await.map_err(|error| error.to_string())?;
    gateway.ready().await.map_err(|error| error.to_string())?;
    let cgroup = gateway.pool().cgroup().map(|found| match found {
        Ok(CgroupLimits { memory_bytes, processes }) => Cgroup::Used { memory_bytes, processes },
        Err(reason) => Cgroup::NotUsed { reason: reason.to_string() },
    });
    let cpu_percent = CpuPercent::new(gateway.pool().slows().await);
    let report = gateway.execute(ExecuteRequest::python("6 * 7")).finish().await;
    gateway.shutdown().await;
    match report.error {
        Some(error) => Err(error.message),
        None if report.result == Some(serde_json::json!(42)) => {
            Ok(Trial { time_ms: report.execution_time_ms, cgroup, cpu_percent })
        }
        None => Err(format!("6 * 7 gave {:?}", report.result)),
    }
}

fn print(findings: &Findings) {
    println!("gristmill {} on {}, {}", findings.version, findings.platform, findings.system);
    println!("\nsandbox layers (isolation level {}):", findings.level);
    for wall in &findings.walls {
        let mark = match (wall.stands, wall.required) {
            (true, _) => "ok     ",
            (false, true) => "MISSING",
            (false, false) => "weak   ",
        };
        print_after(&format!("  {mark} {:<18} ", wall.name), &wall.detail);
        if let Some(remedy) = wall.remedy {
            print_lines(&format!("          fix: {remedy}"));
        }
    }
    println!("\nplaces:");
    println!("  cache    {}", findings.cache_folder);
    println!("  scratch  {}", findings.scratch_folder);
    let state =
        if findings.engine_file_good { "ok" } else { "can't be saved; unpacked into memory at each start" };
    println!("  engine   {} ({state})", findings.engine_file);
    println!("  guest    {}", &findings.guest[..16]);
    match &findings.type_checker {
        Some(checker) => print_after("  types    ", checker),
        None => println!("  types    not checked; `gristmill setup --typescript` installs a type checker"),
    }
    findings.native_engine.print();
    println!("\nmemory:");
    println!("  requests {} MB for those of all callers together", findings.request_bytes_max >> 20);
    match &findings.cgroup {
        Some(Cgroup::Used { memory_bytes, processes }) => {
            let memory = format_bytes(*memory_bytes);
            println!("  cgroup   memory {memory}, {} processes for all workers", grouped(*processes));
        }
        Some(Cgroup::NotUsed { reason }) => print_after("  cgroup   ", &format!("not used ({reason})")),
        None => {}
    }
    if let Some(CpuPercent { reason, .. }) = &findings.cpu_percent {
        println!("\nCPU (`cpu_percent`):");
        match reason {
            None => println!("  cgroup   a program that may have part of a core is slowed down to it"),
            Some(reason) => print_after(
                "  CPU time ",
                &format!("a program is ended when it has used that part of its `wall_time` ({reason})"),
            ),
        }
    }
    if let Some(servers) = &findings.servers {
        servers.print();
    }
    findings.http.print();
    if let Some(cluster) = &findings.cluster {
        cluster.print();
    }
    findings.database.print();
    findings.audit.print();
    doctor_clients::print(&findings.clients);
    let servers = findings.servers.as_ref().and_then(Servers::trouble);
    let is_broken = findings.clients.iter().any(|client| client.problem.is_some());
    let clients = is_broken.then_some("a client's configuration is broken");
    let cluster = findings.cluster.as_ref().and_then(ClusterFinding::trouble);
    let others = findings.audit.trouble().into_iter().chain(findings.native_engine.trouble()).chain(cluster);
    let but: Vec<&str> = servers.into_iter().chain(clients).chain(others).collect();
    let but = if but.is_empty() { String::new() } else { format!(", but {} (see above)", but.join(" and ")) };
    if let (None, Some(trouble)) = (&findings.problem, findings.database.trouble()) {
        return print_lines(&format!(
            "\nnot ready: {trouble} (see above); programs still run, and `gristmill serve` needs --no-state"
        ));
    }
    match (&findings.problem, findings.trial_ms) {
        (Some(problem), _) => println!("\nnot ready at isolation level {}: {problem}", findings.level),
        (None, Some(time_ms)) => println!("\nready: a program ran in {time_ms:.1} ms{but}"),
        (None, None) => println!("\nready{but}"),
    }
}

/// `Linux 6.1.0`.
fn system() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
}

/// A sandbox layer, for people.
pub fn name_of(wall: Wall) -> &'static str {
    match wall {
        Wall::Wasm => "WebAssembly",
        Wall::Process => "own process",
        Wall::Landlock => "landlock",
        Wall::Seccomp => "seccomp",
        Wall::NoNewPrivileges => "no new privileges",
        Wall::UserNamespace => "user namespace",
        Wall::NetworkNamespace => "network namespace",
        Wall::MountNamespace => "empty root",
        Wall::PidNamespace => "process namespace",
        Wall::Rlimits => "rlimits",
    }
}
