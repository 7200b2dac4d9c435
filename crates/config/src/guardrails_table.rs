//! The table `guardrails`: what is done about what checks find in programs.

use std::collections::BTreeMap;

use gristmill_gateway::checks::{Guardrails, ModuleLists};
use gristmill_gateway::domain::Level;
use serde_json::json;

use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::tree::Node;

pub const TABLE: &str = "guardrails";
pub(super) const KEYS: [&str; 7] =
    ["strict_mode", "allowed_modules", "denied_modules", "types", "development", "production", "hardened"];

/// Of one level.
pub(super) const LEVEL_KEYS: [&str; 2] = ["allowed_modules", "denied_modules"];

/// The values of `types`.
pub(super) const TYPES: [&str; 2] = ["auto", "off"];

/// Whether the types of TypeScript programs are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypesMode {
    /// Where there is a type checker.
    #[default]
    Auto,
    Off,
}

impl TypesMode {
    /// As a file has it.
    pub fn as_str(self) -> &'static str {
        match self {
            TypesMode::Auto => "auto",
            TypesMode::Off => "off",
        }
    }
}

/// Far more than anybody lists.
const MODULES_MAX: usize = 1_000;

/// What one file says, with its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardrailsTable {
    strict_mode: Option<(bool, usize)>,
    allowed_modules: Option<(Vec<String>, usize)>,
    denied_modules: Option<(Vec<String>, usize)>,
    types: Option<(TypesMode, usize)>,
    levels: Vec<(Level, ModuleLists, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardrailsConfig {
    pub settings: Guardrails,
    pub strict_origin: Origin,
    pub allowed_origin: Origin,
    pub denied_origin: Origin,
    pub types: TypesMode,
    pub types_origin: Origin,
    /// Of what single levels have.
    pub level_origins: BTreeMap<Level, Origin>,
}

impl Default for GuardrailsConfig {
    fn default() -> Self {
        Self {
            settings: Guardrails::default(),
            strict_origin: Origin::Default,
            allowed_origin: Origin::Default,
            denied_origin: Origin::Default,
            types: TypesMode::default(),
            types_origin: Origin::Default,
            level_origins: BTreeMap::new(),
        }
    }
}

impl GuardrailsConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &GuardrailsTable, origin: impl Fn(usize) -> Origin) {
        if let Some((strict, line)) = table.strict_mode {
            (self.settings.strict_mode, self.strict_origin) = (strict, origin(line));
        }
        if let Some((modules, line)) = &table.allowed_modules {
            (self.settings.allowed_modules, self.allowed_origin) = (modules.clone(), origin(*line));
        }
        if let Some((modules, line)) = &table.denied_modules {
            (self.settings.denied_modules, self.denied_origin) = (modules.clone(), origin(*line));
        }
        if let Some((types, line)) = table.types {
            (self.types, self.types_origin) = (types, origin(line));
        }
        for (level, lists, line) in &table.levels {
            self.settings.levels.insert(*level, lists.clone());
            self.level_origins.insert(*level, origin(*line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> Vec<(String, String, &Origin)> {
        let Guardrails { strict_mode, allowed_modules, denied_modules, levels, .. } = &self.settings;
        let mut shown = vec![
            ("strict_mode".to_owned(), strict_mode.to_string(), &self.strict_origin),
            ("allowed_modules".to_owned(), json!(allowed_modules).to_string(), &self.allowed_origin),
            ("denied_modules".to_owned(), json!(denied_modules).to_string(), &self.denied_origin),
            ("types".to_owned(), json!(self.types.as_str()).to_string(), &self.types_origin),
        ];
        for (level, origin) in &self.level_origins {
            let lists = levels.get(level).cloned().unwrap_or_default();
            if let Some(allowed) = lists.allowed_modules {
                shown.push((format!("{level}.allowed_modules"), json!(allowed).to_string(), origin));
            }
            shown.push((format!("{level}.denied_modules"), json!(lists.denied_modules).to_string(), origin));
        }
        shown
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> GuardrailsTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return GuardrailsTable::default() };
    let line = fields.line("strict_mode");
    let table = GuardrailsTable {
        strict_mode: fields.flag("strict_mode", problems).map(|strict| (strict, line)),
        allowed_modules: modules(&mut fields, "allowed_modules", problems),
        denied_modules: modules(&mut fields, "denied_modules", problems),
        types: types(&mut fields, problems),
        levels: Level::ALL
            .into_iter()
            .filter_map(|level| level_lists(&mut fields, level, problems))
            .collect(),
    };
    fields.finish(&KEYS, problems);
    table
}

fn level_lists(
    fields: &mut Fields<'_>,
    level: Level,
    problems: &mut Problems,
) -> Option<(Level, ModuleLists, usize)> {
    let line = fields.line(level.as_str());
    let (node, path) = (fields.take(level.as_str())?, fields.path(level.as_str()));
    let mut fields = Fields::of(node, &path, problems)?;
    let names = |found: Option<(Vec<String>, usize)>| found.map(|(names, _)| names);
    let lists = ModuleLists {
        allowed_modules: names(modules(&mut fields, "allowed_modules", problems)),
        denied_modules: names(modules(&mut fields, "denied_modules", problems)).unwrap_or_default(),
    };
    fields.finish(&LEVEL_KEYS, problems);
    Some((level, lists, line))
}

fn types(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<(TypesMode, usize)> {
    let (text, line) = fields.text("types", problems)?;
    match text {
        "auto" => Some((TypesMode::Auto, line)),
        "off" => Some((TypesMode::Off, line)),
        _ => {
            let what = ProblemKind::BadQuantity { expected: "\"auto\" or \"off\"", example: "\"off\"" };
            problems.error(&fields.path("types"), line, what);
            None
        }
    }
}

fn modules(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Option<(Vec<String>, usize)> {
    let line = fields.line(key);
    if line == 0 {
        return None;
    }
    let texts = fields.texts(key, problems);
    for (text, line) in &texts {
        if !is_module(text) {
            let what = ProblemKind::BadQuantity { expected: "a module", example: "\"os.path\"" };
            problems.error(&fields.path(key), *line, what);
        }
    }
    let names = texts.into_iter().map(|(text, _)| text).filter(|text| is_module(text)).take(MODULES_MAX);
    Some((names.collect(), line))
}

fn is_module(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    name.split('.').all(is_part)
}
