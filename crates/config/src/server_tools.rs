//! Which tools of a server are offered, in our own words or in another client's. A rule that cannot be
//! read is a mistake: leaving it out would offer what somebody hid.

use gristmill_gateway::domain::{ToolPattern, ToolRules};

use super::fields::Fields;
use super::problem::{Foreign, ProblemKind, Problems, Severity};
use super::strictness::Strictness;
use super::tree::{Node, Value};

pub const KEYS: [&str; 2] = ["include", "exclude"];

/// What other clients call the tools that they offer, and those that they hide.
const FOREIGN_INCLUDE: [&str; 4] = ["includeTools", "enabled_tools", "enabledTools", "allowedTools"];
const FOREIGN_EXCLUDE: [&str; 3] = ["excludeTools", "disabled_tools", "disabledTools"];

/// Whether it is what another client calls one of them.
pub fn is_foreign(key: &str) -> bool {
    FOREIGN_INCLUDE.contains(&key) || FOREIGN_EXCLUDE.contains(&key)
}

/// Rules of one server; more are nobody's.
const PATTERNS_MAX: usize = 1_000;

pub fn read(fields: &mut Fields<'_>, strictness: Strictness, problems: &mut Problems) -> ToolRules {
    let mut rules = ToolRules::default();
    if let Some(node) = fields.take("tools") {
        own(node, &fields.path("tools"), strictness, &mut rules, problems);
    }
    for key in FOREIGN_INCLUDE {
        if let Some(node) = fields.take(key) {
            include(&mut rules, patterns(node, &fields.path(key), problems));
        }
    }
    for key in FOREIGN_EXCLUDE {
        if let Some(node) = fields.take(key) {
            rules.exclude.extend(patterns(node, &fields.path(key), problems));
        }
    }
    rules
}

/// A table of ours, a list of what is included, or settings for each tool, which another client has.
fn own(node: &Node, path: &str, strictness: Strictness, rules: &mut ToolRules, problems: &mut Problems) {
    if let Value::List(_) = &node.value {
        return include(rules, patterns(node, path, problems));
    }
    let Some(mut fields) = Fields::of(node, path, problems) else { return };
    let is_ours = |key: &str| KEYS.contains(&key);
    if strictness == Strictness::Foreign && fields.left().any(|entry| !is_ours(&entry.key)) {
        let off = fields.left().filter(|entry| is_off(&entry.node));
        rules.exclude.extend(off.filter_map(|entry| ToolPattern::read(&entry.key)));
        problems.add(Severity::Note, path, node.line, ProblemKind::Foreign(Foreign::ToolsOneByOne));
        return;
    }
    if let Some(node) = fields.take("include") {
        include(rules, patterns(node, &fields.path("include"), problems));
    }
    if let Some(node) = fields.take("exclude") {
        rules.exclude.extend(patterns(node, &fields.path("exclude"), problems));
    }
    fields.finish(&KEYS, problems);
}

/// Whether a client's setting of one tool turns it off.
fn is_off(node: &Node) -> bool {
    let flag =
        |key: &str, value: bool| node.entry(key).is_some_and(|entry| entry.node.value == Value::Bool(value));
    node.value == Value::Bool(false) || flag("enabled", false) || flag("disabled", true)
}

/// What two rules include is what both do.
fn include(rules: &mut ToolRules, also: Vec<ToolPattern>) {
    match &mut rules.include {
        None => rules.include = Some(also),
        Some(included) => included.retain(|pattern| also.contains(pattern)),
    }
}

fn patterns(node: &Node, path: &str, problems: &mut Problems) -> Vec<ToolPattern> {
    let Value::List(nodes) = &node.value else {
        problems.wrong_type(path, node, "a list of tool names");
        return Vec::new();
    };
    if nodes.len() > PATTERNS_MAX {
        problems.error(path, node.line, ProblemKind::OutOfRange { min: 0, max: PATTERNS_MAX as u64 });
        return Vec::new();
    }
    let mut patterns = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let pattern = match &node.value {
            // Some clients write what a tool may be called with after its name.
            Value::Text(text) => ToolPattern::read(text.split('(').next().unwrap_or_default().trim()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
        };
        match pattern {
            Some(pattern) => patterns.push(pattern),
            None => problems.wrong_type(&format!("{path}[{index}]"), node, "a tool's name"),
        }
    }
    patterns
}
