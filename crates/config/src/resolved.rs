//! The configuration as everyone else sees it: one value, resolved once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use gristmill_gateway::domain::{Level, LimitName, Limits, ServerSettings};

use super::alerts_table::AlertsConfig;
use super::approvals::Status;
use super::approvals_table::ApprovalsConfig;
use super::audit_table::AuditConfig;
use super::cluster_table::ClusterConfig;
use super::dashboard_table::DashboardConfig;
use super::engines_table::EnginesConfig;
use super::env_file::Variables;
use super::guardrails_table::GuardrailsConfig;
use super::history_table::HistoryConfig;
use super::learning_table::LearningConfig;
use super::llm_table::LlmConfig;
use super::locations::{Locations, Role};
use super::network_table::NetworkConfig;
use super::origin::Origin;
use super::policy_table::PolicyConfig;
use super::privacy_layers::PrivacyConfig;
use super::problem::{Problem, Severity};
use super::results_table::ResultsConfig;
use super::search_table::SearchConfig;
use super::serve_table::ServeConfig;
use super::sessions_table::SessionsConfig;
use super::watch_table::WatchConfig;

/// Everything that is configured.
#[derive(Clone, Debug)]
pub struct Config {
    /// By name; each name once.
    pub servers: Vec<ConfiguredServer>,
    /// How much programs are trusted.
    pub level: Level,
    pub level_origin: Origin,
    /// The level's limits with all that was asked for.
    pub limits: Limits,
    /// Who asked for which.
    pub limit_origins: BTreeMap<LimitName, Origin>,
    /// How many sessions there may be, and how long they last.
    pub sessions: SessionsConfig,
    /// How much is remembered of what programs did.
    pub history: HistoryConfig,
    /// How people are told that a call waits for them.
    pub approvals: ApprovalsConfig,
    /// What is written down for auditors.
    pub audit: AuditConfig,
    /// Whether what runs is watched.
    pub watch: WatchConfig,
    /// Who is told of what the watch finds.
    pub alerts: AlertsConfig,
    /// What the dashboard shows.
    pub dashboard: DashboardConfig,
    /// How much is kept of what answers left out.
    pub results: ResultsConfig,
    /// What is done about what checks find in programs.
    pub guardrails: GuardrailsConfig,
    /// Which languages' workers wait.
    pub engines: EnginesConfig,
    /// What is learned from use.
    pub learning: LearningConfig,
    /// How tools are found.
    pub search: SearchConfig,
    /// Which hosts programs may send requests to. They are a server among the others, too.
    pub network: NetworkConfig,
    /// What clients are shown.
    pub serve: ServeConfig,
    /// Which language model is asked.
    pub llm: LlmConfig,
    /// Over which bus this machine meets others, and where its programs run.
    pub cluster: ClusterConfig,
    /// Who may call what.
    pub policy: PolicyConfig,
    /// What is looked for as personal data, and how far it may go.
    pub privacy: PrivacyConfig,
    /// Where what lasts is kept. None without a home.
    pub data_folder: Option<PathBuf>,
    /// The files that were read, weakest first.
    pub files: Vec<ReadFile>,
    /// Where they were looked for.
    pub locations: Locations,
}

/// A server and what is known about it besides its settings.
#[derive(Clone, Debug)]
pub struct ConfiguredServer {
    pub settings: ServerSettings,
    /// Where it is from.
    pub origin: Origin,
    /// Whether it may be used: started, connected to, its references looked up.
    pub approval: Approval,
    /// From `.env` files, for references that the environment does not answer. What the
    /// environment has is not in here.
    pub variables: Arc<Variables>,
    /// The project's own files that its references name, by how they are written there: what was approved,
    /// whatever is written to them later.
    pub files: Variables,
}

/// Whether something of a file may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It is the user's own, or the user approved it.
    Given,
    /// It is of a project's file that waits for `gristmill config approve`.
    Missing,
    /// The same, and an earlier version was approved.
    Outdated,
}

impl Approval {
    /// For people: none if all is well.
    pub fn remedy(self) -> Option<&'static str> {
        match self {
            Approval::Given => None,
            Approval::Missing => Some("not approved; review the file, then run `gristmill config approve`"),
            Approval::Outdated => {
                Some("changed since you approved it; review the file, then run `gristmill config approve`")
            }
        }
    }
}

impl From<Status> for Approval {
    fn from(status: Status) -> Self {
        match status {
            Status::Approved => Approval::Given,
            Status::Changed => Approval::Outdated,
            Status::New => Approval::Missing,
        }
    }
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    pub path: PathBuf,
    /// What it is to us.
    pub role: Role,
    /// Whether it may be used.
    pub approval: Approval,
}

/// A configuration and everything that is to be said about it.
#[derive(Debug)]
pub struct Loaded {
    /// What could be understood.
    pub config: Config,
    /// What is wrong, surprising or worth knowing.
    pub problems: Vec<Problem>,
}

/// A configuration that cannot be used. Nothing was started.
#[derive(Debug, thiserror::Error)]
#[error("the configuration has {}:\n{}", mistakes(.0.len()), listed(.0))]
pub struct ConfigError(pub Vec<Problem>);

fn mistakes(count: usize) -> String {
    if count == 1 { "an error".to_owned() } else { format!("{count} errors") }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("  {problem}")).collect::<Vec<_>>().join("\n")
}

impl Loaded {
    /// The configuration with its warnings and notes, if there is no error.
    pub fn into_result(self) -> Result<(Config, Vec<Problem>), ConfigError> {
        let (errors, others): (Vec<_>, Vec<_>) =
            self.problems.into_iter().partition(|problem| problem.severity == Severity::Error);
        if errors.is_empty() { Ok((self.config, others)) } else { Err(ConfigError(errors)) }
    }
}

impl Config {
    /// The server with this name.
    pub fn server(&self, name: &str) -> Option<&ConfiguredServer> {
        self.servers.iter().find(|server| server.settings.name == name)
    }

    /// Those that may be used: enabled, and of a file that the user trusts.
    pub fn usable_servers(&self) -> impl Iterator<Item = &ConfiguredServer> {
        self.servers.iter().filter(|server| server.settings.enabled && server.approval == Approval::Given)
    }
}
