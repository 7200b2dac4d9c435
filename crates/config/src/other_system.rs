//! Configurations of other systems that run code for agents: what each key becomes here, or why it has no
//! counterpart. Only `gristmill import --from FILE` uses it: such a file is never read as ours.

use gristmill_gateway::domain::{Level, LimitName, Limits};

use super::edit_settings::Setting;
use super::tree::{Entry, Node, Value, join};

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
const GROUPS: [&str; 6] = ["execution", "guardrails", "sandbox", "security", "limits", "resources"];
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
    let mut translating = Translating { level, made: OtherSystem::default() };
    for entry in tree.entries().iter().take(KEYS_MAX) {
        let key = entry.key.as_str();
        match &entry.node.value {
            _ if SERVERS.contains(&key) => translating.servers(entry),
            Value::Map(_) if key == "llm" => translating.table(entry, Translating::llm),
            Value::Map(_) if GROUPS.contains(&key) => translating.table(entry, Translating::plain),
            _ => translating.plain(entry, &entry.key),
        }
    }
    translating.made
}

struct Translating {
    level: Level,
    made: OtherSystem,
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

    fn set(&mut self, entry: &Entry, path: &str, settings: Vec<Setting>) {
        let texts: Vec<String> = settings.iter().map(Setting::text).collect();
        for setting in settings {
            // Two keys may mean the same; the later one counts, as in the file itself.
            self.made.settings.retain(|other| (other.table, other.key) != (setting.table, setting.key));
            self.made.settings.push(setting);
        }
        self.row(entry, path, Becomes::Setting(texts.join(", ")));
    }

    fn plain(&mut self, entry: &Entry, path: &str) {
        match entry.key.as_str() {
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
            "enabled" | "security_checks" => self.checks(entry, path),
            "strict_mode" => match flag(&entry.node) {
                Some(_) => {
                    self.set(entry, path, vec![setting("guardrails", "strict_mode", entry.node.clone())]);
                }
                None => self.nothing(entry, path, "it isn't true or false"),
            },
            "max_execution_time" | "timeout_seconds" => {
                self.limit(entry, path, &[LimitName::WallTime, LimitName::CpuTime], "s");
            }
            "max_memory_mb" | "memory_limit_mb" => self.limit(entry, path, &[LimitName::Memory], "M"),
            "workspace_size_mb" => self.limit(entry, path, &[LimitName::WorkspaceBytes], "M"),
            "max_file_size_mb" => self.limit(entry, path, &[LimitName::FileBytes], "M"),
            "cpu_limit_percent" => self.nothing(
                entry,
                path,
                "a program's share of the processor isn't limited; `limits.cpu_time` bounds all that it uses",
            ),
            _ => self.nothing(entry, path, "there is no such setting here"),
        }
    }

    fn network(&mut self, entry: &Entry, path: &str) {
        match flag(&entry.node) {
            Some(false) => self.row(entry, path, Becomes::AlreadySo("programs have no network")),
            _ => self.nothing(
                entry,
                path,
                "programs have no network of their own; name the hosts they may reach in `allowed_hosts`",
            ),
        }
    }

    fn hosts(&mut self, entry: &Entry, path: &str) {
        let Some(hosts) = texts(&entry.node) else {
            return self.nothing(entry, path, "it isn't a list of hosts");
        };
        if hosts.is_empty() {
            return self.row(entry, path, Becomes::AlreadySo("programs have no network"));
        }
        if hosts.iter().any(|host| host.trim_matches('.') == "*") {
            return self.nothing(
                entry,
                path,
                "every host can't be allowed at once; name those that are needed",
            );
        }
        self.set(entry, path, vec![setting("network", "allowed_hosts", list(hosts))]);
    }

    fn modules(&mut self, entry: &Entry, path: &str) {
        match texts(&entry.node) {
            Some(modules) if modules.is_empty() => {
                self.row(entry, path, Becomes::AlreadySo("every module that is there may be imported"));
            }
            Some(modules) => {
                self.set(entry, path, vec![setting("guardrails", "allowed_modules", list(modules))]);
            }
            None => self.nothing(entry, path, "it isn't a list of modules"),
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

    fn limit(&mut self, entry: &Entry, path: &str, names: &[LimitName], unit: &str) {
        let number = match &entry.node.value {
            Value::Number(text) | Value::Text(text) => text.trim().parse::<f64>().ok(),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        };
        let Some(number) = number.filter(|number| number.is_finite() && *number > 0.0) else {
            return self.nothing(entry, path, "it isn't a number above 0");
        };
        // Parts of a unit are written in the next smaller one.
        let text = match (number.fract() == 0.0, unit) {
            (true, _) => format!("{number}{unit}"),
            (false, "s") => format!("{}ms", (number * 1_000.0).round()),
            (false, _) => format!("{}K", (number * 1_024.0).round()),
        };
        let mut limits = Limits::of(self.level);
        for name in names {
            if let Err(error) = limits.set_text(name.as_str(), &text) {
                return self.row(entry, path, Becomes::Nothing(error.to_string()));
            }
        }
        let set = names.iter().map(|name| setting("limits", name.as_str(), Node::text(text.as_str())));
        self.set(entry, path, set.collect());
    }

    fn llm(&mut self, entry: &Entry, path: &str) {
        let key = match entry.key.as_str() {
            "enabled" => "enabled",
            "provider" => "provider",
            "model" | "model_name" => "model",
            "url" | "base_url" | "endpoint" | "azure_endpoint" | "api_base" => "url",
            "deployment" | "deployment_name" | "azure_deployment" => "deployment",
            "api_version" | "azure_api_version" => "api_version",
            "temperature" => "temperature",
            "max_tokens" => "max_tokens",
            "timeout" | "timeout_seconds" => "timeout",
            "api_key" | "azure_api_key" => return self.api_key(entry, path),
            _ => return self.nothing(entry, path, "there is no such setting here"),
        };
        match &entry.node.value {
            Value::Null => self.row(entry, path, Becomes::AlreadySo("nothing is set")),
            Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                self.set(entry, path, vec![setting("llm", key, entry.node.clone())]);
            }
            Value::List(_) | Value::Map(_) => self.nothing(entry, path, "it isn't a single value"),
        }
    }

    /// A key is a secret: it goes into `.env`, unless the file only refers to one.
    fn api_key(&mut self, entry: &Entry, path: &str) {
        let Value::Text(text) = &entry.node.value else {
            return self.row(entry, path, Becomes::AlreadySo("no key is set"));
        };
        if text.is_empty() {
            return self.row(entry, path, Becomes::AlreadySo("no key is set"));
        }
        let is_reference = text.starts_with("${") && text.ends_with('}');
        if is_reference {
            return self.set(entry, path, vec![setting("llm", "api_key", entry.node.clone())]);
        }
        self.made.api_key = Some(text.clone());
        self.row(entry, path, Becomes::Setting("llm.api_key, a reference to a variable in .env".to_owned()));
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
            self.nothing(entry, &entry.key, "it has no servers with names");
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

fn texts(node: &Node) -> Option<Vec<String>> {
    let Value::List(nodes) = &node.value else { return None };
    let text = |node: &Node| match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    };
    nodes.iter().take(KEYS_MAX).map(text).collect()
}

fn list(texts: Vec<String>) -> Node {
    Node::list(texts.into_iter().map(Node::text).collect())
}
