//! The table `privacy`: what is looked for, how far it may go, and where tokens become values again.
//!
//! What one file says. [`super::privacy_layers`] has what all of them come to.

use std::collections::BTreeMap;

use gristmill_gateway::domain::PrivacyMode;
use gristmill_gateway::privacy::{
    Allow, AllowField, Detector, DetectorSettings, Kind, RestoreRule, SettingsError,
};

use super::fields::Fields;
use super::problem::{ProblemKind, Problems};
use super::tree::{Node, Value, join};

pub const TABLE: &str = "privacy";
pub(super) const KEYS: [&str; 8] =
    ["mode", "off", "confidence_min", "phone_regions", "restore_to_model", "patterns", "allow", "restore"];
pub(super) const ALLOW_KEYS: [&str; 3] = ["values", "globs", "fields"];
pub(super) const FIELD_KEYS: [&str; 2] = ["field", "kinds"];
pub(super) const RULE_KEYS: [&str; 4] = ["kinds", "to", "fields", "allow"];

pub(super) const CONFIDENCE: (u64, u64) = (1, 100);
/// More than anyone reads through.
pub(super) const RULES_MAX: usize = 1_000;
/// Longer patterns and values are nothing that anybody writes.
pub(super) const TEXT_BYTES_MAX: usize = 1_024;
/// A token has the name of its kind.
pub(super) const NAME_CHARS_MAX: usize = 32;

/// What one file says, with its lines.
#[derive(Clone, Debug, Default)]
pub struct PrivacyTable {
    pub(super) mode: Option<(PrivacyMode, usize)>,
    pub(super) off: Option<(Vec<Kind>, usize)>,
    pub(super) confidence_min: Option<(u8, usize)>,
    pub(super) phone_regions: Option<(Vec<String>, usize)>,
    pub(super) restore_to_model: Option<(Vec<Kind>, usize)>,
    /// Name, regular expression, line.
    pub(super) patterns: Vec<(String, String, usize)>,
    pub(super) allow: Option<(Allow, usize)>,
    pub(super) restore: Vec<(RestoreRule, usize)>,
    /// Every kind that it names: another file may have the pattern, so they are checked once all are read.
    pub(super) kinds: Vec<NamedKind>,
}

/// A kind, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedKind {
    pub kind: Kind,
    pub key: String,
    pub line: usize,
}

/// A table, or the mode's name alone.
pub fn read(node: &Node, problems: &mut Problems) -> PrivacyTable {
    let mut table = PrivacyTable::default();
    if let Value::Text(word) = &node.value {
        table.mode = mode_of(word, TABLE, node.line, problems).map(|mode| (mode, node.line));
        return table;
    }
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return table };
    table.mode = mode(&mut fields, "mode", problems);
    table.off = table.kinds_at(&mut fields, "off", problems);
    table.confidence_min = confidence(&mut fields, problems);
    table.phone_regions = regions(&mut fields, problems);
    table.restore_to_model = table.kinds_at(&mut fields, "restore_to_model", problems);
    table.patterns = patterns(&mut fields, problems);
    table.read_allow(&mut fields, problems);
    table.read_restore(&mut fields, problems);
    fields.finish(&KEYS, problems);
    table
}

/// A mode, if the key is there. A server has one, too.
pub(super) fn mode(
    fields: &mut Fields<'_>,
    key: &str,
    problems: &mut Problems,
) -> Option<(PrivacyMode, usize)> {
    let (word, line) = fields.text(key, problems)?;
    Some((mode_of(word, &fields.path(key), line, problems)?, line))
}

fn mode_of(word: &str, path: &str, line: usize, problems: &mut Problems) -> Option<PrivacyMode> {
    let mode = word.parse().ok();
    if mode.is_none() {
        let what = ProblemKind::not_one_of(word, &PrivacyMode::ALL.map(PrivacyMode::as_str));
        problems.error(path, line, what);
    }
    mode
}

impl PrivacyTable {
    fn kinds_at(
        &mut self,
        fields: &mut Fields<'_>,
        key: &str,
        problems: &mut Problems,
    ) -> Option<(Vec<Kind>, usize)> {
        let line = fields.line(key);
        let path = fields.path(key);
        let names = fields.texts(key, problems);
        if line == 0 {
            return None;
        }
        let mut kinds = Vec::new();
        for (name, line) in names {
            let kind = Kind::named(&name);
            self.kinds.push(NamedKind { kind: kind.clone(), key: path.clone(), line });
            kinds.push(kind);
        }
        Some((kinds, line))
    }

    fn read_allow(&mut self, fields: &mut Fields<'_>, problems: &mut Problems) {
        let (path, line) = (fields.path("allow"), fields.line("allow"));
        let Some(node) = fields.take("allow") else { return };
        let Some(mut fields) = Fields::of(node, &path, problems) else { return };
        let allow = Allow {
            values: texts(&mut fields, "values", problems),
            globs: texts(&mut fields, "globs", problems),
            fields: self.allowed_fields(&mut fields, problems),
        };
        fields.finish(&ALLOW_KEYS, problems);
        self.allow = Some((allow, line));
    }

    fn allowed_fields(&mut self, fields: &mut Fields<'_>, problems: &mut Problems) -> Vec<AllowField> {
        let path = fields.path("fields");
        let Some(node) = fields.take("fields") else { return Vec::new() };
        let Value::List(nodes) = &node.value else {
            problems.wrong_type(&path, node, "a list of fields");
            return Vec::new();
        };
        let mut allowed = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let path = format!("{path}[{index}]");
            allowed.extend(self.allowed_field(node, &path, problems));
        }
        allowed
    }

    /// A text is a field for all kinds.
    fn allowed_field(&mut self, node: &Node, path: &str, problems: &mut Problems) -> Option<AllowField> {
        if let Value::Text(field) = &node.value {
            return is_field(field, path, node.line, problems)
                .then(|| AllowField { field: field.clone(), kinds: Vec::new() });
        }
        let mut fields = Fields::of(node, path, problems)?;
        let field = fields.text("field", problems);
        let is_there = fields.line("field") > 0;
        let kinds = self.kinds_at(&mut fields, "kinds", problems);
        fields.finish(&FIELD_KEYS, problems);
        if !is_there {
            problems.error(path, node.line, ProblemKind::NeedsKey { key: "field" });
        }
        let (field, line) = field?;
        is_field(field, &join(path, "field"), line, problems).then(|| AllowField {
            field: field.to_owned(),
            kinds: kinds.map(|(kinds, _)| kinds).unwrap_or_default(),
        })
    }

    fn read_restore(&mut self, fields: &mut Fields<'_>, problems: &mut Problems) {
        let path = fields.path("restore");
        let Some(node) = fields.take("restore") else { return };
        let Value::List(nodes) = &node.value else {
            problems.wrong_type(&path, node, "a list of rules");
            return;
        };
        if nodes.len() > RULES_MAX {
            problems.error(&path, node.line, ProblemKind::TooManyRules { max: RULES_MAX });
            return;
        }
        for (index, node) in nodes.iter().enumerate() {
            let rule = self.restore_rule(node, &format!("{path}[{index}]"), problems);
            self.restore.extend(rule);
        }
    }

    fn restore_rule(
        &mut self,
        node: &Node,
        path: &str,
        problems: &mut Problems,
    ) -> Option<(RestoreRule, usize)> {
        let mut fields = Fields::of(node, path, problems)?;
        let line = node.entries().first().map_or(node.line, |first| first.line);
        let kinds = self.kinds_at(&mut fields, "kinds", problems);
        let to = fields.text("to", problems);
        if let Some(("", line)) = to {
            problems.error(&fields.path("to"), line, ProblemKind::Empty);
        }
        let names = fields.texts("fields", problems);
        let fields_path = fields.path("fields");
        let arguments =
            names.into_iter().filter(|(name, line)| is_field(name, &fields_path, *line, problems));
        let arguments = arguments.map(|(name, _)| name).collect();
        let allow = fields.flag("allow", problems);
        if fields.line("allow") == 0 {
            problems.error(path, line, ProblemKind::NeedsKey { key: "allow" });
        }
        fields.finish(&RULE_KEYS, problems);
        let rule = RestoreRule {
            kinds: kinds.map(|(kinds, _)| kinds).unwrap_or_default(),
            to: tools(to.map_or("*", |(to, _)| to)),
            fields: arguments,
            allow: allow?,
        };
        Some((rule, line))
    }
}

/// A server alone stands for all of its tools. Its name has no dot.
fn tools(to: &str) -> String {
    if to.contains('.') { to.to_owned() } else { format!("{to}.*") }
}

fn confidence(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<(u8, usize)> {
    let (min, max) = CONFIDENCE;
    let percent = fields.whole("confidence_min", min, max, problems)?;
    Some((u8::try_from(percent).ok()?, fields.line("confidence_min")))
}

fn regions(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<(Vec<String>, usize)> {
    let (path, line) = (fields.path("phone_regions"), fields.line("phone_regions"));
    let names = fields.texts("phone_regions", problems);
    if line == 0 {
        return None;
    }
    let mut regions: Vec<String> = Vec::new();
    for (name, line) in names {
        let settings = DetectorSettings { phone_regions: vec![name.clone()], ..DetectorSettings::default() };
        match Detector::new(&settings) {
            Ok(_) => regions.push(name.to_ascii_uppercase()),
            Err(error) => problems.error(&path, line, problem_of(error)),
        }
        if problems.is_full() {
            break;
        }
    }
    Some((regions, line))
}

/// Only so many are compiled: a file that nobody approved is read, too.
fn patterns(fields: &mut Fields<'_>, problems: &mut Problems) -> Vec<(String, String, usize)> {
    let (path, line) = (fields.path("patterns"), fields.line("patterns"));
    let all: Vec<(String, String, usize)> = fields
        .named_texts("patterns", problems)
        .into_iter()
        .map(|(name, pattern, line)| (name.to_owned(), pattern, line))
        .collect();
    let names: Vec<_> = all.iter().map(|(name, _, line)| (name.clone(), String::new(), *line)).collect();
    if let Err(error @ SettingsError::TooManyPatterns { .. }) = compiled(&names) {
        problems.error(&path, line, problem_of(error));
        return Vec::new();
    }
    let is_usable = |one: &(String, String, usize)| match pattern_problem(one) {
        Some(problem) => {
            problems.error(&join(&path, &one.0), one.2, problem);
            false
        }
        None => true,
    };
    all.into_iter().filter(is_usable).collect()
}

fn pattern_problem(one: &(String, String, usize)) -> Option<ProblemKind> {
    let (name, pattern, _) = one;
    if !is_kind_name(name) {
        return Some(ProblemKind::BadKindName { max: NAME_CHARS_MAX });
    }
    if pattern.is_empty() {
        return Some(ProblemKind::Empty);
    }
    if pattern.len() > TEXT_BYTES_MAX {
        return Some(ProblemKind::TooLong { max: TEXT_BYTES_MAX });
    }
    compiled(std::slice::from_ref(one)).err().map(problem_of)
}

fn compiled(patterns: &[(String, String, usize)]) -> Result<(), SettingsError> {
    let patterns: BTreeMap<String, String> =
        patterns.iter().map(|(name, pattern, _)| (name.clone(), pattern.clone())).collect();
    // Numbering plans take a while to load, and no pattern needs one.
    let settings = DetectorSettings { patterns, phone_regions: Vec::new(), ..DetectorSettings::default() };
    Detector::new(&settings).map(drop)
}

/// A token begins with it, in capitals.
fn is_kind_name(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn is_field(field: &str, path: &str, line: usize, problems: &mut Problems) -> bool {
    let problem = if field.len() > TEXT_BYTES_MAX {
        ProblemKind::TooLong { max: TEXT_BYTES_MAX }
    } else if field.split('.').any(str::is_empty) {
        ProblemKind::BadQuantity {
            expected: "names with dots between them",
            example: "\"crm.*.fields.notes\"",
        }
    } else {
        return true;
    };
    problems.error(path, line, problem);
    false
}

fn texts(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Vec<String> {
    let path = fields.path(key);
    let mut texts = Vec::new();
    for (text, line) in fields.texts(key, problems) {
        match text.len() {
            0 => problems.error(&path, line, ProblemKind::Empty),
            1..=TEXT_BYTES_MAX => texts.push(text),
            _ => problems.error(&path, line, ProblemKind::TooLong { max: TEXT_BYTES_MAX }),
        }
    }
    texts
}

/// In our words: the place is told beside it.
pub(super) fn problem_of(error: SettingsError) -> ProblemKind {
    match error {
        SettingsError::Pattern { reason, .. } => {
            // The last line says what is wrong; those before show the pattern again.
            let reason = reason.lines().next_back().unwrap_or_default();
            ProblemKind::BadPattern { reason: reason.trim_start_matches("error: ").to_owned() }
        }
        SettingsError::PatternName { .. } => ProblemKind::BuiltInKind,
        SettingsError::TooManyPatterns { max, .. } => ProblemKind::TooManyPatterns { max },
        SettingsError::Region { region } => ProblemKind::UnknownRegion { region },
        SettingsError::AllowTooLong(_) => ProblemKind::TooLong { max: TEXT_BYTES_MAX },
    }
}
