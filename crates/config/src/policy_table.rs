//! The table `policy`: who may call what.
//!
//! A project's file may make things stricter. What would make them looser is left out, with a warning.

use std::str::FromStr;

use gristmill_gateway::domain::Level;
use gristmill_gateway::domain::policy::{
    AskedKind, Budgets, Condition, Decision, FLOW_RULE, Flow, PolicySettings, Preset, Rule,
};

use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::tree::{Node, Value, join};

pub const TABLE: &str = "policy";
pub(super) const KEYS: [&str; 6] =
    ["preset", "read_only", "read_only_sessions", "read_only_tokens", "flow", "rules"];
pub(super) const RULE_KEYS: [&str; 18] = [
    "name",
    "server",
    "tool",
    "kind",
    "where",
    "read_only_hint",
    "destructive_hint",
    "idempotent_hint",
    "open_world_hint",
    "token",
    "client",
    "session",
    "level",
    "decision",
    "calls_per_minute",
    "calls_per_execution",
    "calls_per_day",
    "reason",
];
pub(super) const KINDS: [&str; 3] = ["tool", "resource", "prompt"];

/// More than anyone reads through.
pub(super) const RULES_MAX: usize = 1_000;

pub(super) const PER_MINUTE_MAX: u64 = 100_000;
pub(super) const CALLS_MAX: u64 = 1_000_000_000;

/// What one file says, with its lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyTable {
    preset: Option<(Preset, usize)>,
    read_only: Option<(bool, usize)>,
    read_only_sessions: Vec<(String, usize)>,
    read_only_tokens: Vec<(String, usize)>,
    flow: Option<(Decision, usize)>,
    rules: Vec<(Rule, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug)]
pub struct PolicyConfig {
    pub settings: PolicySettings,
    pub preset_origin: Origin,
}

impl Default for PolicyConfig {
    fn default() -> Self {
        Self { settings: PolicySettings::default(), preset_origin: Origin::Default }
    }
}

/// Something of a project's file that would permit more than the user's own does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looser {
    pub key: String,
    pub line: usize,
}

impl PolicyConfig {
    /// Lays what a user's file says over it.
    pub fn lay_over(&mut self, table: &PolicyTable, origin: impl Fn(usize) -> Origin) {
        if let Some((preset, line)) = table.preset {
            self.take_preset(preset, origin(line));
        }
        if let Some((read_only, line)) = table.read_only {
            self.settings.read_only = read_only.then(|| origin(line).to_string());
        }
        if let Some((decision, line)) = table.flow {
            self.settings.flow = Flow::new(decision, &origin(line).to_string());
        }
        self.settings.user.extend(with_origins(&table.rules, &origin));
        self.take_read_only_lists(table, &origin);
    }

    /// Lays what a project's file says over it, as far as that is stricter. What is not comes back.
    pub fn tighten(&mut self, table: &PolicyTable, origin: impl Fn(usize) -> Origin) -> Vec<Looser> {
        let mut looser = Vec::new();
        match table.preset {
            Some((preset, line)) if preset > self.settings.preset => self.take_preset(preset, origin(line)),
            Some((preset, line)) if preset < self.settings.preset => {
                looser.push(Looser { key: join(TABLE, "preset"), line });
            }
            Some(_) | None => {}
        }
        match table.read_only {
            Some((true, line)) => {
                self.settings.read_only.get_or_insert_with(|| origin(line).to_string());
            }
            Some((false, line)) if self.settings.read_only.is_some() => {
                looser.push(Looser { key: join(TABLE, "read_only"), line });
            }
            Some((false, _)) | None => {}
        }
        // As written, whatever the level makes of it.
        let current = self.settings.flow.decision(Level::Development);
        match table.flow {
            Some((decision, line)) if decision > current => {
                self.settings.flow = Flow::new(decision, &origin(line).to_string());
            }
            Some((decision, line)) if decision < current => {
                looser.push(Looser { key: join(TABLE, "flow"), line });
            }
            Some(_) | None => {}
        }
        for (index, (rule, line)) in table.rules.iter().enumerate() {
            if rule.decision == Some(Decision::Allow) {
                looser.push(Looser { key: format!("{TABLE}.rules[{index}]"), line: *line });
            } else {
                self.settings.project.push((rule.clone(), origin(*line).to_string()));
            }
        }
        self.take_read_only_lists(table, &origin);
        looser
    }

    fn take_preset(&mut self, preset: Preset, origin: Origin) {
        self.settings.preset = preset;
        self.settings.preset_origin = origin.to_string();
        self.preset_origin = origin;
    }

    fn take_read_only_lists(&mut self, table: &PolicyTable, origin: &impl Fn(usize) -> Origin) {
        self.settings.read_only_sessions.extend(with_origins(&table.read_only_sessions, origin));
        self.settings.read_only_tokens.extend(with_origins(&table.read_only_tokens, origin));
    }
}

fn with_origins<T: Clone>(items: &[(T, usize)], origin: impl Fn(usize) -> Origin) -> Vec<(T, String)> {
    items.iter().map(|(item, line)| (item.clone(), origin(*line).to_string())).collect()
}

/// A table, or the preset's name alone.
pub fn read(node: &Node, problems: &mut Problems) -> PolicyTable {
    if let Value::Text(word) = &node.value {
        let preset = word_of(word, TABLE, node.line, &Preset::ALL.map(Preset::as_str), problems);
        return PolicyTable { preset: preset.map(|preset| (preset, node.line)), ..PolicyTable::default() };
    }
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return PolicyTable::default() };
    let preset = word(&mut fields, "preset", &Preset::ALL.map(Preset::as_str), problems);
    let table = PolicyTable {
        preset,
        read_only: fields.flag("read_only", problems).map(|flag| (flag, fields.line("read_only"))),
        read_only_sessions: fields.texts("read_only_sessions", problems),
        read_only_tokens: fields.texts("read_only_tokens", problems),
        flow: word(&mut fields, "flow", &Decision::ALL.map(Decision::as_str), problems),
        rules: rules(&mut fields, problems),
    };
    fields.finish(&KEYS, problems);
    table
}

fn rules(fields: &mut Fields<'_>, problems: &mut Problems) -> Vec<(Rule, usize)> {
    let Some(node) = fields.take("rules") else { return Vec::new() };
    let path = fields.path("rules");
    let Value::List(nodes) = &node.value else {
        problems.wrong_type(&path, node, "a list of rules");
        return Vec::new();
    };
    if nodes.len() > RULES_MAX {
        problems.error(&path, node.line, ProblemKind::TooManyRules { max: RULES_MAX });
        return Vec::new();
    }
    let read = |(index, node): (usize, &Node)| rule(node, &format!("{path}[{index}]"), problems);
    nodes.iter().enumerate().filter_map(read).collect()
}

fn rule(node: &Node, path: &str, problems: &mut Problems) -> Option<(Rule, usize)> {
    let mut fields = Fields::of(node, path, problems)?;
    let rule = Rule {
        name: text(&mut fields, "name", problems),
        server: text(&mut fields, "server", problems),
        tool: text(&mut fields, "tool", problems),
        kind: kind(&mut fields, problems),
        conditions: conditions(&mut fields, problems),
        read_only_hint: fields.flag("read_only_hint", problems),
        destructive_hint: fields.flag("destructive_hint", problems),
        idempotent_hint: fields.flag("idempotent_hint", problems),
        open_world_hint: fields.flag("open_world_hint", problems),
        token: text(&mut fields, "token", problems),
        client: text(&mut fields, "client", problems),
        session: text(&mut fields, "session", problems),
        level: word(&mut fields, "level", &Level::ALL.map(Level::as_str), problems).map(|(level, _)| level),
        decision: word(&mut fields, "decision", &Decision::ALL.map(Decision::as_str), problems)
            .map(|(decision, _)| decision),
        budgets: Budgets {
            calls_per_minute: count(&mut fields, "calls_per_minute", PER_MINUTE_MAX, problems),
            calls_per_execution: count(&mut fields, "calls_per_execution", CALLS_MAX, problems),
            calls_per_day: count(&mut fields, "calls_per_day", CALLS_MAX, problems),
        },
        reason: text(&mut fields, "reason", problems),
    };
    let line = node.entries().first().map_or(node.line, |first| first.line);
    // One that is there and wrong has been told of.
    let says = ["decision", "calls_per_minute", "calls_per_execution", "calls_per_day"];
    let says_nothing = says.iter().all(|key| fields.line(key) == 0);
    fields.finish(&RULE_KEYS, problems);
    if says_nothing {
        problems.error(path, line, ProblemKind::NoDecision);
    }
    // An answer for good to one would count for the other.
    if rule.name.as_deref() == Some(FLOW_RULE) {
        problems.error(&join(path, "name"), line, ProblemKind::FlowName);
    }
    Some((rule, line))
}

fn text(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Option<String> {
    let (text, line) = fields.text(key, problems)?;
    if text.is_empty() {
        problems.error(&fields.path(key), line, ProblemKind::Empty);
        return None;
    }
    Some(text.to_owned())
}

fn kind(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<AskedKind> {
    let (text, line) = fields.text("kind", problems)?;
    match text {
        "tool" => Some(AskedKind::Tool),
        "resource" => Some(AskedKind::Resource),
        "prompt" => Some(AskedKind::Prompt),
        other => {
            problems.error(&fields.path("kind"), line, ProblemKind::not_one_of(other, &KINDS));
            None
        }
    }
}

fn conditions(fields: &mut Fields<'_>, problems: &mut Problems) -> Vec<Condition> {
    let path = fields.path("where");
    let mut conditions = Vec::new();
    for (argument, test, line) in fields.named_texts("where", problems) {
        match Condition::read(argument, &test) {
            Ok(condition) => conditions.push(condition),
            Err(error) => problems.error(&join(&path, argument), line, error.into()),
        }
    }
    conditions
}

fn count(fields: &mut Fields<'_>, key: &str, max: u64, problems: &mut Problems) -> Option<u32> {
    fields.whole(key, 1, max, problems).and_then(|count| u32::try_from(count).ok())
}

fn word<T: FromStr>(
    fields: &mut Fields<'_>,
    key: &str,
    known: &[&str],
    problems: &mut Problems,
) -> Option<(T, usize)> {
    let (text, line) = fields.text(key, problems)?;
    Some((word_of(text, &fields.path(key), line, known, problems)?, line))
}

fn word_of<T: FromStr>(
    text: &str,
    path: &str,
    line: usize,
    known: &[&str],
    problems: &mut Problems,
) -> Option<T> {
    let read = text.parse().ok();
    if read.is_none() {
        problems.error(path, line, ProblemKind::not_one_of(text, known));
    }
    read
}
