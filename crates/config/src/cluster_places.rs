//! The tables `cluster.place`: which programs run on nodes, and on which.

use gristmill_gateway::domain::Level;
use gristmill_gateway::domain::policy::wildcard_fits;
use gristmill_gateway::ports::{RemoteProgram, RunWhere};
use gristmill_gateway::{EngineId, engine_named};
use serde_json::{Map, Value as Json, json};

use super::cluster_names::{LABEL_CHARS_MAX, LABELS_MAX, is_plain_name};
use super::fields::Fields;
use super::problem::{ProblemKind, Problems};
use super::tree::{Node, Value};

pub(super) const KEYS: [&str; 6] = ["engines", "levels", "tokens", "sessions", "run", "labels"];
pub(super) const RUN: [&str; 3] = ["here", "nodes", "anywhere"];

/// More than anyone reads through.
const RULES_MAX: usize = 100;
/// Of tokens and sessions in one rule.
const PATTERNS_MAX: usize = 100;

/// Where some programs run. What is `None` fits every program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceRule {
    pub engines: Option<Vec<EngineId>>,
    pub levels: Option<Vec<Level>>,
    /// Names of access tokens, with stars.
    pub tokens: Option<Vec<String>>,
    /// Names or handles of sessions, with stars.
    pub sessions: Option<Vec<String>>,
    pub run: RunWhere,
    /// A node must have all of them.
    pub labels: Vec<String>,
}

impl PlaceRule {
    /// Whether it is about this program. One without a token or a session fits no pattern of them.
    pub fn fits(&self, program: &RemoteProgram) -> bool {
        let matches = |patterns: &Option<Vec<String>>, name: &Option<String>| match (patterns, name) {
            (None, _) => true,
            (Some(patterns), Some(name)) => patterns.iter().any(|pattern| wildcard_fits(pattern, name)),
            (Some(_), None) => false,
        };
        self.engines.as_ref().is_none_or(|engines| engines.contains(&program.engine))
            && self.levels.as_ref().is_none_or(|levels| levels.contains(&program.level))
            && matches(&self.tokens, &program.token)
            && matches(&self.sessions, &program.session)
    }

    /// Key and value, as a file would have them; what it says nothing about is left out.
    pub fn shown(&self) -> Vec<(&'static str, Json)> {
        let names = |engines: &Vec<EngineId>| json!(engines.iter().map(|one| one.name()).collect::<Vec<_>>());
        let levels = |levels: &Vec<Level>| json!(levels.iter().map(|one| one.as_str()).collect::<Vec<_>>());
        let texts = |texts: &Vec<String>| json!(texts);
        let values = [
            self.engines.as_ref().map(names),
            self.levels.as_ref().map(levels),
            self.tokens.as_ref().map(texts),
            self.sessions.as_ref().map(texts),
            Some(json!(run_word(self.run))),
            (!self.labels.is_empty()).then(|| json!(self.labels)),
        ];
        KEYS.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?))).collect()
    }

    pub fn as_json(&self) -> Json {
        let entries = self.shown().into_iter().map(|(key, value)| (key.to_owned(), value));
        Json::Object(entries.collect::<Map<_, _>>())
    }
}

/// As a file has it.
pub fn run_word(run: RunWhere) -> &'static str {
    match run {
        RunWhere::Here => RUN[0],
        RunWhere::Nodes => RUN[1],
        RunWhere::Anywhere => RUN[2],
    }
}

/// The rules, in order: the first that fits a program decides.
pub(super) fn read(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Vec<PlaceRule> {
    let Some(node) = fields.take(key) else { return Vec::new() };
    let path = fields.path(key);
    let Value::List(nodes) = &node.value else {
        problems.wrong_type(&path, node, "a list of tables");
        return Vec::new();
    };
    if nodes.len() > RULES_MAX {
        problems.error(&path, node.line, ProblemKind::TooManyRules { max: RULES_MAX });
        return Vec::new();
    }
    let read = |(index, node): (usize, &Node)| rule(node, &format!("{path}[{index}]"), problems);
    nodes.iter().enumerate().filter_map(read).collect()
}

fn rule(node: &Node, path: &str, problems: &mut Problems) -> Option<PlaceRule> {
    let mut fields = Fields::of(node, path, problems)?;
    let engines = list(&mut fields, "engines", problems, |name| {
        let names: Vec<&str> = EngineId::ALL.iter().map(|engine| engine.name()).collect();
        engine_named(name).map_err(|_| ProblemKind::not_one_of(name, &names))
    });
    let levels = list(&mut fields, "levels", problems, |name| Ok(name.parse::<Level>()?));
    let pattern = |text: &str| match text {
        "" => Err(ProblemKind::Empty),
        text => Ok(text.to_owned()),
    };
    let tokens = list(&mut fields, "tokens", problems, pattern);
    let sessions = list(&mut fields, "sessions", problems, pattern);
    let line = node.entries().first().map_or(node.line, |first| first.line);
    let is_said = fields.line("run") > 0;
    let run = run(&mut fields, problems);
    let labels_line = fields.line("labels");
    let labels = labels(&mut fields, problems);
    fields.finish(&KEYS, problems);
    if !is_said {
        problems.error(path, line, ProblemKind::NeedsKey { key: "run" });
    }
    if run == Some(RunWhere::Here) && !labels.is_empty() {
        problems.error(&format!("{path}.labels"), labels_line, ProblemKind::NoNodeMeant);
    }
    Some(PlaceRule { engines, levels, tokens, sessions, run: run?, labels })
}

/// Where programs run, if the table says so.
pub(super) fn run(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<RunWhere> {
    let (word, line) = fields.text("run", problems)?;
    let all = [RunWhere::Here, RunWhere::Nodes, RunWhere::Anywhere];
    let found = all.into_iter().find(|run| run_word(*run) == word);
    if found.is_none() {
        problems.error(&fields.path("run"), line, ProblemKind::not_one_of(word, &RUN));
    }
    found
}

/// What a machine is, or must be.
pub(super) fn labels(fields: &mut Fields<'_>, problems: &mut Problems) -> Vec<String> {
    let line = fields.line("labels");
    let path = fields.path("labels");
    let mut labels: Vec<String> = Vec::new();
    for (label, line) in fields.texts("labels", problems) {
        match is_plain_name(&label, LABEL_CHARS_MAX) {
            true if labels.contains(&label) => {}
            true => labels.push(label),
            false => problems.error(&path, line, ProblemKind::BadPlainName { max: LABEL_CHARS_MAX }),
        }
    }
    if labels.len() > LABELS_MAX {
        problems.error(&path, line, ProblemKind::TooMany { max: LABELS_MAX, of: "labels" });
    }
    labels
}

/// None if nothing is said. An empty list would fit no program, and is a mistake.
fn list<T>(
    fields: &mut Fields<'_>,
    key: &str,
    problems: &mut Problems,
    read: impl Fn(&str) -> Result<T, ProblemKind>,
) -> Option<Vec<T>> {
    let line = fields.line(key);
    let path = fields.path(key);
    let errors = problems.errors();
    let texts = fields.texts(key, problems);
    if line == 0 {
        return None;
    }
    if texts.is_empty() && problems.errors() == errors {
        problems.error(&path, line, ProblemKind::Empty);
    }
    if texts.len() > PATTERNS_MAX {
        problems.error(&path, line, ProblemKind::TooMany { max: PATTERNS_MAX, of: "entries" });
        return None;
    }
    let mut found = Vec::new();
    for (text, line) in texts {
        match read(&text) {
            Ok(one) => found.push(one),
            Err(kind) => problems.error(&path, line, kind),
        }
    }
    Some(found)
}
