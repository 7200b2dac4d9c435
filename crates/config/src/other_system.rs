//! Configurations of other systems that run code for agents: what each key becomes here, or why it has no
//! counterpart. Only `gristmill import --from FILE` uses it: such a file is never read as ours.

mod limits;
mod llm;
mod network;
mod refusal;

use gristmill_gateway::domain::{Level, LimitName};

use super::edit_settings::Setting;
use super::problem::shown;
use super::tree::{Entry, Node, Value, join};
use network::Network;
pub use refusal::new_errors;
use refusal::refusal;

/// Keys that a file of ours never has at its top.
const OTHERS: [&str; 12] = [
    "execution",
    "timeout_seconds",
    "memory_limit_mb",
    "cpu_limit_percent",
    "allow_network",
    "allowed_hosts",
    "allowed_modules",
    "workspace_size_mb",
    "max_file_size_mb",
    "WORKSPACE_DIR",
    "SERVERS_DIR",
    "SKILLS_DIR",
];
/// The same in `guardrails`, which we have, too.
const OTHERS_IN_GUARDRAILS: [&str; 4] = ["enabled", "security_checks", "max_execution_time", "max_memory_mb"];
/// Tables that only group keys.
const GROUPS: [&str; 7] =
    ["execution", "guardrails", "sandbox", "security", "limits", "resources", "network"];
/// Where servers are.
const SERVERS: [&str; 3] = ["mcpServers", "servers", "mcp_servers"];
/// Keys that are looked at.
const KEYS_MAX: usize = 500;

/// What a file comes to.
#[derive(Debug, Default)]
pub struct OtherSystem {
    /// Every key, in the order of the file.
    pub rows: Vec<Row>,
    pub settings: Vec<Setting>,
    /// A key for a model, which belongs into `.env`. Its setting is not among the others.
    pub api_key: Option<String>,
    /// Servers by name, as clients write them.
    pub servers: Vec<(String, Node)>,
}

/// One key of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// With the tables that it is in.
    pub key: String,
    /// From 1.
    pub line: usize,
    pub becomes: Becomes,
}

/// What a key becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// A setting, as a file of ours has it.
    Setting(String),
    /// Nothing: it is so anyway.
    AlreadySo(&'static str),
    /// Nothing: there is no counterpart.
    Nothing(String),
    /// Nothing: there is a counterpart, which can't have this value.
    NotTaken(String),
    /// A server, by name.
    Server,
}

/// The first key that shows that a file is another system's.
pub fn telltale(tree: &Node) -> Option<&Entry> {
    let in_guardrails = tree.entry("guardrails").and_then(|guardrails| {
        guardrails.node.entries().iter().find(|entry| OTHERS_IN_GUARDRAILS.contains(&entry.key.as_str()))
    });
    tree.entries().iter().find(|entry| OTHERS.contains(&entry.key.as_str())).or(in_guardrails)
}

/// What everything in a file becomes, within the limits of a level.
pub fn translate(tree: &Node, level: Level) -> OtherSystem {
    let network = Network::of(tree);
    let mut translating = Translating { level, network, claims: Vec::new(), made: OtherSystem::default() };
    for entry in tree.entries().iter().take(KEYS_MAX) {
        let key = entry.key.as_str();
        match &entry.node.value {
            _ if SERVERS.contains(&key) => translating.servers(entry),
            Value::Map(_) if key == "llm" => translating.table(entry, Translating::llm),
            Value::Map(_) if GROUPS.contains(&key) => translating.table(entry, Translating::plain),
            Value::Null if key == "llm" || GROUPS.contains(&key) => translating.unset(entry, key),
            _ if key == "llm" || GROUPS.contains(&key) => {
                translating.not_taken(entry, key, "it isn't a table");
            }
            _ => translating.plain(entry, &entry.key),
        }
    }
    let Translating { claims, mut made, .. } = translating;
    made.settings = claims.into_iter().flat_map(|claim| claim.settings).collect();
    made
}

struct Translating {
    level: Level,
    network: Network,
    claims: Vec<Claim>,
    made: OtherSystem,
}

/// A key that sets something, unless another one for the same counts.
struct Claim {
    row: usize,
    settings: Vec<Setting>,
    /// Where less is stricter: how much it permits.
    amount: Option<u64>,
}

impl Claim {
    fn is_about(&self, settings: &[Setting]) -> bool {
        let same = |one: &Setting, other: &Setting| (one.table, one.key) == (other.table, other.key);
        self.settings.iter().any(|one| settings.iter().any(|other| same(one, other)))
    }

    /// Whether it is stricter than an earlier one; none if neither is stricter.
    fn is_stricter_than(&self, other: &Self) -> Option<bool> {
        Some(self.amount? < other.amount?)
    }
}

impl Translating {
    fn table(&mut self, entry: &Entry, each: fn(&mut Self, &Entry, &str)) {
        for inner in entry.node.entries().iter().take(KEYS_MAX) {
            each(self, inner, &join(&entry.key, &inner.key));
        }
    }

    fn row(&mut self, entry: &Entry, path: &str, becomes: Becomes) {
        self.made.rows.push(Row { key: path.to_owned(), line: entry.line, becomes });
    }

    fn nothing(&mut self, entry: &Entry, path: &str, why: &str) {
        self.row(entry, path, Becomes::Nothing(why.to_owned()));
    }

    fn not_taken(&mut self, entry: &Entry, path: &str, why: &str) {
        self.row(entry, path, Becomes::NotTaken(why.to_owned()));
    }

    fn unset(&mut self, entry: &Entry, path: &str) {
        self.row(entry, path, Becomes::AlreadySo("nothing is set"));
    }

    /// One setting, unless our own reader would refuse it.
    fn set(&mut self, entry: &Entry, path: &str, setting: Setting) {
        self.set_with_note(entry, path, setting, "");
    }

    fn set_with_note(&mut self, entry: &Entry, path: &str, setting: Setting, note: &str) {
        // Only `strict_mode` is a switch of which one side is stricter.
        let amount = match setting.key {
            "strict_mode" => flag(&setting.value).map(|is_strict| u64::from(!is_strict)),
            _ => None,
        };
        match refusal(&setting) {
            Some(why) => self.not_taken(entry, path, &why),
            None => self.claim(entry, path, vec![setting], amount, note),
        }
    }

    /// Of two keys for one setting the stricter counts, or else the later; the other's row says so.
    fn claim(&mut self, entry: &Entry, path: &str, settings: Vec<Setting>, amount: Option<u64>, note: &str) {
        let texts: Vec<String> = settings.iter().map(Setting::text).collect();
        let claim = Claim { row: self.made.rows.len(), settings, amount };
        self.row(entry, path, Becomes::Setting(format!("{}{note}", texts.join(", "))));
        let Some(at) = self.claims.iter().position(|other| other.is_about(&claim.settings)) else {
            return self.claims.push(claim);
        };
        let other = &self.claims[at];
        let is_same = other.settings.iter().map(Setting::text).eq(texts);
        if is_same {
            return;
        }
        let (loser, counts, why) = match claim.is_stricter_than(other) {
            Some(true) => (other.row, claim.row, "is stricter"),
            Some(false) => (claim.row, other.row, "is stricter"),
            None => (other.row, claim.row, "comes later"),
        };
        let counting = shown(&self.made.rows[counts].key);
        self.made.rows[loser].becomes = Becomes::NotTaken(format!("`{counting}` {why} and counts"));
        if counts == claim.row {
            self.claims[at] = claim;
        }
    }

    fn plain(&mut self, entry: &Entry, path: &str) {
        match entry.key.as_str() {
            _ if matches!(entry.node.value, Value::Null) => self.unset(entry, path),
            "workspace_dir" | "WORKSPACE_DIR" => self.nothing(
                entry,
                path,
                "every session has a workspace of its own in the data folder; GRISTMILL_DATA_DIR moves that",
            ),
            "servers_dir" | "SERVERS_DIR" => self.nothing(
                entry,
                path,
                "the files under /servers are made from the connected servers; add those instead",
            ),
            "skills_dir" | "SKILLS_DIR" => self.nothing(
                entry,
                path,
                "skills are kept in the data folder; add your files with `gristmill skills import`",
            ),
            "sandbox_type" => self.nothing(
                entry,
                path,
                "programs always run in WebAssembly inside a confined process; `level` says how strict that is",
            ),
            "allow_network_access" | "allow_network" => self.network(entry, path),
            "allowed_hosts" => self.hosts(entry, path),
            "allowed_modules" => self.modules(entry, path),
            "enabled" if path == "network.enabled" => self.network(entry, path),
            "enabled" | "security_checks" => self.checks(entry, path),
            "strict_mode" => self.set(entry, path, setting("guardrails", "strict_mode", entry.node.clone())),
            "max_execution_time" | "timeout_seconds" => {
                self.limit(entry, path, &[LimitName::WallTime, LimitName::CpuTime], "s");
            }
            "max_memory_mb" | "memory_limit_mb" => self.limit(entry, path, &[LimitName::Memory], "M"),
            "workspace_size_mb" => self.limit(entry, path, &[LimitName::WorkspaceBytes], "M"),
            "max_file_size_mb" => self.limit(entry, path, &[LimitName::FileBytes], "M"),
            "cpu_limit_percent" => self.limit(entry, path, &[LimitName::CpuPercent], "%"),
            _ => self.nothing(entry, path, "there is no such setting here"),
        }
    }

    fn modules(&mut self, entry: &Entry, path: &str) {
        match texts(&entry.node) {
            Some(modules) if modules.is_empty() => {
                self.row(entry, path, Becomes::AlreadySo("every module that is there may be imported"));
            }
            Some(modules) => {
                self.set(entry, path, setting("guardrails", "allowed_modules", list(modules)));
            }
            None => self.not_taken(entry, path, "it isn't a list of modules"),
        }
    }

    /// `guardrails.enabled` and `guardrails.security_checks`.
    fn checks(&mut self, entry: &Entry, path: &str) {
        match flag(&entry.node) {
            Some(true) => {
                self.row(entry, path, Becomes::AlreadySo("every program is checked before it runs"))
            }
            _ => self.nothing(
                entry,
                path,
                "checks can't be chosen or switched off; they only refuse what fails for certain, unless \
                 `strict_mode` is set",
            ),
        }
    }

    /// A table by name, or a list of servers with names.
    fn servers(&mut self, entry: &Entry) {
        let listed: Vec<(String, Node)> = match &entry.node.value {
            Value::Map(servers) => servers
                .iter()
                .take(KEYS_MAX)
                .map(|server| (server.key.clone(), server.node.clone()))
                .collect(),
            Value::List(servers) => servers.iter().take(KEYS_MAX).filter_map(named).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => Vec::new(),
        };
        if listed.is_empty() && !matches!(entry.node.value, Value::Null) {
            self.not_taken(entry, &entry.key, "it has no servers with names");
        }
        for (name, node) in listed {
            self.row(entry, &join(&entry.key, &name), Becomes::Server);
            self.made.servers.retain(|(other, _)| *other != name);
            self.made.servers.push((name, node));
        }
    }
}

fn named(node: &Node) -> Option<(String, Node)> {
    let Value::Text(name) = &node.entry("name")?.node.value else { return None };
    let rest = node.entries().iter().filter(|entry| entry.key != "name").cloned().collect();
    Some((name.clone(), Node { line: node.line, value: Value::Map(rest) }))
}

fn setting(table: &'static str, key: &'static str, value: Node) -> Setting {
    Setting { table: Some(table), key, value }
}

fn flag(node: &Node) -> Option<bool> {
    match &node.value {
        Value::Bool(flag) => Some(*flag),
        Value::Null | Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
    }
}

/// A list of texts; a single one is a list of one.
fn texts(node: &Node) -> Option<Vec<String>> {
    let text = |node: &Node| match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    };
    match &node.value {
        Value::List(nodes) => nodes.iter().map(text).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
            text(node).map(|text| vec![text])
        }
    }
}

fn list(texts: Vec<String>) -> Node {
    Node::list(texts.into_iter().map(Node::text).collect())
}
