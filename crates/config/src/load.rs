//! Resolves the configuration: defaults, the user's file, the project's file, the environment,
//! flags; each stronger than the one before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_files::Surroundings;
use gristmill_gateway::domain::{
    Level, LimitName, Limits, PrivacyMode, ServerSettings, Transport, VariableOwner,
};

use super::alerts_table::{AlertsConfig, AlertsTable};
use super::approvals::{self, Approvals, Status};
use super::approvals_table::{ApprovalsConfig, ApprovalsTable};
use super::audit_table::{AuditConfig, AuditTable};
use super::dashboard_table::{DashboardConfig, DashboardTable};
use super::document::Document;
use super::engines_table::{EnginesConfig, EnginesTable};
pub use super::env_file::env_path;
use super::env_file::{self, Variables};
use super::environment::{self, FromEnvironment};
use super::guardrails_table::{GuardrailsConfig, GuardrailsTable};
use super::history_table::{HistoryConfig, HistoryTable};
use super::learning_table::{LearningConfig, LearningTable};
use super::llm_table::{LlmConfig, LlmTable};
use super::locations::{self, Location, Role};
use super::needs;
use super::network_table::{NetworkConfig, NetworkTable};
use super::origin::Origin;
use super::policy_table::PolicyConfig;
use super::privacy_layers::PrivacyConfig;
use super::problem::{Place, Problem, ProblemKind, Problems, Severity};
use super::project_values::{self, without_line_end};
use super::read_file::FileText;
use super::resolved::{Approval, Config, ConfiguredServer, Loaded, ReadFile};
use super::results_table::{ResultsConfig, ResultsTable};
use super::search_table::{SearchConfig, SearchTable};
use super::serve_table::{ServeConfig, ServeTable};
use super::sessions_table::{SessionsConfig, SessionsTable};
use super::watch_table::{WatchConfig, WatchTable};

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
    let mut network = NetworkConfig::default();
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

fn of_file(severity: Severity, path: &Path, kind: ProblemKind) -> Problem {
    Problem { severity, place: Place { file: Some(path.to_owned()), line: None, key: None }, kind }
}

struct Source {
    file: ReadFile,
    document: Document,
    variables: Variables,
    env: EnvFile,
}

/// How the `.env` beside a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvFile {
    /// There is none, or what it says may be used.
    Usable,
    /// A project's that was never approved: the file was approved without it.
    Ignored,
    /// A project's that was approved, and is another or gone now.
    Changed,
}

impl Source {
    /// `None` if it cannot be read at all.
    fn read(
        location: &Location,
        surroundings: &Surroundings,
        approvals: &Approvals,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let Location { role, path } = location;
        let text = match FileText::read(path) {
            Ok(text) => text,
            Err(error) => {
                problems.push(of_file(Severity::Error, path, error.into()));
                return None;
            }
        };
        let approval = match role {
            Role::User | Role::Named => Approval::Given,
            Role::Project => approvals.status(path, &text.bytes).into(),
        };
        match approval {
            Approval::Given => {}
            Approval::Missing => problems.push(of_file(Severity::Warning, path, ProblemKind::NotApproved)),
            Approval::Outdated => {
                problems.push(of_file(Severity::Warning, path, ProblemKind::ApprovalOutdated))
            }
        }
        if *role == Role::User && text.writable_by_others {
            problems.push(of_file(Severity::Warning, path, ProblemKind::WritableByOthers));
        }
        let mut document = Document::read(&text, surroundings.home().as_deref());
        if *role == Role::Project {
            start_in(path.parent(), &mut document);
            leave_out_user_tables(path, &mut document, problems);
        }
        // The mistakes of a file that is not used must not stop us.
        let severity_max = if approval == Approval::Given { Severity::Error } else { Severity::Warning };
        problems.extend(document.problems.drain(..).map(|mut problem| {
            problem.severity = problem.severity.min(severity_max);
            problem
        }));
        let (variables, env) = match approval {
            Approval::Given => read_env_file(path, *role, approvals, problems),
            Approval::Missing | Approval::Outdated => (Variables::default(), EnvFile::Usable),
        };
        Some(Self { file: ReadFile { path: path.clone(), role: *role, approval }, document, variables, env })
    }

    /// Whether a server of this file may be used, and the project's files that it takes texts of.
    fn approval_of(
        &self,
        server: &ServerSettings,
        approvals: &Approvals,
        problems: &mut Vec<Problem>,
    ) -> (Approval, Variables) {
        let mut texts = Variables::default();
        if self.file.role != Role::Project || self.file.approval != Approval::Given {
            return (self.file.approval, texts);
        }
        let mut approval = match self.env {
            // What the command line comes to is no longer what was shown.
            EnvFile::Changed if !needs::all_variables_of(server).is_empty() => Approval::Outdated,
            EnvFile::Changed | EnvFile::Usable | EnvFile::Ignored => Approval::Given,
        };
        for file in project_values::files_of(server, &self.file.path) {
            let read = match file.read {
                Ok(read) => read,
                // Whatever is there later was not approved.
                Err(error) => {
                    problems.push(of_file(Severity::Warning, &file.path, error.into()));
                    approval = Approval::Outdated;
                    continue;
                }
            };
            if approvals.status(&read.path, &read.bytes) != Status::Approved {
                problems.push(of_file(Severity::Warning, &read.path, ProblemKind::ApprovalOutdated));
                approval = Approval::Outdated;
                continue;
            }
            if let Ok(text) = read.text() {
                texts.set(&file.written, without_line_end(text));
            }
        }
        (approval, texts)
    }

    /// Whose the variables beside the file are.
    fn variable_owner(&self) -> VariableOwner {
        match self.file.role {
            Role::User | Role::Named => VariableOwner::User,
            Role::Project => VariableOwner::Project,
        }
    }

    fn place(&self, key: String, line: usize) -> Place {
        Place { file: Some(self.file.path.clone()), line: Some(line), key: Some(key) }
    }

    fn origin(&self, line: usize) -> Origin {
        Origin::File { path: self.file.path.clone(), line }
    }
}

/// A project's programs start in its folder, wherever in it we were called.
fn start_in(folder: Option<&Path>, document: &mut Document) {
    for (server, _) in &mut document.servers {
        if let Transport::Stdio { cwd: cwd @ None, .. } = &mut server.transport {
            *cwd = folder.map(Path::to_owned);
        }
    }
}

/// How long sessions, the history, the audit and results are kept is the user's to say, even after an approval: the data
/// folder holds those of all projects. So is what programs are refused for.
fn leave_out_user_tables(path: &Path, document: &mut Document, problems: &mut Vec<Problem>) {
    for (table, line) in document.user_tables.drain(..) {
        let place = Place { file: Some(path.to_owned()), line: Some(line), key: Some(table.to_owned()) };
        problems.push(Problem { severity: Severity::Warning, place, kind: ProblemKind::UserOnly });
    }
    document.sessions = SessionsTable::default();
    document.history = HistoryTable::default();
    document.audit = AuditTable::default();
    document.results = ResultsTable::default();
    document.approvals = ApprovalsTable::default();
    document.dashboard = DashboardTable::default();
    document.watch = WatchTable::default();
    document.alerts = AlertsTable::default();
    document.guardrails = GuardrailsTable::default();
    document.engines = EnginesTable::default();
    document.learning = LearningTable::default();
    document.search = SearchTable::default();
    document.network = NetworkTable::default();
    document.serve = ServeTable::default();
    document.llm = LlmTable::default();
}

/// The `.env` beside a file. A project's needs approval like the file itself: it can change what a
/// `${VAR}` in a command means.
fn read_env_file(
    beside: &Path,
    role: Role,
    approvals: &Approvals,
    problems: &mut Vec<Problem>,
) -> (Variables, EnvFile) {
    let path = env_path(beside);
    let nothing = |env: EnvFile| (Variables::default(), env);
    let file = match FileText::read_if_there(&path) {
        Ok(Some(file)) => file,
        Ok(None) if role == Role::Project && approvals.status(&path, b"") != Status::New => {
            problems.push(of_file(Severity::Warning, &path, ProblemKind::ApprovalOutdated));
            return nothing(EnvFile::Changed);
        }
        Ok(None) => return nothing(EnvFile::Usable),
        Err(error) => {
            problems.push(of_file(Severity::Warning, &path, error.into()));
            return nothing(if role == Role::Project { EnvFile::Changed } else { EnvFile::Usable });
        }
    };
    if role == Role::Project {
        let (what, env) = match approvals.status(&path, &file.bytes) {
            Status::Approved => (None, EnvFile::Usable),
            Status::New => (Some(ProblemKind::NotApproved), EnvFile::Ignored),
            Status::Changed => (Some(ProblemKind::ApprovalOutdated), EnvFile::Changed),
        };
        if let Some(what) = what {
            problems.push(of_file(Severity::Warning, &path, what));
            return nothing(env);
        }
    }
    match file.text() {
        Ok(text) => {
            let (variables, found) = env_file::parse(text, &path);
            problems.extend(Problems::into_vec(found));
            (variables, EnvFile::Usable)
        }
        Err(error) => {
            problems.push(of_file(Severity::Warning, &path, error.into()));
            nothing(EnvFile::Usable)
        }
    }
}

/// Servers by name, while files are laid over each other.
struct Resolving<'a> {
    surroundings: &'a Surroundings,
    servers: BTreeMap<String, ConfiguredServer>,
    user_variables: Variables,
}

impl<'a> Resolving<'a> {
    fn new(surroundings: &'a Surroundings) -> Self {
        Self { surroundings, servers: BTreeMap::new(), user_variables: Variables::default() }
    }

    fn take_servers(&mut self, source: &mut Source, approvals: &Approvals, problems: &mut Vec<Problem>) {
        // A project's variables are for its own servers; they change nothing of the user's.
        let variables = match source.file.approval {
            Approval::Given => source.variables.over(&self.user_variables),
            Approval::Missing | Approval::Outdated => Variables::default(),
        };
        let variables = Arc::new(variables.without(|name| self.surroundings.variable(name).is_some()));
        if source.file.role == Role::User {
            self.user_variables = source.variables.clone();
        }
        for (mut settings, line) in std::mem::take(&mut source.document.servers) {
            let name = settings.name.clone();
            let (approval, files) = source.approval_of(&settings, approvals, problems);
            let place =
                Place { file: Some(source.file.path.clone()), line: Some(line), key: Some(name.clone()) };
            let weaker = match self.servers.get(&name).map(|server| &server.origin) {
                Some(Origin::File { path, .. }) if *path != source.file.path => Some(path.clone()),
                Some(_) | None => None,
            };
            if let Some(file) = weaker {
                // A file that nobody approved must not take the user's own server away.
                if approval != Approval::Given {
                    problems.push(Problem {
                        severity: Severity::Warning,
                        place,
                        kind: ProblemKind::Shadowed { file },
                    });
                    continue;
                }
                if let Some(weaker) = self.servers.get(&name).filter(|_| source.file.role == Role::Project) {
                    keep_strictness(&mut settings, &weaker.settings, &place, problems);
                }
                problems.push(Problem {
                    severity: Severity::Note,
                    place,
                    kind: ProblemKind::Replaces { file },
                });
            }
            let server = ConfiguredServer {
                settings,
                origin: source.origin(line),
                approval,
                variables: variables.clone(),
                files,
            };
            self.servers.insert(name, server);
        }
    }
}

impl Resolving<'_> {
    /// Hosts that programs may reach become a server among the others, with its rules above the user's own.
    fn take_hosts(
        &mut self,
        network: &NetworkConfig,
        level: Level,
        policy: &mut PolicyConfig,
        problems: &mut Vec<Problem>,
    ) {
        let Some(settings) = network.server() else { return };
        let origin = network.origin();
        if level == Level::Hardened {
            let place = place_of(origin, "network.allowed_hosts");
            problems.push(Problem {
                severity: Severity::Warning,
                place,
                kind: ProblemKind::NoNetworkAtLevel,
            });
            return;
        }
        let name = settings.name.clone();
        if let Some(other) = self.servers.get(&name) {
            let severity =
                if other.approval == Approval::Given { Severity::Error } else { Severity::Warning };
            let place = place_of(&other.origin, &format!("servers.{name}"));
            problems.push(Problem { severity, place, kind: ProblemKind::HostsServerName });
        }
        let variables = network.variables.clone();
        let variables = Arc::new(variables.without(|name| self.surroundings.variable(name).is_some()));
        let (origin, files) = (origin.clone(), Variables::default());
        let server = ConfiguredServer { settings, origin, approval: Approval::Given, variables, files };
        self.servers.insert(name, server);
        policy.settings.user.splice(0..0, network.rules());
    }
}

fn place_of(origin: &Origin, key: &str) -> Place {
    let key = Some(key.to_owned());
    match origin {
        Origin::File { path, line } => Place { file: Some(path.clone()), line: Some(*line), key },
        Origin::Variable(_) | Origin::Flag | Origin::Default => Place { file: None, line: None, key },
    }
}

/// A project adds marks to the user's own server and takes none away, and makes its privacy stricter only.
fn keep_strictness(
    settings: &mut ServerSettings,
    own: &ServerSettings,
    place: &Place,
    problems: &mut Vec<Problem>,
) {
    settings.marks.add(&own.marks);
    if settings.privacy.is_some() && settings.privacy < own.privacy {
        let key = Some(format!("servers.{}.privacy", settings.name));
        let place = Place { key, ..place.clone() };
        problems.push(Problem { severity: Severity::Warning, place, kind: ProblemKind::LessPrivate });
    }
    settings.privacy = settings.privacy.max(own.privacy);
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
