//! A whole configuration file: its servers, its level, its limits, and everything wrong with it.

use std::collections::HashMap;
use std::path::Path;

use gristmill_gateway::domain::{Level, LimitName, ServerSettings, Transport};

use super::alerts_table::{self, AlertsTable};
use super::approvals_table::{self, ApprovalsTable};
use super::audit_table::{self, AuditTable};
use super::cluster_table::{self, ClusterTable};
use super::dashboard_table::{self, DashboardTable};
use super::engines_table::{self, EnginesTable};
use super::fields::Fields;
use super::format::Format;
use super::guardrails_table::{self, GuardrailsTable};
use super::history_table::{self, HistoryTable};
use super::learning_table::{self, LearningTable};
use super::llm_table::{self, LlmTable};
use super::network_table::{self, NetworkTable};
use super::other_system;
use super::policy_table::{self, PolicyTable};
use super::privacy_table::{self, PrivacyTable};
use super::problem::{Foreign, Problem, ProblemKind, Problems, Severity, shown};
use super::read_file::{FileText, ReadError};
use super::references::Folders;
use super::results_table::{self, ResultsTable};
use super::search_table::{self, SearchTable};
use super::serve_table::{self, ServeTable};
use super::server_entry;
use super::sessions_table::{self, SessionsTable};
use super::strictness::Strictness;
use super::tree::{Node, Value, join};
use super::watch_table::{self, WatchTable};

/// The tables that hold servers: ours (and VS Code's), most clients', Codex's.
pub const BLOCKS: [&str; 3] = ["servers", "mcpServers", "mcp_servers"];
pub(super) const KEYS: [&str; 22] = [
    "servers",
    "mcpServers",
    "level",
    "limits",
    sessions_table::TABLE,
    history_table::TABLE,
    results_table::TABLE,
    audit_table::TABLE,
    approvals_table::TABLE,
    guardrails_table::TABLE,
    engines_table::TABLE,
    learning_table::TABLE,
    search_table::TABLE,
    network_table::TABLE,
    policy_table::TABLE,
    privacy_table::TABLE,
    watch_table::TABLE,
    alerts_table::TABLE,
    dashboard_table::TABLE,
    serve_table::TABLE,
    llm_table::TABLE,
    cluster_table::TABLE,
];
/// What our own files are called, whatever their format.
const OWN_STEM: &str = "gristmill";
/// More than anyone connects, and few enough to hold.
pub const SERVERS_MAX: usize = 1_000;

/// What one file says.
#[derive(Debug, Default)]
pub struct Document {
    /// Its servers that can be understood, with their lines.
    pub servers: Vec<(ServerSettings, usize)>,
    /// The level it asks for.
    pub level: Option<(Level, usize)>,
    /// The limits it asks for, as they are written.
    pub limits: Vec<(LimitName, String, usize)>,
    /// What it says about sessions.
    pub sessions: SessionsTable,
    /// What it says about the history.
    pub history: HistoryTable,
    /// What it says about the audit.
    pub audit: AuditTable,
    /// How people are told that a call waits for them.
    pub approvals: ApprovalsTable,
    /// What it says about the watch.
    pub watch: WatchTable,
    /// Who is told of what the watch finds.
    pub alerts: AlertsTable,
    /// What it says about the dashboard.
    pub dashboard: DashboardTable,
    /// What it says about results.
    pub results: ResultsTable,
    /// What it says about checks of programs.
    pub guardrails: GuardrailsTable,
    /// Which languages' workers wait.
    pub engines: EnginesTable,
    /// What it says about learning from use.
    pub learning: LearningTable,
    /// What it says about how tools are found.
    pub search: SearchTable,
    /// Which hosts programs may send requests to.
    pub network: NetworkTable,
    /// What it says about what clients are shown.
    pub serve: ServeTable,
    /// Which language model is asked.
    pub llm: LlmTable,
    /// Over which bus this machine meets others.
    pub cluster: ClusterTable,
    /// What it says about who may call what.
    pub policy: PolicyTable,
    /// What it says about personal data.
    pub privacy: PrivacyTable,
    /// The tables in it that only a user's own file may have, with their lines: they say how long
    /// everything in the data folder is kept, whichever project it came from, and what programs may do.
    pub user_tables: Vec<(&'static str, usize)>,
    /// Everything that is to be said about it.
    pub problems: Vec<Problem>,
}

impl Document {
    /// Reads a file that is there.
    pub fn read(file: &FileText, home: Option<&Path>) -> Self {
        let mut problems = Problems::of(&file.path);
        let mut document = match parse(file) {
            Ok(tree) => Self::of(&tree, &file.path, home, &mut problems),
            Err(what) => {
                let line = if let ProblemKind::Syntax(error) = &what { error.line() } else { None };
                problems.error("", line.unwrap_or(0), what);
                Self::default()
            }
        };
        document.problems = problems.into_vec();
        document
    }

    fn of(tree: &Node, path: &Path, home: Option<&Path>, problems: &mut Problems) -> Self {
        let mut document = Self::default();
        for (key, line) in tree.repeated_keys() {
            problems.error(&key, line, ProblemKind::Repeated);
        }
        let strictness = strictness(tree, path);
        let may_be_others = !is_client_file(path) && stem(path) != OWN_STEM;
        if let Some(entry) = other_system::telltale(tree).filter(|_| may_be_others) {
            let file = shown(&path.display().to_string());
            problems.error(&entry.key, entry.line, ProblemKind::OtherSystem { file });
            return document;
        }
        let Some(mut fields) = Fields::of(tree, "", problems) else { return document };
        let folders = Folders::of(path, home);
        let mut seen: HashMap<String, &str> = HashMap::new();
        for block in BLOCKS {
            let Some(node) = fields.take(block) else { continue };
            let strictness = if block == "servers" { strictness } else { Strictness::Foreign };
            document.read_block(node, block, strictness, &folders, &mut seen, problems);
        }
        document.read_level(&mut fields, problems);
        document.read_limits(&mut fields, problems);
        document.read_user_tables(&mut fields, strictness, &folders, problems);
        // Another client's keys of these names are none of our business.
        if strictness == Strictness::Ours {
            if let Some(node) = fields.take(policy_table::TABLE) {
                document.policy = policy_table::read(node, problems);
            }
            if let Some(node) = fields.take(privacy_table::TABLE) {
                document.privacy = privacy_table::read(node, problems);
            }
        }
        if fields.take("inputs").is_some() {
            let line = fields.line("inputs");
            problems.add(Severity::Note, "inputs", line, ProblemKind::Foreign(Foreign::Inputs));
        }
        fields.take("$schema");
        match strictness {
            Strictness::Ours => fields.finish(&KEYS, problems),
            Strictness::Foreign => {
                for entry in fields.left() {
                    let (severity, what) = match GUARDING_KEYS.contains(&entry.key.as_str()) {
                        true => (Severity::Warning, Foreign::NoGuard),
                        false => (Severity::Note, Foreign::Ignored),
                    };
                    problems.add(severity, &entry.key, entry.line, ProblemKind::Foreign(what));
                }
            }
        }
        document
    }

    fn read_block<'a>(
        &mut self,
        node: &'a Node,
        block: &'a str,
        strictness: Strictness,
        folders: &Folders,
        seen: &mut HashMap<String, &'a str>,
        problems: &mut Problems,
    ) {
        if !matches!(node.value, Value::Map(_)) {
            problems.wrong_type(block, node, "a table of servers");
            return;
        }
        for entry in node.entries() {
            let path = join(block, &entry.key);
            if seen.len() >= SERVERS_MAX {
                problems.error(&path, entry.line, ProblemKind::TooManyServers { max: SERVERS_MAX });
                return;
            }
            if let Some(other) = seen.insert(entry.key.clone(), block)
                && other != block
            {
                problems.error(&path, entry.line, ProblemKind::ServerTwice { block: other.to_owned() });
            }
            let server = server_entry::read(&entry.key, &entry.node, &path, strictness, folders, problems);
            match server {
                Some(server) if block != "servers" && is_ourselves(&server) => {
                    problems.add(Severity::Note, &path, entry.line, ProblemKind::Foreign(Foreign::Ourselves));
                }
                Some(server) => self.servers.push((server, entry.line)),
                None => {}
            }
        }
    }

    fn read_user_tables(
        &mut self,
        fields: &mut Fields<'_>,
        strictness: Strictness,
        folders: &Folders,
        problems: &mut Problems,
    ) {
        if let Some(node) = fields.take(sessions_table::TABLE) {
            self.sessions = sessions_table::read(node, problems);
            self.user_tables.push((sessions_table::TABLE, fields.line(sessions_table::TABLE)));
        }
        if let Some(node) = fields.take(history_table::TABLE) {
            self.history = history_table::read(node, problems);
            self.user_tables.push((history_table::TABLE, fields.line(history_table::TABLE)));
        }
        if let Some(node) = fields.take(results_table::TABLE) {
            self.results = results_table::read(node, problems);
            self.user_tables.push((results_table::TABLE, fields.line(results_table::TABLE)));
        }
        if let Some(node) = fields.take(audit_table::TABLE) {
            self.audit = audit_table::read(node, problems);
            self.user_tables.push((audit_table::TABLE, fields.line(audit_table::TABLE)));
        }
        // Another client's key of this name is none of our business.
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(approvals_table::TABLE)
        {
            self.approvals = approvals_table::read(node, folders, problems);
            self.user_tables.push((approvals_table::TABLE, fields.line(approvals_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(watch_table::TABLE)
        {
            self.watch = watch_table::read(node, problems);
            self.user_tables.push((watch_table::TABLE, fields.line(watch_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(alerts_table::TABLE)
        {
            self.alerts = alerts_table::read(node, folders, problems);
            self.user_tables.push((alerts_table::TABLE, fields.line(alerts_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(dashboard_table::TABLE)
        {
            self.dashboard = dashboard_table::read(node, problems);
            self.user_tables.push((dashboard_table::TABLE, fields.line(dashboard_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(engines_table::TABLE)
        {
            self.engines = engines_table::read(node, problems);
            self.user_tables.push((engines_table::TABLE, fields.line(engines_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(learning_table::TABLE)
        {
            self.learning = learning_table::read(node, problems);
            self.user_tables.push((learning_table::TABLE, fields.line(learning_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(search_table::TABLE)
        {
            self.search = search_table::read(node, problems);
            self.user_tables.push((search_table::TABLE, fields.line(search_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(network_table::TABLE)
        {
            self.network = network_table::read(node, folders, problems);
            self.user_tables.push((network_table::TABLE, fields.line(network_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(serve_table::TABLE)
        {
            self.serve = serve_table::read(node, problems);
            self.user_tables.push((serve_table::TABLE, fields.line(serve_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(llm_table::TABLE)
        {
            self.llm = llm_table::read(node, folders, problems);
            self.user_tables.push((llm_table::TABLE, fields.line(llm_table::TABLE)));
        }
        if strictness == Strictness::Ours
            && let Some(node) = fields.take(cluster_table::TABLE)
        {
            let line = fields.line(cluster_table::TABLE);
            self.cluster = cluster_table::read(node, line, folders, problems);
            self.user_tables.push((cluster_table::TABLE, line));
        }
        if let Some(node) = fields.take(guardrails_table::TABLE) {
            self.guardrails = guardrails_table::read(node, problems);
            self.user_tables.push((guardrails_table::TABLE, fields.line(guardrails_table::TABLE)));
        }
    }

    fn read_level(&mut self, fields: &mut Fields<'_>, problems: &mut Problems) {
        let Some((word, line)) = fields.text("level", problems) else { return };
        match word.parse::<Level>() {
            Ok(level) => self.level = Some((level, line)),
            Err(error) => problems.error("level", line, error.into()),
        }
    }

    fn read_limits(&mut self, fields: &mut Fields<'_>, problems: &mut Problems) {
        let Some(node) = fields.take("limits") else { return };
        let Some(mut fields) = Fields::of(node, "limits", problems) else { return };
        for name in LimitName::ALL {
            let Some((text, line)) =
                fields.quantity(name.as_str(), "a number or a text such as \"30s\"", problems)
            else {
                continue;
            };
            self.limits.push((name, text.to_owned(), line));
        }
        fields.finish(&LimitName::ALL.map(LimitName::as_str), problems);
    }
}

/// Whoever writes one of these into another client's file may rely on it.
const GUARDING_KEYS: [&str; 3] = [policy_table::TABLE, approvals_table::TABLE, guardrails_table::TABLE];

/// The file as a tree.
pub fn parse(file: &FileText) -> Result<Node, ProblemKind> {
    let format = Format::of(&file.path).ok_or(ReadError::UnknownFormat)?;
    Ok(format.parse(file.text()?)?)
}

/// Another client's file has keys of its own, which are none of our business.
fn strictness(tree: &Node, path: &Path) -> Strictness {
    let foreign_block = tree.entry("mcpServers").is_some() || tree.entry("mcp_servers").is_some();
    match stem(path) {
        OWN_STEM => Strictness::Ours,
        _ if is_client_file(path) => Strictness::Foreign,
        _ if foreign_block => Strictness::Foreign,
        _ => Strictness::Ours,
    }
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// Whether a file is other clients' by its name.
fn is_client_file(path: &Path) -> bool {
    matches!(stem(path), "mcp" | ".mcp")
}

/// Clients have us in their list of servers; we read that list, too. Our example servers are
/// servers like any other.
pub fn is_ourselves(server: &ServerSettings) -> bool {
    let Transport::Stdio { command, args, .. } = &server.transport else { return false };
    let name = command.as_plain().and_then(|command| command.rsplit('/').next());
    let first = args.iter().find_map(|arg| arg.as_plain().filter(|arg| !arg.starts_with('-')));
    name == Some("gristmill") && first != Some("example-server")
}
