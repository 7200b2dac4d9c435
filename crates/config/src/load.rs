//! Resolves the configuration: defaults, the user's file, the project's file, the environment,
//! flags; each stronger than the one before.

mod servers;
mod source;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gristmill_files::Surroundings;
use gristmill_gateway::domain::{Level, LimitName, Limits, PrivacyMode};

use super::alerts_table::AlertsConfig;
use super::approvals::{self, Approvals};
use super::approvals_table::ApprovalsConfig;
use super::audit_table::AuditConfig;
use super::cluster_table::ClusterConfig;
use super::dashboard_table::DashboardConfig;
use super::engines_table::EnginesConfig;
pub use super::env_file::env_path;
use super::environment::{self, FromEnvironment};
use super::guardrails_table::GuardrailsConfig;
use super::history_table::HistoryConfig;
use super::learning_table::LearningConfig;
use super::llm_table::LlmConfig;
use super::locations::{self, Location, Role};
use super::network_table::NetworkConfig;
use super::origin::Origin;
use super::policy_table::PolicyConfig;
use super::privacy_layers::PrivacyConfig;
use super::problem::{Place, Problem, ProblemKind, Severity};
use super::resolved::{Approval, Config, Loaded};
use super::results_table::ResultsConfig;
use super::search_table::SearchConfig;
use super::serve_table::ServeConfig;
use super::sessions_table::SessionsConfig;
use super::watch_table::WatchConfig;
use servers::Resolving;
use source::{Source, of_file};

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`: the only file to read.
    pub config: Option<PathBuf>,
    pub level: Option<Level>,
    pub privacy: Option<PrivacyMode>,
    /// `--limit NAME=VALUE`, in order.
    pub limits: Vec<(String, String)>,
}

/// Reads and resolves everything. It never fails: what is wrong is in the problems.
pub fn load(surroundings: &Surroundings, flags: &Flags) -> Loaded {
    let mut environment = environment::read(surroundings);
    let mut problems = std::mem::take(&mut environment.problems);
    let named = flags.config.as_deref().or(environment.config.as_deref());
    let locations = locations::find(surroundings, named);
    for (path, used) in &locations.left_out {
        problems.push(of_file(Severity::Warning, path, ProblemKind::NotRead { used: used.clone() }));
    }
    let data_folder = surroundings.data_folder();
    let approvals = load_approvals(data_folder.as_deref(), &locations.found, &mut problems);
    let mut sources = Vec::new();
    for location in &locations.found {
        sources.extend(Source::read(location, surroundings, &approvals, &mut problems));
    }
    let mut resolving = Resolving::new(surroundings);
    for source in &mut sources {
        resolving.take_servers(source, &approvals, &mut problems);
    }
    let (level, level_origin) = level(used(&sources), &environment, flags);
    let (limits, limit_origins) = limits(level, &sources, &environment, flags, &mut problems);
    let (mut sessions, mut history) = (SessionsConfig::default(), HistoryConfig::default());
    let (mut results, mut audit) = (ResultsConfig::default(), AuditConfig::default());
    let (mut guardrails, mut engines) = (GuardrailsConfig::default(), EnginesConfig::default());
    let (mut asking, mut dashboard) = (ApprovalsConfig::default(), DashboardConfig::default());
    let (mut watch, mut alerts) = (WatchConfig::default(), AlertsConfig::default());
    let (mut learning, mut search) = (LearningConfig::default(), SearchConfig::default());
    let (mut serve, mut llm) = (ServeConfig::default(), LlmConfig::default());
    let (mut network, mut cluster) = (NetworkConfig::default(), ClusterConfig::default());
    for source in used(&sources) {
        sessions.lay_over(&source.document.sessions, |line| source.origin(line));
        history.lay_over(&source.document.history, |line| source.origin(line));
        audit.lay_over(&source.document.audit, |line| source.origin(line));
        results.lay_over(&source.document.results, |line| source.origin(line));
        asking.lay_over(&source.document.approvals, &source.variables, |line| source.origin(line));
        dashboard.lay_over(&source.document.dashboard, |line| source.origin(line));
        watch.lay_over(&source.document.watch, |line| source.origin(line));
        alerts.lay_over(&source.document.alerts, &source.variables, |line| source.origin(line));
        guardrails.lay_over(&source.document.guardrails, |line| source.origin(line));
        engines.lay_over(&source.document.engines, |line| source.origin(line));
        learning.lay_over(&source.document.learning, |line| source.origin(line));
        search.lay_over(&source.document.search, |line| source.origin(line));
        serve.lay_over(&source.document.serve, |line| source.origin(line));
        llm.lay_over(&source.document.llm, &source.variables, |line| source.origin(line));
        llm.take_variables(&source.variables, source.variable_owner());
        network.lay_over(&source.document.network, &source.variables, |line| source.origin(line));
        cluster.lay_over(&source.document.cluster, &source.variables, |line| source.origin(line));
    }
    let mut policy = policy(&sources, &mut problems);
    resolving.take_hosts(&network, level, &mut policy, &mut problems);
    let privacy = privacy(&sources, level, &environment, flags, &mut problems);
    let files = sources.iter().map(|source| source.file.clone()).collect();
    let servers = resolving.servers.into_values().collect();
    let config = Config {
        servers,
        level,
        level_origin,
        limits,
        limit_origins,
        sessions,
        history,
        audit,
        approvals: asking,
        watch,
        alerts,
        dashboard,
        results,
        guardrails,
        engines,
        learning,
        search,
        network,
        serve,
        llm,
        cluster,
        policy,
        privacy,
        data_folder,
        files,
        locations,
    };
    Loaded { config, problems }
}

/// Where approvals are kept.
pub fn approvals_path(surroundings: &Surroundings) -> Option<PathBuf> {
    surroundings.data_folder().map(|folder| folder.join(approvals::FILE_NAME))
}

fn load_approvals(data: Option<&Path>, found: &[Location], problems: &mut Vec<Problem>) -> Approvals {
    let path = data.map(|folder| folder.join(approvals::FILE_NAME));
    let needed = found.iter().any(|location| location.role == Role::Project);
    let (Some(path), true) = (path, needed) else { return Approvals::none(Path::new("")) };
    Approvals::load(&path).unwrap_or_else(|error| {
        problems.push(Problem { severity: Severity::Warning, place: Place::default(), kind: error.into() });
        Approvals::none(&path)
    })
}

fn used(sources: &[Source]) -> impl DoubleEndedIterator<Item = &Source> {
    sources.iter().filter(|source| source.file.approval == Approval::Given)
}

/// The user's own first: a project's is measured by it.
fn policy(sources: &[Source], problems: &mut Vec<Problem>) -> PolicyConfig {
    let mut policy = PolicyConfig::default();
    for source in used(sources).filter(|source| !is_project(source)) {
        policy.lay_over(&source.document.policy, |line| source.origin(line));
    }
    for source in used(sources).filter(is_project) {
        for looser in policy.tighten(&source.document.policy, |line| source.origin(line)) {
            let place = source.place(looser.key, looser.line);
            problems.push(Problem { severity: Severity::Warning, place, kind: ProblemKind::Looser });
        }
    }
    policy
}

fn is_project(source: &&Source) -> bool {
    source.file.role == Role::Project
}

/// The user's own first: a project's is measured by it. Whoever is at the terminal has the last word.
fn privacy(
    sources: &[Source],
    level_now: Level,
    environment: &FromEnvironment,
    flags: &Flags,
    problems: &mut Vec<Problem>,
) -> PrivacyConfig {
    let own = || used(sources).filter(|source| !is_project(source));
    let mut privacy = PrivacyConfig::of(level_now, level(own(), environment, flags).0);
    for source in own() {
        privacy.lay_over(&source.document.privacy, |line| source.origin(line));
    }
    for source in used(sources).filter(is_project) {
        for looser in privacy.tighten(&source.document.privacy, |line| source.origin(line)) {
            let place = source.place(looser.key, looser.line);
            problems.push(Problem { severity: Severity::Warning, place, kind: ProblemKind::LessPrivate });
        }
    }
    for source in used(sources) {
        for (named, kind) in privacy.unknown_kinds(&source.document.privacy) {
            let place = source.place(named.key.clone(), named.line);
            problems.push(Problem { severity: Severity::Error, place, kind });
        }
    }
    if let Some(kind) = privacy.patterns_problem() {
        let place = Place { file: None, line: None, key: Some("privacy.patterns".to_owned()) };
        problems.push(Problem { severity: Severity::Error, place, kind });
    }
    if let Some(mode) = flags.privacy {
        privacy.take_mode(mode, Origin::Flag);
    } else if let Some(mode) = environment.privacy {
        privacy.take_mode(mode, Origin::Variable("GRISTMILL_PRIVACY".to_owned()));
    }
    privacy
}

fn level<'a>(
    sources: impl DoubleEndedIterator<Item = &'a Source>,
    environment: &FromEnvironment,
    flags: &Flags,
) -> (Level, Origin) {
    if let Some(level) = flags.level {
        return (level, Origin::Flag);
    }
    if let Some(level) = environment.level {
        return (level, Origin::Variable("GRISTMILL_LEVEL".to_owned()));
    }
    let of_file = |source: &Source| source.document.level.map(|(level, line)| (level, source.origin(line)));
    sources.rev().find_map(of_file).unwrap_or((Level::default(), Origin::Default))
}

fn limits(
    level: Level,
    sources: &[Source],
    environment: &FromEnvironment,
    flags: &Flags,
    problems: &mut Vec<Problem>,
) -> (Limits, BTreeMap<LimitName, Origin>) {
    let mut asked: Vec<(String, String, Origin)> = Vec::new();
    for source in used(sources) {
        for (name, value, line) in &source.document.limits {
            asked.push((name.as_str().to_owned(), value.clone(), source.origin(*line)));
        }
    }
    for (name, value, variable) in &environment.limits {
        asked.push((name.as_str().to_owned(), value.clone(), Origin::Variable(variable.clone())));
    }
    for (name, value) in &flags.limits {
        asked.push((name.clone(), value.clone(), Origin::Flag));
    }
    let mut limits = Limits::of(level);
    let mut origins = BTreeMap::new();
    for (name, value, origin) in asked {
        match limits.set_text(&name, &value) {
            Ok(()) => {
                origins.extend(LimitName::from_name(&name).map(|name| (name, origin)));
            }
            Err(error) => {
                let place = match origin {
                    Origin::File { path, line } => {
                        Place { file: Some(path), line: Some(line), key: Some(format!("limits.{name}")) }
                    }
                    Origin::Variable(variable) => Place { file: None, line: None, key: Some(variable) },
                    Origin::Flag | Origin::Default => {
                        Place { file: None, line: None, key: Some(format!("--limit {name}")) }
                    }
                };
                problems.push(Problem { severity: Severity::Error, place, kind: error.into() });
            }
        }
    }
    (limits, origins)
}
